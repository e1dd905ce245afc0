"""Key-value storages, with which `open` reads remote folders, mappings, and stores of zarr-python.

Zarr and TileDB stores are such folders. All values of a batch are requested at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeGuard, runtime_checkable
from urllib.parse import quote, unquote

from ._errors import exception

# Errors which mean that a value does not exist. A folder is not a value.
_ABSENT = (FileNotFoundError, IsADirectoryError, NotADirectoryError, KeyError)

# Documents of which the root of a store has at least one.
_DOCUMENTS = ("zarr.json", ".zgroup", ".zarray", ".zmetadata", "__tiledb_group.tdb", "__array_schema.tdb")

# Documents of which a Zarr node has at least one.
_OF_NODES = ("zarr.json", ".zarray", ".zgroup")

# Status codes of web servers that do not list folders.
_FORBIDDEN = (401, 403, 405)

# The number of concurrent requests, where the library of a storage does not batch them itself.
REQUESTS = 32

Value = bytes | Exception | None
"""A value, the error raised by reading it, or None."""


@runtime_checkable
class Keyed(Protocol):
    """Values under keys, which are names separated by slashes. Any object with these methods can be opened."""

    is_far: bool
    """Whether requests are slow, as over a network, so that as few as possible are made."""

    def size_of(self, key: str) -> int | None:
        """Number of bytes of a value; None if it does not exist."""
        ...

    def values_of(self, keys: Sequence[str]) -> Sequence[Value]:
        """The value of each key; None if it does not exist, or the error raised by reading it."""
        ...

    def ranges_of(self, key: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes] | None:
        """Half-open byte ranges of a value, as (start, stop); None if the value does not exist."""
        ...

    def entries(self, prefix: str) -> Iterable[tuple[str, bool]]:
        """The names directly below a prefix, each with whether it is itself a prefix rather than a value."""
        ...


class _Folder:
    """A folder, whose keys are below a path."""

    is_far = True

    def __init__(self, path: str, name: str) -> None:
        self._path, self._name = path, name
        # Documents of the root that were read to find out whether it is a store.
        self._first: dict[str, bytes | None] = {}

    def _at(self, key: str) -> str:
        return f"{self._path}/{key}" if self._path and key else self._path or key

    def is_store(self) -> bool:
        """Whether it has a document of a store root. Servers may not report that it is a folder."""
        found = dict(zip(_DOCUMENTS, self.values_of(_DOCUMENTS), strict=True))
        self._first = {key: value for key, value in found.items() if not isinstance(value, Exception)}
        return any(value is not None for value in self._first.values())

    def size_of(self, key: str) -> int | None:
        if key in self._first:
            value = self._first[key]
            return None if value is None else len(value)
        return self._size(key)

    def values_of(self, keys: Sequence[str]) -> list[Value]:
        asked = [key for key in keys if key not in self._first]
        found = dict(zip(asked, self._values(asked), strict=True)) if asked else {}
        return [self._first[key] if key in self._first else found[key] for key in keys]

    def _size(self, key: str) -> int | None:
        raise NotImplementedError

    def _values(self, keys: Sequence[str]) -> Sequence[Value]:
        raise NotImplementedError

    def _unlisted(self, path: str) -> BaseException:
        detail = (
            f"the server does not list folders, but {path or 'its root'} has to be listed because the store has no consolidated"
            " metadata; open a store with consolidated metadata, or a local copy"
        )
        return exception("unsupported", f"{self._name}: {detail}", detail=detail, file=self._name)


class FsspecFolder(_Folder):
    """A folder in an fsspec file system."""

    def __init__(self, fs: Any, path: str, name: str | None = None) -> None:
        self._fs, self._is_web = fs, is_web(fs)
        # The query, such as a signature, belongs to each URL.
        path, mark, query = path.partition("?") if self._is_web else (path, "", "")
        super().__init__(path.rstrip("/"), name or path)
        self._query = mark + query

    def _at(self, key: str) -> str:
        return super()._at(quote(key)) + self._query if self._is_web else super()._at(key)

    def _size(self, key: str) -> int | None:
        try:
            info = self._fs.info(self._at(key))
        except _ABSENT:
            return None
        if info.get("type") == "directory":
            return None
        if info.get("size") is None:
            value = self.values_of([key])[0]
            if isinstance(value, Exception):
                raise value
            return None if value is None else len(value)
        return int(info["size"])

    def _values(self, keys: Sequence[str]) -> list[Value]:
        everything = [None] * len(keys)
        try:
            found = self._fs.cat_ranges([self._at(key) for key in keys], everything, everything, on_error="return")
        except _ABSENT:
            # Caching file systems fail as a whole if one key is missing.
            return _each(lambda key: self._fs.cat_file(self._at(key)), keys)
        return [None if isinstance(one, _ABSENT) else one for one in found]

    def ranges_of(self, key: str, ranges: Sequence[tuple[int, int]]) -> list[bytes] | None:
        starts, stops = [start for start, _ in ranges], [stop for _, stop in ranges]
        try:
            read: list[bytes] = self._fs.cat_ranges([self._at(key)] * len(ranges), starts, stops, on_error="raise")
        except _ABSENT:
            return None
        return read

    def entries(self, prefix: str) -> list[tuple[str, bool]]:
        found = self._listed(prefix)
        if self._is_web and not found and not self._lists(prefix):
            raise self._unlisted(self._at(prefix))
        return list(found.items())

    def _listed(self, prefix: str) -> dict[str, bool]:
        path = self._at(prefix)
        try:
            listed = self._fs.ls(path, detail=True)
        except _ABSENT:
            return {}
        except Exception as error:
            if self._is_web and getattr(error, "status", None) in _FORBIDDEN:
                raise self._unlisted(path) from error
            raise
        below, found = self._fs._strip_protocol(path).rstrip("/"), {}
        for info in listed:
            # The name of a folder may end with a slash, and a folder may be listed as one of its own members.
            above, _, name = info["name"].rstrip("/").rpartition("/")
            if self._is_web and "?" in name:
                # A link that sorts the listing.
                continue
            if name and above.endswith(below):
                found[unquote(name) if self._is_web else name] = info.get("type") == "directory"
        return found

    def _lists(self, prefix: str) -> bool:
        """Whether the server lists the root of the store. If it does, an empty listing means an empty prefix."""
        found = self._listed("") if prefix else {}
        return bool(found) and all(name in found for name, value in self._first.items() if value is not None)


class ObstoreFolder(_Folder):
    """A prefix in an obstore store."""

    def __init__(self, store: Any, path: str) -> None:
        super().__init__(path.strip("/"), path)
        self._store = store

    def _size(self, key: str) -> int | None:
        import obstore

        try:
            return int(obstore.head(self._store, self._at(key))["size"])
        except _ABSENT:
            return None

    def _values(self, keys: Sequence[str]) -> list[Value]:
        import obstore

        return _each(lambda key: bytes(obstore.get(self._store, self._at(key)).bytes()), keys)

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
        except Exception as error:
            if isinstance(self._store, obstore.store.HTTPStore):
                raise self._unlisted(self._at(prefix)) from error
            raise
        values = [(one["path"].rpartition("/")[2], False) for one in found["objects"]]
        return values + [(path.rstrip("/").rpartition("/")[2], True) for path in found["common_prefixes"]]


class MappingFolder:
    """A mapping of keys to bytes, the form of stores in version 2 of zarr-python."""

    is_far = False

    def __init__(self, mapping: Mapping[str, Any]) -> None:
        self._mapping = mapping
        # The names below each prefix, and whether each is itself a prefix.
        self._below: dict[str, dict[str, bool]] = {}
        for key in mapping:
            prefix, is_prefix = key, False
            while prefix:
                prefix, _, name = prefix.rpartition("/")
                names = self._below.setdefault(prefix, {})
                if is_prefix and names.get(name):
                    break
                names[name] = is_prefix or names.get(name, False)
                is_prefix = True

    def _value(self, key: str) -> bytes:
        value = self._mapping[key]
        if hasattr(value, "to_bytes") and not isinstance(value, int):
            return bytes(value.to_bytes())
        if not isinstance(value, (bytes, bytearray, memoryview)):
            raise TypeError(f"the value of {key!r} is {type(value).__name__}, expected bytes")
        return bytes(value)

    def size_of(self, key: str) -> int | None:
        try:
            return len(self._value(key))
        except _ABSENT:
            return None

    def values_of(self, keys: Sequence[str]) -> list[Value]:
        return [_found(self._value, key) for key in keys]

    def ranges_of(self, key: str, ranges: Sequence[tuple[int, int]]) -> list[bytes] | None:
        try:
            value = self._value(key)
        except _ABSENT:
            return None
        return [value[start:stop] for start, stop in ranges]

    def entries(self, prefix: str) -> list[tuple[str, bool]]:
        return [(name, is_prefix) for name, is_prefix in self._below.get(prefix, {}).items() if name]


class ZarrFolder:
    """A store of zarr-python, such as that of an Icechunk session."""

    is_far = True

    def __init__(self, store: Any) -> None:
        import asyncio

        from zarr.core import sync
        from zarr.core.buffer import default_buffer_prototype

        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is not None and running is sync.loop[0]:
            raise RuntimeError(
                f"a {type(store).__name__} cannot be opened in the event loop of zarr, because it would wait for that loop;"
                " use asyncio.to_thread"
            )
        self._store, self._sync, self._prototype = store, sync.sync, default_buffer_prototype()
        if not store._is_open:
            self._sync(store._ensure_open())

    def size_of(self, key: str) -> int | None:
        async def size() -> int | None:
            try:
                return int(await self._store.getsize(key))
            except _ABSENT:
                return None

        return self._sync(size())

    def values_of(self, keys: Sequence[str]) -> list[Value]:
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

    def _got(self, wanted: list[tuple[str, Any]]) -> list[Value]:
        import asyncio

        async def one(key: str, part: Any) -> Value:
            try:
                found = await self._store.get(key, self._prototype, byte_range=part)
            except _ABSENT:
                return None
            except Exception as error:
                return error
            return None if found is None else bytes(found.to_bytes())

        async def all_of_them() -> list[Value]:
            return await asyncio.gather(*(one(key, part) for key, part in wanted))

        return self._sync(all_of_them())

    def entries(self, prefix: str) -> list[tuple[str, bool]]:
        import asyncio

        start = f"{prefix}/" if prefix else ""

        async def is_node(name: str) -> bool:
            return any(await asyncio.gather(*(self._store.exists(f"{start}{name}/{of}") for of in _OF_NODES)))

        async def listed() -> list[tuple[str, bool]]:
            names = [name.rstrip("/") async for name in self._store.list_dir(prefix)]
            unknown = [name for name in names if name not in _DOCUMENTS]
            # A store does not report which names are prefixes, and only nodes are of interest.
            nodes = await asyncio.gather(*(is_node(name) for name in unknown))
            return [(name, False) for name in names if name in _DOCUMENTS] + list(zip(unknown, nodes, strict=True))

        return self._sync(listed())


def is_store_of_zarr(location: Any) -> bool:
    """Whether it is a store of zarr-python. If it is, zarr has already been imported."""
    import sys

    module = sys.modules.get("zarr.abc.store")
    return module is not None and isinstance(location, module.Store)


def is_mapping_of_store(location: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether it is a mapping that contains a document of a store, rather than any other mapping."""
    if not isinstance(location, Mapping) or hasattr(location, "_opened"):
        return False
    keys = list(location)
    is_document = {*_DOCUMENTS, "__schema"}.intersection
    return all(isinstance(key, str) for key in keys) and any(is_document(key.split("/")) for key in keys)


def is_web(fs: Any) -> bool:
    """Whether an fsspec file system is a web server, which need not list folders."""
    protocols = fs.protocol if isinstance(fs.protocol, (tuple, list)) else (fs.protocol,)
    return "http" in protocols or "https" in protocols


def _found(get: Callable[[str], bytes], key: str) -> Value:
    try:
        return get(key)
    except _ABSENT:
        return None
    except Exception as error:
        return error


def _each(get: Callable[[str], bytes], keys: Sequence[str]) -> list[Value]:
    """The values of keys, requested concurrently."""
    if len(keys) == 1:
        return [_found(get, keys[0])]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(len(keys), REQUESTS)) as threads:
        return list(threads.map(lambda key: _found(get, key), keys))
