"""Stores that are written from values of NumPy, at once or region by region from many processes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _hyperslab
from ._arguments import losses, pipeline, write_options
from ._errors import ArgumentError
from ._losses import LossReport, reported
from ._values import elements, fill_element, native

# How the values are named in errors and reports.
_VALUES = "schema"


class Schema:
    """The objects of a store that is to be written: groups, dimensions and arrays.

    Arrays with values are written as they are declared; those without wait for regions.
    """

    def __init__(self, attrs: Mapping[str, Any] | None = None) -> None:
        self._builder = _hyperslab.Builder()
        self._dimensions: dict[str, tuple[int, bool]] = {}
        # Those that were added and have no coordinates yet.
        self._bare: dict[str, tuple[int, bool]] = {}
        if attrs:
            self.group("/", attrs)

    def group(self, path: str, attrs: Mapping[str, Any] | None = None) -> None:
        """Add a group, or attributes to one that is there."""
        self._builder.group(_absolute(path), dict(attrs or {}))

    def dimension(self, path: str, size: int, *, unlimited: bool = False) -> None:
        """Add a dimension. Arrays may name it before an array of its own name has its coordinates."""
        path = _absolute(path)
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

        dims: names or paths of its dimensions, in its group or above; None for one without a name
        dtype: dtype of the elements [default: that of the values]. Big-endian numbers are stored so where the format can.
        values: elements; None for those that come later, by `Writer.write`. Masked ones become the fill value.
        shape: lengths of the dimensions, for those that were not added
        filters: as in the Ndarray Data Language: ``["shuffle", {"deflate": 4}]``, or those of an array that was read
        """
        path = _absolute(path)
        given = None if values is None else elements(path, values, dtype, fill_value)
        kind = np.dtype(dtype) if dtype is not None else given.dtype if given is not None else np.dtype("f8")
        sizes = shape if shape is not None else given.shape if given is not None else [None] * len(dims)
        if len(sizes) != len(dims):
            raise ValueError(f"{path}: {len(dims)} dimensions for a shape of {len(sizes)}")
        along = [self._along(path, name, size) for name, size in zip(dims, sizes, strict=True)]
        if given is not None and tuple(size for _, size, _ in along) != given.shape:
            raise ValueError(f"{path}: values of shape {given.shape}, expected {tuple(size for _, size, _ in along)}")
        stored = {
            "chunk": None if chunks is None or not along else [int(side) for side in chunks],
            "shard": None if shards is None or not along else [int(side) for side in shards],
            "filters": json.dumps(pipeline(filters)) if filters and along else None,
            "is_big_endian": kind.newbyteorder(">").str == kind.str and kind.kind in "iufc" and kind.itemsize > 1,
        }
        fill = None if fill_value is None else fill_element(path, fill_value, native(kind)).reshape(1)
        self._builder.array(path, along, native(kind), dict(attrs or {}), stored, fill, given)
        self._bare.pop(path, None)

    def _along(self, path: str, name: str | None, size: int | None) -> tuple[str | None, int, bool]:
        if name is None:
            if size is None:
                raise ValueError(f"{path}: the length of a dimension without a name is not known; pass shape=")
            return (None, int(size), False)
        found = self._found(path, name)
        if found is None:
            if size is None:
                raise ValueError(f"{path}: dimension {name} was not added, and there is no shape")
            found = name if name.startswith("/") else f"{path.rpartition('/')[0]}/{name}"
            self._dimensions[found] = (int(size), False)
        length, unlimited = self._dimensions[found]
        if size is not None and int(size) != length:
            raise ValueError(f"{path}: {size} elements along {name}, which has {length}")
        return (found, length, unlimited)

    def _found(self, path: str, name: str) -> str | None:
        """The path of a dimension, in the group of an array or above."""
        if name.startswith("/"):
            return name if name in self._dimensions else None
        group = path.rpartition("/")[0]
        while True:
            if f"{group}/{name}" in self._dimensions:
                return f"{group}/{name}"
            if not group:
                return None
            group = group.rpartition("/")[0]

    def _finished(self) -> Any:
        """The builder, with the dimensions that have no coordinates."""
        for path, (size, unlimited) in self._bare.items():
            self._builder.dimension(path, size, unlimited)
        self._bare = {}
        return self._builder


class Declared(NamedTuple):
    """An array that waits for regions.

    inner: dimensions that elements have themselves
    """

    dtype: np.dtype
    inner: tuple[int, ...]
    shape: tuple[int, ...]
    fill: Any


class Writer:
    """A store that many processes write, and that appears at its place when it is finished.

    It can be sent to other processes. Nothing is at the target before `finish`, and a process that is killed leaves it so.
    """

    def __init__(self, assembly: _hyperslab.Assembly) -> None:
        self._assembly = assembly
        self._declared: dict[str, Declared] = {}

    @classmethod
    def _open(cls, folder: str) -> Writer:
        return cls(_hyperslab.Assembly.open(folder))

    @property
    def target(self) -> str:
        """Path of the store."""
        return os.fspath(self._assembly.target)

    @property
    def waiting(self) -> list[str]:
        """Paths of the arrays that wait for regions."""
        return self._assembly.waiting

    def unit(self, path: str) -> tuple[int, ...]:
        """Shape of what is written at once of an array. Regions begin at multiples of it."""
        return self._assembly.unit(_absolute(path))

    def declared(self, path: str) -> Declared:
        """What was declared of an array."""
        path = _absolute(path)
        if path not in self._declared:
            self._declared[path] = Declared(*self._assembly.declared(path))
        return self._declared[path]

    def write(self, path: str, region: Any, values: Any) -> str:
        """Encode and store elements, and return the receipt.

        region: slices of step 1, one for each dimension, or ``...`` for the whole array. They may not cut chunks.
        values: as many elements, which the dtype of the array can hold. Masked ones become its fill value.
        """
        path = _absolute(path)
        declared = self.declared(path)
        array = elements(path, values, declared.dtype, declared.fill)
        region = _region(path, region, declared.shape)
        expected = tuple(part.stop - part.start for part in region) + declared.inner
        if array.shape != expected:
            raise ValueError(f"{path}: values of shape {array.shape} for a region of {expected}")
        return self._assembly.write(path, [part.start for part in region], array)

    def finish(self, receipts: Iterable[str]) -> LossReport:
        """Make the store of what the receipts name, and tell what it changes and loses. Receipts may be repeated."""
        target = self.target
        return reported(_VALUES, target, self._assembly.finish(list(receipts)))

    def abandon(self) -> None:
        """Remove what was written. Nothing is at the target."""
        self._assembly.abandon()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Writer._open, (os.fspath(self._assembly.folder),))

    def __dask_tokenize__(self) -> tuple[str, str]:
        return ("hyperslab.Writer", os.fspath(self._assembly.folder))


def create_store(
    target: str | os.PathLike[str],
    schema: Schema,
    *,
    format: str | None = None,
    allow_loss: str | Iterable[str] = (),
    overwrite: bool = False,
) -> Writer:
    """Declare a store that regions are written to, by any process.

    format: name of the format [default: as the name of the target says]
    allow_loss: kinds of losses that are allowed, if the format cannot hold all of the schema
    """
    path, builder = os.fspath(target), schema._finished()
    declaring = {"format": format, "allow_loss": losses(allow_loss), "overwrite": overwrite}
    try:
        return Writer(_hyperslab.Assembly.create(path, builder, declaring))
    except ArgumentError:
        # If it is about losses, the report tells all of them.
        reported(_VALUES, path, _hyperslab.Assembly.plan(path, builder, declaring))
        raise


def write_store(
    target: str | os.PathLike[str],
    schema: Schema,
    *,
    format: str | None = None,
    allow_loss: str | Iterable[str] = (),
    overwrite: bool = False,
) -> LossReport:
    """Write a store whose arrays all have values, and tell what it changes and loses."""
    path = os.fspath(target)
    writing = write_options(format, allow_loss, overwrite=overwrite)
    return reported(_VALUES, path, _hyperslab.write_store(schema._finished(), path, writing))


def _region(path: str, region: Any, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """A region as slices with both ends."""
    parts = (slice(None),) * len(shape) if region is Ellipsis else region if isinstance(region, tuple) else (region,)
    if len(parts) != len(shape):
        raise ValueError(f"{path}: a region of {len(parts)} slices, expected {len(shape)}")
    whole = []
    for part, size in zip(parts, shape, strict=True):
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise ValueError(f"{path}: {part} in a region, expected slices of step 1")
        start, stop, _ = part.indices(size)
        whole.append(slice(start, max(start, stop)))
    return tuple(whole)


def _absolute(path: str) -> str:
    return path if path.startswith("/") else f"/{path}"
