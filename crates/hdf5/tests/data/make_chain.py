#!/usr/bin/env python3
"""Writes chain.h5: chains of 64 and of 65 soft links to one group, and a cycle of two.

Needs h5py 3.16 over HDF5 2.0.
"""

from pathlib import Path

import h5py

PATH = Path(__file__).parent / "chain.h5"

with h5py.File(PATH, "w", libver="v110") as f:
    f.create_group("g")["d"] = 7
    for name, length in (("a", 64), ("b", 65)):
        for number in range(length):
            target = f"/{name}{number + 1:02}" if number + 1 < length else "/g"
            f[f"{name}{number:02}"] = h5py.SoftLink(target)
    f["c0"] = h5py.SoftLink("c1")
    f["c1"] = h5py.SoftLink("/c0")

assert PATH.stat().st_size <= 20_000, PATH.stat().st_size
