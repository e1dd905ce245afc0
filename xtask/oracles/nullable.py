"""Converts nullable attributes of dense TileDB arrays, and reads them with xarray, zarr-python and netCDF4.

    nullable.py HYPERSLAB

Where a value is null for TileDB-Py, xarray must find a missing value, unless no number is left to stand for it, and the array
of valid values must mark it as invalid. After conversion back to TileDB, TileDB-Py must find what it wrote.
"""

import os
import sys
import tempfile
import warnings

import netCDF4
import numpy as np
import tiledb
import xarray
import zarr

from tally import Reasons, Tally
from verified import convert

warnings.simplefilter("ignore")

tally = Tally()
NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
SHAPE = (7, 5)


def written(path, tile):
    """A dense array with an attribute of each numeric type, and the masked arrays that were written."""
    rng = np.random.default_rng(tile)
    domain = tiledb.Domain(
        tiledb.Dim("y", domain=(0, SHAPE[0] - 1), tile=tile, dtype="i4"),
        tiledb.Dim("x", domain=(0, SHAPE[1] - 1), tile=3, dtype="i4"),
    )
    filters = tiledb.FilterList([tiledb.ZstdFilter(level=3)]) if tile > 2 else None
    attributes = [tiledb.Attr(f"of_{name}", dtype=name, nullable=True, filters=filters) for name in NUMBERS]
    attributes.append(tiledb.Attr("of_bool", dtype=np.bool_, nullable=True, filters=filters))
    attributes.append(tiledb.Attr("of_time", dtype="M8[ns]", nullable=True, filters=filters))
    attributes.append(tiledb.Attr("without", dtype="i4", filters=filters))
    tiledb.Array.create(path, tiledb.ArraySchema(domain=domain, attrs=attributes, sparse=False))
    values = {}
    for name in NUMBERS:
        of = np.dtype(name)
        data = rng.integers(0, 100, SHAPE).astype(of)
        mask = rng.random(SHAPE) < 0.3
        # A number that usually marks missing values is a valid value here.
        if of.kind in "iu" and tile == 2:
            data[0, 0], mask[0, 0] = (np.iinfo(of).min if of.kind == "i" else np.iinfo(of).max), False
        values[f"of_{name}"] = np.ma.array(data, mask=mask)
    values["of_bool"] = np.ma.array(rng.random(SHAPE) < 0.5, mask=rng.random(SHAPE) < 0.3)
    # Counts that float64 cannot represent exactly.
    times = np.datetime64("2024-01-01", "ns") + rng.integers(0, 10**15, SHAPE) * 2 + 1
    values["of_time"] = np.ma.array(times, mask=rng.random(SHAPE) < 0.3)
    values["without"] = rng.integers(0, 100, SHAPE).astype("i4")
    with tiledb.open(path, "w") as array:
        array[:] = values
    return values


def by_xarray(reasons, dataset, values):
    for name, expected in values.items():
        found = dataset[name]
        if name == "without":
            reasons.expect(found.dtype == expected.dtype and (found.values == expected).all(), name)
            continue
        mask = np.ma.getmaskarray(expected)
        # No boolean is left to stand for a null.
        missing = found.isnull().values if name != "of_bool" else ~found.values & mask | mask
        reasons.expect((missing == mask).all(), f"{name}: {found.values}, expected {expected}")
        reasons.expect(name != "of_bool" or not found.values[mask].any(), f"{name}: {found.values}")
        valid, kept = found.values[~mask], expected.data[~mask]
        # xarray represents numbers with missing values as floats.
        reasons.expect((valid == kept.astype(valid.dtype)).all(), f"{name}: {valid}, expected {kept}")
        flags = dataset[f"{name}_valid"]
        reasons.expect((flags.values.astype(bool) == ~mask).all(), f"{name}_valid")
        reasons.equal(f"ancillary variables of {name}", found.attrs.get("ancillary_variables"), f"{name}_valid")
        reasons.equal(f"dimensions of {name}", found.dims, flags.dims)


def read(what, by):
    reasons = Reasons()
    try:
        by(reasons)
    except Exception as error:  # Any exception of a reader is a failure of the check.
        reasons.append(repr(error))
    tally.check(not reasons, what, reasons)


def stored(get, values):
    """Whether values that are not null are stored unchanged."""

    def by(reasons):
        for name, expected in values.items():
            keep = ~np.ma.getmaskarray(expected)
            found = np.asarray(get(name))
            is_number = expected.dtype.kind in "iuf"
            reasons.expect(not is_number or found.dtype.newbyteorder("=") == expected.dtype, f"{name}: {found.dtype}")
            found = found if is_number else found.astype(expected.dtype)
            reasons.expect((found[keep] == np.ma.getdata(expected)[keep]).all(), f"{name}: {found}")

    return by


def returned(path, values):
    """Whether TileDB-Py finds what was written: in one array, or in one for each variable."""

    def by(reasons):
        for name, expected in values.items():
            is_array = tiledb.object_type(path) == "array"
            with tiledb.open(path if is_array else os.path.join(path, name)) as array:
                found = array[:]
                found = found[name] if isinstance(found, dict) else found
            if name == "of_time" and found.dtype.kind == "i":
                # NetCDF has counts, in units that are an attribute.
                expected = np.ma.array(expected.data.astype("i8"), mask=expected.mask)
            mask = np.ma.getmaskarray(expected)
            reasons.expect((np.ma.getmaskarray(found) == mask).all(), f"{name}: {found}, expected {expected}")
            reasons.expect((np.ma.getdata(found)[~mask] == np.ma.getdata(expected)[~mask]).all(), f"{name}: {found}")

    return by


def main():
    for tile in (2, 4):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "source.tdb")
            values = written(source, tile)
            read("TileDB-Py reads what it wrote", returned(source, values))
            for name, engine in [("a.zarr", "zarr"), ("b.zarr", "zarr"), ("c.nc", "netcdf4"), ("d.nc", "netcdf4")]:
                target = os.path.join(folder, name)
                version = {"b": ("--format", "zarr2"), "d": ("--format", "cdf5")}.get(name[0], ())
                convert(tally, source, target, *version)
                options = {"consolidated": False} if engine == "zarr" else {}
                with xarray.open_dataset(target, engine=engine, **options) as dataset:
                    read(f"xarray: {name}", lambda reasons: by_xarray(reasons, dataset.load(), values))
                if engine == "zarr":
                    group = zarr.open_group(target, mode="r")
                    read(f"zarr-python: {name}", stored(lambda of: group[of][:], values))
                else:
                    with netCDF4.Dataset(target) as file:
                        file.set_auto_maskandscale(False)
                        read(f"netCDF4: {name}", stored(lambda of: file[of][:], values))
                # Converts once more to the same format, through the nullable arrays that hyperslab restores.
                again = os.path.join(folder, f"again-{name}")
                convert(tally, target, again, *version)
                with xarray.open_dataset(again, engine=engine, **options) as dataset:
                    read(f"xarray: again {name}", lambda reasons: by_xarray(reasons, dataset.load(), values))
                back = os.path.join(folder, f"back-{name}.tdb")
                convert(tally, target, back)
                read(f"TileDB-Py: back from {name}", returned(back, values))
    tally.close()


main()
