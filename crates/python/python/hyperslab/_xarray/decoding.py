"""Datasets of variables decoded by CF. Only variables whose stored values have to be decoded are passed to the xarray coders.

xarray asks eight coders about each variable, which took a sixth of the opening time, and then compares all variables again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xarray import Coordinates, Dataset
from xarray.coding.times import TIME_UNITS, CFDatetimeCoder, CFTimedeltaCoder
from xarray.conventions import decode_cf_variables
from xarray.core.variable import Variable

from .._warnings import warn

# Attributes that change what elements mean, besides units of time.
_DECODED = frozenset({"_FillValue", "_Unsigned", "add_offset", "coordinates", "dtype", "missing_value", "scale_factor"})


def decoded_dataset(variables: Mapping[Any, Variable], attributes: Mapping[Any, Any], **decoding: Any) -> Dataset:
    """A Dataset without indexes, with the options of `xarray.decode_cf`."""
    decoding = _without_use_cftime(decoding)
    # With other options, more attributes matter than are examined here.
    is_usual = decoding.get("decode_coords") in (True, False) and decoding.get("mask_and_scale") is True
    decoded: Mapping[Any, Variable] = {}
    left, names = attributes, set[Any]()
    if not is_usual or "coordinates" in attributes or not all(map(_means_what_it_stores, variables.values())):
        offered = Offered(variables) if is_usual else variables
        decoded, left, names = decode_cf_variables(offered, dict(attributes), **decoding)
    shown = {name: decoded[name] if name in decoded else _as_decoded(variable) for name, variable in variables.items()}
    return _dataset_of(shown, names, dict(left))


def _dataset_of(variables: dict[Any, Variable], names: set[Any], attributes: dict[Any, Any]) -> Dataset:
    """A Dataset without indexes, whose coordinates are the variables with these names and those named like dimensions."""
    dims = {dim for variable in variables.values() for dim in variable.dims}
    coordinates = {name: variable for name, variable in variables.items() if name in names or name in dims}
    data = {name: variable for name, variable in variables.items() if name not in coordinates}
    # This class method is not public, but makes opening a tree of many small groups an eighth faster.
    construct = getattr(Dataset, "_construct_direct", None)
    if construct is None:
        return Dataset(data, Coordinates(coordinates, indexes={}), attributes)
    made: Dataset = construct({**data, **coordinates}, set(coordinates), attrs=attributes)
    return made


def _without_use_cftime(decoding: dict[str, Any]) -> dict[str, Any]:
    """The options with a deprecated one replaced by its coder, as xarray does, whose own warning would name a line of ours."""
    use_cftime, timedeltas = decoding.get("use_cftime"), decoding.get("decode_timedelta")
    if use_cftime is None or isinstance(use_cftime, Mapping) or decoding.get("decode_times") is not True:
        return decoding
    warn(
        "Usage of 'use_cftime' as a kwarg is deprecated. Please pass xr.coders.CFDatetimeCoder(use_cftime=…) to the 'decode_times'"
        " kwarg instead.",
        FutureWarning,
    )
    # Without a coder of their own, durations would get the unit of the date coder.
    timedeltas = CFTimedeltaCoder() if timedeltas is None else timedeltas
    return {**decoding, "use_cftime": None, "decode_times": CFDatetimeCoder(use_cftime=use_cftime), "decode_timedelta": timedeltas}


class Offered(dict[Any, Variable]):
    """Variables for xarray to decode: it can look up all of them, but iterates only over those that need decoding.

    These are determined during iteration, because only then do bounds have the units of their coordinates.
    """

    def items(self) -> Any:
        return [(name, variable) for name, variable in super().items() if not _means_what_it_stores(variable)]


def _means_what_it_stores(variable: Variable) -> bool:
    dtype, attributes = variable.dtype, variable.attrs
    if dtype.kind not in "fiu" or not dtype.isnative:
        return False
    units = attributes.get("units")
    if isinstance(units, str) and ("since" in units or units in TIME_UNITS):
        return False
    found = _DECODED.intersection(attributes)
    return not found or (found == {"_FillValue"} and dtype.kind == "f" and _is_nan(attributes["_FillValue"]))


def _is_nan(value: Any) -> bool:
    # NaN is the only number that does not equal itself; asking NumPy takes several times as long.
    return isinstance(value, np.floating) and bool(value != value)


def _as_decoded(variable: Variable) -> Variable:
    """A variable that needs no decoding, with the encoding of a decoded one."""
    variable.encoding.setdefault("dtype", variable.dtype)
    if "_FillValue" in variable.attrs:
        variable.encoding["_FillValue"] = variable.attrs.pop("_FillValue")
    return variable
