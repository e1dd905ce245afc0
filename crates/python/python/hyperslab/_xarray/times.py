"""Times as stored counts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import xarray as xr
from xarray.coding.variables import _is_time_like
from xarray.conventions import encode_cf_variable
from xarray.core.common import contains_cftime_datetimes

# The integer that xarray stores for NaT.
_NAT = np.iinfo("i8").min


def check_missing(name: Any, variable: xr.Variable) -> None:
    """Refuse to store missing times as integers without a value for them, where they would become the epoch. Dask arrays are
    checked later."""
    encoding = variable.encoding
    if variable.dtype.kind not in "mM" or variable.chunks is not None or encoding.get("dtype") is None:
        return
    if any(encoding.get(key) is not None for key in ("_FillValue", "missing_value")):
        return
    kind = np.dtype(encoding["dtype"])
    if kind.kind in "iu" and kind != "i8" and bool(np.isnat(variable.values).any()):
        raise ValueError(f"{name}: missing times stored as {kind} need a _FillValue, or dtype float64 or int64")


def check_counts(name: Any, variable: xr.Variable) -> None:
    """Refuse times whose counts do not fit the integers of their encoding, where xarray lets them wrap. In Dask arrays, xarray
    refuses them itself."""
    encoding = variable.encoding
    asked = encoding.get("dtype")
    if asked is None or variable.chunks is not None or _kind(asked) not in "iu" or np.dtype(asked) == "i8":
        return
    if variable.dtype.kind not in "mM" and not contains_cftime_datetimes(variable):
        return
    kind, trial = np.dtype(asked), variable.copy(deep=False)
    trial.encoding = {key: value for key, value in encoding.items() if key in ("units", "calendar")} | {"dtype": np.dtype("i8")}
    with warnings.catch_warnings():
        # The variable is encoded again later, which issues the warnings.
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
    """The variable without a time dtype in its encoding, which comes from stores with a time type.

    Otherwise counts would be cast to it, and become times since 1970 whatever their units say.
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
    """The fill value from a store with a time type, for an array of counts. None for the default of the format."""
    if not isinstance(fill, (np.datetime64, np.timedelta64)) or dtype.kind in "mM":
        return fill
    if not np.isnat(fill):
        raise ValueError(f"{name}: fill_value={fill!r} for times that are stored as {dtype}, expected a number, or None")
    if dtype.kind == "f":
        return dtype.type("nan")
    return dtype.type(_NAT) if dtype == "i8" else None


def with_nan(name: Any, variable: xr.Variable) -> xr.Variable:
    """Counts of times as floats if some are missing, for formats whose integers are too short for the number that means NaT."""
    if variable.dtype != "i8" or not _is_time_like(variable.attrs.get("units")):
        return variable
    # As in the xarray engines, it must be known whether any is missing before the variable is declared.
    counts = np.asarray(variable.values)
    is_missing = counts == _NAT
    if not is_missing.any():
        return variable
    made = np.where(is_missing, variable.attrs.get("_FillValue", np.nan), counts)
    if made.dtype.kind == "f" and np.any(made[~is_missing].astype("i8") != counts[~is_missing]):
        raise ValueError(
            f"{name}: times in {variable.attrs['units']!r}, some of which are missing, have counts that float64 cannot represent"
            " exactly; give a coarser unit in the encoding, such as 'seconds since 1970-01-01'"
        )
    return variable.copy(deep=False, data=made)


def _kind(dtype: Any) -> str:
    """The kind of the dtype that an encoding requests; that of objects if it is not a dtype."""
    try:
        made: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        return "O"
    return made.kind
