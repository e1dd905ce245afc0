"""Dask: arrays that its workers read, and stores that they write together.

    writer = hyperslab.create_store("out.nc", schema)
    hyperslab.dask.store(writer, {"/t": t, "/u": u})

Workers encode and store the blocks that they compute, in any process, and none waits for another. The store appears when it is
complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import dask.array as da
import numpy as np
from dask.array.core import Array as DaskArray
from dask.array.core import normalize_chunks
from dask.base import tokenize
from dask.core import flatten
from dask.delayed import Delayed, delayed
from dask.highlevelgraph import HighLevelGraph

from ._losses import LossReport
from ._objects import Array
from ._writing import Writer


def from_array(array: Array, chunks: Any = "auto") -> DaskArray:
    """An array of an open store as a Dask array. Blocks are whole chunks, unless `chunks` says otherwise."""
    unit = array.shards or array.chunks
    dtype = np.dtype(array.dtype)
    if isinstance(chunks, str) and chunks == "auto" and (unit is not None or dtype.hasobject):
        # The inner axes of elements are not cut.
        unit = None if unit is None else (*unit, *array.shape[len(unit) :])
        # Dask does not know the size of an object, so assume a string of some characters.
        known = np.dtype("V64") if dtype.hasobject or not dtype.itemsize else dtype
        chunks = normalize_chunks("auto", shape=array.shape, dtype=known, previous_chunks=unit)
    name = f"hyperslab-{tokenize(array, chunks)}"
    made: DaskArray = da.from_array(array, chunks=chunks, name=name, asarray=False, lock=False)
    return made


def store(writer: Writer, sources: Mapping[str, DaskArray], *, compute: bool = True) -> Any:
    """Write Dask arrays to a declared store, and finish it.

    sources: arrays by their paths in the store. Their blocks may not cut across the chunks of the store.
    compute: whether to write now. Otherwise a `Delayed` is returned that writes when it is computed.

    The returned or computed report says what the store changes and loses.
    """
    for path, source in sources.items():
        _check_source(path, source)
    parts = _parts(list(sources.values()))
    receipts = [
        block
        for (path, source), own in zip(sources.items(), parts, strict=True)
        for block in _blocks(writer, path, source, own)
    ]
    missing = set(writer.waiting) - {path if path.startswith("/") else f"/{path}" for path in sources}
    if missing:
        raise ValueError(f"no source array for {', '.join(sorted(missing))}")
    finished = delayed(_finish, pure=False)(writer, receipts)
    if not compute:
        return finished
    try:
        return finished.compute()
    except BaseException:
        # Only the first error matters.
        with suppress(Exception):
            writer.abandon()
        raise


def blocks(writer: Writer, path: str, source: DaskArray) -> list[Delayed]:
    """The tasks that write the blocks of an array, each of which returns a receipt."""
    _check_source(path, source)
    return _blocks(writer, path, source, _parts([source])[0])


def _check_source(path: str, source: Any) -> None:
    if not isinstance(source, DaskArray):
        kind = f"{type(source).__module__}.{type(source).__qualname__}"
        hint = "use Writer.write to write it" if isinstance(source, np.ndarray) else "dask.array.from_array can create one"
        raise TypeError(f"{path}: a {kind}, expected a Dask array; {hint}")


def _parts(sources: Sequence[DaskArray]) -> list[list[Delayed]]:
    """The blocks of arrays. Their graphs are optimized together, so that shared inputs are computed once."""
    keys = [list(flatten(source.__dask_keys__())) for source in sources]
    merged = HighLevelGraph.merge(*(source.__dask_graph__() for source in sources))
    layer = f"hyperslab-blocks-{tokenize(*(source.name for source in sources))}"
    optimized = DaskArray.__dask_optimize__(merged, [key for own in keys for key in own])
    graph = HighLevelGraph.from_collections(layer, optimized, dependencies=())
    return [[Delayed(key, graph, layer=layer) for key in own] for own in keys]


def _blocks(writer: Writer, path: str, source: DaskArray, parts: Sequence[Delayed]) -> list[Delayed]:
    unit = writer.unit(path)
    _check_shape(path, source, writer)
    check_blocks(path, source, unit)
    starts = [np.concatenate([[0], np.cumsum(sizes)])[:-1] for sizes in source.chunks]
    write = delayed(_write, pure=False)
    tasks = []
    for index, block in zip(np.ndindex(*source.numblocks), parts, strict=True):
        region = tuple(
            slice(int(begin[at]), int(begin[at]) + int(sizes[at]))
            for at, begin, sizes in zip(index, starts, source.chunks, strict=True)
        )
        tasks.append(write(writer, path, region, block))
    return tasks


def _check_shape(path: str, source: DaskArray, writer: Writer) -> None:
    """Refuse an array whose blocks do not cover the declared array."""
    if np.isnan(source.shape).any():
        raise ValueError(f"{path}: the shape {source.shape} is unknown; call compute_chunk_sizes() on the array first")
    declared = writer.declared(path)
    if source.shape != declared.shape + declared.inner:
        raise ValueError(f"{path}: an array of shape {source.shape}, expected {declared.shape + declared.inner}")


def cuts(source: DaskArray, unit: Sequence[int]) -> list[bool]:
    """For each dimension, whether blocks end within chunks."""
    return [bool(np.any(np.cumsum(sizes)[:-1] % side)) for sizes, side in zip(source.chunks, unit, strict=True)]


def check_blocks(path: str, source: DaskArray, unit: tuple[int, ...]) -> None:
    """Refuse blocks that cut across chunks, with an error that names a rechunking that does not."""
    if any(are_cut := cuts(source, unit)):
        dimension = are_cut.index(True)
        better = tuple(
            _multiple(own[0], step, int(length)) for own, step, length in zip(source.chunks, unit, source.shape, strict=True)
        )
        raise ValueError(
            f"{path}: blocks of {source.chunks[dimension]} along dimension {dimension} cut across chunks of {unit[dimension]}; "
            f"rechunk with .rechunk({better})"
        )


def _multiple(size: int, side: int, length: int) -> int:
    """The length of a block that does not cut across chunks."""
    return min(max(size // side, 1) * side, length)


def _write(writer: Writer, path: str, region: tuple[slice, ...], block: Any) -> str:
    return writer.write(path, region, block)


def _finish(writer: Writer, receipts: list[str]) -> LossReport:
    return writer.finish(receipts)


__all__ = ["blocks", "check_blocks", "from_array", "store"]

