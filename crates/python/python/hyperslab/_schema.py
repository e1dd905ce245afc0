"""The objects of stores to be written: what is declared before the format is known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _hyperslab, _text
from ._arguments import pipeline
from ._errors import ArgumentError
from ._values import elements, fill_element, native

# Kinds of dtypes that have missing elements in NetCDF.
_WITH_MISSING = "iuf"


class Schema:
    """The objects of a store to be written: groups, dimensions and arrays.

    Arrays with values are written as declared; arrays without values wait for regions.
    """

    def __init__(self, attrs: Mapping[str, Any] | None = None) -> None:
        # This builder only refuses what cannot be added, and has no values.
        self._checked = _hyperslab.Builder()
        self._added: list[_Group | _Array] = []
        # Keyed by whether fill values are also stored as attributes.
        self._built: dict[bool, _hyperslab.Builder] = {}
        self._dimensions: dict[str, tuple[int, bool]] = {}
        # Dimensions that were added and have no coordinates yet.
        self._bare: dict[str, tuple[int, bool]] = {}
        if attrs:
            self.group("/", attrs)

    def group(self, path: str, attrs: Mapping[str, Any] | None = None) -> None:
        """Add a group, or attributes to an existing one."""
        self._add(_Group(absolute(path), dict(attrs or {})))

    def dimension(self, path: str, size: int, *, unlimited: bool = False) -> None:
        """Add a dimension. Arrays may use it before an array with its name provides coordinates."""
        path = absolute(path)
        self._dimensions[path] = self._bare[path] = (int(size), bool(unlimited))

    def array(
        self,
        path: str,
        dims: Sequence[str | None],
        *,
        dtype: Any = None,
        values: Any = None,
        shape: Sequence[int] | None = None,
        attrs: Mapping[str, Any] | None = None,
        chunks: Sequence[int] | None = None,
        shards: Sequence[int] | None = None,
        filters: str | Sequence[Any] | None = None,
        fill_value: Any = None,
    ) -> None:
        """Add an array.

        dims: names or paths of its dimensions, in its group or above; None for an unnamed one
        dtype: dtype of the elements [default: that of the values, in the usual byte order]. Big-endian numbers are stored as such
            if the format can do so. Use `h5py.string_dtype()` for strings, `h5py.vlen_dtype("i4")` for sequences.
        values: elements; None if they are written later, with `Writer.write`. Masked ones become the fill value.
        shape: lengths of the dimensions, for dimensions that were not added
        filters: as in the Ndarray Data Language: ``["shuffle", {"deflate": 4}]``, or the filters of an array that was read
        fill_value: value of elements that were never written, and of masked ones [default: the attribute `_FillValue`].
            In NetCDF, and for arrays with a mask, it is also stored as the attribute `_FillValue`, so that missing elements are
            read as missing; to write masked regions to Zarr and other formats, state the attribute yourself
        """
        path, attrs = absolute(path), dict(attrs or {})
        if fill_value is None:
            fill_value = _stated(attrs)
        given = None if values is None else elements(path, values, dtype, fill_value)
        kind = np.dtype(dtype) if dtype is not None else given.dtype if given is not None else np.dtype("f8")
        sizes = shape if shape is not None else given.shape if given is not None else [None] * len(dims)
        if len(sizes) != len(dims):
            raise ValueError(f"{path}: {_text.counted(len(dims), 'dimension')} for a shape of length {len(sizes)}")
        along = [self._along(path, name, size) for name, size in zip(dims, sizes, strict=True)]
        if given is not None and tuple(size for _, size, _ in along) != given.shape:
            raise ValueError(f"{path}: values of shape {given.shape}, expected {tuple(size for _, size, _ in along)}")
        stored = {
            "chunk": _sides(path, "chunks", chunks, len(dims)),
            "shard": _sides(path, "shards", shards, len(dims)),
            "filters": json.dumps(pipeline(filters)) if filters and along else None,
            "is_big_endian": kind.kind in "iufc" and kind.itemsize > 1 and kind.newbyteorder(">").str == kind.str,
        }
        fill = None if fill_value is None else fill_element(path, fill_value, native(kind)).reshape(1)
        if np.ma.is_masked(values) and fill is not None:
            attrs.setdefault("_FillValue", fill[0])
        if given is not None and not given.dtype.hasobject and np.may_share_memory(given, values):
            # They are written later, when the program may have changed its array.
            given = given.copy()
        self._add(_Array(path, along, native(kind), attrs, stored, fill, given))
        self._bare.pop(path, None)

    def _along(self, path: str, name: str | None, size: int | None) -> tuple[str | None, int, bool]:
        if name is None:
            if size is None:
                raise ValueError(f"{path}: the length of an unnamed dimension is unknown; pass shape=")
            return (None, int(size), False)
        found = self._found(path, name)
        if found is None:
            if size is None:
                raise ValueError(f"{path}: dimension {name} was not added, and no shape was given")
            found = name if name.startswith("/") else f"{path.rpartition('/')[0]}/{name}"
            self._dimensions[found] = self._bare[found] = (int(size), False)
        length, unlimited = self._dimensions[found]
        if size is not None and int(size) != length:
            raise ValueError(f"{path}: length {size} along {name}, expected {length}")
        return (found, length, unlimited)

    def _found(self, path: str, name: str) -> str | None:
        """The path of a dimension, searched in the group of an array and above."""
        if name.startswith("/"):
            return name if name in self._dimensions else None
        group = path.rpartition("/")[0]
        while True:
            if f"{group}/{name}" in self._dimensions:
                return f"{group}/{name}"
            if not group:
                return None
            group = group.rpartition("/")[0]

    def _add(self, one: _Group | _Array) -> None:
        if self._built:
            raise RuntimeError("nothing can be added to a schema after a store was made from it")
        one.without_values().add_to(self._checked)
        self._added.append(one)

    def _finished(self, format: str | None = None) -> _hyperslab.Builder:
        """All objects, including the dimensions that have no coordinates.

        format: name of the format, to add the attributes that it needs
        """
        is_netcdf = format is not None and format.startswith("netcdf")
        is_marked = is_netcdf and any(one.marked() is not one for one in self._added)
        if is_marked not in self._built:
            builder = _hyperslab.Builder()
            for one in self._added:
                (one.marked() if is_marked else one).add_to(builder)
            for path, (size, unlimited) in self._bare.items():
                builder.dimension(path, size, unlimited)
            self._built[is_marked] = builder
        return self._built[is_marked]


class _Group(NamedTuple):
    path: str
    attrs: dict[str, Any]

    def without_values(self) -> _Group:
        return self

    def marked(self) -> _Group:
        return self

    def add_to(self, builder: _hyperslab.Builder) -> None:
        builder.group(self.path, self.attrs)


class _Array(NamedTuple):
    path: str
    along: list[tuple[str | None, int, bool]]
    dtype: np.dtype
    attrs: dict[str, Any]
    stored: dict[str, Any]
    fill: np.ndarray | None
    values: np.ndarray | None

    def without_values(self) -> _Array:
        return self._replace(values=None)

    def marked(self) -> _Array:
        """The array with its fill value as an attribute, by which NetCDF readers recognize missing elements."""
        if self.fill is None or self.dtype.kind not in _WITH_MISSING:
            return self
        stated = _stated(self.attrs)
        if stated is None:
            return self._replace(attrs=self.attrs | {"_FillValue": self.fill[0]})
        if fill_element(self.path, stated, self.dtype).tobytes() != self.fill.tobytes():
            raise ArgumentError(
                f"{self.path}: the attribute _FillValue is {stated}, but the fill value is {self.fill[0]}; NetCDF requires them"
                " to be the same"
            )
        return self

    def add_to(self, builder: _hyperslab.Builder) -> None:
        builder.array(*self)


def _sides(path: str, what: str, sides: Sequence[int] | None, count: int) -> list[int] | None:
    """The lengths of chunks along all dimensions."""
    if sides is None or not count:
        return None
    lengths = [int(side) for side in sides]
    if len(lengths) != count:
        raise ValueError(f"{path}: {what} with {_text.counted(len(lengths), 'dimension')}, expected {count}")
    if min(lengths) < 1:
        raise ValueError(f"{path}: {what} {tuple(lengths)}, expected positive lengths")
    return lengths


def _stated(attrs: Mapping[str, Any]) -> Any:
    """The fill value that attributes state."""
    stated = attrs.get("_FillValue")
    return np.asarray(stated).reshape(-1)[0] if stated is not None and np.size(stated) == 1 else None


def absolute(path: str) -> str:
    return path if path.startswith("/") else f"/{path}"
