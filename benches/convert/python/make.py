"""Makes the files that `cargo xtask bench convert` converts, each once.

    make.py DIRECTORY SCALE

For the file of the limit, `NAME.places` has the address and size of each chunk.
"""

import os
import sys

import h5py
import netCDF4
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
BENCHES = os.path.join(HERE, "..", "..")
sys.path[:0] = [os.path.join(BENCHES, "side", "python"), os.path.join(BENCHES, "read", "python")]

import bench_make
import fields

# Stored in the stamps: files of another version are made again.
VERSION = 2, f"netCDF4 {netCDF4.__version__}, h5py {h5py.__version__}"
# The size in bytes of all files and conversions, and the space that must stay free.
NEEDED, SPARE = 1_500_000_000, 4_000_000_000


def field(path, scale):
    """240×1024×1024 float32 in chunks of 8×256×256, shuffled and deflated (level 4), with coordinates."""
    planes, side, chunk = (60, 256, (2, 64, 64)) if scale == 64 else (240, 1024, (8, 256, 256))
    with netCDF4.Dataset(path, "w", format="NETCDF4") as f:
        for name, size, units in (
            ("time", planes, "days since 2026-01-01"),
            ("lat", side, "degrees_north"),
            ("lon", side, "degrees_east"),
        ):
            f.createDimension(name, size)
            coordinate = f.createVariable(name, "f8", (name,))
            coordinate.units = units
            coordinate[:] = np.arange(size) / (1 if name == "time" else 16)
        data = f.createVariable("data", "f4", ("time", "lat", "lon"), chunksizes=chunk, zlib=True, complevel=4,
                                shuffle=True)
        data.units = "degree_Celsius"
        data[:] = fields.field(planes, side, side, 2)
    with h5py.File(path, "r") as f:
        fields.places(f["data"], path)


def many(path, scale):
    """10,000 variables of 12 elements."""
    with netCDF4.Dataset(path, "w", format="NETCDF4") as f:
        f.createDimension("time", 12)
        variables = [f.createVariable(f"variable_{index:05}", "f8", ("time",)) for index in range(10_000 // scale)]
        for index, variable in enumerate(variables):
            variable.setncatts({"units": "K", "long_name": f"variable {index}"})
        # Values are written after all definitions. Otherwise the library would switch modes for each variable.
        for index, variable in enumerate(variables):
            variable[:] = np.arange(12) + index


def sparse(name, chunks):
    """The file of this name of `bench read`, which is made if it does not exist."""
    def make(path, scale):
        there = os.path.join(os.path.dirname(path), "..", "read-small" if scale == 64 else "read", name)
        if os.path.exists(there + ".stamp"):
            os.link(there, path)
        else:
            fields.sparse(chunks)(path, scale)
    return make


FILES = {
    "field.nc": field,
    "many.nc": many,
    "sparse_contiguous.h5": sparse("sparse_contiguous.h5", None),
    "sparse_chunked.h5": sparse("sparse_chunked.h5", (1, 500_000)),
}

if __name__ == "__main__":
    bench_make.main(FILES, VERSION, NEEDED, SPARE)
