"""Groups of stores as xarray data stores."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np
from xarray.backends.common import AbstractDataStore
from xarray.core.indexing import BasicIndexer, LazilyIndexedArray
from xarray.core.variable import Variable

from .. import _hyperslab
from .._errors import Error, ReadError
from .._objects import Array, Group
from .._warnings import warn
from .array import LazyArray, as_complex, counted, labels
from .encoding import encoding_of


class MissingVariableWarning(UserWarning):
    """An array or an attribute cannot be read, and is missing from the dataset."""


class PhonyNames:
    """Names for unnamed dimensions. A tree shares one instance, so that no name stands for two lengths."""

    def __init__(self) -> None:
        self.count = 0

    def next(self, taken: Container[str]) -> str:
        """A name that is not in use yet."""
        while True:
            name = f"phony_dim_{self.count}"
            self.count += 1
            if name not in taken:
                return name


class GroupStore(AbstractDataStore):
    """A group as xarray reads it. It is listed once; arrays are opened, but their elements are read later."""

    __slots__ = ("_drop", "_group", "_is_zarr", "_names", "_phony", "_source", "_told", "_zarr_fill_is_missing")

    def __init__(
        self,
        group: Group,
        drop: Iterable[str] = (),
        phony: PhonyNames | None = None,
        zarr_fill_is_missing: bool | None = None,
        told: set[str] | None = None,
    ) -> None:
        self._group = group
        self._drop = frozenset(drop)
        self._phony = phony or PhonyNames()
        self._is_zarr = group.format.startswith("Zarr")
        # Names of variables by their paths.
        self._names: dict[str, str] = {}
        # Warnings that were already issued, because a group may be read again.
        self._told: set[str] = set() if told is None else told
        self._zarr_fill_is_missing = zarr_fill_is_missing
        self._source = source_of(group.location)

    def get_attrs(self) -> dict[str, Any]:
        attributes = dict(self._group.attrs)
        if self._is_zarr:
            from .zarr import group_attributes

            return group_attributes(self._group, attributes)
        return cleaned(attributes)

    def get_dimensions(self) -> dict[str, int]:
        return {name: dimension.size for name, dimension in self._group.dims.items()}

    def get_encoding(self) -> dict[str, Any]:
        if self._is_zarr:
            return {}
        return {"unlimited_dims": {name for name, dimension in self._group.dims.items() if dimension.unlimited}}

    def get_variables(self) -> dict[str, Variable]:
        at = self._group.name
        if self._group.format == "TileDB" and _hyperslab.has_cells(self._group._opened.file, at):
            self._warn(f"the variables of {at} are missing: it is a sparse array; read its cells with hyperslab.table(…)")
            return {}
        opened = dict(self._opened())
        names = self._dimension_names(opened)
        if self._is_zarr:
            from .zarr import read_ahead

            read_ahead(self._group, [array.path for array in opened.values()])
        indexes = {name: array for name, array in opened.items() if names[name] == (name,) and len(array.shape) == 1}
        ahead = self._read_ahead(indexes)
        variables = {}
        for name, array in opened.items():
            try:
                lazy = ahead[name].result() if name in ahead else _lazy(array, is_index=name in indexes)
                variables[name] = self._variable(lazy, array, names[name])
            except Exception as error:
                self.leave_out(array.path, error)
        return variables

    def _read_ahead(self, indexes: dict[str, Array]) -> dict[str, Any]:
        """Read the arrays that become indexes concurrently, for storage with slow requests and one request for each value."""
        far = self._group._opened.keyed
        if far is None or not far.is_far or len(indexes) < 2:
            return {}
        from concurrent.futures import ThreadPoolExecutor

        from .._folders import REQUESTS

        with ThreadPoolExecutor(min(len(indexes), REQUESTS)) as threads:
            return {name: threads.submit(_lazy, array, is_index=True) for name, array in indexes.items()}

    def leave_out(self, path: str, error: Exception) -> None:
        """Warn that a variable is missing. Transient errors are raised instead: a dataset must not depend on the network."""
        if isinstance(error, ReadError) or not isinstance(error, (Error, ValueError, TypeError)):
            raise error
        self._warn(f"the variable {path} is missing, because it cannot be read: {error}")

    def _warn(self, message: str, category: type[Warning] = MissingVariableWarning) -> None:
        if message not in self._told:
            self._told.add(message)
            warn(message, category)

    def name_of(self, path: str) -> str | None:
        """The name of the variable at a path."""
        return self._names.get(path)

    def _opened(self) -> Iterator[tuple[str, Array]]:
        """Arrays by name. Links to arrays are followed."""
        for name, (path, kind, told), opened in self._group._with_arrays(self._drop):
            if name in self._drop:
                continue
            try:
                if kind == "link":
                    path, kind, told = self._group._opened.file.find(path)
                if kind in ("array", "coordinate"):
                    self._names[path] = name
                    if isinstance(opened, Exception):
                        raise opened
                    yield name, Array._of(self._group._opened, opened or path)
                elif kind == "unreadable":
                    self._warn(f"the variable {path} is missing, because it cannot be read: {told}")
            except Exception as error:
                self.leave_out(path, error)

    def _dimension_names(self, opened: dict[str, Array]) -> dict[str, tuple[str, ...]]:
        """The dimensions of arrays. Unnamed ones are named by their lengths, as in h5netcdf.

        For each length, an array uses the first dimension of the group with this length, and the second one for its second
        dimension of the same length. No more new names are made than a single array needs.
        """
        named = {name: _names(array) for name, array in opened.items()}
        if not any(None in dims for dims in named.values()):
            return named
        needed: Counter[int] = Counter()
        for name, dims in named.items():
            if None in dims:
                shape = _shape(opened[name])
                needed |= Counter(length for length, dim in zip(shape, dims, strict=True) if dim is None)
        by_length: defaultdict[int, list[str]] = defaultdict(list)
        if needed:
            for name, dimension in self._group.dims.items():
                by_length[dimension.size].append(name)
            for length, count in needed.items():
                while len(by_length[length]) < count:
                    by_length[length].append(self._phony.next(self._group.dims))
        return {
            name: _filled(dims, _shape(opened[name]), by_length) if None in dims else dims for name, dims in named.items()
        }

    def _variable(self, lazy: LazyArray, array: Array, dims: tuple[str, ...]) -> Variable:
        try:
            attributes = array.attributes()
        except (Error, ValueError, TypeError) as error:
            if isinstance(error, ReadError):
                raise
            # The elements can still be read.
            self._warn(f"the attributes of {array.path} are missing, because they cannot be read: {error}")
            attributes = {}
        if self._is_zarr:
            from .zarr import variable_parts

            attributes, encoding = variable_parts(self._group, array, dims, attributes, self._zarr_fill_is_missing)
        else:
            attributes = cleaned(attributes, lazy.dtype)
            self._add_labels(array, attributes)
            encoding = encoding_of(array, dims, array.storage_dict())
            if lazy.has_missing_as_nan:
                # Stored as integers, they would need a fill value, which the file does not have.
                encoding.pop("dtype", None)
            encoding["original_shape"] = _shape(array)
            if (digits := attributes.pop("least_significant_digit", None)) is not None:
                encoding["least_significant_digit"] = digits
            if self._source is not None:
                encoding["source"] = self._source
        self._add_counted(array, attributes)
        if lazy.has_counts_of_nat:
            attributes.setdefault("_FillValue", np.iinfo(lazy.dtype).min)
        for name, why in array.unreadable_attributes():
            self._warn(f"the attribute {name} of {array.path} is missing, because it cannot be read: {why}")
        elements = np.empty(0, lazy.dtype) if array.is_empty_space else LazilyIndexedArray(lazy, _whole(len(lazy.shape)))
        return Variable(dims, elements, attributes, encoding, fastpath=True)

    def _add_counted(self, array: Array, attributes: dict[str, Any]) -> None:
        """Add attributes that define counts of times, unless the array has them itself."""
        told = counted(array)
        if told:
            for name, value in told.items():
                attributes.setdefault(name, value)
            since = f" since {told['epoch']}" if "epoch" in told else ""
            self._warn(
                f"the times of {array.path} are shown as counts of {told['units']}{since}: xarray does not support this unit."
                f" NaT is {np.iinfo('i8').min}",
                UserWarning,
            )

    def _add_labels(self, array: Array, attributes: dict[str, Any]) -> None:
        """Add the labels of an enumeration as CF attributes, unless its datatype has a name, by which NetCDF knows it."""
        members = labels(array)
        if not members or array.datatype_path is not None or "flag_meanings" in attributes:
            return
        if any(not name or name.split() != [name] for name in members):
            self._warn(
                f"the labels of {array.path} are missing, because flag_meanings cannot contain labels that are empty or have"
                f" blanks: {', '.join(map(repr, members))}; hyperslab.open(…)[{array.path!r}].dtype has them",
                UserWarning,
            )
            return
        attributes["flag_values"] = np.array(list(members.values()), array.dtype.str)
        attributes["flag_meanings"] = " ".join(members)


def _lazy(array: Array, *, is_index: bool) -> LazyArray:
    """The elements of an array. An index is read now, as xarray usually reads all of it after this engine has returned."""
    lazy = LazyArray(array)
    if is_index:
        lazy.read_early()
    return lazy


@cache
def _whole(dimensions: int) -> BasicIndexer:
    """The indexer of all elements."""
    return BasicIndexer((slice(None),) * dimensions)


def _names(array: Array) -> tuple[Any, ...]:
    """Names of the dimensions of an array; None for unnamed ones."""
    if array.is_empty_space:
        return (None,)
    paths = array.dimension_paths
    # Elements that are arrays have dimensions of their own.
    inner = len(array.shape) - len(paths)
    return tuple(path and path.rpartition("/")[2] for path in paths) + (None,) * inner


def _shape(array: Array) -> tuple[int, ...]:
    """Shape of a variable. A null dataspace is shown as an empty dimension, so that its attributes are available."""
    return (0,) if array.is_empty_space else array.shape


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
    """Attributes as netCDF4 returns them: a single value is not a list, and a null value is an empty string."""
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
