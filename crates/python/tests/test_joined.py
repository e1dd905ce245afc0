"""Several stores opened as one."""

from __future__ import annotations

import os
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dask
import h5py
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


def test_datasets_without_scales_are_joined_by_position(tmp_path: Path) -> None:
    images, labels = np.arange(60, dtype="i2").reshape(10, 2, 3), np.arange(10, dtype="u1")
    for number, part in enumerate((slice(0, 4), slice(4, 10))):
        with h5py.File(tmp_path / f"run{number}.h5", "w") as file:
            file.create_dataset("images", data=images[part], chunks=(2, 2, 3), compression="gzip", maxshape=(None, 2, 3))
            file["labels"], file["classes"] = labels[part], [b"cat", b"dog"]
    pattern = str(tmp_path / "run*.h5")
    with pytest.raises(hyperslab.ArgumentError, match="along=0"):
        hyperslab.open_joined(pattern)
    with pytest.raises(hyperslab.ArgumentError, match="classes"):
        hyperslab.open_joined(pattern, along=0)
    joined = hyperslab.open_joined(pattern, "/{images,labels}", along=0)
    assert joined["images"][...].tolist() == images.tolist() and joined["labels"][3:6].tolist() == [3, 4, 5]
    again = pickle.loads(pickle.dumps(joined["images"]))
    assert again == joined["images"] and again[9, 1, 2] == 59
    assert joined.to_xarray(chunks={})["labels"].chunks == ((4, 6),)
    hyperslab.concat([pattern + ":/{images,labels}"], tmp_path / "all.h5", along=0, verify=True)
    with h5py.File(tmp_path / "all.h5") as file:
        assert set(file) == {"images", "labels"} and file["images"].maxshape == (None, 2, 3)
        assert (file["images"][...] == images).all() and (file["labels"][...] == labels).all()
        assert not any(file["images"].dims[at].keys() for at in range(3))
    with pytest.raises(hyperslab.NoObjectError, match="no array has a dimension 1"):
        hyperslab.open_joined(pattern, "/labels", along=1)


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
    with pytest.raises(hyperslab.ArgumentError, match="check each of them separately"):
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


def test_stored_bytes_of_a_replaced_file_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hyperslab.zarr import ZarrStore

    packed = [tmp_path / f"packed{number}.nc" for number in range(3)]
    for number, path in enumerate(packed):
        with netCDF4.Dataset(path, "w") as file:
            file.createDimension("time", None)
            file.createVariable("time", "i4", ("time",))[:] = [2 * number, 2 * number + 1]
            file.createVariable("t", "f4", ("time",), zlib=True, chunksizes=(2,))[:] = [0, 0]
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    store = ZarrStore(hyperslab.open_joined("../packed*.nc"), decoded=False)
    group = zarr.open_group(store, mode="r")
    assert group["t"][0] == 0  # type: ignore[index]
    os.utime(packed[2], (1, 1))
    with pytest.raises(OSError, match="packed2.nc was replaced since it was opened"):
        group["t"][...]  # type: ignore[index]


def test_chunks_in_other_places_are_none_of_one_grid(days: list[Path]) -> None:
    day(days[3], 3, chunks=(2, 3))
    joined = hyperslab.open_joined(days)
    with pytest.raises(ValueError, match="its elements are stored in other arrays"):
        joined["t"].chunk_table()
    # Small content is inlined.
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
    with pytest.raises(ValueError, match="stored in other arrays"):
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
    with pytest.raises(FileNotFoundError, match="nothing matches"):
        hyperslab.open_joined([str(days[0].parent / "none*.nc")])
    with pytest.raises(hyperslab.NoObjectError):
        hyperslab.open_joined(days, "/none")
    for wrong in ({"along": -1}, {"along": True}, {"along": ["time"]}, {"rtol": -1.0}, {"atol": float("nan")}):
        with pytest.raises(hyperslab.ArgumentError, match="expected"):
            hyperslab.open_joined(days, **wrong)  # type: ignore[arg-type]
    with pytest.raises(hyperslab.ArgumentError, match="is not a local path"):
        hyperslab.open_joined(["memory://a.nc", "memory://b.nc"])
    with pytest.raises(TypeError, match="cannot join bytes"):
        hyperslab.open_joined([b"CDF", b"CDF"])  # type: ignore[list-item]
    with pytest.raises(hyperslab.ArgumentError, match="use convert to write it"):
        hyperslab.concat(hyperslab.open_joined(days), days[0].parent / "all.nc")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="open_joined opens several"):
        hyperslab.open(days)
    with pytest.raises(TypeError, match="open_joined opens several"):
        xarray.open_dataset([str(path) for path in days], engine="hyperslab")  # type: ignore[arg-type]


def test_stores_are_given_in_many_ways(days: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = days[0].parent
    monkeypatch.setenv("HOME", str(folder))
    wanted = list(range(80))
    for sources in (folder / "day*.nc", "~/day*.nc", [folder / "day0*.nc", "~/day1?.nc"], (path for path in days)):
        assert hyperslab.open_joined(sources)["time"][...].tolist() == wanted
    assert hyperslab.open("~/day00.nc") == hyperslab.open(days[0])
    # Opening a single store needs no dimension.
    with netCDF4.Dataset(days[0], "a") as file:
        file.createDimension("more", None)
    assert hyperslab.open_joined(days[:1])["time"].shape == (4,)
    monkeypatch.chdir(folder)
    relative = hyperslab.open("day03.nc")
    assert pickle.loads(pickle.dumps(relative)) == relative == hyperslab.open(days[3])


def test_a_part_of_each_store_is_joined(days: list[Path], tmp_path: Path) -> None:
    for number, path in enumerate(days):
        with netCDF4.Dataset(path, "a") as file:
            file.createVariable("other", "f4", ("time",))[:] = number
            file["other"].units = f"{number} m"
            group = file.createGroup("waves")
            group.createVariable("height", "f4", ("time",))[:] = number
            group.createVariable("depth", "f4")[...] = 1
    with pytest.raises(hyperslab.ArgumentError, match="units"):
        hyperslab.open_joined(days)
    for joined in (
        hyperslab.open_joined(days, "/t"),
        hyperslab.open_joined([f"{path}:/t" for path in days]),
        hyperslab.open_joined(f"{tmp_path}/day*.nc:/t"),
    ):
        assert sorted(joined) == ["t", "time", "x"] and joined["t"].shape == (80, 3)
        with pytest.raises(hyperslab.NoObjectError, match="not among the objects that are joined"):
            joined["other"]
    waves = hyperslab.open_joined(days, "/waves")
    assert waves.name == "/waves" and waves["height"][...].tolist() == [float(at // 4) for at in range(80)]
    assert sorted(waves.parent) == ["time", "waves"]
    with pytest.raises(hyperslab.ArgumentError, match="the path differs"):
        hyperslab.open_joined([f"{days[0]}:/t", f"{days[1]}:/x"])


def test_repeated_times_and_months_are_in_order(tmp_path: Path) -> None:
    def file(name: str, times: list[float]) -> Path:
        with netCDF4.Dataset(tmp_path / name, "w") as file:
            file.createDimension("time", None)
            file.createVariable("time", "f8", ("time",))[:] = times
            file["time"].units = "days since 2026-01-01"
        return tmp_path / name

    repeated = [file("a.nc", [0, 1, 2, 2, 3]), file("b.nc", [2, 3, 4]), file("c.nc", [4, 5])]
    with pytest.raises(hyperslab.ArgumentError, match="overlaps"):
        hyperslab.open_joined(repeated[:2])
    with pytest.raises(hyperslab.ArgumentError, match="not in order"):
        hyperslab.open_joined([repeated[2], repeated[0]])
    starts = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hyperslab.open_joined([repeated[0], repeated[2]])["time"].shape == (7,)
        hyperslab.open_joined([file(f"m{at:02}.nc", [start]) for at, start in enumerate(starts)])
    with pytest.warns(hyperslab.JoinWarning) as told:
        joined = hyperslab.open_joined([file(f"h{at:02}.nc", [at, at + 0.1]) for at in range(30)])
    assert len(told) == 11 and "19 more gaps;" in str(told[-1].message) and len(joined.warnings) == 29


def test_zarr_stores_keep_their_encodings(tmp_path: Path) -> None:
    from numcodecs import Blosc

    for number in range(2):
        data = xarray.Dataset({"v": ("time", np.arange(4.0) + 4 * number)}, {"time": np.arange(4) + 4 * number})
        data.to_zarr(tmp_path / f"{number}.zarr", zarr_format=2, encoding={"v": {"compressors": (Blosc("zstd", 9),)}})
    joined = hyperslab.open_joined(str(tmp_path / "?.zarr"), along="time").to_xarray()
    assert joined["v"].encoding["compressors"][0].clevel == 9 and joined["v"].values.tolist() == list(range(8))


def member(path: Path, number: int) -> None:
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 3)
        file.createVariable("x", "f8", ("x",))[:] = [1.0, 2.0, 3.0]
        file.createVariable("member", "i4", ())[...] = number
        file.createVariable("height", "f8", ())[...] = 2.0
        t = file.createVariable("t", "f4", ("x",), chunksizes=(3,), zlib=True)
        t[:] = np.arange(3 * number, 3 * number + 3)
        t.coordinates = "height member"


@pytest.mark.parametrize("name", ["member", "run"])
def test_a_new_dimension_is_the_one_of_xarray(tmp_path: Path, name: str) -> None:
    paths = [tmp_path / f"m{number}.nc" for number in (4, 7, 9)]
    for path, number in zip(paths, (4, 7, 9), strict=True):
        member(path, number)
    each = [xarray.open_dataset(path, engine="netcdf4") for path in paths]
    expected = xarray.concat(each, dim=name, data_vars="all", coords="different", compat="equals")
    joined = hyperslab.open_joined(tmp_path / "m*.nc", new_dimension=name)
    xarray.testing.assert_equal(joined.to_xarray().load(), expected)
    hyperslab.concat(tmp_path / "m*.nc", tmp_path / "all.zarr", new_dimension=name)
    xarray.testing.assert_equal(xarray.open_zarr(tmp_path / "all.zarr").load(), expected)
    references = virtual.references(joined)
    assert {"t/0.0", "t/1.0", "t/2.0"} <= references["refs"].keys()
    with pytest.raises(hyperslab.ArgumentError, match="expected one of them"):
        hyperslab.open_joined(paths, along="x", new_dimension=name)
    with pytest.raises(hyperslab.NoObjectError) as missing:
        hyperslab.open_joined(paths, along="member")
    assert any('new_dimension="member"' in help for help in missing.value.help)


def test_packed_numbers_are_joined_as_those_they_stand_for(tmp_path: Path) -> None:
    for number in range(2):
        values = xarray.Dataset({"t": ("time", [250.0 + number, 260.0 + 7 * number])}, {"time": [2 * number, 2 * number + 1]})
        packing = {"t": {"dtype": "i2", "scale_factor": 0.5 * (number + 1), "add_offset": 200.0, "_FillValue": -9}}
        values.to_netcdf(tmp_path / f"p{number}.nc", encoding=packing)
    with pytest.raises(ValueError, match="scale_factor"):
        hyperslab.open_joined(tmp_path / "p*.nc", along="time")
    joined = hyperslab.open_joined(tmp_path / "p*.nc", along="time", unpack=True)
    assert joined["t"][...].tolist() == [250.0, 260.0, 251.0, 267.0]
    assert hyperslab.open(tmp_path / "p0.nc", unpack=True)["t"].dtype == "f8"
