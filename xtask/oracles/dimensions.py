"""Writes NetCDF files with variables that have the name of a dimension without being its coordinates.

    dimensions.py DIRECTORY

Each file has one such case, in NetCDF-4 and, where possible, in the classic format: coordinates of two
dimensions, character arrays, unlimited dimensions, groups, several names at once, and files as old versions of the
NetCDF library wrote them.
"""

import os
import sys

import h5py
import netCDF4
import numpy as np

# The dimensions with their lengths (0: unlimited, with three records), and the dimensions of each variable.
CASES = {
    "first of two": ({"lat": 2, "lon": 3}, {"lat": ("lat", "lon"), "t": ("lat", "lon")}),
    "second of two": ({"lat": 2, "lon": 3}, {"lon": ("lat", "lon"), "t": ("lon", "lat"), "u": ("lon",)}),
    "both of two": ({"lat": 2, "lon": 3}, {"lat": ("lat", "lon"), "lon": ("lat", "lon"), "t": ("lat", "lon")}),
    "characters": ({"station": 2, "strlen": 4}, {"station:S1": ("station", "strlen"), "t": ("station",)}),
    "length of texts": ({"station": 2, "strlen": 4}, {"strlen:S1": ("station", "strlen"), "t": ("strlen",)}),
    "scalar": ({"height": 2, "x": 3}, {"height": (), "t": ("height", "x")}),
    "other dimension": ({"x": 2, "y": 3}, {"x": ("y",), "y": ("x",), "t": ("x", "y")}),
    "unlimited": ({"time": 0, "x": 2}, {"time": ("time", "x"), "t": ("time", "x"), "x": ("time", "x")}),
    "unlimited scalar": ({"time": 0, "x": 2}, {"time": (), "t": ("time", "x")}),
    "three dimensions": ({"a": 2, "b": 3, "c": 4}, {"a": ("a", "b", "c"), "c": ("c", "b"), "b": ("b",), "t": ("a", "c", "b")}),
    "unused": ({"a": 2, "b": 3}, {"a": ("b",), "t": ("b",)}),
}


def fill(group, variables, dimensions, records=3):
    for number, (name, dims) in enumerate(variables.items()):
        name, _, kind = name.partition(":")
        variable = group.createVariable(name, kind or ["f8", "i4", "f4", "i2"][number % 4], dims)
        shape = [dimensions[dim] or records for dim in dims]
        count = int(np.prod(shape))
        if kind == "S1":
            data = np.frombuffer((b"abcdefghijklmnopqrstuvwxyz" * count)[:count], "S1")
        else:
            data = np.arange(count) + 10 * number
        variable[tuple(slice(0, n) for n in shape)] = data.reshape(shape)
        variable.long_name = f"along {' '.join(dims) or 'nothing'}"


def case(path, dimensions, variables, model):
    with netCDF4.Dataset(path, "w", format=model) as file:
        for name, length in dimensions.items():
            file.createDimension(name, length or None)
        fill(file, variables, dimensions)


def groups(path):
    """Names in groups, of dimensions there and above."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("lat", 2)
        file.createDimension("time", None)
        fill(file, {"lat": ("lat", "time"), "t": ("time", "lat")}, {"lat": 2, "time": 0})
        child = file.createGroup("child")
        child.createDimension("lon", 4)
        known = {"lat": 2, "time": 0, "lon": 4}
        # The variable has the name of a dimension above, which belongs to another group.
        fill(child, {"lon": ("lat", "lon"), "time": ("lat",), "t": ("time", "lat", "lon")}, known)
        deep = child.createGroup("deep")
        deep.createDimension("lat", 5)
        fill(deep, {"lat": ("lat", "lon"), "t": ("time", "lat")}, {**known, "lat": 5})


def old(path):
    """As versions before 4.4.1 wrote files, without the attribute with the version."""
    case(path, {"lat": 2, "lon": 3}, {"lat": ("lat", "lon"), "lon": ("lat", "lon"), "t": ("lat", "lon")}, "NETCDF4")
    with h5py.File(path, "r+") as file:
        del file.attrs["_NCProperties"]


def short(path):
    """Variables with fewer records than their unlimited dimension, with their own fill values and those of NetCDF."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        file.createVariable("long", "i4", ("time",))[:] = np.arange(5)
        for kind in "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8":
            file.createVariable(kind, kind, ("time",))[0:2] = [1, 2]
            file.createVariable(f"{kind}_filled", kind, ("time",), fill_value=7)[0:2] = [1, 2]
        file.createVariable("text", str, ("time",))[0:2] = np.array(["a", "b"], object)
        file.createVariable("two", "f4", ("time", "x"), zlib=True, chunksizes=(2, 2))[0:3] = np.ones((3, 3))
        file.createVariable("none", "f4", ("time", "x"))


def main(directory):
    os.makedirs(directory, exist_ok=True)
    for name, (dimensions, variables) in CASES.items():
        for model, suffix in [("NETCDF4", "4"), ("NETCDF4_CLASSIC", "4c"), ("NETCDF3_CLASSIC", "3")]:
            case(os.path.join(directory, f"{name.replace(' ', '_')}_{suffix}.nc"), dimensions, variables, model)
    groups(os.path.join(directory, "groups.nc"))
    old(os.path.join(directory, "old.nc"))


if __name__ == "__main__":
    main(sys.argv[1])
