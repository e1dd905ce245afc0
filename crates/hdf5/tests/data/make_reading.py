#!/usr/bin/env python3
"""Writes reading.h5 and links.h5: datasets and links that the examples do not have.

Needs h5py 3.16 over HDF5 2.0.
"""

import ctypes
import glob
import os
from pathlib import Path

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

HERE = Path(__file__).parent
LIBRARY = ctypes.CDLL(glob.glob(os.path.join(os.path.dirname(h5py.__file__), "..", "h5py.libs", "libhdf5-*"))[0])
DONT_FILTER_PARTIAL_CHUNKS = 2
JPEG_XR = 32007


def create(f, name, shape, chunk, setup=lambda p: None, maxshape=None):
    p = h5p.create(h5p.DATASET_CREATE)
    p.set_obj_track_times(False)
    p.set_chunk(chunk)
    setup(p)
    return h5py.Dataset(h5d.create(f.id, name.encode(), h5t.STD_I16LE, h5s.create_simple(shape, maxshape), p))


def edges(p):
    p.set_deflate(5)
    LIBRARY.H5Pset_chunk_opts.argtypes = [ctypes.c_int64, ctypes.c_uint]
    assert LIBRARY.H5Pset_chunk_opts(p.id, DONT_FILTER_PARTIAL_CHUNKS) >= 0


def filled(p):
    p.set_fill_value(np.array(-7, "<i2"))


def masked(p):
    p.set_shuffle()
    p.set_fletcher32()


with h5py.File(HERE / "reading.h5", "w", libver=("v110", "v110")) as f:
    values = np.arange(35, dtype="<i2").reshape(5, 7)
    create(f, "edges_unfiltered", (5, 7), (2, 4), edges)[...] = values
    d = create(f, "masked", (2, 4), (1, 4), masked)
    d.id.write_direct_chunk((0, 0), np.arange(4, dtype="<i2").tobytes(), filter_mask=0b11)
    d[1] = [4, 5, 6, 7]
    unlimited = h5s.UNLIMITED
    for maxshape, name in [((unlimited, 7), "shrunk_array"), ((unlimited, unlimited), "shrunk_tree")]:
        d = create(f, name, (5, 7), (2, 4), filled, maxshape)
        d[...] = values
        d.resize((3, 5))
    d = create(f, "regrown", (6,), (2,), filled, (unlimited,))
    d[...] = np.arange(6)
    d.resize((3,))
    d.resize((6,))
    create(f, "user_fill", (3, 3), (2, 2), filled)
    create(f, "checked", (4,), (4,), lambda p: p.set_fletcher32())[...] = [10, 20, 30, 40]
    optional = h5py.h5z.FLAG_OPTIONAL
    d = create(f, "unknown_filter", (64,), (64,), lambda p: p.set_filter(JPEG_XR, optional, (1, 2)))
    d.id.write_direct_chunk((0,), bytes(8))
    f.create_dataset("external", (4,), "<i2", external=[("elsewhere.raw", 0, 8)])
    layout = h5py.VirtualLayout((4,), "<i2")
    layout[:] = h5py.VirtualSource("elsewhere.h5", "data", (4,))
    f.create_virtual_dataset("virtual", layout)
    f["contiguous"] = np.arange(120, dtype="<i4").reshape(4, 5, 6)

with h5py.File(HERE / "links.h5", "w", libver="v110") as f:
    f["a"] = h5py.SoftLink("/b/x")
    f["b"] = h5py.SoftLink("/a/y")
    f["self"] = h5py.SoftLink("/self/x")
    f["itself"] = h5py.SoftLink("itself")
    z = f.create_group("z/group")
    z["data"] = np.int8([1, 2])
    z["up"] = f["z"]
    z["back"] = h5py.SoftLink("..")
    f["z/name"] = f["z/group/data"]
    f["one"] = h5py.SoftLink("z")
    f["two"] = h5py.SoftLink("./one/group")
    f["z/three"] = h5py.SoftLink("group/data")
    f["z/aside"] = h5py.SoftLink("group")
    f["far"] = h5py.SoftLink("/z/aside")
    f["two_up"] = h5py.SoftLink("/two/up/group")

for name in ("reading.h5", "links.h5"):
    assert (HERE / name).stat().st_size <= 20_000, (name, (HERE / name).stat().st_size)
