"""Tables: arrays with their coordinates as columns of Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _hyperslab
from ._arguments import Location, selections, split
from ._errors import ArgumentError
from ._objects import Array, Group, opened_object
from ._stores import DEFAULTS


class Table:
    """Rows in memory in the Arrow format, for any reader of Arrow streams: ``pyarrow.table(t)``, ``polars.DataFrame(t)``."""

    __slots__ = ("_rows",)

    def __init__(self, rows: _hyperslab.Table) -> None:
        self._rows = rows

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return self._rows.column_names

    @property
    def nbytes(self) -> int:
        """Size in memory, in bytes."""
        return self._rows.nbytes

    def __len__(self) -> int:
        return len(self._rows)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._rows.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self._rows.__arrow_c_schema__()

    def to_pyarrow(self) -> Any:
        """The table as a pyarrow Table. Nothing is copied."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> Any:
        """The table as a polars DataFrame."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame; enumerations become categories."""
        return self.to_pyarrow().to_pandas()

    def __repr__(self) -> str:
        return f"<hyperslab.Table of {len(self)} rows: {', '.join(self.column_names)}>"


def table(
    x: Location,
    *names: str,
    dims: Sequence[str] | None = None,
    select: str | Sequence[str] | Mapping[str, Any] = (),
    decode: bool = False,
) -> Table:
    """Read an array, the arrays of a group with the same dimensions, or a sparse array as a table.

    There is a row for each element, with the coordinates along the dimensions and the values; members of compounds are columns.

    names: the arrays of a group [default: all arrays with the dimensions `dims`]
    dims: dimensions of the arrays [default: those of all arrays that are not coordinates; required if these differ]
    select: a part of the elements, by positions or labels of dimensions
    decode: decode stored numbers by their CF attributes: scaled values, times, missing values
    """
    at = _object(x)
    file, is_raw = at._opened.file, bool(at._opened.options["raw"])
    if isinstance(at, Array):
        paths = [at.path]
    elif not names and dims is None and _hyperslab.has_cells(file, at.name):
        paths = [at.name]
    elif names:
        paths = [_array(at, name).path for name in names]
    else:
        paths = _alike(at, dims, is_raw)
    return Table(_hyperslab.table(file, paths, select=selections(select), decode=decode, texts=not is_raw))


def _object(x: Location) -> Group | Array:
    if isinstance(x, (Group, Array)):
        return x
    store, path = split(x)
    found = opened_object(store, path or "/", DEFAULTS, None)
    if not isinstance(found, (Group, Array)):
        raise ArgumentError(f"{path} is neither a group nor an array")
    return found


def _array(group: Group, name: str) -> Array:
    found = group[name]
    if not isinstance(found, Array):
        raise ArgumentError(f"{name} is a {type(found).__name__.lower()} of {group.name}, expected an array")
    return found


def _alike(group: Group, dims: Sequence[str] | None, is_raw: bool) -> list[str]:
    """The arrays of a group that have the same dimensions."""
    by_dims: dict[tuple[str | None, ...], list[str]] = {}
    for array in group.arrays.values():
        of = _dims(array, is_raw)
        if of and not array.is_empty_space and (len(of) > 1 or array.dimension_paths[0] != array.path):
            by_dims.setdefault(of, []).append(array.path)
    if dims is not None:
        return by_dims.get(tuple(dims)) or _none(group, f"no arrays with the dimensions {tuple(dims)}", by_dims)
    if len(by_dims) != 1:
        return _none(group, "arrays with different dimensions" if by_dims else "no arrays", by_dims)
    return next(iter(by_dims.values()))


def _dims(array: Array, is_raw: bool) -> tuple[str | None, ...]:
    """The dimensions of an array. For characters, the last one is the length of strings."""
    if array.dtype == "S1" and not is_raw:
        return array.dims[:-1]
    return array.dims or (None,) * array.ndim


def _none(group: Group, what: str, by_dims: Mapping[tuple[str | None, ...], Sequence[str]]) -> list[str]:
    known = "; ".join(f"dims={list(of)} for {', '.join(paths)}" for of, paths in by_dims.items())
    raise ArgumentError(f"{group.name} has {what}" + (f", expected one of: {known}" if known else ""))
