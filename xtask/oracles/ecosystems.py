"""Converts what h5py, zarr-python, xarray and TileDB-Py write, and reads the result with the readers of other formats.

    ecosystems.py HYPERSLAB

Each case is a convention of one of these packages that readers of the target do not share: filters, booleans, durations,
strings, marks of missing values, bookkeeping of consolidated metadata, the order of dimensions.
"""

import os
import subprocess
import sys
import tempfile
import warnings

import h5py
import hdf5plugin
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
        except Exception as error:  # Any exception of a reader is a failure of the check.
            reasons.append(repr(error))
    tally.check(not reasons, by.__doc__.strip().rstrip("."), reasons)


def opened(path, engine="netcdf4"):
    options = {"phony_dims": "access"} if engine == "h5netcdf" else {}
    with xarray.open_dataset(path, engine=engine, **options) as dataset:
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
    """Variable-length strings from Zarr are strings for xarray in NetCDF classic."""
    texts = ["Oslo", "Tromsø"]
    xarray.Dataset({"s": ("x", np.array(texts, object))}).to_zarr(at("a.zarr"), zarr_format=3)
    convert(tally, at("a.zarr"), at("a.nc3"))
    reasons.equal("texts", opened(at("a.nc3"))["s"].values.tolist(), texts)


def texts_in_tiledb(reasons, at):
    """UTF-32 strings from Zarr are strings for TileDB-Py, and afterwards for xarray."""
    texts = ["Oslo", "Tromsø"]
    xarray.Dataset({"u": ("x", np.array(texts))}).to_zarr(at("a.zarr"), zarr_format=3)
    convert(tally, at("a.zarr"), at("a.tdb"))
    with tiledb.open(at("a.tdb/u")) as array:
        found = array[:]
    reasons.equal("TileDB-Py", list(found["u"] if isinstance(found, dict) else found), texts)
    convert(tally, at("a.tdb"), at("b.zarr"))
    reasons.equal("xarray", xarray.open_zarr(at("b.zarr"), consolidated=False)["u"].values.tolist(), texts)


def durations(reasons, at):
    """Durations are durations for xarray in NetCDF, including missing ones."""
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
    """Strings that netCDF4 cannot decode are in the report."""
    with h5py.File(at("a.h5"), "w") as file:
        file.create_dataset("t", data=[b"caf\xe9"], dtype=h5py.string_dtype("ascii"))
    report = convert(tally, at("a.h5"), at("a.nc"))
    reasons.expect("strings that are not UTF-8" in report, report)


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


def fill_values_that_are_undefined(reasons, at):
    """Zeros that xarray omits from Zarr 2, where the fill value is null, are zeros everywhere."""
    dataset = xarray.Dataset({"v": ("x", np.zeros(4, "i4")), "w": ("x", np.arange(4)), "crs": ((), 0)})
    dataset.to_zarr(at("a.zarr"), zarr_format=2)
    with netCDF4.Dataset(netcdf := convert_to(at, "a.zarr", "a.nc")) as file:
        reasons.equal("netCDF4", [file[name][...].tolist() for name in ("v", "w", "crs")], [[0] * 4, [0, 1, 2, 3], 0])
    reasons.expect(opened(netcdf).equals(dataset), "another dataset in NetCDF")
    with h5py.File(convert_to(at, "a.zarr", "a.h5")) as file:
        reasons.equal("h5py", [file[name][...].tolist() for name in ("v", "w", "crs")], [[0] * 4, [0, 1, 2, 3], 0])
    convert_to(at, "a.zarr", "a.tdb")
    for name in ("v", "crs"):
        with tiledb.open(at(f"a.tdb/{name}")) as array:
            reasons.expect((array[...][name] == 0).all(), f"{name} in TileDB: {array[...]}")


def filters_that_round(reasons, at):
    """Values rounded by HDF5 filters are not rounded again when chunks are rearranged."""
    values = (np.random.default_rng(1).standard_normal((100, 50)) * 30).astype("f4")
    with h5py.File(at("a.h5"), "w") as file:
        for name, filters in {
            "digits": {"scaleoffset": 2},
            "rate": hdf5plugin.Zfp(rate=10),
            "precision": hdf5plugin.Zfp(precision=12),
            "accuracy": hdf5plugin.Zfp(accuracy=0.01),
        }.items():
            file.create_dataset(name, data=values, chunks=(30, 20), **filters)
        file.create_dataset("bits", data=(values * 1000).astype("i4"), chunks=(30, 20), scaleoffset=8)
        file.create_dataset("all_bits", data=(values * 1000).astype("i4"), chunks=(30, 20), scaleoffset=0)
    convert_to(at, "a.h5", "a.zarr")
    made = {
        "the same": convert_to(at, "a.h5", "b.h5"),
        "other chunks": convert_to(at, "a.h5", "c.h5", "-c", "25,25"),
        "another order": convert_to(at, "a.h5", "d.h5", "--endian", "big"),
        "by way of Zarr": convert_to(at, "a.zarr", "e.h5"),
        "NetCDF": convert_to(at, "a.h5", "f.nc", "-c", "25,25"),
    }
    for what, path in made.items():
        with h5py.File(at("a.h5")) as source, h5py.File(path) as file:
            changed = [name for name in source if not np.array_equal(source[name][...], file[name][...])]
            reasons.equal(what, changed, [])
            kept = {name: file[name].scaleoffset is not None for name in ("digits", "all_bits")}
            reasons.equal(what, kept["all_bits"], True)
            reasons.expect(kept["digits"] or what != "the same", f"{what}: without the filter of the source")


def integers_in_few_bits(reasons, at):
    """Integers that do not fit into the requested bits are a loss, and others are not."""
    with h5py.File(at("a.h5"), "w") as file:
        file["i"] = np.arange(0, 3000, 300)
    refused = subprocess.run([sys.argv[1], "convert", at("a.h5"), at("b.h5"), "-f", "scaleoffset=2"], capture_output=True, text=True)
    reasons.equal("2 bits", (refused.returncode, "lost precision" in refused.stdout), (1, True))
    with h5py.File(convert_to(at, "a.h5", "c.h5", "-f", "scaleoffset=12")) as file:
        reasons.equal("12 bits", file["i"][...].tolist(), list(range(0, 3000, 300)))


def attributes_that_do_not_fit(reasons, at):
    """An attribute that a format cannot represent is a loss of its own, and does not affect its object."""
    with h5py.File(at("a.h5"), "w", libver="latest") as file:
        file.attrs["huge"] = np.arange(20_000.0)
        file["d"] = 1
    convert_to(at, "a.h5", "b.h5", "-O", "hdf5.libver=earliest,v1.8", "--allow-loss", "attributes")
    with tiledb.from_numpy(at("a.tdb"), np.arange(10)):
        pass
    with tiledb.open(at("a.tdb"), "w") as array:
        array.meta["nothing"], array.meta["kept"] = b"", 5
    convert_to(at, "a.tdb", "c.h5", "--allow-loss", "attributes")
    with h5py.File(at("b.h5")) as first, h5py.File(at("c.h5")) as second:
        reasons.equal("huge", (list(first.attrs), first["d"][()]), ([], 1))
        reasons.expect(any(value[...].tolist() == list(range(10)) for value in second.values()), "no elements")


def separators_of_chunk_names(reasons, at):
    """Chunks keep their names, as OME-Zarr requires, or get the names that are requested."""
    for version, encoding in ((2, {"name": "v2", "separator": "/"}), (3, {"name": "default", "separator": "."})):
        group = zarr.open_group(at(f"{version}.zarr"), mode="w", zarr_format=version)
        group.create_array("a", shape=(4, 4), chunks=(2, 2), dtype="i4", chunk_key_encoding=encoding)[:] = 1
        convert_to(at, f"{version}.zarr", f"same{version}.zarr", "--format", f"zarr{version}")
        other = {"/": ".", ".": "/"}[encoding["separator"]]
        convert_to(at, f"{version}.zarr", f"other{version}.zarr", "--format", f"zarr{version}", "-O", f"zarr.separator={other}")
        for name, separator in ((f"same{version}", encoding["separator"]), (f"other{version}", other)):
            name_of_chunk = separator.join((["c"] if version == 3 else []) + ["1", "1"])
            reasons.expect(os.path.exists(at(f"{name}.zarr/a/{name_of_chunk}")), f"{name}: no chunk {name_of_chunk}")
            reasons.expect((zarr.open(at(f"{name}.zarr"))["a"][:] == 1).all(), f"{name}: other values")


def attributes_of_h5py(reasons, at):
    """Opaque attributes and strings with a NUL are in the report of a conversion to NetCDF, which xarray opens."""
    with h5py.File(at("a.h5"), "w") as file:
        file["x"] = np.arange(3)
        file["x"].attrs["opaque"], file["x"].attrs["nul"] = np.void(b"ab"), np.bytes_(b"a\0b")
    report = convert(tally, at("a.h5"), at("a.nc"), "--allow-loss", "types")
    reasons.expect("opaque bytes" in report and "NUL" in report, report)
    for engine in ("netcdf4", "h5netcdf"):
        reasons.equal(engine, opened(at("a.nc"), engine)["x"].attrs["opaque"].tolist(), [97, 98])


def booleans_in_tiledb(reasons, at):
    """Booleans of h5py are booleans in TileDB, and are restored."""
    with h5py.File(at("a.h5"), "w") as file:
        file["m"] = np.array([True, False])
    convert(tally, at("a.h5"), at("a.tdb"))
    with tiledb.open(at("a.tdb/m")) as array:
        reasons.equal("TileDB-Py", (array[:]["m"].dtype, array[:]["m"].tolist()), (np.dtype("?"), [True, False]))
    convert(tally, at("a.tdb"), at("b.h5"))
    with h5py.File(at("b.h5")) as file:
        reasons.equal("h5py", (file["m"].dtype, file["m"][...].tolist()), (np.dtype("?"), [True, False]))


def datetimes_in_hdf5(reasons, at):
    """Datetimes in HDF5 are datetimes for xarray."""
    times = np.array(["2000-01-01T06", "1969-12-31T23", "NaT"], "M8[s]")
    zarr.open_group(at("a.zarr"), mode="w").create_array("t", shape=3, dtype="M8[s]")[:] = times
    found = opened(convert_to(at, "a.zarr", "a.h5"), "h5netcdf")["t"].values
    reasons.expect(np.array_equal(found.astype("M8[s]"), times, equal_nan=True), str(found))


def convert_to(at, source, target, *options):
    """Converts, and returns the path of the target."""
    run = subprocess.run([sys.argv[1], "convert", "-q", at(source), at(target), *options], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{target}: {run.stdout}{run.stderr}")
    return at(target)


for by in (
    filters_of_h5py, booleans_of_h5py, complex_numbers_of_zarr, texts_in_classic_files, texts_in_tiledb, durations, bookkeeping_of_zarr,
    texts_that_are_not_unicode, order_of_dimensions, fill_values_that_are_undefined, filters_that_round, integers_in_few_bits,
    attributes_that_do_not_fit, separators_of_chunk_names, attributes_of_h5py, booleans_in_tiledb, datetimes_in_hdf5,
):
    case(by)
tally.close()
