"""What Python, xarray and zarr cannot represent is rejected or reported, and never silently becomes something else."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import h5py
import hyperslab
import netCDF4
import numpy as np
import pyarrow
import pytest
import xarray as xr
import zarr
from hyperslab.xarray import write
from hyperslab.zarr import LeftOutWarning, ZarrStore


def created(tmp_path: Path, text: str) -> hyperslab.Group:
    target = tmp_path / "made.tdb"
    hyperslab.create(text, target)
    return hyperslab.open(target)


# Texts


@pytest.fixture
def broken(tmp_path: Path) -> hyperslab.Group:
    path = tmp_path / "broken.h5"
    with h5py.File(path, "w") as file:
        file["texts"] = np.array([b"ok", b"\xff\xfe"], dtype=h5py.string_dtype())
        file["ragged"] = np.array([np.array([b"ok", b"\xff"], object)], dtype=h5py.vlen_dtype(h5py.string_dtype()))[:0]
        inner = np.dtype([("name", h5py.string_dtype()), ("count", "i4")])
        file["table"] = np.array([(b"\xff", 1), (b"ok", 2)], dtype=inner)
        file.attrs["latin"] = np.array(b"\xb5m", dtype=h5py.string_dtype())
    return hyperslab.open(path)


def test_texts_that_are_not_utf_8_are_never_replaced_unless_asked(broken: hyperslab.Group) -> None:
    texts = broken["texts"]
    for read in (lambda: texts[...], lambda: texts.read(), lambda: texts.vindex[[1, 0]], lambda: pyarrow.array(texts)):
        with pytest.raises(hyperslab.FormatError, match="string . is not UTF-8") as raised:
            read()
        assert any('text="bytes"' in help for help in raised.value.help)
    assert texts[0] == "ok"
    assert texts.read(text="bytes").tolist() == [b"ok", b"\xff\xfe"]
    assert texts.read(errors="replace").tolist() == ["ok", "\ufffd\ufffd"]


def test_texts_in_others_and_attributes_that_are_not_utf_8_are_bytes(broken: hyperslab.Group) -> None:
    assert broken["table"][...].tolist() == [(b"\xff", 1), ("ok", 2)]
    assert broken.attrs["latin"] == b"\xb5m"


def test_zarr_shows_such_texts_and_raises_when_they_are_read(broken: hyperslab.Group) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        shown: Any = zarr.open_group(ZarrStore(broken), mode="r")["texts"]
    with pytest.raises(hyperslab.FormatError, match="not UTF-8"):
        shown[...]


# Attributes


def test_attributes_without_bytes_are_read(tmp_path: Path) -> None:
    text = "attributes:\n  none: {type: {opaque: {size: 0}}, value: 0x}\n  after: 1\nndarrays:\n  v: {shape: [2], type: int32}\n"
    opened = created(tmp_path, text)
    assert bytes(opened.attrs["none"]) == b"" and opened.attrs["after"] == 1
    assert bytes(opened.to_xarray().attrs["none"]) == b""


def test_json_in_attributes_of_zarr_is_what_it_says(tmp_path: Path) -> None:
    said = {"ome": {"version": "0.5", "axes": [{"name": "y"}]}, "nothing": None, "mixed": [1, "a", None], "text": '{"a": 1}'}
    zarr.create_group(tmp_path / "a.zarr", attributes=said)
    zarr.create_array(tmp_path / "a.zarr", name="v", shape=(2,), dtype="i4", attributes={"of": {"v": 1}})
    opened = hyperslab.open(tmp_path / "a.zarr")
    assert dict(opened.attrs) == said and opened["v"].attrs["of"] == {"v": 1}
    shown = zarr.open_group(ZarrStore(opened), mode="r")
    assert dict(shown.attrs) == said and dict(shown["v"].attrs) == {"of": {"v": 1}}
    hyperslab.write_store(tmp_path / "b.zarr", hyperslab.Schema({**opened.attrs, "nothing": "said"}))
    assert dict(zarr.open_group(tmp_path / "b.zarr").attrs) == {**said, "nothing": "said"}


def test_dimensions_have_attributes_like_other_members(tmp_path: Path) -> None:
    with netCDF4.Dataset(tmp_path / "d.nc", "w") as file:
        file.createDimension("x", 3)
    (dimension,) = hyperslab.open(tmp_path / "d.nc").values()
    assert dimension == ("x", 3, False) and dict(dimension.attrs) == {}


# Fill values


def test_the_fill_value_is_that_of_h5py_and_zarr(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "f.h5", "w") as file:
        for name, dtype, fill in (("i", "i4", None), ("f", ">f8", 1.5), ("z", "u1", 0), ("s", "S3", None), ("n", "f4", np.nan)):
            file.create_dataset(name, (2,), dtype, fillvalue=fill)
    with h5py.File(tmp_path / "f.h5") as file:
        ours = hyperslab.open(tmp_path / "f.h5")
        for name, theirs in file.items():
            np.testing.assert_array_equal(ours[name].fill_value, theirs.fillvalue)
    for version in (2, 3):
        made = zarr.create_array(tmp_path / f"{version}.zarr", shape=(2,), dtype="i2", fill_value=0, zarr_format=version)
        found = hyperslab.open_array(tmp_path / f"{version}.zarr").fill_value
        assert found == made.fill_value == 0 and found.dtype == "i2"
    none = zarr.create_array(tmp_path / "n.zarr", shape=(2,), dtype="i2", fill_value=None, zarr_format=2)
    assert none.metadata.fill_value is None and hyperslab.open_array(tmp_path / "n.zarr").fill_value is None


# Times


@pytest.mark.parametrize("kind", ["M8", "m8"])
@pytest.mark.parametrize("unit", ["ps", "fs", "as"])
def test_times_shorter_than_those_of_xarray_are_counts(tmp_path: Path, kind: str, unit: str) -> None:
    counts = np.array([-50, 1999, np.iinfo("i8").min])
    made = hyperslab.Schema()
    made.array("t", ["x"], values=counts.view(f"{kind}[{unit}]"))
    hyperslab.write_store(tmp_path / "t.tdb", made)
    opened = hyperslab.open(tmp_path / "t.tdb")
    assert opened["t"].dtype == np.dtype(f"{kind}[{unit}]")
    with pytest.warns(UserWarning, match=f"/t are shown as counts of {unit}"):
        shown = opened.to_xarray()["t"]
    np.testing.assert_array_equal(shown.values, counts)
    assert shown[0].values == -50 and shown.attrs["units"] == unit
    assert ("epoch" in shown.attrs) == (kind == "M8")


def test_times_of_longer_units_are_seconds_if_those_hold_them(tmp_path: Path) -> None:
    made = hyperslab.Schema()
    made.array("year", ["x"], values=np.array(["1920", "NaT"], "M8[Y]"))
    made.array("far", ["x"], values=np.array([10**12, 0]).view("M8[Y]"))
    made.array("quarter", ["x"], values=np.array([1, -1]).view("m8[15m]"))
    hyperslab.write_store(tmp_path / "t.tdb", made)
    shown = hyperslab.open(tmp_path / "t.tdb").to_xarray()
    np.testing.assert_array_equal(shown["year"].values, np.array(["1920-01-01", "NaT"], "M8[s]"))
    np.testing.assert_array_equal(shown["quarter"].values, np.array([900, -900], "m8[s]"))
    with pytest.raises(ValueError, match="/far has times that datetime64.s., which xarray uses for .*, cannot represent"):
        shown["far"].load()


# Missing values


def test_integers_with_missing_values_that_are_no_floats_are_refused(tmp_path: Path) -> None:
    opened = created(
        tmp_path,
        "ndarrays:\n"
        "  exact: {shape: [3], type: {nullable: {base: int64}}, value: [9007199254740992, null, -7]}\n"
        "  large: {shape: [3], type: {nullable: {base: int64}}, value: [9007199254740993, null, -7]}\n",
    )
    shown = opened.to_xarray()
    np.testing.assert_array_equal(shown["exact"].values, [2.0**53, np.nan, -7])
    for part in (shown["large"], shown["large"][0]):
        with pytest.raises(ValueError, match="/large contains 9007199254740993, which float64 cannot represent exactly"):
            part.load()
    np.testing.assert_array_equal(shown["large"][1:].values, [np.nan, -7])
    assert opened["large"][0] == 2**53 + 1


# Zarr


def test_a_zarr_store_names_once_what_it_does_not_show(tmp_path: Path) -> None:
    opened = created(
        tmp_path,
        "# NDL 0.6.1\n# extensions: cells, domain, length, tiledb\n"
        "dimcoords:\n  g: {size: 0, type: string, storage: {length: variable, domain: [null, null]}}\n"
        "ndarrays:\n  v: {shape: [g], type: float64}\n"
        "cells: {columns: [g, v], rows: [[a, 1.0]]}\n",
    )
    with pytest.warns(LeftOutWarning, match="Zarr cannot represent these objects of .*made.tdb: .*v: a column of a sparse array") as told:
        store = ZarrStore(opened)
        group = zarr.open_group(store, mode="r")
        assert list(group) == [] and set(store.left_out) == {"g", "v"}
    assert len(told) == 1
    with pytest.raises(hyperslab.UnsupportedError, match="a column of a sparse array"):
        opened["v"][...]


# Enumerations


ENUMERATIONS = """
ndarrays:
  flag: {shape: [3], type: {enum: {base: uint8, members: {clear: 0, cloudy: 1}}}, value: [clear, cloudy, clear]}
  maybe: {shape: [3], type: {nullable: {base: {enum: {base: int16, members: {low: 0, high: 1}}}}}, value: [low, null, high]}
  words: {shape: [3], type: {enum: {base: uint8, members: {no rain: 0, rain: 1}}}, value: [rain, rain, no rain]}
"""


def test_labels_of_enumerations_are_flag_meanings(tmp_path: Path) -> None:
    opened = created(tmp_path, ENUMERATIONS)
    with pytest.warns(UserWarning, match="the labels of /words are missing.*'no rain', 'rain'") as told:
        shown = opened.to_xarray()
    assert len(told) == 1
    for name, values, meanings in (("flag", [0, 1], "clear cloudy"), ("maybe", [0, 1], "low high")):
        assert shown[name].attrs["flag_meanings"] == meanings
        np.testing.assert_array_equal(shown[name].attrs["flag_values"], values)
        assert shown[name].attrs["flag_values"].dtype == opened[name].dtype
    assert shown["words"].attrs == {}


ORDERED = """
# NDL 0.6.1
# extensions: cells, domain, tiledb
dimcoords:
  x: {size: 9, type: int32, storage: {domain: [0, 8]}}
ndarrays:
  o: {shape: [x], type: {enum: {base: int32, members: {low: 0, high: 1}}}, storage: {tiledb: {enumeration: o}}}
  n: {shape: [x], type: {enum: {base: int32, members: {low: 0, high: 1}}}, storage: {tiledb: {enumeration: n}}}
storage:
  tiledb:
    array: KIND
    enumerations:
      o: {datatype: STRING_UTF8, ordered: true, values: [low, high]}
      n: {datatype: STRING_UTF8, values: [low, high]}
"""


@pytest.mark.parametrize("cells", ["", "cells: {columns: [x, o, n], rows: [[2, low, high], [5, high, low]]}\n"])
def test_ordered_enumerations_are_ordered_in_arrow_and_pandas(tmp_path: Path, cells: str) -> None:
    opened = created(tmp_path, ORDERED.replace("KIND", "sparse" if cells else "dense") + cells)
    for table in (hyperslab.table(opened, *(() if cells else ("o", "n"))),):
        schema = table.to_pyarrow().schema
        assert (schema.field("o").type.ordered, schema.field("n").type.ordered) == (True, False)
        frame = table.to_pandas()
        assert frame["o"].cat.ordered and not frame["n"].cat.ordered
        assert list(frame["o"].cat.categories)[:2] == ["low", "high"]
    if not cells:
        assert pyarrow.array(opened["o"]).type.ordered and not pyarrow.array(opened["n"]).type.ordered


def test_named_enumerations_are_told_as_netcdf4_does(tmp_path: Path) -> None:
    with netCDF4.Dataset(tmp_path / "e.nc", "w") as file:
        file.createDimension("x", 2)
        file.createVariable("c", file.createEnumType("i1", "sky", {"clear": 0, "cloudy": 1}), ("x",))[:] = [0, 1]
    ours = xr.open_dataset(tmp_path / "e.nc", engine="hyperslab")["c"]
    theirs = xr.open_dataset(tmp_path / "e.nc", engine="netcdf4")["c"]
    assert ours.attrs == theirs.attrs == {}
    assert ours.encoding["dtype"].metadata == theirs.encoding["dtype"].metadata


# Byte order


def test_big_endian_numbers_are_told_as_netcdf4_does_and_return(tmp_path: Path) -> None:
    path = tmp_path / "big.nc"
    with netCDF4.Dataset(path, "w") as file, warnings.catch_warnings():
        # netCDF4 warns, whatever the dtype is.
        warnings.simplefilter("ignore")
        file.createDimension("x", 3)
        file.createVariable("f", "f4", ("x",), endian="big")[:] = [1, 2, 3]
        packed = file.createVariable("p", "i2", ("x",), endian="big", fill_value=-9)
        packed.scale_factor = 0.5
        packed[:] = [1, 2, 3]
        file.createVariable("x", "i4", ("x",), endian="big")[:] = [1, 2, 3]
        file.createVariable("d", "f8", ("x",))[:] = [1, 2, 3]
    ours, theirs = (xr.open_dataset(path, engine=engine) for engine in ("hyperslab", "netcdf4"))
    for name, variable in theirs.variables.items():
        assert ours[name].encoding["dtype"].str == variable.encoding["dtype"].str, name
        assert ours[name].dtype.isnative and ours[name].load().dtype == variable.dtype, name
    for target in ("again.nc", "again.h5", "again.zarr", "again.tdb"):
        for dataset in (ours, ours.chunk(x=2)):
            write(dataset, tmp_path / target, overwrite=True)
            again = xr.open_dataset(hyperslab.open(tmp_path / target), engine="hyperslab")
            xr.testing.assert_equal(again.load(), theirs.load())
    with netCDF4.Dataset(tmp_path / "again.nc") as file:
        assert {name: of.endian() for name, of in file.variables.items()} == {"f": "big", "p": "big", "x": "big", "d": "little"}
