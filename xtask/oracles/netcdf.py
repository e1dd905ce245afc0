"""Compares `hyperslab describe` of NetCDF files with netCDF4.

    netcdf.py HYPERSLAB DIRECTORY

The files are those of the directory and those that dimensions.py makes. Groups, dimensions and their scope, variables, their
types, attributes, values and storage are compared.
"""

import json
import os
import subprocess
import sys
import tempfile

import h5py
import netCDF4
import numpy as np
import xarray

import dimensions
from tally import Tally

PRIMITIVE = {"i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32",
             "u8": "uint64", "f4": "float32", "f8": "float64"}

# How the NetCDF library stores the name of a variable that is also the name of a dimension.
PREFIX = "_nc4_non_coord_"
# Generated files that xarray itself refuses: a scalar with the name of a dimension, a dimension of two sizes in groups.
REFUSED = ("scalar", "unlimited_scalar", "groups")


def paths(group):
    yield group.path, group
    for child in group.groups.values():
        yield from paths(child)


def join(path, name):
    return path.rstrip("/") + "/" + name


class Comparison:
    def __init__(self, doc, stored):
        self.doc = doc
        self.stored = stored
        self.reasons = []

    def same(self, where, want, have):
        if want != have:
            self.reasons.append(f"{where}: netCDF4 has {want!r}, hyperslab {have!r}")

    def group(self, path, group):
        node = self.doc.get(path)
        if node is None:
            # A group with only child groups has no entry in the document.
            if not group.groups or group.variables or group.dimensions or group.ncattrs():
                self.same(path, "a group", None)
            return
        self.attributes(path, group, node)
        dims = node.get("dimcoords", {})
        self.same(f"{path} dimensions", sorted(group.dimensions), sorted(dims))
        for name, dim in group.dimensions.items():
            where, have = join(path, name), dims.get(name, {})
            self.same(f"{where} size", None if dim.isunlimited() else dim.size, have.get("size", 0))
            if dim.isunlimited():
                self.same(f"{where} current size", dim.size, have.get("storage", {}).get("size"))
            variable = group.variables.get(name)
            if variable is not None and variable.dimensions == (name,):
                self.variable(where, variable, have)
            else:
                self.same(f"{where} type", None, have.get("type"))
        others = {name: v for name, v in group.variables.items()
                  if not (name in group.dimensions and v.dimensions == (name,))}
        arrays = node.get("ndarrays", {})
        self.same(f"{path} variables", sorted(others), sorted(arrays))
        for name, variable in others.items():
            have = arrays.get(name, {})
            self.same(f"{join(path, name)} shape", [join(d.group().path, d.name) for d in variable.get_dims()],
                      [self.resolve(path, entry) for entry in have.get("shape") or []])
            self.variable(join(path, name), variable, have)

    def resolve(self, path, entry):
        if not isinstance(entry, str) or entry.startswith("/"):
            return entry
        while True:
            if entry in self.doc.get(path, {}).get("dimcoords", {}):
                return join(path, entry)
            if path == "/":
                return f"unresolved {entry}"
            path = path.rsplit("/", 1)[0] or "/"

    def variable(self, where, variable, have):
        self.attributes(where, variable, have)
        self.same(f"{where} type", self.type_of(variable), have.get("type"))
        storage = have.get("storage", {})
        chunking = variable.chunking()
        self.same(f"{where} chunk", None if chunking in ("contiguous", None) else list(chunking), storage.get("chunk"))
        filters = variable.filters() or {}
        if chunking != "contiguous":
            want = [name for name in ("shuffle", "zlib", "fletcher32") if filters.get(name)]
            names = [next(iter(f)) if isinstance(f, dict) else f for f in storage.get("filter", [])]
            self.same(f"{where} filters", sorted(want), sorted("zlib" if name == "deflate" else name for name in names))
        variable.set_auto_maskandscale(False)
        variable.set_auto_chartostring(False)
        # A variable may be shorter than its unlimited dimensions; netCDF4 fills the rest.
        stored = self.stored.get(where)
        if stored is None or 0 in stored:
            return
        if any(dim.isunlimited() for dim in variable.get_dims()):
            size = storage.get("shape", [storage.get("size")])
            self.same(f"{where} stored shape", list(stored), size)
        written = variable[tuple(slice(0, n) for n in stored)] if stored else variable[...]
        self.same(f"{where} values", self.plain(written, variable), have.get("value"))

    def type_of(self, variable):
        kind = variable.datatype
        if variable.dtype is str:
            return "string"
        if isinstance(kind, (netCDF4.CompoundType, netCDF4.VLType, netCDF4.EnumType)):
            group = variable.group()
            of = {netCDF4.CompoundType: "cmptypes", netCDF4.VLType: "vltypes", netCDF4.EnumType: "enumtypes"}[type(kind)]
            while kind.name not in getattr(group, of):
                group = group.parent
            return join(group.path, kind.name)
        if kind.kind in "SU":
            return "string"
        return PRIMITIVE[kind.str[1:]]

    def attributes(self, where, thing, node):
        have = node.get("attributes", {})
        names = thing.ncattrs()
        self.same(f"{where} attributes", names, list(have))
        for name in names:
            want, got = thing.getncattr(name), have.get(name, {})
            if isinstance(want, bytes):
                want = want.decode("latin-1")
            if isinstance(want, str):
                kind, value = "string", want
            elif isinstance(want, list):
                kind, value = "string", want
            else:
                want = np.asarray(want)
                kind = PRIMITIVE.get(want.dtype.str[1:], "?")
                value = [number(x, want.dtype) for x in want.reshape(-1)] if want.ndim else number(want[()], want.dtype)
            self.same(f"{where}@{name} type", kind, got.get("type"))
            self.same(f"{where}@{name}", value, got.get("value"))

    def plain(self, values, variable):
        kind = variable.datatype
        if variable.dtype is str:
            return nest(values, lambda x: x)
        if isinstance(kind, netCDF4.EnumType):
            names = {code: name for name, code in kind.enum_dict.items()}
            return nest(values, lambda x: names.get(int(x), int(x)))
        if isinstance(kind, netCDF4.VLType):
            return nest(values, lambda x: [number(y, x.dtype) for y in x], values.ndim)
        if isinstance(kind, netCDF4.CompoundType):
            return nest(values, lambda x: [number(x[n], kind.dtype[n]) for n in kind.dtype.names])
        if kind.kind in "SU":
            return nest(values, lambda x: bytes(x).rstrip(b"\0").decode("latin-1"))
        return nest(values, lambda x: number(x, kind))


def nest(values, of, rank=None):
    """Nested lists with one level per dimension of the array. Elements may be arrays."""
    if isinstance(values, np.ma.MaskedArray):
        values = values.data
    rank = np.ndim(values) if rank is None else rank
    if rank:
        return [nest(value, of, rank - 1) for value in values]
    return of(values[()] if isinstance(values, np.ndarray) and values.ndim == 0 else values)


def number(value, kind):
    """A number in JSON: floats with the shortest digits that round-trip in their type."""
    if np.dtype(kind).kind != "f":
        return int(value)
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(str(np.dtype(kind).type(value)))


def compare(tally, hyperslab, path):
    done = subprocess.run([hyperslab, "describe", "--json", "--values", path], capture_output=True, timeout=120)
    name = os.path.basename(path)
    if done.returncode != 0:
        reason = done.stderr.decode(errors="replace").strip()[:400]
        tally.check(False, f"{name} is described", [f"exit code {done.returncode}: {reason}"])
        return
    stored = {}
    if h5py.is_hdf5(path):
        with h5py.File(path) as f:
            f.visititems(lambda name, obj: stored.__setitem__("/" + name, getattr(obj, "shape", None)))
        # The variable of this name, not the dimension.
        for name in [name for name in stored if PREFIX in name]:
            stored[name.replace(PREFIX, "")] = stored.pop(name)
    with netCDF4.Dataset(path) as nc:
        if not stored:
            stored = {f"/{name}": variable.shape for name, variable in nc.variables.items()}
        comparison = Comparison(json.loads(done.stdout), stored)
        groups = list(paths(nc))
        for where, group in groups:
            comparison.group(where, group)
    tally.check(not comparison.reasons, f"{name}: {len(groups)} groups as netCDF4 sees them", comparison.reasons)


def shows(tally, hyperslab, path):
    """Variables with fewer records than their dimension are shown with the fill values that netCDF4 reads."""
    with netCDF4.Dataset(path) as nc:
        nc.set_auto_mask(False)
        for name, variable in nc.variables.items():
            command = [hyperslab, "show", "--as", "lists", f"{path}:/{name}"]
            done = subprocess.run(command, capture_output=True, timeout=120)
            have = json.loads(done.stdout) if done.returncode == 0 else done.stderr.decode(errors="replace")
            want = variable[...].tolist()
            if variable.dtype in (np.float32, np.float64):
                have = np.asarray(have, variable.dtype).tolist() if isinstance(have, list) else have
            reasons = [] if have == want else [f"{have}, not {want}"]
            tally.check(not reasons, f"{os.path.basename(path)}:/{name} is shown as netCDF4 reads it", reasons)


def convert(tally, hyperslab, path, version):
    """A conversion to Zarr has the content of the file, and xarray opens both alike."""
    name = os.path.basename(path)
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "target.zarr")
        reasons = []
        for command in [["convert", "--quiet", f"--format={version}", path, target], ["diff", path, target]]:
            done = subprocess.run([hyperslab, *command], capture_output=True, text=True, timeout=120)
            if done.returncode:
                reasons.append(f"{command[0]}: {done.stdout.strip()[:400]} {done.stderr.strip()[:400]}")
        tally.check(not reasons, f"{name} is the same as {version}", reasons)
        if name.startswith(REFUSED) or reasons:
            return
        with xarray.open_datatree(path, engine="netcdf4") as want, \
                xarray.open_datatree(target, engine="zarr", consolidated=False) as have:
            for group in want.subtree:
                a, b = group.to_dataset(inherit=False), have[group.path].to_dataset(inherit=False)
                for key in sorted({*a.variables, *b.variables}):
                    x, y = a.variables.get(key), b.variables.get(key)
                    if x is None or y is None or x.dims != y.dims or not np.array_equal(x.values, y.values):
                        reasons.append(f"{group.path} {key}: {x} in the file, {y} in the store")
        tally.check(not reasons, f"{name} is the same as {version} in xarray", reasons)


def main():
    hyperslab, directory = sys.argv[1:]
    tally = Tally()
    with tempfile.TemporaryDirectory() as generated:
        dimensions.main(generated)
        for folder in directory, generated:
            for name in sorted(os.listdir(folder)):
                if name.endswith(".nc"):
                    compare(tally, hyperslab, os.path.join(folder, name))
        for name in sorted(os.listdir(generated)):
            for version in "zarr3", "zarr2":
                convert(tally, hyperslab, os.path.join(generated, name), version)
        short = os.path.join(generated, "short.nc")
        dimensions.short(short)
        compare(tally, hyperslab, short)
        shows(tally, hyperslab, short)
    tally.close()


if __name__ == "__main__":
    main()
