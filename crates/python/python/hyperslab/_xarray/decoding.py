"""Datasets of variables as CF means them, decoded by xarray where there is something to decode.

xarray asks eight coders about each variable, which was a third of the time of opening. Most variables are told from their dtype and
their attributes to be what they mean already.
"""

from __future__ import annotations


from collections.abc import Mapping
from typing import Any

import numpy as np
from xarray import Coordinates, Dataset
from xarray.coding.times import TIME_UNITS
from xarray.conventions import decode_cf_variables
from xarray.core.variable import Variable

# Attributes that some coder decodes, besides units of time and fill values.
_DECODED = frozenset({"_FillValue", "_Unsigned", "add_offset", "coordinates", "dtype", "missing_value", "scale_factor"})


def decoded_dataset(variables: Mapping[Any, Variable], attributes: Mapping[Any, Any], **decoding: Any) -> Dataset:
    """A dataset without indexes, with the options of `xarray.decode_cf`.

    # Errors
    Those of a variable whose elements have to be read for decoding, and of options that xarray refuses.
    """
    # All options that are not these look for more than what is looked for here.
    is_usual = decoding.get("decode_coords") in (True, False) and decoding.get("mask_and_scale") is True
    offered = Offered(variables) if is_usual else variables
    decoded, attributes, names = decode_cf_variables(offered, attributes, **decoding)
    coordinates, data = {}, {}
    for name, variable in variables.items():
        variable = decoded.get(name, variable)
        (coordinates if name in names or variable.dims == (name,) else data)[name] = variable
    return Dataset(data, Coordinates(coordinates, indexes={}), attributes)


class Offered(dict[str, Variable]):
    """Variables as xarray decodes them: it looks up all of them, and goes through those that have something to decode.

    Variables may get units of time on the way, from those that they are bounds of, so that nothing is told in advance.
    """

    def items(self) -> Any:
        return [(name, variable) for name, variable in super().items() if not _is_plain(variable)]


def _is_plain(variable: Variable) -> bool:
    """Whether a variable is what it means. Its encoding gets what a decoded one has."""
    dtype, attributes = variable.dtype, variable.attrs
    if dtype.kind not in "fiu" or not dtype.isnative:
        return False
    units = attributes.get("units")
    if isinstance(units, str) and ("since" in units or units in TIME_UNITS):
        return False
    found = _DECODED.intersection(attributes)
    if found and not (found == {"_FillValue"} and dtype.kind == "f" and _is_nan(attributes["_FillValue"], dtype)):
        return False
    variable.encoding.setdefault("dtype", dtype)
    if found:
        # It masks what is NaN already.
        variable.encoding["_FillValue"] = attributes.pop("_FillValue")
    return True


def _is_nan(value: Any, dtype: np.dtype[Any]) -> bool:
    return isinstance(value, np.floating) and value.dtype == dtype and bool(np.isnan(value))
