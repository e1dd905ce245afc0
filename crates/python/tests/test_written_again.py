"""Datasets that are written and opened again, as judged by xarray's own engines: nothing is silently lost or changed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import hyperslab
import netCDF4
import numpy as np
import pytest
import xarray as xr
import zarr
from hyperslab.xarray import write

TIMES = np.array(["2000-01-01T03", "2001-01-01"], "M8[ns]")
DURATIONS = np.array([3600 * 10**9, 7], "m8[ns]")
TEXTS = np.array(["ab", "ümläut", "", "c"], dtype=object)
CLASSIC = ["netcdf3", "netcdf3-64bit-offset", "netcdf3-64bit-data", "netcdf4-classic"]
TARGETS = ["o.nc", "o.h5", "o.zarr", "o.tdb"]


def read(path: Path, **options: Any) -> xr.Dataset:
    """A store as xarray's own engines read it; TileDB and HDF5 as ours does."""
    engine = {".nc": "netcdf4", ".cdf": "netcdf4", ".zarr": "zarr"}.get(path.suffix, "hyperslab")
    if engine == "zarr":
        options.setdefault("consolidated", False)
    with xr.open_dataset(path, engine=engine, **options) as opened:
        return opened.load()


@pytest.fixture
def native(tmp_path: Path) -> Callable[[str], Path]:
    """Stores with times that are not counts: n.zarr and n.tdb."""
    group = zarr.open_group(tmp_path / "n.zarr", mode="w")
    for name, values in [("t", TIMES), ("lead", DURATIONS)]:
        group.create_array(name, shape=(2,), dtype=values.dtype, dimension_names=["x"])[:] = values
    hyperslab.convert(tmp_path / "n.zarr", tmp_path / "n.tdb")
    return lambda name: tmp_path / name


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize(("source", "engine"), [("n.tdb", "hyperslab"), ("n.zarr", "hyperslab"), ("n.zarr", "zarr")])
def test_times_that_are_no_counts_are_written_again(
    tmp_path: Path, native: Callable[[str], Path], source: str, engine: str, name: str
) -> None:
    opened = xr.open_dataset(native(source), engine=engine, **({"consolidated": False} if engine == "zarr" else {}))
    assert "dtype" not in opened["t"].encoding
    write(opened, tmp_path / name)
    found = read(tmp_path / name)
    np.testing.assert_array_equal(found["t"].values, TIMES)
    np.testing.assert_array_equal(found["lead"].values, DURATIONS)


def test_writers_of_xarray_take_what_was_opened(tmp_path: Path, native: Callable[[str], Path]) -> None:
    opened = xr.open_dataset(native("n.tdb"), engine="hyperslab")
    opened.to_netcdf(tmp_path / "t.nc")
    opened.to_zarr(tmp_path / "t.zarr", consolidated=False)
    for name in ("t.nc", "t.zarr"):
        xr.testing.assert_equal(read(tmp_path / name), opened)


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("dtype", ["timedelta64[ns]", np.dtype("m8[s]"), "M8[ns]"])
def test_dtypes_of_times_are_left_to_their_counts(tmp_path: Path, name: str, dtype: Any) -> None:
    source = xr.Dataset({"lead": ("x", np.array([1, 2, 36], "m8[h]").astype("m8[ns]"))})
    write(source, tmp_path / name, encoding={"lead": {"dtype": dtype}})
    xr.testing.assert_equal(read(tmp_path / name), source)


def test_dtypes_of_times_are_for_times(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="z: dtype='M8.ns.' for values of dtype int64, expected times"):
        write(xr.Dataset({"z": ("x", [1])}), tmp_path / "o.nc", encoding={"z": {"dtype": "M8[ns]"}})


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("format", [*CLASSIC, "NETCDF3_CLASSIC", "NETCDF3_64BIT", "NETCDF3_64BIT_DATA", "NETCDF4_CLASSIC"])
@pytest.mark.filterwarnings("ignore:variable . has data in the form of a dask array")
def test_texts_of_classic_formats_are_texts_again(tmp_path: Path, format: str, lazy: bool) -> None:
    source = xr.Dataset({"s": ("x", TEXTS), "u": ("x", np.array(list("abcd")))}, coords={"x": list("klmn")})
    write(source.chunk(x=2) if lazy else source, tmp_path / "s.nc", format=format)
    source.to_netcdf(tmp_path / "theirs.nc", format="NETCDF3_CLASSIC")
    xr.testing.assert_identical(read(tmp_path / "s.nc"), source)
    with netCDF4.Dataset(tmp_path / "s.nc") as own, netCDF4.Dataset(tmp_path / "theirs.nc") as theirs:
        assert {name: of.dimensions for name, of in own.variables.items()} == {
            name: of.dimensions for name, of in theirs.variables.items()
        }
        assert own["s"].getncattr("_Encoding") == "utf-8"


@pytest.mark.parametrize(("format", "model"), [("NETCDF4", "NETCDF4"), ("NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_OFFSET")])
def test_formats_have_the_names_of_xarray(tmp_path: Path, format: str, model: str) -> None:
    write(xr.Dataset({"z": ("x", [1.0])}), tmp_path / "o.nc", format=format)
    with netCDF4.Dataset(tmp_path / "o.nc") as opened:
        assert opened.data_model == model


def test_nulls_are_attributes_of_zarr(tmp_path: Path) -> None:
    source = xr.Dataset({"z": ("x", [1.0], {"of": None})}, attrs={"parent": None, "k": 1})
    write(source, tmp_path / "n.zarr")
    found = read(tmp_path / "n.zarr")
    assert found.attrs == source.attrs
    assert found["z"].attrs == source["z"].attrs


@pytest.mark.parametrize("name", ["o.nc", "o.cdf", "o.h5", "o.tdb"])
def test_nulls_are_refused_where_nothing_holds_them(tmp_path: Path, name: str) -> None:
    with pytest.raises(TypeError, match="'parent': None"):
        write(xr.Dataset(attrs={"parent": None}), tmp_path / name)


@pytest.mark.parametrize("name", ["o.nc", "o.cdf", "o.zarr"])
@pytest.mark.parametrize("value", [np.datetime64("2000-01-01", "ns"), np.timedelta64(5, "s"), TIMES, [np.datetime64("2000", "s")]])
def test_times_are_no_attributes_of_netcdf_and_zarr(tmp_path: Path, name: str, value: Any) -> None:
    with pytest.raises(TypeError, match="attr 'when' of z: (?s:.*) has no time attributes"):
        write(xr.Dataset({"z": ("x", [1.0], {"when": value})}), tmp_path / name)


def test_times_are_attributes_of_tiledb(tmp_path: Path) -> None:
    write(xr.Dataset({"z": ("x", [1.0])}, attrs={"when": TIMES[0], "all": TIMES}), tmp_path / "o.tdb")
    found = read(tmp_path / "o.tdb").attrs
    assert found["when"] == TIMES[0]
    np.testing.assert_array_equal(found["all"], TIMES)


@pytest.mark.parametrize("value", ["a\0b", "a\0", ["a\0b", "c"], np.array(["a\0b"], dtype=object)])
def test_texts_with_nulls_are_not_cut(tmp_path: Path, value: Any) -> None:
    source = xr.Dataset({"z": ("x", [1.0])}, attrs={"a": value})
    for name in ("o.nc", "o.cdf"):
        with pytest.raises(ValueError, match="attr 'a' of the dataset: .* Null characters"):
            write(source, tmp_path / name)
    write(source, tmp_path / "o.zarr")
    assert list(read(tmp_path / "o.zarr").attrs["a"]) == list(value)


@pytest.fixture
def days(tmp_path: Path) -> Iterator[xr.Dataset]:
    """A file with one chunk for each day, opened with netCDF4."""
    made = xr.Dataset({"tas": (("time", "lat", "lon"), np.arange(24.0 * 8 * 16).reshape(24, 8, 16))})
    made.to_netcdf(tmp_path / "days.nc", encoding={"tas": {"chunksizes": (1, 8, 16)}}, unlimited_dims=["time"])
    with xr.open_dataset(tmp_path / "days.nc", engine="netcdf4", chunks={}) as opened:
        yield opened


@pytest.mark.parametrize("chunks", [{"time": 12}, {"lat": 3}, {"time": 5}])
def test_zarr_has_the_chunks_of_dask(tmp_path: Path, days: xr.Dataset, chunks: dict[str, int]) -> None:
    days["tas"] = days["tas"].chunk(chunks)
    write(days, tmp_path / "own.zarr")
    days.to_zarr(tmp_path / "theirs.zarr", consolidated=False)
    own, theirs = (zarr.open_group(tmp_path / name, mode="r")["tas"] for name in ("own.zarr", "theirs.zarr"))
    assert own.chunks == theirs.chunks
    xr.testing.assert_equal(read(tmp_path / "own.zarr"), days)
    write(days, tmp_path / "own.nc")
    assert hyperslab.open(tmp_path / "own.nc")["tas"].chunks == (1, 8, 16)
    xr.testing.assert_equal(read(tmp_path / "own.nc"), days)


def test_chunks_that_are_asked_for_come_before_those_of_dask(tmp_path: Path, days: xr.Dataset) -> None:
    days["tas"] = days["tas"].chunk(time=12)
    write(days, tmp_path / "own.zarr", encoding={"tas": {"chunksizes": (4, 8, 16)}})
    assert zarr.open_group(tmp_path / "own.zarr", mode="r")["tas"].chunks == (4, 8, 16)


@pytest.mark.parametrize("name", ["u2.nc", "u2.zarr"])
@pytest.mark.parametrize("decode", [False, True])
@pytest.mark.parametrize("fill", [None, -7])
def test_signs_that_an_attribute_tells(tmp_path: Path, name: str, decode: bool, fill: int | None) -> None:
    with netCDF4.Dataset(tmp_path / "u.nc", "w") as made:
        made.createDimension("x", 3)
        variable = made.createVariable("v", "i1", ("x",), fill_value=fill)
        variable.set_auto_maskandscale(False)
        variable[:] = np.array([-1, 5, -7], "i1")
        variable.setncattr("_Unsigned", "true")
    with xr.open_dataset(tmp_path / "u.nc", engine="netcdf4", decode_cf=decode) as source:
        write(source, tmp_path / name)
        xr.testing.assert_identical(read(tmp_path / name, decode_cf=decode), source.load())
        xr.testing.assert_identical(read(tmp_path / name), read(tmp_path / "u.nc"))


@pytest.mark.parametrize("name", ["u.nc", "u.zarr"])
def test_numbers_of_another_sign_are_an_error(tmp_path: Path, name: str) -> None:
    source = xr.Dataset({"v": ("x", np.array([-1, 5], "i1"))})
    source["v"].encoding.update(dtype="i1", _Unsigned="true")
    with pytest.raises(ValueError, match="v: values from -1 to 5 cannot be stored as uint8"):
        write(source, tmp_path / name)


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ({"zlib": True, "complevel": 20}, "complevel=20, expected a level of deflate from 0 to 9"),
        ({"zlib": True, "complevel": -1}, "complevel=-1, expected a level of deflate from 0 to 9"),
        ({"zlib": True, "complevel": 4.5}, "complevel=4.5, expected a level of deflate from 0 to 9"),
        ({"compression": "gzip", "compression_opts": 11}, "compression_opts=11, expected a level of deflate from 0 to 9"),
        ({"compression": "zstd", "complevel": 99}, "complevel=99, expected a level of zstd from -131072 to 22"),
        ({"compression": "bzip2", "complevel": 0}, "complevel=0, expected a level of bzip2 from 1 to 9"),
        ({"compression": "blosc_lz4", "complevel": 10}, "complevel=10, expected a level of blosc from 0 to 9"),
        ({"compression": "szip", "szip_pixels_per_block": 7}, "szip_pixels_per_block=7, expected an even number from 2 to 32"),
        ({"filters": [{"deflate": 20}]}, "filters=.* expected a level of deflate from 0 to 9"),
        ({"filters": ["shuffle", {"zstd": {"level": 30}}]}, "filters=.* expected a level of zstd from -131072 to 22"),
        ({"compressors": {"name": "gzip", "configuration": {"level": 20}}}, "compressors=.* expected a level"),
        ({"contiguous": True, "zlib": True}, "contiguous=True conflicts with zlib=True, which needs chunks"),
        ({"contiguous": True, "chunksizes": (2, 2)}, "contiguous=True conflicts with chunksizes=.2, 2., which needs chunks"),
        ({"chunksizes": (-1, 3)}, "chunksizes=.-1, 3. has -1 along 'y', expected from 1 to 4"),
        ({"chunksizes": (4, 0)}, "chunksizes=.4, 0. has 0 along 'x', expected from 1 to 6"),
        ({"chunksizes": (4, 7)}, "chunksizes=.4, 7. has 7 along 'x', expected from 1 to 6"),
        ({"chunks": (-2, 3)}, "chunks=.-2, 3. has -2 along 'y'"),
        ({"endian": "middle"}, "endian='middle', expected one of 'big', 'little', 'native'"),
        ({"endian": "little", "dtype": ">f4"}, "endian='little' conflicts with dtype='>f4', expected the same byte order"),
        ({"significant_digits": 3, "quantize_mode": "BitRound"}, "'quantize_mode'.* least_significant_digit"),
        ({"_FillValue": "x"}, "_FillValue='x', expected a number that fits float64"),
        ({"dtype": "i1", "_FillValue": 300}, "_FillValue=300, expected a number that fits int8"),
    ],
)
def test_encodings_that_cannot_be_followed(tmp_path: Path, encoding: dict[str, Any], said: str) -> None:
    source = xr.Dataset({"z": (("y", "x"), np.arange(24.0).reshape(4, 6))})
    with pytest.raises(ValueError, match=f"^z: .*{said}"):
        write(source, tmp_path / "o.nc", encoding={"z": encoding})
    assert not list(tmp_path.iterdir())


def test_dimensions_that_grow_are_not_contiguous(tmp_path: Path) -> None:
    source = xr.Dataset({"z": ("x", np.arange(6.0))})
    with pytest.raises(ValueError, match="z: contiguous=True conflicts with the unlimited dimension 'x'"):
        write(source, tmp_path / "o.nc", encoding={"z": {"contiguous": True}}, unlimited_dims=["x"])
    with pytest.raises(ValueError, match="z: contiguous=True, but Zarr always uses chunks"):
        write(source, tmp_path / "o.zarr", encoding={"z": {"contiguous": True}})
    write(source, tmp_path / "o.nc", encoding={"z": {"chunksizes": (100,)}}, unlimited_dims=["x"])
    assert hyperslab.open(tmp_path / "o.nc")["z"].chunks == (100,)


@pytest.mark.parametrize("encoding", [{"zlib": True, "complevel": 20}, {"contiguous": True, "chunksizes": (2,)}])
def test_encodings_that_were_read_are_followed_where_they_can_be(tmp_path: Path, encoding: dict[str, Any]) -> None:
    source = xr.Dataset({"z": ("x", np.arange(6.0))})
    source["z"].encoding = encoding
    write(source, tmp_path / "o.nc")
    xr.testing.assert_equal(read(tmp_path / "o.nc"), source)


@pytest.mark.parametrize("format", ["netcdf3", "netcdf3-64bit-data", "netcdf4-classic", "netcdf4"])
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("encoding", [{}, {"dtype": "i4", "_FillValue": -9, "units": "hours since 2000-01-01"}])
def test_times_that_are_missing(tmp_path: Path, format: str, lazy: bool, encoding: dict[str, Any]) -> None:
    source = xr.Dataset({"t": ("x", np.array(["2000-01-01", "NaT", "2000-01-01T06"], "M8[ns]"))})
    write(source.chunk(x=2) if lazy else source, tmp_path / "t.nc", format=format, encoding={"t": encoding} if encoding else None)
    found = read(tmp_path / "t.nc")
    xr.testing.assert_equal(found, source)
    if not (encoding or lazy) and format in ("netcdf3", "netcdf4-classic"):
        source.to_netcdf(tmp_path / "theirs.nc", format="NETCDF3_CLASSIC")
        theirs = read(tmp_path / "theirs.nc")["t"].encoding
        assert all(found["t"].encoding[key] == theirs[key] for key in ("dtype", "units", "calendar"))


def test_times_that_are_missing_are_not_the_epoch(tmp_path: Path) -> None:
    source = xr.Dataset({"t": ("x", np.array(["2000-01-01T00:00:00.123456789", "NaT"], "M8[ns]"))})
    with pytest.raises(ValueError, match="t: missing times stored as int32 need a _FillValue"):
        write(source, tmp_path / "t.nc", encoding={"t": {"dtype": "i4", "units": "hours since 2000-01-01"}})
    with pytest.raises(ValueError, match="t: times in 'nanoseconds since 1970-01-01', .* float64 cannot represent"):
        write(source, tmp_path / "t.nc", format="netcdf3", encoding={"t": {"units": "nanoseconds since 1970-01-01"}})


def test_options_of_formats(tmp_path: Path) -> None:
    source = xr.Dataset({"z": ("x", np.zeros(3, "i1,f4"))})
    write(source, tmp_path / "s.zarr", options={"zarr.struct": "legacy"})
    assert zarr.open_group(tmp_path / "s.zarr", mode="r")["z"].dtype == source["z"].dtype
    xr.Dataset({"z": ("x", [1.0])}).hyperslab.write(tmp_path / "s.h5", options={"hdf5": {"userblock": 512}})
    with h5py.File(tmp_path / "s.h5") as opened:
        assert opened.userblock_size == 512
    with pytest.raises(ValueError, match="zarr.struct"):
        write(source, tmp_path / "t.zarr", options={"zarr.struct": "unheard"})
    write(xr.Dataset({"z": ("x", [1.0])}).chunk(x=1), tmp_path / "t.h5", options={"hdf5.userblock": 512})
    with h5py.File(tmp_path / "t.h5") as opened:
        assert opened.userblock_size == 512


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [({"endian": "big"}, "big"), ({"endian": "little"}, "little"), ({"endian": "native"}, "little"), ({"dtype": ">i2"}, "big")],
)
def test_byte_orders(tmp_path: Path, encoding: dict[str, Any], expected: str) -> None:
    source = xr.Dataset({"z": ("x", np.arange(6, dtype="i2"))})
    write(source, tmp_path / "o.nc", encoding={"z": encoding})
    with netCDF4.Dataset(tmp_path / "o.nc") as opened:
        assert opened["z"].endian() == expected
    xr.testing.assert_equal(read(tmp_path / "o.nc"), source)


@pytest.mark.parametrize(
    "options",
    [
        {"lock": False},
        {"lock": None, "mode": "r", "clobber": True, "diskless": False, "persist": False, "autoclose": False},
        {"format": "NETCDF4", "auto_complex": None},
        {"decode_vlen_strings": True, "driver": None, "driver_kwds": None},
        {"backend_kwargs": {"lock": False}},
    ],
)
def test_options_of_other_engines(tmp_path: Path, options: dict[str, Any]) -> None:
    for number in (0, 1):
        part = xr.Dataset({"z": ("x", [1.0, 2.0])}, coords={"x": [2 * number, 2 * number + 1]})
        part.to_netcdf(tmp_path / f"{number}.nc")
    files = [os.fspath(tmp_path / name) for name in ("0.nc", "1.nc")]
    with xr.open_mfdataset(files, engine="hyperslab", **options) as opened:
        assert opened.sizes["x"] == 4
    assert xr.open_datatree(files[0], engine="hyperslab", **options).sizes["x"] == 2


@pytest.mark.parametrize(
    ("options", "error"),
    [({"mode": "a"}, ValueError), ({"diskless": True}, ValueError), ({"driver": "core"}, ValueError), ({"foo": 1}, TypeError)],
)
def test_options_that_would_mean_something(tmp_path: Path, options: dict[str, Any], error: type[Exception]) -> None:
    xr.Dataset({"z": ("x", [1.0])}).to_netcdf(tmp_path / "o.nc")
    for opener in (xr.open_dataset, xr.open_datatree):
        with pytest.raises(error, match=next(iter(options))):
            opener(tmp_path / "o.nc", engine="hyperslab", **options)


@pytest.mark.parametrize("version", [2, 3])
def test_chunks_are_those_that_are_stored(tmp_path: Path, version: Any) -> None:
    group = zarr.open_group(tmp_path / "c.zarr", mode="w", zarr_format=version)
    named: dict[str, Any] = {"attributes": {"_ARRAY_DIMENSIONS": ["x"]}} if version == 2 else {"dimension_names": ["x"]}
    group.create_array("t", shape=(6,), chunks=(100,), dtype="f4", **named)[:] = 1
    if version == 3:
        group.create_array("s", shape=(6,), chunks=(2,), shards=(100,), dtype="f4", **named)[:] = 1
    own = xr.open_dataset(tmp_path / "c.zarr", engine="hyperslab")
    theirs = xr.open_dataset(tmp_path / "c.zarr", engine="zarr", consolidated=False)
    for name in theirs:
        for key in ("chunks", "preferred_chunks", "shards"):
            assert own[name].encoding[key] == theirs[name].encoding[key]
    write(own, tmp_path / "again.zarr")
    assert zarr.open_group(tmp_path / "again.zarr", mode="r")["t"].chunks == (100,)


def test_attributes_are_named_in_errors(tmp_path: Path) -> None:
    for name in ("o.nc", "o.zarr"):
        with pytest.raises(TypeError, match=f"z: the attribute big is {2**70}, expected .* a number of at most 64 bits"):
            write(xr.Dataset({"z": ("x", [1.0], {"big": 2**70})}), tmp_path / name)


def test_warnings_are_those_of_the_program(tmp_path: Path) -> None:
    xr.Dataset({"t": ("x", TIMES), "lead": ("x", DURATIONS.astype("m8[s]"))}).to_netcdf(tmp_path / "t.nc")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        own = xr.open_dataset(tmp_path / "t.nc", engine="hyperslab", use_cftime=True)
        assert {Path(warning.filename) for warning in caught} == {Path(__file__)}
        assert [warning.category for warning in caught] == [FutureWarning]
        theirs = read(tmp_path / "t.nc", use_cftime=True)
    xr.testing.assert_identical(own.load(), theirs)


def test_what_is_written_and_where_it_is_written_to(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="cannot write dict, expected a Dataset, a DataArray or a DataTree"):
        write({"a": 1}, tmp_path / "x.nc")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="s3://b/x.nc is a URL"):
        write(xr.Dataset({"z": ("x", [1.0])}), "s3://b/x.nc")
    write(xr.Dataset({"z": ("x", [1.0])}), f"file://{tmp_path}/x.nc")
    assert (tmp_path / "x.nc").is_file()
