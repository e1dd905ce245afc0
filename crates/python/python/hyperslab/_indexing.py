"""Ways of reading elements other than ``[...]``: products of lists, points, other dtypes, and coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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
        return np.asarray(self._array[key]).astype(self._dtype)


class Points:
    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        array = self._array
        keys = list(key) if isinstance(key, tuple) else [key]
        if Ellipsis in [item for item in keys if not isinstance(item, (np.ndarray, list))]:
            at = next(number for number, item in enumerate(keys) if item is Ellipsis)
            keys[at : at + 1] = [slice(None)] * (array.ndim - len(keys) + 1)
        keys += [slice(None)] * (array.ndim - len(keys))
        if len(keys) > array.ndim:
            raise IndexError(f"{len(keys)} indices for an array of {array.ndim} dimensions")
        lists = [item if isinstance(item, slice) else _positions(item, size) for item, size in zip(keys, array.shape, strict=True)]
        along = [at for at, item in enumerate(lists) if not isinstance(item, slice)]
        if not along:
            return array[tuple(lists)]
        points = np.broadcast_arrays(*(item for item in lists if not isinstance(item, slice)))
        shape = points[0].shape
        # Axes that elements have themselves follow those of the array.
        rank = len(array.dimension_paths)
        if along == list(range(rank)) and all(item == slice(None) for item in lists[rank:]):
            flat = np.stack([of.reshape(-1) for of in points], axis=1).reshape(-1)
            return array.points(np.ascontiguousarray(flat, dtype="i8")).reshape(shape + array.shape[rank:])
        # Positions that are asked for several times are read once.
        outer: list[Any] = list(lists)
        within = []
        for at, of in zip(along, points, strict=True):
            outer[at], inverse = np.unique(of.reshape(-1), return_inverse=True)
            within.append(inverse.reshape(shape))
        block = np.moveaxis(array[tuple(outer)], along, range(len(along)))
        picked = block[tuple(within)]
        # As NumPy: the points come first, unless the lists are next to each other.
        if along == list(range(along[0], along[-1] + 1)):
            sources = range(len(shape))
            picked = np.moveaxis(picked, list(sources), [along[0] + at for at in sources])
        return picked


def _positions(item: Any, size: int) -> np.ndarray:
    listed = np.asarray(item)
    if listed.dtype == bool:
        return np.flatnonzero(listed)
    listed = listed.astype("i8")
    if listed.size and (listed.min() < -size or listed.max() >= size):
        raise IndexError(f"an index is out of bounds for a dimension of {size}")
    return np.where(listed < 0, listed + size, listed)


def label(name: str, value: Any) -> str:
    if isinstance(value, slice):
        if value.step is not None:
            raise ValueError("a selection by coordinates has no step")
        return f"{name}={_word(value.start)}..{_word(value.stop)}"
    return f"{name}=={_word(value)}"


def _word(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, np.datetime64):
        return str(value)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    if isinstance(value, (bytes, np.bytes_)):
        return value.decode()
    return str(value)
