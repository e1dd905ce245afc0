"""Groups of stores as data stores of xarray."""

from __future__ import annotations

import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from xarray.backends.common import AbstractDataStore
from xarray.core.indexing import LazilyIndexedArray
from xarray.core.utils import FrozenDict
from xarray.core.variable import Variable

from ._errors import Error
from ._objects import Array, Group
from ._xarray_array import LazyArray, as_complex
from ._xarray_encoding import encoding_of


class MissingVariableWarning(UserWarning):
    """An array or an attribute cannot be read, and the dataset does not have it."""


class PhonyNames:
    """Names for dimensions that have none. A tree shares one, so that no name means two lengths."""

    def __init__(self) -> None:
        self.count = 0

    def next(self) -> str:
        name = f"phony_dim_{self.count}"
        self.count += 1
        return name


class GroupStore(AbstractDataStore):
    """A group as xarray reads it. It is listed once; arrays are opened, but their elements are read later."""

    __slots__ = ("_drop", "_group", "_is_zarr", "_phony", "_source", "_zarr_fill_is_missing")

    def __init__(
        self,
        group: Group,
        drop: Iterable[str] = (),
        phony: PhonyNames | None = None,
        zarr_fill_is_missing: bool | None = None,
    ) -> None:
        self._group = group
        self._drop = frozenset(drop)
        self._phony = phony or PhonyNames()
        self._is_zarr = group.format.startswith("Zarr")
        self._zarr_fill_is_missing = zarr_fill_is_missing
        self._source = source_of(group.location)

    def get_attrs(self) -> FrozenDict[str, Any]:
        attributes = self._group.attrs
        if self._is_zarr:
            from ._xarray_zarr import group_attributes

            return FrozenDict(group_attributes(self._group, attributes))
        return FrozenDict(cleaned(attributes))

    def get_dimensions(self) -> FrozenDict[str, int]:
        return FrozenDict({name: dimension.size for name, dimension in self._group.dims.items()})

    def get_encoding(self) -> dict[str, Any]:
        if self._is_zarr:
            return {}
        return {"unlimited_dims": {name for name, dimension in self._group.dims.items() if dimension.unlimited}}

    def get_variables(self) -> FrozenDict[str, Variable]:
        opened = dict(self._opened())
        names = self._dimension_names(opened)
        return FrozenDict({name: self._variable(array, names[name]) for name, array in opened.items()})

    def _opened(self) -> Iterator[tuple[str, Array]]:
        """Arrays by name. Links to arrays are followed."""
        for name, (path, kind, told) in self._group._listed().items():
            if name in self._drop:
                continue
            try:
                if kind == "link":
                    path, kind, told = self._group._opened.file.find(path)
                if kind in ("array", "coordinate"):
                    array = Array._of(self._group._opened, path)
                    if array.is_empty_space:
                        warn(f"the variable {path} is missing, because it has no elements (a null dataspace)")
                        continue
                    yield name, array
                elif kind == "unreadable":
                    warn(f"the variable {path} is missing, because it cannot be read: {told}")
            except (Error, ValueError, TypeError, NotImplementedError) as error:
                warn(f"the variable {path} is missing, because it cannot be read: {error}")

    def _dimension_names(self, opened: dict[str, Array]) -> dict[str, tuple[str, ...]]:
        """The dimensions of arrays. Those without names are named by their lengths, as h5netcdf does.

        An array takes for each length the first dimension of the group that has it, and for the second dimension of the same
        length the second one. Only as many new ones are made as one array needs.
        """
        named = {name: _names(array) for name, array in opened.items()}
        needed: Counter[int] = Counter()
        for name, dims in named.items():
            if None in dims:
                shape = opened[name].shape
                needed |= Counter(length for length, dim in zip(shape, dims, strict=True) if dim is None)
        if needed:
            by_length: defaultdict[int, list[str]] = defaultdict(list)
            for name, dimension in self._group.dims.items():
                by_length[dimension.size].append(name)
            for length, count in needed.items():
                while len(by_length[length]) < count:
                    by_length[length].append(self._phony.next())
        return {
            name: _filled(dims, opened[name].shape, by_length) if None in dims else dims for name, dims in named.items()
        }

    def _variable(self, array: Array, dims: tuple[str, ...]) -> Variable:
        lazy = LazyArray(array)
        attributes = array.attributes()
        if self._is_zarr:
            from ._xarray_zarr import variable_parts

            attributes, encoding = variable_parts(self._group, array, dims, attributes, self._zarr_fill_is_missing)
        else:
            attributes = cleaned(attributes, lazy.dtype)
            encoding = encoding_of(array, dims, array.storage_dict())
            encoding["original_shape"] = lazy.shape
            if (digits := attributes.pop("least_significant_digit", None)) is not None:
                encoding["least_significant_digit"] = digits
            if self._source is not None:
                encoding["source"] = self._source
        for name, why in array.unreadable_attributes():
            warn(f"the attribute {name} of {array.path} is missing, because it cannot be read: {why}")
        return Variable(dims, LazilyIndexedArray(lazy), attributes, encoding, fastpath=True)


def _names(array: Array) -> tuple[Any, ...]:
    """Names of the dimensions of an array, None for those without."""
    paths = array.dimension_paths
    # Elements that are arrays have dimensions of their own.
    inner = len(array.shape) - len(paths)
    return tuple(path and path.rpartition("/")[2] for path in paths) + (None,) * inner


def _filled(dims: tuple[Any, ...], shape: tuple[int, ...], by_length: dict[int, list[str]]) -> tuple[str, ...]:
    taken: Counter[int] = Counter()
    filled = []
    for dim, length in zip(dims, shape, strict=True):
        if dim is None:
            dim = by_length[length][taken[length]]
            taken[length] += 1
        filled.append(dim)
    return tuple(filled)


def cleaned(attributes: dict[str, Any], dtype: np.dtype[Any] | None = None) -> dict[str, Any]:
    """Attributes as netCDF4 gives them: one value is no list, and nothing is an empty text."""
    for name, value in attributes.items():
        if value is None:
            attributes[name] = ""
        elif isinstance(value, (list, np.ndarray)) and len(value) == 1 and np.ndim(value) == 1:
            value = attributes[name] = value[0]
        if isinstance(value, (np.void, np.ndarray)) and value.dtype.names is not None:
            attributes[name] = as_complex(value)
    if dtype is not None and dtype.kind == "S":
        for name in ("_FillValue", "missing_value"):
            if isinstance(value := attributes.get(name), str):
                attributes[name] = np.bytes_(value.encode())
    return attributes


def source_of(location: Any) -> str | None:
    """Name of what was opened, if it has one."""
    return os.fspath(location) if isinstance(location, (str, os.PathLike)) else None


def warn(message: str) -> None:
    from xarray.core.utils import emit_user_level_warning

    emit_user_level_warning(message, MissingVariableWarning)
