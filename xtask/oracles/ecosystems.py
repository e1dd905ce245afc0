"""What h5py, zarr-python, xarray and TileDB-Py write, in the readers of other formats once it is converted.

    ecosystems.py HYPERSLAB

Each case is a habit of one of these packages that readers of the target do not have: filters, booleans, durations, texts,
marks of missing values, bookkeeping of consolidated metadata, the order of dimensions.
"""

import os
import sys
import tempfile
import warnings

import h5py
import netCDF4
import numpy as np
import tiledb
import xarray
import zarr

from tally import Reasons, Tally
from verified import convert

warnings.simplefilter("ignore")

tally = Tally()


def case(by):
    """Runs a check in a folder of its own. It gets the reasons of failure, and a function that makes paths."""
    reasons = Reasons()
    with tempfile.TemporaryDirectory() as folder:
        try:
            by(reasons, lambda name: os.path.join(folder, name))
        except Exception as error:  # Whatever a reader raises is a failure of the check.
            reasons.append(repr(error))
    tally.check(not reasons, by.__doc__.strip().rstrip("."), reasons)


def opened(path, engine="netcdf4"):
    with xarray.open_dataset(path, engine=engine) as dataset:
        return dataset.load()


def filters_of_h5py(reasons, at):
    """Filters of h5py that the NetCDF library lacks are replaced."""
    with h5py.File(at("a.h5"), "w") as file:
        file.create_dataset("x", data=np.arange(1000), compression="lzf", chunks=(100,))
    report = convert(tally, at("a.h5"), at("a.nc"))
    reasons.expect("filters for which readers of HDF5 need a plugin" in report or "lzf" in report, report)
    with netCDF4.Dataset(at("a.nc")) as file:
        reasons.expect((file["x"][:] == np.arange(1000)).all(), "other values")


def booleans_of_h5py(reasons, at):
    """Booleans of h5py are booleans for xarray in NetCDF."""
    with h5py.File(at("a.h5"), "w") as file:
        file["m"] = np.array([True, False])
    convert(tally, at("a.h5"), at("a.nc"))
    for engine in ("netcdf4", "h5netcdf"):
        found = opened(at("a.nc"), engine)["m"]
        reasons.expect(found.dtype == bool and found.values.tolist() == [True, False], f"{engine}: {found.values}")


def complex_numbers_of_zarr(reasons, at):
    """Complex numbers of Zarr 2 with a fill value do not keep xarray from opening NetCDF."""
    group = zarr.open_group(at("a.zarr"), mode="w", zarr_format=2)
    array = group.create_array("z", shape=(2,), dtype="c8")
    array[:] = [1, 2j]
    array.attrs["_ARRAY_DIMENSIONS"] = ["x"]
    convert(tally, at("a.zarr"), at("a.nc"))
    found = opened(at("a.nc"))["z"].values
    reasons.equal("values", found["r"].tolist() + found["i"].tolist(), [1, 0, 0, 2])


def texts_in_classic_files(reasons, at):
    """Texts of variable length from Zarr are texts for xarray in NetCDF classic."""
    texts = ["Oslo", "Tromsø"]
    xarray.Dataset({"s": ("x", np.array(texts, object))}).to_zarr(at("a.zarr"), zarr_format=3)
    convert(tally, at("a.zarr"), at("a.nc3"))
    reasons.equal("texts", opened(at("a.nc3"))["s"].values.tolist(), texts)


def texts_in_tiledb(reasons, at):
    """Texts of UTF-32 from Zarr are texts for TileDB-Py, and for xarray after them."""
    texts = ["Oslo", "Tromsø"]
    xarray.Dataset({"u": ("x", np.array(texts))}).to_zarr(at("a.zarr"), zarr_format=3)
    convert(tally, at("a.zarr"), at("a.tdb"))
    with tiledb.open(at("a.tdb/u")) as array:
        found = array[:]
    reasons.equal("TileDB-Py", list(found["u"] if isinstance(found, dict) else found), texts)
    convert(tally, at("a.tdb"), at("b.zarr"))
    reasons.equal("xarray", xarray.open_zarr(at("b.zarr"), consolidated=False)["u"].values.tolist(), texts)


def durations(reasons, at):
    """Durations are durations for xarray in NetCDF, with those that are missing."""
    for unit in ("s", "ms", "ns"):
        values = np.array([1, "NaT", 3], f"m8[{unit}]")
        group = zarr.open_group(at(f"{unit}.zarr"), mode="w", zarr_format=3)
        array = group.create_array("d", shape=(3,), dtype=values.dtype, dimension_names=["x"])
        array[:] = values
        for name, options in (("nc", ()), ("5.nc", ("--format", "cdf5"))):
            convert(tally, at(f"{unit}.zarr"), at(f"{unit}.{name}"), *options)
            found = opened(at(f"{unit}.{name}"))["d"].values
            is_same = found.dtype.kind == "m" and (np.isnat(found) == np.isnat(values)).all()
            reasons.expect(is_same and (found[[0, 2]] == values[[0, 2]]).all(), f"{unit}, {name}: {found}")


def bookkeeping_of_zarr(reasons, at):
    """Consolidated stores of Zarr 2 with groups lose nothing in HDF5 and NetCDF."""
    group = zarr.open_group(at("a.zarr"), mode="w", zarr_format=2)
    group.attrs["encoding-type"] = "anndata"
    group.create_group("obs").attrs["_index"] = "cell"
    zarr.consolidate_metadata(at("a.zarr"))
    for name in ("a.h5", "a.nc"):
        convert(tally, at("a.zarr"), at(name))
        with h5py.File(at(name)) as file:
            found = file["obs"].attrs["_index"]
        reasons.equal(f"attribute in {name}", found.decode() if isinstance(found, bytes) else found, "cell")


def texts_that_are_not_unicode(reasons, at):
    """Texts that netCDF4 cannot decode are in the report."""
    with h5py.File(at("a.h5"), "w") as file:
        file.create_dataset("t", data=[b"caf\xe9"], dtype=h5py.string_dtype("ascii"))
    report = convert(tally, at("a.h5"), at("a.nc"))
    reasons.expect("texts that are not UTF-8" in report, report)


def order_of_dimensions(reasons, at):
    """The dimensions of sparse TileDB arrays keep their order through formats that sort members."""
    dimensions = [tiledb.Dim(name, domain=(0, 9), tile=10, dtype=np.int32) for name in "yx"]
    schema = tiledb.ArraySchema(
        domain=tiledb.Domain(*dimensions), attrs=[tiledb.Attr("v", dtype=np.int32)], sparse=True
    )
    tiledb.Array.create(at("a.tdb"), schema)
    with tiledb.open(at("a.tdb"), "w") as array:
        array[np.array([1, 2], "i4"), np.array([7, 8], "i4")] = np.array([10, 20], "i4")
    for name in ("a.h5", "a.nc", "a.zarr"):
        convert(tally, at("a.tdb"), at(name))
        convert(tally, at(name), at(f"{name}.tdb"))
        with tiledb.open(at(f"{name}.tdb")) as array:
            found = [array.domain.dim(at).name for at in range(2)], array[1, 7]["v"].tolist()
        reasons.equal(name, found, (["y", "x"], [10]))


for by in (
    filters_of_h5py, booleans_of_h5py, complex_numbers_of_zarr, texts_in_classic_files, texts_in_tiledb, durations, bookkeeping_of_zarr,
    texts_that_are_not_unicode, order_of_dimensions,
):
    case(by)
tally.close()
