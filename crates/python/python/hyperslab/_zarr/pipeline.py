"""A codec pipeline of zarr in which the engine reads the elements of a `ZarrStore` into their place.

zarr asks a store for chunks, and copies each into the result. Where it asks for a rectangle of an array that the engine can
read into given memory, this pipeline reads all of it at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from zarr.core.codec_pipeline import BatchedCodecPipeline
from zarr.registry import register_pipeline

# A chunk: where its bytes are, its specification, which of its elements are wanted, where they belong, and whether these are all.
Part = tuple[Any, Any, Any, Any, bool]

# The elements of a chunk by its key: which of them are wanted, and where they belong.
Wanted = tuple[str, Any, Any]


@runtime_checkable
class ReadsRegions(Protocol):
    """A store that reads more than chunks."""

    async def read_region(self, wanted: Sequence[Wanted], out: np.ndarray) -> bool:
        """Fill an array. Returns whether this was possible."""
        ...


class CodecPipeline(BatchedCodecPipeline):
    """The codec pipeline of zarr, except that the engine reads numbers of a `ZarrStore` without a copy of each chunk.

        import hyperslab.zarr
        zarr.config.set({"codec_pipeline.path": "hyperslab.zarr.CodecPipeline"})

    zarr applies this setting to arrays that it opens afterwards. Other stores are read and written as without it.
    """

    async def read(self, batch_info: Iterable[Part], out: Any, drop_axes: tuple[int, ...] = ()) -> Any:
        parts = list(batch_info)
        store = getattr(parts[0][0], "store", None) if parts else None
        values = out.as_ndarray_like()
        if isinstance(store, ReadsRegions) and type(values) is np.ndarray and _is_block(parts[0][2]):
            wanted = [(getter.path, selection, place) for getter, _, selection, place, _ in parts]
            if await store.read_region(wanted, values):
                # Newer versions of zarr ask which chunks exist.
                return ({"status": "present"},) * len(parts)
        return await super().read(parts, out, drop_axes)


def region(
    parts: Iterable[tuple[tuple[int, ...], Any, Any]], chunks: tuple[int, ...], shape: tuple[int, ...]
) -> tuple[int | slice, ...] | None:
    """The region of an array that fills another one of this shape; None if the parts are not those of a region.

    parts: the indices of chunks, which of their elements are wanted, and where they belong
    """
    made: tuple[int | slice, ...] | None = None
    seen: set[tuple[int, ...]] = set()
    count = 0
    for index, selection, place in parts:
        if not _is_block(selection) or len(selection) != len(index):
            return None
        begins = [at * step for at, step in zip(index, chunks, strict=True)]
        if made is None:
            made = _whole(begins, selection, shape)
        if made is None or index in seen or place != _place(begins, selection, made):
            return None
        seen.add(index)
        count += math.prod(own.stop - own.start for own in place)
    # The places of different chunks do not overlap, so that equal counts mean that the region is complete.
    return made if count == math.prod(shape) else None


def _is_block(selection: Any) -> bool:
    """Whether selected elements are positions and ranges without steps."""
    return isinstance(selection, tuple) and all(
        isinstance(own, int) or (isinstance(own, slice) and own.step in (None, 1) and own.start is not None) for own in selection
    )


def _whole(begins: Sequence[int], selection: Sequence[int | slice], shape: tuple[int, ...]) -> tuple[int | slice, ...] | None:
    """The region of this shape that begins with a part."""
    lengths = iter(shape)
    if sum(isinstance(own, slice) for own in selection) != len(shape):
        return None
    return tuple(
        begin + own if isinstance(own, int) else slice(begin + own.start, begin + own.start + next(lengths))
        for begin, own in zip(begins, selection, strict=True)
    )


def _place(
    begins: Sequence[int], selection: Sequence[int | slice], whole: Sequence[int | slice]
) -> tuple[slice, ...] | None:
    """Where a part belongs in the region; None if it is outside."""
    place = []
    for begin, own, all_of in zip(begins, selection, whole, strict=True):
        if isinstance(own, slice) and isinstance(all_of, slice):
            first = begin - all_of.start
            place.append(slice(first + own.start, first + own.stop))
        elif isinstance(own, slice) or begin + own != all_of:
            return None
    return tuple(place)


CodecPipeline.__module__ = "hyperslab.zarr"
register_pipeline(CodecPipeline)
