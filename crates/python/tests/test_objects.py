"""Groups and arrays: the names that h5py users type, element types, coordinates, identity."""

from __future__ import annotations

import copy
import datetime
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import h5py
import hyperslab
import netCDF4
import numpy as np
import pytest
import zarr
from dask.base import tokenize


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file written by h5py with many types."""
    path = tmp_path_factory.mktemp("objects") / "made.h5"
    with h5py.File(path, "w") as file:
        file.attrs["title"] = "made"
        file.attrs["numbers"] = np.arange(3, dtype="<i2")
        file.attrs["words"] = np.array(["one", "zwei", "три"], dtype=h5py.string_dtype())
        file.attrs["nothing"] = h5py.Empty("f4")
        group = file.create_group("a/b")
        group["text"] = np.array(["Tromsø", "", "x" * 300], dtype=h5py.string_dtype())
        group["bytes"] = np.array([b"ab", b"", b"abcd"], dtype="S4")
        group["broken"] = np.array([b"ok", b"\xff\xfe"], dtype=h5py.string_dtype())
        group["complex"] = np.array([1 + 2j, -0.5j], dtype="c8")
        group["truth"] = np.array([True, False])
        group["half"] = np.array([0.1, -2], dtype="f2")
        group["flags"] = np.array([0, 2, 1], dtype=h5py.enum_dtype({"good": 0, "bad": 1, "lost": 2}, basetype="u1"))
        group.create_dataset("ragged", (2,), h5py.vlen_dtype("i4"))[0] = [1, 2, 3]
        group["empty"] = h5py.Empty("f8")
        group["none"] = np.zeros((0, 3), "f4")
        group["scalar"] = 2.5
        group["word"] = "one text"
        group["opaque"] = np.array([b"\x00\xff\x01"], dtype="V3")
        for name, times in (("dates", np.array(["2026-11-28", "NaT"], "M8[s]")), ("gaps", np.array([5, -3], ">m8[ms]"))):
            group[name] = times.astype(h5py.opaque_dtype(times.dtype))
        tagged = h5py.h5t.create(h5py.h5t.OPAQUE, 8)
        tagged.set_tag(b"NUMPY:M8[fortnight]")
        h5py.h5d.create(group.id, b"tagged", tagged, h5py.h5s.create_simple((2,)))
        nested = np.dtype([("at", [("x", "<f4"), ("y", ">i2")]), ("rgb", "u1", (3,)), ("name", "S4")])
        group.create_dataset("nested", data=np.array([((1.5, -2), [1, 2, 3], b"ab")], dtype=nested))
        file["soft"] = h5py.SoftLink("/a/b/scalar")
        file["dangling"] = h5py.SoftLink("/nowhere")
        file["type"] = np.dtype("f4")
        chunked = group.create_dataset("chunked", (10, 4), "f4", chunks=(4, 4), compression=4, shuffle=True, maxshape=(None, 4))
        chunked[:] = np.arange(40).reshape(10, 4)
    return path


# Groups


def test_groups_have_the_names_of_h5py(made: Path) -> None:
    ours, theirs = hyperslab.open(made), h5py.File(made)
    for name in ("/", "a", "a/b"):
        mine, other = ours[name], theirs[name]
        assert mine.name == other.name
        assert set(mine) == set(mine.keys()) == set(other.keys()) and len(mine) == len(other)
        assert set(mine.attrs) == set(other.attrs)
    group, other = ours["a/b"], theirs["a/b"]
    assert [name for name, _ in group.items()] == list(group) and len(list(group.values())) == len(group)
    assert "a/b/text" in ours and "/a/b" in ours and "a/none" not in ours and 3 not in ours and "dangling" not in ours
    assert ours.get("missing") is None and ours.get("missing", 3) == 3
    assert group["/a/b/half"] == group["half"] == ours["a"]["b"]["half"]
    assert group.parent.name == other.parent.name == "/a"
    assert ours.parent.name == theirs.parent.name == "/"
    assert ours["soft"][()] == theirs["soft"][()] == 2.5
    assert ours.links["dangling"] == "/nowhere"
    assert isinstance(ours["type"], hyperslab.Datatype)
    with pytest.raises(TypeError):
        ours[0]  # type: ignore[index]


def test_arrays_have_the_names_of_h5py(made: Path) -> None:
    ours, theirs = hyperslab.open(made)["a/b"], h5py.File(made)["a/b"]
    for name, other in theirs.items():
        if other.shape is None:
            continue
        mine = ours[name]
        for word in ("name", "shape", "ndim", "size", "chunks"):
            assert getattr(mine, word) == getattr(other, word), (name, word)
        if mine.dtype.kind not in "OV":
            assert mine.dtype == other.dtype and mine.nbytes == other.nbytes, name
        if other.shape:
            assert len(mine) == len(other)
    with pytest.raises(TypeError):
        len(ours["scalar"])
    np.testing.assert_array_equal(list(ours["half"]), list(theirs["half"]))
    assert [name for name, _ in ours["chunked"].filters] == ["shuffle", "deflate"]
    assert ours["chunked"].storage["chunk"] == [4, 4] and ours["chunked"].unlimited == [True, False]
    np.testing.assert_array_equal(ours["chunked"].astype("i8")[2:4], theirs["chunked"].astype("i8")[2:4])


def test_walk_visits_what_h5py_visits(made: Path) -> None:
    visited: list[str] = []
    h5py.File(made).visititems(lambda name, of: visited.append("/" + name) if not isinstance(of, h5py.Datatype) else None)
    ours = hyperslab.open(made)
    assert {found.name for found in ours.walk()} == set(visited)
    assert {found.name for found in ours.walk(depth=0)} == {"/a"}
    assert {found.name for found in ours.walk(depth=1)} == {"/a", "/a/b"}


def test_open_begins_at_a_group(made: Path) -> None:
    assert hyperslab.open(made, "/a/b") == hyperslab.open(made, "a/b") == hyperslab.open(made)["a/b"]
    assert hyperslab.open_array(made, "a/b/half") == hyperslab.open(made)["a/b/half"]
    with hyperslab.open(str(made)) as group:
        assert group.format == "HDF5" and group.size == made.stat().st_size
    with pytest.raises(KeyError):
        hyperslab.open(made, "/a/b/half")
    with pytest.raises(KeyError):
        hyperslab.open_array(made, "/a")
    with pytest.raises(TypeError):
        hyperslab.open_array(made, "/a/b/half", sheep=3)


def test_a_store_can_be_an_array(examples: Path) -> None:
    array = hyperslab.open_array(examples / "single.zarr.zip")
    expected = zarr.open_array(zarr.storage.ZipStore(examples / "single.zarr.zip", mode="r"))
    np.testing.assert_array_equal(array[...], expected[...])
    with pytest.raises(hyperslab.NoObjectError, match="open_array"):
        hyperslab.open(examples / "single.zarr.zip")


# Types of elements


def test_elements_of_every_type(made: Path) -> None:
    ours, theirs = hyperslab.open(made)["a/b"], h5py.File(made)["a/b"]
    for name in ("bytes", "half", "none", "chunked", "dates", "gaps"):
        np.testing.assert_array_equal(ours[name][...], theirs[name][...], strict=True)
    assert ours["text"][...].tolist() == theirs["text"].asstr()[...].tolist()
    assert ours["word"][()] == theirs["word"].asstr()[()] == "one text"
    assert ours["opaque"][...].tobytes() == b"\x00\xff\x01" and ours["opaque"].dtype == "V3"
    assert ours["tagged"].dtype == "V8" and ours["dates"][0] == np.datetime64("2026-11-28")
    ragged = ours["ragged"][...]
    assert [part.tolist() for part in ragged] == [[1, 2, 3], []] and ragged[0].dtype == "i4"
    nested, other = ours["nested"], theirs["nested"]
    for name in ("rgb", "name"):
        np.testing.assert_array_equal(nested[name], other[name])
    for name in ("x", "y"):
        np.testing.assert_array_equal(nested["at"][name], other["at"][name])
    assert hyperslab.open(made, chunk_cache=0)["a/b/chunked"][9, 3] == 39


def test_booleans_and_complex_numbers_of_h5py(made: Path) -> None:
    ours, theirs = hyperslab.open(made)["a/b"], h5py.File(made)["a/b"]
    for name in ("truth", "complex"):
        np.testing.assert_array_equal(ours[name][...], theirs[name][...], strict=True)


def test_enumerations_have_their_names_as_metadata(made: Path) -> None:
    ours, theirs = hyperslab.open(made)["a/b/flags"], h5py.File(made)["a/b/flags"]
    assert ours.dtype == theirs.dtype
    assert h5py.check_enum_dtype(ours.dtype) == h5py.check_enum_dtype(theirs.dtype) == {"good": 0, "bad": 1, "lost": 2}
    np.testing.assert_array_equal(ours[...], theirs[...])


def test_text_as_objects_strings_and_bytes(made: Path) -> None:
    text = hyperslab.open(made)["a/b/text"]
    assert h5py.check_string_dtype(text.dtype) is not None and text[...].dtype == object
    words = ["Tromsø", "", "x" * 300]
    assert text.read(text="object").tolist() == words
    strings = text.read(text="string")
    assert strings.dtype == np.dtypes.StringDType() and strings.tolist() == words
    assert text.read(text="bytes").tolist() == [word.encode() for word in words]
    assert text.read(slice(0, 1), text="bytes").tolist() == ["Tromsø".encode()]
    with pytest.raises(ValueError, match="expected object, string or bytes"):
        text.read(text="words")


def test_texts_of_a_fixed_length(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["s"] = np.array([b"a", "öä".encode()], "S6")
    array = hyperslab.open(tmp_path / "t.h5")["s"]
    assert array[...].dtype == array.read().dtype == array.read(text="bytes").dtype == np.dtype("S6")
    assert array.read(text="object").tolist() == ["a", "öä"]
    if hasattr(np.dtypes, "StringDType"):
        strings = array.read(text="string")
        assert strings.dtype == np.dtypes.StringDType() and strings.tolist() == ["a", "öä"]


def test_labels_mean_themselves(tmp_path: Path) -> None:
    names = ["Oslo, N", "O'Brien", "a,0", "x..y", " b", "[1]", ""]
    made = hyperslab.Schema()
    made.array("a=b", ["a=b"], values=np.array(names, dtype=object))
    made.array("t", ["a=b"], values=np.arange(7))
    hyperslab.write_store(tmp_path / "t.h5", made)
    array = hyperslab.open(tmp_path / "t.h5")["t"]
    for number, name in enumerate(names):
        assert array.sel(**{"a=b": name}) == number, name


def test_links_that_lead_nowhere_are_none(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["x"] = [1, 2]
        file["gone"] = h5py.SoftLink("/nothing")
        expected = {name: item is None for name, item in file.items()}
    group = hyperslab.open(tmp_path / "t.h5")
    assert {name: item is None for name, item in group.items()} == expected == {"gone": True, "x": False}
    assert [item is None for item in group.values()] == [True, False]
    with pytest.raises(KeyError):
        group["gone"]


def test_attributes_cannot_be_changed(made: Path) -> None:
    group = hyperslab.open(made)
    for attributes in (group.attrs, next(of for of in group.walk() if isinstance(of, hyperslab.Array)).attrs):
        with pytest.raises(TypeError, match="are read-only"):
            attributes["new"] = 1
        assert type(copy.deepcopy(attributes)) is type(pickle.loads(pickle.dumps(attributes))) is dict
        assert list(copy.copy(attributes)) == list(attributes)


def test_a_folder_for_other_files(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file.create_dataset("there", data=np.array([1, 2], "i4"), external=[(str(elsewhere / "raw"), 0, 8)])
    with pytest.raises(hyperslab.Error, match="allow_external"):
        hyperslab.open(tmp_path / "t.h5")["there"][...]
    for folders in (elsewhere, str(elsewhere), [elsewhere]):
        assert hyperslab.open(tmp_path / "t.h5", allow_external=folders)["there"][...].tolist() == [1, 2]


def test_text_that_is_not_utf_8(made: Path) -> None:
    broken = hyperslab.open(made)["a/b/broken"]
    assert broken.read(errors="replace").tolist() == ["ok", "\ufffd\ufffd"]
    with pytest.raises(hyperslab.FormatError, match="not UTF-8"):
        broken[...]
    assert broken.read(text="bytes").tolist() == [b"ok", b"\xff\xfe"]
    for text in ("object", "string"):
        with pytest.raises(hyperslab.Error):
            broken.read(text=text, errors="strict")
        assert broken.read([0], text=text, errors="strict").tolist() == ["ok"]
    with pytest.raises(ValueError, match="expected strict or replace"):
        broken.read(errors="ignore")


def test_null_dataspaces_and_zero_size(made: Path) -> None:
    ours = hyperslab.open(made)["a/b"]
    assert ours["empty"].is_empty_space and ours["empty"].size == 0 and ours["empty"].nbytes == 0
    with pytest.raises(ValueError, match="null dataspace"):
        ours["empty"][...]
    assert ours["none"][...].shape == (0, 3) and ours["none"][:, 1].shape == (0,)
    assert not ours["scalar"].is_empty_space and ours["scalar"].size == 1 and ours["scalar"][()] == 2.5
    assert isinstance(ours["scalar"][()], np.float64)


def test_attributes_are_values(made: Path) -> None:
    attrs, theirs = hyperslab.open(made).attrs, h5py.File(made).attrs
    assert attrs["title"] == theirs["title"] == "made"
    np.testing.assert_array_equal(attrs["numbers"], theirs["numbers"], strict=True)
    assert list(attrs["words"]) == list(theirs["words"])
    assert attrs["nothing"] is None


def test_booleans_dates_and_complex_numbers_of_zarr(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path / "a.zarr", mode="w")
    dates = np.array(["2024-03-01T12:00", "NaT"], dtype="M8[s]")
    spans = np.array([5, -1], dtype="m8[ms]")
    values: dict[str, np.ndarray] = {
        "flag": np.array([True, False, True]),
        "date": dates,
        "span": spans,
        "complex": np.array([1 + 2j, np.nan], dtype="c16"),
        "wide": np.array(["Åse", ""], dtype="U5"),
    }
    for name, of in values.items():
        root.create_array(name, data=of)
    ours = hyperslab.open(tmp_path / "a.zarr")
    for name, of in values.items():
        np.testing.assert_array_equal(ours[name][...], of, strict=True)


def test_nullable_elements_are_masked(examples: Path) -> None:
    quality = hyperslab.open(examples / "survey.tdb")["temperature/quality"]
    read = quality[...]
    assert isinstance(read, np.ma.MaskedArray) and read.dtype == quality.dtype == "u1"
    assert read.mask.any() and not read.mask.all()
    part = quality[1:3, ::2]
    np.testing.assert_array_equal(part.mask, read.mask[1:3, ::2])
    np.testing.assert_array_equal(part.filled(9), read[1:3, ::2].filled(9))


def test_arrays_are_arrays_of_numpy(examples: Path) -> None:
    salinity = hyperslab.open(examples / "ocean.nc")["salinity"]
    values = h5py.File(examples / "ocean.nc")["salinity"][()]
    np.testing.assert_array_equal(np.asarray(salinity), values)
    assert np.asarray(salinity, dtype="f8").dtype == "f8" and np.array(salinity).flags.writeable
    np.testing.assert_array_equal(np.from_dlpack(salinity), values)
    assert np.mean(salinity) == np.mean(values)
    with pytest.raises(ValueError):
        np.asarray(salinity, copy=False)


def test_the_chunk_table_is_that_of_h5py(made: Path) -> None:
    table = hyperslab.open(made)["a/b/chunked"].chunk_table()
    chunks = h5py.File(made)["a/b/chunked"].id
    stored = [chunks.get_chunk_info(number) for number in range(chunks.get_num_chunks())]
    expected = {tuple(of // 4 for of in info.chunk_offset): (info.byte_offset, info.size, info.filter_mask) for info in stored}
    found = {
        tuple(map(int, at)): (int(offset), int(length), int(mask))
        for at, offset, length, mask in zip(table.index, table.offset, table.length, table.mask, strict=True)
    }
    assert found == expected and len(found) == 3
    assert [table.file[which] for which in table.which] == [None] * 3


# Coordinates


@pytest.mark.parametrize(
    ("labels", "key"),
    [
        ({"time": "2024-03"}, np.s_[0:5]),
        ({"time": "2024-03-08"}, np.s_[1]),
        ({"time": np.datetime64("2024-03-08")}, np.s_[1]),
        ({"time": datetime.date(2024, 3, 8)}, np.s_[1]),
        ({"time": datetime.datetime(2024, 3, 8)}, np.s_[1]),
        ({"time": slice("2024-03-08", "2024-04-01")}, np.s_[1:5]),
        ({"time": slice(None, "2024-03-08")}, np.s_[0:2]),
        ({"time": slice("2024-03-08", None)}, np.s_[1:]),
        ({"depth": 0.0}, np.s_[:, 0]),
        ({"lat": slice(58, 59)}, np.s_[:, :, 1:3]),
        ({"depth": 0, "time": "2024-03-08"}, np.s_[1, 0]),
    ],
)
def test_selection_by_coordinates(examples: Path, labels: dict[str, Any], key: Any) -> None:
    with netCDF4.Dataset(examples / "ocean.nc") as theirs:
        expected = theirs["salinity"][key]
    found = hyperslab.open(examples / "ocean.nc")["salinity"].sel(**labels)
    np.testing.assert_array_equal(np.squeeze(found), np.squeeze(expected))


def test_coordinates_that_are_not_there(examples: Path) -> None:
    salinity = hyperslab.open(examples / "ocean.nc")["salinity"]
    with pytest.raises(KeyError, match="no coordinate"):
        salinity.sel(lat=999.0)
    with pytest.raises(ValueError, match="no dimension nothing"):
        salinity.sel(nothing=3)
    with pytest.raises(ValueError, match="step"):
        salinity.sel(lat=slice(58, 59, 2))
    assert salinity.sel(time=slice("1900", "1901")).shape[0] == 0


def test_dimensions(examples: Path) -> None:
    ocean = hyperslab.open(examples / "ocean.nc")
    with netCDF4.Dataset(examples / "ocean.nc") as theirs:
        assert {name: (dim.size, dim.unlimited) for name, dim in ocean.dims.items()} == {
            name: (dim.size, dim.isunlimited()) for name, dim in theirs.dimensions.items()
        }
        for name, variable in theirs.variables.items():
            assert ocean[name].dims == variable.dimensions
            assert ocean[name].shape == variable.shape
    assert isinstance(ocean["bound"], hyperslab.Dimension)


# Identity


def test_objects_return_from_pickles_and_copies(made: Path) -> None:
    group = hyperslab.open(made)
    for found in (group, group["a"], group["a/b/text"], group["a/b/chunked"]):
        for again in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
            assert again == found and hash(again) == hash(found) and again.name == found.name
            assert type(again) is type(found)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(group["a/b/chunked"]))[...], group["a/b/chunked"][...])
    assert len(pickle.dumps(group["a/b/chunked"])) < 1000
    memory = hyperslab.open(made.read_bytes())
    again = pickle.loads(pickle.dumps(memory["a/b/half"]))
    np.testing.assert_array_equal(again[...], memory["a/b/half"][...])


def test_pickles_of_another_place(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "there"
    there.mkdir()
    shutil.copy2(made, there / "t.h5")
    monkeypatch.chdir(there)
    array = next(of for of in hyperslab.open("t.h5").walk() if isinstance(of, hyperslab.Array))
    pickled = pickle.dumps(array)
    monkeypatch.chdir(tmp_path)
    assert pickle.loads(pickled).shape == array.shape
    # On another host, the device and the file have other numbers.
    shutil.copy2(made, there / "new.h5")
    (there / "new.h5").replace(there / "t.h5")
    assert pickle.loads(pickled).shape == array.shape
    os.utime(there / "t.h5", (1, 1))
    with pytest.raises(OSError, match="was replaced"):
        pickle.loads(pickled)


def test_pickles_of_a_folder_that_grows(tmp_path: Path) -> None:
    made = hyperslab.Schema()
    made.array("t", [None], values=np.arange(3))
    hyperslab.write_store(tmp_path / "t.zarr", made)
    pickled = pickle.dumps(hyperslab.open(tmp_path / "t.zarr")["t"])
    (tmp_path / "t.zarr" / "more").mkdir()
    assert pickle.loads(pickled)[...].tolist() == [0, 1, 2]


def test_files_by_url_are_those_of_their_paths(made: Path) -> None:
    assert hyperslab.open(f"file://{made}") == hyperslab.open(made)


def test_equality_and_tokens(made: Path, tmp_path: Path) -> None:
    group, again, raw = hyperslab.open(made), hyperslab.open(made), hyperslab.open(made, raw=True)
    assert group == again and group["a/b/half"] == again["a/b/half"] and hash(group) == hash(again)
    assert group != raw and group["a"] != group and group["a/b/half"] != group["a/b/text"] and group != 3
    assert group["a/b/half"] != group["a/b"]
    assert tokenize(group) == tokenize(again) and tokenize(group["a"]) == tokenize(again["a"])
    assert len({tokenize(of) for of in (group, raw, group["a"], group["a/b/half"], group["a/b/text"])}) == 5
    other = tmp_path / "copy.h5"
    other.write_bytes(made.read_bytes())
    assert hyperslab.open(other) != group and tokenize(hyperslab.open(other)) != tokenize(group)


def test_what_is_shown(examples: Path, made: Path) -> None:
    ocean = hyperslab.open(examples / "ocean.nc")
    assert repr(ocean).startswith('<hyperslab.Group "/" of ') and "15 members" in repr(ocean)
    assert "shape (9, 5, 3, 8), type float32" in repr(ocean["salinity"])
    page = ocean._repr_html_()
    for word in ("time: 9 (unlimited)", "salinity", "deflate", "Skagerrak"):
        assert word in page
    assert "chunks of (9, 1, 3, 8)" in ocean["salinity"]._repr_html_()
    for found in hyperslab.open(made).walk():
        assert found._repr_html_().count("<table>") == found._repr_html_().count("</table>") > 0
    assert "bytes" in repr(hyperslab.open(made.read_bytes()))


def test_text_in_html_is_escaped(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "<b>.h5", "w") as file:
        file.attrs["<script>"] = "<script>alert(1)</script>"
        file.create_dataset("<i>x", data=[1]).attrs["a"] = "<u>"
    group = hyperslab.open(tmp_path / "<b>.h5")
    for page in (group._repr_html_(), group["<i>x"]._repr_html_()):
        assert "<script" not in page and "<i>" not in page and "<u>" not in page


def test_threads_can_be_set() -> None:
    before = hyperslab.threads()
    try:
        hyperslab.set_threads(3)
        assert hyperslab.threads() == 3
    finally:
        hyperslab.set_threads(before)


def test_arrays_of_sequences_within_elements_have_their_shape(examples: Path) -> None:
    array = hyperslab.open(examples / "datatypes.h5")["made_of_others/array_of_vlen"]
    assert array[...].shape == array.shape


def test_columns_of_cells_are_refused(examples: Path) -> None:
    survey = hyperslab.open(examples / "survey.tdb")
    with pytest.raises(hyperslab.UnsupportedError, match="a column of a sparse array, whose cells have no positions"):
        survey["sightings/species"][...]


def test_committed_datatypes_have_their_attributes(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["t"] = np.dtype("i4")
        file["t"].attrs["doc"] = "x"
    found = hyperslab.open(tmp_path / "t.h5")["t"]
    assert found.path == "/t" and found.attrs == {"doc": "x"}
