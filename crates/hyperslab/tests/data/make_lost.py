"""Writes lost/: files with content that a conversion must name as lost or changed, although reading them finds no error.

    target/oracles/venv/bin/python crates/hyperslab/tests/data/make_lost.py
"""

import os

import h5py
import numpy as np
from h5py import h5a, h5d, h5p, h5s, h5t

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "lost"))
END = h5s.UNLIMITED
PURE = "This is a netCDF dimension but not a netCDF variable%10d"

# A virtual dataset whose source has its elements in a file of raw bytes, which ends too early.
np.arange(4, dtype="<i2").tofile("short.raw")
with h5py.File("inner.h5", "w") as file:
    file.create_dataset("raw", (8,), "<i2", external=[("short.raw", 0, 16)])
with h5py.File("outer.h5", "w", libver="v110") as file:
    layout = h5py.VirtualLayout((8,), "<i2")
    layout[:] = h5py.VirtualSource("inner.h5", "raw", (8,))
    file.create_virtual_dataset("raw", layout, fillvalue=-1).attrs["units"] = "metre"

# Two neighbouring mappings of the same numbered files, two blocks of four elements and eight blocks of one.
for number in range(2):
    with h5py.File(f"part-{number}.h5", "w") as file:
        file["x"] = np.full(4, number + 1, "<i2")
with h5py.File("blocks.h5", "w", libver="v110") as file:
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_layout(h5d.VIRTUAL)
    for row, size in enumerate((4, 1)):
        here, there = h5s.create_simple((2, 8), (2, END)), h5s.create_simple((4,))
        here.select_hyperslab((row, 0), (1, END), (1, size), (1, size))
        there.select_hyperslab((0,), (size,))
        plist.set_virtual(here, b"part-%b.h5", b"/x", there)
    h5d.create(file.id, b"x", h5t.STD_I16LE, h5s.create_simple((2, 8), (2, END)), plist)

# A group with a reference to an object outside of it, as the target of a link.
with h5py.File("target.h5", "w") as file:
    file["in/x"] = np.arange(2, dtype="<i2")
    file["out"] = np.arange(2, dtype="<i2")
    inside, outside = file["in/x"].ref, file["out"].ref
    file["in/inside"] = np.array([inside], dtype=h5py.ref_dtype)
    file["in/both"] = np.array([inside, outside], dtype=h5py.ref_dtype)
    file["in/x"].attrs.create("out", outside, dtype=h5py.ref_dtype)
with h5py.File("linked.h5", "w") as file:
    file["linked"] = h5py.ExternalLink("target.h5", "/in")

# Datasets that are named as dimensions without variables.
with h5py.File("pure.h5", "w", libver="v110") as file:
    late = np.zeros(100_000, "<f4")
    late[-1] = 5
    for name, of in {
        "late": {"data": late, "chunks": (50_000,), "compression": "gzip"},
        "damaged": {"data": np.arange(1000, dtype="<f4"), "chunks": (100,), "compression": "gzip"},
        "zeros": {"data": np.zeros(3, "<f4")},
        "filled": {"shape": (3,), "dtype": "<f4", "fillvalue": 7},
        "commented": {"shape": (3,), "dtype": "<f4"},
    }.items():
        dimension = file.create_dataset(name, track_times=False, **of)
        dimension.make_scale(PURE % dimension.shape[0])
        along = file.create_dataset(f"along_{name}", dimension.shape, "<i1", track_times=False)
        along.dims[0].attach_scale(dimension)
    h5py.h5o.set_comment(file["commented"].id, b"named, not measured")
    chunks = [file["damaged"].id.get_chunk_info(number) for number in range(10)]
with open("pure.h5", "r+b") as file:
    for chunk in chunks:
        file.seek(chunk.byte_offset)
        file.write(b"\xff" * 10)

# Names whose bytes are not UTF-8, and names that are the text which stands for them.
NAMES = (b"\xe9", "\ufffde9".encode())
with h5py.File("alike.h5", "w", libver="v110") as file:
    compound = h5t.create(h5t.COMPOUND, 4)
    for number, name in enumerate(NAMES):
        compound.insert(name, 2 * number, h5t.STD_I16LE)
        dataset = h5d.create(file.id, name, h5t.STD_I16LE, h5s.create_simple((number + 1,)))
    for number, name in enumerate(NAMES):
        h5a.create(dataset, name, h5t.STD_I16LE, h5s.create_simple((number + 1,)))
    h5d.create(file.id, b"compound", compound, h5s.create_simple((2,)))
    h5d.create(file.id, b"plain", h5t.STD_I16LE, h5s.create_simple((2,)))
