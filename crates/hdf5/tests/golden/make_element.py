"""Writes element_cases.txt. Run with h5py 3.16 (HDF5 2.0.0).

A line is `NAME TYPE DATA`: the datatype message and the raw data of a dataset; or `at ADDRESS BYTES`: the
object header of the dataset that references refer to, then global heap collections without the zeros at their
end.
"""

import ctypes
import glob
import os
import tempfile

import h5py
import numpy
from h5py import h5t

from hextext import HERE, offsets, uint

FOLDER = os.path.join(os.path.dirname(h5py.__file__), os.pardir)
LIBRARY = ctypes.CDLL(glob.glob(os.path.join(FOLDER, "h5py.libs", "libhdf5-*.so*"))[0])
ID = ctypes.c_int64
LIBRARY.H5Dcreate2.restype = ID
LIBRARY.H5Dcreate2.argtypes = [ID, ctypes.c_char_p, ID, ID, ID, ID, ID]
LIBRARY.H5Dwrite.argtypes = [ID, ID, ID, ID, ID, ctypes.c_void_p]
LIBRARY.H5Dclose.argtypes = [ID]
LIBRARY.H5Tset_precision.argtypes = [ID, ctypes.c_size_t]
LIBRARY.H5Tset_offset.argtypes = [ID, ctypes.c_size_t]
LIBRARY.H5Rcreate_object.argtypes = [ID, ctypes.c_char_p, ID, ctypes.c_void_p]
LIBRARY.H5Rcreate_region.argtypes = [ID, ctypes.c_char_p, ID, ID, ctypes.c_void_p]
LIBRARY.H5Rcreate_attr.argtypes = [ID, ctypes.c_char_p, ctypes.c_char_p, ID, ctypes.c_void_p]


def predefined(name):
    """A type that h5py does not name."""
    return ID.in_dll(LIBRARY, f"H5T_{name}_g").value


def write_raw(file, name, file_type, memory_type, count, data):
    space = h5py.h5s.create_simple((count,))
    file_id, memory_id = (getattr(kind, "id", kind) for kind in (file_type, memory_type))
    dataset = LIBRARY.H5Dcreate2(file.id.id, name.encode(), file_id, space.id, 0, 0, 0)
    assert dataset >= 0, name
    assert LIBRARY.H5Dwrite(dataset, memory_id, 0, 0, 0, data) >= 0, name
    LIBRARY.H5Dclose(dataset)


def numbers(file, name, file_type, values, memory):
    values = numpy.array(values, memory)
    write_raw(file, name, file_type, h5t.py_create(values.dtype), len(values), values.tobytes())


def part(base, precision, offset, size=None):
    made = base.copy()
    if size is not None:
        made.set_size(size)
    # h5py does not set the precision of bit fields.
    assert LIBRARY.H5Tset_precision(made.id, precision) >= 0
    assert LIBRARY.H5Tset_offset(made.id, offset) >= 0
    return made


def bfloat16():
    made = h5t.IEEE_F16LE.copy()
    made.set_fields(15, 7, 8, 0, 7)
    made.set_ebias(127)
    return made


def reference(make, *arguments):
    made = ctypes.create_string_buffer(64)
    assert make(*arguments, made) >= 0
    return bytes(made)


def fill(file):
    numbers(file, "i4be", h5t.STD_I32BE, [1, -2, 0x01020304], "i4")
    numbers(file, "u2be", h5t.STD_U16BE, [1, 0xFFFE], "u2")
    numbers(file, "i8be", h5t.STD_I64BE, [1, -2], "i8")
    numbers(file, "i2le", h5t.STD_I16LE, [1, -2], "i2")
    numbers(file, "f2be", h5t.IEEE_F16BE, [1.5, -2], "f2")
    numbers(file, "f8be", h5t.IEEE_F64BE, [1.5, -1e300], "f8")
    numbers(file, "f4le", h5t.IEEE_F32LE, [1.5, -2], "f4")
    numbers(file, "bfloat16", bfloat16(), [1.5, -2], "f4")
    # The library reads VAX order, but does not write it right.
    vax = bytes([0x18, 0x40, 0, 0, 0, 0, 0x34, 0x12])
    write_raw(file, "vax", predefined("VAX_F64"), predefined("VAX_F64"), 1, vax)
    assert file["vax"].id.get_type().get_order() == h5t.ORDER_VAX
    read = numpy.zeros(1)
    file["vax"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, read, h5t.NATIVE_DOUBLE)
    assert abs(read[0] - 1.5) < 1e-11 and read[0] != 1.5
    numbers(file, "i12", part(h5t.STD_I32LE, 12, 5), [1, -2, 2047, -2048], "i4")
    numbers(file, "u20be", part(h5t.STD_U32BE, 20, 3), [1, 0xFFFFF], "u4")
    numbers(file, "i3", part(h5t.STD_I32LE, 24, 0, 3), [1, -2, 8388607], "i4")
    write_raw(file, "bits", part(h5t.STD_B16BE, 9, 4), part(h5t.STD_B16LE, 9, 0), 2, bytes([0x55, 1, 0xAA, 0]))
    kind = h5py.enum_dtype({"low": 1, "high": -2}, basetype=">i2")
    file.create_dataset("enumeration", data=numpy.array([1, -2], ">i2"), dtype=kind)
    file["text"] = numpy.array([b"ab", b"abcde"], "S5")
    file["opaque"] = numpy.array([b"\1\2\3", b"\4\5\6"], "V3")
    inner = numpy.dtype({"names": ["x", "y"], "formats": [">f4", "i1"], "offsets": [1, 6], "itemsize": 8})
    outer = numpy.dtype(
        {"names": ["a", "b", "c"], "formats": ["i2", (">i4", (2,)), inner], "offsets": [2, 4, 16], "itemsize": 24}
    )
    values = numpy.zeros(2, outer)
    values[0] = (1, (2, 3), (4.5, 5))
    values[1] = (-1, (-2, -3), (-4.5, -5))
    file["compound"] = values
    pairs = numpy.zeros(1, numpy.dtype([("pairs", numpy.dtype([("p", "i1"), ("q", ">i2")]), (2,))]))
    pairs["pairs"] = [[(1, 2), (3, 4)]]
    file["compounds"] = pairs
    array = h5t.array_create(h5t.STD_I16BE, (2, 3))
    memory = h5t.array_create(h5t.NATIVE_INT16, (2, 3))
    write_raw(file, "array", array, memory, 1, numpy.arange(6, dtype="i2").tobytes())
    write_raw(
        file,
        "complex",
        predefined("COMPLEX_IEEE_F32BE"),
        predefined("NATIVE_FLOAT_COMPLEX"),
        2,
        numpy.array([1 + 2j, -3.5], "c8").tobytes(),
    )

    file.create_dataset("strings", data=["one", "", "drei \u00e4"], dtype=h5py.string_dtype())
    sequences = file.create_dataset("sequences", (3,), dtype=h5py.vlen_dtype("<i4"))
    sequences[0], sequences[2] = [1, 2, 3], [-1]
    sequences = file.create_dataset("sequences_be", (2,), dtype=h5py.vlen_dtype(">i2"))
    sequences[0], sequences[1] = [1, 2, 3], [-1]
    nested(file)

    file["target"] = numpy.arange(6).reshape(2, 3)
    file["target"].attrs["units"] = "m"
    objects = file.create_dataset("objects", (2,), dtype=h5py.ref_dtype)
    objects[0] = file["target"].ref
    regions = file.create_dataset("regions", (2,), dtype=h5py.regionref_dtype)
    regions[0] = file["target"].regionref[0:2, 1:3]
    region = h5py.h5s.create_simple((2, 3))
    region.select_elements(numpy.array([[1, 2], [0, 0]], "u8"))
    endless = h5py.h5s.create_simple((2, 3), (h5py.h5s.UNLIMITED, 3))
    endless.select_hyperslab((1, 0), (h5py.h5s.UNLIMITED, 1), (2, 1), (1, 2))
    made = [
        reference(LIBRARY.H5Rcreate_object, file.id.id, b"target", 0),
        reference(LIBRARY.H5Rcreate_region, file.id.id, b"target", region.id, 0),
        reference(LIBRARY.H5Rcreate_attr, file.id.id, b"target", b"units", 0),
        bytes(64),
        reference(LIBRARY.H5Rcreate_object, OTHER.id.id, b"there", 0),
        reference(LIBRARY.H5Rcreate_region, file.id.id, b"target", endless.id, 0),
    ]
    write_raw(file, "revised", predefined("STD_REF"), predefined("STD_REF"), len(made), b"".join(made))


def nested(file):
    """Sequences of compounds of a number and a sequence of texts."""
    text = h5t.C_S1.copy()
    text.set_size(h5t.VARIABLE)
    texts = h5t.vlen_create(text)
    stored = h5t.create(h5t.COMPOUND, 24)
    stored.insert(b"n", 0, h5t.STD_I32BE)
    stored.insert(b"texts", 8, texts)
    memory = h5t.create(h5t.COMPOUND, 24)
    memory.insert(b"n", 0, h5t.NATIVE_INT32)
    memory.insert(b"texts", 8, texts)

    class Sequence(ctypes.Structure):
        _fields_ = [("len", ctypes.c_size_t), ("p", ctypes.c_void_p)]

    class Item(ctypes.Structure):
        _fields_ = [("n", ctypes.c_int32), ("texts", Sequence)]

    def sequence(kind, values):
        kept = (kind * len(values))(*values)
        KEPT.append(kept)
        return Sequence(len(values), ctypes.cast(kept, ctypes.c_void_p) if values else None)

    data = (Sequence * 2)(
        sequence(
            Item,
            [
                Item(7, sequence(ctypes.c_char_p, [b"a", b"bc"])),
                Item(-8, sequence(ctypes.c_char_p, [])),
            ],
        ),
        sequence(Item, []),
    )
    write_raw(file, "nested", h5t.vlen_create(stored), h5t.vlen_create(memory), 2, bytes(data))


KEPT = []


def datatype_message(data, header):
    """The datatype message in a version 1 object header."""
    assert data[header] == 1
    blocks = [(header + 16, uint(data, header + 8, 4))]
    for start, size in blocks:
        at = start
        while at + 8 <= start + size:
            kind, length = uint(data, at, 2), uint(data, at + 2, 2)
            if kind == 3:
                return data[at + 8 : at + 8 + length]
            if kind == 0x10:
                blocks.append((uint(data, at + 8, 8), uint(data, at + 16, 8)))
            at += 8 + length


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    OTHER = h5py.File("other.h5", "w")
    OTHER["there"] = 1
    lines = []
    with h5py.File("x.h5", "w") as file:
        fill(file)
        file.flush()
        found = {}
        for name in file:
            dataset = file[name].id
            info = (h5py.h5o.get_info(dataset).addr, dataset.get_offset(), dataset.get_storage_size())
            found[name] = info
    OTHER.close()
    with open("x.h5", "rb") as file:
        data = file.read()
    os.chdir("/")

for name, (header, start, size) in found.items():
    lines.append(f"{name} {datatype_message(data, header).hex()} {data[start:start + size].hex()}")
target = found["target"][0]
lines.append(f"at {target:#x} {data[target : target + 16 + uint(data, target + 8, 4)].hex()}")
for at in offsets(data, b"GCOL"):
    collection = data[at : at + uint(data, at + 8, 8)]
    lines.append(f"at {at:#x} {collection.rstrip(bytes(1)).hex()}")
with open(os.path.join(HERE, "element_cases.txt"), "w") as out:
    out.write("\n".join(lines) + "\n")
