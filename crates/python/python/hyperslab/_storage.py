"""Storages that are read by byte ranges, and the choice among them for objects that `open` accepts in addition to paths."""

from __future__ import annotations

import io
import os
import weakref
from _thread import allocate_lock
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from ._errors import NoFileError, UnsupportedError, exception


class JoinedStores(NamedTuple):
    """Stores that are opened as one, and how they are joined: only `path` of each, or everything."""

    stores: tuple[str, ...]
    path: str | None
    along: str | None
    new_dimension: str | None
    sort: bool
    rtol: float
    atol: float

    def __str__(self) -> str:
        first, last = self.stores[0], self.stores[-1]
        if os.path.dirname(first) == os.path.dirname(last):
            last = os.path.basename(last)
        return first if len(self.stores) == 1 else f"{first} … {last}"


@runtime_checkable
class Ranges(Protocol):
    """Bytes that are read in batches of ranges. Any object with these methods can be opened."""

    is_far: bool
    """Whether requests are slow, as over a network, so that as few as possible are made."""

    def size(self) -> int:
        """Number of bytes."""
        ...

    def ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes of each half-open range (start, stop)."""
        ...


class FileObject:
    """An object with `seek` and `read`, such as an open file. Only one thread reads from it at a time."""

    is_far = False

    def __init__(self, file: Any) -> None:
        self._file = file
        self._lock = _lock_of(file)
        with self._lock:
            at = file.tell()
            self._size: int = file.seek(0, io.SEEK_END)
            file.seek(at)

    def size(self) -> int:
        return self._size

    def ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        read = []
        with self._lock:
            for start, stop in ranges:
                self._file.seek(start)
                read.append(_whole(self._file, stop - start))
        return read


_locks: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def _lock_of(file: Any) -> Any:
    """The lock of a file, because all readers of the same file share its position."""
    try:
        return _locks.setdefault(file, allocate_lock())
    except TypeError:
        # The file does not support weak references or hashing.
        return allocate_lock()


def _whole(file: Any, count: int) -> bytes:
    """Read this many bytes, which a raw file may return in parts."""
    parts, left = [], count
    while left:
        part = file.read(left)
        if not part:
            break
        parts.append(bytes(part))
        left -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


class FsspecFile:
    """A file in an fsspec file system. All ranges of a batch are one request."""

    is_far = True

    def __init__(self, fs: Any, path: str, size: int) -> None:
        self._fs, self._path, self._size = fs, path, size

    def size(self) -> int:
        return self._size

    def ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        starts, stops = [start for start, _ in ranges], [stop for _, stop in ranges]
        # Errors of individual ranges are raised.
        read: list[bytes] = self._fs.cat_ranges([self._path] * len(ranges), starts, stops, on_error="raise")
        return read


def no_file(name: str) -> NoFileError:
    """The error for a file that does not exist."""
    made = exception("file-not-found", f"{name}: no such file", detail="no such file", file=name)
    assert isinstance(made, NoFileError)
    return made


class ObstoreFile:
    """An object in an obstore store. All ranges of a batch are fetched at the same time."""

    is_far = True

    def __init__(self, store: Any, path: str, size: int) -> None:
        import obstore

        self._get, self._store, self._path, self._size = obstore.get_ranges, store, path, size

    def size(self) -> int:
        return self._size

    def ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        starts, stops = [start for start, _ in ranges], [stop for _, stop in ranges]
        return [bytes(part) for part in self._get(self._store, self._path, starts=starts, ends=stops)]


def local(location: str | os.PathLike[str]) -> str:
    """The path of a location, which may be a `file://` URL, or begin with a user's home folder as `~`."""
    return os.path.expanduser(os.fsdecode(location).removeprefix("file://"))


def storage_of(location: Any, options: dict[str, Any] | None) -> Any:
    """What the library opens: a path, joined stores, bytes, an object with `ranges`, or one that is `Keyed`."""
    if isinstance(location, JoinedStores):
        return location
    if isinstance(location, (str, os.PathLike)):
        text = local(location)
        return _of_url(text, options) if "://" in text else text
    if isinstance(location, (bytes, bytearray, memoryview)):
        return bytes(location)
    # Few programs need this module, and importing it takes time.
    from ._folders import Keyed, MappingFolder, ZarrFolder, is_mapping_of_store, is_store_of_zarr

    if is_store_of_zarr(location):
        return ZarrFolder(location)
    if hasattr(location, "fs") and hasattr(location.fs, "cat_ranges"):
        # A file has a `path`, and the mapping of a folder has a `root`.
        return _of_fsspec(location.fs, getattr(location, "path", None) or location.root)
    if isinstance(location, tuple) and len(location) == 2 and isinstance(location[1], str):
        store, path = location
        return _of_fsspec(store, path) if hasattr(store, "cat_ranges") else _of_obstore(store, path)
    if isinstance(location, Ranges):
        return location
    if hasattr(location, "read") and hasattr(location, "seek"):
        return FileObject(location)
    if isinstance(location, Keyed):
        return location
    if is_mapping_of_store(location):
        return MappingFolder(location)
    kind = type(location).__name__
    several = "; open_joined opens several stores as one" if isinstance(location, (list, tuple)) else ""
    raise TypeError(
        f"cannot open {kind}, expected a path, a URL, bytes, a file, a mapping of store keys to bytes, a zarr-python store,"
        f" or an object with ranges() or values_of(){several}"
    )


def _of_url(url: str, options: dict[str, Any] | None) -> Any:
    try:
        import fsspec
    except ImportError:
        raise ImportError(f"opening the URL {url} requires the package fsspec") from None
    fs, path = fsspec.core.url_to_fs(url, **(options or {}))
    return _of_fsspec(fs, path, url)


def _of_fsspec(fs: Any, path: str, name: str | None = None) -> Any:
    """A file or a folder in an fsspec file system."""
    from ._folders import FsspecFolder, is_web

    name = name or path
    if getattr(fs, "asynchronous", False):
        raise ValueError(f"{name}: its file system is asynchronous; create it without asynchronous=True")
    folder = FsspecFolder(fs, path, name)
    # Servers respond to folders as to files, with an HTML page.
    if (path.endswith("/") or _has_suffix_of_folder(path)) and folder.is_store():
        return folder
    try:
        info = fs.info(path)
    except (FileNotFoundError, PermissionError) as error:
        if folder.is_store():
            return folder
        if isinstance(error, PermissionError):
            raise
        raise no_file(name) from error
    is_page = is_web(fs) and info.get("mimetype") == "text/html"
    if info.get("type") == "directory" or (is_page and folder.is_store()):
        return folder
    size = info.get("size")
    # Only an object without bytes needs a further request.
    if not size and (fs.isdir(path) or folder.is_store()):
        return folder
    if size is None:
        raise UnsupportedError(f"{name}: the server does not report the size of the file, which is required")
    return FsspecFile(fs, path, int(size))


def _has_suffix_of_folder(path: str) -> bool:
    """Whether a component of a path has the suffix of a store that is a folder."""
    return any(part.endswith((".zarr", ".tdb", ".tiledb")) for part in path.partition("?")[0].split("/"))


def _of_obstore(store: Any, path: str) -> Any:
    """An object in an obstore store, or everything below a prefix."""
    import obstore

    from ._folders import ObstoreFolder

    folder = ObstoreFolder(store, path)
    # The root is not an object.
    if not path.strip("/") or (_has_suffix_of_folder(path) and folder.is_store()):
        return folder
    try:
        return ObstoreFile(store, path, int(obstore.head(store, path)["size"]))
    except (FileNotFoundError, PermissionError) as error:
        if folder.is_store() or (isinstance(error, FileNotFoundError) and folder.entries("")):
            return folder
        if isinstance(error, PermissionError):
            raise
        raise no_file(path) from error
