"""Makes the files that the benches read, once.

    bench_files.py DIRECTORY
"""

import os
import sys

import h5py
import netCDF4
import numpy as np
from h5py import h5d, h5g, h5s, h5t

VARIABLES = 10_000
GROUPS, MEMBERS = 200, 1_000


def variables(path):
    """A file with ten thousand variables along four dimensions, with five attributes each."""
    nc = netCDF4.Dataset(path, "w")
    for name, size in [("time", 24), ("level", 10), ("lat", 18), ("lon", 36)]:
        nc.createDimension(name, size)
    dims = [("time",), ("lat", "lon"), ("time", "lat", "lon"), ("time", "level", "lat", "lon")]
    for index in range(VARIABLES):
        v = nc.createVariable(f"variable_{index:05}", ["f4", "f8", "i2", "i4"][index % 4], dims[index // 4 % 4])
        v.setncatts({"units": "K", "long_name": f"the variable of number {index}", "scale_factor": np.float32(0.5),
                     "valid_range": np.int16([0, index % 1000]), "level": np.int32(index)})
    nc.close()


def objects(path, interleaved):
    """Small datasets in groups, written group by group or interleaved between groups."""
    f = h5py.File(path, "w", libver="earliest")
    groups = [h5g.create(f.id, f"group_{index:03}".encode()) for index in range(GROUPS)]
    spaces = [h5s.create_simple(shape) for shape in [(10,), (4, 5), (2, 3, 4)]]
    kinds = [h5t.IEEE_F32LE, h5t.STD_I16LE, h5t.IEEE_F64LE, h5t.STD_U8LE]
    order = [(g, m) for g in range(GROUPS) for m in range(MEMBERS)]
    if interleaved:
        order.sort(key=lambda pair: pair[1])
    for g, m in order:
        h5d.create(groups[g], f"dataset_{m:04}".encode(), kinds[m % 4], spaces[m % 3])
    f.close()


FILES = {
    "variables.nc": variables,
    "in_order.h5": lambda path: objects(path, False),
    "interleaved.h5": lambda path: objects(path, True),
}


def main():
    for name, make in FILES.items():
        path = os.path.join(sys.argv[1], name)
        if not os.path.exists(path):
            print(f"making {path}", flush=True)
            make(path + ".part")
            os.rename(path + ".part", path)


if __name__ == "__main__":
    main()
