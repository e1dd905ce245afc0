#!/usr/bin/env python3
"""Writes dimensions.nc: variables with the names of dimensions that they are not the coordinates of, and attributes
without elements; old.nc: the same kind of file without the marks of new versions of the NetCDF library.

Needs netCDF4 1.7 and h5py 3.16.
"""

from pathlib import Path

import h5py
import netCDF4
import numpy as np

HERE = Path(__file__).parent

with netCDF4.Dataset(HERE / "dimensions.nc", "w") as nc:
    for name, size in [("time", None), ("lat", 2), ("lon", 3), ("strlen", 4), ("height", 5)]:
        nc.createDimension(name, size)
    nc.createVariable("lat", "f4", ("lat", "lon"))[...] = np.arange(6).reshape(2, 3)
    nc.createVariable("lon", "f4", ("lat", "lon"))[...] = np.arange(6).reshape(2, 3) + 10
    nc.createVariable("strlen", "i4", ("lon",))[...] = [4, 2, 3]
    nc.createVariable("height", "f4", ())[...] = 2
    nc.createVariable("time", "i4", ("time", "strlen"))[0:3] = np.arange(12).reshape(3, 4)
    nc.createVariable("t", "i2", ("time", "lat", "lon"))[0:3] = np.arange(18).reshape(3, 2, 3)
    nc.createVariable("at_height", "i2", ("height",))[...] = np.arange(5)
    child = nc.createGroup("child")
    child.createDimension("station", 2)
    chars = child.createVariable("station", "S1", ("station", "strlen"))
    chars[...] = np.array([[b"a", b"b", b"c", b""], [b"d", b"", b"", b""]])
    child.createVariable("value", "i2", ("station", "lon"))[...] = np.arange(6).reshape(2, 3)

with h5py.File(HERE / "dimensions.nc", "r+") as file:
    # As netCDF-C writes attributes without elements.
    file.attrs["empty_text"] = h5py.Empty("S1")
    file.attrs["empty_list"] = h5py.Empty("<i4")

with netCDF4.Dataset(HERE / "old.nc", "w") as nc:
    nc.createDimension("x", 2)
    nc.createVariable("x", "f4", ("x",))[...] = [1, 2]
    nc.createVariable("v", "f4", ("x",), fill_value=np.float32(-9))[...] = [3, -9]

with h5py.File(HERE / "old.nc", "r+") as file:
    del file.attrs["_NCProperties"]
    for dataset in file.values():
        for name in ["_Netcdf4Dimid", "_Netcdf4Coordinates"]:
            dataset.attrs.pop(name, None)
