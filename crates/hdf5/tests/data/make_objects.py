#!/usr/bin/env python3
"""Writes objects_v1.h5 and objects_v2.h5, whose object headers are tested, and where the headers are.

Needs h5py 3.16 over HDF5 2.0.
"""

from pathlib import Path

import h5py
import numpy as np
from h5py import h5d, h5g, h5o, h5p, h5s, h5t

HERE = Path(__file__).parent


def make(name, libver):
    path = HERE / f"{name}.h5"
    with h5py.File(path, "w", libver=libver, track_order=False) as f:
        f.create_dataset("dataset", data=np.arange(3, dtype="<i2"))
        f["type"] = np.dtype("<i4")
        f.create_dataset("committed", (2,), f["type"])
        f["type"].attrs.create("own", 7, dtype=f["type"])
        linked = f.create_group("linked")
        f["linked_again"] = linked
        h5o.set_comment(linked.id, b"hello there")
        continued = f.create_group("continued")
        other = f.create_group("other")
        # Headers that grow in turn cannot grow in place.
        for i in range(6):
            for group in [continued, other]:
                group.attrs[f"attribute {i}"] = np.arange(4 * i, dtype="<i4")
        creation = h5p.create(h5p.GROUP_CREATE)
        if libver != "earliest":
            creation.set_attr_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
            creation.set_attr_phase_change(20, 10)
        tracked = h5py.Group(h5g.create(f.id, b"tracked", gcpl=creation))
        for letter in "cab":
            tracked.attrs[letter] = np.int8(1)
        long = f.create_group("long")
        long.attrs["long"] = np.zeros(2000, "i1")
        creation = h5p.create(h5p.DATASET_CREATE)
        creation.set_obj_track_times(True)
        h5d.create(f.id, b"timed", h5t.STD_I16LE, h5s.create_simple((8,)), creation)
        names = ["/"] + [f"/{name}" for name in f if name != "linked_again"]
        lines = [f"{name} {h5o.get_info(f[name].id).addr}" for name in names]
    (HERE / f"{name}.addresses").write_text("\n".join(lines) + "\n")
    assert path.stat().st_size <= 20_000, path.stat().st_size


make("objects_v1", "earliest")
make("objects_v2", ("v108", "v110"))
