"""Makes the files that `cargo xtask bench netcdf` reads, each once.

    make.py DIRECTORY SCALE
"""

import os
import sys

import netCDF4
import numpy as np
from scipy.io import netcdf_file

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "side", "python"), os.path.join(HERE, "..", "..", "read", "python")]

import bench_make
from fields import field

# Stored in the stamps: files of another version are made again.
VERSION = 2, f"netCDF4 {netCDF4.__version__}"
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


def variables(path, count, extent=10):
    """Variables of 10 elements along one dimension, which is unlimited if it has no extent. Written by SciPy, as the NetCDF
    library moves all elements for each new variable."""
    with netcdf_file(path, "w", version=2) as file:
        file.createDimension("x", extent)
        for number in range(count):
            variable = file.createVariable(f"v{number:05}", "f4", ("x",))
            variable.units = "m"
            variable[:10] = np.arange(10, dtype="f4")


FILES = {
    "field.nc": compressed,
    "field.cdf": classic,
    "many.cdf": lambda path, scale: variables(path, 4_000),
    "records.cdf": lambda path, scale: variables(path, 4_000, None),
    "large.cdf": lambda path, scale: variables(path, 10_000),
}

if __name__ == "__main__":
    bench_make.main(FILES, VERSION, NEEDED, SPARE)
