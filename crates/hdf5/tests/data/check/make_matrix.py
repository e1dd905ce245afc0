#!/usr/bin/env python3
"""Writes files in every combination of format bounds, orders, file space strategies and user blocks, and with rare
properties, with objects of every kind made, changed and deleted in two sessions: `make_matrix.py DIRECTORY`. Checking them must give no
error: `cargo run -p hyperslab-hdf5 --example check_hdf5 -- --values DIRECTORY`.

Needs h5py 3.16 over HDF5 2.0.
"""

import ctypes
import itertools
import random
import sys
from pathlib import Path

import h5py
import numpy as np

LIBVER = [
    ("earliest", "v108"), ("earliest", "v110"), ("earliest", "latest"), ("v108", "v108"), ("v110", "v110"),
    ("v112", "v112"), ("v114", "v114"), ("v200", "v200"), ("latest", "latest"),
]
SPACE = [
    {}, {"fs_strategy": "fsm", "fs_persist": True}, {"fs_strategy": "fsm", "fs_persist": False},
    {"fs_strategy": "page", "fs_persist": True, "fs_page_size": 512},
    {"fs_strategy": "page", "fs_persist": True, "fs_page_size": 4096},
    {"fs_strategy": "page", "fs_persist": False, "fs_page_size": 4096},
    {"fs_strategy": "aggregate"}, {"fs_strategy": "none"},
]


def groups(f, rng):
    many = f.create_group("many")
    names = [f"group {n:03} {'x' * rng.randrange(30)}" for n in range(120)]
    for name in names:
        many.create_group(name)
    for name in names[::3]:
        del many[name]
    few = f.create_group("few")
    few["soft"] = h5py.SoftLink("/many")
    few["dangling"] = h5py.SoftLink("/nowhere/at all")
    few["external"] = h5py.ExternalLink("other.h5", "/x")
    few["hard"] = f["many"]
    few["again"] = f["few"]
    nested = f
    for n in range(40):
        nested = nested.create_group(f"level{n}")
    shrunk = f.create_group("shrunk")
    for n in range(20):
        shrunk[f"link{n}"] = h5py.SoftLink("/few")
    for n in range(17):
        del shrunk[f"link{n}"]
    moved = f.create_group("moved")
    for n in range(12):
        moved[f"before{n}"] = h5py.SoftLink("/few")
    for n in range(12):
        moved.move(f"before{n}", f"after the move {n}")


def attributes(f, rng):
    holder = f.create_group("holder", track_order=True)
    plain = f.create_group("plain")
    for group in [holder, plain]:
        for n in range(60):
            group.attrs[f"name{n}"] = rng.randrange(1000) if n % 3 else "text " * (n % 7)
        for n in range(0, 60, 4):
            del group.attrs[f"name{n}"]
        for n in range(1, 60, 8):
            group.attrs[f"name{n}"] = np.arange(n)
    small = f.create_group("small")
    for n in range(5):
        small.attrs[f"a{n}"] = [1.5] * n if n else h5py.Empty("f8")
    small.attrs["strings"] = ["one", "two", "three"]
    small.attrs.create("sequences", [np.arange(3), np.arange(5)], dtype=h5py.vlen_dtype("i4"))


def big_attributes(f):
    holder = f.create_group("huge")
    for n in range(12):
        holder.attrs[f"large{n}"] = np.arange(9000, dtype="f8")
    del holder.attrs["large3"]


def types(f):
    f["named"] = np.dtype([("a", "i4"), ("b", "f8", (2, 3)), ("c", h5py.string_dtype())])
    f["enum"] = h5py.enum_dtype({"RED": 0, "GREEN": 1}, "i1")
    for n in range(4):
        f.create_dataset(f"typed{n}", (3,), dtype=f["named"])
    f["typed0"].attrs.create("kind", 1, dtype=f["enum"])
    del f["typed2"]
    f["alias"] = f["named"]
    f.create_dataset("text", data=["a", "bb", "", "dddd" * 50], dtype=h5py.string_dtype())
    f["text"][1] = "replaced by what is longer"
    nested = f.create_dataset("sequences", (4,), dtype=h5py.vlen_dtype(h5py.string_dtype()))
    nested[0] = np.array(["x", "yy"], dtype=object)
    nested[2] = np.array(["zzz"] * 30, dtype=object)
    refs = f.create_dataset("references", (3,), dtype=h5py.ref_dtype)
    refs[0], refs[1] = f["named"].ref, f["text"].ref
    regions = f.create_dataset("regions", (2,), dtype=h5py.regionref_dtype)
    regions[0] = f["text"].regionref[1:3]


def chunked(f, rng):
    shapes = [
        ("btree", (40, 30), (None, None), (7, 4)), ("extensible", (90, 9), (None, 9), (3, 4)),
        ("second", (9, 90), (9, None), (4, 3)), ("fixed", (50, 50), (60, 50), (5, 5)),
        ("paged", (70, 70), (70, 70), (2, 2)), ("single", (6, 6), (6, 6), (6, 6)),
        ("long", (3000,), (None,), (2,)),
    ]
    for name, shape, most, chunk in shapes:
        for filters in [{}, {"compression": "gzip", "shuffle": True, "fletcher32": True}]:
            made = f.create_dataset(
                name + ("_filtered" if filters else ""), shape, "i4", maxshape=most, chunks=chunk, fillvalue=-1, **filters
            )
            made[...] = np.arange(np.prod(shape)).reshape(shape)
            if None in most:
                smaller = tuple(n // 2 if m is None else n for n, m in zip(shape, most))
                made.resize(smaller)
                made.resize(tuple(n + 5 if m is None else n for n, m in zip(shape, most)))
    sparse = f.create_dataset("sparse", (1000, 1000), "u1", chunks=(10, 10), maxshape=(None, 1000))
    for _ in range(30):
        sparse[rng.randrange(1000), rng.randrange(1000)] = 1
    early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    early.set_chunk((4, 4))
    early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    space = h5py.h5s.create_simple((10, 10), (10, 10))
    h5py.h5d.create(f.id, b"implicit", h5py.h5t.STD_I16LE, space, early)
    strings = f.create_dataset("chunked_text", (20,), h5py.string_dtype(), chunks=(3,), maxshape=(None,), compression="gzip")
    strings[...] = ["s" * n for n in range(20)]
    strings.resize((11,))
    strings.resize((15,))
    compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    compact.set_layout(h5py.h5d.COMPACT)
    h5py.h5d.create(f.id, b"compact", h5py.h5t.STD_I16LE, h5py.h5s.create_simple((10,)), compact)
    f.create_dataset("empty", dtype="f4", data=h5py.Empty("f4"))
    f.create_dataset("zero", (0, 5), "f4", maxshape=(None, 5), chunks=(4, 5))
    f.create_dataset("contiguous", data=np.arange(5000))
    f.create_dataset("outside", (4,), "i2", external=[("elsewhere.raw", 0, 8)])


def scales(f):
    f.create_dataset("x", data=np.arange(4.0))
    f.create_dataset("y", data=np.arange(3.0))
    f.create_dataset("xy", data=np.zeros((4, 3)))
    f["x"].make_scale("x")
    f["y"].make_scale("y")
    f["xy"].dims[0].attach_scale(f["x"])
    f["xy"].dims[1].attach_scale(f["y"])


def virtual(f):
    layout = h5py.VirtualLayout((2, 5000), "i8")
    layout[0] = h5py.VirtualSource(".", "contiguous", (5000,))
    layout[1] = h5py.VirtualSource("other.h5", "x", (5000,))
    f.create_virtual_dataset("virtual", layout)


def first(f, rng, bounds):
    groups(f, rng)
    attributes(f, rng)
    types(f)
    chunked(f, rng)
    scales(f)
    if bounds[0] != "earliest":
        big_attributes(f)
    if bounds[1] != "earliest" and bounds[1] != "v108":
        virtual(f)


def second(f, rng):
    """What another session changes and deletes."""
    for name in ["btree", "extensible_filtered", "paged", "moved", "sequences", "xy"]:
        del f[name]
    for n in range(30):
        f["plain"].attrs[f"later{n}"] = n
    for n in range(1, 40, 2):
        f["many"].create_group(f"later {n}")
    f["long"].resize((4000,))
    f["long"][3500:] = 7
    f["text"][0] = "changed once more " * 20
    f["chunked_text"][3] = "changed"
    f["sparse_filtered_later"] = np.arange(100)
    for _ in range(20):
        f["sparse"][rng.randrange(1000), rng.randrange(1000)] = 2


LIBRARY = ctypes.CDLL(str(next((Path(h5py.__file__).parents[1] / "h5py.libs").glob("libhdf5-*.so*"))))


def call(name, plist, *arguments):
    """h5py does not know these properties, so the library behind it is called."""
    assert getattr(LIBRARY, name)(ctypes.c_int64(plist.id), *arguments) >= 0, name


def shared_kinds(*kinds):
    def change(fcpl):
        call("H5Pset_shared_mesg_nindexes", fcpl, ctypes.c_uint(len(kinds)))
        for number, kind in enumerate(kinds):
            call("H5Pset_shared_mesg_index", fcpl, ctypes.c_uint(number), ctypes.c_uint(kind), ctypes.c_uint(4))

    return change


def shared_phase(most, least):
    return lambda fcpl: call("H5Pset_shared_mesg_phase_change", fcpl, ctypes.c_uint(most), ctypes.c_uint(least))


ALL_KINDS = 1 << 1 | 1 << 3 | 1 << 5 | 1 << 11 | 1 << 12

SPECIAL = {
    "shared_all": [shared_kinds(ALL_KINDS)],
    "shared_tree": [shared_kinds(ALL_KINDS), shared_phase(0, 0)],
    "shared_attributes": [shared_kinds(1 << 12), shared_phase(6, 3)],
    "shared_each": [shared_kinds(1 << 1, 1 << 3, 1 << 5, 1 << 11, 1 << 12), shared_phase(5, 2)],
    "sizes_4": [lambda fcpl: fcpl.set_sizes(4, 4)],
    "sizes_84": [lambda fcpl: fcpl.set_sizes(8, 4)],
    "sizes_48": [lambda fcpl: fcpl.set_sizes(4, 8)],
    "k": [
        lambda fcpl: call("H5Pset_sym_k", fcpl, ctypes.c_uint(2), ctypes.c_uint(2)),
        lambda fcpl: call("H5Pset_istore_k", fcpl, ctypes.c_uint(2)),
    ],
}


def special(f, rng):
    """Groups and datasets whose creation properties differ from the usual."""
    gcpl = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
    call("H5Pset_deflate", gcpl, ctypes.c_uint(6))
    call("H5Pset_link_phase_change", gcpl, ctypes.c_uint(2), ctypes.c_uint(1))
    call("H5Pset_attr_phase_change", gcpl, ctypes.c_uint(2), ctypes.c_uint(1))
    group = h5py.Group(h5py.h5g.create(f.id, b"filtered group", gcpl=gcpl))
    for n in range(400):
        group[f"link {n:04} {'y' * rng.randrange(60)}"] = h5py.SoftLink("/" + "x" * rng.randrange(1, 90))
        if n % 5 == 0:
            del group[rng.choice(list(group))]
    for n in range(30):
        group.attrs[f"attribute {n}"] = "the same text in all of them"
    f.copy("filtered group", "copy")
    for n in range(12):
        made = f.create_dataset(f"dataset {n}", (4, 5), "<i2", chunks=(2, 5), compression="gzip", fillvalue=3)
        made.attrs["units"] = "the same text in all of them"
        made.attrs["range"] = [1.5, 2.5]
        for k in range(n):
            made.attrs[f"more {k}"] = k
    for n in range(0, 12, 3):
        del f[f"dataset {n}"]
    for n in range(1, 12, 3):
        del f[f"dataset {n}"].attrs["units"]
        f.copy(f"dataset {n}", f"copied {n}")


def rare(out):
    for (name, changes), bounds in itertools.product(SPECIAL.items(), LIBVER[1:]):
        path = out / f"{name}_{bounds[0]}-{bounds[1]}.h5"
        rng = random.Random(7)
        fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
        for change in changes:
            change(fcpl)
        fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
        levels = {
            "earliest": h5py.h5f.LIBVER_EARLIEST, "v108": h5py.h5f.LIBVER_V18, "v110": h5py.h5f.LIBVER_V110,
            "v112": h5py.h5f.LIBVER_V112, "v114": h5py.h5f.LIBVER_V114, "v200": h5py.h5f.LIBVER_V200,
            "latest": h5py.h5f.LIBVER_LATEST,
        }
        fapl.set_libver_bounds(levels[bounds[0]], levels[bounds[1]])
        h5py.get_config().track_order = False
        with h5py.File(h5py.h5f.create(str(path).encode(), h5py.h5f.ACC_TRUNC, fcpl, fapl)) as f:
            special(f, rng)
            if not name.startswith("sizes"):
                first(f, rng, bounds)
        with h5py.File(path, "r+", libver=bounds) as f:
            if not name.startswith("sizes"):
                second(f, rng)
            del f["dataset 5"], f["copied 4"]
            f["dataset 8"].attrs["units"] = "another text"
            f.create_dataset("late", (4, 5), "<i2", chunks=(2, 5), compression="gzip", fillvalue=3)


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    number = 0
    for bounds, track, space, block in itertools.product(LIBVER, [False, True], SPACE, [0, 512, 4096]):
        number += 1
        # Before 1.10 there were no strategies.
        if space and bounds[1] == "v108":
            continue
        # Of user blocks one each is enough.
        if block != [0, 512, 4096][number % 3] and block:
            continue
        space_name = "_".join(str(value) for value in space.values()) or "default"
        path = out / f"{bounds[0]}-{bounds[1]}_{'ordered' if track else 'plain'}_{space_name}_{block}.h5"
        rng = random.Random(number)
        h5py.get_config().track_order = track
        with h5py.File(path, "w", libver=bounds, track_order=track, userblock_size=block, **space) as f:
            first(f, rng, bounds)
        with h5py.File(path, "r+", libver=bounds) as f:
            second(f, rng)
    rare(out)


if __name__ == "__main__":
    main()
