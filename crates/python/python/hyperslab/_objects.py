"""Opening stores, and the groups of open stores."""

from __future__ import annotations

import os
from collections.abc import ItemsView, Iterable, Iterator, Mapping, Set, ValuesView
from typing import TYPE_CHECKING, Any, NoReturn

from . import _hyperslab
from ._arrays import Array, Attributes, is_same, token
from ._errors import Error, FileWarning, NoFileError, NoObjectError
from ._storage import JoinedStores
from ._stores import DEFAULTS, Opened, named, opened
from ._suggestions import nearest
from ._warnings import warn

if TYPE_CHECKING:
    from ._records import Dimension

__all__ = ["Array", "Attributes", "Group", "open", "open_array", "opened_object"]

# The modes that h5py takes as the second argument.
_MODES = frozenset(("r", "r+", "a", "w", "w-", "x"))


def open(
    location: Any,
    path: str = "/",
    *,
    format: str | None = None,
    raw: bool = False,
    unpack: bool = False,
    limits: Mapping[str, int] | None = None,
    chunk_cache: int | None = None,
    dataspace: str | None = None,
    allow_external: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
    key: bytes | None = None,
    at: str | int | None = None,
    follow_links: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    **unknown: NoReturn,
) -> Group:
    """Open a store of any format.

    location: a path, a URL (with fsspec), bytes, an open file, ``(store, path)`` of obstore or fsspec, a store of zarr-python,
        a mapping of keys to bytes, or any object that has the methods of `hyperslab._storage.Ranges` or `hyperslab._folders.Keyed`
    path: group to begin at
    format: name of the format [default: recognized by the content]
    raw: show what is stored, without what NetCDF hides
    unpack: show packed numbers (scale_factor, add_offset) as the values they represent, with missing ones as NaN
    limits: limits on what a file may demand: ``{"allocation": bytes}``, nesting, rank, filters
    chunk_cache: bytes of decoded chunks to keep for small reads [default: 64 MiB for all files of the process]
    dataspace: show the variables that TileDB-CF stores as arrays: "auto" or the name of a convention
    allow_external: folder, or folders, in which files that the store names may be opened
    key: the 32-byte key of an encrypted store
    at: show the store as it was at a time, such as "2026-03-01T06:00" or milliseconds since 1970, or only what was written
        between two times, "2026-03-01..2026-03-02" (TileDB)
    follow_links: show the targets of external links, in files in the same folder and below, or in `allow_external`
    storage_options: options of fsspec for a URL

    Nothing is locked. Any number of threads may use the returned group, which can be pickled if it was opened by a path.
    A `FileWarning` reports a defective file, such as a truncated one.
    """
    _check_known("open", unknown)
    options = dict(
        DEFAULTS,
        format=format,
        raw=raw,
        unpack=unpack,
        limits=limits,
        chunk_cache=chunk_cache,
        dataspace=dataspace,
        allow_external=allow_external,
        key=key,
        at=None if at is None else str(at),
        follow_links=follow_links,
    )
    found = opened_object(location, path, options, storage_options)
    if isinstance(found, Group):
        return found
    if isinstance(found, Array):
        raise NoObjectError(f"{path} is an array, expected a group; open_array opens it")
    raise NoObjectError(f"{path} is a {type(found).__name__.lower()}, expected a group")


def open_array(location: Any, path: str = "/", **options: Any) -> Array:
    """Open an array of a store, or a store that is itself an array, as Zarr stores can be.

    The options are those of `open`.
    """
    _check_known("open_array", options.keys() - DEFAULTS.keys() - {"storage_options"})
    storage_options = options.pop("storage_options", None)
    found = opened_object(location, path, DEFAULTS | options, storage_options)
    if not isinstance(found, Array):
        raise NoObjectError(f"{path} is a {type(found).__name__.lower()}, expected an array")
    return found


def _check_known(function: str, unknown: Iterable[str]) -> None:
    """Refuse options that do not exist."""
    named = sorted(unknown)
    if "mode" in named:
        raise TypeError(f"{function}() has no option mode: files are always opened read-only")
    if named:
        raise TypeError(f"{function}() has no option {', '.join(named)}")


def opened_object(location: Any, path: str, options: dict[str, Any], storage_options: Any) -> Any:
    """The object at a path of a location, with all options of `open`."""
    limits, folders = options["limits"], options["allow_external"]
    options = options | {"limits": dict(limits) if limits else None, "allow_external": _folders(folders)}
    try:
        store = opened(location, options, dict(storage_options) if storage_options else None)
    except Error as error:
        if isinstance(error, NoFileError) and isinstance(location, str):
            _add_path_as_argument(error, location)
        if error.file is None:
            error.name_subject(_subject(location))
        raise
    _warn_of(store.file, store)
    try:
        return Group(store, "/")[path]
    except NoObjectError as error:
        if path in _MODES:
            error.add_help("files are always opened read-only; the second argument is the path of an object in the file")
        raise


def _subject(location: Any) -> str:
    """The name of what is opened, for error messages."""
    if isinstance(location, (str, os.PathLike)):
        return os.fspath(location)
    if isinstance(location, (bytes, bytearray, memoryview)):
        return "the bytes"
    return location[1] if isinstance(location, tuple) and len(location) == 2 else f"the {type(location).__name__}"


def _add_path_as_argument(error: Error, location: str) -> None:
    """Add help for a location that contains the path of an object, which only the verbs and the command line accept."""
    store, inner = _hyperslab.locate(location)
    if inner is not None and os.path.exists(store):
        error.add_help(f"hyperslab.open({store!r}, {inner!r}) opens an object in a file")


def _warn_of(file: _hyperslab.File, store: Opened) -> None:
    """Warn about a defective file. Differences between joined stores are reported by `open_joined`."""
    if not isinstance(store.location, JoinedStores):
        for found in file.warnings():
            warn(f"{named(store)}: {found}", FileWarning)


def _folders(given: Any) -> list[str]:
    """Folders from an argument that may be a single folder."""
    listed = [given] if isinstance(given, (str, os.PathLike)) else given or []
    return [os.path.expanduser(os.fspath(folder)) for folder in listed]


class Group(Mapping[str, Any]):
    """A group of an open store: a mapping from member names to groups, arrays, datatypes, and dimensions without coordinates."""

    __slots__ = ("__weakref__", "_members", "_opened", "_path")

    def __init__(self, opened: Opened, path: str) -> None:
        self._opened, self._path = opened, path
        self._members: dict[str, tuple[str, str, Any]] | None = None

    # Members

    def _listed(self) -> dict[str, tuple[str, str, Any]]:
        if self._members is None:
            self._members = dict(self._opened.file.members(self._path))
        return self._members

    def _with_arrays(self, without: Set[str]) -> list[tuple[str, tuple[str, str, Any], _hyperslab.OpenedArray | Exception | None]]:
        """The members, and for each array the open array or the reason why it cannot be opened."""
        members = self._opened.file.arrays(self._path, without)
        self._members = {name: found for name, found, _ in members}
        return members

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise TypeError(f"group members are accessed by name, not by {type(name).__name__}")
        try:
            return self._at(name)
        except NoObjectError as error:
            if not error.help:
                for help in self._near(name):
                    error.add_help(help)
            raise

    def get(self, name: str, default: Any = None) -> Any:
        """The member, or the default if there is none."""
        # Unlike `[...]`, this does not search for suggestions.
        try:
            return self._at(name)
        except KeyError:
            return default

    def _at(self, name: str) -> Any:
        if not name:
            raise NoObjectError(f"{self._path}: empty name, expected the name or path of an object")
        return self._object(*self._opened.file.find(self._path_of(name)))

    def _path_of(self, name: str) -> str:
        """The full path. As in h5py, empty parts and dots are ignored."""
        base = "" if name.startswith("/") else self._path.rstrip("/")
        parts = [part for part in name.split("/") if part not in ("", ".")]
        return "/".join([base, *parts]) or "/"

    def _near(self, name: str) -> list[str]:
        """Suggestions for a path that does not exist: another name in the last group that exists."""
        parts = self._path_of(name).split("/")[1:]
        for at, part in enumerate(parts):
            above = "/".join(["", *parts[:at]])
            try:
                members = [member for member, _ in self._opened.file.members(above or "/")]
            except Error:
                return []
            if part not in members:
                near = nearest(part, members)
                if near is None:
                    return []
                # A bare name is a member of this group.
                whole = "/".join([above, near, *parts[at + 1 :]]) if "/" in name else near
                is_there = self._opened.file.has(self._path_of(whole))
                return [f"did you mean {whole if is_there else f'{above}/{near}'}?"]
        return []

    def _object(self, path: str, kind: str, told: Any) -> Any:
        if kind == "group":
            return Group(self._opened, path)
        if kind in ("array", "coordinate"):
            return Array._of(self._opened, path)
        if kind in ("dimension", "datatype"):
            from ._records import Datatype, Dimension

            if kind == "datatype":
                return Datatype(path, Attributes(self._opened.file.attributes(path)))
            return Dimension(path.rpartition("/")[2], told[0][1], told[0][2])
        raise NoObjectError(f"{path} cannot be read: {told}" if kind == "unreadable" else f"{path} is a {kind}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed())

    def values(self) -> ValuesView[Any]:
        """Members. As in h5py, None stands for a dangling link and for a member that cannot be read."""
        return _Values(self)

    def items(self) -> ItemsView[str, Any]:
        """Names and members. As in h5py, None stands for a dangling link and for a member that cannot be read."""
        return _Items(self)

    def _member(self, name: str) -> Any:
        found = self._listed()[name]
        try:
            return self[name] if found[1] == "link" else self._object(*found)
        except Error:
            return None

    def __len__(self) -> int:
        return len(self._listed())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(name) and self._opened.file.has(self._path_of(name))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def _of_kind(self, *kinds: str) -> dict[str, Any]:
        listed = self._listed().items()
        return {name: self._object(*found) for name, found in listed if found[1] in kinds}

    @property
    def groups(self) -> dict[str, Group]:
        """Groups by name."""
        return self._of_kind("group")

    @property
    def arrays(self) -> dict[str, Array]:
        """Arrays by name, including the coordinates of dimensions."""
        return self._of_kind("array", "coordinate")

    @property
    def links(self) -> dict[str, str]:
        """Links by name, with their targets."""
        return {name: told for name, (_, kind, told) in self._listed().items() if kind == "link"}

    @property
    def unreadable(self) -> dict[str, str]:
        """Members that cannot be read, with the reason."""
        return {name: told for name, (_, kind, told) in self._listed().items() if kind == "unreadable"}

    @property
    def dims(self) -> dict[str, Dimension]:
        """Dimensions of the group by name: those that it declares and those that its arrays use."""
        from ._records import Dimension

        own: dict[str, Dimension] = {}
        here = self._path.rstrip("/")
        seen: set[str | None] = {None}
        for _, kind, told in self._listed().values():
            if kind not in ("dimension", "coordinate", "array") or told is None:
                continue
            for path, size, unlimited in told:
                if path in seen:
                    continue
                seen.add(path)
                parent, _, name = path.rpartition("/")
                if parent == here:
                    own[name] = Dimension(name, size, unlimited)
        for name, (_, kind, told) in self._listed().items():
            if kind in ("dimension", "coordinate") and told:
                own[name] = Dimension(name, told[0][1], told[0][2])
        return own

    def walk(self, depth: int | None = None) -> Iterator[Group | Array]:
        """All groups and arrays below this group, groups before their members."""
        for path, kind, told in list(self._listed().values()):
            if kind in ("group", "array", "coordinate"):
                found = self._object(path, kind, told)
                yield found
                if kind == "group" and (depth is None or depth > 0):
                    yield from found.walk(None if depth is None else depth - 1)

    # The group itself

    @property
    def name(self) -> str:
        """Path of the group, under the name that h5py uses."""
        return self._path

    @property
    def attrs(self) -> Attributes:
        """Attributes."""
        return Attributes(self._opened.file.attributes(self._path))

    @property
    def parent(self) -> Group:
        """The parent group."""
        return Group(self._opened, self._path.rpartition("/")[0] or "/")

    @property
    def location(self) -> Any:
        """The location that was opened."""
        return self._opened.location

    @property
    def format(self) -> str:
        """Name of the format, such as NetCDF-4."""
        return self._opened.file.format

    @property
    def size(self) -> int:
        """Size of the store in bytes."""
        return self._opened.file.size()

    @property
    def warnings(self) -> list[str]:
        """Warnings about the store as a whole."""
        return self._opened.file.warnings()

    def close(self) -> None:
        """Does nothing: a store is closed when none of its objects is left. For programs written for h5py."""

    def __enter__(self) -> Group:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Conversion

    def to_xarray(self, **options: Any) -> Any:
        """The group as an xarray Dataset, with the options of `xarray.open_dataset`."""
        from .xarray import dataset_of

        return dataset_of(self, **options)

    def to_arrow(self, *names: str, **options: Any) -> Any:
        """Arrays of the group with the same dimensions as a pyarrow Table, with the options of `hyperslab.table`."""
        from ._table import table

        return table(self, *names, **options).to_pyarrow()

    def to_datatree(self, **options: Any) -> Any:
        """The group and all groups in it as an xarray DataTree, with the options of `xarray.open_datatree`."""
        from .xarray import datatree_of

        return datatree_of(self, **options)

    # Identity

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and is_same(self, other)

    def __hash__(self) -> int:
        return hash((type(self), self._opened.key() or id(self._opened), self._path))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Group, (self._opened, self._path))

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return token(self)

    def __repr__(self) -> str:
        return f'<hyperslab.Group "{self._path}" of {named(self._opened)} ({len(self)} members)>'

    def _repr_html_(self) -> str:
        from ._html import group_html

        return group_html(self)


class _Values(ValuesView[Any]):
    _mapping: Group

    def __iter__(self) -> Iterator[Any]:
        return (self._mapping._member(name) for name in self._mapping)


class _Items(ItemsView[str, Any]):
    _mapping: Group

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return ((name, self._mapping._member(name)) for name in self._mapping)
