"""Encodings that are requested are followed or raise an error. None is silently ignored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import xarray as xr
import zarr
from hyperslab.xarray import write

TARGETS = ["t.nc", "t.zarr"]


def dataset(values: Any, lazy: bool) -> xr.Dataset:
    made = xr.Dataset({"t": ("x", np.asarray(values))})
    return made.chunk(x=2) if lazy else made


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize(
    ("values", "encoding"),
    [
        ([1000.0, np.nan, -3.0], {"dtype": "i2", "scale_factor": 0.01, "_FillValue": -9}),
        ([0.0, -1.0], {"dtype": "u1", "add_offset": 0.0}),
        ([np.inf, 1.0], {"dtype": "i4", "scale_factor": 1.0, "_FillValue": -9}),
        ([300, 0], {"dtype": "i1"}),
        ([200, -1], {"dtype": "i1", "_Unsigned": "true"}),
    ],
)
def test_numbers_that_do_not_fit_are_an_error(tmp_path: Path, name: str, lazy: bool, values: Any, encoding: dict[str, Any]) -> None:
    encoding = dict(encoding)
    source = dataset(values, lazy)
    if unsigned := encoding.pop("_Unsigned", None):
        source["t"].attrs["_Unsigned"] = unsigned
    with pytest.raises(ValueError, match="t: values from .* cannot be stored as"):
        write(source, tmp_path / name, encoding={"t": encoding})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize(
    ("values", "encoding"),
    [
        ([327.67, np.nan, -327.67], {"dtype": "i2", "scale_factor": 0.01, "_FillValue": -32768}),
        ([-10.0, 245.0], {"dtype": "u1", "add_offset": -10.0}),
        ([np.nan, np.nan], {"dtype": "i2", "scale_factor": 2.0, "_FillValue": -1}),
        ([-128, 127], {"dtype": "i1"}),
    ],
)
def test_numbers_that_fit(tmp_path: Path, name: str, lazy: bool, values: Any, encoding: dict[str, Any]) -> None:
    write(dataset(values, lazy), tmp_path / name, encoding={"t": encoding})
    options = {"consolidated": False} if name.endswith(".zarr") else {}
    with xr.open_dataset(tmp_path / name, engine="zarr" if options else "netcdf4", **options) as found:
        np.testing.assert_allclose(found["t"].values, values)
        assert found["t"].encoding["dtype"] == np.dtype(encoding["dtype"])


@pytest.mark.parametrize(
    ("name", "lazy", "encoding", "said"),
    [
        ("t.nc", False, {"shards": (4,), "chunks": (2,)}, "only Zarr supports shards"),
        ("t.nc", False, {"chunksizes": (2, 2)}, "has length 2, expected 1, one for each dimension"),
        ("t.nc", True, {"contiguous": True}, "Dask"),
        ("t.zarr", False, {"shards": (4,)}, "without chunks"),
        ("t.zarr", False, {"shards": (4, 4), "chunks": (2,)}, "has length 2, expected 1, one for each dimension"),
        ("t.zarr", False, {"shards": (3,), "chunks": (2,)}, "not multiples"),
        ("t.zarr", False, {"serializer": {"name": "bytes", "configuration": {"endian": "big"}}}, "serializer"),
        ("t.nc", False, {"compression": "blosc_lz4", "blosc_shuffle": 3}, "blosc_shuffle=3"),
    ],
)
def test_encodings_that_mean_nothing(tmp_path: Path, name: str, lazy: bool, encoding: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        write(dataset(np.arange(4.0), lazy), tmp_path / name, encoding={"t": encoding})


def test_chunks_of_whole_dimensions(tmp_path: Path) -> None:
    write(dataset(np.arange(4.0), False), tmp_path / "t.zarr", encoding={"t": {"chunks": -1}})
    assert zarr.open_group(tmp_path / "t.zarr", mode="r")["t"].chunks == (4,)


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ({}, ["zstd"]),
        ({"compressors": "auto"}, ["zstd"]),
        ({"compressors": None}, []),
        ({"compressors": ()}, []),
        ({"compressors": {"name": "gzip", "configuration": {"level": 5}}}, ["gzip"]),
        ({"compressors": [numcodecs.Zstd(level=2)]}, ["zstd"]),
        ({"zlib": True, "complevel": 1}, ["blosc"]),
    ],
)
def test_stores_of_zarr_are_compressed_as_zarr_does(tmp_path: Path, encoding: dict[str, Any], expected: list[str]) -> None:
    write(dataset(np.arange(4.0), False), tmp_path / "t.zarr", encoding={"t": encoding})
    array = zarr.open_group(tmp_path / "t.zarr", mode="r")["t"]
    named = [codec.to_dict()["name"] for codec in (*array.filters, *array.compressors)]
    assert named == expected
    if not encoding:
        dataset(np.arange(4.0), False).to_zarr(tmp_path / "theirs.zarr")
        assert array.compressors == zarr.open_group(tmp_path / "theirs.zarr", mode="r")["t"].compressors


def test_an_array_is_written_by_its_accessor(tmp_path: Path) -> None:
    source = xr.DataArray(np.arange(3), dims="x", name="t")
    source.hyperslab.write(tmp_path / "t.nc")
    xr.testing.assert_identical(xr.open_dataarray(tmp_path / "t.nc", engine="netcdf4").load(), source)


def test_the_home_of_a_user_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write(dataset([1.0], False), "~/t.nc")
    assert (tmp_path / "t.nc").exists()


def test_characters_have_the_first_character_of_a_fill_value(tmp_path: Path) -> None:
    data = xr.Dataset({"s": ("x", np.array([b"ab", b"cd"]))})
    data["s"].encoding.update(_FillValue=b"-9999", dtype="S1")
    with pytest.warns(UserWarning, match="becomes b'-'"):
        write(data, tmp_path / "own.nc")
    data.to_netcdf(tmp_path / "theirs.nc", engine="netcdf4")
    own, theirs = (xr.open_dataset(tmp_path / name, engine="netcdf4") for name in ("own.nc", "theirs.nc"))
    xr.testing.assert_identical(own, theirs)
    assert own["s"].encoding["_FillValue"] == theirs["s"].encoding["_FillValue"] == b"-"


TIMES: list[tuple[Any, dict[str, Any]]] = [
    (np.array(["2000-01-01", "2200-01-01"], "M8[s]"), {"dtype": "i4", "units": "seconds since 2000-01-01"}),
    (np.array(["1999-01-01", "2000-01-01"], "M8[s]"), {"dtype": "u4", "units": "days since 2000-01-01"}),
    (np.array([0, 10**10], "m8[s]"), {"dtype": "i4", "units": "seconds"}),
    (xr.date_range("2000-01-01", periods=2, freq="200YS", calendar="noleap", use_cftime=True).values, {"dtype": "i2", "units": "days since 2000-01-01"}),
]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", [*TARGETS, "t.h5", "t.tdb"])
@pytest.mark.parametrize(("values", "encoding"), TIMES, ids=["dates", "unsigned", "durations", "cftime"])
def test_times_that_do_not_fit_are_an_error(tmp_path: Path, name: str, lazy: bool, values: Any, encoding: dict[str, Any]) -> None:
    with pytest.raises((ValueError, OverflowError)):
        write(dataset(values, lazy), tmp_path / name, encoding={"t": encoding})
    assert not list(tmp_path.iterdir())


def test_times_of_a_file_that_grew_out_of_its_integers_are_an_error(tmp_path: Path) -> None:
    dates = np.array(["2000-01-01", "2001-01-01"], "M8[s]")
    dataset(dates, False).to_netcdf(tmp_path / "a.nc", encoding={"t": {"dtype": "i4", "units": "seconds since 2000-01-01"}})
    with xr.open_dataset(tmp_path / "a.nc", engine="hyperslab") as found:
        write(found, tmp_path / "b.nc")
        found["t"][1] = np.datetime64("2100-01-01", "ns")
        with pytest.raises(ValueError, match="t: times from 0 to 3155760000 'seconds since 2000-01-01' cannot be stored as int32"):
            write(found, tmp_path / "c.nc")


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", TARGETS)
def test_missing_numbers_need_a_fill_value(tmp_path: Path, name: str, lazy: bool) -> None:
    with pytest.raises(ValueError, match="t: missing values stored as int32 need a _FillValue"):
        write(dataset([1.0, np.nan], lazy), tmp_path / name, encoding={"t": {"dtype": "i4"}})


@pytest.mark.parametrize("name", ["t.nc", "t.h5"])
@pytest.mark.parametrize("compression", ["zstd", "bzip2"])
def test_filters_are_the_same_however_values_come(tmp_path: Path, name: str, compression: str) -> None:
    import h5py

    found = []
    for lazy in (False, True):
        write(dataset(np.arange(200.0), lazy).chunk(x=100) if lazy else dataset(np.arange(200.0), lazy), tmp_path / name,
              encoding={"t": {"compression": compression, "chunksizes": (100,)}}, overwrite=True)  # fmt: skip
        with h5py.File(tmp_path / name) as file:
            plist = file["t"].id.get_create_plist()
            found.append([plist.get_filter(at)[0] for at in range(plist.get_nfilters())])
    assert found[0] == found[1] == [{"zstd": 32015, "bzip2": 307}[compression]]


@pytest.mark.parametrize("engine", ["h5netcdf", "hyperslab"])
def test_filters_of_h5py_become_those_that_netcdf_reads(tmp_path: Path, engine: str) -> None:
    netcdf4 = pytest.importorskip("netCDF4")
    source = dataset(np.arange(200.0), False)
    source.to_netcdf(tmp_path / "a.nc", engine="h5netcdf", encoding={"t": {"compression": "lzf", "chunksizes": (50,)}})
    with xr.open_dataset(tmp_path / "a.nc", engine=engine) as found:
        write(found, tmp_path / "b.nc")
    with netcdf4.Dataset(tmp_path / "b.nc") as file:
        np.testing.assert_array_equal(file["t"][:], np.arange(200.0))
        assert file["t"].filters()["zlib"] and file["t"].filters()["shuffle"]


def test_filters_that_an_engine_has_no_name_for_are_replaced(tmp_path: Path) -> None:
    source = dataset(np.arange(200.0), False)
    source["t"].encoding = {"compression": "unknown", "compression_opts": None, "source": "a.nc"}
    write(source, tmp_path / "b.nc")
    with xr.open_dataset(tmp_path / "b.nc", engine="netcdf4") as found:
        assert found["t"].encoding["zlib"]
    with pytest.raises(ValueError, match="compression 'unknown', expected one of"):
        write(source, tmp_path / "c.nc", encoding={"t": {"compression": "unknown"}})
