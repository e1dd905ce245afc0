"""Writes how UDUNITS-2 interprets units: the table that crates/cf/tests/units.rs compares with this project.

    python3 cf_units.py > crates/cf/tests/units/verdicts.tsv
    python3 cf_units.py --conversions > crates/cf/tests/units/conversions.tsv
    python3 cf_units.py --all --random 10000 --seed 1 > verdicts.tsv
    CF_UNITS_VERDICTS=verdicts.tsv cargo test -p hyperslab-cf units

Needs libudunits2 2.2.28 (Debian: libudunits2-0) and its database; --library and --database give their paths. A line
is a unit with escapes, a tab, and its form or `-` if UDUNITS cannot read it. A form is in prefix notation:
`P m 1 s -1` is a product of powers, `G scale offset form` is scaled and shifted, `L base form` logarithmic, and
`T origin form` a time since seconds after 2001-01-01. A line of conversions is two units, a value in the first, and
the value in the second or `-`.
"""

import argparse
import ctypes
import itertools
import os
import random
import re
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "crates", "cf", "data")
UTF8 = 2
POINTER, DOUBLE, INT = ctypes.c_void_p, ctypes.c_double, ctypes.c_int
VISITS = [[POINTER, POINTER], [POINTER, INT, ctypes.POINTER(POINTER), ctypes.POINTER(INT), POINTER],
          [POINTER, DOUBLE, POINTER, DOUBLE, POINTER], [POINTER, POINTER, DOUBLE, POINTER],
          [POINTER, DOUBLE, POINTER, POINTER]]
CALLBACKS = [ctypes.CFUNCTYPE(INT, *arguments) for arguments in VISITS]


class Visitor(ctypes.Structure):
    _fields_ = list(zip(["basic", "product", "galilean", "timestamp", "logarithmic"], CALLBACKS))


class Udunits:
    def __init__(self, library, database):
        self.library = ctypes.CDLL(library)
        for name, result, *arguments in [("ut_read_xml", POINTER, ctypes.c_char_p),
                                         ("ut_parse", POINTER, POINTER, ctypes.c_char_p, INT),
                                         ("ut_free", None, POINTER),
                                         ("ut_are_convertible", INT, POINTER, POINTER),
                                         ("ut_get_converter", POINTER, POINTER, POINTER),
                                         ("cv_convert_double", DOUBLE, POINTER, DOUBLE),
                                         ("ut_accept_visitor", INT, POINTER, ctypes.POINTER(Visitor), POINTER),
                                         ("ut_format", INT, POINTER, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint)]:
            function = getattr(self.library, name)
            function.restype, function.argtypes = result, arguments
        self.library.ut_set_error_message_handler(self.library.ut_ignore)
        self.system = self.library.ut_read_xml(database.encode() if database else None)
        assert self.system, "no database"
        self.tokens = []
        self.visitor = Visitor(*(callback(method) for callback, method in zip(
            CALLBACKS, [self.basic, self.product, self.galilean, self.timestamp, self.logarithmic])))

    def symbol(self, unit):
        text = ctypes.create_string_buffer(100)
        self.library.ut_format(unit, text, 100, UTF8)
        return text.value.decode()

    def visit(self, unit, *tokens):
        self.tokens += tokens
        return self.library.ut_accept_visitor(unit, ctypes.byref(self.visitor), None) if unit else 0

    def basic(self, unit, _):
        return self.visit(None, "P", self.symbol(unit), "1")

    def product(self, _, count, units, powers, argument):
        pairs = ((self.symbol(units[place]), str(powers[place])) for place in range(count))
        return self.visit(None, "P", *itertools.chain(*pairs))

    def galilean(self, _, scale, unit, offset, argument):
        return self.visit(unit, "G", repr(scale), repr(offset))

    def timestamp(self, _, unit, origin, argument):
        return self.visit(unit, "T", repr(origin))

    def logarithmic(self, _, base, unit, argument):
        return self.visit(unit, "L", repr(base))

    def form(self, text):
        # As `ut_trim` is documented; in 2.2.28 it drops one more character for each leading space.
        unit = self.library.ut_parse(self.system, text.strip(" \t\n\r\f\v").encode(), UTF8)
        if not unit:
            return "-"
        self.tokens = []
        self.visit(unit)
        self.library.ut_free(unit)
        return " ".join(self.tokens)

    def converted(self, value, of, to):
        """The value in another unit; `None` if it can't be converted."""
        of, to = (self.library.ut_parse(self.system, text.encode(), UTF8) for text in (of, to))
        if not self.library.ut_are_convertible(of, to):
            return None
        return self.library.cv_convert_double(self.library.ut_get_converter(of, to), value)

    def form_apart(self, text):
        """The same in a separate process: UDUNITS ends the process on some nested units. `None` if it does."""
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, self.form(text).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            form = pipe.read().decode()
        _, status = os.waitpid(child, 0)
        return form if status == 0 else None


# Units that are converted to each other.
CONVERTED = [
    "1", "%", "1e-3", "rad", "degrees", "sr", "lg(re 1)", "ln(re 0.5)", "2 lb(re 8) @ 3", "K", "degC", "degF", "degR",
    "mK @ 5", "lg(re K)", "s", "Hz", "hours", "rad/s", "days-1", "s @ 10.", "m", "km", "feet", "m-1", "lg(re m)", "Pa",
    "hPa", "mbar", "inHg", "psi", "Pa-1", "W", "dBm", "lg(re 1 mW)", "mm6 m-3", "dBZ", "m3", "km3", "litre", "kg",
    "lb", "mol", "kg m-2", "mm", "m s-1", "knot", "s m-1", "days since 1970-01-01", "hours since 1-1-1 12:00 -5:30",
    "2 s since 2000-02-29T12", "Hz since 1582-10-15", "minutes since 1582-10-4 23:59:60.5 UTC",
]


def rows(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as table:
        lines = [line.rstrip("\n").split("\t") for line in table if not line.startswith("#")]
    return lines


def identifiers(database):
    """All names and symbols of our table, and the text between the tags of the XML files."""
    found = dict.fromkeys(text for row in rows("units.tsv") if row[0] != "prefix"
                          for text in " ".join(row[2:4]).split(" ") if text)
    for name in ("base", "derived", "accepted", "common"):
        path = os.path.join(os.path.dirname(database), f"udunits2-{name}.xml")
        with open(path, encoding="utf-8") as file:
            texts = re.findall(r"<(?:singular|plural|symbol)[^>]*>([^<]+)<", re.sub(r"<!--.*?-->", "", file.read(),
                                                                                  flags=re.S))
        for text in texts:
            text = re.sub(r"&#x([0-9a-fA-F]+);", lambda match: chr(int(match[1], 16)), text).replace("&quot;", '"')
            found |= dict.fromkeys([text, text + "s", text + "es", text.replace("_", "\xa0"), text.upper(),
                                    re.sub("y$", "ies", text)])
    return list(found)


def prefixed(identifiers):
    prefixes = [text for row in rows("units.tsv") if row[0] == "prefix" for text in " ".join(row[2:4]).split(" ")]
    return [prefix + text for prefix in prefixes for text in identifiers]


class Texts:
    """Random texts, generated from the grammar and sometimes damaged."""

    def __init__(self, seed, identifiers):
        self.random = random.Random(seed)
        self.identifiers = identifiers
        self.common = "m kg s K Pa W J d day days h degC °C % µm mbar dBZ Hz rad sr 1 m s s hours metre kPa".split()

    def one(self, *choices):
        return self.random.choice(choices)

    def chance(self, share):
        return self.random.random() < share

    def integer(self, *most):
        return str(self.random.randrange(self.one(*(most or (3, 10, 100, 3000, 10 ** 6, 10 ** 20)))))

    def number(self):
        sign = self.one("", "", "", "-", "+")
        return sign + self.one(self.integer(), self.integer() + ".", "." + self.integer(),
                               self.integer() + "." + self.integer(), f"{self.integer(9, 99)}e{self.integer(30)}",
                               f"{self.integer(9)}.{self.integer(9)}E{self.one('+', '-')}{self.integer(20)}")

    def basic(self, depth):
        kind = self.random.random()
        if depth and kind < 0.1:
            return "(" + self.unit(depth - 1) + ")"
        if depth and kind < 0.16:
            return self.one("lg", "log", "ln", "lb", "Lg") + self.one("", "", " ") + self.one(
                "(re ", "(re: ", "(RE  ", "( re ", "(re:", "(re") + self.product(depth - 1) + ")"
        if kind < 0.3:
            return self.number()
        if kind < 0.7:
            return self.one(*self.common)
        prefix = self.one("", "", "k", "m", "milli", "da", "µ", "mega", "kilokilo", "kM", "Kilo", "un")
        return prefix + self.one(*self.identifiers)

    def power(self, depth):
        exponent = self.one("", "", "", "", "2", "-1", "-2", "^2", "**3", "^-1", "²", "³", "^+2", "¹²", "⁻¹", "⁴", "0",
                            "^" + self.integer(), "-" + self.integer())
        return self.basic(depth) + exponent

    def product(self, depth):
        text = self.power(depth)
        for _ in range(self.one(0, 0, 0, 1, 1, 2)):
            text += self.one(" ", " ", ".", "*", "/", " / ", " per ", "·", "-", "  ", "", "PER ", "×", " . ", "\n")
            text += self.power(depth)
        return text

    def clock(self):
        hour, minute, second = (self.random.randrange(most) for most in (25, 61, 62))
        sign = self.one("", "", "", "", "-", "+")
        return sign + self.one(f"{hour}:{minute}", f"{hour:02}:{minute:02}:{second:02}", f"{hour}:{minute}:{second}.5",
                               f"{hour:02}{minute:02}", f"{hour:02}{minute:02}{second:02}", f"{hour}{minute}",
                               f"{hour:02}:{minute:02}:{second:02}.", f"{hour}", self.integer())

    def origin(self):
        year, month, day = self.one(1, 0, 4, 99, 1582, 1850, 1970, 2000, 9999, 12345), self.one(
            *range(1, 13), 0, 13), self.one(*range(1, 32), 0, 32)
        sign = self.one("", "", "", "", "", "-", "+")
        date = sign + self.one(f"{year}-{month}-{day}", f"{year:04}-{month:02}-{day:02}", f"{year}-{month}",
                               f"{year:04}{month:02}{day:02}", f"{year:04}{month:02}", f"{year}", self.integer())
        if self.chance(0.3):
            return date
        text = date + self.one(" ", " ", "T", "  ", "") + self.clock()
        if self.chance(0.5):
            return text
        zone = self.one("UTC", "Z", "GMT", "utc", "CET", self.clock(), "+" + self.clock(), "-" + self.integer(),
                        f"+{self.integer(20)}:{self.integer(99)}")
        return text + self.one(" ", "", " ") + zone

    def unit(self, depth):
        kind = self.random.random()
        if kind < 0.6:
            return self.product(depth)
        shift = self.one(" since ", " since ", " from ", " @ ", "@", " ref ", " after ", " SINCE ")
        if kind < 0.7:
            return self.product(depth) + shift + self.number()
        time = self.one("s", "days", "hours", "d", "seconds", "min", "day", "2 s", "Hz", self.power(0))
        return time + shift + self.origin()

    def text(self):
        text = self.unit(2)
        if self.chance(0.25):
            for _ in range(self.one(1, 1, 2)):
                at = self.random.randrange(len(text) + 1)
                end = self.one(at, at + 1, at + 2)
                text = text[:at] + self.one("", "", " ", ")", "(", "-", "^", "2", "Z", "@", "$", "e", "T", ":",
                                            "é", "λ", "ā", "日", "\t", "\n", "'") + text[end:]
        return text


def escaped(text):
    return "".join(f"\\x{ord(letter):02x}" if letter == "\\" or ord(letter) < 32 else letter for letter in text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", default="libudunits2.so.0")
    parser.add_argument("--database", default="/usr/share/xml/udunits/udunits2.xml")
    parser.add_argument("--all", action="store_true", help="every prefix with every identifier")
    parser.add_argument("--conversions", action="store_true", help="a table of conversions instead")
    parser.add_argument("--random", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    # The scanner of UDUNITS prints what it skips, so the table is written elsewhere.
    table = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    udunits = Udunits(options.library, options.database)
    if options.conversions:
        print("# Made by xtask/oracles/cf_units.py with UDUNITS 2.2.28.", file=table)
        for of, to in itertools.product(CONVERTED, repeat=2):
            value = udunits.converted(2.5, of, to)
            print(of, to, 2.5, "-" if value is None else repr(value), sep="\t", file=table)
        table.close()
        return
    known = identifiers(options.database)
    # For an alias, the column of units contains the name that it stands for.
    standard = dict(row[:2] for row in rows("standard_names.tsv") if len(row) > 1)
    canonical = dict.fromkeys(text for text in standard.values() if text and text not in standard)
    more = prefixed(known)
    if not options.all:
        chosen = random.Random(options.seed)
        more = chosen.sample(more, 1500)
    texts = Texts(options.seed, known)
    generated = [texts.text() for _ in range(options.random)]
    print("# Made by xtask/oracles/cf_units.py with UDUNITS 2.2.28.", file=table)
    left_out = 0
    for text in dict.fromkeys(itertools.chain(known, canonical, more)):
        print(escaped(text), udunits.form(text), sep="\t", file=table)
    for text in dict.fromkeys(generated):
        form = udunits.form_apart(text)
        if form is None:
            left_out += 1
        else:
            print(escaped(text), form, sep="\t", file=table)
    table.close()
    print(len(known), "identifiers,", len(canonical), "canonical units,", len(more), "prefixed,", len(generated),
          "random,", left_out, "of which stop UDUNITS", file=sys.stderr)


if __name__ == "__main__":
    main()
