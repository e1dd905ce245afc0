"""Writes reference_*.hex. Run with h5py 3.16 (HDF5 2.0.0)."""

import ctypes
import glob
import os
import tempfile

import h5py

from hextext import offsets, uint, write

FOLDER = os.path.join(os.path.dirname(h5py.__file__), os.pardir)
LIBRARY = ctypes.CDLL(glob.glob(os.path.join(FOLDER, "h5py.libs", "libhdf5-*.so*"))[0])
ID = ctypes.c_int64
STD_REF = ID.in_dll(LIBRARY, "H5T_STD_REF_g").value
LIBRARY.H5Dcreate2.restype = ID
LIBRARY.H5Dcreate2.argtypes = [ID, ctypes.c_char_p, ID, ID, ID, ID, ID]
LIBRARY.H5Dwrite.argtypes = [ID, ID, ID, ID, ID, ctypes.c_void_p]
LIBRARY.H5Dclose.argtypes = [ID]
LIBRARY.H5Rcreate_object.argtypes = [ID, ctypes.c_char_p, ID, ctypes.c_void_p]
LIBRARY.H5Rcreate_region.argtypes = [ID, ctypes.c_char_p, ID, ID, ctypes.c_void_p]
LIBRARY.H5Rcreate_attr.argtypes = [ID, ctypes.c_char_p, ctypes.c_char_p, ID, ctypes.c_void_p]


def write_references(file, name, references):
    """h5py has no revised references, so the library behind it is called."""
    space = h5py.h5s.create_simple((len(references),))
    buffer = b"".join(bytes(reference) for reference in references)
    dataset = LIBRARY.H5Dcreate2(file.id.id, name, STD_REF, space.id, 0, 0, 0)
    assert dataset >= 0
    assert LIBRARY.H5Dwrite(dataset, STD_REF, 0, 0, 0, buffer) >= 0
    LIBRARY.H5Dclose(dataset)


def reference(make, *arguments):
    made = ctypes.create_string_buffer(64)
    assert make(*arguments, made) >= 0
    return made


def collection_objects(data):
    """The objects of all global heap collections, by (address, index)."""
    found = {}
    for start in offsets(data, b"GCOL"):
        at, end = start + 16, start + uint(data, start + 8, 8)
        while at + 16 <= end and uint(data, at, 2):
            size = uint(data, at + 8, 8)
            found[start, uint(data, at, 2)] = data[at + 16 : at + 16 + size]
            at += 16 + (size + 7) // 8 * 8
    return found


with tempfile.TemporaryDirectory() as folder:
    # References to other files store the name that was opened.
    os.chdir(folder)
    other = h5py.File("other.h5", "w", libver="latest")
    other["there"] = [1, 2]
    with h5py.File("x.h5", "w", libver="latest") as file:
        file["target"] = [[1, 2, 3], [4, 5, 6]]
        file["target"].attrs["units"] = "m"
        region = h5py.h5s.create_simple((2, 3))
        region.select_hyperslab((0, 1), (1, 1), block=(2, 2))
        made = [
            reference(LIBRARY.H5Rcreate_object, file.id.id, b"target", 0),
            reference(LIBRARY.H5Rcreate_region, file.id.id, b"target", region.id, 0),
            reference(LIBRARY.H5Rcreate_attr, file.id.id, b"target", b"units", 0),
            bytes(64),
            reference(LIBRARY.H5Rcreate_object, other.id.id, b"there", 0),
        ]
        write_references(file, b"revised", made)
        file.flush()
        dataset = file["revised"].id
        size, address = dataset.get_storage_size() // len(made), dataset.get_offset()
        file.create_dataset("old", (2,), dtype=h5py.regionref_dtype)
        file["old"][0] = file["target"].regionref[0:2, 1:3]
        old = file["old"].id.get_offset()
    other.close()
    os.chdir("/")
    with open(os.path.join(folder, "x.h5"), "rb") as file:
        data = file.read()

objects = collection_objects(data)
names = ["object", "region", "attribute", "null", "external"]
for number, name in enumerate(names):
    stored = data[address + number * size : address + (number + 1) * size]
    write("reference_stored_" + name, f"revised {name} reference as data", stored)
    if name in ("region", "attribute", "external"):
        block = objects[uint(stored, 6, 8), uint(stored, 14, 4)]
        # The library leaves some bytes behind the selection.
        block = block[: 17 + uint(block, 9, 4)] if name == "region" else block
        write("reference_block_" + name, "its block in the global heap", block)
write("reference_region1", "old region reference in the global heap", objects[uint(data, old, 8), uint(data, old + 8, 4)])
