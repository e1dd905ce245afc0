"""Filters and fill values of converted stores, as other programs read them: zarr-python, h5py without plugins, xarray, nccopy.

    filters_read.py HYPERSLAB

Rounding leaves missing values and integers unchanged. Data from Zarr is stored in NetCDF-4 and HDF5 with
filters that every reader has, unless it came from there originally. `_FillValue` of a document has the type of its variable.
"""

import os
import subprocess
import sys
import tempfile
import warnings

import h5py
import numpy as np
import xarray as xr
import zarr

from tally import Tally

warnings.simplefilter("ignore")

# The filters of the library, which need no plugin, have numbers below 256.
LIBRARY = {"shuffle", "gzip", "fletcher32", "szip", "nbit", "scaleoffset"}


def run(*words, code=0, text=None):
    done = subprocess.run([sys.argv[1], *words], capture_output=True, text=True, timeout=300, input=text)
    tally.check(done.returncode == code, " ".join(words), [done.stdout[-300:], done.stderr[-300:]])
    return done.stdout + done.stderr


def rounded(folder):
    values = np.array([1.234, np.nan, np.inf, -5.4321, 1e20, -0.0, 3e-41, np.nan], "f4")
    source = os.path.join(folder, "missing.nc")
    data = xr.Dataset({"tos": ("x", values), "count": ("x", np.arange(8))})
    data.to_netcdf(source, encoding={"tos": {"_FillValue": np.float32(1e20)}})
    for form in ("zarr3", "zarr2"):
        for number, (filters, apart) in enumerate({
            "bitround=7,zstd": 2.0**-8, "quantize=1,zstd": None, "bitround=0": 0.5,
        }.items()):
            target = os.path.join(folder, f"{form}-{number}.zarr")
            run("convert", source, target, "--format", form, "-f", f"/tos:{filters}", "--allow-loss=precision", "--verify")
            stored = zarr.open_group(target, mode="r")["tos"][:]
            missing = np.isnan(values) | (values == np.float32(1e20))
            tally.check((stored[missing] == np.float32(1e20)).all(), f"{form} {filters}: missing values", [str(stored)])
            near = np.abs(stored - values)[np.isfinite(values) & ~missing]
            bound = np.abs(values[np.isfinite(values) & ~missing]) * apart + 1e-40 if apart else 0.0625
            tally.check((near <= bound).all(), f"{form} {filters}: other values", [str(stored)])
            found = xr.open_zarr(target).tos.values
            tally.check(np.array_equal(np.isnan(found), missing), f"{form} {filters}: what xarray masks", [str(found)])
        said = run("convert", source, os.path.join(folder, "none.zarr"), "--format", form, "-f", "bitround=3,zstd", code=2)
        tally.check("/count" in said and "integers" in said, f"{form}: bitround of integers is refused by name", [said])


def without_plugins(folder):
    source = os.path.join(folder, "default.zarr")
    values = np.random.default_rng(3).normal(size=(40, 50))
    xr.Dataset({"a": (("y", "x"), values), "n": (("y", "x"), values.astype("i2"))}).to_zarr(source)
    plain = zarr.open_group(os.path.join(folder, "plain.zarr"), mode="w")
    plain.create_array("lz", data=values, compressors=zarr.codecs.BloscCodec(cname="lz4"))
    plain.create_array("none", data=values, compressors=None)
    for store in (source, plain.store.root):
        for suffix in ("nc", "h5"):
            target = f"{store}.{suffix}"
            said = run("convert", str(store), target, "--verify")
            with h5py.File(target) as file:
                for name, dataset in file.items():
                    if dataset.dtype.kind not in "if" or dataset.ndim != 2:
                        continue
                    known = set(dataset._filters) <= LIBRARY
                    tally.check(known, f"{target} {name} needs no plugin", [str(dataset._filters)])
                    if known:
                        tally.check(np.array_equal(dataset[...], values.astype(dataset.dtype)), f"{target} {name}")
            tally.check("plugin" in said, f"{target}: the report says so", [said])
    # Data that was originally HDF5 with a plugin filter has that filter again.
    kept, away, back = (os.path.join(folder, name) for name in ("zstd.h5", "zstd.zarr", "back.h5"))
    run("convert", source, kept, "-f", "zstd=3")
    run("convert", kept, away)
    run("convert", away, back)
    with h5py.File(kept) as one, h5py.File(back) as other:
        tally.check(one["a"]._filters == other["a"]._filters, "filters of plugins return", [str(other["a"]._filters)])
        tally.check("32015" in one["a"]._filters, "requested filters are stored", [str(one["a"]._filters)])


def of_documents(folder):
    text = """
dimcoords:
  x: {size: 2}
ndarrays:
  a: {shape: [x], type: int16, attributes: {_FillValue: -1, missing_value: -2}}
  b: {shape: [x], type: float32, attributes: {_FillValue: 1e20}}
"""
    for form in ("netcdf4", "netcdf4-classic", "netcdf3"):
        target = os.path.join(folder, f"{form}.nc")
        run("create", "-", target, "--format", form, text=text)
        with xr.open_dataset(target, mask_and_scale=False) as opened:
            fills = [opened[name].attrs["_FillValue"] for name in "ab"]
            tally.check([fill.dtype.str[1:] for fill in fills] == ["i2", "f4"], f"{form}: types of fill values", [str(fills)])
            tally.check((opened.a.values == -1).all() and (opened.b.values == np.float32(1e20)).all(), f"{form}: fill values")
        with xr.open_dataset(target) as opened:
            tally.check(np.isnan(opened.a.values).all(), f"{form}: xarray masks what was never written", [str(opened.a.values)])
        copied = subprocess.run(["nccopy", target, f"{target}.copy"], capture_output=True, text=True)
        tally.check(copied.returncode == 0, f"{form}: nccopy copies it", [copied.stderr])
    said = run("create", "-", os.path.join(folder, "no.nc"), text=text.replace("-1", "70000"), code=2)
    tally.check("_FillValue" in said and "/a" in said, "a fill value that the type does not hold is refused", [said])


def numbers_of_json(folder):
    source = os.path.join(folder, "list.zarr")
    group = zarr.open_group(source, mode="w")
    array = group.create_array("a", data=np.arange(3.0), dimension_names=["x"])
    array.attrs["valid_range"] = [0, 1.5]
    for suffix in ("nc", "h5"):
        target = f"{source}.{suffix}"
        said = run("convert", source, target, "--verify")
        with h5py.File(target) as file:
            found = file["a"].attrs["valid_range"]
            tally.check(found.dtype == np.dtype("f8") and found.tolist() == [0.0, 1.5], f"numbers of JSON in {suffix}", [str(found)])
        tally.check("valid_range" in said, "the report names the attribute", [said])


tally = Tally()
with tempfile.TemporaryDirectory() as work:
    for part in (rounded, without_plugins, of_documents, numbers_of_json):
        at = os.path.join(work, part.__name__)
        os.makedirs(at)
        part(at)
tally.close()
