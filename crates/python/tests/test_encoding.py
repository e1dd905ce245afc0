"""Encodings that are asked for: followed, or an error. None is left out in silence."""

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
        ("t.nc", False, {"shards": (4,), "chunks": (2,)}, "only Zarr has shards"),
        ("t.nc", False, {"chunksizes": (2, 2)}, "for 1 dimensions"),
        ("t.nc", True, {"contiguous": True}, "Dask"),
        ("t.zarr", False, {"shards": (4,)}, "without chunks"),
        ("t.zarr", False, {"shards": (4, 4), "chunks": (2,)}, "for 1 dimensions"),
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
