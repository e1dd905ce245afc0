"""Several stores as one."""

from __future__ import annotations

import os
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dask
import netCDF4
import numpy as np
import pytest
import xarray
import zarr

import hyperslab
from hyperslab import virtual


def day(path: Path, number: int, *, format: str = "NETCDF4", chunks: tuple[int, ...] | None = None, title: str = "days") -> None:
    with netCDF4.Dataset(path, "w", format=format) as file:
        file.title = title
        file.createDimension("time", None if format == "NETCDF4" else 4)
        file.createDimension("x", 3)
        file.createVariable("time", "i4", ("time",))[:] = np.arange(4 * number, 4 * number + 4)
        file["time"].units = "hours since 2026-01-01"
        file.createVariable("x", "f8", ("x",))[:] = [1.0, 2.0, 3.0]
        t = file.createVariable("t", "f4", ("time", "x"), chunksizes=chunks, fill_value=-1.0)
        t[:] = np.arange(12 * number, 12 * number + 12).reshape(4, 3)
        t.coordinates, t.units = "x", "K"


@pytest.fixture
def days(tmp_path: Path) -> list[Path]:
    for number in range(20):
        day(tmp_path / f"day{number:02}.nc", number, chunks=(4, 3))
    return sorted(tmp_path.glob("day*.nc"))


def test_stores_are_read_as_one(days: list[Path]) -> None:
    joined = hyperslab.open_joined(days, along="time")
    assert joined["t"].shape == (80, 3) and joined["x"].shape == (3,)
    assert joined["time"][:].tolist() == list(range(80))
    assert joined["t"][...].tolist() == np.arange(240).reshape(80, 3).tolist()
    assert joined["t"][3:9:2, 1].tolist() == [10, 16, 22]
    assert joined["t"].sel(time="2026-01-02", x=2.0).tolist() == [73.0 + 3 * hour for hour in range(24)]
    assert joined.attrs["title"] == "days" and joined.dims["time"].size == 80 and joined.warnings == []
    assert "day00.nc … " in repr(joined) and "day19.nc" in joined._repr_html_()
    pattern = str(days[0].parent / "day*.nc")
    assert hyperslab.open_joined(pattern, along="time")["t"] == joined["t"]
    assert hyperslab.open_joined(days, along="time") == joined != hyperslab.open_joined(days[:5])


def test_xarray_sees_what_open_mfdataset_sees(days: list[Path]) -> None:
    with xarray.open_mfdataset(days, engine="netcdf4", combine="nested", concat_dim="time", data_vars="minimal") as expected:
        joined = hyperslab.open_joined(days).to_xarray(chunks={})
        xarray.testing.assert_identical(joined.load(), expected.load())
    assert hyperslab.open_joined(days).to_xarray(chunks={})["t"].chunks == ((4,) * 20, (3,))


def test_each_file_without_chunks_is_one_of_dask(tmp_path: Path) -> None:
    for number in range(3):
        day(tmp_path / f"day{number}.nc", number, format="NETCDF3_CLASSIC")
    with hyperslab.open_joined(str(tmp_path / "*.nc"), along="time").to_xarray(chunks={}) as joined:
        assert joined["t"].chunks == ((4, 4, 4), (3,)) and joined["x"].chunks is None
        for scheduler in ("threads", "processes"):
            with dask.config.set(scheduler=scheduler):
                assert float(joined["t"].sum()) == sum(range(36))


def test_objects_are_pickled_and_used_by_threads(days: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(days[0].parent)
    joined = hyperslab.open_joined([path.name for path in days])
    again = pickle.loads(pickle.dumps(joined["t"]))
    monkeypatch.chdir("/")
    assert again[...].tolist() == np.arange(240).reshape(80, 3).tolist()
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda at: again[at % 80].tolist(), range(800)))
    assert rows == [[3.0 * (at % 80) + x for x in range(3)] for at in range(800)]
    pickled = pickle.dumps(again)
    os.utime(days[7], (1, 1))
    with pytest.raises(OSError, match="was replaced since it was opened"):
        pickle.loads(pickled)
    with pytest.raises(OSError, match="was replaced since it was opened"):
        hyperslab.convert(joined, days[0].parent / "all.nc")


def test_verbs_take_joined_stores(days: list[Path], tmp_path: Path) -> None:
    joined = hyperslab.open_joined(days)
    hyperslab.convert(joined, tmp_path / "all.zarr")
    assert np.array_equal(zarr.open_group(tmp_path / "all.zarr", mode="r")["t"][...], joined["t"][...])  # type: ignore[index]
    hyperslab.concat(str(days[0].parent / "day*.nc"), tmp_path / "all.nc")
    assert not hyperslab.diff(joined, tmp_path / "all.nc")
    assert "80" in hyperslab.describe(joined) and hyperslab.digest(joined)
    with pytest.raises(hyperslab.ArgumentError, match="each is checked by itself"):
        hyperslab.check(joined)
    with pytest.raises(hyperslab.ArgumentError, match="has no path"):
        hyperslab.concat([joined], tmp_path / "again.nc")


def test_a_joined_store_is_one_of_zarr(days: list[Path]) -> None:
    from hyperslab.zarr import ZarrStore

    group = zarr.open_group(ZarrStore(hyperslab.open_joined(days)), mode="r")
    assert group["t"][...].tolist() == np.arange(240).reshape(80, 3).tolist()  # type: ignore[index, union-attr]


def test_chunks_of_joined_stores_are_byte_ranges_of_their_files(days: list[Path]) -> None:
    joined = hyperslab.open_joined(days)
    table = joined["t"].chunk_table()
    assert table.index[:, 0].tolist() == list(range(20)) and table.file == [str(path) for path in days]
    for row in (0, 7, 19):
        with open(days[row], "rb") as file:
            file.seek(int(table.offset[row]))
            assert file.read(int(table.length[row])) == joined["t"][4 * row : 4 * row + 4].tobytes()
    refs = virtual.references(joined)["refs"]
    assert refs["t/7.0"] == [f"file://{days[7]}", int(table.offset[7]), 48]
    at = virtual.references(joined, url="https://example.org/data/")["refs"]
    assert at["t/7.0"][0] == "https://example.org/data/day07.nc"
    with xarray.open_dataset(virtual.references(joined), engine="kerchunk", chunks={}) as found:  # type: ignore[arg-type]
        assert found["t"].values.tolist() == joined["t"][...].tolist()
        assert found["time"].values[-1] == np.datetime64("2026-01-04T07")


def test_chunks_in_other_places_are_none_of_one_grid(days: list[Path]) -> None:
    day(days[3], 3, chunks=(2, 3))
    joined = hyperslab.open_joined(days)
    with pytest.raises(ValueError, match="its elements are those of other arrays"):
        joined["t"].chunk_table()
    # What is small is inlined.
    refs = virtual.references(joined)
    with xarray.open_dataset(refs, engine="kerchunk", chunks={}) as found:  # type: ignore[arg-type]
        assert found["t"].values.tolist() == joined["t"][...].tolist()


def test_joined_zarr_stores_have_references(days: list[Path], tmp_path: Path) -> None:
    for number, path in enumerate(days[:3]):
        hyperslab.convert(path, tmp_path / f"z{number}.zarr")
        hyperslab.convert(path, tmp_path / f"z{number}.zarr.zip")
    joined = hyperslab.open_joined(str(tmp_path / "z*.zarr"), along="time")
    assert joined["t"].chunk_table().file[1] == str(tmp_path / "z1.zarr" / "t" / "c" / "0" / "0")
    refs = virtual.references(joined, url="s3://bucket")["refs"]
    assert refs["t/1.0"][0] == "s3://bucket/z1.zarr/t/c/0/0"
    zipped = hyperslab.open_joined(str(tmp_path / "z*.zip"), along="time")
    with pytest.raises(ValueError, match="those of other arrays"):
        zipped["t"].chunk_table()
    for of in (joined, zipped):
        with xarray.open_dataset(virtual.references(of), engine="kerchunk", chunks={}) as found:  # type: ignore[arg-type]
            assert found["t"].values.tolist() == np.arange(36).reshape(12, 3).tolist()


def test_what_differs_is_told_or_refused(days: list[Path]) -> None:
    day(days[3], 3, title="others", chunks=(2, 3))
    with pytest.warns(hyperslab.JoinWarning, match="are missing") as told:
        joined = hyperslab.open_joined([*days[:6], *days[8:]])
    assert len(told) == 1 and told[0].filename == __file__
    assert any("title" in warning for warning in joined.warnings), joined.warnings
    assert joined["t"][12:16].tolist() == np.arange(36, 48).reshape(4, 3).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hyperslab.open_joined(reversed(days), sort=True)["time"][...].tolist() == list(range(80))
    with pytest.raises(hyperslab.ArgumentError, match="begins at"):
        hyperslab.open_joined(reversed(days))
    with netCDF4.Dataset(days[2], "a") as file:
        file["t"].units = "degC"
    with pytest.raises(hyperslab.ArgumentError, match="units"):
        hyperslab.open_joined(days)


def test_arguments_are_looked_at(days: list[Path]) -> None:
    with pytest.raises(hyperslab.ArgumentError, match="no stores"):
        hyperslab.open_joined([])
    with pytest.raises(TypeError, match="no option tolerance"):
        hyperslab.open_joined(days, tolerance=1)
    with pytest.raises(FileNotFoundError):
        hyperslab.open_joined("/nowhere/*.nc")
    with pytest.raises(hyperslab.NoObjectError):
        hyperslab.open_joined(days, "/t")
    with pytest.raises(TypeError, match="open_joined opens several"):
        hyperslab.open(days)
    with pytest.raises(TypeError, match="open_joined opens several"):
        xarray.open_dataset([str(path) for path in days], engine="hyperslab")  # type: ignore[arg-type]
