"""Datasets of xarray as they are stored: named, encoded by the CF conventions, and with dtypes that stores have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from numbers import Number
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends.common import WritableCFDataStore
from xarray.coding.strings import CharacterArrayCoder, EncodedStringCoder, ensure_fixed_length_bytes
from xarray.conventions import encode_dataset_coordinates
from xarray.core.utils import emit_user_level_warning

from .packing import checked

# What the engines of xarray call a variable that has no name.
_NO_NAME = "__values__"

_VALUES = (str, bytes, Number, np.ndarray, np.generic, list, tuple)


class _Encoder(WritableCFDataStore):
    """Encodes variables as the engines of NetCDF do."""

    __slots__ = ("_has_characters",)

    def __init__(self, has_characters: bool) -> None:
        self._has_characters = has_characters

    def encode_variable(self, v: xr.Variable, name: Any = None) -> xr.Variable:
        made: xr.Variable = EncodedStringCoder(allows_unicode=True).encode(v, name=name)
        made = CharacterArrayCoder().encode(made, name=name) if self._has_characters else ensure_fixed_length_bytes(made)
        return made


def encoded(
    dataset: xr.Dataset, encoding: Mapping[str, Any], is_zarr: bool, is_netcdf: bool
) -> tuple[dict[str, xr.Variable], dict[str, Any]]:
    """The variables and attributes that are stored."""
    _check_names(dataset)
    variables, attrs = encode_dataset_coordinates(dataset)
    for name, own in encoding.items():
        if name not in variables:
            raise KeyError(f"encoding: no variable {name}")
        variables[name].encoding = own
    for where in (attrs, *(variable.attrs for variable in variables.values())):
        _check_attributes(where, is_zarr)
    variables = {name: checked(name, variable) for name, variable in variables.items()}
    if is_zarr:
        from xarray.backends.zarr import encode_zarr_variable

        done = {name: encode_zarr_variable(variable, name=name) for name, variable in variables.items()}
    else:
        done, attrs = _Encoder(has_characters=is_netcdf).encode(variables, attrs)  # type: ignore[no-untyped-call]
    return {_NO_NAME if name is None else str(name): variable for name, variable in done.items()}, dict(attrs)


def dtype_of(variable: xr.Variable) -> np.dtype[Any]:
    """The dtype of the stored elements: objects for texts."""
    dtype: np.dtype[Any] = variable.dtype
    if dtype.kind in "OUT" or variable.encoding.get("dtype") is str:
        return np.dtype(object)
    return np.dtype("i1") if dtype.kind == "b" else dtype


def in_order_of(dtype: np.dtype[Any], encoding: Mapping[str, Any]) -> np.dtype[Any]:
    """The dtype in the byte order of its encoding, which xarray gives to integers of packed numbers only."""
    asked = encoding.get("dtype")
    if isinstance(asked, np.dtype) and asked.kind in "iufc" and asked.newbyteorder("=") == dtype.newbyteorder("="):
        return dtype.newbyteorder(asked.byteorder)
    return dtype


def attributes_of(attrs: Mapping[Any, Any], dtype: np.dtype[Any] | None = None) -> dict[str, Any]:
    """Attributes of a group, or of an array with the dtype. Its fill value has its dtype."""
    own = {str(name): value for name, value in attrs.items() if value is not None}
    if dtype is not None and "_FillValue" in own and dtype.kind in "iufc":
        own["_FillValue"] = np.asarray(own["_FillValue"]).astype(dtype)[()]
    fill = own.get("_FillValue")
    if dtype == np.dtype("S1") and isinstance(fill, (bytes, str)) and len(fill) > 1:
        own["_FillValue"] = fill[:1]
        emit_user_level_warning(f"the fill value of characters becomes {fill[:1]!r}, the first one of {fill!r}, as netCDF4 has it")
    return own


def _check_names(dataset: xr.Dataset) -> None:
    for name in dataset.variables:
        if name is None:
            continue
        if not isinstance(name, str):
            raise TypeError(f"Invalid name {name!r} of a variable: it must be either a string or None")
        if not name:
            raise ValueError(f"Invalid name {name!r} of a variable: the string must be length 1 or greater")
        _check_slashes(name)
    for dimension in dataset.sizes:
        _check_slashes(str(dimension))


def _check_slashes(name: str) -> None:
    if "/" in name:
        raise ValueError(f"Forward slashes '/' are not allowed in names of variables and dimensions: {name!r}")


def _check_attributes(attrs: Mapping[Any, Any], is_zarr: bool) -> None:
    for name, value in attrs.items():
        if not isinstance(name, str):
            raise TypeError(f"Invalid name for attr: {name!r} must be a string")
        if not name:
            raise ValueError(f"Invalid name for attr {name!r}: the string must be length 1 or greater")
        if isinstance(value, _VALUES) or (name == "_FillValue" and value is None):
            continue
        if not is_zarr:
            raise TypeError(f"Invalid value for attr {name!r}: {value!r}, expected a number, a text, an array or a list of them")
        try:
            json.dumps(value)
        except (TypeError, ValueError) as error:
            raise TypeError(f"Invalid attribute in Dataset.attrs: {name!r}, {error}") from error
