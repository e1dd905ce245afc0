"""Converts NetCDF files to Zarr; xarray must see identical datasets in both.

    identical.py HYPERSLAB DIRECTORY [--samples]

Each group of all NetCDF files below the directory, and with --samples of the files of netcdf_samples.py, is opened by xarray
from the file (engine netcdf4) and from the converted store (`open_zarr`), with and without decoding, for versions 3 and 2.
Both must be identical (`xarray.testing.assert_identical`): names, dimensions, attributes, values, masks and times;
`to_netcdf` of what was opened must work if it works for the source.

A variable may differ only if the store that xarray itself writes from the source differs in the same variable, or if the
NetCDF library returns random memory for it. EXCEPTIONS are files that cannot be compared.
"""

import collections
import os
import shutil
import sys
import tempfile
import warnings

import cftime
import h5py
import hdf5plugin  # noqa: F401, filters of files
import netCDF4
import numpy as np
import xarray

import netcdf_samples
import records
from apart import apart
from conversions import converted, groups
from tally import Tally

warnings.simplefilter("ignore")

# The files that differ, with the reason.
EXCEPTIONS = {
    "f03tst_open_mem.nc": "the NetCDF library returns random memory for a variable",
    "air_linked.nc": "dimensions have second names by hard links, and the NetCDF library uses those",
    "nc4_groups.nc": "the NetCDF library takes the dimension of another group for one of the root",
    "ref_tst_compounds4.nc": "an attribute of a compound type is a list in JSON",
}

ATTRIBUTES = "the attributes of the group"
# What counts as a NetCDF file, by its first bytes.
CLASSIC, HDF5 = b"CDF", b"\x89HDF\r\n\x1a\n"


def differing(one, other):
    """The names of variables that differ, each with both descriptions."""
    found = {}
    for name in sorted(set(one.variables) | set(other.variables), key=str):
        if name not in one.variables or name not in other.variables:
            found[name] = "only in the " + ("source" if name in one.variables else "store")
        elif (name in one.coords) != (name in other.coords):
            found[name] = "a coordinate in only one of them"
        elif not identical(one.variables[name], other.variables[name]):
            found[name] = f"{describe(one.variables[name])}\n       became {describe(other.variables[name])}"
    if not xarray.Dataset(attrs=one.attrs).identical(xarray.Dataset(attrs=other.attrs)):
        keys = [key for key in {**one.attrs, **other.attrs} if not same(one.attrs.get(key), other.attrs.get(key))]
        found[ATTRIBUTES] = "; ".join(f"{key}: {one.attrs.get(key)!r} became {other.attrs.get(key)!r}" for key in keys)
    return found


def is_random_beyond(source, path, name, wanted, found):
    """Whether a variable with several unlimited dimensions ends before one of them, and is the same up to its end."""
    if not h5py.is_hdf5(source) or name not in wanted.variables or name not in found.variables:
        return False
    with h5py.File(source) as file:
        own = records.own_shape(file, f"{path.strip('/')}/{name}".lstrip("/"))
        growing = sum(size is None for size in file[f"{path}/{name}"].maxshape) if own else 0
    one, other = wanted.variables[name], found.variables[name]
    # Along one unlimited dimension the library finds the fill value.
    if own is None or own == one.shape or one.shape != other.shape or len(own) != one.ndim or growing < 2:
        return False
    has_nan = one.dtype.kind in "fc"
    if np.array_equal(records.within(one.values, own), records.within(other.values, own), equal_nan=has_nan):
        return True
    # The library may also place the stored elements one after another, as if the rows were shorter.
    count = int(np.prod(own))
    return np.array_equal(one.values.reshape(-1)[:count], other.values.reshape(-1)[:count], equal_nan=has_nan)


def count(counts, dataset, differences):
    """Counts the parts of a dataset that were found identical."""
    counts["attributes"] += 0 if ATTRIBUTES in differences else len(dataset.attrs)
    for name, variable in dataset.variables.items():
        if name in differences:
            continue
        counts["variables"] += 1
        counts["attributes"] += len(variable.attrs)
        counts["dimension names"] += variable.ndim
        counts["masks"] += "_FillValue" in variable.encoding or "missing_value" in variable.encoding
        counts["times"] += variable.dtype.kind in "mM" or is_of_calendar(variable)


def is_of_calendar(variable):
    return variable.dtype == object and variable.size > 0 and isinstance(variable.values.reshape(-1)[0], cftime.datetime)


def same(one, other):
    return xarray.Dataset(attrs={"a": one}).identical(xarray.Dataset(attrs={"a": other}))


def identical(one, other):
    try:
        return one.identical(other)
    except ValueError:
        # xarray cannot compare elements of compound types with others.
        return False


def describe(variable):
    values = np.array2string(variable.values.reshape(-1)[:6], threshold=6)
    return f"{variable.dims} {variable.dtype} {values} {dict(variable.attrs)}"


def by_xarray(wanted, folder, version, decode):
    """A dataset after xarray itself has written it to Zarr; the reason if it cannot."""
    store = os.path.join(folder, "theirs.zarr")
    shutil.rmtree(store, ignore_errors=True)
    try:
        own = wanted.copy(deep=False)
        for variable in own.variables.values():
            # Filters of NetCDF are not codecs of Zarr.
            kept = ("_FillValue", "scale_factor", "add_offset", "dtype", "units", "calendar")
            variable.encoding = {key: value for key, value in variable.encoding.items() if key in kept}
            if "_FillValue" not in variable.attrs:
                # Otherwise xarray adds one to floating-point numbers.
                variable.encoding.setdefault("_FillValue", None)
        own.to_zarr(store, zarr_format=version, consolidated=False)
        with xarray.open_zarr(store, consolidated=False, decode_cf=decode) as found:
            return found.load(), None
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"[:120]


def compare(tally, reasons, counts, folder, source, name, store, path, version, decode):
    what = f"version {version}, {'decoded' if decode else 'undecoded'}: {name}:{path}"
    try:
        with xarray.open_dataset(source, engine="netcdf4", group=path, decode_cf=decode) as opened:
            wanted = opened.load()
    except Exception as error:
        reasons[f"xarray does not open the source: {type(error).__name__}"] += 1
        return
    try:
        with xarray.open_zarr(store, group=path, decode_cf=decode) as opened:
            found = opened.load()
    except Exception as error:
        _, why = by_xarray(wanted, folder, version, decode)
        if why is None:
            tally.check(False, what, [f"{type(error).__name__}: {error}"[:400]])
        else:
            reasons["the store is not opened, nor one that xarray writes"] += 1
        return
    differences = differing(wanted, found)
    for variable in [variable for variable in differences if is_random_beyond(source, path, variable, wanted, found)]:
        reasons["the NetCDF library reads random elements behind the end of a variable"] += 1
        del differences[variable]
    if differences:
        theirs, why = by_xarray(wanted, folder, version, decode)
        excused = set(differences) if theirs is None else set(differing(wanted, theirs))
        for variable in sorted(set(differences) & excused, key=str):
            if "-v" in sys.argv:
                print(f"excused {what} {variable}: {differences[variable]} ({why})"[:900])
            reasons["differs, as in a store that xarray writes" if why is None else f"xarray cannot write a store: {why[:60]}"] += 1
            del differences[variable]
    tally.check(not differences, what, [f"{variable}: {how}"[:600] for variable, how in differences.items()])
    count(counts, wanted, differences)
    try:
        wanted.to_netcdf(os.path.join(folder, "wanted.nc"))
    except Exception:
        return
    try:
        found.to_netcdf(os.path.join(folder, "found.nc"))
        tally.check(True, f"{what} written to NetCDF")
    except Exception as error:
        tally.check(False, f"{what} written to NetCDF", [f"{type(error).__name__}: {error}"[:400]])


def look_at(tally, reasons, counts, folder, hyperslab, source, name):
    try:
        with netCDF4.Dataset(source) as dataset:
            paths = [path for path, _ in groups(dataset)]
    except Exception:
        reasons["the NetCDF library does not open the source"] += 1
        return
    for version in (3, 2):
        store = os.path.join(folder, f"ours{version}.zarr")
        shutil.rmtree(store, ignore_errors=True)
        code, said = converted(hyperslab, source, store, version)
        tally.check(code == 0, f"{name} to version {version}", [said[-300:]])
        for path in paths if code == 0 else []:
            for decode in (True, False):
                compare(tally, reasons, counts, folder, source, name, store, path, version, decode)


def sources(directory):
    for at, folders, names in os.walk(directory):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(at, name)
            with open(path, "rb") as file:
                head = file.read(len(HDF5))
            if head.startswith(CLASSIC) or head == HDF5 and name.endswith((".nc", ".nc4", ".cdf")):
                yield path, os.path.relpath(path, directory)


def main():
    hyperslab, directory = [arg for arg in sys.argv[1:] if not arg.startswith("-")]
    tally, reasons, counts = Tally(), collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        made = netcdf_samples.make(folder) if "--samples" in sys.argv else []
        for source, name in [*((path, os.path.basename(path)) for path in made), *sources(directory)]:
            done = apart(lambda own, why, of: look_at(own, why, of, folder, hyperslab, source, name))
            if done is None:
                reasons["the NetCDF library or xarray crashes on the source"] += 1
                continue
            exception = EXCEPTIONS.get(os.path.basename(name))
            if exception:
                reasons[exception] += done.failed
                tally.check(done.failed, f"{name}: in EXCEPTIONS, but identical")
                continue
            done.add_to(tally, reasons, counts)
    print("identical:", ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items())))
    for reason, number in sorted(reasons.items()):
        print(f"not compared, {number}: {reason}")
    tally.close()


if __name__ == "__main__":
    main()
