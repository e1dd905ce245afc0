"""Converts NetCDF files with `--unpack`; the numbers must be those that xarray and netCDF4 unpack from the source.

    unpacked.py HYPERSLAB DIRECTORY

Every variable with `scale_factor` or `add_offset` in the NetCDF files below the directory, and in files of all types that
are made here, is read by xarray from the source, which unpacks it, and from the NetCDF-4 and Zarr results, as it is
stored there. Where a number is missing only by the default fill value of NetCDF, which xarray does not know, netCDF4 decides.
Variables that are not packed must be identical, and files with different packing must be joined to what `open_mfdataset` reads from them.
"""

import collections
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

import netCDF4
import numpy as np
import xarray

from apart import apart
from conversions import groups
from identical import EXCEPTIONS, identical, sources
from tally import Tally

warnings.simplefilter("ignore")

PACKING = {"scale_factor", "add_offset"}
# Attributes that unpacked numbers no longer have, or that differ.
CHANGED = PACKING | {"_FillValue", "missing_value", "_Unsigned", "valid_min", "valid_max", "valid_range", "actual_range"}


def hyperslab(*words):
    done = subprocess.run([sys.argv[1], *words], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stderr.strip()


def packed_of(dataset):
    """The packed variables of each group, as far as xarray unpacks them."""
    for path, group in groups(dataset):
        names = [
            name for name, variable in group.variables.items()
            if PACKING & set(variable.ncattrs()) and getattr(variable.dtype, "kind", "O") in "iuf"
            and all(np.isscalar(variable.getncattr(key)) and not isinstance(variable.getncattr(key), str)
                    for key in PACKING & set(variable.ncattrs()))
        ]
        yield path, names


def as_masked(source, path, name):
    """The variable as netCDF4 unpacks it, without looking at valid ranges."""
    with netCDF4.Dataset(source) as dataset:
        variable = dataset[path][name] if path != "/" else dataset[name]
        variable.set_auto_maskandscale(False)
        stored = np.ma.asarray(variable[...])
        attributes = {key: variable.getncattr(key) for key in variable.ncattrs()}
    default = netCDF4.default_fillvals.get(stored.dtype.str[1:])
    has_default = "_FillValue" not in attributes and default is not None and stored.dtype.itemsize > 1
    return stored == stored.dtype.type(default) if has_default else np.zeros(stored.shape, bool)


def compare(tally, what, source, path, packed, target, engine):
    options = dict(group=None if path == "/" else path, decode_times=False)
    with xarray.open_dataset(source, engine="netcdf4", **options) as opened:
        wanted = opened.load()
    kind = {"consolidated": False} if engine == "zarr" else {}
    with xarray.open_dataset(target, engine=engine, mask_and_scale=False, **options, **kind) as opened:
        found = opened.load()
    with xarray.open_dataset(target, engine=engine, **options, **kind) as opened:
        decoded = opened.load()
    for name in wanted.variables:
        one, other = wanted.variables[name], found.variables.get(name)
        place = f"{what}:{path} {name}"
        if other is None:
            tally.check(False, place, ["is not there"])
        elif name in packed:
            theirs = np.where(as_masked(source, path, name), np.nan, one.values.astype("f8"))
            ours = other.values.astype("f8")
            # xarray may unpack in single precision where ours are doubles, and then it has rounded.
            precision = 1e-5 if "f4" in (one.dtype.str[1:], other.dtype.str[1:]) else 1e-13
            scale = float(np.nanmax(np.abs(theirs), initial=0.0, where=np.isfinite(theirs)))
            same = other.dtype.kind == "f" and np.allclose(ours, theirs, rtol=precision, atol=precision * scale, equal_nan=True)
            tally.check(same, place, [f"{ours.reshape(-1)[:6]} {other.dtype}, expected {theirs.reshape(-1)[:6]} {one.dtype}"])
            rest = lambda of: {key: value for key, value in of.attrs.items() if key not in CHANGED}
            same = xarray.Dataset(attrs=rest(one)).identical(xarray.Dataset(attrs=rest(other)))
            tally.check(same and one.dims == other.dims, f"{place}: attributes", [str(rest(one)), str(rest(other))])
            tally.check(not PACKING & set(other.attrs), f"{place} is not packed", [str(other.attrs)])
        else:
            # Without decoding, masks are fill values.
            tally.check(identical(one, decoded.variables[name]), place, [str(one)[:300], str(decoded.variables[name])[:300]])


def look_at(tally, reasons, counts, folder, source, name):
    try:
        with netCDF4.Dataset(source) as dataset:
            packed = {path: names for path, names in packed_of(dataset) if names}
    except Exception:
        reasons["the NetCDF library does not open the source"] += 1
        return
    if not packed:
        return
    for target, engine in (("ours.nc", "netcdf4"), ("ours.zarr", "zarr")):
        target = os.path.join(folder, target)
        code, said = hyperslab("--unpack", "convert", "-q", "--allow-loss=all", "--overwrite", "--verify", source, target)
        tally.check(code == 0, f"{name} to {engine}", [said[-300:]])
        for path, names in packed.items() if code == 0 else []:
            try:
                compare(tally, f"{engine} {name}", source, path, names, target, engine)
                counts["packed variables"] += len(names)
            except (ValueError, OSError, TypeError, OverflowError, NotImplementedError) as error:
                reasons[f"not read by xarray: {type(error).__name__}: {str(error)[:60]}"] += 1


def make(folder):
    """Files of all types of packed numbers, scales, marks of missing numbers and filters."""
    random = np.random.default_rng(5)
    paths = []
    for kind in ("NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_64BIT_OFFSET"):
        path = os.path.join(folder, f"{kind}.nc")
        paths.append(path)
        types = ("i1", "i2", "i4", "f4", "f8") + (("u1", "u2", "u4", "i8", "u8") if kind == "NETCDF4" else ())
        with netCDF4.Dataset(path, "w", format=kind) as file:
            file.createDimension("time", None)
            file.createDimension("x", 7)
            for number in types:
                for scale in ("f4", "f8"):
                    for case in ("scale", "offset", "both", "turned", "missing"):
                        fill = None if case == "scale" else 5
                        chunked = dict(zlib=True, shuffle=case == "both") if kind != "NETCDF3_64BIT_OFFSET" else {}
                        of = file.createVariable(f"{number}_{scale}_{case}", number, ("time", "x"), fill_value=fill, **chunked)
                        of.set_auto_maskandscale(False)
                        if case != "offset":
                            of.scale_factor = np.dtype(scale).type(-0.25 if case == "turned" else 0.01)
                        if case != "scale":
                            of.add_offset = np.dtype(scale).type(273.15)
                        if case == "missing":
                            of.missing_value = np.dtype(number).type(7)
                        if case == "turned":
                            of.valid_min, of.valid_max = np.dtype(number).type(1), np.dtype(number).type(90)
                        of.units = "K"
                        of[0:9] = random.integers(0, 100, (9, 7)).astype(number)
            unsigned = file.createVariable("unsigned", "i1", ("x",), fill_value=-1)
            unsigned.set_auto_maskandscale(False)
            unsigned.setncattr("_Unsigned", "true")
            unsigned.scale_factor = 0.5
            unsigned[:] = np.array([-1, -2, -128, 0, 1, 127, 3], "i1")
            never = file.createVariable("never", "i2", ("time", "x"))
            never.scale_factor = 2.0
            plain = file.createVariable("plain", "f4", ("x",))
            plain[:] = np.arange(7)
    return paths


def joined(tally, folder):
    """Files whose packing differs, because a service packs each of them separately."""
    random = np.random.default_rng(11)
    paths = []
    for month in range(4):
        values = random.normal(280 + month, 5, (6, 3, 4))
        values[0, 0, 0] = np.nan
        data = xarray.Dataset(
            {"t2m": (("time", "lat", "lon"), values, {"units": "K"})},
            {"time": ("time", np.arange(month * 6, month * 6 + 6.0), {"units": "hours since 2020-01-01"}), "lat": np.arange(3.0), "lon": np.arange(4.0)},
        )
        packing = dict(dtype="i2", scale_factor=0.001 * (month + 1), add_offset=280.0 + month, _FillValue=-32767, zlib=True)
        paths.append(os.path.join(folder, f"month{month}.nc"))
        data.to_netcdf(paths[-1], encoding={"t2m": packing}, unlimited_dims=["time"])
    code, said = hyperslab("concat", *paths, os.path.join(folder, "packed.nc"))
    tally.check(code == 2 and "--unpack" in said, "other scales are refused, and the help tells of --unpack", [said])
    with xarray.open_mfdataset(paths) as opened:
        wanted = opened.load()
    for name in ("all.nc", "all.zarr"):
        target = os.path.join(folder, name)
        code, said = hyperslab("concat", "--unpack", "--verify", *paths, target)
        tally.check(code == 0, f"files of other scales to {name}", [said])
        if code == 0:
            with xarray.open_dataset(target) as opened:
                xarray.testing.assert_identical(wanted.drop_encoding(), opened.load().drop_encoding())


def main():
    tally, reasons, counts = Tally(), collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        joined(tally, folder)
        for source, name in [*((path, os.path.basename(path)) for path in make(folder)), *sources(sys.argv[2])]:
            if os.path.basename(name) in EXCEPTIONS:
                reasons[EXCEPTIONS[os.path.basename(name)]] += 1
                continue
            done = apart(lambda own, why, of: look_at(own, why, of, folder, source, name))
            if done is None:
                reasons["the NetCDF library or xarray crashes on the source"] += 1
            else:
                done.add_to(tally, reasons, counts)
            for left in ("ours.nc", "ours.zarr"):
                shutil.rmtree(os.path.join(folder, left), ignore_errors=True)
    print("unpacked:", ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items())))
    for reason, number in sorted(reasons.items()):
        print(f"not compared, {number}: {reason}")
    tally.close()


if __name__ == "__main__":
    main()
