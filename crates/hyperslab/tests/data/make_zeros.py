#!/usr/bin/env python3
"""Writes zeros.nc: variables that were never written, with HDF5's fill value of zeros and not NetCDF's, as h5netcdf
makes them.

Needs h5py 3.16 over HDF5 2.0.
"""

from pathlib import Path

import h5py
import numpy as np

PATH = Path(__file__).parent / "zeros.nc"

with h5py.File(PATH, "w", libver="v110", track_order=True) as f:
    f.attrs["_NCProperties"] = np.bytes_(b"version=2,h5netcdf=1.6.4,hdf5=2.0.0,h5py=3.16.0")
    f["x"] = np.arange(3)
    f["x"].make_scale("x")
    for name in ("plain", "never"):
        f.create_dataset(name, (3,), "<f4", chunks=(3,), fill_time="never" if name == "never" else "ifset")
        f[name].dims[0].attach_scale(f["x"])

assert PATH.stat().st_size <= 20_000, PATH.stat().st_size
