"""Files of all formats as Zarr stores: what zarr-python and xarray read is what hyperslab and netCDF4 read."""

from __future__ import annotations

import asyncio
import gc
import json
import pickle
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", minversion="3.1")
h5py = pytest.importorskip("h5py")

import hyperslab
from hyperslab.zarr import CodecPipeline, ZarrStore
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest, SupportsGetSync
from zarr.core.buffer import cpu, default_buffer_prototype
from zarr.core.sync import _collect_aiterator
from zarr.testing.store import StoreTests

pytestmark = [
    pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr"),
    pytest.mark.filterwarnings("ignore:The data type"),
]


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """A file that a function fills through h5py."""

    def write(of: Callable[[Any], None], name: str = "written.h5") -> Path:
        path = tmp_path / name
        with h5py.File(path, "w") as file:
            of(file)
        return path

    return write


def numbers(file: Any) -> None:
    file["foo/c"] = np.arange(24, dtype="i2").reshape(4, 6)
    file.create_dataset("deflated", data=np.arange(35, dtype=">f4").reshape(5, 7), chunks=(2, 4), compression=4, shuffle=True)


@pytest.mark.upstream
class TestStore(StoreTests[ZarrStore, cpu.Buffer]):
    """zarr-python's tests of stores. Those that write are left out, or expect the exception of read-only stores."""

    store_cls = ZarrStore
    buffer_cls = cpu.Buffer

    @pytest.fixture
    def store_kwargs(self, written: Callable[..., Path]) -> dict[str, Any]:
        return {"location": str(written(numbers))}

    async def set(self, store: ZarrStore, key: str, value: Any) -> None:
        pytest.skip("the store cannot be written")

    async def get(self, store: ZarrStore, key: str) -> Any:
        return store.get_sync(key)

    def test_store_repr(self, store: ZarrStore) -> None:
        assert repr(store).startswith('ZarrStore(<hyperslab.Group "/" of ')
        assert "written.h5" in repr(store)

    def test_store_supports_writes(self, store: ZarrStore) -> None:
        assert not store.supports_writes
        assert not store.supports_deletes

    def test_store_supports_listing(self, store: ZarrStore) -> None:
        assert store.supports_listing

    def test_store_read_only(self, store: ZarrStore) -> None:
        assert store.read_only
        with pytest.raises(AttributeError):
            store.read_only = False  # type: ignore[misc]

    @pytest.mark.parametrize("read_only", [True, False])
    async def test_store_open_read_only(self, open_kwargs: dict[str, Any], read_only: bool) -> None:
        if not read_only:
            with pytest.raises(ValueError, match="is read-only"):
                await ZarrStore.open(**open_kwargs, read_only=False)
            return
        assert (await ZarrStore.open(**open_kwargs, read_only=True)).read_only

    async def test_serializable_store(self, store: ZarrStore) -> None:
        again = pickle.loads(pickle.dumps(store))
        assert again == store and again.read_only
        key, prototype = "foo/c/c/0/0", default_buffer_prototype()
        assert (await again.get(key, prototype)).to_bytes() == (await store.get(key, prototype)).to_bytes()

    @pytest.mark.parametrize(
        "part",
        [
            None,
            RangeByteRequest(1, 4),
            RangeByteRequest(40, 999),
            OffsetByteRequest(1),
            OffsetByteRequest(99),
            SuffixByteRequest(1),
        ],
    )
    async def test_get(self, store: ZarrStore, part: Any) -> None:
        whole = np.arange(24, dtype="<i2").tobytes()
        expected = {
            None: whole,
            RangeByteRequest(1, 4): whole[1:4],
            RangeByteRequest(40, 999): whole[40:],
            OffsetByteRequest(1): whole[1:],
            OffsetByteRequest(99): b"",
            SuffixByteRequest(1): whole[-1:],
        }[part]
        found = await store.get("foo/c/c/0/0", default_buffer_prototype(), part)
        assert found is not None and found.to_bytes() == expected
        assert store.get_sync("foo/c/c/0/0", byte_range=part).to_bytes() == expected

    async def test_get_raises(self, store: ZarrStore) -> None:
        with pytest.raises((ValueError, TypeError), match=r"Unexpected byte_range, got.*"):
            await store.get("foo/c/c/0/0", default_buffer_prototype(), byte_range=(0, 2))  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        "key",
        ["c/0", "foo/c/c/1/0", "foo/c/c/0", "foo/c/c/00/0", "foo/c/0/0", "foo", "x/zarr.json", ".zgroup", "deflated/c/2/2"],
    )
    async def test_keys_that_are_not_there(self, store: ZarrStore, key: str) -> None:
        assert await store.get(key, default_buffer_prototype()) is None
        assert not await store.exists(key)
        with pytest.raises(FileNotFoundError):
            await store.getsize(key)

    async def test_every_listed_key_is_there(self, store: ZarrStore) -> None:
        keys = await _collect_aiterator(store.list())
        assert sorted(keys) == sorted({*keys})
        assert set(keys) == {
            *("zarr.json", "foo/zarr.json", "foo/c/zarr.json", "foo/c/c/0/0", "deflated/zarr.json"),
            *(f"deflated/c/{row}/{column}" for row in range(3) for column in range(2)),
        }
        for key in keys:
            found = await store.get(key, default_buffer_prototype())
            assert found is not None and await store.exists(key)
            assert await store.getsize(key) == len(found)

    async def test_list_prefix(self, store: ZarrStore) -> None:
        keys = await _collect_aiterator(store.list())
        for prefix in ("", "f", "foo", "foo/", "foo/c", "foo/c/c/", "deflated/c/1", "deflated/c/1/", "x", "foo/c/c/0/0"):
            found = await _collect_aiterator(store.list_prefix(prefix))
            assert sorted(found) == sorted(key for key in keys if key.startswith(prefix)), prefix

    async def test_list_dir(self, store: ZarrStore) -> None:
        keys = await _collect_aiterator(store.list())
        for prefix in ("", "foo", "foo/", "foo/c", "foo/c/c", "deflated", "deflated/c", "deflated/c/1", "x", "deflated/c/7"):
            below = f"{prefix.rstrip('/')}/" if prefix else ""
            expected = {key.removeprefix(below).split("/")[0] for key in keys if key.startswith(below)}
            found = await _collect_aiterator(store.list_dir(prefix))
            assert sorted(found) == sorted(expected), prefix

    async def test_is_empty(self, store: ZarrStore) -> None:
        assert not await store.is_empty("")
        assert not await store.is_empty("foo")
        assert await store.is_empty("fo")

    async def test_exists(self, store: ZarrStore) -> None:
        assert await store.exists("foo/zarr.json")
        assert not await store.exists("foo")

    async def test_getsize_prefix(self, store: ZarrStore) -> None:
        assert await store.getsize_prefix("foo/c/c") == 48

    async def test_get_partial_values(self, store: ZarrStore) -> None:
        asked = [("foo/c/c/0/0", RangeByteRequest(0, 2)), ("x", None), ("foo/c/c/0/0", SuffixByteRequest(2))]
        found = await store.get_partial_values(default_buffer_prototype(), asked)
        assert [part and part.to_bytes() for part in found] == [b"\0\0", None, b"\x17\0"]

    def test_is_a_store_that_answers_at_once(self, store: ZarrStore) -> None:
        assert isinstance(store, SupportsGetSync)

    # Tests of the base class that need to write.
    @pytest.mark.skip("the store cannot be written")
    def test_written(self) -> None: ...

    test_set_many = test_list = test_list_empty_path = test_delete = test_written
    test_delete_dir = test_delete_nonexistent_key_does_not_raise = test_clear = test_set_if_not_exists = test_written
    test_set_not_open = test_set = test_getsize = test_written


def assert_same(one: Any, other: Any) -> None:
    one, other = np.asarray(one), np.asarray(other)
    assert one.shape == other.shape
    if one.dtype.kind in "OT" or other.dtype.kind in "OT":
        assert [str(text) for text in one.reshape(-1)] == [str(text) for text in other.reshape(-1)]
    elif one.dtype.kind == "V":
        # Arrays within compounds are compounds in Zarr.
        assert one.dtype.names == other.dtype.names and one.tobytes() == other.tobytes()
    else:
        assert one.dtype == other.dtype or one.dtype.kind == "S"
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("decoded", [True, False])
@pytest.mark.parametrize(
    "name", ["ocean.nc", "classic.nc", "strings.nc", "chunk_indexes.h5", "tides.zarr", "floats.zarr", "unlimited.nc"]
)
def test_all_arrays_are_those_of_hyperslab(examples: Path, name: str, decoded: bool) -> None:
    store = ZarrStore(examples / name, decoded=decoded)
    shown = zarr.open_group(store, mode="r")
    compared = 0
    for array in hyperslab.open(examples / name).walk():
        if not isinstance(array, hyperslab.Array):
            continue
        path = array.name.lstrip("/")
        if path in store.left_out:
            continue
        try:
            expected = array[...]
        except NotImplementedError:
            continue
        assert_same(shown[path][...], expected)
        compared += 1
    assert compared >= 4


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("group", ["/", "waves", "waves/buoys"])
def test_xarray_reads_what_netcdf4_reads(examples: Path, group: str) -> None:
    xarray, _ = pytest.importorskip("xarray"), pytest.importorskip("netCDF4")
    store = ZarrStore(examples / "ocean.nc")
    with xarray.open_zarr(store, group=group.strip("/"), chunks=None) as one:
        with xarray.open_dataset(examples / "ocean.nc", group=group, engine="netcdf4") as other:
            assert dict(one.sizes) == dict(other.sizes)
            assert set(one.variables) == set(other.variables)
            assert one.attrs == other.attrs
            for name in other.variables:
                # JSON has only one type of fractional numbers, so scaled values are of double precision.
                expected = other[name].values
                found = one[name].values
                if found.dtype.kind == "f":
                    np.testing.assert_allclose(found, expected, rtol=1e-6)
                else:
                    np.testing.assert_array_equal(found, expected)


def test_masked_elements_are_masked_by_xarray(written: Callable[..., Path]) -> None:
    xarray = pytest.importorskip("xarray")

    def write(file: Any) -> None:
        for name, dtype in [("double", "f8"), ("single", "f4"), ("whole", "i2"), ("text", "S3")]:
            made = file.create_dataset(name, data=np.array([1, 2, 3]).astype(dtype))
            made.attrs["_FillValue"] = np.array(2, dtype)
            made.dims[0].label = "x"

    found = xarray.open_zarr(ZarrStore(written(write)), chunks=None)
    for name in ("double", "single", "whole"):
        np.testing.assert_array_equal(found[name].values, [1, np.nan, 3])
    np.testing.assert_array_equal(found["text"].values, [b"1", b"2", b"3"])


def test_fill_values_that_are_lists_or_complex(written: Callable[..., Path]) -> None:
    def write(file: Any) -> None:
        for name, dtype, fill in (("n", "i4", [-1]), ("c", "c8", 1 + 2j), ("s", "f8", [1.5])):
            file.create_dataset(name, data=np.zeros(3, dtype)).attrs["_FillValue"] = np.array(fill, dtype)

    group = zarr.open_group(ZarrStore(written(write)), mode="r")
    assert sorted(group) == ["c", "n", "s"]
    assert group["n"].attrs["_FillValue"] == -1


@pytest.mark.parametrize("path", ["waves", "/waves"])
def test_paths_with_and_without_a_slash(examples: Path, path: str) -> None:
    group = zarr.open_group(ZarrStore(examples / "ocean.nc", path), mode="r")
    assert "height" in group and "temperature" not in group


def test_chunks_are_those_of_the_file_where_zarr_decodes_them(written: Callable[..., Path]) -> None:
    path = written(numbers)
    stored = ZarrStore(path, decoded=False)
    document = json.loads(stored.get_sync("deflated/zarr.json").to_bytes())
    assert [codec["name"] for codec in document["codecs"]] == ["bytes", "numcodecs.shuffle", "numcodecs.zlib"]
    assert document["codecs"][0]["configuration"]["endian"] == "big"
    with h5py.File(path) as file:
        expected = file["deflated"].id.read_direct_chunk((2, 4))[1]
    assert stored.get_sync("deflated/c/1/1").to_bytes() == expected
    decoded = json.loads(ZarrStore(path, decoded=True).get_sync("deflated/zarr.json").to_bytes())
    assert [codec["name"] for codec in decoded["codecs"]] == ["bytes"]


PIPELINE = {"codec_pipeline.path": "hyperslab.zarr.CodecPipeline"}


def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of chunks that zarr gets from now on."""
    keys: list[str] = []
    get = ZarrStore.get

    def record(self: ZarrStore, key: str, *rest: Any, **more: Any) -> Any:
        if "/c/" in f"/{key}":
            keys.append(key)
        return get(self, key, *rest, **more)

    monkeypatch.setattr(ZarrStore, "get", record)
    return keys


def many(file: Any) -> None:
    file.create_dataset("cut", data=np.arange(5 * 7 * 3, dtype="f8").reshape(5, 7, 3), chunks=(2, 3, 3), compression=1)
    file.create_dataset("big", data=np.arange(20, dtype=">i4"), chunks=(6,), shuffle=True)
    file.create_dataset("gaps", shape=(4, 9), dtype="i2", chunks=(2, 4), fillvalue=7)[2:, :4] = 1
    file["whole"] = np.arange(12, dtype="c16").reshape(3, 4)
    file["records"] = np.array([(1, 2.5), (2, 3.5)], [("a", "i4"), ("b", "f8")])
    file["texts"] = np.array(["a", "bc", ""], h5py.string_dtype())


@pytest.mark.parametrize(
    ("path", "key", "is_region"),
    [
        ("cut", np.s_[...], True),
        ("cut", np.s_[1:4, 2:7], True),
        ("cut", np.s_[3], True),
        ("cut", np.s_[-1, 1:6, 2], True),
        ("cut", np.s_[4:5, 6:7, 0:1], True),
        ("cut", np.s_[::2, 1:], False),
        ("cut", np.s_[2, 3, 1], False),
        ("cut", np.s_[3:3], True),
        ("big", np.s_[5:19], True),
        ("gaps", np.s_[...], True),
        ("gaps", np.s_[1:3, 3:], True),
        ("whole", np.s_[1:, :3], True),
        ("records", np.s_[...], False),
        ("texts", np.s_[1:], False),
    ],
)
def test_the_pipeline_reads_regions_at_once(
    written: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, path: str, key: Any, is_region: bool
) -> None:
    store = ZarrStore(written(many))
    expected = zarr.open_group(store, mode="r")[path][key]
    with zarr.config.set(PIPELINE):
        array = zarr.open_group(store, mode="r")[path]
    keys = asked(monkeypatch)
    found = array[key]
    assert_same(found, expected)
    assert (keys == []) is is_region


def test_the_pipeline_reads_all_selections(written: Callable[..., Path]) -> None:
    store = ZarrStore(written(many))
    usual = zarr.open_group(store, mode="r")
    mask = np.arange(5 * 7 * 3).reshape(5, 7, 3) % 4 == 0
    for read in (
        lambda group: group["cut"].oindex[[4, 1, 1], :, [0, 2]],
        lambda group: group["cut"].oindex[[0, 1], 2:5, 0:3],
        lambda group: group["cut"].vindex[[0, 4], [6, 1], [2, 0]],
        lambda group: group["cut"].get_mask_selection(mask),
        lambda group: group["cut"].blocks[1, 2],
    ):
        expected = read(usual)
        with zarr.config.set(PIPELINE):
            assert_same(read(usual), expected)


def test_zarr_applies_the_pipeline_to_arrays_that_it_opens(written: Callable[..., Path]) -> None:
    group = zarr.open_group(ZarrStore(written(many)), mode="r")
    with zarr.config.set(PIPELINE):
        assert type(group["cut"].async_array.codec_pipeline) is CodecPipeline
    assert type(group["cut"].async_array.codec_pipeline) is not CodecPipeline


def test_a_cancelled_read_does_not_write_later(written: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    store = ZarrStore(written(many))
    with zarr.config.set(PIPELINE):
        array = zarr.open_group(store, mode="r")["cut"].async_array
    read = hyperslab.Array.read

    def slow(self: hyperslab.Array, *key: Any, **more: Any) -> Any:
        time.sleep(0.2)
        return read(self, *key, **more)

    monkeypatch.setattr(hyperslab.Array, "read", slow)

    async def cancelled() -> None:
        out = np.zeros(array.shape)
        buffer = default_buffer_prototype().nd_buffer.from_ndarray_like(out)
        selected = array.get_orthogonal_selection((slice(None),) * 3, out=buffer)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(selected, 0.05)
        before = out.copy()
        await asyncio.sleep(0.4)
        np.testing.assert_array_equal(out, before)

    asyncio.run(cancelled())


def test_the_pipeline_reads_and_writes_other_stores() -> None:
    with zarr.config.set(PIPELINE):
        array = zarr.create_array(zarr.storage.MemoryStore(), shape=(10, 10), chunks=(3, 4), dtype="i4")
        array[2:9, 1:] = np.arange(63).reshape(7, 9)
        found = array[...]
    expected = np.zeros((10, 10), "i4")
    expected[2:9, 1:] = np.arange(63).reshape(7, 9)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore")
def test_xarray_reads_the_same_through_the_pipeline(examples: Path) -> None:
    xarray = pytest.importorskip("xarray")
    store = ZarrStore(examples / "ocean.nc")
    expected = xarray.open_zarr(store, chunks=None).load()
    with zarr.config.set(PIPELINE):
        xarray.testing.assert_identical(xarray.open_zarr(store, chunks=None).load(), expected)


def test_errors_of_chunks_are_those_of_the_engine(written: Callable[..., Path]) -> None:
    path = written(many)
    with h5py.File(path) as file:
        place = file["cut"].id.get_chunk_info(3).byte_offset
    content = bytearray(path.read_bytes())
    content[place : place + 4] = b"\xff" * 4
    path.write_bytes(content)
    with zarr.config.set(PIPELINE):
        array = zarr.open_group(ZarrStore(path), mode="r")["cut"]
    with pytest.raises(hyperslab.FormatError, match="deflate"):
        array[...]
    np.testing.assert_array_equal(array[:2, :3].reshape(-1)[:3], [0, 1, 2])


def test_memory_of_chunks_is_used_again_only_when_nothing_refers_to_it(written: Callable[..., Path]) -> None:
    values = np.arange(64 * 8, dtype="f4").reshape(64, 8)

    def write(file: Any) -> None:
        file.create_dataset("x", data=values, chunks=(2, 8), compression=1)

    store = ZarrStore(written(write))
    plan = store._plan("x")
    assert plan is not None and not plan.is_stored
    held = [store.get_sync(f"x/c/{at}/0") for at in range(32)]
    for at, buffer in enumerate(held):
        assert buffer is not None and buffer.to_bytes() == values[2 * at : 2 * at + 2].tobytes()
    # Views of a view count, too.
    part = held[5].as_numpy_array().view("f4").reshape(2, 8)[1:, 3:]  # type: ignore[union-attr]
    del held, buffer
    gc.collect()
    free = plan._buffers._free
    assert len(free) == 16 and not any(np.shares_memory(part, memory) for memory in free)
    again = store.get_sync("x/c/9/0")
    assert again is not None and len(free) == 15 and again.to_bytes() == values[18:20].tobytes()
    with ThreadPoolExecutor(8) as threads:
        read = threads.map(lambda at: store.get_sync(f"x/c/{at % 32}/0").to_bytes(), range(400))  # type: ignore[union-attr]
        assert list(read) == [values[2 * (at % 32) : 2 * (at % 32) + 2].tobytes() for at in range(400)]
    assert part.tolist() == values[11:12, 3:].tolist() and again.to_bytes() == values[18:20].tobytes()


@pytest.mark.parametrize("decoded", [True, False])
def test_chunks_that_skip_filters_or_are_not_there(written: Callable[..., Path], decoded: bool) -> None:
    def write(file: Any) -> None:
        made = file.create_dataset("skips", (4,), "i4", chunks=(2,), compression=4, fillvalue=7)
        made.id.write_direct_chunk((0,), np.array([1, 2], "<i4").tobytes(), filter_mask=1)
        made = file.create_dataset("gaps", (6,), "i4", chunks=(2,), compression=4, fillvalue=7)
        made[2:4] = [1, 2]

    shown = zarr.open_group(ZarrStore(written(write), decoded=decoded), mode="r")
    assert shown["skips"][...].tolist() == [1, 2, 7, 7]
    assert shown["gaps"][...].tolist() == [7, 7, 1, 2, 7, 7]


def test_types(written: Callable[..., Path]) -> None:
    inner = np.dtype([("at", "<f4", (2,)), ("name", "S3")])

    def write(file: Any) -> None:
        file["compound"] = np.array([((1, 2), b"abc"), ((3, 4), b"d")], inner)
        file["text"] = np.array(["", "Blåbær", "x"], dtype=h5py.string_dtype())
        file["fixed"] = np.array([b"ab", b"c"])
        file["opaque"] = np.array([b"ab\0", b"\0cd"], "V3")
        file["flag"] = np.array([True, False])
        file["reference"] = np.array([file["text"].ref], dtype=h5py.ref_dtype)
        file["scalar"] = np.float16(0.5)
        file["ragged"] = np.array([np.arange(2), np.arange(3)], dtype=h5py.vlen_dtype("i4"))
        file["nothing"] = h5py.Empty("f4")
        file["none"] = np.zeros((0, 3), "u2")

    store = ZarrStore(written(write))
    shown = zarr.open_group(store, mode="r")
    assert shown["compound"].dtype.names == ("at", "name")
    assert shown["compound"][...].tobytes() == np.array([((1, 2), b"abc"), ((3, 4), b"d")], inner).tobytes()
    assert shown["text"][...].tolist() == ["", "Blåbær", "x"]
    assert shown["fixed"][...].tolist() == [b"ab", b"c"]
    assert shown["opaque"][...].tobytes() == b"ab\0\0cd"
    assert shown["flag"][...].tolist() == [1, 0]
    assert shown["reference"][...].tolist() == ["/text"]
    assert shown["scalar"][()] == np.float16(0.5)
    assert shown["none"].shape == (0, 3)
    assert set(store.left_out) == {"ragged", "nothing"}
    assert "vlen(int32)" in store.left_out["ragged"]
    assert set(shown) == {"compound", "text", "fixed", "opaque", "flag", "reference", "scalar", "none"}


def test_attributes_are_json(written: Callable[..., Path]) -> None:
    def write(file: Any) -> None:
        for name, value in {
            "text": "Blåbær",
            "texts": np.array(["a", ""], dtype=h5py.string_dtype()),
            "single": np.float32(0.1),
            "nan": np.float64("nan"),
            "list": np.arange(3, dtype="u8"),
            "table": np.eye(2, dtype="i1"),
            "record": np.array((1, b"x"), [("a", "i4"), ("b", "S1")]),
            "opaque": np.void(b"\0\1"),
            "nothing": h5py.Empty("f4"),
        }.items():
            file.attrs[name] = value

    found = dict(zarr.open_group(ZarrStore(written(write)), mode="r").attrs)
    assert np.isnan(found.pop("nan"))
    assert found == {
        "text": "Blåbær",
        "texts": ["a", ""],
        "single": float(np.float32(0.1)),
        "list": [0, 1, 2],
        "table": [[1, 0], [0, 1]],
        "record": {"a": 1, "b": "x"},
        "opaque": "AAE=",
        "nothing": None,
    }


def test_large_arrays_without_chunks_are_cut(written: Callable[..., Path]) -> None:
    values = np.arange(3 * 1031 * 1031, dtype="f8").reshape(3, 1031, 1031)

    def write(file: Any) -> None:
        file["cut"] = values

    shown = zarr.open_group(ZarrStore(written(write)), mode="r")["cut"]
    assert shown.chunks[0] == 1 and shown.chunks[2] == 1031
    assert 1 << 20 <= shown.nbytes * np.prod(shown.chunks) / values.size <= 8 << 20
    np.testing.assert_array_equal(shown[...], values)


def test_names_of_groups_and_links(written: Callable[..., Path]) -> None:
    def write(file: Any) -> None:
        file["a/x"] = np.arange(3)
        file["a/up"] = h5py.SoftLink("/")
        file["a/soft"] = h5py.SoftLink("/a/x")
        file["a/dangling"] = h5py.SoftLink("/nowhere")
        file["b/deep/x"] = np.arange(4)
        file["b/y"] = np.arange(5)
        file["a/z/x"] = np.arange(6)
        file.create_group("back\\slash")

    store = ZarrStore(written(write))
    shown = zarr.open_group(store, mode="r")
    assert {name: array.shape for name, array in shown.members(max_depth=None) if hasattr(array, "shape")} == {
        "a/x": (3,),
        "a/soft": (3,),
        "a/z/x": (6,),
        "b/deep/x": (4,),
        "b/y": (5,),
    }
    assert set(store.left_out) == {"a/up", "a/dangling", "back\\slash"}


def test_dimensions_without_names_are_those_of_their_group(written: Callable[..., Path]) -> None:
    def write(file: Any) -> None:
        file["one"] = np.zeros((3, 3, 4))
        file["two"] = np.zeros((4, 3))

    shown = zarr.open_group(ZarrStore(written(write)), mode="r")
    assert shown["one"].metadata.dimension_names == ("phony_dim_0", "phony_dim_1", "phony_dim_2")
    assert shown["two"].metadata.dimension_names == ("phony_dim_2", "phony_dim_0")


def test_roots_below_the_root(examples: Path) -> None:
    shown = zarr.open_group(ZarrStore(examples / "ocean.nc", "/waves"), mode="r")
    assert set(shown) == {"buoys", "energy", "frequency", "height"}
    array = zarr.open_array(ZarrStore(examples / "ocean.nc", "/waves/height"), mode="r")
    np.testing.assert_array_equal(array[...], hyperslab.open(examples / "ocean.nc")["waves/height"][...])
    assert zarr.open_array(ZarrStore(hyperslab.open(examples / "ocean.nc")["lat"]), mode="r").shape == (3,)
    with pytest.raises(KeyError):
        ZarrStore(examples / "ocean.nc", "/nowhere")


def test_bytes_and_file_objects(examples: Path) -> None:
    content = (examples / "ocean.nc").read_bytes()
    expected = hyperslab.open(examples / "ocean.nc")["temperature"][...]
    for decoded in (True, False):
        shown = zarr.open_group(ZarrStore(content, decoded=decoded), mode="r")["temperature"]
        np.testing.assert_array_equal(shown[...], expected)
        with open(examples / "ocean.nc", "rb") as file:
            shown = zarr.open_group(ZarrStore(file, decoded=decoded), mode="r")["temperature"]
            np.testing.assert_array_equal(shown[...], expected)


def test_a_file_that_was_replaced_is_not_read(written: Callable[..., Path]) -> None:
    path = written(numbers)
    store = ZarrStore(path, decoded=False)
    shown = zarr.open_group(store, mode="r")["deflated"]
    written(lambda file: file.create_dataset("other", data=np.zeros(10_000)))
    with pytest.raises(OSError, match="replaced"):
        shown[...]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_fill_values_of_texts(tmp_path: Path, zarr_format: Any) -> None:
    group = zarr.open_group(tmp_path / "t.zarr", mode="w", zarr_format=zarr_format)
    for name, dtype, fill in (("v", str, "héß"), ("u", "U4", "dflt"), ("s", "S3", b"ab")):
        group.create_array(name, shape=(5,), chunks=(2,), dtype=dtype, fill_value=fill)[:1] = np.array(["x"], dtype)
    shown = zarr.open_group(ZarrStore(tmp_path / "t.zarr"), mode="r")
    for name, array in group.arrays():
        assert shown[name].fill_value == array.fill_value
        assert list(shown[name][:]) == list(array[:])
