"""References to chunks: what kerchunk, VirtualiZarr and Icechunk read through them is what hyperslab and netCDF4 read."""

from __future__ import annotations

import base64
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr", minversion="3.1")
xarray = pytest.importorskip("xarray")
fsspec = pytest.importorskip("fsspec")

import hyperslab
from hyperslab.virtual import HyperslabParser, references, to_icechunk, to_parquet
from hyperslab.zarr import LeftOutWarning

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """A file that a function fills through h5py. Its folder has a name that URLs would escape."""
    folder = tmp_path / "a folder+more"
    folder.mkdir()

    def write(of: Callable[[Any], None], name: str = "written.h5") -> Path:
        path = folder / name
        with h5py.File(path, "w") as file:
            of(file)
        return path

    return write


def opened(refs: dict[str, Any]) -> Any:
    """The root that references of kerchunk describe, read by zarr through fsspec."""
    from zarr.storage import FsspecStore

    options = {"remote_protocol": "file", "remote_options": {"asynchronous": True}}
    files = fsspec.filesystem("reference", fo=refs, asynchronous=True, **options)
    return zarr.open(FsspecStore(files, read_only=True), mode="r", zarr_format=2)


def assert_values(one: Any, other: Any) -> None:
    one, other = np.asarray(one), np.asarray(other)
    assert one.shape == other.shape
    if "O" in (one.dtype.kind, other.dtype.kind) or "T" in (one.dtype.kind, other.dtype.kind):
        # Zarr has no null, so a reference that points nowhere is an empty string.
        assert [str(text or "") for text in one.reshape(-1)] == [str(text or "") for text in other.reshape(-1)]
    elif one.dtype.kind == "V":
        assert one.tobytes() == other.tobytes()
    else:
        np.testing.assert_array_equal(one, other)


def arrays_of(path: Path) -> Iterator[hyperslab.Array]:
    return (array for array in hyperslab.open(path).walk() if isinstance(array, hyperslab.Array))


# kerchunk


EXAMPLES = (
    *("ocean.nc", "classic.nc", "classic_data64.nc", "strings.nc", "unlimited.nc"),
    *("big_endian.h5", "chunk_indexes.h5", "datatypes.h5", "floats.zarr"),
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_references_are_of_the_values(examples: Path, name: str) -> None:
    made = references(examples / name)
    assert made["version"] == 1
    shown = opened(made)
    compared = 0
    for array in arrays_of(examples / name):
        path = array.name.lstrip("/")
        if f"{path}/.zarray" in made["refs"]:
            assert_values(shown[path][...], array[...])
            compared += 1
    assert compared >= 4


def test_references_are_json_and_lead_to_the_file(examples: Path) -> None:
    made = references(examples / "ocean.nc", url="s3://bucket/ocean.nc")
    again = json.loads(json.dumps(made))
    assert again == made
    ranges = {key: value for key, value in made["refs"].items() if isinstance(value, list)}
    assert {value[0] for value in ranges.values()} == {"s3://bucket/ocean.nc"}
    content = (examples / "ocean.nc").read_bytes()
    with h5py.File(examples / "ocean.nc") as file:
        for index in range(3):
            _, offset, length = ranges[f"temperature/{index}.0.0.0"]
            assert content[offset : offset + length] == file["temperature"].id.read_direct_chunk((3 * index, 0, 0, 0))[1]


def test_xarray_opens_references_of_kerchunk(examples: Path) -> None:
    pytest.importorskip("kerchunk"), pytest.importorskip("netCDF4")
    with xarray.open_dataset(references(examples / "ocean.nc"), engine="kerchunk") as one:
        with xarray.open_dataset(examples / "ocean.nc", engine="netcdf4") as other:
            xarray.testing.assert_allclose(one.load(), other.load())
            assert one.attrs == other.attrs


@pytest.mark.parametrize("record_size", [1, 2, 100_000])
def test_references_in_parquet(examples: Path, tmp_path: Path, record_size: int) -> None:
    pytest.importorskip("pyarrow")
    from fsspec.implementations.reference import LazyReferenceMapper

    folder = tmp_path / "references"
    to_parquet(examples / "ocean.nc", folder, record_size=record_size)
    shown = opened(LazyReferenceMapper(str(folder), engine="pyarrow"))
    for array in arrays_of(examples / "ocean.nc"):
        assert_values(shown[array.name.lstrip("/")][...], array[...])
    with pytest.raises(FileExistsError):
        to_parquet(examples / "ocean.nc", folder)


def test_numbers_of_references_in_parquet_are_never_null(examples: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    to_parquet(examples / "ocean.nc", tmp_path / "references", record_size=100)
    # Nullable ones are floats in fastparquet, which kerchunk uses to read them.
    written = parquet.ParquetFile(tmp_path / "references" / "temperature" / "refs.0.parq")
    nullable = {field.name: field.nullable for field in written.schema_arrow}
    assert nullable == {"path": True, "offset": False, "size": False, "raw": True}
    assert [written.metadata.row_group(0).column(at).statistics.null_count for at in (1, 2)] == [0, 0]


def test_parquet_is_what_kerchunk_writes(examples: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pandas

    to_parquet(examples / "ocean.nc", tmp_path / "references", record_size=10)
    found = pandas.read_parquet(tmp_path / "references" / "temperature" / "refs.0.parq")
    assert list(found.columns) == ["path", "offset", "size", "raw"] and len(found) == 10
    refs = references(examples / "ocean.nc")["refs"]
    for index in range(3):
        assert found.loc[index, ["path", "offset", "size"]].tolist() == refs[f"temperature/{index}.0.0.0"]
    assert found["path"][3:].isna().all()


def test_texts_are_inlined(written: Callable[..., Path]) -> None:
    def write(file: Any) -> None:
        file["text"] = np.array(["", "Blåbær", "x" * 300], dtype=h5py.string_dtype())
        file["number"] = np.arange(3)

    path = written(write)
    made = references(path)
    assert made["refs"]["text/0"].startswith("base64:")
    assert "Blåbær".encode() in base64.b64decode(made["refs"]["text/0"].removeprefix("base64:"))
    assert isinstance(made["refs"]["number/0"], list)
    assert opened(made)["text"][...].tolist() == ["", "Blåbær", "x" * 300]


def test_what_is_too_large_to_be_inlined_is_refused_by_name(written: Callable[..., Path]) -> None:
    def write(file: Any) -> None:
        file.create_dataset("one/lzf", data=np.arange(1000, dtype="i4"), chunks=(100,), compression="lzf")
        file.create_dataset("lzf", data=np.arange(1001, dtype="i4"), chunks=(100,), compression="lzf")
        file.create_dataset("small", data=np.arange(10, dtype="i4"), chunks=(10,), compression="lzf")
        file.create_dataset("deflate", data=np.arange(1000, dtype="i4"), chunks=(100,), compression=1)

    path = written(write)
    with pytest.raises(ValueError) as raised:
        references(path, inline=3000)
    assert "/one/lzf: 4000 bytes" in str(raised.value) and "/lzf: 4004 bytes" in str(raised.value)
    assert "/small" not in str(raised.value) and "/deflate" not in str(raised.value)
    made = references(path, inline=3000, drop=["lzf"])
    assert set(opened(made)) == {"one", "small", "deflate"}
    shown = opened(references(path, inline="5 KB"))
    assert shown["one/lzf"][...].tolist() == list(range(1000)) and shown["lzf"][...].tolist() == list(range(1001))
    with pytest.raises(ValueError, match="is not a size"):
        references(path, inline="a lot")


def test_chunks_that_skip_filters_and_fills(written: Callable[..., Path]) -> None:
    def write(file: Any) -> None:
        made = file.create_dataset("skips", (6,), "i4", chunks=(2,), compression=4, shuffle=True, fillvalue=7)
        made.id.write_direct_chunk((0,), np.array([1, 2], "<i4").tobytes(), filter_mask=3)
        made[4:] = [5, 6]
        made = file.create_dataset("gaps", (6,), "f8", chunks=(2,), compression=4, fillvalue=np.nan)
        made[2:4] = [1, 2]
        file.create_dataset("zeros", (6,), "f8", chunks=(2,))
        file.create_dataset("compact", data=np.arange(3), dcpl=_compact())
        file.create_dataset("edges", data=np.arange(35, dtype=">u2").reshape(5, 7), chunks=(2, 4), fletcher32=True)

    def _compact() -> Any:
        layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        layout.set_layout(h5py.h5d.COMPACT)
        return layout

    made = references(written(write))
    shown = opened(made)
    assert shown["skips"][...].tolist() == [1, 2, 7, 7, 5, 6]
    np.testing.assert_array_equal(shown["gaps"][...], [np.nan, np.nan, 1, 2, np.nan, np.nan])
    assert shown["zeros"][...].tolist() == [0] * 6
    # With a stated fill value, xarray would treat all zeros as missing data.
    assert json.loads(made["refs"]["zeros/.zarray"])["fill_value"] is None
    assert shown["compact"][...].tolist() == [0, 1, 2]
    np.testing.assert_array_equal(shown["edges"][...], np.arange(35).reshape(5, 7))
    assert sum(isinstance(value, list) for key, value in made["refs"].items() if key.startswith("edges/")) == 6


def test_numbers_whose_bits_are_not_those_of_memory_are_converted(written: Callable[..., Path]) -> None:
    def write(file: Any) -> None:
        of = h5py.h5t.STD_I32LE.copy()
        of.set_precision(12)
        of.set_offset(4)
        space = h5py.h5s.create_simple((3,))
        made = h5py.h5d.create(file.id, b"bits", of, space)
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([-5, 1, 2047], "i4"))

    path = written(write)
    assert opened(references(path))["bits"][...].tolist() == hyperslab.open(path)["bits"][...].tolist() == [-5, 1, 2047]


def test_large_arrays_in_one_piece_are_cut_without_edges(written: Callable[..., Path]) -> None:
    values = np.arange(6 * 1024 * 1024, dtype="i4").reshape(6, 1024, 1024)

    def write(file: Any) -> None:
        file["cut"] = values
        file["prime"] = np.arange(3_000_017, dtype="i4")

    made = references(written(write))
    shown = opened(made)
    assert shown["cut"].chunks == (1, 1024, 1024) and shown["prime"].chunks == (3_000_017,)
    np.testing.assert_array_equal(shown["cut"][...], values)
    np.testing.assert_array_equal(shown["prime"][-3:], np.arange(3_000_014, 3_000_017))


def test_nested_groups_have_documents(written: Callable[..., Path]) -> None:
    refs = references(written(lambda file: file.create_dataset("a/b/c", data=[1])))["refs"]
    assert {".zgroup", "a/.zgroup", "a/b/.zgroup", "a/b/c/.zarray", "a/b/c/0"} <= set(refs)


def test_content_without_an_address_needs_one(examples: Path) -> None:
    content = (examples / "ocean.nc").read_bytes()
    with pytest.raises(ValueError, match="url"):
        references(content)
    refs = references(content, url="memory://ocean.nc")["refs"]
    assert refs["lat/0"][0] == "memory://ocean.nc"


def test_what_has_no_place_is_named(written: Callable[..., Path]) -> None:
    inner = np.dtype([("x", "f4"), ("y", "f4")])

    def write(file: Any) -> None:
        file["ragged"] = np.array([np.array([1, 2]), np.array([3])], dtype=object).astype(h5py.vlen_dtype("i4"))
        file["nested"] = np.zeros(3, dtype=[("at", inner), ("count", "i4")])
        file["plain"] = np.arange(3)

    path = written(write)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = references(path)
    assert [one.category for one in told] == [LeftOutWarning] * 2 and {one.filename for one in told} == {__file__}
    assert "ragged: its elements are of type" in str(told[0].message) and "bytes" in str(told[1].message)
    assert "nested" in str(told[1].message) and "ragged/.zarray" not in made["refs"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        references(path, drop=["ragged", "nested"])


# VirtualiZarr


@pytest.fixture
def registry() -> Any:
    pytest.importorskip("virtualizarr")
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore

    return ObjectStoreRegistry({"file://": LocalStore()})


@pytest.mark.parametrize("name", ["ocean.nc", "classic.nc", "unlimited.nc", "chunk_indexes.h5"])
def test_virtualizarr_reads_the_values(examples: Path, registry: Any, name: str) -> None:
    store = HyperslabParser()(f"file://{examples / name}", registry)
    shown = zarr.open_group(store, mode="r")
    compared = 0
    for array in arrays_of(examples / name):
        path = array.name.lstrip("/")
        if path in shown:
            assert_values(shown[path][...], array[...])
            compared += 1
    assert compared >= 4


def test_virtual_datasets_are_those_of_the_parser_of_virtualizarr(examples: Path, registry: Any) -> None:
    import virtualizarr
    from virtualizarr.parsers import HDFParser

    url = f"file://{examples / 'ocean.nc'}"
    options: dict[str, Any] = {"registry": registry, "loadable_variables": []}
    # It does not read strings of variable length either.
    dropped = ["remark"]
    one = virtualizarr.open_virtual_dataset(url, parser=HyperslabParser(drop_variables=dropped), **options)
    other = virtualizarr.open_virtual_dataset(url, parser=HDFParser(drop_variables=dropped), **options)
    assert set(one.variables) == set(other.variables)
    for name, expected in other.variables.items():
        found = one.variables[name].data
        assert found.manifest.dict() == expected.data.manifest.dict()
        assert (found.shape, found.chunks, found.dtype) == (expected.data.shape, expected.data.chunks, expected.data.dtype)


def test_virtual_datasets_can_be_joined_and_loaded(written: Callable[..., Path], registry: Any) -> None:
    import virtualizarr

    def write(start: int) -> Callable[[Any], None]:
        def of(file: Any) -> None:
            made = file.create_dataset("x", data=np.arange(start, start + 8, dtype="f8"), chunks=(4,), compression=1)
            file["time"] = np.arange(start, start + 8)
            file["time"].make_scale("time")
            made.dims[0].attach_scale(file["time"])
            file["note"] = np.array(["a", "b"], dtype=h5py.string_dtype())

        return of

    paths = [written(write(start), f"{start}.h5") for start in (0, 8)]
    parser = HyperslabParser()
    parts = [
        virtualizarr.open_virtual_dataset(
            f"file://{path}", registry=registry, parser=parser, loadable_variables=["time", "note"]
        )
        for path in paths
    ]
    assert parts[0]["note"].values.tolist() == ["a", "b"]
    joined = xarray.concat([part.drop_vars("note") for part in parts], dim="time", coords="minimal", compat="override")
    shown = opened(joined.vz.to_kerchunk(format="dict"))
    assert shown["x"][...].tolist() == list(range(16))


def test_groups_of_the_parser(examples: Path, registry: Any) -> None:
    store = HyperslabParser(group="/waves")(f"file://{examples / 'ocean.nc'}", registry)
    assert set(zarr.open_group(store, mode="r")) == {"buoys", "energy", "frequency", "height"}


def test_the_parser_reads_through_the_registry(examples: Path) -> None:
    pytest.importorskip("virtualizarr")
    import obstore
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import MemoryStore

    store = MemoryStore()
    obstore.put(store, "folder/ocean.nc", (examples / "ocean.nc").read_bytes())
    made = HyperslabParser()("memory://bucket/folder/ocean.nc", ObjectStoreRegistry({"memory://bucket": store}))
    shown = zarr.open_group(made, mode="r")
    for array in arrays_of(examples / "ocean.nc"):
        assert_values(shown[array.name.lstrip("/")][...], array[...])


def written_by_virtualizarr(path: Path, registry: Any, **options: Any) -> dict[str, Any]:
    import virtualizarr

    options = {"loadable_variables": []} | options
    shown = virtualizarr.open_virtual_dataset(f"file://{path}", registry, parser=HyperslabParser(), **options)
    return shown.vz.to_kerchunk(format="dict")


def test_zeros_are_not_missing_in_what_virtualizarr_writes(tmp_path: Path, registry: Any) -> None:
    pytest.importorskip("kerchunk"), pytest.importorskip("netCDF4")
    path, plain = tmp_path / "flag.nc", tmp_path / "plain.h5"
    flags, numbers = np.array([0, 1, 2, 0, 3, 4], "i1"), np.array([0.0, 1, 2, 0, 3, 4])
    said = {"t": {"_FillValue": None, "zlib": True}}
    xarray.Dataset({"flag": ("x", flags), "t": ("x", numbers)}).to_netcdf(path, engine="netcdf4", encoding=said)
    with h5py.File(plain, "w") as file:
        file["t"] = numbers
        file["missing"] = numbers
        file["missing"].attrs["_FillValue"] = 0.0
    made = written_by_virtualizarr(path, registry)
    fills = {name: json.loads(made["refs"][f"{name}/.zarray"])["fill_value"] for name in ("flag", "t")}
    assert fills == {"flag": -127, "t": pytest.approx(9.969209968386869e36)}
    with xarray.open_dataset(made, engine="kerchunk") as shown:
        assert shown["flag"].values.tolist() == flags.tolist() and shown["t"].values.tolist() == numbers.tolist()
    with xarray.open_dataset(written_by_virtualizarr(plain, registry), engine="kerchunk") as shown:
        assert shown["t"].values.tolist() == numbers.tolist()
        assert np.isnan(shown["missing"].values).tolist() == (numbers == 0).tolist()


def test_chunks_that_were_never_written_are_missing_in_what_virtualizarr_writes(tmp_path: Path, registry: Any) -> None:
    pytest.importorskip("kerchunk")
    netCDF4 = pytest.importorskip("netCDF4")
    path = tmp_path / "unwritten.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 8)
        file.createVariable("default", "f4", ("x",), chunksizes=(2,))[2:4] = 1
        file.createVariable("stated", "i2", ("x",), chunksizes=(2,), fill_value=-9)[2:4] = [0, 1]
    made = written_by_virtualizarr(path, registry)
    assert [key for key in made["refs"] if not key.rpartition("/")[2].startswith(".")] == ["default/1", "stated/1"]
    with xarray.open_dataset(made, engine="kerchunk") as one, xarray.open_dataset(path, engine="netcdf4") as other:
        assert one["stated"].equals(other["stated"].load())
        # There is no _FillValue, but this number is what netCDF4 reads for data that was never written.
        assert one["default"].fillna(9.969209968386869e36).astype("f4").equals(other["default"].load())


def test_what_virtualizarr_cannot_inline_is_named(written: Callable[..., Path], registry: Any) -> None:
    from hyperslab._virtual import manifests

    if manifests._INLINES:
        pytest.skip("this version of VirtualiZarr inlines")

    def write(file: Any) -> None:
        file["note"] = np.array(["a", "b"], dtype=h5py.string_dtype())
        file["ragged"] = np.array([np.array([1, 2]), np.array([3])], dtype=object).astype(h5py.vlen_dtype("i4"))
        file["x"] = np.arange(4)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        HyperslabParser()(f"file://{written(write)}", registry)
    told = [one for one in told if one.category is LeftOutWarning]
    assert len(told) == 2 and {one.filename for one in told} == {__file__}
    assert "ragged" in str(told[0].message) and "written.h5: note; load them" in str(told[1].message)


# Icechunk


@pytest.fixture
def repository(tmp_path: Path) -> Callable[[Path], Any]:
    icechunk = pytest.importorskip("icechunk")

    def create(folder: Path) -> Any:
        prefix = f"file://{folder}/"
        config = icechunk.RepositoryConfig.default()
        config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(prefix, icechunk.local_filesystem_store(str(folder))))
        storage = icechunk.local_filesystem_storage(str(tmp_path / "repository"))
        return icechunk.Repository.create(storage, config=config, authorize_virtual_chunk_access={prefix: None})

    return create


@pytest.mark.parametrize("group", ["", "sea/north"])
def test_icechunk_reads_the_values(examples: Path, repository: Callable[[Path], Any], group: str) -> None:
    made = repository(examples)
    session = made.writable_session("main")
    to_icechunk(examples / "ocean.nc", session.store, group=group)
    session.commit("references")
    shown = zarr.open_group(made.readonly_session("main").store, mode="r", path=group)
    for array in arrays_of(examples / "ocean.nc"):
        assert_values(shown[array.name.lstrip("/")][...], array[...])


def test_icechunk_without_a_container_for_the_file(examples: Path, repository: Callable[[Path], Any], tmp_path: Path) -> None:
    made = repository(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="virtual chunk container"):
        to_icechunk(examples / "ocean.nc", made.writable_session("main").store)


def test_icechunk_refuses_a_file_that_was_changed_later(repository: Callable[[Path], Any], tmp_path: Path) -> None:
    import os

    # Icechunk does not find files whose address has characters that URLs escape.
    path = tmp_path / "plain.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(1000)
    made = repository(path.parent)
    session = made.writable_session("main")
    to_icechunk(path, session.store)
    session.commit("references")
    shown = zarr.open_group(made.readonly_session("main").store, mode="r")
    assert shown["x"][5] == 5
    later = os.stat(path).st_mtime + 100
    os.utime(path, (later, later))
    with pytest.raises(Exception, match="has changed"):
        zarr.open_group(made.readonly_session("main").store, mode="r")["x"][...]


def test_nothing_is_warned_of(examples: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        references(examples / "ocean.nc")
