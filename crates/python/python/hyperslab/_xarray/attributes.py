"""Attributes of xarray datasets in stored form. An attribute that a format cannot hold is an error that names it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from numbers import Number
from typing import Any

import numpy as np

from .._values import attribute
from .._warnings import warn
from .goal import Goal

_VALUES = (str, bytes, Number, np.ndarray, np.generic, list, tuple)


def check_attributes(place: str, attrs: Mapping[Any, Any], goal: Goal) -> None:
    """Refuse attributes that the format cannot hold, or that would be different when they are read back."""
    for name, value in attrs.items():
        if not isinstance(name, str):
            raise TypeError(f"Invalid name for attr: {name!r} must be a string")
        if not name:
            raise ValueError(f"Invalid name for attr {name!r}: the string must be length 1 or greater")
        if name == "_FillValue" and value is None:
            continue
        if (goal.is_netcdf or goal.is_zarr) and _has_times(value):
            raise TypeError(
                f"Invalid value for attr {name!r} of {place}: {value!r}. {'NetCDF' if goal.is_netcdf else 'Zarr'} has no time"
                " attributes; write a string, for example with str(), or a number"
            )
        if goal.is_netcdf and _has_nulls(value):
            raise ValueError(
                f"Invalid value for attr {name!r} of {place}: {value!r}. Null characters terminate strings in NetCDF; remove them"
            )
        if isinstance(value, _VALUES):
            continue
        if not goal.is_zarr:
            raise TypeError(
                f"Invalid value for attr {name!r}: {value!r}, expected a number, a string, or an array or list of these"
            )
        try:
            json.dumps(value)
        except (TypeError, ValueError) as error:
            raise TypeError(f"Invalid attribute in Dataset.attrs: {name!r}, {error}") from error


def attributes_of(place: str, attrs: Mapping[Any, Any], dtype: np.dtype[Any] | None = None) -> dict[str, Any]:
    """Attributes of a group, or of an array with the given dtype, to which its fill value is converted."""
    own = {str(name): value for name, value in attrs.items() if value is not None or name != "_FillValue"}
    if dtype is not None and "_FillValue" in own and dtype.kind in "iufc":
        own["_FillValue"] = np.asarray(own["_FillValue"]).astype(dtype)[()]
    fill = own.get("_FillValue")
    if dtype == np.dtype("S1") and isinstance(fill, (bytes, str)) and len(fill) > 1:
        own["_FillValue"] = fill[:1]
        told = f"the fill value of a character variable becomes {fill[:1]!r}, the first character of {fill!r}, as in netCDF4"
        warn(told, UserWarning)
    for name, value in own.items():
        _check_stored(place, name, value)
    return own


def _check_stored(place: str, name: str, value: Any) -> None:
    try:
        attribute(value)
    except TypeError as error:
        raise TypeError(
            f"{place}: the attribute {name} is {value!r}, expected a string, a number of at most 64 bits, or an array of these"
        ) from error
    except ValueError as error:
        raise ValueError(f"{place}: the attribute {name}: {error}") from error


def _has_times(value: Any) -> bool:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "mM"
    return isinstance(value, (list, tuple)) and any(isinstance(item, (np.datetime64, np.timedelta64)) for item in value)


def _has_nulls(value: Any) -> bool:
    """Whether strings would be truncated. Bytes are stored as in netCDF4, as characters."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "UOT" and any(map(_has_nulls, value.flat))
    return isinstance(value, (list, tuple)) and any(map(_has_nulls, value))
