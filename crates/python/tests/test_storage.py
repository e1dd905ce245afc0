"""Storage that is not a path: bytes, files, fsspec and obstore objects, and objects with `ranges`."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fsspec
import h5py
import hyperslab
import numpy as np
import obstore.store
import pytest
from hyperslab._storage import Ranges


class Counted:
    """Bytes in memory. Each request for them takes a while and is recorded."""

    is_far = True

    def __init__(self, content: bytes, wait: float = 0) -> None:
        self.content, self.wait = content, wait
        self.requests: list[tuple[float, float]] = []

    def size(self) -> int:
        return len(self.content)

    def ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        start = time.monotonic()
        time.sleep(self.wait)
        self.requests.append((start, time.monotonic()))
        return [self.content[start:stop] for start, stop in ranges]

    def waited(self) -> float:
        """The time during which at least one request was pending, as a multiple of the time of a request."""
        total = until = 0.0
        for start, stop in sorted(self.requests):
            total += max(0.0, stop - max(start, until))
            until = max(until, stop)
        return total / self.wait


def _fsspec_memory(path: Path) -> Any:
    fs = fsspec.filesystem("memory")
    fs.pipe(f"/{path.name}", path.read_bytes())
    return fs


def _fsspec_url(path: Path) -> Any:
    _fsspec_memory(path)
    return f"memory://{path.name}"


class Raw(io.RawIOBase):
    """A file that returns what is requested in small parts."""

    def __init__(self, content: bytes) -> None:
        self.file = io.BytesIO(content)

    def seek(self, at: int, whence: int = 0) -> int:
        return self.file.seek(at, whence)

    def tell(self) -> int:
        return self.file.tell()

    def read(self, count: int = -1) -> bytes:
        return self.file.read(min(count, 17) if count > 0 else count)


LOCATIONS: dict[str, Callable[[Path], Any]] = {
    "path": lambda path: path,
    "text": str,
    "file URL": lambda path: f"file://{path}",
    "bytes": lambda path: path.read_bytes(),
    "bytearray": lambda path: bytearray(path.read_bytes()),
    "memoryview": lambda path: memoryview(path.read_bytes()),
    "BytesIO": lambda path: io.BytesIO(path.read_bytes()),
    "open file": lambda path: path.open("rb"),
    "unbuffered file": lambda path: path.open("rb", buffering=0),
    "file in parts": lambda path: Raw(path.read_bytes()),
    "fsspec memory": lambda path: (_fsspec_memory(path), f"/{path.name}"),
    "fsspec local": lambda path: (fsspec.filesystem("file"), str(path)),
    "fsspec open": lambda path: fsspec.open(path).open(),
    "fsspec OpenFile": lambda path: fsspec.open(path),
    "fsspec URL": _fsspec_url,
    "obstore": lambda path: (obstore.store.LocalStore(path.parent), path.name),
    "obstore memory": lambda path: _obstore_memory(path),
    "object with ranges": lambda path: Counted(path.read_bytes()),
}


def _obstore_memory(path: Path) -> Any:
    store = obstore.store.MemoryStore()
    obstore.put(store, "folder/a.nc", path.read_bytes())
    return store, "folder/a.nc"


@pytest.mark.parametrize("kind", LOCATIONS)
@pytest.mark.parametrize("name", ["ocean.nc", "chunk_indexes.h5", "classic.nc", "strings.nc"])
def test_a_storage_reads_what_a_path_does(examples: Path, kind: str, name: str) -> None:
    group, expected = hyperslab.open(LOCATIONS[kind](examples / name)), hyperslab.open(examples / name)
    assert group.format == expected.format and group.size == expected.size and list(group) == list(expected)
    found = list(group.walk())
    assert [of.name for of in found] == [of.name for of in expected.walk()]
    for of in found:
        if isinstance(of, hyperslab.Array) and of.dtype.kind != "O" and not of.is_empty_space:
            np.testing.assert_array_equal(of[...], expected[of.name][...])
    assert repr(group) and group == group and hash(group) == hash(group)


def test_two_storages_are_not_the_same(examples: Path) -> None:
    content = (examples / "ocean.nc").read_bytes()
    assert hyperslab.open(content) != hyperslab.open(content[:] + b"")
    one = hyperslab.open(io.BytesIO(content))
    assert one == one["/"] and one != hyperslab.open(io.BytesIO(content))


def test_a_file_keeps_its_position(examples: Path) -> None:
    with (examples / "ocean.nc").open("rb") as file:
        file.seek(5)
        hyperslab.open(file)
        assert isinstance(Counted(b""), Ranges)


def test_an_open_file_is_read_by_many_threads(examples: Path) -> None:
    expected = h5py.File(examples / "ocean.nc")["salinity"][()]
    for location in (io.BytesIO((examples / "ocean.nc").read_bytes()), (examples / "ocean.nc").open("rb")):
        salinity = hyperslab.open(location, chunk_cache=0)["salinity"]
        with ThreadPoolExecutor(8) as pool:
            for found in pool.map(lambda _: salinity[...], range(64)):
                np.testing.assert_array_equal(found, expected)


class Broken(Counted):
    """Returns something other than what was requested."""

    def __init__(self, content: bytes, how: str) -> None:
        super().__init__(content)
        self.how = how

    def ranges(self, ranges: Sequence[tuple[int, int]]) -> Any:
        read = super().ranges(ranges)
        if self.how == "raises":
            raise ConnectionResetError("the far end is gone")
        if self.how == "short":
            return [part[:-1] for part in read]
        if self.how == "few":
            return read[1:]
        if self.how == "none":
            return None
        return [1] * len(read) if self.how == "numbers" else read


def test_an_open_file_that_is_opened_twice(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "t.h5", "w") as file:
        for name in "ab":
            file.create_dataset(name, data=np.full(40_000, ord(name)), chunks=(100,))

    class Slow(io.BytesIO):
        """Gives other threads time between `seek` and `read`."""

        def seek(self, *to: int) -> int:
            at = super().seek(*to)
            time.sleep(1e-5)
            return at

    file = Slow((tmp_path / "t.h5").read_bytes())
    arrays = [hyperslab.open(file, chunk_cache=size)[name] for size, name in enumerate("ab")]
    with ThreadPoolExecutor(2) as threads:
        for array, found in zip(arrays, threads.map(lambda array: array[...], arrays), strict=True):
            assert np.unique(found).tolist() == [ord(array.name[1:])]


@pytest.mark.parametrize("how", ["raises", "short", "few", "none", "numbers"])
def test_a_broken_storage_is_an_error(examples: Path, how: str) -> None:
    content = (examples / "ocean.nc").read_bytes()
    with pytest.raises(OSError) as caught:
        hyperslab.open(Broken(content, how))
    assert isinstance(caught.value, hyperslab.ReadError)
    if how == "raises":
        assert isinstance(caught.value.__cause__, ConnectionResetError) and "far end" in str(caught.value)
    # More than is kept of the beginning of a file.
    file = io.BytesIO()
    with h5py.File(file, "w") as made:
        made["x"] = np.arange(100_000)
    later = Broken(file.getvalue(), "works")
    group = hyperslab.open(later)
    later.how = how
    with pytest.raises((OSError, hyperslab.Error)):
        for found in group.walk():
            if isinstance(found, hyperslab.Array):
                found[...]


def test_a_file_that_became_shorter(examples: Path) -> None:
    content = (examples / "ocean.nc").read_bytes()
    file = io.BytesIO(content)
    group = hyperslab.open(file, chunk_cache=0)
    file.truncate(600)
    with pytest.raises(hyperslab.Error):
        for found in group.walk():
            if isinstance(found, hyperslab.Array):
                found[...]


def test_what_cannot_be_opened() -> None:
    for location in (3, object(), [b"a"], {"a"}):
        with pytest.raises(TypeError, match="cannot open"):
            hyperslab.open(location)
    with pytest.raises(FileNotFoundError):
        hyperslab.open((fsspec.filesystem("memory"), "/missing.h5"))
    with pytest.raises(FileNotFoundError):
        hyperslab.open("memory://missing.h5")
    with pytest.raises(FileNotFoundError):
        hyperslab.open((obstore.store.MemoryStore(), "missing.h5"))


@pytest.fixture(scope="module")
def chunks(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """64 deflated chunks of 16 KiB."""
    path = tmp_path_factory.mktemp("far") / "chunks.h5"
    values = np.random.default_rng(1).integers(0, 1000, (512, 512), dtype="i4")
    with h5py.File(path, "w", libver="latest") as file:
        file.create_dataset("x", data=values, chunks=(64, 64), compression="gzip", compression_opts=1)
    return path.read_bytes()


def test_a_far_storage_is_opened_by_few_requests(examples: Path) -> None:
    far = Counted((examples / "ocean.nc").read_bytes())
    hyperslab.open(far)
    assert len(far.requests) <= 4


def test_a_far_storage_is_asked_in_batches(chunks: bytes) -> None:
    far = Counted(chunks, wait=0.05)
    array = hyperslab.open(far)["x"]
    far.requests.clear()
    read = array[...]
    assert len(far.requests) <= 8 and far.waited() <= 3.5, (len(far.requests), far.waited())
    with h5py.File(io.BytesIO(chunks)) as file:
        np.testing.assert_array_equal(read, file["x"][()])
