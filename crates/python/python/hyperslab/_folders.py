"""Storages of values by their keys: what `open` makes of folders that are far, of mappings, and of stores of zarr-python.

Stores of Zarr and TileDB are such folders. All values of a batch are requested at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from ._errors import exception

# What says that there is no value: a folder is none.
_ABSENT = (FileNotFoundError, IsADirectoryError, NotADirectoryError, KeyError)

# Documents, one of which the root of a store has.
_DOCUMENTS = ("zarr.json", ".zgroup", ".zarray", ".zmetadata", "__tiledb_group.tdb", "__array_schema.tdb")

# Requests that wait at the same time, where the library of a storage does not make them together.
_REQUESTS = 32


@runtime_checkable
class Keyed(Protocol):
    """Values under keys: names with slashes between them. Whatever has these methods can be opened."""

    is_far: bool
    """Whether each request takes long, as over a network, so that as few as possible are made."""

    def size_of(self, key: str) -> int | None:
        """Number of bytes of a value, None if there is no value."""
        ...

    def values_of(self, keys: Sequence[str]) -> Sequence[bytes | Exception | None]:
        """The value of each key; None if there is none, or the error that reading it has."""
        ...

    def ranges_of(self, key: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes] | None:
        """Bytes of a value, each from its first to the one before its last; None if there is no value."""
        ...

    def entries(self, prefix: str) -> Iterable[tuple[str, bool]]:
        """The names directly below a prefix, and whether more is below them instead of a value."""
        ...


class FsspecFolder:
    """A folder of a file system of fsspec."""

    is_far = True

    def __init__(self, fs: Any, path: str, name: str | None = None) -> None:
        self._fs, self._path, self._name = fs, path.rstrip("/"), name or path

    def _at(self, key: str) -> str:
        return f"{self._path}/{key}" if self._path and key else self._path or key

    def size_of(self, key: str) -> int | None:
        try:
            info = self._fs.info(self._at(key))
        except _ABSENT:
            return None
        if info.get("type") == "directory":
            return None
        if info.get("size") is None:
            return _size_of_value(self, key)
        return int(info["size"])

    def values_of(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        everything = [None] * len(keys)
        found = self._fs.cat_ranges([self._at(key) for key in keys], everything, everything, on_error="return")
        return [None if isinstance(one, _ABSENT) else one for one in found]

    def ranges_of(self, key: str, ranges: Sequence[tuple[int, int]]) -> list[bytes] | None:
        starts, stops = [start for start, _ in ranges], [stop for _, stop in ranges]
        try:
            read: list[bytes] = self._fs.cat_ranges([self._at(key)] * len(ranges), starts, stops, on_error="raise")
        except _ABSENT:
            return None
        return read

    def entries(self, prefix: str) -> list[tuple[str, bool]]:
        path = self._at(prefix)
        try:
            listed = self._fs.ls(path, detail=True)
        except _ABSENT:
            if _is_web(self._fs) and not self._is_listed_without(prefix):
                raise self._unlisted(path) from None
            return []
        found = {}
        for info in listed:
            # The name of a folder may end with a slash, and may be listed as one of its own members.
            above, _, name = info["name"].rstrip("/").rpartition("/")
            if name and above.endswith(self._fs._strip_protocol(path).rstrip("/")):
                found[name] = info.get("type") == "directory"
        return list(found.items())

    def _is_listed_without(self, prefix: str) -> bool:
        """Whether a server lists what is above a prefix, and the prefix is not there."""
        if not prefix:
            return False
        above, _, name = prefix.rpartition("/")
        return name not in dict(self.entries(above))

    def _unlisted(self, path: str) -> BaseException:
        detail = (
            f"the server lists no folders, and {path} has to be listed, because the store has no consolidated metadata; open a store"
            " that has, or a copy on this machine"
        )
        return exception("unsupported", f"{self._name}: {detail}", detail=detail, file=self._name)


class ObstoreFolder:
    """A prefix of a store of obstore."""

    is_far = True

    def __init__(self, store: Any, path: str) -> None:
        self._store, self._path = store, path.strip("/")

    def _at(self, key: str) -> str:
        return f"{self._path}/{key}" if self._path and key else self._path or key

    def size_of(self, key: str) -> int | None:
        import obstore

        try:
            return int(obstore.head(self._store, self._at(key))["size"])
        except _ABSENT:
            return None

    def values_of(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        import obstore

        def value(key: str) -> bytes:
            return bytes(obstore.get(self._store, self._at(key)).bytes())

        return _each(value, keys)

    def ranges_of(self, key: str, ranges: Sequence[tuple[int, int]]) -> list[bytes] | None:
        import obstore

        starts, ends = [start for start, _ in ranges], [stop for _, stop in ranges]
        try:
            return [bytes(part) for part in obstore.get_ranges(self._store, self._at(key), starts=starts, ends=ends)]
        except _ABSENT:
            return None

    def entries(self, prefix: str) -> list[tuple[str, bool]]:
        import obstore

        try:
            found = obstore.list_with_delimiter(self._store, self._at(prefix) or None)
        except _ABSENT:
            return []
        values = [(one["path"].rpartition("/")[2], False) for one in found["objects"]]
        return values + [(path.rstrip("/").rpartition("/")[2], True) for path in found["common_prefixes"]]


class MappingFolder:
    """A mapping of keys to bytes, as version 2 of zarr-python had for stores."""

    is_far = False

    def __init__(self, mapping: Mapping[str, Any]) -> None:
        self._mapping = mapping

    def _value(self, key: str) -> bytes:
        value = self._mapping[key]
        return value.to_bytes() if hasattr(value, "to_bytes") else bytes(value)

    def size_of(self, key: str) -> int | None:
        return _size_of_value(self, key)

    def values_of(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        return [_found(self._value, key) for key in keys]

    def ranges_of(self, key: str, ranges: Sequence[tuple[int, int]]) -> list[bytes] | None:
        value = _found(self._value, key)
        if isinstance(value, Exception):
            raise value
        return None if value is None else [value[start:stop] for start, stop in ranges]

    def entries(self, prefix: str) -> list[tuple[str, bool]]:
        start = f"{prefix}/" if prefix else ""
        below = (key[len(start) :].partition("/") for key in self._mapping if key.startswith(start))
        return list({name: bool(slash) for name, slash, _ in below if name}.items())


class ZarrFolder:
    """A store of zarr-python, such as that of a session of Icechunk."""

    is_far = True

    def __init__(self, store: Any) -> None:
        from zarr.core.buffer import default_buffer_prototype
        from zarr.core.sync import sync

        self._store, self._sync, self._prototype = store, sync, default_buffer_prototype()

    def size_of(self, key: str) -> int | None:
        async def size() -> int | None:
            try:
                return int(await self._store.getsize(key))
            except _ABSENT:
                return None

        found: int | None = self._sync(size())
        return found

    def values_of(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        return self._got([(key, None) for key in keys])

    def ranges_of(self, key: str, ranges: Sequence[tuple[int, int]]) -> list[bytes] | None:
        from zarr.abc.store import RangeByteRequest

        parts = []
        for part in self._got([(key, RangeByteRequest(start, stop)) for start, stop in ranges]):
            if isinstance(part, Exception):
                raise part
            if part is None:
                return None
            parts.append(part)
        return parts

    def _got(self, wanted: list[tuple[str, Any]]) -> list[bytes | Exception | None]:
        import asyncio

        async def one(key: str, part: Any) -> bytes | Exception | None:
            try:
                found = await self._store.get(key, self._prototype, byte_range=part)
            except _ABSENT:
                return None
            except Exception as error:
                return error
            return None if found is None else bytes(found.to_bytes())

        async def all_of_them() -> list[bytes | Exception | None]:
            return await asyncio.gather(*(one(key, part) for key, part in wanted))

        found: list[bytes | Exception | None] = self._sync(all_of_them())
        return found

    def entries(self, prefix: str) -> list[tuple[str, bool]]:
        from zarr.abc.store import RangeByteRequest

        async def listed() -> list[str]:
            return [name.rstrip("/") async for name in self._store.list_dir(prefix)]

        names: list[str] = self._sync(listed())
        start = f"{prefix}/" if prefix else ""
        # The store tells neither which names are values, nor, of all kinds of stores, which exist as values.
        unknown = [name for name in names if name not in _DOCUMENTS]
        found = self._got([(start + name, RangeByteRequest(0, 1)) for name in unknown])
        prefixes = {name for name, value in zip(unknown, found, strict=True) if value is None}
        return [(name, name in prefixes) for name in names]


def is_store(folder: Keyed) -> bool:
    """Whether a folder has a document that the root of a store has. Servers may not tell that it is a folder."""
    return any(isinstance(found, bytes) for found in folder.values_of(_DOCUMENTS))


def is_store_of_zarr(location: Any) -> bool:
    """Whether it is a store of zarr-python. Whoever has one has imported it."""
    import sys

    module = sys.modules.get("zarr.abc.store")
    return module is not None and isinstance(location, module.Store)


def _is_web(fs: Any) -> bool:
    """Whether a file system is a server of pages, which lists folders only if it wants to."""
    protocols = fs.protocol if isinstance(fs.protocol, (tuple, list)) else (fs.protocol,)
    return "http" in protocols or "https" in protocols


def _size_of_value(folder: Keyed, key: str) -> int | None:
    value = folder.values_of([key])[0]
    if isinstance(value, Exception):
        raise value
    return None if value is None else len(value)


def _found(get: Callable[[str], bytes], key: str) -> bytes | Exception | None:
    try:
        return get(key)
    except _ABSENT:
        return None
    except Exception as error:
        return error


def _each(get: Callable[[str], bytes], keys: Sequence[str]) -> list[bytes | Exception | None]:
    """The values of keys, which are requested at the same time."""
    if len(keys) == 1:
        return [_found(get, keys[0])]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(len(keys), _REQUESTS)) as threads:
        return list(threads.map(lambda key: _found(get, key), keys))
