"""xarray datasets in stored form: named, encoded by the CF conventions, and with dtypes that stores support."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends.common import WritableCFDataStore
from xarray.coding.strings import CharacterArrayCoder, EncodedStringCoder, ensure_fixed_length_bytes
from xarray.conventions import encode_dataset_coordinates

from .attributes import check_attributes
from .goal import Goal
from .packing import checked
from .times import as_counts, check_counts, check_missing, with_nan

# The name that the xarray engines give to an unnamed variable.
_NO_NAME = "__values__"


class _Encoder(WritableCFDataStore):
    """Encodes variables as the NetCDF engines do."""

    __slots__ = ("_goal",)

    def __init__(self, goal: Goal) -> None:
        self._goal = goal

    def encode_variable(self, v: xr.Variable, name: Any = None) -> xr.Variable:
        made: xr.Variable = EncodedStringCoder(allows_unicode=not self._goal.is_classic).encode(v, name=name)
        if not self._goal.is_netcdf:
            return ensure_fixed_length_bytes(made)
        made = CharacterArrayCoder().encode(made, name=name)
        return made


def encoded(dataset: xr.Dataset, encoding: Mapping[str, Any], goal: Goal) -> tuple[dict[str, xr.Variable], dict[str, Any]]:
    """The variables and attributes to store."""
    _check_names(dataset)
    variables, attrs = encode_dataset_coordinates(dataset)
    for name, own in encoding.items():
        if name not in variables:
            raise KeyError(f"encoding: no variable {name}")
        variables[name].encoding = own
    check_attributes("the dataset", attrs, goal)
    for name, variable in variables.items():
        check_attributes(str(name), variable.attrs, goal)
    variables = {name: as_counts(name, variable, name in encoding) for name, variable in variables.items()}
    for name, variable in variables.items():
        check_missing(name, variable)
        check_counts(name, variable)
    variables = {name: checked(name, variable) for name, variable in variables.items()}
    if goal.is_zarr:
        from xarray.backends.zarr import encode_zarr_variable

        done = {name: encode_zarr_variable(variable, name=name) for name, variable in variables.items()}
    else:
        done, attrs = _Encoder(goal).encode(variables, attrs)  # type: ignore[no-untyped-call]
    if not goal.has_long:
        done = {name: with_nan(name, variable) for name, variable in done.items()}
    return {_NO_NAME if name is None else str(name): variable for name, variable in done.items()}, dict(attrs)


def dtype_of(variable: xr.Variable) -> np.dtype[Any]:
    """The dtype of the stored elements: objects for strings."""
    dtype: np.dtype[Any] = variable.dtype
    if dtype.kind in "OUT" or variable.encoding.get("dtype") is str:
        return np.dtype(object)
    return np.dtype("i1") if dtype.kind == "b" else dtype


def in_order_of(name: str, dtype: np.dtype[Any], encoding: Mapping[str, Any]) -> np.dtype[Any]:
    """The dtype in the byte order of its encoding, which xarray applies only to the integers of packed numbers."""
    if dtype.kind not in "iufc":
        return dtype
    asked, order = encoding.get("dtype"), encoding.get("endian", "native")
    if isinstance(asked, np.dtype) and asked.kind in "iufc" and asked.newbyteorder("=") == dtype.newbyteorder("="):
        dtype = dtype.newbyteorder(asked.byteorder)
    if order not in ("big", "little"):
        return dtype
    if not dtype.isnative and dtype != dtype.newbyteorder(order):
        raise ValueError(f"{name}: endian={order!r} conflicts with dtype={dtype.str!r}, expected the same byte order")
    return dtype.newbyteorder(order)


def _check_names(dataset: xr.Dataset) -> None:
    for name in dataset.variables:
        if name is None:
            continue
        if not isinstance(name, str):
            raise TypeError(f"Invalid variable name {name!r}: it must be either a string or None")
        if not name:
            raise ValueError(f"Invalid variable name {name!r}: the string must be length 1 or greater")
        _check_slashes(name)
    for dimension in dataset.sizes:
        _check_slashes(str(dimension))


def _check_slashes(name: str) -> None:
    if "/" in name:
        raise ValueError(f"Forward slashes '/' are not allowed in names of variables and dimensions: {name!r}")
