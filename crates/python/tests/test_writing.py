"""Stores written from NumPy, xarray and Dask, and read by the libraries of their formats."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import h5py
import hyperslab
import netCDF4
import numpy as np
import pyarrow as pa
import pytest
import xarray as xr
import zarr

TARGETS = ["t.nc", "t.h5", "t.zarr", "t.tdb"]


def schema() -> hyperslab.Schema:
    made = hyperslab.Schema({"title": "parts", "list": np.array([1, 2], dtype="i4")})
    made.dimension("time", 5, unlimited=True)
    made.array("x", ["x"], values=np.arange(4.0), attrs={"units": "m"})
    made.array("t", ["time", "x"], dtype="f4", chunks=[2, 3], filters=["shuffle", {"deflate": 4}], fill_value=-1)
    made.array("g/names", [None], shape=[3], dtype=object)
    return made


VALUES = np.arange(20, dtype="f4").reshape(5, 4)


def write_rows(writer: hyperslab.Writer, start: int) -> str:
    return writer.write("/t", (slice(start, start + 2), slice(0, 4)), VALUES[start : start + 2])


@pytest.mark.parametrize("name", TARGETS)
def test_processes_write_one_store(tmp_path: Path, name: str) -> None:
    target = tmp_path / name
    writer = hyperslab.create_store(target, schema())
    assert sorted(writer.waiting) == ["/g/names", "/t"]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        receipts = pool.starmap(write_rows, [(writer, start) for start in (4, 0, 2)])
    receipts.append(writer.write("g/names", ..., np.array(["one", "", "drei"], dtype=object)))
    assert not target.exists()
    writer.finish(receipts + receipts[:1])
    assert [path.name for path in tmp_path.iterdir()] == [name]
    read = hyperslab.open(target)
    np.testing.assert_array_equal(read["t"][...], VALUES)
    assert read["g/names"][...].tolist() == ["one", "", "drei"]
    assert read["t"].dims == ("time", "x")
    assert read.attrs["title"] == "parts"


def test_the_libraries_of_the_formats_read_what_was_written(tmp_path: Path) -> None:
    for name in TARGETS[:3]:
        writer = hyperslab.create_store(tmp_path / name, schema())
        receipts = [write_rows(writer, start) for start in (0, 2, 4)]
        receipts.append(writer.write("g/names", ..., np.array(["a", "b", "c"], dtype=object)))
        writer.finish(receipts)
    with netCDF4.Dataset(tmp_path / "t.nc") as file:
        assert file.dimensions["time"].isunlimited() and not file.dimensions["x"].isunlimited()
        assert file["t"].filters()["zlib"] and file["t"].chunking() == [2, 3]
        np.testing.assert_array_equal(file["t"][:], VALUES)
        assert file["t"]._FillValue == -1 if "_FillValue" in file["t"].ncattrs() else True
        assert file["g/names"][:].tolist() == ["a", "b", "c"]
    with h5py.File(tmp_path / "t.h5") as file:
        np.testing.assert_array_equal(file["t"][:], VALUES)
    group = zarr.open_group(tmp_path / "t.zarr", mode="r")
    np.testing.assert_array_equal(group["t"][:], VALUES)


@pytest.mark.parametrize("allowed", ["all", "types,names", ["types"], "", []])
def test_losses_are_named_in_a_text_or_a_list(tmp_path: Path, allowed: str | list[str]) -> None:
    hyperslab.create_store(tmp_path / "a.nc", schema(), allow_loss=allowed).abandon()
    values = hyperslab.Schema()
    values.array("x", ["x"], values=np.arange(4.0))
    assert not hyperslab.write_store(tmp_path / "b.nc", values, allow_loss=allowed).losses


def test_blocks_that_cut_chunks_are_refused_with_the_rechunking(tmp_path: Path) -> None:
    da = pytest.importorskip("dask.array")
    import hyperslab.dask

    writer = hyperslab.create_store(tmp_path / "t.nc", schema())
    wrong = da.from_array(VALUES, chunks=(3, 4))
    with pytest.raises(ValueError, match=r"cut across chunks of 2; rechunk with \.rechunk\(\(2, 3\)\)"):
        hyperslab.dask.blocks(writer, "/t", wrong)
    with pytest.raises(ValueError, match="which cuts chunks of"):
        writer.write("t", (slice(1, 3), slice(0, 4)), VALUES[1:3])
    with pytest.raises(ValueError, match="no source array for /g/names"):
        hyperslab.dask.store(writer, {"t": wrong.rechunk((2, 3))})
    writer.abandon()
    assert list(tmp_path.iterdir()) == []


def test_a_client_that_is_killed_leaves_nothing_at_the_target(tmp_path: Path) -> None:
    target = tmp_path / "t.nc"
    script = textwrap.dedent(f"""
        import os, signal, sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        import test_writing
        writer = test_writing.hyperslab.create_store({os.fspath(target)!r}, test_writing.schema())
        test_writing.write_rows(writer, 0)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    done = subprocess.run([sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == -signal.SIGKILL
    assert not target.exists()
    writer = hyperslab.create_store(target, schema())
    copy = pickle.loads(pickle.dumps(writer))
    receipts = [write_rows(copy, start) for start in (0, 2, 4)]
    receipts.append(copy.write("g/names", ..., np.array(["a", "b", "c"], dtype=object)))
    writer.finish(receipts)
    assert target.exists()


# NetCDF-4 does not have these types, and stores others in their place.
NOT_IN_NETCDF = {"f2", "c8", "c16", "?", "M8[ns]", "m8[s]", "S5"}
DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "?", "S5", "M8[ns]", "m8[s]"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", TARGETS)
def test_all_dtypes_return(tmp_path: Path, dtype: str, name: str) -> None:
    if name.endswith(".nc") and dtype in NOT_IN_NETCDF or name.endswith(".h5") and dtype[0] in "Mm":
        return
    kind = np.dtype(dtype)
    raw = np.random.default_rng(7).integers(0, 100, 24)
    values = raw.astype("S5") if kind.kind == "S" else raw.astype(kind)
    made = hyperslab.Schema()
    made.array("a", ["n"], values=values)
    swapped = values.astype(kind.newbyteorder(">")) if kind.kind not in "S?" else values
    made.array("b", ["n"], values=swapped)
    from hyperslab._writing import write_store

    write_store(tmp_path / name, made)
    read = hyperslab.open(tmp_path / name)
    for array in ("a", "b"):
        found = read[array][...]
        np.testing.assert_array_equal(found, values)
        assert found.dtype == kind, array


def test_compounds_and_enumerations_return(tmp_path: Path) -> None:
    pairs = np.zeros(3, dtype=np.dtype({"names": ["x", "y"], "formats": ["i2", ">f8"], "offsets": [0, 8], "itemsize": 24}))
    pairs["x"], pairs["y"] = [1, 2, 3], [0.5, 1.5, 2.5]
    flags = np.array([0, 2, 1], dtype=np.dtype("i1", metadata={"enum": {"low": 0, "mid": 1, "high": 2}}))
    made = hyperslab.Schema()
    made.array("pairs", [None], values=pairs)
    made.array("flags", [None], values=flags)
    from hyperslab._writing import write_store

    write_store(tmp_path / "t.h5", made)
    with h5py.File(tmp_path / "t.h5") as file:
        assert file["pairs"]["x"].tolist() == [1, 2, 3] and file["pairs"]["y"].tolist() == [0.5, 1.5, 2.5]
        assert h5py.check_enum_dtype(file["flags"].dtype) == {"low": 0, "mid": 1, "high": 2}
    read = hyperslab.open(tmp_path / "t.h5")
    assert read["flags"].dtype.metadata == {"enum": {"low": 0, "mid": 1, "high": 2}}


def ragged(kind: Any, *rows: Any) -> np.ndarray:
    made = np.empty(len(rows), h5py.vlen_dtype(kind))
    for index, row in enumerate(rows):
        made[index] = np.array(row, kind)
    return made


NESTED = np.dtype(
    [
        ("name", h5py.string_dtype()),
        ("steps", h5py.vlen_dtype("i2")),
        ("at", [("x", "f4"), ("label", h5py.string_dtype())]),
        ("grid", "i4", (2, 2)),
        ("tags", h5py.string_dtype(), (2,)),
        ("fixed", "S3"),
    ]
)


def nested() -> np.ndarray:
    rows = [
        ("ä", np.array([1, 2], "i2"), (0.5, "p"), [[1, 2], [3, 4]], ["k", "ll"], b"abc"),
        ("", np.array([], "i2"), (1.5, ""), [[5, 6], [7, 8]], ["", "m"], b""),
        ("longer", np.array([-3], "i2"), (2.5, "q"), [[9, 0], [1, 2]], ["n", ""], b"z"),
    ]
    return np.array(rows, NESTED)


def plain(value: Any) -> Any:
    """Elements as lists and tuples, with strings decoded."""
    if isinstance(value, (np.ndarray, list)):
        return [plain(item) for item in value]
    if isinstance(value, (tuple, np.void)):
        return tuple(plain(item) for item in value)
    if isinstance(value, bytes):
        return value.decode()
    return value.item() if isinstance(value, np.generic) else value


def test_sequences_and_compounds_of_texts_are_written(tmp_path: Path) -> None:
    sequences = ragged(">i4", [1, 2, 3], [], [4])
    deep = np.empty(2, h5py.vlen_dtype(h5py.vlen_dtype("f8")))
    deep[0], deep[1] = ragged("f8", [1.5], [2.5, 3.5]), ragged("f8")
    made = hyperslab.Schema({"sequences": sequences, "nested": nested()[0]})
    made.array("nested", ["n"], values=nested())
    made.array("sequences", ["n"], values=sequences)
    made.array("found", ["n"], values=np.array([np.arange(2), np.arange(3), np.arange(0)], dtype=object))
    made.array("lists", ["n"], dtype=h5py.vlen_dtype("u1"), values=[[1, 2], [3, 4], []])
    made.array("words", ["n"], dtype=h5py.vlen_dtype(h5py.string_dtype()), values=[["a"], [], ["b", "cc"]])
    made.array("deep", [None], values=deep)
    path = tmp_path / "t.h5"
    hyperslab.write_store(path, made)
    with h5py.File(path) as file:
        assert plain(file["nested"][...]) == plain(nested())
        names = {name: h5py.check_string_dtype(file["nested"].dtype[name]) for name in ("name", "fixed")}
        assert names["name"].length is None and names["fixed"].length == 3
        assert h5py.check_vlen_dtype(file["nested"].dtype["steps"]) == np.dtype("i2")
        assert plain(file["sequences"][...]) == plain(file.attrs["sequences"]) == [[1, 2, 3], [], [4]]
        assert plain(file.attrs["nested"]) == plain(nested()[0])
        assert plain(file["found"][...]) == [[0, 1], [0, 1, 2], []]
        assert file["found"][0].dtype == np.dtype("i8") and file["lists"][0].dtype == np.dtype("u1")
        assert plain(file["lists"][...]) == [[1, 2], [3, 4], []]
        assert plain(file["words"][...]) == [["a"], [], ["b", "cc"]]
        assert plain(file["deep"][...]) == [[[1.5], [2.5, 3.5]], []]
    # What was read is written again unchanged.
    read, again = hyperslab.open(path), hyperslab.Schema(dict(hyperslab.open(path).attrs))
    names = ["nested", "sequences", "found", "lists", "words", "deep"]
    for name in names:
        again.array(name, [None], values=read[name][...], dtype=read[name].dtype)
    hyperslab.write_store(tmp_path / "again.h5", again)
    with h5py.File(path) as first, h5py.File(tmp_path / "again.h5") as second:
        assert sorted(second) == sorted(names) and sorted(second.attrs) == sorted(first.attrs)
        for name in names:
            assert plain(second[name][...]) == plain(first[name][...]), name
            assert second[name].id.get_type().equal(first[name].id.get_type()), name
        for name in first.attrs:
            assert plain(second.attrs[name]) == plain(first.attrs[name]), name


def test_regions_of_sequences_and_compounds_of_texts(tmp_path: Path) -> None:
    made = hyperslab.Schema()
    made.array("nested", ["n"], dtype=NESTED, shape=[3], chunks=[2])
    made.array("sequences", ["n"], dtype=h5py.vlen_dtype("i4"), shape=[3], chunks=[2])
    writer = hyperslab.create_store(tmp_path / "t.h5", made)
    receipts = []
    for part in (slice(2, 3), slice(0, 2)):
        receipts.append(writer.write("nested", part, nested()[part]))
        receipts.append(writer.write("sequences", part, [[1, 2], [], [3]][part]))
    writer.finish(receipts)
    with h5py.File(tmp_path / "t.h5") as file:
        assert plain(file["nested"][...]) == plain(nested())
        assert plain(file["sequences"][...]) == [[1, 2], [], [3]]


@pytest.mark.parametrize(
    ("values", "dtype", "said"),
    [
        ([[1, 70_000]], h5py.vlen_dtype("i2"), "element 0: values that cannot be represented as int16"),
        ([[1.5]], h5py.vlen_dtype("i2"), "element 0: values of dtype float64, expected int16"),
        ([[[1], [2]]], h5py.vlen_dtype("i2"), "element 0: a value with 2 dimensions"),
        ([None], h5py.vlen_dtype("i2"), "element 0: a value of type NoneType, expected a sequence of int16"),
        (np.array([("a", 1)], [("name", "O"), ("x", "i4")])[["x", "name"]], [("name", "O"), ("x", "i4")], "expected"),
        (np.array([(3, 1)], [("name", "O"), ("x", "i4")]), None, "member name: an element of type int"),
    ],
)
def test_what_is_no_sequence_or_text(values: Any, dtype: Any, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        hyperslab.Schema().array("a", [None], dtype=dtype, values=values)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"chunks": [2, 2]}, "chunks with 2 dimensions, expected 1"),
        ({"chunks": [0]}, "expected positive lengths"),
        ({"shards": [4, 4]}, "shards with 2 dimensions"),
        ({"filters": [{"deflate": 99}]}, "level 99, expected a number from 0 to 9"),
        ({"fill_value": 1e40}, "expected int32"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_what_no_array_is_stored_with(options: Any, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        hyperslab.Schema().array("a", [None], values=np.arange(4, dtype="i4"), **options)


@pytest.mark.parametrize("name", ["t.h5", "t.zarr", "t.tdb"])
def test_brain_floats_are_written(tmp_path: Path, name: str) -> None:
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    made = hyperslab.Schema()
    made.array("a", [None], values=np.array([1.5, -2], bfloat16))
    hyperslab.write_store(tmp_path / name, made)
    found = hyperslab.open(tmp_path / name)["a"][...]
    assert found.dtype == bfloat16 and found.tolist() == [1.5, -2]


def test_null_references_lead_nowhere(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["null"], file["x"] = [999], [1]
        file.create_dataset("references", (2,), dtype=h5py.ref_dtype)[0] = file["x"].ref
        file.attrs["reference"] = h5py.Reference()
    read = hyperslab.open(tmp_path / "t.h5")
    assert read["references"][...].tolist() == ["/x", None]
    assert read.attrs["reference"] is None
    assert pa.array(read["references"]).to_pylist() == ["/x", None]


def dataset() -> xr.Dataset:
    times = np.array(["2024-01-01", "2024-01-02", "2024-01-04"], dtype="M8[ns]")
    return xr.Dataset(
        {
            "t": (("time", "x"), np.array([[1.5, np.nan], [2, 3], [4, 5]]), {"units": "K"}),
            "flag": (("x",), np.array([True, False])),
            "name": (("x",), np.array(["a", "öä"], dtype=object)),
            "wait": (("time",), np.array([1, 2, 3], dtype="m8[h]").astype("m8[ns]")),
            "scalar": ((), np.int16(7)),
        },
        {"time": times, "x": [10, 20]},
        {"title": "both", "numbers": np.array([1.0, 2.0])},
    )


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(("name", "engine"), [("t.nc", "netcdf4"), ("t.nc", "h5netcdf"), ("t.zarr", "zarr")])
def test_xarray_reads_the_dataset_that_was_written(tmp_path: Path, name: str, engine: str, lazy: bool) -> None:
    from hyperslab.xarray import write

    source = dataset()
    if lazy:
        pytest.importorskip("dask")
        source = source.chunk({"time": 2, "x": 2})
    packed = {"t": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -9, "zlib": True}}
    write(source, tmp_path / name, encoding=packed, unlimited_dims=["time"])
    options = {"consolidated": False} if engine == "zarr" else {}
    with xr.open_dataset(tmp_path / name, engine=engine, **options) as found:
        xr.testing.assert_identical(found.load(), dataset())
        if engine != "zarr":
            assert found.encoding["unlimited_dims"] == {"time"}
            assert found["t"].encoding["zlib"] and found["t"].encoding["dtype"] == np.dtype("i2")


def test_a_tree_is_written_and_read(tmp_path: Path) -> None:
    from hyperslab.xarray import write

    tree = xr.DataTree.from_dict({"/": dataset()[["x"]], "/a": dataset()[["name"]].drop_vars("x"), "/a/b": xr.Dataset({"v": 1.5})})
    write(tree, tmp_path / "t.nc")
    with xr.open_datatree(tmp_path / "t.nc", engine="netcdf4") as found:
        xr.testing.assert_identical(found.load(), tree)


def cut(dataset: xr.Dataset, lazy: bool, **chunks: int) -> xr.Dataset:
    if not lazy:
        return dataset
    pytest.importorskip("dask")
    return dataset.chunk(chunks)


@pytest.mark.parametrize("lazy", [False, True])
def test_what_is_stored_otherwise_is_told(tmp_path: Path, lazy: bool) -> None:
    from hyperslab.xarray import write

    source = xr.Dataset({"z": ("x", np.array([1 + 2j, 3])), "t": ("x", [1.5, 2])}, attrs={"flag": np.bool_(True)})
    report = write(cut(source, lazy), tmp_path / "t.nc")
    assert isinstance(report, hyperslab.LossReport) and report.target == os.fspath(tmp_path / "t.nc")
    assert report.format == "netcdf4" and report.arrays == 2 and report.written == (tmp_path / "t.nc").stat().st_size
    assert [(row.places, row.fate) for row in report if row.places == ["/@flag"]] == [(["/@flag"], "changed")]
    assert not report.losses
    if lazy:
        later = write(cut(source, lazy), tmp_path / "later.nc", compute=False)
        assert later.compute().arrays == 2


def test_a_loss_is_refused_with_its_report(tmp_path: Path) -> None:
    from hyperslab.xarray import write

    source = xr.DataTree.from_dict({"/": xr.Dataset({"t": ("x", [1.5, 2])}), "/in": xr.Dataset({"n": 1})})
    with pytest.raises(hyperslab.LossError) as refused:
        write(source, tmp_path / "t.nc3")
    assert refused.value.report.losses
    assert list(tmp_path.iterdir()) == []
    assert write(source, tmp_path / "t.nc3", allow_loss=["types"]).losses


@pytest.mark.parametrize("name", ["t.nc", "t.h5"])
def test_blocks_that_cut_chunks_are_joined(tmp_path: Path, name: str) -> None:
    from hyperslab.xarray import write

    source = xr.Dataset({"t": ("x", np.arange(20.0))})
    write(cut(source, True, x=3), tmp_path / name, encoding={"t": {"chunksizes": (4,)}})
    write(source.chunk(x=(5, 8, 7)), tmp_path / f"other-{name}")
    for path in (tmp_path / name, tmp_path / f"other-{name}"):
        np.testing.assert_array_equal(hyperslab.open(path)["t"][...], source["t"].values)
    assert hyperslab.open(tmp_path / name)["t"].chunks == (4,)


@pytest.mark.parametrize("filters", [["shuffle", {"zstd": 5}], [{"bzip2": 7}], ["shuffle", {"deflate": 1}, "fletcher32"]])
def test_filters_that_were_read_are_written_again(tmp_path: Path, filters: list[Any]) -> None:
    from hyperslab.xarray import write

    source = xr.Dataset({"t": ("x", np.arange(20.0))})
    write(source, tmp_path / "a.nc", encoding={"t": {"chunksizes": (4,), "filters": filters}})
    for engine in ("hyperslab", "netcdf4"):
        with xr.open_dataset(tmp_path / "a.nc", engine=engine) as found:
            write(found, tmp_path / "b.nc", overwrite=True)
        again = hyperslab.open(tmp_path / "b.nc")["t"]
        assert again.filters == hyperslab.open(tmp_path / "a.nc")["t"].filters and again.chunks == (4,)


def test_an_encoding_that_has_no_meaning_is_refused(tmp_path: Path) -> None:
    from hyperslab.xarray import write

    source = xr.Dataset({"t": ("x", np.arange(3.0))})
    for encoding, error in [
        ({"significant_digits": 3}, "unexpected encoding parameters"),
        ({"compression": "lz5"}, "compression 'lz5', expected one of"),
        ({"compression": "lzf", "zlib": True}, "encodings mismatch"),
    ]:
        with pytest.raises(ValueError, match=error):
            write(source, tmp_path / "t.nc", encoding={"t": encoding})
    assert list(tmp_path.iterdir()) == []


def test_decimal_digits_are_kept_and_told(tmp_path: Path) -> None:
    from hyperslab.xarray import write

    source = xr.Dataset({"t": ("x", np.array([1.23456, 2.34567]))})
    write(source, tmp_path / "t.nc", encoding={"t": {"least_significant_digit": 2}})
    written = hyperslab.open(tmp_path / "t.nc")["t"]
    np.testing.assert_allclose(written[...], source["t"].values, atol=0.005)
    assert written.attrs["least_significant_digit"] == 2 and written[0] != source["t"].values[0]


def test_mappings_are_attributes_of_zarr(tmp_path: Path) -> None:
    from hyperslab.xarray import write

    source = xr.Dataset({"t": ("x", [1], {"made": {"by": ["a", 1]}})}, attrs={"all": {"key": {"value": None}}})
    write(source, tmp_path / "t.zarr")
    with xr.open_dataset(tmp_path / "t.zarr", engine="zarr") as found:
        xr.testing.assert_identical(found.load(), source)
    with pytest.raises(TypeError, match="Invalid value for attr 'all'"):
        write(source, tmp_path / "t.nc")


def test_a_store_that_is_being_written_says_how_it_is_given_up(tmp_path: Path) -> None:
    schema = hyperslab.Schema()
    schema.array("a", ["x"], dtype="i4", shape=(3,))
    writer = hyperslab.create_store(tmp_path / "a.nc", schema)
    with pytest.raises(hyperslab.ExistsError, match=r"abandon\(\) of the active Writer"):
        hyperslab.create_store(tmp_path / "a.nc", schema, overwrite=True)
    writer.abandon()
    hyperslab.create_store(tmp_path / "a.nc", schema).abandon()
