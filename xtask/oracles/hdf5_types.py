"""Random datatypes of documents, with the bytes or the values that libhdf5 must find for their elements."""

import math
import struct

import numpy as np

WORDS = ["", "a", "calm", "north west", "1e3", "No", "null", "~", "two\nlines"]
LETTERS = ["é", "深い", "Ünïcode", "ß"]


class Kind:
    """A datatype. `type` and `storage` are those of the document. `make` makes an element of a document. `stored` makes
    the bytes of an element in the file; where that depends on addresses, it is `None`. `same` then compares an element
    with what h5py reads, if it reads the type, and `form` describes the element in the memory of libhdf5."""

    def __init__(self, type, make, stored=None, same=None, **about):
        self.type, self.make, self.stored, self.same = type, make, stored, same
        self.storage = about.pop("storage", {})
        # The NumPy type of numbers without unused bits.
        self.dtype = about.pop("dtype", None)
        self.size = about.pop("size", self.dtype.itemsize if self.dtype else None)
        # The oldest library that has the type.
        self.needs = about.pop("needs", "earliest")
        self.name = about.pop("name")
        self.form = about.pop("form", ())
        assert not about


def order(random):
    return ["little", "big"][int(random.integers(2))]


def integer(random):
    size, sign, endian = int(random.choice([1, 2, 4, 8])), str(random.choice(["i", "u"])), order(random)
    dtype = np.dtype(("<" if endian == "little" else ">") + sign + str(size))
    limits = np.iinfo(dtype)

    def make(random):
        if random.integers(3):
            return int(random.integers(0 if sign == "u" else -100, 100))
        return int(random.integers(limits.min, limits.max, endpoint=True, dtype=dtype.newbyteorder("=")))

    return Kind(f"{'u' if sign == 'u' else ''}int{8 * size}", make, lambda value: np.array(value, dtype).tobytes(),
                storage={"endian": endian} if size > 1 else {}, dtype=dtype, name="integer")


def reduced(random):
    """Integers with unused bits."""
    size, signed, endian = int(random.choice([2, 4, 8])), bool(random.integers(2)), order(random)
    offset = int(random.integers(0, 3))
    precision = int(random.integers(4 * size + 1, 8 * size - offset + 1))
    low, high = (-(1 << precision - 1), (1 << precision - 1) - 1) if signed else (0, (1 << precision) - 1)

    def make(random):
        return [low, high, 0, 1, int(random.integers(0, 100))][int(random.choice(5, p=[.05, .05, .1, .1, .7]))]

    def stored(value):
        return ((value & (1 << precision) - 1) << offset).to_bytes(size, endian)

    return Kind(f"{'' if signed else 'u'}int{8 * size}", make, stored, size=size, name="reduced",
                storage={"endian": endian, "precision": precision, "offset": offset})


def floating(random):
    size, endian = int(random.choice([2, 4, 8])), order(random)
    dtype = np.dtype(("<" if endian == "little" else ">") + f"f{size}")

    def make(random):
        if random.integers(12) == 0:
            return str(random.choice(["NaN", "Infinity", "-Infinity"]))
        if random.integers(8) == 0:
            return -0.0
        value = float(dtype.type(random.normal() * 10.0 ** random.integers(-3, 4)))
        return value if math.isfinite(value) else 0.5

    return Kind(f"float{8 * size}", make, lambda value: np.array(float(value), dtype).tobytes(),
                storage={"endian": endian}, dtype=dtype, name="float")


def brain_float(random):
    endian = order(random)

    def stored(value):
        two = struct.pack(">f", value)[:2]
        return two if endian == "big" else two[::-1]

    return Kind("bfloat16", lambda random: int(random.integers(-64, 64)) / 4, stored, size=2, storage={"endian": endian},
                name="bfloat16")


def small_float(random):
    about = {"bits": 8, "sign": 7, "exponent": [3, 4], "mantissa": [0, 3], "bias": 7}
    return Kind({"float": about}, lambda random: f"0x{int(random.integers(0, 120)):02x}", unhex, size=1, name="float8")


def unhex(value):
    return bytes.fromhex(value[2:])


def opaque(random):
    size = int(random.integers(1, 12))
    about = {"size": size} | ({"tag": "image/png"} if random.integers(2) else {})
    return Kind({"opaque": about}, lambda random: "0x" + random.bytes(size).hex(), unhex, size=size, name="opaque")


def bit_field(random):
    size, endian = int(random.choice([1, 2, 4, 8])), order(random)
    return Kind({"bitfield": {"size": size}}, lambda random: int(random.integers(0, 1 << 8 * size - 1)),
                lambda value: value.to_bytes(size, endian), size=size, storage={"endian": endian} if size > 1 else {},
                name="bitfield")


def time(random):
    size = int(random.choice([4, 8]))
    return Kind({"time": {"size": size}}, lambda random: int(random.integers(0, 1 << 31)),
                lambda value: value.to_bytes(size, "little"), size=size, storage={"endian": "little"}, name="time")


def enumeration(random):
    base = integer(random)
    most = min(100, int(np.iinfo(base.dtype).max))
    values = [int(n) for n in random.choice(most, int(random.integers(1, 6)), replace=False)]
    members = {f"M{index} {value}": value for index, value in enumerate(values)}
    return Kind({"enum": {"base": base.type, "members": members}}, lambda random: str(random.choice(list(members))),
                lambda value: base.stored(members[value]), size=base.size, storage=base.storage, name="enum")


def fixed_string(random):
    length, pad = int(random.integers(1, 12)), str(random.choice(["nullterm", "nullpad", "spacepad"]))
    charset = str(random.choice(["ascii", "utf-8"]))
    room = length - 1 if pad == "nullterm" else length

    def make(random):
        text = str(random.choice(WORDS if charset == "ascii" else WORDS + LETTERS))
        while len(text.encode()) > room:
            text = text[:-1]
        # Values that end like padding would lose their end.
        return text.rstrip(" ")

    return Kind("string", make, lambda text: text.encode().ljust(length, b" " if pad == "spacepad" else b"\0"),
                storage={"length": length, "pad": pad, "charset": charset}, size=length, name="fixed string")


def variable_string(random):
    charset = str(random.choice(["ascii", "utf-8"]))

    def make(random):
        return str(random.choice(WORDS if charset == "ascii" else WORDS + LETTERS)) * int(random.integers(1, 4))

    def same(value, found, file):
        return (found.encode() if isinstance(found, str) else bytes(found)) == value.encode()

    return Kind("string", make, same=same, storage={"charset": charset}, name="string", form=("string",))


def array(random, base):
    shape = [int(n) for n in random.integers(1, 4, int(random.integers(1, 3)))]
    count = math.prod(shape)

    def flat(value):
        for _ in shape[1:]:
            value = [item for row in value for item in row]
        return value

    return Kind({"array": {"base": base.type, "shape": shape}},
                lambda random: nested([base.make(random) for _ in range(count)], shape),
                base.stored and (lambda value: b"".join(map(base.stored, flat(value)))),
                size=base.size and base.size * count, storage=base.storage, needs=base.needs, name=f"array of {base.name}",
                form=("array", base, flat))


def compound(random, depth):
    kinds = {f"m{index}": any_kind(random, depth - 1) for index in range(int(random.integers(1, 5)))}
    offsets, size, room = [], 0, int(random.integers(0, 4))
    for kind in kinds.values():
        offsets.append(size)
        size += (kind.size or 16) + room

    def stored(value):
        found = bytearray(size)
        for at, kind, item in zip(offsets, kinds.values(), value):
            found[at:at + kind.size] = kind.stored(item)
        return bytes(found)

    storage = {"members": {name: kind.storage for name, kind in kinds.items() if kind.storage}}
    if random.integers(2) and all(kind.stored for kind in kinds.values()):
        storage |= {"offsets": offsets, "itemsize": size}
    elif all(kind.stored for kind in kinds.values()):
        room, packed = 0, []
        for kind in kinds.values():
            packed.append(room)
            room += kind.size
        offsets, size = packed, room
    is_fixed = all(kind.stored for kind in kinds.values())

    # h5py corrupts memory when it reads other types beside types of variable length.
    is_read = not is_fixed and all(kind.dtype or kind.name == "string" for kind in kinds.values())

    def same(value, found, file):
        return all(kind.same(one, found[name], file) if kind.same else kind.stored(one) == np.asarray(found[name]).astype(kind.dtype).tobytes()
                   for (name, kind), one in zip(kinds.items(), value))

    return Kind({"compound": [{name: kind.type} for name, kind in kinds.items()]},
                lambda random: [kind.make(random) for kind in kinds.values()], stored if is_fixed else None,
                same if is_read else None, size=size if is_fixed else None, storage=storage,
                needs=max((kind.needs for kind in kinds.values()), key=AGE.index),
                name="compound of " + ", ".join(kind.name for kind in kinds.values()), form=("compound", list(kinds.values())))


def sequence(random):
    base = integer(random) if random.integers(2) else floating(random)

    def same(value, found, file):
        # h5py does not swap elements of sequences, but declares them as native.
        return np.asarray(found).tobytes() == b"".join(map(base.stored, value)) if len(value) else len(found) == 0

    return Kind({"vlen": {"base": base.type}}, lambda random: [base.make(random) for _ in range(int(random.integers(0, 5)))],
                same=same, storage=base.storage, name=f"vlen of {base.name}",
                form=("sequence", base))


def reference(random):
    def same(value, found, file):
        return not found if value is None else bool(found) and file[found] == file[value]

    return Kind("objref", lambda random: [None, "/target", "/"][int(random.integers(3))], same=same, name="objref")


def region(random):
    def make(random):
        first = random.integers(0, [3, 4])
        return {"target": "/target", "start": first.tolist(), "opposite": [int(random.integers(a, n)) for a, n in zip(first, [3, 4])]}

    def same(value, found, file):
        from h5py import h5r
        low, high = h5r.get_region(found, file.id).get_select_bounds()
        return file[found] == file["/target"] and [list(low), list(high)] == [value["start"], value["opposite"]]

    return Kind({"regref": {"selection": "block"}}, make, same=same, name="regref")


def new_reference(random):
    """References as libhdf5 has them since 1.12, which h5py 3.16 does not read."""
    choices = [None, "/target", {"target": "/target", "attribute": "units"},
               {"target": "/target", "start": [0, 1], "opposite": [2, 3]}]
    return Kind("reference", lambda random: choices[int(random.integers(len(choices)))], needs="v1.12",
                name="reference")


def complex_number(random):
    double = bool(random.integers(2))
    dtype = np.dtype("<f8" if double else "<f4")

    def make(random):
        return [float(dtype.type(n)) for n in random.normal(size=2)]

    return Kind(f"complex{128 if double else 64}", make, lambda value: np.array(value, dtype).tobytes(), needs="v2.0",
                size=2 * dtype.itemsize, storage={"endian": "little"}, name="complex")


PLAIN = [integer, integer, integer, floating, floating, reduced, brain_float, small_float, opaque, bit_field, time, enumeration,
         fixed_string, fixed_string]
VARIABLE = [variable_string, variable_string, sequence, reference, region]
AGE = ["earliest", "v1.8", "v1.10", "v1.12", "v1.14", "v2.0"]


def fixed_kind(random, depth=1):
    """A datatype whose elements have all their bytes in place."""
    while True:
        kind = any_kind(random, depth)
        if kind.stored:
            return kind


def any_kind(random, depth=2):
    which = int(random.integers(10))
    if depth > 0 and which == 0:
        return compound(random, depth)
    if depth > 0 and which == 1:
        base = any_kind(random, depth - 1)
        return array(random, base if base.stored else variable_string(random))
    makers = VARIABLE if which < 4 else [new_reference, complex_number] if which == 4 else PLAIN
    return makers[int(random.integers(len(makers)))](random)


def nested(flat, shape):
    """Nested lists of a shape."""
    if not shape:
        return flat[0]
    step = math.prod(shape[1:])
    return [nested(flat[at * step:(at + 1) * step], shape[1:]) for at in range(shape[0])]
