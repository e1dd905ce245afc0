"""Groups and arrays of open stores."""

from __future__ import annotations

import os
from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from typing import Any, NamedTuple

import numpy as np

from . import _hyperslab
from ._errors import Error, NoObjectError
from ._indexing import Cast, Outer, Points, label
from ._stores import DEFAULTS, Opened, named, opened

# Where elements are that have no chunks in files.
_PLACEMENTS = {
    "in-metadata": "its elements are in the metadata",
    "in-other-arrays": "its elements are those of other arrays",
    "nowhere": "none of its elements are stored",
}


class Dimension(NamedTuple):
    """A dimension of a group."""

    name: str
    size: int
    unlimited: bool

    @property
    def attrs(self) -> Attributes:
        """None: a dimension without coordinates has no attributes. For programs that ask all members of a group."""
        return Attributes()


class Datatype(NamedTuple):
    """A named datatype of a group."""

    path: str


class ChunkTable(NamedTuple):
    """Where the chunks of an array are stored, a row for each.

    index: positions of the first element along each dimension, divided by the chunk shape
    offset, length: bytes in the file
    mask: filters that were skipped; bit 0 is the first filter
    file: names of the files, of which `which` says the one of each chunk; None is the opened file
    """

    index: np.ndarray  # type: ignore[assignment]  # a tuple has a method of this name
    offset: np.ndarray
    length: np.ndarray
    mask: np.ndarray
    file: list[str | None]
    which: np.ndarray


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
    storage_options: Mapping[str, Any] | None = None,
) -> Group:
    """Open a store of any format.

    location: a path, a URL (with fsspec), bytes, an open file, ``(store, path)`` of obstore or fsspec, or any object that has
        the methods of `hyperslab._storage.Ranges`
    path: group to begin at
    format: name of the format [default: as its content says]
    raw: show what is stored, without what NetCDF hides
    unpack: show packed numbers (scale_factor, add_offset) as the numbers that they stand for, missing ones as NaN
    limits: what a file may ask for: ``{"allocation": bytes}``, nesting, rank, filters
    chunk_cache: bytes of decoded chunks that are kept for small reads [default: 64 MiB for all files of the process]
    dataspace: show the variables that TileDB-CF keeps as arrays: "auto" or the name of a convention
    allow_external: folder, or folders, in which files that the store names may be opened
    key: 32 bytes of the key of an encrypted store
    storage_options: options of fsspec for a URL

    Nothing is locked. Any number of threads may use what is returned, which can be pickled if it was opened by a path.
    """
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
    )
    found = opened_object(location, path, options, storage_options)
    if isinstance(found, Group):
        return found
    if isinstance(found, Array):
        raise NoObjectError(f"{path} is an array, expected a group; open_array opens it")
    raise NoObjectError(f"{path} is a {type(found).__name__.lower()}, expected a group")


def open_array(location: Any, path: str = "/", **options: Any) -> Array:
    """Open an array of a store, or a store that is an array itself, as those of Zarr can be.

    The options are those of `open`.
    """
    if unknown := options.keys() - DEFAULTS.keys() - {"storage_options"}:
        raise TypeError(f"open_array() has no option {', '.join(sorted(unknown))}")
    storage_options = options.pop("storage_options", None)
    found = opened_object(location, path, DEFAULTS | options, storage_options)
    if not isinstance(found, Array):
        raise NoObjectError(f"{path} is a {type(found).__name__.lower()}, expected an array")
    return found


def opened_object(location: Any, path: str, options: dict[str, Any], storage_options: Any) -> Any:
    limits, folders = options["limits"], options["allow_external"]
    options = options | {"limits": dict(limits) if limits else None, "allow_external": _folders(folders)}
    store = opened(location, options, dict(storage_options) if storage_options else None)
    return Group(store, "/")[path]


def _folders(given: Any) -> list[str]:
    """Folders of an argument that may be one."""
    listed = [given] if isinstance(given, (str, os.PathLike)) else given or []
    return [os.path.expanduser(os.fspath(folder)) for folder in listed]


class Attributes(dict[str, Any]):
    """Attributes by name. They are those of the file, and cannot be changed."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("attributes of an open store cannot be changed; dict(…) makes a copy that can")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse  # pyright: ignore[reportAssignmentType]

    def __reduce__(self) -> tuple[Any, ...]:
        return (dict, (dict(self),))


class Group(Mapping[str, Any]):
    """A group of an open store: a mapping of the names of its members to groups, arrays, datatypes, and dimensions without coordinates."""

    __slots__ = ("__weakref__", "_members", "_opened", "_path")

    def __init__(self, opened: Opened, path: str) -> None:
        self._opened, self._path = opened, path
        self._members: dict[str, tuple[str, str, Any]] | None = None

    # Members

    def _listed(self) -> dict[str, tuple[str, str, Any]]:
        if self._members is None:
            self._members = dict(self._opened.file.members(self._path))
        return self._members

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise TypeError(f"members of a group are found by their names, not by {type(name).__name__}")
        path = name if name.startswith("/") else f"{self._path.rstrip('/')}/{name}"
        return self._object(*self._opened.file.find(path))

    def _object(self, path: str, kind: str, told: Any) -> Any:
        if kind == "group":
            return Group(self._opened, path)
        if kind in ("array", "coordinate"):
            return Array._of(self._opened, path)
        if kind == "dimension":
            return Dimension(path.rpartition("/")[2], told[0][1], told[0][2])
        if kind == "datatype":
            return Datatype(path)
        raise NoObjectError(f"{path} cannot be read: {told}" if kind == "unreadable" else f"{path} is a {kind}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed())

    def values(self) -> ValuesView[Any]:
        """Members. As in h5py, None stands for a link that leads nowhere, and for what cannot be read."""
        return _Values(self)

    def items(self) -> ItemsView[str, Any]:
        """Names and members. As in h5py, None stands for a link that leads nowhere, and for what cannot be read."""
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
        if not isinstance(name, str):
            return False
        return self._opened.file.has(name if name.startswith("/") else f"{self._path.rstrip('/')}/{name}")

    def _of_kind(self, *kinds: str) -> dict[str, Any]:
        listed = self._listed().items()
        return {name: self._object(*found) for name, found in listed if found[1] in kinds}

    @property
    def groups(self) -> dict[str, Group]:
        """Groups by name."""
        return self._of_kind("group")

    @property
    def arrays(self) -> dict[str, Array]:
        """Arrays by name, coordinates of dimensions among them."""
        return self._of_kind("array", "coordinate")

    @property
    def links(self) -> dict[str, str]:
        """Links by name, and where they lead."""
        return {name: told for name, (_, kind, told) in self._listed().items() if kind == "link"}

    @property
    def unreadable(self) -> dict[str, str]:
        """Members that cannot be read, and why."""
        return {name: told for name, (_, kind, told) in self._listed().items() if kind == "unreadable"}

    @property
    def dims(self) -> dict[str, Dimension]:
        """Dimensions of the group by name: those that it declares, and those that its arrays name."""
        own: dict[str, Dimension] = {}
        for _, kind, told in self._listed().values():
            if kind not in ("dimension", "coordinate", "array") or told is None:
                continue
            for path, size, unlimited in told:
                if path is not None and path.rpartition("/")[0] == self._path.rstrip("/"):
                    name = path.rpartition("/")[2]
                    own.setdefault(name, Dimension(name, size, unlimited))
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
        """Path of the group, as h5py calls it."""
        return self._path

    @property
    def attrs(self) -> Attributes:
        """Attributes."""
        return Attributes(self._opened.file.attributes(self._path))

    @property
    def parent(self) -> Group:
        """Group of the group."""
        return Group(self._opened, self._path.rpartition("/")[0] or "/")

    @property
    def location(self) -> Any:
        """What was opened."""
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
        """Does nothing: a store is closed when no object of it is left. For programs that are written for h5py."""

    def __enter__(self) -> Group:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Conversion

    def to_xarray(self, **options: Any) -> Any:
        """The group as a dataset of xarray, with the options of `xarray.open_dataset`."""
        from .xarray import dataset_of

        return dataset_of(self, **options)

    def to_arrow(self, *names: str, **options: Any) -> Any:
        """Arrays of the group with the same dimensions as a table of pyarrow, with the options of `hyperslab.table`."""
        from ._table import table

        return table(self, *names, **options).to_pyarrow()

    def to_datatree(self, **options: Any) -> Any:
        """The group and all groups in it as a tree of xarray, with the options of `xarray.open_datatree`."""
        from .xarray import datatree_of

        return datatree_of(self, **options)

    # Identity

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and _is_same(self, other)

    def __hash__(self) -> int:
        return hash((type(self), self._opened.key() or id(self._opened), self._path))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Group, (self._opened, self._path))

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return _token(self)

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


class Array(_hyperslab.Array):
    """An array of an open store, read with ``[...]``.

    Keys are integers, slices of any step, ``...``, None, lists and masks. Several lists are read as their product, as with
    `oindex`; `vindex` reads points.
    """

    __slots__ = ("_opened",)
    _opened: Opened

    @staticmethod
    def _of(opened: Opened, path: str) -> Array:
        array = Array(opened.file, path)
        array._opened = opened
        return array

    # Shape and type

    @property
    def name(self) -> str:
        """Path of the array, as h5py calls it."""
        return self.path

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return 0 if self.is_empty_space else int(np.prod(self.shape, dtype=object))

    @property
    def nbytes(self) -> int:
        """Size of the elements in memory, in bytes."""
        return self.size * self.dtype.itemsize

    @property
    def dims(self) -> tuple[str | None, ...]:
        """Names of the dimensions; None for one without a name."""
        return tuple(path and path.rpartition("/")[2] for path in self.dimension_paths)

    @property
    def attrs(self) -> Attributes:
        """Attributes."""
        return Attributes(self.attributes())

    @property
    def storage(self) -> dict[str, Any]:
        """How elements are stored, in the words of the Ndarray Data Language."""
        return self.storage_dict()

    @property
    def filters(self) -> list[tuple[str, dict[str, Any]]]:
        """Filters and their parameters, in the order of writing."""
        filters: list[tuple[str, dict[str, Any]]] = self.storage_dict()["filters"]
        return filters

    @property
    def fill_value(self) -> Any:
        """Value of elements that were never written: that of the format if the file states none, mostly zero. None if the file says
        that they have no defined value."""
        fill = self.fill_element()
        # As elements are, texts of a fixed length are bytes.
        return np.bytes_(fill.encode()) if isinstance(fill, str) and self.dtype.kind == "S" else fill

    @property
    def location(self) -> Any:
        """What was opened."""
        return self._opened.location

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a scalar has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    # Reading

    def read(
        self, key: Any = ..., *, out: np.ndarray | None = None, text: str | None = None, errors: str = "strict"
    ) -> np.ndarray:
        """Read a selection.

        out: array of the same dtype and of the shape of the selection that is filled and returned
        text: what texts become: "object" for objects of Python, "string" for NumPy's StringDType, "bytes" [default: objects for
            texts of variable length, as they are stored for those of a fixed length]
        errors: "strict" refuses texts that are not UTF-8, "replace" puts U+FFFD for what is not
        """
        if out is None:
            read = self.read_selection(key, text=text, errors=errors)
            # Masked arrays remain what they are.
            return read if isinstance(read, np.ndarray) else np.asarray(read)
        if not isinstance(out, np.ndarray):
            raise TypeError(f"out is a {type(out).__name__}, expected an array of NumPy")
        shape = self.direct_shape(key) if text is None and out.flags.c_contiguous else None
        read = None if shape is not None else self.read(key, text=text, errors=errors)
        shape, dtype = (shape, self.dtype) if read is None else (read.shape, read.dtype)
        if out.dtype != dtype or out.shape != shape or not out.flags.writeable:
            raise ValueError(f"out of shape {out.shape} and dtype {out.dtype}, expected {shape} and {dtype}, and writable")
        if read is not None:
            if isinstance(read, np.ma.MaskedArray) and not isinstance(out, np.ma.MaskedArray):
                raise ValueError("elements have a mask, expected a masked array as out")
            out[...] = read
        elif out.size:
            self.fill(key, out.reshape(-1).view("u1"))
        return out

    def sel(self, **labels: Any) -> Any:
        """Read by coordinates: ``sel(lat=59.9, time=slice("2026-01", "2026-03"))``.

        A slice takes all coordinates from its start to its stop, both included; a text or a number takes those that equal it.
        Dates are in the calendar and units of the dimension, and a date such as "2026-03" means all of that month.
        """
        return self.labelled(",".join(label(name, value) for name, value in labels.items()))

    @property
    def oindex(self) -> Outer:
        """Reads the product of lists: ``array.oindex[[0, 5], [1, 2, 3]]`` has the shape (2, 3)."""
        return Outer(self)

    @property
    def vindex(self) -> Points:
        """Reads points: ``array.vindex[[0, 5], [1, 2]]`` has the shape (2,). Lists are broadcast against each other."""
        return Points(self)

    def blocks(self) -> Iterator[tuple[slice, ...]]:
        """Selections that each read whole chunks, in row-major order, and together read everything."""
        # Axes that elements have themselves are not asked for.
        shape = self.shape[: len(self.dimension_paths)]
        unit = self.shards or self.chunks or shape
        grid = [range(0, size, max(step, 1)) for size, step in zip(shape, unit, strict=True)]
        for starts in np.ndindex(*(len(side) for side in grid)):
            corner = [side[at] for side, at in zip(grid, starts, strict=True)]
            yield tuple(slice(at, min(at + step, size)) for at, step, size in zip(corner, unit, shape, strict=True))

    def chunk_table(self, *, inner: bool = False) -> ChunkTable:
        """Where the chunks that were written are stored. With `inner`, those within shards."""
        starts, offset, length, mask, files, which, placement = self.places(inner)
        if placement != "all":
            raise ValueError(f"{self.path} has no chunks in files: {_PLACEMENTS[placement]}")
        rank = len(self.dimension_paths) or 1
        unit = np.array((self.chunks if inner else self.shards or self.chunks) or [1] * rank, dtype="u8")
        index = starts.reshape(-1, rank) // np.maximum(unit, 1) if starts.size else starts.reshape(-1, rank)
        return ChunkTable(index, offset, length, mask, files, which)

    def astype(self, dtype: Any) -> Cast:
        """Reads as another dtype: ``array.astype("f4")[...]``."""
        return Cast(self, np.dtype(dtype))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("elements that are in a file are always copied")
        read = np.asarray(self[...])
        return read if dtype is None else read.astype(dtype, copy=False)

    def __dlpack__(self, **options: Any) -> Any:
        return np.asarray(self[...]).__dlpack__(**options)

    def __arrow_c_schema__(self) -> Any:
        return _hyperslab.arrow_c_schema(self)

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        return _hyperslab.arrow_c_array(self)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    # Identity

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Array) and _is_same(self, other)

    def __hash__(self) -> int:
        return hash((type(self), self._opened.key() or id(self._opened), self.path))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Array._of, (self._opened, self.path))

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return _token(self)

    def __repr__(self) -> str:
        return f'<hyperslab.Array "{self.path}" of {named(self._opened)}: shape {self.shape}, type {self.datatype}>'

    def _repr_html_(self) -> str:
        from ._html import array_html

        return array_html(self)


def _is_same(one: Any, other: Any) -> bool:
    if one.name != other.name:
        return False
    if one._opened is other._opened:
        return True
    key = one._opened.key()
    return key is not None and key == other._opened.key()


def _token(of: Any) -> tuple[Any, ...]:
    return (type(of).__name__, of._opened.key() or id(of._opened), of.name)
