"""Converts HDF5 files with features that NetCDF-4 represents differently or not at all, and opens the results.

    unlike_netcdf.py HYPERSLAB

h5py writes dimension scales whose length differs from that of their dimensions, members with the names that created dimensions
would get, enumerations in every byte order, and names of every length. Each file must convert, with verification, and
every element must be found by netCDF4, ncdump and, for the Zarr store, xarray. A Zarr store that is a single array
becomes a variable with the name of the store.
"""

import os
import subprocess
import tempfile
import warnings

import h5py
import netCDF4
import numpy as np
import xarray
import zarr

from tally import Tally
from verified import convert

warnings.simplefilter("ignore")

tally = Tally()


def scales(file, length, grows):
    """A scale of three elements, and arrays of this length along it."""
    x = file.create_dataset("x", data=np.arange(3), maxshape=(9,) if grows else None)
    x.make_scale("x")
    for name, shape in {"one": (length,), "two": (length, length)}.items():
        data = np.arange(100, 100 + np.prod(shape)).reshape(shape)
        array = file.create_dataset(name, data=data)
        for dimension in array.dims:
            dimension.attach_scale(x)


def taken(file):
    """Groups, scalars and datatypes with the names of created dimensions."""
    file["group"] = np.arange(3)
    file.create_group("dim_3")["inner"] = np.arange(4)
    file["dim_3/dim_4"] = 1.5
    file["dim_5"] = np.dtype([("a", "i4"), ("b", "f8")])
    file["type"] = np.arange(5)
    file["text"] = np.array([b"abcd", b"ef"], "S4")
    file["string4"] = 7


def enumerations(file):
    for number, base in enumerate(("<i1", "<i2", ">i2", ">i4", ">u4", ">i8")):
        of = h5py.enum_dtype({"LOW": 1, "HIGH": 100}, base)
        file[f"whole{number}"] = np.array([1, 100], of)
        file[f"inner{number}"] = np.array([(1, 2.0), (100, 3.0)], [("e", of), ("f", ">f4")])
        file[f"whole{number}"].attrs["flag"] = np.array(100, of)
    file["spaces"] = np.array([1], h5py.enum_dtype({" a": 1, "b/c": 2, "d" * 300: 3}, "i2"))


def extended(file):
    """Numbers of x86 that a double holds."""
    file["long"] = np.array([1.5, -2.0, 1e300, 0.0, np.inf, -np.inf, np.nan], np.longdouble)


def names(file):
    for length in (254, 255, 256, 257, 300):
        # The first characters distinguish them when they are truncated.
        rest = str(length) + "x" * (length - 4)
        file["v" + rest] = np.arange(2)
        file.create_group("g" + rest)["inner"] = 1
        file.attrs["a" + rest] = 1


def datasets(file):
    found = []
    # Anything but None would end the visit.
    file.visititems(lambda name, item: found.append((name, item)) if isinstance(item, h5py.Dataset) else None)
    return found


def numbers(value):
    """Elements as lists of numbers and strings, whatever their types."""
    value = np.asarray(value)
    if value.dtype.names:
        return [numbers(value[name]) for name in value.dtype.names]
    if value.dtype == np.longdouble:
        value = value.astype(float)
    if value.dtype == "S1":
        value = netCDF4.chartostring(value, "ascii")
    return value.astype("U").tolist() if value.dtype.kind == "S" else value.tolist()


def single_array():
    wanted = np.arange(6, dtype="f4").reshape(2, 3)
    for version, names in ((3, ("y", None)), (2, (None, None))):
        options = {"dimension_names": names} if version == 3 else {}
        single = zarr.create_array(f"single{version}.zarr", data=wanted, chunks=(1, 2), zarr_format=version, **options)
        single.attrs["units"] = "m"
        for suffix in ("nc", "nc3", "h5"):
            target = f"single{version}.{suffix}"
            convert(tally, f"single{version}.zarr", target)
            if suffix == "h5":
                with h5py.File(target) as file:
                    found = file[f"single{version}"]
                    same = np.array_equal(found[()], wanted) and found.attrs["units"] in ("m", b"m")
                    first = [scale.name.strip("/") for scale in found.dims[0].values()]
            else:
                with netCDF4.Dataset(target) as file:
                    found = file[f"single{version}"]
                    same, first = np.array_equal(found[...], wanted) and found.units == "m", [found.dimensions[0]]
            tally.check(same, f"{target} has the array")
            tally.check(version == 2 or list(first) == ["y"], f"{target}: the dimension has its name", first)


def compare(name, write):
    source = f"{name}.h5"
    with h5py.File(source, "w") as file:
        write(file)
    # The report names the loss of scales with a different length, and of bits that doubles do not have.
    convert(tally, source, f"{name}.nc", "--allow-loss", "attributes,precision")
    if not os.path.exists(f"{name}.nc"):
        return
    dumped = subprocess.run(["ncdump", f"{name}.nc"], capture_output=True, timeout=60)
    tally.check(dumped.returncode == 0, f"ncdump reads {name}.nc", [dumped.stderr[:200]])
    with h5py.File(source) as file, netCDF4.Dataset(f"{name}.nc") as found:
        # netCDF4 omits compounds with enumerations, which ncdump reads.
        items = [item for _, item in datasets(file) if not item.dtype.names]
        wanted = sorted(str(numbers(item[()])) for item in items)
        groups, values = [found], []
        for group in groups:
            groups.extend(group.groups.values())
            for variable in group.variables.values():
                variable.set_auto_mask(False)
                values.append(str(numbers(variable[()])))
        tally.check(sorted(values) == wanted, f"{name}.nc: netCDF4 finds all elements", [wanted, sorted(values)])
    if name.startswith("scale"):
        convert(tally, source, f"{name}.zarr")
        with h5py.File(source) as file, xarray.open_zarr(f"{name}.zarr", consolidated=False) as found:
            for path, item in datasets(file):
                tally.check(np.array_equal(found[path], item[()]), f"{name}.zarr: xarray finds {path}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for length in (2, 3, 5):
        for grows in (False, True):
            compare(f"scale{length}{grows}", lambda file: scales(file, length, grows))
    for write in (taken, enumerations, extended, names):
        compare(write.__name__, write)
    single_array()
tally.close()
