#!/usr/bin/env python3
"""Writes NetCDF-4 files without the signature that the library gives since 4.4.1, and one in disguise.

Needs netCDF4 1.7 and h5py 3.16.
"""

from pathlib import Path

import h5py
import netCDF4
import numpy as np

HERE = Path(__file__).parent


def unsigned(name, model, fill):
    path = HERE / name
    nc = netCDF4.Dataset(path, "w", format=model)
    fill(nc)
    nc.close()
    with h5py.File(path, "a") as f:
        del f.attrs["_NCProperties"]
    assert path.stat().st_size <= 20_000, path.stat().st_size


def pure_dimension(nc):
    nc.createDimension("x", 3)
    nc.createVariable("v", "i2", ("x",))[:] = [1, 2, 3]


def coordinates(nc):
    nc.createDimension("x", 2)
    nc.createVariable("x", "i2", ("x",))[:] = [1, 2]


unsigned("unsigned_dimension.nc", "NETCDF4", pure_dimension)
unsigned("unsigned_coordinates.nc", "NETCDF4", coordinates)
unsigned("unsigned_classic.nc", "NETCDF4_CLASSIC", lambda nc: None)

# Creation order is tracked, and scales are there, but no NetCDF.
with h5py.File(HERE / "scales.h5", "w", libver="v110", track_order=True) as f:
    f["x"] = np.arange(3, dtype="<i2")
    f["x"].make_scale("x")
