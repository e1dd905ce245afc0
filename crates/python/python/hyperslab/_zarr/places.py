"""Where the chunks of arrays are stored, and reading them in stored form."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._objects import Array
from .._records import ChunkTable
from .codecs import decoded
from .plans import Plan


class Places:
    """The places of the stored chunks of an array, found by index.

    number: number of each chunk in row-major order of the grid, ascending
    table: offsets, lengths, masks and files in the same order
    has_fill: whether chunks that were never written have the fill value that the document states
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        rank = plan.array_rank
        starts, offset, length, mask, files, which, _ = plan.placement
        index = starts.reshape(len(offset), rank) // np.array(plan.chunks[:rank], "u8")
        table = ChunkTable(index, offset, length, mask, files, which)
        grid = plan.grid[: plan.array_rank]
        number = np.zeros(len(table.offset), dtype="u8")
        for along, count in zip(table.index.T, grid, strict=True):
            number = number * np.uint64(count) + along
        order = np.argsort(number, kind="stable") if len(number) and (np.diff(number.astype("i8")) < 0).any() else None
        if order is not None:
            number = number[order]
            columns = (table.index[order], table.offset[order], table.length[order], table.mask[order])
            table = ChunkTable(*columns, table.file, table.which[order])
        self.number, self.table = number, table
        self.is_split = bool(len(number) and (np.diff(number.astype("i8")) == 0).any())
        self.has_fill = self._has_fill()
        self._reader = _reader(plan.array)

    @staticmethod
    def are_readable(plan: Plan) -> bool:
        """Whether the stored bytes of the chunks of an array can be read, and no chunk skips a filter."""
        if _reader(plan.array) is None:
            return False
        placement = plan.placement
        starts, masks = placement[0], placement[3]
        rank = plan.array_rank
        firsts = starts.reshape(-1, rank) if rank else starts.reshape(len(masks), 0)
        is_split = len(np.unique(firsts, axis=0)) != len(masks) if len(placement[4]) > 1 and rank else False
        return placement[-1] == "all" and not masks.any() and not is_split

    def _has_fill(self) -> bool:
        """Whether an element of a chunk that was never written, as read by the engine, is the fill value of the document."""
        grid = self.plan.grid[: self.plan.array_rank]
        count = math.prod(grid)
        if len(self.number) == count:
            return True
        gap = _first_gap(self.number)
        index = np.unravel_index(gap, grid) if grid else ()
        at = tuple(int(part) * step for part, step in zip(index, self.plan.chunks, strict=False))
        found = np.asarray(self.plan.array[at])
        return found.tobytes() == np.broadcast_to(np.asarray(self.plan.fill, found.dtype), found.shape).tobytes()

    def _row(self, index: tuple[int, ...]) -> int | None:
        number = 0
        for at, count in zip(index, self.plan.grid[: self.plan.array_rank], strict=False):
            number = number * count + at
        row = int(np.searchsorted(self.number, np.uint64(number)))
        return row if row < len(self.number) and int(self.number[row]) == number else None

    def has(self, index: tuple[int, ...]) -> bool:
        """Whether a chunk was written."""
        return self._row(index) is not None

    def indices(self) -> Iterator[tuple[int, ...]]:
        """The indices of the chunks that were written."""
        beyond = (0,) * (len(self.plan.shape) - self.plan.array_rank)
        for index in self.table.index:
            yield tuple(int(at) for at in index) + beyond

    def read(self, index: tuple[int, ...]) -> bytes | None:
        """The stored bytes of a chunk; None if it was never written."""
        row = self._row(index)
        if row is None or self._reader is None:
            return None
        table = self.table
        file, offset = table.file[int(table.which[row])], int(table.offset[row])
        stored: bytes = self._reader.read(file, offset, int(table.length[row]))
        return stored


def agrees(plan: Plan) -> bool:
    """Whether the first elements of two stored chunks, decoded with Zarr codecs, equal what the engine reads."""
    array, reader = plan.array, _reader(plan.array)
    starts, offsets, lengths, masks, files, which, word = plan.placement
    if word != "all" or reader is None:
        return False
    rank, dtype = plan.array_rank, plan.dtype
    assert dtype is not None
    for row in {0, len(offsets) // 2} if len(offsets) else ():
        start = [int(at) for at in starts[row * rank : (row + 1) * rank]]
        if masks[row] or any(at >= size for at, size in zip(start, plan.shape, strict=False)):
            continue
        count = min(plan.chunks[rank - 1], plan.shape[rank - 1] - start[-1], _SAMPLE) if rank else 1
        key = (*start[:-1], slice(start[-1], start[-1] + count)) if rank else ()
        expected = np.asarray(array[key])
        length = int(lengths[row]) if plan.codecs else min(int(lengths[row]), expected.nbytes)
        try:
            stored = decoded(plan.codecs, reader.read(files[int(which[row])], int(offsets[row]), length))
        except Exception:
            # Codecs raise exceptions of their own. Chunks that consist of several parts also cannot be decoded.
            return False
        found = np.frombuffer(stored[: expected.nbytes], dtype)
        if found.astype(expected.dtype).tobytes() != expected.tobytes():
            return False
    return True


# Maximum number of elements of a chunk to compare.
_SAMPLE = 1 << 14


def _first_gap(numbers: np.ndarray) -> int:
    """The smallest number, starting from 0, that is not in an ascending list."""
    apart = np.flatnonzero(numbers != np.arange(len(numbers), dtype=numbers.dtype))
    return int(apart[0]) if len(apart) else len(numbers)


class _Files:
    """Bytes of a file, of the files in a folder, or of files that are named by their full paths.

    stamps: stamps of the files when they were opened, by path
    """

    def __init__(self, base: str, stamps: dict[str, tuple[int, ...]]) -> None:
        self._base, self._is_folder = base, os.path.isdir(base)
        self._stamps = stamps

    def read(self, name: str | None, offset: int, length: int) -> bytes:
        if name is None:
            path = self._base
        else:
            path = os.path.join(self._base if self._is_folder else os.path.dirname(self._base), name)
        with open(path, "rb", buffering=0) as file:
            stamp = self._stamps.get(os.path.normpath(path))
            if stamp is not None:
                now = os.fstat(file.fileno())
                if (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns) != stamp:
                    raise OSError(f"{path} was replaced since it was opened")
            file.seek(offset)
            parts, left = [], length
            while left:
                part = file.read(left)
                if not part:
                    raise OSError(f"{path} ends before byte {offset + length}")
                parts.append(part)
                left -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)


class _Memory:
    """Bytes in memory."""

    def __init__(self, content: bytes) -> None:
        self._content = memoryview(content)

    def read(self, name: str | None, offset: int, length: int) -> bytes:
        return bytes(self._content[offset : offset + length])


class _OfRanges:
    """Bytes of an object with `ranges`."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    def read(self, name: str | None, offset: int, length: int) -> bytes:
        return bytes(self._storage.ranges([(offset, offset + length)])[0])


class _OfKeyed:
    """Values of an object with `ranges_of`, by their keys."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    def read(self, name: str | None, offset: int, length: int) -> bytes:
        found = self._storage.ranges_of(name, [(offset, offset + length)])
        if found is None:
            raise OSError(f"{name} no longer exists")
        return bytes(found[0])


def _reader(array: Array) -> Any:
    """The reader for stored bytes of an array; None if there is none."""
    from .._storage import JoinedStores, storage_of

    of = array._opened
    if isinstance(of.location, JoinedStores):
        return _Files("", of.stamps)
    if isinstance(of.location, (bytes, bytearray, memoryview)):
        return _Memory(bytes(of.location))
    if isinstance(of.location, (str, os.PathLike)):
        path = os.fsdecode(of.absolute)
        if os.path.isfile(path) and of.file.format.startswith("Zarr"):
            # The values of an archived Zarr store are not files.
            return None
        if os.path.exists(path):
            return _Files(path, of.stamps)
    try:
        storage = storage_of(of.location, of.storage_options)
        return _OfKeyed(storage) if hasattr(storage, "ranges_of") else _OfRanges(storage)
    except (ImportError, OSError, TypeError, ValueError):
        return None
