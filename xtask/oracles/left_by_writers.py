"""Converts NetCDF files in states that some writers leave behind but the NetCDF library does not: readers must find the same
content after a conversion.

    left_by_writers.py HYPERSLAB

* Uninitialised memory in the datasets of dimensions, as parallel writers leave it: a dimension remains a dimension.
* Elements that were never written: they are missing in HDF5 too, which keeps the order of members and attributes.
* `_FillValue` that was changed later: a description of the file creates it again.
* Characters marked as UTF-8: bytes for xarray, as in the source.
* A scalar with the name of a dimension: the result is HDF5 in which netCDF4 can open all variables.
* `_FillValue` of another type than its variable, in a classic file of SciPy: the attribute stays.
* A dimension that a selection leaves empty: named, since readers take it for unlimited.
* Zeros that were never written, too many to be worth writing: they are not missing values for xarray in Zarr version 2.
"""

import os
import subprocess
import sys
import tempfile
import warnings

import h5py
import netCDF4
import numpy as np
import scipy.io
import xarray

from tally import Tally
from verified import convert

warnings.simplefilter("ignore")

tally = Tally()
TARGETS = {"nc": "netcdf4", "h5": "netcdf4", "nc3": "netcdf4", "3.zarr": "zarr", "2.zarr": "zarr"}


def run(*words):
    done = subprocess.run([sys.argv[1], *words], capture_output=True, text=True, timeout=300)
    tally.check(done.returncode == 0, " ".join(words[:2]), [done.stdout[-500:], done.stderr[-500:]])
    return done.stdout


def dump(path):
    """The declarations, without the name of the file."""
    return subprocess.run(["ncdump", "-h", path], capture_output=True, text=True).stdout.split("{", 1)[-1]


def opened(path, engine, decode):
    options = {"consolidated": False} if engine == "zarr" else {}
    with xarray.open_dataset(path, engine=engine, decode_cf=decode, **options) as data:
        return data.load()


def same_for_xarray(source, suffixes=TARGETS, options=()):
    """Converts, and compares what xarray finds, decoded and not."""
    for suffix in suffixes:
        target = f"{source[:-3]}_to.{suffix}"
        version = ("--format", "zarr" + suffix[0]) if suffix.endswith("zarr") else ()
        convert(tally, source, target, *version, *options)
        for decode in (True, False):
            wanted, found = opened(source, "netcdf4", decode), opened(target, TARGETS[suffix], decode)
            # In Zarr the attribute marks missing values, where NetCDF has a fill value that readers know.
            if suffix.endswith("zarr") and not decode:
                for name in found.variables:
                    if "_FillValue" not in wanted[name].attrs:
                        found[name].attrs.pop("_FillValue", None)
            tally.check(wanted.identical(found), f"{target}: as {source} for xarray, decoded: {decode}", [wanted, found])


def unset():
    with netCDF4.Dataset("unset.nc", "w") as file:
        file.createDimension("x", 3)
        file.createDimension("y", 2)
        file.createVariable("v", "f4", ("x", "y"))[:] = 1
    before = dump("unset.nc")
    with h5py.File("unset.nc", "a") as file:
        file["x"][...] = [np.nan, 1e-40, 7]
    tally.check(dump("unset.nc") == before, "the dimension is none but one for ncdump")
    same_for_xarray("unset.nc")
    tally.check("elements that NetCDF-4 does not show" in run("convert", "-n", "unset.nc", "n.nc"), "elements are named")


def unwritten():
    with netCDF4.Dataset("unwritten.nc", "w") as file:
        file.z, file.a = 1, "order"
        for name, size in {"t": None, "x": 4}.items():
            file.createDimension(name, size)
        for name, dtype in {"zeta": "f4", "beta": "i2", "count": "i8"}.items():
            variable = file.createVariable(name, dtype, ("t", "x"), chunksizes=(1, 2), fill_value=None)
            variable.units, variable.long_name = "m", name
            variable[2:3, :2] = [[1, 2]]
        file.createVariable("alpha", "f8", ("x",))
    same_for_xarray("unwritten.nc", ("nc", "h5", "3.zarr", "2.zarr"))
    tally.check(dump("unwritten_to.h5") == dump("unwritten.nc"), "HDF5: ncdump prints the same in the same order")
    for name in ("zeta", "beta", "count", "alpha"):
        shown = []
        for path in ("unwritten.nc", "unwritten_to.h5", "unwritten_to.nc"):
            with netCDF4.Dataset(path) as file:
                values = file[name][...]
                shown.append((np.ma.getmaskarray(values).tolist(), values.filled(0).tolist()))
        tally.check(shown[0] == shown[1] == shown[2], f"{name}: the same elements are missing", shown)


def changed_later():
    with netCDF4.Dataset("changed.nc", "w") as file:
        file.createDimension("x", 3)
        file.createVariable("v", "f4", ("x",), fill_value=9.0)[:2] = [1, 2]
    with h5py.File("changed.nc", "a") as file:
        file["v"].attrs.modify("_FillValue", np.float32([1e20]))
    described = run("describe", "--values", "changed.nc")
    with open("changed.yaml", "w", encoding="utf-8") as text:
        text.write(described)
    run("create", "changed.yaml", "again.nc")
    tally.check(run("diff", "changed.nc", "again.nc") == "", "what is created is what was described")
    tally.check(dump("again.nc") == dump("changed.nc"), "and for ncdump")
    # Readers of Zarr have one fill value.
    same_for_xarray("changed.nc", ("nc", "h5"))


def characters():
    with netCDF4.Dataset("characters.nc", "w") as file:
        file.createDimension("x", 2)
        file.createDimension("strlen", 3)
        file.createVariable("other", "c", ("x", "strlen"))[:] = np.array([list("abc"), list("def")], "S1")
    with h5py.File("characters.nc", "a") as file:
        named = {name: value for name, value in file["other"].attrs.items() if name not in ("DIMENSION_LIST",)}
        utf8 = h5py.h5t.C_S1.copy()
        utf8.set_size(1)
        utf8.set_cset(h5py.h5t.CSET_UTF8)
        space = h5py.h5s.create_simple((2, 3))
        made = h5py.Dataset(h5py.h5d.create(file.id, b"c", utf8, space))
        made.id.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([list("abc"), list("def")], "S1"), utf8)
        for at, scale in enumerate(("x", "strlen")):
            made.dims[at].attach_scale(file[scale])
        tally.check("_Encoding" not in named, "netCDF4 marks no encoding")
    same_for_xarray("characters.nc")


def scalar_of_a_dimension():
    with netCDF4.Dataset("scalar.nc", "w") as file:
        for name, size in {"time": 2, "lat": 3}.items():
            file.createDimension(name, size)
        file.createVariable("lat", "f4", ())[...] = 50
        file.createVariable("time", "f4", ("time",))[:] = [1, 2]
        file.createVariable("q", "f4", ("time", "lat"))[:] = np.arange(6).reshape(2, 3)
        file.createVariable("p", "f4", ("time",))[:] = [3, 4]
    convert(tally, "scalar.nc", "scalar.h5", "--allow-loss", "names")
    with netCDF4.Dataset("scalar.h5") as file:
        found = {name: np.asarray(file[name][...]).tolist() for name in file.variables}
    wanted = {"lat": 50, "time": [1, 2], "q": [[0, 1, 2], [3, 4, 5]], "p": [3, 4]}
    tally.check(found == wanted, "scalar.h5: netCDF4 reads all variables", [wanted, found])


def classic_of_scipy():
    with scipy.io.netcdf_file("scipy.nc", "w", version=2) as file:
        file.createDimension("x", 4)
        variable = file.createVariable("z", "i2", ("x",))
        variable[:] = [1, 2, 3, 4]
        variable._FillValue = np.float64(np.nan)
        variable.scale_factor = 0.5
    run("repack", "scipy.nc", "repacked.nc")
    convert(tally, "scipy.nc", "classic.nc3", "--format", "cdf2")
    with open("scipy.nc", "rb") as one:
        wanted = one.read()
    for path in ("repacked.nc", "classic.nc3"):
        tally.check(dump(path) == dump("scipy.nc"), f"{path}: the same for ncdump")
        with open(path, "rb") as other:
            found = other.read()
        # SciPy pads names with digits.
        tally.check(len(found) == len(wanted) and found[-8:] == wanted[-8:], f"{path}: the same size")
    same_for_xarray("scipy.nc", ("nc", "nc3"))


def emptied():
    with netCDF4.Dataset("emptied.nc", "w") as file:
        file.createDimension("x", 3)
        file.createVariable("x", "f4", ("x",))[:] = [1, 2, 3]
    shown = run("convert", "emptied.nc", "none.nc", "-s", "x=7..8")
    with netCDF4.Dataset("none.nc") as file:
        tally.check(file.dimensions["x"].isunlimited(), "netCDF4 takes an empty dimension for unlimited")
    tally.check("dimension of length 0" in shown, "the report names the dimension", shown)


def zeros():
    with h5py.File("zeros.h5", "w") as file:
        made = file.create_dataset("v", (40_000, 10_000), "f4", chunks=(1000, 1000))
        made[:1000, :1000] = 5
    with netCDF4.Dataset("short.nc", "w") as file:
        file.createDimension("n", None)
        for name, text in {"long": "abcdef", "short": "abcd"}.items():
            file.createVariable(name, "S1", ("n",))[:] = np.array(list(text), "S1")
    for source, name in (("zeros.h5", "v"), ("short.nc", "short")):
        run("convert", source, "zeros.zarr", "--format", "zarr2", "--overwrite", "--allow-loss=all")
        with xarray.open_zarr("zeros.zarr", decode_cf=False) as found:
            own = found[name]
            tally.check("_FillValue" not in own.attrs, f"{source}: zero marks no missing values", own.attrs)
            ends = [own[(at,) * own.ndim].values[()] for at in (0, -1)]
            tally.check(ends == ([5, 0] if name == "v" else [b"a", b""]), f"{source}: zeros at the end", ends)
        run("convert", "zeros.zarr", f"again.{source[-2:]}", "--overwrite", "--allow-loss=all")
        run("diff", source, f"again.{source[-2:]}")


with tempfile.TemporaryDirectory() as folder:
    sys.argv[1] = os.path.abspath(sys.argv[1])
    os.chdir(folder)
    for case in (unset, unwritten, changed_later, characters, scalar_of_a_dimension, classic_of_scipy, emptied, zeros):
        case()
tally.close()
