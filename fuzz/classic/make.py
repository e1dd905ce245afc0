"""Writes the seeds next to this script: NetCDF classic files that are as small as possible.

    target/oracles/venv/bin/python fuzz/classic/make.py
"""

import os

import netCDF4
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
FORMATS = {"classic": "NETCDF3_CLASSIC", "offset64": "NETCDF3_64BIT_OFFSET", "data64": "NETCDF3_64BIT_DATA"}

for name, kind in FORMATS.items():
    with netCDF4.Dataset(os.path.join(HERE, f"fixed_{name}.nc"), "w", format=kind) as file:
        file.t = "a"
        file.createDimension("x", 3)
        file.createVariable("x", "i2", ("x",))[:] = [1, 2, 3]
        file.createVariable("c", "S1", ())[...] = b"c"
    with netCDF4.Dataset(os.path.join(HERE, f"records_{name}.nc"), "w", format=kind) as file:
        file.createDimension("t", None)
        file.createDimension("x", 3)
        file.createVariable("a", "i1", ("t", "x"))[:2] = np.arange(6).reshape(2, 3)
        file.createVariable("b", "f8", ("t",), fill_value=-1)[:2] = [0.5, 1]
    with netCDF4.Dataset(os.path.join(HERE, f"single_{name}.nc"), "w", format=kind) as file:
        file.createDimension("t", None)
        file.createVariable("a", "i1", ("t",))[:3] = [1, 2, 3]
