"""Stores that are written from NumPy values, at once or region by region from many processes."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from . import _hyperslab, _text
from ._arguments import losses, target_path, write_options
from ._arguments import options as options_of
from ._errors import ArgumentError, ExistsError, NoObjectError, UnwrittenWarning
from ._losses import LossReport, reported
from ._reports import ChunkCount
from ._schema import Schema, absolute
from ._suggestions import nearest
from ._values import elements
from ._warnings import warn

__all__ = ["Schema", "Writer", "create_store", "write_store"]

# The suffix of the folder that holds an unfinished store.
_FOLDER = ".hyperslab-parts"

# The name of the values in errors and reports.
_VALUES = "schema"


class Declared(NamedTuple):
    """An array that waits for regions.

    inner: the inner dimensions of elements
    """

    dtype: np.dtype
    inner: tuple[int, ...]
    shape: tuple[int, ...]
    fill: Any


class Writer:
    """A store that many processes write, and that appears at its target when it is finished.

    It can be sent to other processes. Nothing exists at the target before `finish`, even if a process is killed.
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
        """Shape of the unit in which an array is written. Regions begin at multiples of it."""
        path = absolute(path)
        self._check_waits(path)
        return self._assembly.unit(path)

    def declared(self, path: str) -> Declared:
        """The declaration of an array."""
        path = absolute(path)
        if path not in self._declared:
            self._check_waits(path)
            self._declared[path] = Declared(*self._assembly.declared(path))
        return self._declared[path]

    def _check_waits(self, path: str) -> None:
        waiting = self.waiting
        if path in waiting:
            return
        error = NoObjectError(f"no array {path} is waiting for regions; arrays to write: {', '.join(waiting) or 'none'}")
        error.detail, error.object = error.args[0], path
        if (near := nearest(path, waiting)) is not None:
            error.add_help(f"did you mean {near}?")
        raise error

    def write(self, path: str, region: Any, values: Any) -> str:
        """Encode and store elements, and return a receipt.

        region: slices of step 1, one for each dimension, or ``...`` for the whole array. They may not cut across chunks.
        values: the elements of the region, which the dtype of the array can hold. Masked ones become its fill value.
        """
        path = absolute(path)
        declared = self.declared(path)
        array = elements(path, values, declared.dtype, declared.fill)
        region = _region(path, region, declared.shape)
        expected = tuple(part.stop - part.start for part in region) + declared.inner
        if array.shape != expected:
            raise ValueError(f"{path}: values of shape {array.shape} for a region of {expected}")
        return self._assembly.write(path, [part.start for part in region], array)

    def finish(self, receipts: Iterable[str]) -> LossReport:
        """Assemble the store from what the receipts name, and report what it changes and loses. Receipts may be repeated.

        Elements without a receipt are the fill value: `unwritten` of the report counts the chunks of arrays that have such
        elements, and an `UnwrittenWarning` names arrays without any receipt.
        """
        target, given = self.target, list(receipts)
        grids = {path: self._grid(path) for path in self.waiting}
        report = reported(_VALUES, target, self._assembly.finish(given))
        report.unwritten = _unwritten(grids, given)
        if empty := [path for path, count in report.unwritten.items() if not count.written]:
            warn(f"{target}: no receipts for {', '.join(empty)}, so all elements there are the fill value", UnwrittenWarning)
        return report

    def _grid(self, path: str) -> tuple[tuple[int, ...], int]:
        """The shape of a chunk, and the number of chunks."""
        unit = self.unit(path)
        sides = zip(self.declared(path).shape, unit, strict=True)
        return unit, math.prod(-(-size // max(step, 1)) for size, step in sides)

    def abandon(self) -> None:
        """Remove what was written. Nothing appears at the target."""
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
    options: Mapping[str, Any] | None = None,
) -> Writer:
    """Declare a store to which any process can write regions.

    format: name of the format [default: inferred from the name of the target]
    allow_loss: kinds of losses that are allowed, if the format cannot represent all of the schema
    options: options of the format, as for `convert`: ``{"zarr.struct": "legacy"}``
    """
    path = target_path(target)
    builder = schema._finished(_hyperslab.target_format(path, format))
    allowed = losses(allow_loss)
    declaring = {"format": format, "allow_loss": allowed, "overwrite": overwrite, "options": options_of(options)}
    try:
        return Writer(_hyperslab.Assembly.create(path, builder, declaring))
    except ExistsError as error:
        if error.file is not None and error.file.endswith(_FOLDER):
            error.add_help("abandon() of the active Writer removes what it wrote")
        raise
    except ArgumentError:
        # If the error is about losses, the report lists all of them.
        reported(_VALUES, path, _hyperslab.Assembly.plan(path, builder, declaring), allowed=allowed)
        raise


def write_store(
    target: str | os.PathLike[str],
    schema: Schema,
    *,
    format: str | None = None,
    allow_loss: str | Iterable[str] = (),
    overwrite: bool = False,
    options: Mapping[str, Any] | None = None,
) -> LossReport:
    """Write a store whose arrays all have values, and report what it changes and loses."""
    path = target_path(target)
    writing = write_options(format, allow_loss, options, overwrite=overwrite)
    builder = schema._finished(_hyperslab.target_format(path, format))
    return reported(_VALUES, path, _hyperslab.write_store(builder, path, writing), allowed=writing["allow_loss"])


def _unwritten(grids: dict[str, tuple[tuple[int, ...], int]], receipts: list[str]) -> dict[str, ChunkCount]:
    """How many chunks the receipts name, for arrays that also have other chunks."""
    named: dict[str, set[tuple[int, ...]]] = {path: set() for path in grids}
    for receipt in map(json.loads, receipts):
        named[receipt["array"]].update(map(tuple, receipt["chunks"]))
    counts = {path: ChunkCount(list(unit), len(named[path]), count) for path, (unit, count) in grids.items()}
    return {path: count for path, count in counts.items() if count.written < count.of}


def _region(path: str, region: Any, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """A region as slices with explicit ends."""
    parts = (slice(None),) * len(shape) if region is Ellipsis else region if isinstance(region, tuple) else (region,)
    if len(parts) != len(shape):
        raise ValueError(f"{path}: a region with {_text.counted(len(parts), 'slice')}, expected {len(shape)}")
    whole = []
    for part, size in zip(parts, shape, strict=True):
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise ValueError(f"{path}: a region contains {part}, expected slices of step 1")
        start, stop, _ = part.indices(size)
        whole.append(slice(start, max(start, stop)))
    return tuple(whole)
