"""Ways of reading elements other than ``[...]``: outer products of lists, points, other dtypes, and coordinates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import ArgumentError

if TYPE_CHECKING:
    from ._objects import Array


class Outer:
    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        return self._array[key]


class Cast:
    __slots__ = ("_array", "_dtype")

    def __init__(self, array: Array, dtype: np.dtype) -> None:
        self._array, self._dtype = array, dtype

    def __getitem__(self, key: Any) -> Any:
        # `asanyarray` keeps masks.
        return np.asanyarray(self._array[key]).astype(self._dtype)


class Points:
    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        array = self._array
        keys = _whole(key if isinstance(key, tuple) else (key,), array.ndim)
        lists: list[Any] = []
        for item in keys:
            if isinstance(item, slice):
                lists.append(item)
            else:
                lists += _positions(item, array.shape[len(lists) :])
        lists += [slice(None)] * (array.ndim - len(lists))
        along = [at for at, item in enumerate(lists) if not isinstance(item, slice)]
        if not along:
            return array[tuple(lists)]
        points = np.broadcast_arrays(*(item for item in lists if not isinstance(item, slice)))
        shape = points[0].shape
        # The inner axes of elements follow those of the array.
        rank = len(array.dimension_paths)
        if along == list(range(rank)) and all(item == slice(None) for item in lists[rank:]):
            flat = np.stack([of.reshape(-1) for of in points], axis=1).reshape(-1)
            return array.points(np.ascontiguousarray(flat, dtype="i8")).reshape(shape + array.shape[rank:])
        # Repeated positions are read once.
        outer: list[Any] = list(lists)
        within = []
        for at, of in zip(along, points, strict=True):
            outer[at], inverse = np.unique(of.reshape(-1), return_inverse=True)
            within.append(inverse.reshape(shape))
        block = np.moveaxis(array[tuple(outer)], along, range(len(along)))
        picked = block[tuple(within)]
        # As in NumPy, the dimensions of the points come first, unless the lists are adjacent.
        if along == list(range(along[0], along[-1] + 1)):
            sources = range(len(shape))
            picked = np.moveaxis(picked, list(sources), [along[0] + at for at in sources])
        return picked


def _whole(given: tuple[Any, ...], rank: int) -> list[Any]:
    """The keys as slices and arrays, with the ellipsis expanded to slices."""
    keys = [item if item is Ellipsis or isinstance(item, slice) else np.asarray(item) for item in given]
    between = [at for at, item in enumerate(keys) if item is Ellipsis]
    if len(between) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    # A mask selects along as many dimensions as it has.
    along = sum(item.ndim if isinstance(item, np.ndarray) and item.dtype == bool else 1 for item in keys) - len(between)
    if along > rank:
        raise IndexError(f"too many indices: {along}, expected at most {rank}")
    for at in between:
        keys[at : at + 1] = [slice(None)] * (rank - along)
    return keys


def _positions(listed: np.ndarray, shape: tuple[int, ...]) -> list[np.ndarray]:
    """The positions that a list or a mask selects, along each of its dimensions."""
    if listed.dtype == bool:
        if listed.shape != shape[: listed.ndim]:
            raise IndexError(f"a mask of shape {listed.shape}, expected {shape[: listed.ndim]}")
        return list(np.nonzero(listed))
    if listed.dtype.kind not in "iu" and listed.size:
        raise IndexError(f"{listed!r} is not a valid index, expected integers, slices, masks or ...")
    size, listed = shape[0], listed.astype("i8")
    if listed.size and (listed.min() < -size or listed.max() >= size):
        raise IndexError(f"an index is out of bounds for a dimension of {size}")
    return [np.where(listed < 0, listed + size, listed)]


def plain(value: Any) -> Any:
    """Labels of pandas and xarray as NumPy values; other values are returned unchanged."""
    is_array = hasattr(value, "__array__") and not isinstance(value, (np.ndarray, np.generic))
    if not is_array or hasattr(value, "isoformat"):
        return list(value) if isinstance(value, range) else value
    made = np.asarray(value)
    return made if made.ndim else made[()]


def is_list(value: Any) -> bool:
    """Whether a value is a list of labels."""
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim == 1)


def keys_of(array: Array, labels: Mapping[str, Any], sign: str) -> tuple[Any, ...]:
    """The positions of labels along each dimension, with `sign` as for `label`."""
    keys: list[Any] = [slice(None)] * len(array.dimension_paths)
    for name, value in labels.items():
        at, coordinate = array._coordinate(name)
        known = np.asarray(coordinate[...])
        found = [coordinate.labelled(label(name, one, sign)) for one in (value if is_list(value) else [value])]
        positions = [np.flatnonzero(np.isin(known, one)) for one in found]
        if is_list(value) or np.ndim(found[0]):
            keys[at] = np.concatenate(positions) if positions else np.empty(0, "i8")
        else:
            keys[at] = int(positions[0][0])
    return tuple(keys)


# These are compiled on use, since compiling them here would make importing the package a tenth slower.
_HELP = r"(did you mean )?(.*?)(\?| selects the .*)"
_PART = r"(\w+)(==|=)('(?:[^']|'')*'|[^',]*)"


def in_keywords(help: str) -> str:
    """Help that has a selection in text form, rewritten with keywords: ``lat=3`` instead of ``lat==3``."""
    match = re.fullmatch(_HELP, help)
    if match is None:
        return help
    before, selection, after = match.groups()
    parts = re.split(r",(?=\w+=)", selection)
    found = [re.fullmatch(_PART, part) for part in parts]
    if not all(found):
        return help
    keywords = ", ".join(f"{one[1]}={_in_python(one[3])}" for one in found if one)
    return f"{before or ''}{keywords}{after}"


def _in_python(value: str) -> str:
    """A value of a selection in text form, in Python syntax."""
    if value.startswith("'"):
        return repr(value[1:-1].replace("''", "'"))
    first, between, last = value.partition("..")
    if between:
        return f"slice({_in_python(first) if first else None}, {_in_python(last) if last else None})"
    try:
        float(value)
    except ValueError:
        return repr(value)
    return value


def label(name: str, value: Any, sign: str = "==") -> str:
    """The selection in text form for the coordinates that a value or a slice of values selects.

    sign: == for equal coordinates, ~= for the nearest one
    """
    if isinstance(value, slice):
        if value.step is not None:
            raise ValueError("a selection by coordinates cannot have a step")
        return f"{_quoted(name)}={_bound(value.start)}..{_bound(value.stop)}"
    if is_list(value):
        raise ArgumentError(
            f"{name}={value!r}: a list of coordinates, expected a single coordinate or a slice; Array.sel accepts lists"
        )
    return f"{_quoted(name)}{sign}{_quoted(_word(value))}"


def _bound(value: Any) -> str:
    return "" if value is None else _quoted(_word(value))


def _word(value: Any) -> str:
    if isinstance(value, np.datetime64):
        return str(value)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    if isinstance(value, (bytes, np.bytes_)):
        return value.decode()
    return str(value)


def _quoted(word: str) -> str:
    """The word quoted, so that commas, dots and brackets are literal."""
    return "'" + word.replace("'", "''") + "'"
