"""Tests NetCDF variables that TileDB-CF stores as TileDB arrays: `--dataspace auto` must show them as netCDF4 shows their source.

    tiledb_netcdf.py HYPERSLAB [--peer PYTHON]

NetCDF-4 files are written by netCDF4, and the same content by tiledb-py as tiledb-cf 0.2 to 0.9 lays it out: one array for
each set of dimensions or one for each variable, with metadata of groups in the group or in an array, with plain dimension
names or with the suffix `.index`. `convert --dataspace auto` converts them back to NetCDF-4, which is compared with the
source using netCDF4, except for what the layout loses: the types of numbers in attributes.

PYTHON is a Python that has tiledb-cf and netCDF4. If it is given, it writes stores itself, and its xarray engine reads what
`convert` makes of the NetCDF files.
"""

import argparse
import os
import subprocess
import tempfile

import netCDF4
import numpy as np
import tiledb

from tally import Tally

tiledb.default_ctx({"sm.compute_concurrency_level": "1", "sm.io_concurrency_level": "1"})
UNLIMITED = 1000
TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


def source(path, seed):
    """A NetCDF-4 file with coordinates, scalars, an unlimited dimension, fill values and a group."""
    random = np.random.default_rng(seed)
    with netCDF4.Dataset(path, "w") as file:
        file.title, file.number, file.ratio = f"file {seed}", int(seed), 0.5
        file.createDimension("time", None)
        file.createDimension("x", 4)
        file.createDimension("y", 1 + seed % 3)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-01"
        time[:] = np.arange(2 + seed % 4) / 2
        x = file.createVariable("x", "i4", ("x",))
        x.setncattr("long.name", "a name with a dot")
        x[:] = random.integers(-9, 9, 4)
        groups = [file, file.createGroup("inner")]
        groups[1].note = "of a group"
        for group in groups:
            for number, dtype in enumerate(TYPES):
                dims = [("time", "y", "x"), ("y", "x"), ("x",), (), ("time",)][(number + seed) % 5]
                name = f"v{number}" if number % 3 else f"v.{number}"
                fill = {"fill_value": np.dtype(dtype).type(7)} if number % 4 == 1 and dims else {}
                variable = group.createVariable(name, dtype, dims, **fill)
                variable.units = "m"
                variable.weights = np.arange(3.0)
                shape = tuple(len(file.dimensions[of]) for of in dims)
                variable[...] = random.integers(0, 100, shape).astype(dtype)


def arrays(group, collect, suffix):
    """The arrays that a group of a NetCDF file becomes: dimensions and variables by name."""
    found = {}
    for name, variable in group.variables.items():
        dims = variable.dimensions or ("__scalars",)
        key = dims if collect else ("scalars" if not variable.dimensions else name)
        found.setdefault(key, (dims, []))[1].append((name, variable))
    for number, (key, (dims, variables)) in enumerate(found.items()):
        yield (f"array{number}" if collect else key), dims, [
            (name + ".data" if name in dims and not suffix else name, variable) for name, variable in variables
        ]


def lay_out(group, path, collect, array_metadata, suffix, file):
    """Writes a group as tiledb-cf does."""
    tiledb.Group.create(path)
    members = []
    for name, dims, variables in arrays(group, collect, suffix):
        own = []
        for dim in dims:
            known = file.dimensions.get(dim)
            size = 1 if known is None else UNLIMITED if known.isunlimited() else len(known)
            indexed = suffix and known is not None
            own.append(tiledb.Dim(dim + ".index" if indexed else dim, domain=(0, size - 1), tile=min(size, 8), dtype="u8"))
        attributes = [
            tiledb.Attr(of, dtype=variable.dtype, fill=getattr(variable, "_FillValue", None)) for of, variable in variables
        ]
        to = os.path.join(path, name)
        tiledb.Array.create(to, tiledb.ArraySchema(tiledb.Domain(*own), attributes))
        with tiledb.open(to, "w") as opened:
            values = {of: np.ma.filled(variable[...]) for of, variable in variables}
            first = next(iter(values.values()))
            where = tuple(slice(0, extent) for extent in first.shape) or 0
            if all(value.size for value in values.values()):
                opened[where] = {of: value if value.shape else value.reshape(1) for of, value in values.items()}
            for of, variable in variables:
                for key in variable.ncattrs():
                    if key != "_FillValue":
                        opened.meta[f"__tiledb_attr.{of}.{key}"] = plain(variable.getncattr(key))
        members.append(name)
    metadata = {key: plain(group.getncattr(key)) for key in group.ncattrs()}
    if array_metadata:
        dims = tiledb.Domain(tiledb.Dim("dim", domain=(0, 0), tile=1, dtype="i4"))
        to = os.path.join(path, "__tiledb_group")
        tiledb.Array.create(to, tiledb.ArraySchema(dims, [tiledb.Attr("", dtype="i4")]))
        with tiledb.open(to, "w") as opened:
            opened.meta.update(metadata)
        members.append("__tiledb_group")
    with tiledb.Group(path, "w") as written:
        for name in members:
            written.add(name, name=name, relative=True)
        if not array_metadata:
            written.meta.update(metadata)
    for name, inner in group.groups.items():
        lay_out(inner, os.path.join(path, name), collect, array_metadata, suffix, file)


def plain(value):
    """A value as tiledb-cf stores it in metadata: without the type of its numbers."""
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    return value.item() if isinstance(value, np.generic) else value


def differences(ours, theirs, path=""):
    """What differs between two groups of NetCDF files."""
    found = []
    for kind in ["variables", "groups"]:
        names = [set(getattr(of, kind)) for of in (ours, theirs)]
        if names[0] != names[1]:
            found.append(f"{path or '/'}: {kind} {sorted(names[0] ^ names[1])} in one only")
    for name in theirs.dimensions:
        known = ours.dimensions.get(name)
        if known is None or (len(known), known.isunlimited()) != (len(theirs.dimensions[name]), theirs.dimensions[name].isunlimited()):
            found.append(f"{path}/{name}: dimension {known}")
    found += attributes(ours, theirs, path or "/")
    for name, other in theirs.variables.items():
        own = ours.variables.get(name)
        if own is None:
            continue
        if (own.dimensions, own.shape, own.dtype) != (other.dimensions, other.shape, other.dtype):
            found.append(f"{path}/{name}: {own.dimensions} {own.shape} {own.dtype}, expected {other.dimensions} {other.shape} {other.dtype}")
        elif not np.array_equal(np.ma.filled(own[...]), np.ma.filled(other[...])):
            found.append(f"{path}/{name}: other values")
        found += attributes(own, other, f"{path}/{name}")
    for name, other in theirs.groups.items():
        if name in ours.groups:
            found += differences(ours.groups[name], other, f"{path}/{name}")
    return found


def attributes(ours, theirs, place):
    def of(owner):
        return {name: owner.getncattr(name) for name in owner.ncattrs()}

    own, other = of(ours), of(theirs)
    same = own.keys() == other.keys() and all(np.array_equal(own[name], other[name]) for name in own)
    return [] if same else [f"{place}: attributes {own}, expected {other}"]


def compared(tally, hyperslab, store, netcdf, what, words=("--dataspace", "auto")):
    back = store + ".nc"
    ran = subprocess.run([hyperslab, "convert", "-q", "--overwrite", *words, store, back], capture_output=True, text=True)
    if ran.returncode:
        return tally.check(False, what, [ran.stderr])
    with netCDF4.Dataset(back) as ours, netCDF4.Dataset(netcdf) as theirs:
        for file in (ours, theirs):
            file.set_auto_maskandscale(False)
        found = differences(ours, theirs)
    return tally.check(not found, what, found)


WRITES = """
import sys
from tiledb.cf import from_netcdf
from_netcdf(input_file=sys.argv[1], output_uri=sys.argv[2], collect_attrs=sys.argv[3] == "1", unlimited_dim_size=1000)
"""

READS = """
import sys
import netCDF4, numpy, tiledb, xarray
import tiledb.cf
netcdf, store = sys.argv[1:]
with netCDF4.Dataset(netcdf) as file:
    file.set_auto_maskandscale(False)
    for name, variable in file.variables.items():
        opened = xarray.open_dataset(f"{store}/{name}", engine="tiledb", decode_cf=False)
        found = [of for of in opened.variables if of in (name, name + ".data", name + "_")]
        values = opened[found[0]].values
        expected = numpy.ma.filled(variable[...])
        values = values[tuple(slice(0, extent) for extent in expected.shape)] if expected.shape else values.reshape(-1)[0]
        if not numpy.array_equal(values, expected):
            print(name, values, expected)
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hyperslab")
    parser.add_argument("--peer")
    given, tally = parser.parse_args(), Tally()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(6):
            netcdf = os.path.join(folder, f"{seed}.nc")
            source(netcdf, seed)
            for case in range(8):
                collect, array_metadata, suffix = (bool(case & bit) for bit in (1, 2, 4))
                store = os.path.join(folder, f"{seed}-{case}.tdb")
                with netCDF4.Dataset(netcdf) as file:
                    file.set_auto_maskandscale(False)
                    lay_out(file, store, collect, array_metadata, suffix, file)
                compared(tally, given.hyperslab, store, netcdf, f"file {seed}, layout {case}")
            ours = os.path.join(folder, f"{seed}.tdb")
            subprocess.run([given.hyperslab, "convert", "-q", netcdf, ours], check=True)
            compared(tally, given.hyperslab, ours, netcdf, f"file {seed}, as hyperslab writes it", ())
            compared(tally, given.hyperslab, ours, netcdf, f"file {seed}, as hyperslab writes it, shown as a dataspace")
            if not given.peer:
                continue
            for collect in "01":
                store = os.path.join(folder, f"{seed}-peer-{collect}.tdb")
                subprocess.run([given.peer, "-c", WRITES, netcdf, store, collect], check=True, capture_output=True)
                compared(tally, given.hyperslab, store, netcdf, f"file {seed}, written by tiledb-cf, collected: {collect}")
            ran = subprocess.run([given.peer, "-c", READS, netcdf, ours], capture_output=True, text=True)
            tally.check(ran.returncode == 0 and not ran.stdout, f"file {seed}, read by tiledb-cf", [ran.stdout, ran.stderr])
    tally.close()


if __name__ == "__main__":
    main()
