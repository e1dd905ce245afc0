#!/usr/bin/env python3
"""Writes far_old.h5 and far_new.h5: a group of 64 arrays, and arrays of 64 chunks, in the older and the newer structures
of HDF5. Each of the 64 arrays has an attribute. In the older file, their elements lie between their headers, so that no
two headers are in one block of 4 KiB.

Needs h5py 3.16 over HDF5 2.0.
"""

from pathlib import Path

import h5py
import numpy as np

HERE = Path(__file__).parent

CHUNKED = {
    "old": {"btree_v1": ((64 * 16,), (16,), None)},
    "new": {
        "fixed_array": ((64 * 16,), (16,), None),
        "extensible_array": ((64 * 16,), (16,), (None,)),
        "btree_v2": ((8 * 4, 8 * 4), (4, 4), (None, None)),
    },
}

for name, chunked in CHUNKED.items():
    path = HERE / f"far_{name}.h5"
    with h5py.File(path, "w", libver="earliest" if name == "old" else "latest") as f:
        group = f.create_group("arrays")
        for number in range(64):
            elements = np.full(1100 if name == "old" else 4, number, dtype="<i4")
            array = group.create_dataset(f"a{number:02}", data=elements)
            array.attrs["units"] = np.bytes_(b"m")
        for array, (shape, chunks, maximum) in chunked.items():
            values = np.arange(np.prod(shape), dtype="<i4").reshape(shape)
            f.create_dataset(array, data=values, chunks=chunks, maxshape=maximum, compression="gzip")
    assert path.stat().st_size <= 350_000, path.stat().st_size
