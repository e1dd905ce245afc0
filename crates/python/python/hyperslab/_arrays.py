"""Arrays of open stores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _hyperslab
from ._errors import ArgumentError, Error
from ._indexing import Cast, Outer, Points, in_keywords, is_list, keys_of, label, plain
from ._stores import Opened, named
from ._suggestions import nearest

if TYPE_CHECKING:
    from ._records import ChunkTable

# Where elements are stored if they have no chunks in files.
_PLACEMENTS = {
    "in-metadata": "its elements are in the metadata",
    "in-other-arrays": "its elements are stored in other arrays",
    "nowhere": "none of its elements are stored",
}


class Attributes(dict[str, Any]):
    """The attributes of an object in the file, by name. They cannot be changed."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("attributes of an open store are read-only; dict(…) makes a copy that can be changed")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse  # pyright: ignore[reportAssignmentType]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return (dict, (dict(self),))


class Array(_hyperslab.Array):
    """An array of an open store, read with ``[...]``.

    Keys are integers, slices of any step, ``...``, None, lists and masks. Several lists select their outer product, as with
    `oindex`; `vindex` reads points.
    """

    __slots__ = ("_opened",)
    _opened: Opened

    @staticmethod
    def _of(opened: Opened, path: str | _hyperslab.OpenedArray) -> Array:
        array = Array(opened.file, path)
        array._opened = opened
        return array

    # Shape and type

    @property
    def name(self) -> str:
        """Path of the array, under the name that h5py uses."""
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
        """Names of the dimensions; None for an unnamed one."""
        return tuple(path and path.rpartition("/")[2] for path in self.dimension_paths)

    @property
    def attrs(self) -> Attributes:
        """Attributes."""
        return Attributes(self.attributes())

    @property
    def storage(self) -> dict[str, Any]:
        """How elements are stored, in Ndarray Data Language notation."""
        return self.storage_dict()

    @property
    def filters(self) -> list[tuple[str, dict[str, Any]]]:
        """Filters and their parameters, in the order in which writing applies them."""
        filters: list[tuple[str, dict[str, Any]]] = self.storage_dict()["filters"]
        return filters

    @property
    def fill_value(self) -> Any:
        """Value of elements that were never written. If the file states none, it is that of the format, usually zero. None if the
        file says that such elements have no defined value."""
        fill = self.fill_element()
        # Fixed-length strings are bytes, as elements are.
        return np.bytes_(fill.encode()) if isinstance(fill, str) and self.dtype.kind == "S" else fill

    @property
    def location(self) -> Any:
        """The location that was opened."""
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

        out: array to fill and return, with the same dtype and the shape of the selection
        text: how strings are returned: "object" for Python objects, "string" for NumPy's StringDType, "bytes" [default: objects
            for variable-length strings; fixed-length strings as they are stored]
        errors: "strict" refuses strings that are not UTF-8, "replace" substitutes U+FFFD for invalid bytes
        """
        if out is None:
            read = self.read_selection(key, text=text, errors=errors)
            # Masked arrays stay masked arrays.
            return read if isinstance(read, np.ndarray) else np.asarray(read)
        if not isinstance(out, np.ndarray):
            raise TypeError(f"out is a {type(out).__name__}, expected a NumPy array")
        shape = self.direct_shape(key) if text is None and out.flags.c_contiguous else None
        read = None if shape is not None else self.read(key, text=text, errors=errors)
        shape, dtype = (shape, self.dtype) if read is None else (read.shape, read.dtype)
        if out.dtype != dtype or out.shape != shape or not out.flags.writeable:
            raise ValueError(
                f"out has shape {out.shape} and dtype {out.dtype}, expected a writable array of shape {shape} and dtype {dtype}"
            )
        if read is not None:
            if isinstance(read, np.ma.MaskedArray) and not isinstance(out, np.ma.MaskedArray):
                raise ValueError("the elements are masked, expected a masked array as out")
            out[...] = read
        elif out.size:
            self.fill(key, out.reshape(-1).view("u1"))
        return out

    def sel(self, method: str | None = None, **labels: Any) -> Any:
        """Read by coordinates: ``sel(lat=59.9, time=slice("2026-01", "2026-03"))``.

        method: "nearest" selects the nearest coordinate for each label that is not a slice

        A slice selects all coordinates from its start to its stop, both included; a string or a number selects those that are equal
        to it, and a list those that are equal to any of its items, in the order of the list. Dates are in the calendar and units of
        the dimension, and a date such as "2026-03" means the whole month.
        """
        if method not in (None, "nearest"):
            raise ArgumentError(f"method={method!r}, expected 'nearest' or None")
        sign = "==" if method is None else "~="
        labels = {name: plain(value) for name, value in labels.items()}
        try:
            if any(is_list(value) for value in labels.values()):
                return self[keys_of(self, labels, sign)]
            return self.labelled(",".join(label(name, value, sign) for name, value in labels.items()))
        except Error as error:
            error.set_help([in_keywords(help) for help in error.help])
            raise

    def _coordinate(self, name: str) -> tuple[int, Array]:
        """The position of a dimension, and the array of its coordinates."""
        for at, (path, own) in enumerate(zip(self.dimension_paths, self.dims, strict=True)):
            if path is not None and name in (path, own):
                return at, Array._of(self._opened, path)
        known = [own for own in self.dims if own is not None]
        error = ArgumentError(f"{self.path}: no dimension {name}; named dimensions: {', '.join(known) or 'none'}")
        if (near := nearest(name, known)) is not None:
            error.add_help(f"did you mean {near}?")
        raise error

    @property
    def oindex(self) -> Outer:
        """Reads the outer product of lists: ``array.oindex[[0, 5], [1, 2, 3]]`` has the shape (2, 3)."""
        return Outer(self)

    @property
    def vindex(self) -> Points:
        """Reads points: ``array.vindex[[0, 5], [1, 2]]`` has the shape (2,). Lists are broadcast against each other."""
        return Points(self)

    def blocks(self) -> Iterator[tuple[slice, ...]]:
        """Selections that each cover whole chunks, in row-major order, and together cover the array."""
        # The inner axes of elements are not selected.
        shape = self.shape[: len(self.dimension_paths)]
        unit = self.shards or self.chunks or shape
        grid = [range(0, size, max(step, 1)) for size, step in zip(shape, unit, strict=True)]
        for starts in np.ndindex(*(len(side) for side in grid)):
            corner = [side[at] for side, at in zip(grid, starts, strict=True)]
            yield tuple(slice(at, min(at + step, size)) for at, step, size in zip(corner, unit, shape, strict=True))

    def chunk_table(self, *, inner: bool = False) -> ChunkTable:
        """Where the written chunks are stored. With `inner`, the chunks within shards are listed."""
        from ._records import ChunkTable

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
            raise ValueError("elements read from a file are always copied, so copy=False is not possible")
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
        return isinstance(other, Array) and is_same(self, other)

    def __hash__(self) -> int:
        return hash((type(self), self._opened.key() or id(self._opened), self.path))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Array._of, (self._opened, self.path))

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return token(self)

    def __repr__(self) -> str:
        return f'<hyperslab.Array "{self.path}" of {named(self._opened)}: shape {self.shape}, type {self.datatype}>'

    def _repr_html_(self) -> str:
        from ._html import array_html

        return array_html(self)


def is_same(one: Any, other: Any) -> bool:
    if one.name != other.name:
        return False
    if one._opened is other._opened:
        return True
    key = one._opened.key()
    return key is not None and key == other._opened.key()


def token(of: Any) -> tuple[Any, ...]:
    return (type(of).__name__, of._opened.key() or id(of._opened), of.name)
