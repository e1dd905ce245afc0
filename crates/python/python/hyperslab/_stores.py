"""Open stores: each is opened once per process, and reopened in other processes."""

from __future__ import annotations

import os
import weakref
from _thread import allocate_lock  # `threading` would be a fifth of the time that importing takes
from typing import Any

from . import _hyperslab
from ._storage import JoinedStores, local, storage_of

DEFAULTS: dict[str, Any] = {
    "format": None,
    "raw": False,
    "unpack": False,
    "limits": None,
    "chunk_cache": None,
    "dataspace": None,
    "allow_external": [],
    "key": None,
    "at": None,
    "follow_links": False,
}


class Opened:
    """An open store, and what is needed to reopen it in another process."""

    __slots__ = (
        *("__weakref__", "_name", "absolute", "documents", "file", "is_far", "keyed", "location", "options", "stamp"),
        "storage_options",
    )

    def __init__(self, location: Any, options: dict[str, Any], storage_options: Any) -> None:
        self.location, self.options, self.storage_options = location, options, storage_options
        self.stamp = stamp(location)
        # The process may change its working folder later, and other processes may have another one.
        self.absolute = location if self.stamp is None else absolute(location)
        storage = storage_of(location, storage_options)
        self.is_far: bool = getattr(storage, "is_far", False)
        # The storage, if it has values under keys and is not a local folder.
        self.keyed: Any = storage if hasattr(storage, "values_of") else None
        # Documents of its nodes, for readers that present their content.
        self.documents: Any = None
        # Identifies this open store across processes if it has no stamp.
        self._name: str | None = None
        if isinstance(storage, JoinedStores):
            self.file = _hyperslab.open_joined(joining(storage, options))
        else:
            self.file = _hyperslab.open(storage, options)

    @property
    def content(self) -> tuple[Any, ...] | None:
        """The part of a file's stamp that is the same on every host that mounts it: size and time. None for folders, which change
        while they are used."""
        if self.stamp is None or _has_folder(self.absolute):
            return None
        return tuple(one[2:] for one in self.stamp)

    @property
    def stamps(self) -> dict[str, tuple[int, ...]]:
        """The stamp of each store, by its path."""
        return dict(zip(_stores_of(self.absolute), self.stamp or (), strict=False))

    def check(self) -> None:
        """Refuse a file that was replaced since it was opened."""
        if self.content is not None and stamp(self.absolute) != self.stamp:
            raise _replaced(self)

    def key(self) -> tuple[Any, ...] | None:
        """Distinguishes a store from others, and from its state before it was replaced. None if nothing does."""
        if self.stamp is None:
            return None
        return _key(self.absolute, self.stamp, self.options)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.stamp is None and self._name is None:
            self._name = os.urandom(16).hex()
            with _lock:
                _known[(self._name,)] = self
        return (_reopened, (self.absolute, self.options, self.storage_options, self.content, self._name))


_lock = allocate_lock()
_known: weakref.WeakValueDictionary[tuple[Any, ...], Opened] = weakref.WeakValueDictionary()


def opened(location: Any, options: dict[str, Any], storage_options: Any) -> Opened:
    """An open store. A file that is already open in this process, and was not replaced, is not opened again."""
    fresh = stamp(location)
    # The content of a folder may change without a trace in its own stamp.
    if fresh is None or _has_folder(location):
        return Opened(location, options, storage_options)
    key = _key(absolute(location), fresh, options)
    with _lock:
        known = _known.get(key)
    if known is None:
        known = Opened(location, options, storage_options)
        with _lock:
            _known[key] = known
    return known


def _reopened(location: Any, options: dict[str, Any], storage_options: Any, content: Any, name: str | None) -> Opened:
    with _lock:
        known = None if name is None else _known.get((name,))
    if known is not None:
        return known
    found = opened(location, options, storage_options)
    if name is not None:
        with _lock:
            found = _known.setdefault((name,), found)
        found._name = name
    if content is not None and found.content != content:
        raise _replaced(found)
    return found


def _replaced(opened: Opened) -> OSError:
    return OSError(f"{named(opened)} was replaced since it was opened")


def joining(of: JoinedStores, options: dict[str, Any]) -> dict[str, Any]:
    """How stores are joined, in the form that the library takes."""
    return {**of._asdict(), "name": str(of), "open": options}


def absolute(location: Any) -> Any:
    """A local location, independent of the working folder of a process."""
    if isinstance(location, JoinedStores):
        return location._replace(stores=tuple(map(os.path.abspath, location.stores)))
    return os.path.abspath(local(location))


def _key(location: Any, stamp: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    return (location, stamp, tuple(sorted((name, repr(value)) for name, value in options.items())))


def _stores_of(location: Any) -> tuple[Any, ...]:
    """The joined stores, or the only one."""
    return location.stores if isinstance(location, JoinedStores) else (location,)


def _has_folder(location: Any) -> bool:
    return any(os.path.isdir(local(store)) for store in _stores_of(location))


def stamp(location: Any) -> tuple[tuple[int, ...], ...] | None:
    """For each store, values that change when it is replaced. None for anything that is not a file or a folder."""
    stamps = [found for found in map(_stamp, _stores_of(location)) if found is not None]
    return tuple(stamps) if len(stamps) == len(_stores_of(location)) else None


def _stamp(location: Any) -> tuple[int, ...] | None:
    """Device, inode, size and modification time of a file or a folder."""
    if not isinstance(location, (str, os.PathLike)):
        return None
    try:
        found = os.stat(local(location))
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def named(opened: Opened) -> str:
    where = opened.location
    if isinstance(where, JoinedStores):
        return str(where)
    return os.fspath(where) if isinstance(where, (str, os.PathLike)) else type(where).__name__
