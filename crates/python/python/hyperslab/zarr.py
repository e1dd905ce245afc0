"""Any file that hyperslab opens, as a Zarr v3 store.

    >>> import zarr
    >>> from hyperslab.zarr import ZarrStore
    >>> zarr.open_group(ZarrStore("ocean.nc"), mode="r")["temperature"][0]

Metadata documents are generated from groups and arrays, and chunks are read on request: nothing is converted or copied in advance.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.core.buffer import ArrayLike, Buffer, BufferPrototype, default_buffer_prototype

from . import _hyperslab
from ._errors import LeftOutWarning
from ._zarr.documents import Json, array_v3, consolidated_v3, group_v3
from ._zarr.pipeline import CodecPipeline, Wanted, region
from ._zarr.places import Places
from ._zarr.plans import Plan, Tree, opened, plan, tree, warn_of_left_out
from ._zarr.requests import Requests

__all__ = ["CodecPipeline", "LeftOutWarning", "ZarrStore"]

_CHUNK = re.compile(r"(?:(?P<array>.+)/)?c(?P<index>(?:/(?:0|[1-9][0-9]*))*)")


class ZarrStore(Store):
    """A file of any format as a read-only Zarr v3 store.

    location: whatever `hyperslab.open` takes, or an open group or array
    path: group or array that is the root of the store
    decoded: whether hyperslab decodes all chunks, which is faster than the codecs of zarr. With False, chunks are those of the
        file wherever zarr can decode them
    consolidated: whether the root document contains all others, so that opening the store reads only one document
    storage_options, options: as for `hyperslab.open`

    `left_out` names objects that Zarr cannot represent, such as sequences of variable length, with the reason; a `LeftOutWarning`
    names them when the store is first listed. Variable-length strings have the type `string`, references become the paths of their
    targets, and arrays within compounds become compounds. The store can be pickled if the location can be opened again.
    """

    def __init__(
        self,
        location: Any,
        path: str = "/",
        *,
        decoded: bool = True,
        consolidated: bool = True,
        read_only: bool = True,
        storage_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        if not read_only:
            raise ValueError("a ZarrStore is read-only, expected read_only=True")
        super().__init__(read_only=True)
        self._root = opened(location, path, options, dict(storage_options) if storage_options else None)
        self._decoded, self._consolidated = decoded, consolidated
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._known: Tree | None = None
        self._plans: dict[str, Plan] = {}
        self._places: dict[str, Places] = {}
        self._documents: dict[str, bytes] = {}
        # By event loop: requests are not shared between loops or processes.
        self._requests: WeakKeyDictionary[asyncio.AbstractEventLoop, Requests] = WeakKeyDictionary()

    # Identity

    def __eq__(self, value: object) -> bool:
        return (
            isinstance(value, ZarrStore)
            and self._root == value._root
            and (self._decoded, self._consolidated) == (value._decoded, value._consolidated)
        )

    def __hash__(self) -> int:
        return hash((self._root, self._decoded, self._consolidated))

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_root", "_decoded", "_consolidated", "_is_open", "_read_only")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._begin()

    def __repr__(self) -> str:
        return f"ZarrStore({self._root!r})"

    def with_read_only(self, read_only: bool = False) -> ZarrStore:
        """The same store, which cannot be made writable."""
        if not read_only:
            raise NotImplementedError(f"with_read_only is not implemented for the {type(self)} store type.")
        return ZarrStore(self._root, decoded=self._decoded, consolidated=self._consolidated)

    @property
    def left_out(self) -> dict[str, str]:
        """Paths of objects that Zarr cannot represent, with the reasons."""
        return dict(self._tree.left_out)

    # Content

    @property
    def _tree(self) -> Tree:
        with self._lock:
            if self._known is None:
                self._known = tree(self._root)
                warn_of_left_out(self._root, self._known.left_out)
            return self._known

    def _plan(self, path: str) -> Plan | None:
        known = self._plans.get(path)
        if known is None and path in self._tree.arrays:
            known = plan(self._tree.arrays[path], as_stored=not self._decoded)
            if known.is_stored and not (known.codecs and Places.are_readable(known)):
                # Without filters, the engine reads the same bytes.
                known = plan(self._tree.arrays[path], as_stored=False)
            self._plans[path] = known
        return known

    def _document(self, path: str) -> Json | None:
        if path in self._tree.groups:
            return group_v3(self._tree.groups[path])
        found = self._plan(path)
        return None if found is None else array_v3(found, self._tree.dims[path])

    def _document_bytes(self, path: str) -> bytes | None:
        known = self._documents.get(path)
        if known is None:
            document = self._document(path)
            if document is None:
                return None
            if path == "" and self._consolidated and document["node_type"] == "group":
                # zarr finds the members of a group only if they are listed consecutively.
                listed = (inner for inner in (*self._tree.groups, *self._tree.arrays) if inner)
                below = sorted(listed, key=lambda inner: inner.rpartition("/")[0])
                all_below = {inner: self._document(inner) for inner in below}
                document = consolidated_v3(document, {inner: of for inner, of in all_below.items() if of is not None})
            known = self._documents[path] = json.dumps(document).encode()
        return known

    def _parsed(self, key: str) -> tuple[Plan, tuple[int, ...]] | None:
        """The array and the index of a chunk; None if the key is not that of a chunk."""
        match = _CHUNK.fullmatch(key)
        if match is None:
            return None
        found = self._plan(match["array"] or "")
        index = tuple(int(part) for part in match["index"].split("/")[1:])
        if found is None or len(index) != len(found.shape):
            return None
        if any(at >= count for at, count in zip(index, found.grid, strict=True)):
            return None
        return found, index

    def _value(self, key: str) -> bytes | np.ndarray | None:
        if key == "zarr.json" or key.endswith("/zarr.json"):
            return self._document_bytes(key[: -len("zarr.json")].rstrip("/"))
        parsed = self._parsed(key)
        if parsed is None:
            return None
        found, index = parsed
        if not found.is_stored:
            return found.chunk(index)
        places = self._places_of(found)
        stored = places.read(index)
        return found.chunk(index) if stored is None and not places.has_fill else stored

    def _places_of(self, of: Plan) -> Places:
        name = of.array.name
        known = self._places.get(name)
        if known is None:
            known = self._places[name] = Places(of)
        return known

    def _gaps_of(self, of: Plan) -> Places | None:
        """The places of chunks, if some may never have been written; None if all exist, or if only reading them would show it."""
        if not of.is_stored and not of.has_chunks_of_file:
            return None
        places = self._places_of(of)
        return places if places.has_fill else None

    # Reading

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """The value of a key, or a part of it; None if it does not exist."""
        value = self._value(key)
        if value is None:
            return None
        view = memoryview(value).cast("B") if isinstance(value, bytes) else value
        if byte_range is not None:
            start, stop = _bounds(byte_range, len(view))
            view = view[start:stop]
        buffer = (prototype or default_buffer_prototype()).buffer
        values = np.frombuffer(view, dtype="u1") if len(view) else np.empty(0, "u1")
        # NumPy arrays are intended here, but they lack a detail of the protocol.
        made: Buffer = buffer.from_array_like(cast("ArrayLike", values))
        return made

    async def get(
        self,
        key: str,
        prototype: BufferPrototype,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        if key in self._documents or not _CHUNK.fullmatch(key):
            return self.get_sync(key, prototype=prototype, byte_range=byte_range)
        found: Buffer | None = await self._ask(partial(self.get_sync, key, prototype=prototype, byte_range=byte_range))
        return found

    def _ask(self, read: Callable[[], Any]) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        requests = self._requests.get(loop)
        if requests is None:
            is_far = self._root._opened.is_far
            requests = self._requests[loop] = Requests.far(loop) if is_far else Requests(_hyperslab.threads())
        return requests.ask(read)

    async def read_region(self, wanted: Sequence[Wanted], out: np.ndarray) -> bool:
        """Fill an array with elements of chunks, if they are a region that the engine reads into memory as it is.

        wanted: keys of chunks with the selected elements, and where they belong. Returns whether the array was filled.
        """
        if self._root._opened.is_far and len(wanted) > 1:
            # zarr has more requests under way at the same time.
            return False
        reading = self._ask(partial(self._read_region, wanted, out))
        try:
            return bool(await asyncio.shield(reading))
        except asyncio.CancelledError:
            # Until the engine has finished, it writes into memory of the caller.
            await asyncio.wait([reading])
            raise

    def _read_region(self, wanted: Sequence[Wanted], out: np.ndarray) -> bool:
        first = self._parsed(wanted[0][0]) if wanted else None
        if first is None or not first[0].reads_into(out):
            return False
        parsed = [(self._parsed(key), selection, place) for key, selection, place in wanted]
        parts = [(of[1], selection, place) for of, selection, place in parsed if of is not None and of[0] is first[0]]
        key = region(parts, first[0].chunks, out.shape) if len(parts) == len(wanted) else None
        if key is None:
            return False
        first[0].array.read(key, out=out)
        return True

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        return list(await asyncio.gather(*(self.get(key, prototype, part) for key, part in key_ranges)))

    async def exists(self, key: str) -> bool:
        return self._has(key)

    def _has(self, key: str) -> bool:
        if key == "zarr.json" or key.endswith("/zarr.json"):
            path = key[: -len("zarr.json")].rstrip("/")
            return path in self._tree.groups or path in self._tree.arrays
        parsed = self._parsed(key)
        if parsed is None:
            return False
        found, index = parsed
        places = self._gaps_of(found)
        return places is None or places.has(index)

    async def getsize(self, key: str) -> int:
        parsed = self._parsed(key)
        if parsed is not None and not parsed[0].is_stored and parsed[0].dtype is not None:
            return parsed[0].chunk_bytes
        value = await asyncio.to_thread(self._value, key)
        if value is None:
            raise FileNotFoundError(key)
        return len(value)

    # Lists

    @property
    def supports_writes(self) -> bool:
        return False

    @property
    def supports_deletes(self) -> bool:
        return False

    @property
    def supports_listing(self) -> bool:
        return True

    async def set(self, key: str, value: Buffer) -> None:
        self._check_writable()

    async def delete(self, key: str) -> None:
        self._check_writable()

    async def list(self) -> AsyncIterator[str]:
        async for key in self.list_prefix(""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        for path in (*self._tree.groups, *self._tree.arrays):
            below = f"{path}/" if path else ""
            # The prefix may lie below the path, or the path below the prefix.
            if not (below.startswith(prefix) or prefix.startswith(below)):
                continue
            if f"{below}zarr.json".startswith(prefix):
                yield f"{below}zarr.json"
            if path in self._tree.arrays:
                for key in self._chunk_keys(path):
                    if key.startswith(prefix):
                        yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        path = prefix.strip("/")
        if path in self._tree.groups:
            yield "zarr.json"
            below = f"{path}/" if path else ""
            for inner in (*self._tree.groups, *self._tree.arrays):
                name = inner.removeprefix(below)
                if inner.startswith(below) and name and "/" not in name:
                    yield name
        elif path in self._tree.arrays:
            yield "zarr.json"
            if math.prod(self._tree.arrays[path].shape):
                yield "c"
        else:
            for name in self._chunk_names(path):
                yield name

    def _chunk_keys(self, path: str) -> Iterator[str]:
        found = self._plan(path)
        assert found is not None
        below = f"{path}/c" if path else "c"
        places = self._gaps_of(found)
        indices: Iterable[tuple[int, ...]] = np.ndindex(*found.grid) if places is None else places.indices()
        for index in indices:
            yield "/".join([below, *map(str, index)])

    def _chunk_names(self, prefix: str) -> Iterator[str]:
        """The next part of the chunk keys that begin with a partial index."""
        match = _CHUNK.fullmatch(prefix)
        if match is None or (match["array"] or "") not in self._tree.arrays:
            return
        found = self._plan(match["array"] or "")
        assert found is not None
        index = match["index"].split("/")[1:]
        if len(index) < len(found.grid) and all(int(at) < count for at, count in zip(index, found.grid, strict=False)):
            yield from map(str, range(found.grid[len(index)]))


def _bounds(part: ByteRequest, size: int) -> tuple[int, int]:
    if isinstance(part, RangeByteRequest):
        return part.start, min(part.end, size)
    if isinstance(part, OffsetByteRequest):
        return min(part.offset, size), size
    if isinstance(part, SuffixByteRequest):
        return max(0, size - part.suffix), size
    raise ValueError(f"Unexpected byte_range, got {part}.")
