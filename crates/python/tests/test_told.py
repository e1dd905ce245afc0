"""What programs are told: warnings, errors, help and reports, as users of h5py, zarr and pandas expect them."""

from __future__ import annotations

import io
import os
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import hyperslab
import netCDF4
import numpy as np
import pytest
import xarray as xr
import zarr
from hyperslab.xarray import HyperslabBackendEntrypoint
from hyperslab.zarr import ZarrStore


@pytest.fixture
def half(tmp_path: Path) -> Path:
    """A file whose last third is missing, with a complete array, one without its last chunks, and one without a header."""
    path = tmp_path / "half.nc"
    with h5py.File(path, "w") as file:
        for name in "abc":
            file.create_dataset(name, data=np.arange(10000.0), chunks=(1000,))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3])
    return path


@contextmanager
def told(kind: type[Warning]) -> Iterator[list[str]]:
    """The warnings of a kind, all of which must point to a line of this file."""
    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield found
    own = [one for one in caught if one.category is kind]
    assert {one.filename for one in own} <= {__file__}
    found += [str(one.message) for one in own]


# Opening


OPENED: list[Callable[[Path], Any]] = [
    lambda path: hyperslab.open(path),
    lambda path: hyperslab.open_array(path, "/a"),
    lambda path: xr.open_dataset(path, engine=HyperslabBackendEntrypoint),
    lambda path: xr.open_dataset(path, engine="hyperslab"),
    lambda path: hyperslab.table(path, "a"),
]


@pytest.mark.parametrize("call", OPENED)
def test_truncated_files_are_warned_of(half: Path, call: Callable[[Path], Any]) -> None:
    with told(hyperslab.FileWarning) as found:
        call(half)
    assert len(found) == 1 and found[0].startswith(f"{half}: the file is truncated: found ")


def test_sound_files_are_not_warned_of(examples: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hyperslab.open(examples / "ocean.nc")


def test_habits_of_h5py_are_answered(examples: Path) -> None:
    path = examples / "ocean.nc"
    with pytest.raises(hyperslab.NoObjectError, match="always opened read-only") as raised:
        hyperslab.open(path, "r")
    assert raised.value.help == pickle.loads(pickle.dumps(raised.value)).help != []
    with pytest.raises(TypeError, match="no option mode: files are always opened read-only"):
        hyperslab.open(path, mode="r")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"open\(\) has no option driver, rdcc_nbytes"):
        hyperslab.open(path, rdcc_nbytes=1, driver="core")  # type: ignore[arg-type]
    with pytest.raises(hyperslab.NoFileError) as missing:
        hyperslab.open(f"{path}:/salinity")
    assert missing.value.help == [f"hyperslab.open({os.fspath(path)!r}, '/salinity') opens an object in a file"]


def test_errors_name_what_is_no_file(examples: Path) -> None:
    for location, name in ((b"", "the bytes"), (io.BytesIO(b"abc"), "the BytesIO")):
        with pytest.raises(hyperslab.ArgumentError, match=f"^{name}: is "):
            hyperslab.open(location)


def test_urls_that_lead_to_no_file() -> None:
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.mkdirs("/trial/empty", exist_ok=True)
    for location in ("memory://trial/empty", (memory, "/trial/empty")):
        with pytest.raises(hyperslab.Error, match="found no zarr.json, .zarray or .zgroup"):
            hyperslab.open(location)
    for location in ("memory://trial/missing.nc", (memory, "/trial/missing.nc")):
        with pytest.raises(hyperslab.NoFileError) as raised:
            hyperslab.open(location)
        assert isinstance(raised.value, FileNotFoundError) and raised.value.kind == "file-not-found"


def test_urls_are_not_written(examples: Path) -> None:
    writes: list[Callable[[str], Any]] = [
        lambda url: hyperslab.convert(examples / "ocean.nc", url),
        lambda url: hyperslab.repack(examples / "ocean.nc", url),
        lambda url: hyperslab.create("attributes: {a: 1}\n", url),
        lambda url: hyperslab.create_store(url, hyperslab.Schema()),
        lambda url: hyperslab.write_store(url, hyperslab.Schema()),
    ]
    for write in writes:
        with pytest.raises(hyperslab.ArgumentError, match=r"memory://o.zarr is a URL, and URLs can only be read"):
            write("memory://o.zarr")


def test_what_the_system_does_not_permit(tmp_path: Path, examples: Path) -> None:
    if not hasattr(os, "geteuid"):
        pytest.skip("users are those of POSIX")
    path, folder = tmp_path / "closed.nc", tmp_path / "closed"
    path.write_bytes((examples / "ocean.nc").read_bytes())
    path.chmod(0)
    folder.mkdir(mode=0o555)
    schema = hyperslab.Schema()
    schema.array("t", ["x"], values=np.arange(3.0))
    was_root = os.geteuid() == 0
    if was_root:
        os.seteuid(65534)
    try:
        for call in (lambda: hyperslab.open(path), lambda: hyperslab.write_store(folder / "t.nc", schema)):
            with pytest.raises(PermissionError) as raised:
                call()
            assert isinstance(raised.value, hyperslab.ReadError) and raised.value.errno == 13
    finally:
        if was_root:
            os.seteuid(0)


# Groups


def test_misspelled_names_have_help(examples: Path) -> None:
    ocean = hyperslab.open(examples / "ocean.nc")
    cases = {
        "salinty": "salinity",
        "Salinity": "salinity",
        "waves/hieght": "/waves/height",
        "/wves/height": "/waves/height",
        "wves/buoys": "/waves/buoys",
        "wves/nothing": "/waves",
    }
    for name, meant in cases.items():
        with pytest.raises(KeyError) as raised:
            ocean[name]
        assert raised.value.help == [f"did you mean {meant}?"], name
        assert str(raised.value).endswith(f"\nhelp: did you mean {meant}?")
    with pytest.raises(KeyError) as unlike:
        ocean["nothing like it"]
    assert unlike.value.help == []
    assert ocean.get("salinty") is None and ocean.get("salinity") == ocean["salinity"]


def test_paths_of_groups_are_those_of_h5py(examples: Path) -> None:
    ocean = hyperslab.open(examples / "ocean.nc")
    waves = ocean["waves"]
    for name in ("./waves", "//waves", "waves/", "waves/.", "./waves//"):
        assert ocean[name] == waves and name in ocean
    assert waves["./height"] == waves["/waves/height"] == waves["//waves//height"] and waves["."] == waves
    assert "" not in ocean and ocean.get("") is None
    with pytest.raises(KeyError, match="empty name, expected the name or path"):
        ocean[""]


def test_names_are_completed(examples: Path) -> None:
    ocean = hyperslab.open(examples / "ocean.nc")
    assert ocean._ipython_key_completions_() == list(ocean)
    assert ocean.attrs._ipython_key_completions_() == list(ocean.attrs)


# Selections


def test_lists_of_coordinates(examples: Path) -> None:
    salinity = hyperslab.open(examples / "ocean.nc")["salinity"]
    values = salinity[...]
    same = np.testing.assert_array_equal
    same(salinity.sel(lat=[58.25, 57.75]), values[:, :, [2, 0]])
    same(salinity.sel(lat=np.array([58.0]), depth=0), values[:, 0, [1]])
    same(salinity.sel(time=["2024-03"], lat=slice(58, None)), salinity.sel(time="2024-03", lat=slice(58, None)))
    same(salinity.sel(time=["2024-03-01", "2024-03-08"], lat=58), values[:2, :, 1])
    assert salinity.sel(lat=[]).shape == (9, 5, 0, 8)
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    weeks = pandas.DatetimeIndex(["2024-03-01", "2024-03-08"])
    for labels in (weeks, pandas.Series(weeks), xarray.DataArray(weeks), weeks.values):
        same(salinity.sel(time=labels, lat=58), values[:2, :, 1])
    same(salinity.sel(time=weeks[0], lat=xarray.DataArray(58.0)), values[0, :, 1])
    same(salinity.sel(lat=range(58, 59)), values[:, :, [1]])
    with pytest.raises(hyperslab.NoObjectError, match="no coordinate is 0"):
        salinity.sel(lat=[58, 0])
    with pytest.raises(hyperslab.ArgumentError, match=r"lat=\[1, 2\]: a list of coordinates"):
        hyperslab.stat(salinity, select={"lat": [1, 2]})


def test_nearest_coordinates(examples: Path) -> None:
    salinity = hyperslab.open(examples / "ocean.nc")["salinity"]
    values = salinity[...]
    np.testing.assert_array_equal(salinity.sel(lat=57.8, method="nearest"), values[:, :, 0])
    np.testing.assert_array_equal(salinity.sel(lat=[58.2, 57], depth=0, method="nearest"), values[:, 0][:, [2, 0]])
    with pytest.raises(hyperslab.ArgumentError, match="method='pad', expected 'nearest' or None"):
        salinity.sel(lat=3, method="pad")


def test_help_for_selections_is_in_keywords(examples: Path) -> None:
    salinity = hyperslab.open(examples / "ocean.nc")["salinity"]
    cases: list[tuple[dict[str, Any], str]] = [
        ({"la": 3}, "did you mean lat=3?"),
        ({"lat": 0}, "lat=57.75 selects the nearest coordinate, position 0"),
        ({"time": "2023-03"}, "time='2024-03-01' selects the nearest coordinate, position 0"),
        ({"la": [3]}, "did you mean lat?"),
        ({"time": "2024-03-01", "lat": 0, "depth": 0}, "time='2024-03-01', lat=57.75, depth=0 selects the nearest coordinate, position 0"),
        ({"time": slice("2024-03-08", "2024-03-01")}, "did you mean time=slice('2024-03-01', '2024-03-08')?"),
    ]
    for labels, help in cases:
        with pytest.raises(hyperslab.Error) as raised:
            salinity.sel(**labels)
        assert raised.value.help == [help] and str(raised.value).endswith(f"\nhelp: {help}")


# Reports


def test_reports_name_what_cannot_be_read(half: Path, tmp_path: Path) -> None:
    statistics = hyperslab.stat(half, values=True)
    assert len(statistics.errors) == 2
    for shown in (str(statistics), repr(statistics), statistics._repr_html_()):
        assert "error: /b: malformed chunk" in shown and "error: /c: malformed" in shown
    listing = hyperslab.ls(half)
    assert "error: /c: malformed" in str(listing) and "error: /c: malformed" in listing._repr_html_()
    report = hyperslab.convert(half, tmp_path / "half.zarr", allow_loss="unreadable")
    for shown in (str(report), repr(report), report._repr_html_()):
        assert "left out: /b: malformed chunk" in shown


def test_results_are_shown_where_programs_are_typed(examples: Path, tmp_path: Path) -> None:
    listing = hyperslab.ls(examples / "ocean.nc")
    assert repr(listing) == f"<hyperslab.Listing of {len(listing)}>\n{listing}"
    small, large = tmp_path / "small.nc", tmp_path / "large.h5"
    schema = hyperslab.Schema()
    schema.array("t", ["x"], values=np.arange(3.0))
    assert repr(hyperslab.write_store(small, schema)) == "<hyperslab.LossReport of 0>"
    with h5py.File(large, "w") as file:
        for number in range(100):
            file[f"v{number:03}"] = np.arange(3)
    lines = repr(hyperslab.ls(large)).splitlines()
    assert len(lines) == 32 and lines[-1] == "… 72 more lines; print() shows all of them"


def test_errors_name_the_first_losses(examples: Path, tmp_path: Path) -> None:
    with pytest.raises(hyperslab.LossError) as raised:
        hyperslab.convert(examples / "datatypes.h5", tmp_path / "a.nc", allow_loss="names")
    lines = str(raised.value).splitlines()
    assert "losses are not allowed" in lines[0] and lines[-1].startswith("help: allow_loss=")
    assert len(lines) == 6 and "/numbers/float128 and 2 more: floating-point numbers" in lines[1]
    assert lines[4].endswith("more; `report` of this error lists all of them")
    assert not any("named datatype" in line for line in lines)


def test_unknown_keys_of_documents_are_warned_of(tmp_path: Path) -> None:
    with told(hyperslab.DocumentWarning) as found:
        report = hyperslab.create({"attributes": {"title": "x"}, "tas": 3}, tmp_path / "c.nc")
    assert len(found) == 1 and 'unknown key "tas" in a file; expected one of attributes' in found[0]
    assert report.document is not None and report.document.warnings == 1


# Writing


def masked(dtype: str = "f4") -> np.ma.MaskedArray[Any, Any]:
    return np.ma.masked_less(np.arange(8, dtype=dtype), 2)


@pytest.mark.parametrize("format", ["netcdf4", "netcdf3"])
@pytest.mark.parametrize("stated", [{"fill_value": -9}, {"attrs": {"_FillValue": np.float32(-9)}}])
def test_masks_return_in_netcdf(tmp_path: Path, format: str, stated: dict[str, Any]) -> None:
    path = tmp_path / "masked.nc"
    schema = hyperslab.Schema()
    schema.array("region", ["x"], shape=[8], dtype="f4", **stated)
    schema.array("whole", ["x"], values=masked(), **stated)
    writer = hyperslab.create_store(path, schema, format=format, allow_loss="all")
    writer.finish([writer.write("region", ..., masked())])
    with netCDF4.Dataset(path) as file:
        for name in ("region", "whole"):
            assert file[name]._FillValue == -9
            assert file[name][:].tolist() == masked().tolist()
    with xr.open_dataset(path, engine="netcdf4") as shown:
        np.testing.assert_array_equal(shown["region"], masked().filled(np.nan))


def test_masks_return_in_zarr(tmp_path: Path) -> None:
    path = tmp_path / "masked.zarr"
    schema = hyperslab.Schema()
    schema.array("whole", ["x"], values=masked(), fill_value=-9)
    schema.array("region", ["x"], dtype="f4", attrs={"_FillValue": -9.0})
    schema.array("plain", ["x"], values=np.arange(8), fill_value=0)
    writer = hyperslab.create_store(path, schema)
    writer.finish([writer.write("region", ..., masked())])
    with xr.open_dataset(path, engine="zarr") as shown:
        for name in ("whole", "region"):
            np.testing.assert_array_equal(shown[name], masked().filled(np.nan))
        # A fill value of Zarr does not mean that elements are missing.
        assert shown["plain"].values.tolist() == list(range(8)) and "_FillValue" not in shown["plain"].attrs


def test_one_schema_for_several_formats(tmp_path: Path) -> None:
    schema = hyperslab.Schema()
    values = np.arange(4.0)
    schema.array("t", ["x"], values=values, fill_value=-9)
    values[:] = 100
    for name in ("t.zarr", "t.nc", "t.h5"):
        hyperslab.write_store(tmp_path / name, schema)
        read = hyperslab.open(tmp_path / name)["t"]
        assert read[...].tolist() == [0, 1, 2, 3] and ("_FillValue" in read.attrs) == (name == "t.nc")
    with pytest.raises(RuntimeError, match="nothing can be added"):
        schema.array("u", ["x"], values=np.arange(4.0))


def test_two_fill_values_are_refused_by_netcdf(tmp_path: Path) -> None:
    schema = hyperslab.Schema()
    schema.array("t", ["x"], values=np.arange(4.0), fill_value=-9, attrs={"_FillValue": -8.0})
    with pytest.raises(hyperslab.ArgumentError, match="_FillValue is -8.0, but the fill value is -9.0"):
        hyperslab.write_store(tmp_path / "t.nc", schema)
    hyperslab.write_store(tmp_path / "t.zarr", schema)


def test_dimensions_that_arrays_name_have_their_names(tmp_path: Path) -> None:
    schema = hyperslab.Schema()
    schema.array("t", ["x"], values=np.arange(3.0))
    schema.array("g/u", ["x", "y"], shape=[3, 2])
    writer = hyperslab.create_store(tmp_path / "t.nc", schema)
    writer.finish([writer.write("g/u", ..., np.zeros((3, 2)))])
    with netCDF4.Dataset(tmp_path / "t.nc") as file:
        assert file["t"].dimensions == ("x",) and file["g/u"].dimensions == ("x", "y")


def test_texts_of_numpy_2(tmp_path: Path) -> None:
    path = tmp_path / "texts.nc"
    schema = hyperslab.Schema()
    schema.array("region", ["x"], shape=[2], dtype="T")
    schema.array("whole", ["x"], values=np.array(["a", "bcd"], dtype=np.dtypes.StringDType()))
    schema.array("cast", ["x"], values=["a", "b"], dtype=np.dtypes.StringDType())
    writer = hyperslab.create_store(path, schema)
    writer.finish([writer.write("region", ..., np.array(["e", "f"], dtype="T"))])
    read = hyperslab.open(path)
    assert [read[name][...].tolist() for name in ("region", "whole", "cast")] == [["e", "f"], ["a", "bcd"], ["a", "b"]]


def test_chunks_without_a_receipt_are_counted(tmp_path: Path) -> None:
    schema = hyperslab.Schema()
    schema.array("t", ["x"], shape=[10], dtype="f4", chunks=[3])
    schema.array("never", ["y"], shape=[4])
    schema.array("nothing", ["z"], shape=[0])
    writer = hyperslab.create_store(tmp_path / "t.nc", schema)
    receipts = [writer.write("t", slice(3, 9), np.zeros(6, "f4")), writer.write("t", slice(9, 10), np.zeros(1, "f4"))]
    with told(hyperslab.UnwrittenWarning) as found:
        report = writer.finish(receipts + receipts)
    assert len(found) == 1 and "no receipts for /never, so all elements there" in found[0]
    assert {path: str(count) for path, count in report.unwritten.items()} == {"/t": "3/4", "/never": "0/1"}
    assert "/t: 3 of 4 chunks written; the rest has the fill value" in str(report)


def test_complete_stores_are_not_warned_of(tmp_path: Path) -> None:
    da = pytest.importorskip("dask.array")
    import hyperslab.dask

    schema = hyperslab.Schema()
    schema.array("t", ["x"], shape=[10], dtype="f8", chunks=[3])
    writer = hyperslab.create_store(tmp_path / "t.nc", schema)
    with warnings.catch_warnings():
        warnings.simplefilter("error", hyperslab.UnwrittenWarning)
        report = hyperslab.dask.store(writer, {"t": da.arange(10.0, chunks=6)})
    assert report.unwritten == {}


def test_arrays_that_were_not_declared_are_named(tmp_path: Path) -> None:
    da = pytest.importorskip("dask.array")
    import hyperslab.dask

    schema = hyperslab.Schema()
    schema.array("temp", ["x"], shape=[4])
    writer = hyperslab.create_store(tmp_path / "t.nc", schema)
    for call in (lambda: writer.write("tmp", ..., np.arange(4.0)), lambda: hyperslab.dask.store(writer, {"tmp": da.arange(4.0)})):
        with pytest.raises(hyperslab.NoObjectError, match="no array /tmp is waiting for regions; arrays to write: /temp") as raised:
            call()
        assert raised.value.help == ["did you mean /temp?"]
    with pytest.raises(TypeError, match=r"temp: a numpy.ndarray, expected a Dask array; use Writer.write to write it"):
        hyperslab.dask.store(writer, {"temp": np.arange(4.0)})
    writer.abandon()


# Others


def test_chunks_that_were_never_written_do_not_exist_in_zarr(tmp_path: Path) -> None:
    path = tmp_path / "gaps.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("some", (10, 10), "f4", chunks=(4, 3), compression=1, fillvalue=5)[:4, 3:6] = 1
        file.create_dataset("none", (10,), "f4", chunks=(4,))
        file.create_dataset("whole", data=np.arange(5))
    for decoded in (True, False):
        group = zarr.open_group(ZarrStore(path, decoded=decoded), mode="r")
        assert {name: array.nchunks_initialized for name, array in group.arrays()} == {"some": 1, "none": 0, "whole": 1}
        np.testing.assert_array_equal(group["some"][...], hyperslab.open(path)["some"][...])


def test_fill_values_in_zarr_are_those_of_netcdf(tmp_path: Path) -> None:
    path = tmp_path / "fills.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 8)
        file.createVariable("default", "f4", ("x",), chunksizes=(2,))[2:4] = 1
        file.createVariable("stated", "i2", ("x",), chunksizes=(2,), fill_value=-9)[2:4] = 1
    group = zarr.open_group(ZarrStore(path), mode="r")
    assert group["default"].fill_value == np.float32(9.969209968386869e36) and group["stated"].fill_value == -9
    assert group["stated"].nchunks_initialized == 1 and group["stated"][0] == -9


def test_tables_of_stores_that_are_one_array(tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "one.zarr", shape=(3,), dtype="i4", dimension_names=["x"])
    assert len(hyperslab.table(tmp_path / "one.zarr")) == 3


def test_arguments_that_cannot_be_meant(examples: Path) -> None:
    for count in (-3, -1):
        with pytest.raises(hyperslab.ArgumentError, match=f"{count} threads, expected"):
            hyperslab.set_threads(count)
    path = examples / "ocean.nc"
    for name in ("rtol", "atol", "ulp", "max"):
        with pytest.raises(hyperslab.ArgumentError, match=f"{name}=-1, expected a finite, non-negative number"):
            hyperslab.diff(path, path, **{name: -1})  # type: ignore[arg-type]


def test_what_is_joined_of_an_array(examples: Path, tmp_path: Path) -> None:
    parts = [tmp_path / "a.nc", tmp_path / "b.nc"]
    for path, part in zip(parts, ("time=:4", "time=4:"), strict=True):
        hyperslab.convert(examples / "ocean.nc", path, select=part)
    joined = hyperslab.open_joined(parts, "/salinity", along="time")
    assert "salinity" in joined and "temperature" not in joined
    assert "salinity" in hyperslab.open_joined(parts[:1], "/salinity")
    with pytest.raises(hyperslab.NoObjectError):
        hyperslab.open_joined(parts[:1], "/missing")


def test_help_for_joined_stores_names_the_argument(tmp_path: Path) -> None:
    paths = [tmp_path / "a.nc", tmp_path / "b.nc"]
    for at, path in enumerate(paths):
        dataset = xr.Dataset({"t": ("time", np.arange(2.0)), f"own{at}": ("time", np.arange(2.0))}, {"time": [2 * at, 2 * at + 1]})
        dataset.to_netcdf(path)
    with pytest.raises(hyperslab.Error) as raised:
        hyperslab.open_joined(paths, along="time")
    assert raised.value.help and all("FILE:" not in help for help in raised.value.help), raised.value.help
    assert any('path="/PATH"' in help for help in raised.value.help), raised.value.help
    assert hyperslab.open_joined(paths, "/t", along="time")["t"].shape == (4,)


# Content


def test_attributes_of_arrays_have_their_dimensions(tmp_path: Path) -> None:
    values = np.arange(18, dtype="i4").reshape(3, 2, 3)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.attrs["title"] = "hello"
        kind = h5py.h5t.py_create(np.dtype(("i4", (3,))), logical=True)
        h5py.h5a.create(file.id, b"m", kind, h5py.h5s.create_simple((3, 2))).write(values, mtype=kind)
    attributes = hyperslab.open(tmp_path / "a.h5").attrs
    assert attributes["title"] == "hello"
    np.testing.assert_array_equal(attributes["m"], values)


def test_columns_of_several_arrays_have_names_that_tell_them_apart(tmp_path: Path) -> None:
    pair = np.array([(1, 2.0), (3, 4.0)], [("a", "i4"), ("b", "f8")])
    with h5py.File(tmp_path / "c.h5", "w") as file:
        file["c1"], file["c2"], file["a"] = pair, pair, np.arange(2)
    table = hyperslab.table(tmp_path / "c.h5", "c1", "c2", "a")
    assert table.column_names == ["dim_0", "c1.a", "c1.b", "c2.a", "c2.b", "a"]


def test_texts_of_tables_are_utf_8(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["t"] = np.array([b"a", b"b\xff"], "S3")
    with pytest.raises(hyperslab.FormatError, match="is not UTF-8"):
        hyperslab.table(tmp_path / "t.h5", "t")


def test_columns_of_sparse_arrays_come_with_their_coordinates(examples: Path) -> None:
    group = hyperslab.open(examples / "survey.tdb", "/sightings")
    whole = hyperslab.table(group)
    part = hyperslab.table(group, "count", "species")
    assert len(part) == len(whole) > 0
    assert set(part.column_names) == {"station", "day", "count", "species"}


def test_links_to_other_files_are_followed_where_they_may_be(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["x"] = np.arange(3)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["l"] = h5py.ExternalLink("b.h5", "/x")
    followed = hyperslab.open(tmp_path / "a.h5", follow_links=True)
    assert followed["l"][...].tolist() == [0, 1, 2]
    hyperslab.convert(followed, tmp_path / "a.zarr")
    assert zarr.open_group(tmp_path / "a.zarr", mode="r")["l"][...].tolist() == [0, 1, 2]
    with pytest.raises(hyperslab.UnsupportedError):
        hyperslab.open(tmp_path / "a.h5")["l"]
    with pytest.raises(hyperslab.ArgumentError, match="follow_links=True is not supported for joined stores"):
        hyperslab.open_joined([tmp_path / "a.h5"], follow_links=True)


def test_stores_are_seen_as_they_were(examples: Path) -> None:
    store = examples / "survey.tdb"
    assert list(hyperslab.open(store, at=1)) == [] and "sightings" in hyperslab.open(store)
    with pytest.raises(ValueError, match="is not a time"):
        hyperslab.open(store, at="yesterday")


def test_nothing_is_made_of_documents_of_another_language(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text('{"version": 1, "refs": {"x/0": ["a.nc", 0, 4]}}')
    with pytest.warns(hyperslab.FileWarning, match="unknown key"):
        assert list(hyperslab.open(path)) == []
    with pytest.raises(ValueError, match="a document without a key of NDL"):
        hyperslab.convert(path, tmp_path / "r.zarr")
    with pytest.raises(ValueError, match="no key of this document is an NDL key"):
        hyperslab.create({"title": "x", "tas": 3}, tmp_path / "c.nc")


def test_orders_are_kept_in_hdf5(tmp_path: Path) -> None:
    source = xr.Dataset({"z": ("x", [1]), "a": ("x", [2])}, attrs={"z": 1, "a": 2})
    hyperslab.xarray.write(source, tmp_path / "o.h5")
    found = hyperslab.open(tmp_path / "o.h5")
    assert [name for name in found if name != "x"] == ["z", "a"] and list(found.attrs) == ["z", "a"]
    with h5py.File(tmp_path / "o.h5") as file:
        assert [name for name in file if name != "x"] == ["z", "a"] and list(file.attrs) == ["z", "a"]


def test_times_of_h5py_stay_times_in_netcdf(tmp_path: Path) -> None:
    times = np.array(["2000-01-01", "NaT"], "M8[s]")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["t"] = times.astype(h5py.opaque_dtype("M8[s]"))
    hyperslab.convert(tmp_path / "a.h5", tmp_path / "a.nc")
    with h5py.File(tmp_path / "a.nc") as file:
        np.testing.assert_array_equal(file["t"][...], times)
    np.testing.assert_array_equal(hyperslab.open(tmp_path / "a.nc")["t"][...], times)
