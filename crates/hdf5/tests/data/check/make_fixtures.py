#!/usr/bin/env python3
"""Writes the small sound files that tests/check.rs seeds faults into: one by old means, one by new ones, and one
each for shared messages, free space and filtered heaps.

Needs h5py 3.16 over HDF5 2.0.
"""

import ctypes
from pathlib import Path

import h5py
import numpy as np
from h5py import h5d, h5f, h5g, h5p, h5s, h5t

HERE = Path(__file__).parent
LIBRARY = ctypes.CDLL(str(next((Path(h5py.__file__).parents[1] / "h5py.libs").glob("libhdf5-*.so*"))))


def call(name, plist, *arguments):
    """h5py does not know these properties, so the library behind it is called."""
    assert getattr(LIBRARY, name)(ctypes.c_int64(plist.id), *arguments) >= 0, name


def create(name, low, high, fcpl=None):
    fapl = h5p.create(h5p.FILE_ACCESS)
    fapl.set_libver_bounds(low, high)
    return h5py.File(h5f.create(str(HERE / name).encode(), h5f.ACC_TRUNC, fcpl, fapl))


def untimed(f, name, shape, dtype, most=None, chunk=None, **filters):
    """A dataset without times. Those of groups differ from run to run, and nothing else does."""
    dcpl = h5p.create(h5p.DATASET_CREATE)
    dcpl.set_obj_track_times(False)
    if chunk:
        dcpl.set_chunk(chunk)
    if filters.get("fletcher32"):
        dcpl.set_fletcher32()
    if filters.get("deflate"):
        dcpl.set_deflate(6)
    if filters.get("early"):
        dcpl.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    if "fill" in filters:
        dcpl.set_fill_value(np.asarray(filters["fill"], dtype))
    if filters.get("compact"):
        dcpl.set_layout(h5d.COMPACT)
    space = h5s.create_simple(shape, tuple(h5s.UNLIMITED if m is None else m for m in most or shape))
    made = h5d.create(f.id, name.encode(), h5t.py_create(np.dtype(dtype), logical=True), space, dcpl)
    return h5py.Dataset(made)


def old():
    fcpl = h5p.create(h5p.FILE_CREATE)
    call("H5Pset_sym_k", fcpl, ctypes.c_uint(1), ctypes.c_uint(1))
    call("H5Pset_istore_k", fcpl, ctypes.c_uint(1))
    with create("old.h5", h5f.LIBVER_EARLIEST, h5f.LIBVER_V18, fcpl) as f:
        group = f.create_group("group")
        for name in "abcdefghi":
            group.create_group(name)
        group["soft"] = h5py.SoftLink("/group/a")
        group["hard"] = group["a"]
        del group["c"]
        chunked = untimed(f, "chunked", (10, 4), "<i2", (None, 4), (2, 4), fill=-1)
        chunked[...] = np.arange(40).reshape(10, 4)
        checked = untimed(f, "checked", (8,), "<i4", (8,), (4,), fletcher32=True)
        checked[...] = np.arange(8)
        untimed(f, "compact", (4,), "<i4", compact=True)[...] = range(4)
        plain = untimed(f, "plain", (6,), "<f8")
        plain[...] = range(6)
        for n in range(9):
            plain.attrs[f"attribute {n}"] = n
        f["named"] = np.dtype("<u2")
        f.create_dataset("typed", (2,), f["named"], track_times=False)
        text = untimed(f, "text", (3,), h5py.string_dtype())
        text[...] = ["one", "two", "three"]
        references = untimed(f, "references", (2,), h5py.ref_dtype)
        references[0] = plain.ref
        f.create_dataset("outside", (4,), "<i2", external=[("elsewhere.raw", 0, 8)], track_times=False)


def new():
    with create("new.h5", h5f.LIBVER_V110, h5f.LIBVER_V110) as f:
        dense = f.create_group("dense", track_order=True)
        for n in range(12):
            dense.create_group(f"link {n:02}")
        untimed(f, "plain", (6,), "<f8")[...] = range(6)
        f["again"] = f["plain"]
        tracked = f.create_group("attributes", track_order=True)
        for n in range(10):
            tracked.attrs[f"attribute {n}"] = n
        tracked.attrs["large"] = np.arange(9000, dtype="<f8")
        fixed = untimed(f, "fixed", (6, 4), "<i2", (6, 4), (2, 2))
        fixed[...] = np.arange(24).reshape(6, 4)
        paged = untimed(f, "paged", (1100,), "u1", (1100,), (1,))
        paged[:3] = 1
        extensible = untimed(f, "extensible", (90,), "u1", (None,), (1,))
        extensible[...] = range(90)
        both = untimed(f, "both", (100, 1), "u1", (None, None), (1, 1))
        both[...] = np.arange(100).reshape(100, 1)
        single = untimed(f, "single", (8,), "<i4", (8,), (8,), fletcher32=True)
        single[...] = range(8)
        untimed(f, "implicit", (4,), "<i4", (4,), (2,), early=True)[...] = range(4)
        text = untimed(f, "text", (3,), h5py.string_dtype(), (None,), (3,))
        text[...] = ["one", "two", "three"]
        layout = h5py.VirtualLayout((6,), "<f8")
        layout[...] = h5py.VirtualSource(".", "plain", (6,))
        f.create_virtual_dataset("virtual", layout)
        x, xy = untimed(f, "x", (3,), "<f8"), untimed(f, "xy", (3,), "<f8")
        x.make_scale("x")
        xy.dims[0].attach_scale(x)


def nested():
    """A heap of indirect blocks in indirect blocks, and an index of two levels."""
    with create("nested.h5", h5f.LIBVER_V110, h5f.LIBVER_V110) as f:
        for n in range(150):
            f[f"link {n:03}"] = h5py.SoftLink("/" + "x" * 40)


def filtered():
    """A heap with filters, and a virtual dataset of a part."""
    with create("filtered.h5", h5f.LIBVER_V110, h5f.LIBVER_V110) as f:
        gcpl = h5p.create(h5p.GROUP_CREATE)
        call("H5Pset_deflate", gcpl, ctypes.c_uint(6))
        group = h5py.Group(h5g.create(f.id, b"group", gcpl=gcpl))
        for n in range(12):
            group[f"link {n:02}"] = h5py.SoftLink("/" + "x" * 30)
        layout = h5py.VirtualLayout((6,), "<f8")
        layout[1:4] = h5py.VirtualSource("elsewhere.h5", "plain", (3,))
        f.create_virtual_dataset("virtual", layout)


def shared():
    dataspace, datatype, fill, attribute = (1 << bit for bit in (1, 3, 5, 12))
    for name, most in [("shared_list.h5", 50), ("shared_tree.h5", 0)]:
        fcpl = h5p.create(h5p.FILE_CREATE)
        call("H5Pset_shared_mesg_nindexes", fcpl, ctypes.c_uint(2))
        call("H5Pset_shared_mesg_index", fcpl, ctypes.c_uint(0), ctypes.c_uint(attribute), ctypes.c_uint(20))
        kinds = dataspace | datatype | fill
        call("H5Pset_shared_mesg_index", fcpl, ctypes.c_uint(1), ctypes.c_uint(kinds), ctypes.c_uint(8))
        call("H5Pset_shared_mesg_phase_change", fcpl, ctypes.c_uint(most), ctypes.c_uint(0))
        with create(name, h5f.LIBVER_V110, h5f.LIBVER_V110, fcpl) as f:
            for dataset in "abc":
                made = untimed(f, dataset, (2, 3), "<i2", fill=7)
                made.attrs["units"] = np.bytes_("a unit that all three have")


def space():
    fcpl = h5p.create(h5p.FILE_CREATE)
    fcpl.set_file_space_strategy(h5f.FSPACE_STRATEGY_FSM_AGGR, True, 1)
    with create("space.h5", h5f.LIBVER_V110, h5f.LIBVER_V110, fcpl) as f:
        for n in range(6):
            untimed(f, f"data{n}", (100,), "u1")[...] = n
        untimed(f, "chunked", (40,), "u1", (None,), (20,))[...] = 1
    fapl = h5p.create(h5p.FILE_ACCESS)
    fapl.set_libver_bounds(h5f.LIBVER_V110, h5f.LIBVER_V110)
    with h5py.File(h5f.open(str(HERE / "space.h5").encode(), h5f.ACC_RDWR, fapl)) as f:
        del f["data1"], f["data3"], f["chunked"]


if __name__ == "__main__":
    for make in [old, new, nested, filtered, shared, space]:
        make()
