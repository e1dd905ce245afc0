#!/usr/bin/env python3
"""Writes odd.h5: arrays whose size has nothing to do with that of the file, and misused attributes.

Needs h5py 3.16 over HDF5 2.0.
"""

from pathlib import Path

import h5py
import numpy as np

PATH = Path(__file__).parent / "odd.h5"

with h5py.File(PATH, "w", libver="v110", track_order=True) as f:
    f.create_dataset("vast_empty", (2**40, 0), "<i2")
    f.create_dataset("vast_unwritten", (2**40,), "<f8", chunks=(1024,))
    f.attrs["vast_empty"] = np.empty((2**40, 0), "<i2")
    f["small_empty"] = np.empty((3, 0), "<i2")
    f["lists_numbers"] = np.arange(3, dtype="<i2")
    f["lists_numbers"].attrs["DIMENSION_LIST"] = np.arange(6, dtype="<i8")
    f["half_a_scale"] = np.arange(3, dtype="<i2")
    f["half_a_scale"].attrs["CLASS"] = 7
    f["half_a_scale"].attrs["NAME"] = "an ordinary word"
    f["labels"] = np.arange(6, dtype="<i2").reshape(2, 3)
    f["labels"].attrs["DIMENSION_LABELS"] = np.array([b"row", b"column"])
    group = f.create_group("grid")
    group["lat"] = np.float32([10, 20, 30])
    group["lat"].make_scale("lat")
    group["grid"] = np.arange(3, dtype="<i2")
    group["grid"].dims[0].attach_scale(group["lat"])

assert PATH.stat().st_size <= 20_000, PATH.stat().st_size
