"""Numbers that an encoding stores as integers. Numbers that do not fit raise an error, where xarray lets them wrap."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import xarray as xr


def checked(name: Any, variable: xr.Variable) -> xr.Variable:
    """The variable. If it is stored as integers, its numbers are checked when they are computed."""
    _check_fill(name, variable)
    is_undecoded = "_Unsigned" in variable.attrs
    variable = _with_sign(variable)
    kind = _stored(variable)
    if kind is None or variable.dtype.kind not in "iuf":
        return variable
    scale, offset = (variable.encoding.get(key) for key in ("scale_factor", "add_offset"))
    if scale is None and offset is None and variable.dtype.kind in "iu":
        # Numbers that were not decoded are stored unchanged, whatever sign the attribute gives them.
        is_same = variable.dtype == np.dtype(variable.encoding["dtype"])
        if (is_undecoded and is_same) or np.can_cast(variable.dtype, kind):
            return variable
    has_missing = any(variable.encoding.get(key) is not None for key in ("_FillValue", "missing_value"))
    check = partial(_check, name=name, kind=kind, scale=scale, offset=offset, has_missing=has_missing)
    data: Any = variable.data
    data = check(variable.values) if variable.chunks is None else data.map_blocks(check, dtype=data.dtype, meta=data._meta)
    made: xr.Variable = variable.copy(deep=False, data=data)
    return made


def _with_sign(variable: xr.Variable) -> xr.Variable:
    """The variable with the attribute for the signedness of its integers, which xarray writes only next to a fill value."""
    encoding = variable.encoding
    if encoding.get("_Unsigned") is None or any(encoding.get(key) is not None for key in ("_FillValue", "missing_value")):
        return variable
    made = variable.copy(deep=False)
    made.encoding = {key: value for key, value in encoding.items() if key != "_Unsigned"}
    made.attrs = {**variable.attrs, "_Unsigned": encoding["_Unsigned"]}
    return made


def _check_fill(name: Any, variable: xr.Variable) -> None:
    """Refuse a missing-value marker that the stored type cannot hold, because xarray's error does not name the variable."""
    encoding = variable.encoding
    asked = encoding.get("dtype")
    try:
        kind = variable.dtype if asked is None else np.dtype(asked)
    except TypeError:
        return
    if kind.kind not in "iuf" or variable.dtype.kind not in "iuf":
        return
    is_packed = any(encoding.get(key) is not None for key in ("scale_factor", "add_offset", "_Unsigned"))
    for key in ("_FillValue", "missing_value"):
        value = encoding.get(key)
        if value is None or (is_packed and not isinstance(value, (str, bytes))):
            continue
        try:
            kind.type(value)
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(f"{name}: {key}={value!r}, expected a number that fits {kind}") from error


def _stored(variable: xr.Variable) -> np.dtype[Any] | None:
    """The integer type in which the numbers are stored, with the signedness given by `_Unsigned`."""
    asked = variable.encoding.get("dtype")
    try:
        kind = np.dtype(asked)
    except TypeError:
        return None
    if asked is None or kind.kind not in "iu":
        return None
    unsigned = variable.encoding.get("_Unsigned", variable.attrs.get("_Unsigned"))
    signs = {"true": "u", "false": "i"}
    return np.dtype(f"{signs.get(str(unsigned), kind.kind)}{kind.itemsize}")


def _check(values: np.ndarray, *, name: Any, kind: np.dtype[Any], scale: Any, offset: Any, has_missing: bool) -> np.ndarray:
    present = values if values.dtype.kind != "f" else values[~np.isnan(values)]
    if present.size < values.size and not has_missing:
        raise ValueError(f"{name}: missing values stored as {kind} need a _FillValue or a floating-point dtype")
    if not present.size:
        return values
    limits = np.iinfo(kind)
    ends = [present.min(), present.max()]
    # Packing may swap the ends, so either may be the lower one.
    stored = [(float(end) - float(offset or 0)) / float(scale or 1) if scale is not None or offset is not None else end for end in ends]
    if any(not np.isfinite(end) or not limits.min <= np.around(end) <= limits.max for end in stored):
        how = "".join(f", {key} {value}" for key, value in (("scale_factor", scale), ("add_offset", offset)) if value is not None)
        raise ValueError(f"{name}: values from {ends[0]} to {ends[1]} cannot be stored as {kind}{how}")
    return values
