"""Writes fractal_heap_*.hex and fractal_heap_*.h5. Run with h5py 3.16 (HDF5 2.0.0)."""

import ctypes
import glob
import os
import tempfile

import h5py
import numpy

from hextext import HERE, offsets, uint, write


def written(fill):
    """The bytes of a file of the latest format that `fill` has filled."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.h5")
        with h5py.File(path, "w", libver="latest") as file:
            fill(file)
        with open(path, "rb") as file:
            return file.read()


def header(data, at):
    filters = uint(data, at + 7, 2)
    return data[at : at + 146 + (12 + filters if filters else 0)]


def rows(data):
    """The current number of rows in the root block of the only heap."""
    (at,) = offsets(data, b"FRHP")
    return uint(data, at + 140, 2)


def links(file):
    group = file.create_group("links")
    for i in range(60):
        group[f"link {i:03}"] = h5py.SoftLink(f"/somewhere/{i}")


def many_links(file):
    group = file.create_group("links")
    for i in range(600):
        group[f"{i:03}" + "x" * 1000] = h5py.SoftLink("/")


def attributes(file):
    for i in range(20):
        file.attrs[f"attribute {i}"] = i
    for i in range(2):
        file.attrs[f"huge {i}"] = numpy.arange(3000 + i, dtype="i4")


def deflated_links(file):
    """h5py has no way to filter the heap of a group, so the library behind it is called."""
    folder = os.path.join(os.path.dirname(h5py.__file__), os.pardir)
    (path,) = glob.glob(os.path.join(folder, "h5py.libs", "libhdf5-*.so*"))
    library = ctypes.CDLL(path)
    library.H5Pset_deflate.argtypes = [ctypes.c_int64, ctypes.c_uint]
    plist = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
    assert library.H5Pset_deflate(plist.id, 6) >= 0
    group = h5py.Group(h5py.h5g.create(file.id, b"links", gcpl=plist))
    for i in range(60):
        group[f"link {i:03}"] = h5py.SoftLink(f"/somewhere/{i}")
    return group


def deflated_huge_links(file):
    group = deflated_links(file)
    group["huge 0"] = h5py.SoftLink("x" * 5000)
    group["huge 1"] = h5py.SoftLink("y" * 5000)


def huge_attributes(file):
    for i in range(10):
        file.attrs[f"attribute {i}"] = i
    for i in range(2):
        file.attrs[f"huge {i}"] = numpy.zeros(5100 + 1000 * i, dtype="i1")


data = written(links)
(at,) = offsets(data, b"FRHP")
write("fractal_heap_header_links", "header of the heap of 60 soft links", header(data, at))
at = offsets(data, b"FHDB")[0]
write("fractal_heap_direct_block", "first direct block of that heap", data[at : at + 512])
at = offsets(data, b"BTLF")[0]
write("fractal_heap_id_managed", "heap ID in the first link name record", data[at + 10 : at + 17])

data = written(many_links)
# The root block is that whose offset in the heap is 0.
(at,) = [at for at in offsets(data, b"FHIB") if uint(data, at + 13, 4) == 0]
assert rows(data) == 16
write("fractal_heap_indirect_block", "root block of 16 rows, 9 of them direct", data[at : at + 21 + 64 * 8])

data = written(attributes)
(at,) = offsets(data, b"FRHP")
write("fractal_heap_header_attributes", "header of a heap with 2 huge attributes", header(data, at))
records = [
    data[at + 6 + 17 * i : at + 6 + 17 * (i + 1)]
    for at in offsets(data, b"BTLF")
    if data[at + 5] == 8
    for i in range(22)
]
huge = [record for record in records if record[0] == 0x10][0]
write("fractal_heap_id_huge", "heap ID of a huge attribute", huge[:8])

data = written(deflated_links)
(at,) = offsets(data, b"FRHP")
write("fractal_heap_header_filtered", "header of a deflated heap of 60 soft links", header(data, at))
(at,) = offsets(data, b"FHIB")
assert rows(data) == 1
write("fractal_heap_indirect_block_filtered", "its root block of 1 row", data[at : at + 21 + 4 * 20])

for name, fill in [("filtered", deflated_huge_links), ("huge", huge_attributes)]:
    with open(os.path.join(HERE, f"fractal_heap_{name}.h5"), "wb") as out:
        out.write(written(fill))
