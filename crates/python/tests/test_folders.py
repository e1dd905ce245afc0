"""Stores that are folders elsewhere: fsspec file systems, obstore and zarr-python stores, mappings, and web servers.

They are compared with the same store on this machine, and with what zarr-python and TileDB-Py read.
"""

from __future__ import annotations

import functools
import gc
import http.server
import io
import json
import os
import pickle
import shutil
import signal
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec
import hyperslab
import numpy as np
import obstore.store
import pytest
from hyperslab._folders import FsspecFolder, Keyed, MappingFolder

xr = pytest.importorskip("xarray")
zarr = pytest.importorskip("zarr")

import far  # noqa: E402

STORES = ("consolidated.zarr", "documents.zarr", "version2.zarr", "groups.tdb")


@pytest.fixture(scope="module")
def folder(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, converted to stores that are folders."""
    made = tmp_path_factory.mktemp("folders")
    for name in ("consolidated.zarr", "documents.zarr", "groups.tdb"):
        options = {} if name == "groups.tdb" else {"zarr.consolidated": name == "consolidated.zarr"}
        hyperslab.convert(examples / "ocean.nc", made / name, allow_loss="all", options=options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        xr.open_dataset(examples / "ocean.nc").to_zarr(made / "version2.zarr", zarr_format=2, consolidated=True)
    return made


def _memory(path: Path) -> Any:
    fs = fsspec.filesystem("memory")
    target = f"/folders/{path.parent.name}/{path.name}"
    if not fs.exists(target):
        fs.put(str(path), target, recursive=True)
    return fs, target


def _mapping(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def _obstore_memory(path: Path) -> Any:
    store = obstore.store.MemoryStore()
    for key, value in _mapping(path).items():
        obstore.put(store, f"within/{path.name}/{key}", value)
    return store, f"within/{path.name}"


LOCATIONS: dict[str, Callable[[Path], Any]] = {
    "fsspec": _memory,
    "fsspec with a slash": lambda path: (_memory(path)[0], _memory(path)[1] + "/"),
    "fsspec URL": lambda path: f"memory:/{_memory(path)[1]}",
    "fsspec mapping": lambda path: _memory(path)[0].get_mapper(_memory(path)[1]),
    "fsspec local": lambda path: (fsspec.filesystem("file"), str(path)),
    "obstore": lambda path: (obstore.store.LocalStore(path.parent), path.name),
    "obstore at its root": lambda path: (obstore.store.LocalStore(path), ""),
    "obstore memory": _obstore_memory,
    "mapping": _mapping,
    "zarr-python": lambda path: zarr.storage.LocalStore(path, read_only=True),
    "zarr-python memory": lambda path: _zarr_memory(path),
    "zarr-python fsspec": lambda path: zarr.storage.FsspecStore.from_url(f"file://{path}", read_only=True),
    "zarr-python obstore": lambda path: zarr.storage.ObjectStore(obstore.store.LocalStore(path), read_only=True),
}


def _zarr_memory(path: Path) -> Any:
    from zarr.core.buffer import default_buffer_prototype

    make = default_buffer_prototype().buffer.from_bytes
    return zarr.storage.MemoryStore({key: make(value) for key, value in _mapping(path).items()})


@pytest.mark.parametrize(
    # zarr-python has no TileDB folders.
    ("kind", "name"), [(kind, name) for kind in LOCATIONS for name in STORES if not (kind.startswith("zarr") and name == "groups.tdb")]
)
def test_a_folder_reads_as_on_this_machine(folder: Path, kind: str, name: str) -> None:
    location, path = LOCATIONS[kind](folder / name), folder / name
    group, expected = hyperslab.open(location), hyperslab.open(path)
    assert group.format == expected.format and list(group) == list(expected)
    found = list(group.walk())
    assert [of.name for of in found] == [of.name for of in expected.walk()]
    for of in found:
        assert repr(of.attrs) == repr(expected[of.name].attrs if of.name != "/" else expected.attrs)
        if isinstance(of, hyperslab.Array) and of.dtype.kind != "O" and not of.is_empty_space:
            np.testing.assert_array_equal(of[...], expected[of.name][...])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = xr.open_datatree(location, engine="hyperslab").load()
        theirs = xr.open_datatree(path, engine="hyperslab").load()
    xr.testing.assert_identical(ours, theirs)
    for at in ours.subtree:
        for of in at.variables:
            encodings = [dict(tree[at.path][of].encoding) for tree in (ours, theirs)]
            for encoding in encodings:
                # The engine records it for locations that have a name.
                encoding.pop("source", None)
            assert repr(encodings[0]) == repr(encodings[1])


def test_is_what_zarr_python_reads(folder: Path) -> None:
    theirs = zarr.open_group(folder / "consolidated.zarr", mode="r")
    ours = hyperslab.open(LOCATIONS["fsspec URL"](folder / "consolidated.zarr"))
    for name in ("salinity", "lat", "waves/energy"):
        np.testing.assert_array_equal(ours[name][...], theirs[name][...])


def test_verbs_read_a_url(folder: Path, tmp_path: Path) -> None:
    url = LOCATIONS["fsspec URL"](folder / "consolidated.zarr")
    assert hyperslab.diff(url, folder / "consolidated.zarr").is_same
    assert str(hyperslab.describe(url)) == str(hyperslab.describe(folder / "consolidated.zarr"))
    hyperslab.convert(url, tmp_path / "back.nc", allow_loss="all")
    assert hyperslab.diff(tmp_path / "back.nc", url).is_same
    assert hyperslab.check(url).is_sound


def test_a_url_of_a_folder_can_be_pickled(folder: Path) -> None:
    array = hyperslab.open(LOCATIONS["fsspec URL"](folder / "version2.zarr"))["salinity"]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(array))[...], array[...])


def test_a_session_of_icechunk(folder: Path, tmp_path: Path) -> None:
    icechunk = pytest.importorskip("icechunk")
    repo = icechunk.Repository.create(icechunk.local_filesystem_storage(str(tmp_path / "repo")))
    session = repo.writable_session("main")
    made = zarr.create_group(session.store).create_array("of/icechunk", data=np.arange(30).reshape(5, 6), chunks=(2, 4))
    made.attrs["units"] = "K"
    session.commit("an array")
    group = hyperslab.open(repo.readonly_session("main").store)
    np.testing.assert_array_equal(group["of/icechunk"][1:, ::2], np.arange(30).reshape(5, 6)[1:, ::2])
    assert group["of/icechunk"].attrs == {"units": "K"}


def test_references_of_kerchunk(examples: Path, tmp_path: Path) -> None:
    from hyperslab.virtual import references

    refs = tmp_path / "refs.json"
    refs.write_text(json.dumps(references(examples / "ocean.nc", url=str(examples / "ocean.nc"))))
    found = hyperslab.open(fsspec.filesystem("reference", fo=str(refs), remote_protocol="file").get_mapper(""))
    expected = hyperslab.open(examples / "ocean.nc")
    for name in ("salinity", "temperature", "waves/energy"):
        np.testing.assert_array_equal(found[name][...], expected[name][...])


class Server(http.server.SimpleHTTPRequestHandler):
    """A web server of files, which lists its folders only if `lists` is set."""

    lists = True

    def list_directory(self, path: Any) -> Any:
        if self.lists:
            return super().list_directory(path)
        self.send_error(404)
        return None

    def do_GET(self) -> None:
        """Answer with the part that is requested."""
        at = Path(self.translate_path(self.path))
        wanted = self.headers.get("Range")
        if wanted is None or not at.is_file():
            super().do_GET()
            return
        start, stop = (int(word) for word in wanted.removeprefix("bytes=").split("-"))
        content = at.read_bytes()
        part = content[start : stop + 1]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{start + len(part) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@contextmanager
def serving(kind: type[Server], folder: Path) -> Iterator[str]:
    """Serves a folder, and yields the URL of the server."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(kind, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def served(folder: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a server, which lists its folders if the parameter is true."""
    with serving(type("Kind", (Server,), {"lists": request.param}), folder) as url:
        yield url


@pytest.mark.parametrize("served", [True, False], indirect=True, ids=["lists", "does not list"])
@pytest.mark.parametrize("name", ["consolidated.zarr", "version2.zarr"])
def test_a_web_server_of_a_consolidated_store(folder: Path, served: str, name: str) -> None:
    for url in (f"{served}/{name}", f"{served}/{name}/"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            xr.testing.assert_identical(
                xr.open_dataset(url, engine="hyperslab").load(), xr.open_dataset(folder / name, engine="hyperslab").load()
            )


@pytest.mark.parametrize("served", [True, False], indirect=True, ids=["lists", "does not list"])
def test_stores_of_a_web_server_without_a_suffix(folder: Path, served: str) -> None:
    (folder / "plain").mkdir(exist_ok=True)
    for key, value in _mapping(folder / "consolidated.zarr").items():
        (folder / "plain" / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / "plain" / key).write_bytes(value)
    expected = hyperslab.open(folder / "plain")
    for url in (f"{served}/plain", f"{served}/plain/", f"{served}/plain?token=17"):
        np.testing.assert_array_equal(hyperslab.open(url)["lat"][...], expected["lat"][...])
    for url in (f"{served}/plain/lat", f"{served}/consolidated.zarr/lat"):
        np.testing.assert_array_equal(hyperslab.open_array(url)[...], expected["lat"][...])


NAMES = ["a b", "a?b", "a#b", "a%20b", "é", "a[0]", "a*"]


@pytest.mark.parametrize("served", [True], indirect=True)
@pytest.mark.parametrize("consolidated", [True, False])
def test_names_with_characters_of_urls(folder: Path, served: str, consolidated: bool) -> None:
    path = folder / f"names{consolidated}.zarr"
    if not path.exists():
        group = zarr.create_group(path)
        for number, name in enumerate(NAMES):
            group.create_array(name, data=np.full(3, number + 1), chunks=(2,))
        if consolidated:
            zarr.consolidate_metadata(path)
    for location in (f"{served}/{path.name}", LOCATIONS["fsspec URL"](path), LOCATIONS["obstore"](path), LOCATIONS["mapping"](path)):
        found = hyperslab.open(location)
        assert sorted(found) == sorted(NAMES)
        for name in NAMES:
            assert found[name][...].tolist() == [NAMES.index(name) + 1] * 3


@pytest.mark.parametrize("served", [True], indirect=True)
@pytest.mark.parametrize("name", ["documents.zarr", "groups.tdb"])
def test_a_web_server_that_lists_folders(folder: Path, served: str, name: str) -> None:
    group, expected = hyperslab.open(f"{served}/{name}"), hyperslab.open(folder / name)
    assert [of.name for of in group.walk()] == [of.name for of in expected.walk()]
    np.testing.assert_array_equal(group["salinity"][...], expected["salinity"][...])


@pytest.mark.parametrize("served", [False], indirect=True)
def test_a_web_server_that_lists_nothing_says_so(folder: Path, served: str) -> None:
    group = hyperslab.open(f"{served}/documents.zarr")
    with pytest.raises(hyperslab.Error, match="does not list folders.*no consolidated metadata"):
        list(group)
    # Opening a single array needs no listing.
    array = hyperslab.open_array(f"{served}/documents.zarr/salinity")
    np.testing.assert_array_equal(array[...], hyperslab.open(folder / "documents.zarr")["salinity"][...])
    with pytest.raises(FileNotFoundError, match="nowhere.zarr: no such file"):
        hyperslab.open(f"{served}/nowhere.zarr")


def test_what_is_no_store_is_an_error(examples: Path) -> None:
    for location in ({"a": b"1"}, {3: b"1"}, hyperslab.open(examples / "ocean.nc"), xr.open_dataset(examples / "ocean.nc")):
        with pytest.raises(TypeError, match=f"cannot open {type(location).__name__}, expected .* a mapping of store keys"):
            hyperslab.open(location)
    for value in ("{}", 3, None):
        with pytest.raises(hyperslab.ReadError, match="the value of 'zarr.json' is"):
            hyperslab.open({"zarr.json": value})
    with pytest.raises(ValueError, match="without asynchronous=True"):
        hyperslab.open((fsspec.filesystem("http", asynchronous=True), "http://127.0.0.1/a.zarr"))
    with pytest.raises(FileNotFoundError):
        hyperslab.open("memory://missing.zarr")
    with pytest.raises(FileNotFoundError):
        hyperslab.open((obstore.store.MemoryStore(), "missing.zarr"))


@pytest.mark.parametrize("answer", [lambda: (200, b"<html>Welcome</html>"), lambda: (403, b"")], ids=["page", "forbidden"])
def test_a_web_server_with_a_page_of_its_own_lists_nothing(folder: Path, answer: Callable[[], tuple[int, bytes]]) -> None:
    class Page(Server):
        def list_directory(self, path: Any) -> Any:
            status, content = answer()
            self.send_response(status)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            return io.BytesIO(content)

    with serving(Page, folder) as url:
        np.testing.assert_array_equal(
            hyperslab.open(f"{url}/consolidated.zarr")["lat"][...], hyperslab.open(folder / "consolidated.zarr")["lat"][...]
        )
        with pytest.raises(hyperslab.UnsupportedError, match="does not list folders.*no consolidated metadata"):
            list(hyperslab.open(f"{url}/documents.zarr"))


@pytest.mark.parametrize("served", [True, False], indirect=True, ids=["lists", "does not list"])
def test_a_web_server_by_obstore(folder: Path, served: str) -> None:
    store = obstore.store.HTTPStore.from_url(served, client_options={"allow_http": True}, retry_config={"max_retries": 0})
    found = hyperslab.open((store, "consolidated.zarr"))
    np.testing.assert_array_equal(found["lat"][...], hyperslab.open(folder / "consolidated.zarr")["lat"][...])


def test_stores_of_zarr_python_that_nobody_has_opened(folder: Path, tmp_path: Path) -> None:
    path = shutil.make_archive(str(tmp_path / "a"), "zip", folder / "consolidated.zarr")
    found = hyperslab.open(zarr.storage.ZipStore(path, mode="r"))
    np.testing.assert_array_equal(found["lat"][...], hyperslab.open(folder / "consolidated.zarr")["lat"][...])


@pytest.mark.parametrize("name", ["consolidated.zarr", "documents.zarr"])
def test_file_systems_around_others(folder: Path, name: str) -> None:
    from fsspec.implementations.dirfs import DirFileSystem

    expected = hyperslab.open(folder / name)["lat"][...]
    around = DirFileSystem(path=str(folder / name), fs=fsspec.filesystem("file"))
    for location in ((around, ""), around.get_mapper(""), f"simplecache::{LOCATIONS['fsspec URL'](folder / name)}"):
        np.testing.assert_array_equal(hyperslab.open(location)["lat"][...], expected)


def test_a_store_of_zarr_python_in_its_own_loop_is_an_error(folder: Path) -> None:
    from zarr.core.sync import sync

    async def opened() -> None:
        hyperslab.open(zarr.storage.LocalStore(folder / "documents.zarr", read_only=True))

    with pytest.raises(RuntimeError, match="in the event loop of zarr.*asyncio.to_thread"):
        sync(opened())


def test_errors_of_a_store_of_zarr_python_hide_nothing(folder: Path) -> None:
    class Failing(zarr.storage.LocalStore):
        async def exists(self, key: str) -> bool:
            raise ConnectionError("the network is down")

    with pytest.raises(hyperslab.ReadError, match="the network is down"):
        list(hyperslab.open(Failing(folder / "documents.zarr", read_only=True)))


def test_values_of_no_bytes_may_stand_for_folders(folder: Path) -> None:
    content = {**_mapping(folder / "documents.zarr"), "lat": b"", "waves": b""}
    store = obstore.store.MemoryStore()
    for key, value in content.items():
        obstore.put(store, f"w/{key}", value)
    for location in (content, dict(reversed(content.items())), (store, "w")):
        assert {"lat", "waves"} <= set(hyperslab.open(location))


class Mapped(dict[str, bytes]):
    """A mapping that supports weak references."""


def test_what_was_opened_is_let_go(folder: Path) -> None:
    mapping = Mapped(_mapping(folder / "consolidated.zarr"))
    known = weakref.ref(mapping)
    xr.open_dataset(mapping, engine="hyperslab").close()
    del mapping
    gc.collect()
    assert known() is None


def test_an_opening_is_shared_by_what_is_pickled(folder: Path) -> None:
    group = hyperslab.open(LOCATIONS["fsspec URL"](folder / "consolidated.zarr"))
    one, other = pickle.loads(pickle.dumps(group["lat"])), pickle.loads(pickle.dumps(group["lon"]))
    assert one._opened is other._opened is group._opened
    assert hyperslab.open(LOCATIONS["fsspec URL"](folder / "consolidated.zarr"))._opened is not group._opened


def test_dask_reads_a_url_in_processes(folder: Path) -> None:
    pytest.importorskip("dask")
    url = f"file://{folder / 'consolidated.zarr'}"
    with xr.open_dataset(url, engine="hyperslab", chunks={}) as found, xr.open_dataset(folder / "consolidated.zarr", engine="hyperslab") as expected:
        np.testing.assert_array_equal(found["salinity"].compute(scheduler="processes"), expected["salinity"])
        assert found["lat"].encoding["compressors"] == expected["lat"].encoding["compressors"]


class Strange(FsspecFolder):
    """A folder whose answers are not those that a folder should give."""

    def __init__(self, path: Path, answers: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__(fsspec.filesystem("file"), str(path))
        self.answers = answers

    def values_of(self, keys: Sequence[str]) -> Any:
        return self.answers.get("values_of", super().values_of)(keys)

    def ranges_of(self, key: str, ranges: Any) -> Any:
        return self.answers.get("ranges_of", super().ranges_of)(key, ranges)

    def size_of(self, key: str) -> Any:
        return self.answers.get("size_of", super().size_of)(key)

    def entries(self, prefix: str) -> Any:
        return self.answers.get("entries", super().entries)(prefix)


def _raise(error: Exception) -> Any:
    raise error


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"values_of": lambda keys: _raise(ConnectionError("the network is down"))}, "the network is down"),
        ({"values_of": lambda keys: [ConnectionError("the network is down") for _ in keys]}, "the network is down"),
        ({"values_of": lambda keys: []}, "the storage did not return the requested bytes of zarr.json"),
        ({"values_of": lambda keys: [17 for _ in keys]}, "'int' object is not"),
        ({"size_of": lambda key: -1}, "negative"),
        ({"size_of": lambda key: _raise(PermissionError("not for you"))}, "not for you"),
        ({"entries": lambda prefix: _raise(PermissionError("not for you"))}, "not for you"),
        ({"entries": lambda prefix: [("salinity",)]}, "expected tuple of length 2"),
    ],
)
def test_answers_that_are_none_are_errors(folder: Path, answers: Mapping[str, Callable[..., Any]], expected: str) -> None:
    with pytest.raises(Exception, match=expected):
        list(hyperslab.open(Strange(folder / "documents.zarr", answers)))


def test_names_that_are_no_keys_are_left_out(folder: Path) -> None:
    listed = [("..", True), ("lat", True), ("lat", False), ("a/b", True), ("waves", True)]
    strange = Strange(folder / "documents.zarr", {"entries": lambda prefix: listed if not prefix else []})
    # The named datatype is stored in the document of the root.
    assert set(hyperslab.open(strange)) == {"lat", "waves", "flag_t"}


def test_chunks_that_fail_are_errors_and_those_that_are_absent_are_the_fill_value(folder: Path) -> None:
    def failing(keys: Sequence[str]) -> Any:
        read = FsspecFolder(fsspec.filesystem("file"), str(folder / "documents.zarr")).values_of(keys)
        return [TimeoutError("too late") if "/c/" in key else one for key, one in zip(keys, read, strict=True)]

    with pytest.raises(hyperslab.ReadError, match="too late"):
        hyperslab.open(Strange(folder / "documents.zarr", {"values_of": failing}))["salinity"][...]
    content = {key: value for key, value in _mapping(folder / "documents.zarr").items() if not key.startswith("salinity/c")}
    array = hyperslab.open(content)["salinity"]
    np.testing.assert_array_equal(array[...], np.full(array.shape, array.fill_value))


def test_values_beyond_the_limit_are_refused(folder: Path) -> None:
    content = _mapping(folder / "documents.zarr")
    content["zarr.json"] += b" " * 100_000
    with pytest.warns(hyperslab.FileWarning), pytest.raises(hyperslab.Error, match="zarr.json has 1.* bytes, but at most"):
        hyperslab.open(content, limits={"allocation": 65536})


def test_ctrl_c_stops_what_waits_for_a_folder(folder: Path) -> None:
    asked = []

    def slow(keys: Sequence[str]) -> Any:
        asked.extend(keys)
        if any("/c/" in key for key in keys):
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
            time.sleep(5)
        return FsspecFolder(fsspec.filesystem("file"), str(folder / "documents.zarr")).values_of(keys)

    array = hyperslab.open(Strange(folder / "documents.zarr", {"values_of": slow}))["salinity"]
    asked.clear()
    start = time.monotonic()
    # A process that a script has started in the background ignores interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            array[...]
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 3 and len(asked) == len(set(asked))


class FarFolder(far.Requests):
    """A folder in memory. Whatever is requested together counts as one request."""

    is_far = True

    def __init__(self, content: dict[str, bytes], wait: float = far.WAIT) -> None:
        super().__init__(wait)
        self._folder = MappingFolder(content)

    def size_of(self, key: str) -> int | None:
        self.request()
        return self._folder.size_of(key)

    def values_of(self, keys: Sequence[str]) -> list[Any]:
        self.request()
        return self._folder.values_of(keys)

    def ranges_of(self, key: str, ranges: Sequence[tuple[int, int]]) -> list[bytes] | None:
        self.request()
        return self._folder.ranges_of(key, ranges)

    def entries(self, prefix: str) -> list[tuple[str, bool]]:
        self.request()
        return self._folder.entries(prefix)


@pytest.fixture(scope="module")
def chunked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A consolidated store of 14 arrays, of which 11 have 64 chunks."""
    made = tmp_path_factory.mktemp("far")
    far.by_xarray(made / "far.nc")
    hyperslab.convert(made / "far.nc", made / "far.zarr")
    return _mapping(made / "far.zarr")


def test_rounds_of_requests(chunked: dict[str, bytes]) -> None:
    storage = FarFolder(chunked)
    assert isinstance(storage, Keyed)
    group = hyperslab.open(storage)
    assert len(group) == 14 and all(array.attrs and array.shape for array in group.arrays.values())
    assert storage.rounds() <= 4, storage.requests
    storage.begin()
    dataset = xr.open_dataset(storage, engine="hyperslab")
    # The last requests read the first and the last time, which xarray decodes to determine the type of the times.
    assert storage.rounds() <= 6, storage.requests
    for found in (group, dataset):
        storage.begin()
        np.testing.assert_array_equal(np.asarray(found["v5"][...]), far.values("v5"))
        assert storage.rounds() <= 3, storage.requests


@pytest.mark.parametrize("side", [256 << 10, 1 << 20])
@pytest.mark.parametrize("is_sharded", [False, True])
def test_rounds_of_large_chunks(side: int, is_sharded: bool) -> None:
    expected = np.random.default_rng(1).integers(0, 256, (64, side), dtype="u1")
    content: dict[str, Any] = {}
    shards = (16, side) if is_sharded else None
    array = zarr.create_array(zarr.storage.MemoryStore(content), shape=expected.shape, dtype="u1", chunks=(1, side), shards=shards)
    array[...] = expected
    # Each request takes so long that reading the elements and waiting for each other takes less.
    storage = FarFolder({key: value.to_bytes() for key, value in content.items()}, wait=0.2)
    found = hyperslab.open_array(storage)
    storage.begin()
    assert np.array_equal(found[...], expected)
    assert storage.rounds() <= 3, storage.requests
