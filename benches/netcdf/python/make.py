"""Makes the files that `cargo xtask bench netcdf` reads, each once.

    make.py DIRECTORY SCALE
"""

import os
import sys

import netCDF4
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "side", "python"), os.path.join(HERE, "..", "..", "read", "python")]

import bench_make
from fields import field

# Stored in the stamps: files of another version are made again.
VERSION = 1, f"netCDF4 {netCDF4.__version__}"
# The size in bytes of all files, and the space that must stay free.
NEEDED, SPARE = 1_000_000_000, 2_000_000_000


def array(path, scale, form, **options):
    elements = field(*((16, 128, 256) if scale == 64 else (256, 512, 1024)), 7)
    with netCDF4.Dataset(path, "w", format=form) as file:
        for name, extent in zip(("time", "lat", "lon"), (None,) + elements.shape[1:]):
            file.createDimension(name, extent)
        file.createVariable("data", "f4", ("time", "lat", "lon"), **options)[:] = elements


def compressed(path, scale):
    chunk = (2, 64, 64) if scale == 64 else (8, 256, 256)
    array(path, scale, "NETCDF4", zlib=True, complevel=1, shuffle=True, chunksizes=chunk)


def classic(path, scale):
    array(path, scale, "NETCDF3_64BIT_OFFSET")


def variables(path, count):
    """Variables of 10 elements along one dimension."""
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as file:
        file.createDimension("x", 10)
        for number in range(count):
            variable = file.createVariable(f"v{number:05}", "f4", ("x",))
            variable.units = "m"
        for variable in file.variables.values():
            variable[:] = np.arange(10, dtype="f4")


FILES = {
    "field.nc": compressed,
    "field.cdf": classic,
    "many.cdf": lambda path, scale: variables(path, 4_000),
    "large.cdf": lambda path, scale: variables(path, 10_000),
}

if __name__ == "__main__":
    bench_make.main(FILES, VERSION, NEEDED, SPARE)
