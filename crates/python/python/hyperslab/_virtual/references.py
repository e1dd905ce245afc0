"""References to the chunks of arrays, as byte ranges of their files."""

from __future__ import annotations

import base64
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._errors import Error
from .._objects import Array, Group
from .._storage import JoinedStores
from .._zarr.codecs import encoded
from .._zarr.places import Places
from .._zarr.plans import Plan, Tree, plan, tree, warn_of_left_out

# Smaller records of NetCDF classic files are inlined together, if allowed: a reference would need more bytes than the record.
_SMALL_RECORD = 4096

_UNITS = {"": 1, "b": 1, "kb": 1000, "mb": 10**6, "gb": 10**9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}


def size_in_bytes(size: int | str) -> int:
    """A number of bytes, which may be given as a string such as "1 MiB"."""
    if isinstance(size, int):
        return size
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)\s*", size)
    if match is None or match[2].lower() not in _UNITS:
        raise ValueError(f"{size!r} is not a size, expected a number of bytes or a string such as '1 MiB'")
    return int(float(match[1]) * _UNITS[match[2].lower()])


@dataclass
class References:
    """The chunks of an array.

    index: indices of the chunks that are byte ranges, one row for each
    offset, length: the byte range of each in its file
    files: names of the files; None is the file itself
    which: for each chunk, the position of its file in `files`
    inlined: contents of chunks that are not byte ranges, by index
    fills: whether there are missing chunks, which have the fill value
    """

    plan: Plan
    dims: tuple[str, ...]
    index: np.ndarray
    offset: np.ndarray
    length: np.ndarray
    files: list[str | None]
    which: np.ndarray
    inlined: dict[tuple[int, ...], bytes] = field(default_factory=dict)
    fills: bool = False

    @property
    def number(self) -> np.ndarray:
        """The number of each chunk that is a byte range, in row-major order of the grid."""
        number = np.zeros(len(self.index), "i8")
        for along, size in zip(self.index.T, self.plan.grid, strict=True):
            number = number * size + along.astype("i8")
        return number


class TooLarge(ValueError):
    """An array whose chunks are neither byte ranges nor small enough to be inlined."""


def references_of(array: Array, dims: tuple[str, ...], *, inline: int) -> References:
    """References to the chunks of an array, with at most `inline` bytes inlined. Raises TooLarge."""
    # The values of an archived Zarr store have no address.
    is_archive = array._opened.file.format.startswith("Zarr") and not _is_folder(array.location)
    made = plan(array, as_stored=not is_archive, whole=True)
    is_record = array._opened.file.format.startswith("NetCDF-3") and made.chunks[:1] == (1,) and made.is_stored
    if is_record and made.chunk_bytes < _SMALL_RECORD and array.nbytes <= inline:
        made = plan(array, as_stored=False, whole=True)
    if made.is_stored:
        ranged = _ranged(made, dims, inline)
        if ranged is not None:
            return ranged
        made = plan(array, as_stored=False, whole=True)
    return _inlined(made, dims, inline)


def _is_folder(location: Any) -> bool:
    if isinstance(location, JoinedStores):
        return all(map(os.path.isdir, location.stores))
    return isinstance(location, (str, os.PathLike)) and os.path.isdir(location)


def _ranged(made: Plan, dims: tuple[str, ...], inline: int) -> References | None:
    """References as byte ranges; None if chunks consist of several parts."""
    places = Places(made)
    if places.is_split:
        return None
    table, rank = places.table, made.array_rank
    beyond = np.zeros((len(table.offset), len(made.shape) - rank), "u8")
    index = np.concatenate([table.index.reshape(len(table.offset), rank), beyond], axis=1)
    made, index, offset, length, which = _cut(made, index, table.offset, table.length, table.which)
    found = References(made, dims, index, offset, length, table.file, which)
    found.fills = len(index) < math.prod(made.grid)
    # Chunks that skip filters are inlined, encoded with all filters.
    skipping = np.flatnonzero(table.mask)
    if len(skipping):
        for row in skipping:
            at = tuple(int(part) for part in index[row])
            _inline(found, at, bytes(made.elements(at)), inline)
        _drop(found, table.mask == 0)
    if found.fills and not places.has_fill:
        whole = None
        for at in _missing(found):
            if whole is None:
                whole = bytes(made.elements(at))
            _inline(found, at, whole, inline)
        found.fills = False
    return found


def _cut(made: Plan, *columns: np.ndarray) -> tuple[Plan, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A large contiguous array, split into several chunks."""
    from dataclasses import replace

    from .._zarr.plans import cut

    index, offset, length, which = columns
    if made.codecs or made.dtype is None or made.grid != (1,) * len(made.shape) or len(offset) != 1 or not made.shape:
        return made, index, offset, length, which
    chunks = cut(made.shape, made.dtype.itemsize, whole=True)
    pieces = replace(made, chunks=chunks)
    if made.chunks != made.shape or int(length[0]) != math.prod(made.shape) * made.dtype.itemsize:
        return made, index, offset, length, which
    count = math.prod(pieces.grid)
    # The pieces are consecutive, as only leading dimensions are cut.
    starts = np.arange(count, dtype="u8") * np.uint64(pieces.chunk_bytes) + offset[0]
    along = np.stack(np.unravel_index(np.arange(count), pieces.grid), axis=1).astype("u8")
    return pieces, along, starts, np.full(count, pieces.chunk_bytes, "u8"), np.repeat(which, count)


def _missing(of: References) -> Iterator[tuple[int, ...]]:
    there = np.zeros(math.prod(of.plan.grid), bool)
    there[of.number] = True
    for at in of.inlined:
        there[_number(at, of.plan.grid)] = True
    for number in np.flatnonzero(~there):
        yield tuple(int(part) for part in np.unravel_index(number, of.plan.grid))


def _number(at: tuple[int, ...], grid: tuple[int, ...]) -> int:
    return int(np.ravel_multi_index(at, grid)) if at else 0


def _drop(of: References, kept: np.ndarray) -> None:
    of.index, of.offset, of.length, of.which = of.index[kept], of.offset[kept], of.length[kept], of.which[kept]


def _inline(of: References, at: tuple[int, ...], elements: bytes, inline: int) -> None:
    of.inlined[at] = encoded(of.plan.codecs, elements)
    if sum(map(len, of.inlined.values())) > inline:
        raise TooLarge(f"more than {inline} bytes of chunks would have to be inlined")


def inline_fill(of: References, inline: int) -> bool:
    """Inline the missing chunks, which consist of the fill value, unless that exceeds `inline` bytes. Returns whether it did."""
    count = math.prod(of.plan.grid) - len(of.index) - len(of.inlined)
    fill = np.full(of.plan.chunks, of.plan.fill, of.plan.dtype)
    if fill.nbytes > inline:
        return False
    content = encoded(of.plan.codecs, fill.tobytes())
    if len(content) * count + sum(map(len, of.inlined.values())) > inline:
        return False
    of.inlined.update(dict.fromkeys(_missing(of), content))
    of.fills = False
    return True


def _inlined(made: Plan, dims: tuple[str, ...], inline: int) -> References:
    size, rank = made.array.nbytes, len(made.shape)
    if size > inline:
        filters = ", ".join(name for name, _ in made.array.filters)
        what = f"filtered with {filters}" if filters else f"of type {made.array.datatype}"
        raise TooLarge(f"{size} bytes {what}, which Zarr cannot decode")
    nothing = np.empty(0, "u8")
    found = References(made, dims, np.empty((0, rank), "u8"), nothing, nothing, [None], nothing)
    # A small array becomes a single chunk.
    whole = tuple(max(1, extent) for extent in made.shape)
    if made.chunk_bytes < inline and math.prod(whole) * max(1, made.chunk_bytes // math.prod(made.chunks)) <= inline:
        from dataclasses import replace

        found.plan = made = replace(made, chunks=whole)
    if 0 in made.shape:
        return found
    written = 0
    for at in np.ndindex(*made.grid):
        found.inlined[at] = content = bytes(made.chunk(at))
        written += len(content)
        if written > inline:
            raise TooLarge(f"more than {inline} bytes of type {made.array.datatype}")
    return found


def collect(root: Group | Array, *, inline: int | str, drop: frozenset[str]) -> tuple[Tree, dict[str, References]]:
    """References to all arrays of a group. Raises a ValueError that names the arrays that need more than `inline` bytes."""
    limit = size_in_bytes(inline)
    found, refused = {}, []
    listed = tree(root)
    left_out = {path: why for path, why in listed.left_out.items() if path.rpartition("/")[2] not in drop}
    warn_of_left_out(root, left_out)
    for path, array in listed.arrays.items():
        if path.rpartition("/")[2] in drop:
            continue
        try:
            found[path] = references_of(array, listed.dims[path], inline=limit)
        except TooLarge as error:
            refused.append(f"{array.name}: {error}")
        except Error as error:
            refused.append(f"{array.name}: cannot be read: {error.detail}")
    if refused:
        raise ValueError(
            "chunks that are not byte ranges and are too large to inline (raise `inline`, or drop these arrays): "
            + "; ".join(refused)
        )
    return listed, found


def url_of(root: Group | Array, url: str | None) -> str:
    """The address of the file that references point to: the given one, or that of the location.

    For joined stores, it is that of the folder that contains all of them.
    """
    if url is not None:
        return url.rstrip("/")
    location = root.location
    if isinstance(location, JoinedStores):
        return ""
    if isinstance(location, (str, os.PathLike)):
        text = os.fspath(location)
        if isinstance(text, str):
            # As in fsspec and kerchunk, no character is escaped.
            return text if "://" in text else f"file://{os.path.abspath(text)}"
    raise ValueError("the location has no address that references could point to; pass `url`")


def url_in(base: str, root: Group | Array, name: str | None) -> str:
    """The address of a file that is named in the store at the address `base`."""
    if name is None:
        return base
    if isinstance(root.location, JoinedStores):
        # The names include the folders of Zarr stores.
        folders = map(os.path.dirname, root._opened.absolute.stores)
        return f"{base}/{os.path.relpath(name, os.path.commonpath(folders))}" if base else f"file://{name}"
    if os.path.isabs(name) and base.startswith("file://"):
        return f"file://{name}"
    is_folder = root._opened.file.format.startswith("Zarr")
    return f"{base}/{name}" if is_folder else f"{base.rpartition('/')[0]}/{name}"


def in_base64(content: bytes) -> str:
    """Content in the form that kerchunk uses within references."""
    return "base64:" + base64.standard_b64encode(content).decode()


def urls(of: References, base: str, root: Group | Array) -> list[str]:
    """The addresses of the files of an array."""
    return [url_in(base, root, name) for name in of.files] or [base]
