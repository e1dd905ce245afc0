"""Times as the counts that are stored."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import xarray as xr
from xarray.coding.variables import _is_time_like
from xarray.conventions import encode_cf_variable
from xarray.core.common import contains_cftime_datetimes

# What xarray stores for NaT among integers.
_NAT = np.iinfo("i8").min


def check_missing(name: Any, variable: xr.Variable) -> None:
    """Refuse missing times as integers that have no number for them, and would be the epoch. Those of Dask are looked at later."""
    encoding = variable.encoding
    if variable.dtype.kind not in "mM" or variable.chunks is not None or encoding.get("dtype") is None:
        return
    if any(encoding.get(key) is not None for key in ("_FillValue", "missing_value")):
        return
    kind = np.dtype(encoding["dtype"])
    if kind.kind in "iu" and kind != "i8" and bool(np.isnat(variable.values).any()):
        raise ValueError(f"{name}: missing times as {kind} without a _FillValue, expected one, or dtype float64 or int64")


def check_counts(name: Any, variable: xr.Variable) -> None:
    """Refuse times whose counts the integers of their encoding do not hold, where xarray lets them wrap. Those of Dask it refuses."""
    encoding = variable.encoding
    asked = encoding.get("dtype")
    if asked is None or variable.chunks is not None or _kind(asked) not in "iu" or np.dtype(asked) == "i8":
        return
    if variable.dtype.kind not in "mM" and not contains_cftime_datetimes(variable):
        return
    kind, trial = np.dtype(asked), variable.copy(deep=False)
    trial.encoding = {key: value for key, value in encoding.items() if key in ("units", "calendar")} | {"dtype": np.dtype("i8")}
    with warnings.catch_warnings():
        # It is encoded once more, and warns then.
        warnings.simplefilter("ignore")
        made = encode_cf_variable(trial, name=name)
    counts = np.asarray(made.values)
    present = counts[counts != _NAT] if counts.dtype.kind == "i" else counts[~np.isnan(counts)]
    limits = np.iinfo(kind)
    if present.size and not (limits.min <= present.min() and present.max() <= limits.max):
        raise ValueError(
            f"{name}: times from {present.min()} to {present.max()} {made.attrs['units']!r} cannot be stored as {kind};"
            " expected another dtype or coarser units in the encoding"
        )


def as_counts(name: Any, variable: xr.Variable, is_asked: bool) -> xr.Variable:
    """The variable without a dtype of times in its encoding, which stores have that know times.

    Counts would be cast to it, and be times since 1970 whatever their units say.
    """
    asked = variable.encoding.get("dtype")
    if asked is None or _kind(asked) not in "mM":
        return variable
    if is_asked and variable.dtype.kind not in "mM" and not contains_cftime_datetimes(variable):
        raise ValueError(f"{name}: dtype={str(asked)!r} for values of dtype {variable.dtype}, expected times or another dtype")
    made = variable.copy(deep=False)
    made.encoding = {key: value for key, value in variable.encoding.items() if key != "dtype"}
    return made


def as_count(name: str, fill: Any, dtype: np.dtype[Any]) -> Any:
    """The fill value of a store that knows times, of an array that has counts instead. None for that of the format."""
    if not isinstance(fill, (np.datetime64, np.timedelta64)) or dtype.kind in "mM":
        return fill
    if not np.isnat(fill):
        raise ValueError(f"{name}: fill_value={fill!r} for times that are stored as {dtype}, expected a number, or None")
    if dtype.kind == "f":
        return dtype.type("nan")
    return dtype.type(_NAT) if dtype == "i8" else None


def with_nan(name: Any, variable: xr.Variable) -> xr.Variable:
    """Counts of times with missing ones as floats, for formats whose integers are too short for the number that stands for NaT."""
    if variable.dtype != "i8" or not _is_time_like(variable.attrs.get("units")):
        return variable
    # Whether any is missing has to be known before the variable is declared, as for the engines of xarray.
    counts = np.asarray(variable.values)
    is_missing = counts == _NAT
    if not is_missing.any():
        return variable
    made = np.where(is_missing, variable.attrs.get("_FillValue", np.nan), counts)
    if made.dtype.kind == "f" and np.any(made[~is_missing].astype("i8") != counts[~is_missing]):
        raise ValueError(
            f"{name}: times as {variable.attrs['units']!r}, of which some are missing, have counts that float64 does not hold;"
            " give a coarser unit in the encoding, such as 'seconds since 1970-01-01'"
        )
    return variable.copy(deep=False, data=made)


def _kind(dtype: Any) -> str:
    """The kind of a dtype that an encoding asks for; that of objects for what is none."""
    try:
        made: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        return "O"
    return made.kind
