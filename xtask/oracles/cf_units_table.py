"""Makes crates/cf/data/units.tsv from the XML database of UDUNITS-2.

    python3 cf_units_table.py FOLDER > crates/cf/data/units.tsv

FOLDER has udunits2-{prefixes,base,derived,accepted,common}.xml, as in lib/ of the sources of UDUNITS-2 and in
/usr/share/xml/udunits of Debian. Plurals are formed as `ut_form_plural` of UDUNITS forms them.
"""

import os
import sys
import xml.etree.ElementTree

VERSION = "2.2.28"
FILES = ["prefixes", "base", "derived", "accepted", "common"]
HEADER = f"""\
# The units of UDUNITS-2, version {VERSION}, in the order of its database.
# Source: https://github.com/Unidata/UDUNITS-2, tag v{VERSION}, lib/udunits2-*.xml.
# Copyright University Corporation for Atmospheric Research; its licence is beside this file, in UDUNITS-LICENSE.
# Made by xtask/oracles/cf_units_table.py. Columns: kind, value or definition, names, symbols.
"""


def plural(name):
    if len(name) > 1 and name.endswith("y"):
        return name + "s" if name[-2] in "aeiou" else name[:-1] + "ies"
    if len(name) > 1 and name.endswith(("s", "x", "z", "ch", "sh")):
        return name + "es"
    return name + "s"


def names(element):
    """The singular and the plural of each name, including those with <noplural/>: UDUNITS ignores that element."""
    for name in element.findall("name"):
        singular = name.findtext("singular")
        yield from (singular, name.findtext("plural") or plural(singular))


def row(kind, definition, names, symbols):
    names, symbols = [list(identifiers) for identifiers in (names, symbols)]
    assert all(text and not set(text) & set(" \t\n") for text in names + symbols), (names, symbols)
    print(kind, definition, " ".join(names), " ".join(symbols), sep="\t")


def symbols(element):
    return [symbol.text for symbol in element.findall("symbol")]


def prefix(element):
    row("prefix", element.findtext("value").strip(), [name.text for name in element.findall("name")],
        symbols(element))


def unit(element):
    aliases = element.find("aliases")
    groups = [element] if aliases is None else [element, aliases]
    kinds = [kind for kind in ("base", "dimensionless", "def") if element.find(kind) is not None]
    [kind] = kinds
    definition = " ".join(element.findtext("def").split()) if kind == "def" else ""
    row("unit" if kind == "def" else kind, definition, [name for group in groups for name in names(group)],
        [symbol for group in groups for symbol in symbols(group)])


def main(folder):
    sys.stdout.reconfigure(encoding="utf-8")
    print(HEADER, end="")
    for name in FILES:
        root = xml.etree.ElementTree.parse(os.path.join(folder, f"udunits2-{name}.xml")).getroot()
        for element in root:
            {"prefix": prefix, "unit": unit}[element.tag](element)


if __name__ == "__main__":
    main(sys.argv[1])
