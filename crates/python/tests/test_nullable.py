"""Nullable values, in everything that shows them to xarray."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import hyperslab
import numpy as np
import pytest

xarray = pytest.importorskip("xarray")

# 255 is a valid value here, but usually marks a missing one. As a float, the count of nanoseconds would not be exact.
TEXT = """
dimcoords:
  x: {size: 4}
ndarrays:
  quality: {shape: [x], type: {nullable: {base: uint8}}, value: [255, null, 2, 3]}
  good: {shape: [x], type: {nullable: {base: bool}}, value: [true, null, false, true]}
  at: {shape: [x], type: {nullable: {base: {datetime: {unit: ns}}}}, value: ['2024-01-01T00:00:00.000000001', null, '2024-01-02', '2024-01-03']}
"""


@pytest.fixture(params=["nullable.tdb", "nullable.nc", "nullable.zarr", "nullable.h5"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    document = tmp_path / "nullable.yaml"
    document.write_text(TEXT)
    hyperslab.create(document, tmp_path / "first.tdb")
    hyperslab.convert(tmp_path / "first.tdb", tmp_path / request.param, allow_loss="all")
    return tmp_path / request.param


def check(dataset: Any) -> None:
    np.testing.assert_array_equal(dataset["quality"].values, [255, np.nan, 2, 3])
    good = dataset["good"].values
    assert [bool(good[at]) for at in (0, 2, 3)] == [True, False, True]
    assert dataset["good"].isnull().values.tolist() == [False, True, False, False]
    if "at" in dataset and (at := dataset["at"].values).dtype.kind == "M":
        assert np.isnat(at).tolist() == [False, True, False, False]
        assert at[0] == np.datetime64("2024-01-01T00:00:00.000000001")


def test_the_engine_shows_what_is_missing(store: Path) -> None:
    # HDF5 has no times, and xarray has no integers with missing values.
    left_out = ["at"] if store.suffix == ".h5" else []
    check(hyperslab.open(store).to_xarray(drop_variables=left_out).load())


def test_a_zarr_store_shows_what_is_missing(store: Path) -> None:
    pytest.importorskip("zarr")
    from hyperslab.zarr import ZarrStore

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(xarray.open_zarr(ZarrStore(store), consolidated=False).load())


# Chunks of Zarr are separate files.
@pytest.mark.parametrize("store", ["nullable.tdb", "nullable.nc", "nullable.h5"], indirect=True)
def test_references_show_what_is_missing(store: Path) -> None:
    pytest.importorskip("kerchunk")
    from hyperslab.virtual import references

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(xarray.open_dataset(references(store), engine="kerchunk").load())


def test_references_show_no_element_as_missing_where_a_chunk_was_never_written(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("kerchunk")
    from hyperslab.virtual import references

    path = tmp_path / "gaps.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("i", (4,), dtype="i2", chunks=(2,))[:2] = [0, 5]
        file.create_dataset("many", (4000,), dtype="i2", chunks=(2,))[:2] = [0, 5]
    with pytest.warns(hyperslab.LeftOutWarning, match=r"never written.* many \(0\)"):
        of = references(path, inline=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = xarray.open_dataset(of, engine="kerchunk").load()
    assert found["i"].dtype == np.dtype("i2") and found["i"].values.tolist() == [0, 5, 0, 0]


@pytest.mark.parametrize("name", ["t.nc", "t.h5", "t.zarr", "t.tdb"])
def test_nulls_of_the_engine_are_missing_in_what_is_written(examples: Path, tmp_path: Path, name: str) -> None:
    from hyperslab.xarray import write

    with xarray.open_dataset(examples / "survey.tdb", engine="hyperslab", group="temperature") as found:
        expected = found["quality"].values
        assert np.isnan(expected).any()
        write(found, tmp_path / name, allow_loss="all")
    engine = {"t.nc": "netcdf4", "t.h5": "h5netcdf", "t.zarr": "zarr"}.get(name, "hyperslab")
    with xarray.open_dataset(tmp_path / name, engine=engine) as found:
        np.testing.assert_array_equal(found["quality"].values, expected)
