"""Stores that are written from values of NumPy, at once or region by region from many processes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _hyperslab
from ._arguments import losses, write_options
from ._losses import LossReport, reported

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
        filters: Sequence[Any] | None = None,
        fill_value: Any = None,
    ) -> None:
        """Add an array.

        dims: names or paths of its dimensions, in its group or above; None for one without a name
        dtype: dtype of the elements [default: that of the values]
        values: elements; None for those that come later, by `Writer.write`
        shape: lengths of the dimensions, for those that were not added
        filters: as in the Ndarray Data Language: ``["shuffle", {"deflate": 4}]``
        """
        path = _absolute(path)
        given = None if values is None else prepared(values)
        kind = np.dtype(dtype) if dtype is not None else given.dtype if given is not None else np.dtype("f8")
        if given is not None and dtype is not None and given.dtype != kind:
            given = prepared(given.astype(kind))
        sizes = shape if shape is not None else given.shape if given is not None else [None] * len(dims)
        if len(sizes) != len(dims):
            raise ValueError(f"{path}: {len(dims)} dimensions for a shape of {len(sizes)}")
        along = [self._along(path, name, size) for name, size in zip(dims, sizes, strict=True)]
        if given is not None and tuple(size for _, size, _ in along) != given.shape:
            raise ValueError(f"{path}: values of shape {given.shape}, expected {tuple(size for _, size, _ in along)}")
        stored = {
            "chunk": None if chunks is None or not along else [int(side) for side in chunks],
            "shard": None if shards is None or not along else [int(side) for side in shards],
            "filters": None if not filters or not along else json.dumps(list(filters)),
        }
        fill = None if fill_value is None else prepared(np.asarray(fill_value).astype(native(kind)).reshape(1))
        self._builder.array(path, along, native(kind), dict(attrs or {}), stored, fill, given)
        self._bare.pop(path, None)

    def _along(self, path: str, name: str | None, size: int | None) -> tuple[str | None, int, bool]:
        if name is None:
            if size is None:
                raise ValueError(f"{path}: a dimension without a name has no length, give a shape")
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


class Writer:
    """A store that many processes write, and that appears at its place when it is finished.

    It can be sent to other processes. Nothing is at the target before `finish`, and a process that is killed leaves it so.
    """

    def __init__(self, assembly: _hyperslab.Assembly) -> None:
        self._assembly = assembly

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

    def write(self, path: str, region: Any, values: Any) -> str:
        """Encode and store elements, and return the receipt.

        region: slices of step 1, one for each dimension, or ``...`` for the whole array. They may not cut chunks.
        """
        array = prepared(values)
        starts = _starts(region, array.ndim)
        return self._assembly.write(_absolute(path), starts, array)

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
    path = os.fspath(target)
    return Writer(_hyperslab.Assembly.create(path, schema._finished(), format, losses(allow_loss), overwrite))


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


def prepared(values: Any) -> np.ndarray:
    """Values as the library takes them: in native byte order, members of compounds without gaps, texts as objects."""
    array = np.asarray(values)
    if array.dtype.kind in "UT":
        return array.astype(object)
    kind = native(array.dtype)
    return array if kind == array.dtype else array.astype(kind)


def native(dtype: np.dtype) -> np.dtype:
    """The same dtype in native byte order, with members one behind the other."""
    if dtype.kind in "UT":
        return np.dtype(object)
    if dtype.fields is not None:
        return np.dtype([(name, native(of[0])) for name, of in dtype.fields.items()])
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.dtype((native(base), shape))
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def attribute(value: Any) -> np.ndarray:
    """An attribute as an array: of no dimensions for a text or a number, or for the JSON of a mapping."""
    if isinstance(value, bytes):
        return np.array(value.decode("utf-8", "replace"), dtype=object)
    if isinstance(value, dict):
        return np.array(json.dumps(value), dtype=object)
    if isinstance(value, str):
        return np.array(value, dtype=object)
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, str) for item in value):
        texts = np.empty(len(value), dtype=object)
        texts[:] = value
        return texts
    array = prepared(value)
    if array.dtype.kind == "O" and not all(isinstance(item, (str, bytes)) for item in array.flat):
        raise TypeError(f"an attribute of {type(value).__name__}, expected texts or numbers")
    return array


def _starts(region: Any, rank: int) -> list[int]:
    if region is Ellipsis:
        return [0] * rank
    parts = region if isinstance(region, tuple) else (region,)
    if len(parts) != rank:
        raise ValueError(f"a region of {len(parts)} slices for values of {rank} dimensions")
    starts = []
    for part in parts:
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise ValueError(f"{part} in a region, expected slices of step 1")
        starts.append(int(part.start or 0))
    return starts


def _absolute(path: str) -> str:
    return path if path.startswith("/") else f"/{path}"
