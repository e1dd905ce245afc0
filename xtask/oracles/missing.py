"""Converts missing values that xarray writes to both versions of Zarr to every format.

    missing.py HYPERSLAB

xarray stores `_FillValue` in a form of its own in version 3, and as the fill value of the array in version 2. In every
conversion it must find the same values and the same missing ones as in the source, and verification must succeed. The
opposite direction is tried too: NaN with any bits as `_FillValue` of NetCDF must return from both versions.
"""

import os
import subprocess
import sys
import tempfile
import warnings

import netCDF4
import numpy as np
import xarray
import zarr

from tally import Tally
from verified import convert

warnings.simplefilter("ignore")

TARGETS = {
    "nc": "netcdf4",
    "nc3": "netcdf4",
    "h5": "h5netcdf",
    "2.zarr": "zarr",
    "3.zarr": "zarr",
}

tally = Tally()


def written(source, target):
    """Converts to the format given by the end of the name."""
    version = ("--format", "zarr" + target[-6]) if target.endswith(".zarr") else ()
    convert(tally, source, target, *version)


def opened(path, engine):
    options = {"phony_dims": "sort"} if engine == "h5netcdf" else {}
    if engine == "zarr":
        options["consolidated"] = False
    return xarray.open_dataset(path, engine=engine, **options).load()


def dataset():
    """Values of every kind that CF packs or masks, each including missing ones."""
    some = np.array([1.0, np.nan, 3.0])
    data = xarray.Dataset(
        {
            "single": ("x", some.astype("f4")),
            "double": ("x", some),
            "plain": ("x", some),
            "packed": ("x", some),
            "bytes": ("x", np.array([256.0, np.nan, 257.0])),
            "wide": ("x", some),
            "counted": ("x", np.array([1, 2, 3], "i4")),
            "times": ("x", np.array(["2000-01-01", "NaT", "2000-01-03"], "M8[ns]")),
        },
        {"x": np.array([0.0, 1.0, 2.0])},
    )
    encoding = {
        "single": {"_FillValue": np.float32(-999.9)},
        "double": {"_FillValue": 1e20},
        "packed": {"dtype": "i2", "_FillValue": -9999, "scale_factor": 0.5},
        "bytes": {"dtype": "u1", "_FillValue": 0, "add_offset": 255.0},
        "wide": {"dtype": "i8", "_FillValue": -1},
        "times": {"dtype": "i4", "_FillValue": -1, "units": "days since 2000-01-01"},
    }
    return data, encoding


def from_xarray(version):
    data, encoding = dataset()
    source = f"written{version}.zarr"
    data.to_zarr(source, zarr_format=version, encoding=encoding, consolidated=True)
    wanted = opened(source, "zarr")
    tally.check(wanted.equals(data.assign(counted=wanted["counted"])), f"xarray reads what it wrote to {source}")
    for suffix, engine in TARGETS.items():
        target = f"from{version}.{suffix}"
        written(source, target)
        found = opened(target, engine)
        for name in wanted.variables:
            same = found[name].astype(wanted[name].dtype).equals(wanted[name])
            tally.check(same, f"{target}: {name} as in {source}", [wanted[name].values, found[name].values])
    # TileDB has no reader that decodes, so this script decodes both.
    written(source, f"from{version}.tdb")
    for name in wanted.data_vars:
        shown = []
        for store in (source, f"from{version}.tdb"):
            command = [sys.argv[1], "show", "--decode", "--as", "csv", f"{store}:/{name}"]
            shown.append(subprocess.run(command, capture_output=True, text=True, timeout=60).stdout)
        same = shown[0].splitlines()[1:] == shown[1].splitlines()[1:] and shown[0]
        tally.check(same, f"from{version}.tdb: {name} decoded", shown)


def from_netcdf():
    """`_FillValue` that is NaN with unusual bits."""
    fills = {"f4": np.uint32([0xFFC00000, 0x7FC00001]), "f8": np.uint64([0xFFF8 << 48, (0x7FF8 << 48) + 7])}
    with netCDF4.Dataset("nan.nc", "w") as file:
        file.createDimension("x", 2)
        for dtype, bits in fills.items():
            for number, fill in enumerate(bits.view(dtype)):
                variable = file.createVariable(f"{dtype}_{number}", dtype, ("x",), fill_value=fill)
                variable[:] = [1, 2]
    for version in (2, 3):
        written("nan.nc", f"nan{version}.zarr")
        root = zarr.open_group(f"nan{version}.zarr", mode="r")
        written(f"nan{version}.zarr", f"back{version}.nc")
        with netCDF4.Dataset(f"back{version}.nc") as file:
            for dtype, bits in fills.items():
                for number, fill in enumerate(bits):
                    name = f"{dtype}_{number}"
                    tally.check(list(root[name][:]) == [1, 2], f"nan{version}.zarr: zarr-python reads {name}")
                    found = np.asarray(file[name].getncattr("_FillValue"))
                    same = found.dtype == np.dtype(dtype) and found.reshape(1).view(bits.dtype)[0] == fill
                    tally.check(same, f"back{version}.nc: _FillValue of {name}", [hex(fill), found])


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for version in (2, 3):
        from_xarray(version)
    from_netcdf()
tally.close()
