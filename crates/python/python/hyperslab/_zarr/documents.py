"""Zarr metadata documents: `zarr.json` of v3, and `.zarray`, `.zgroup`, `.zattrs` of v2, which kerchunk uses."""

from __future__ import annotations

import base64
import math
import struct
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from .._objects import Array, Group
from .codecs import in_v2, in_v3
from .plans import Plan

Json = dict[str, Any]


def group_v3(group: Group | None) -> Json:
    """The document `zarr.json` of a group."""
    attributes = attributes_of(group) if group is not None else {}
    return {"zarr_format": 3, "node_type": "group", "attributes": attributes}


def array_v3(plan: Plan, dims: tuple[str, ...], *, separator: str = "/") -> Json:
    """The document `zarr.json` of an array."""
    data_type, fill = _type_v3(plan.dtype, plan.fill)
    codecs = [{"name": "vlen-utf8"}] if plan.dtype is None else in_v3(plan.codecs, plan.dtype)
    attributes = attributes_of(plan.array)
    _set_missing(attributes, plan)
    _encode_missing(attributes, plan.dtype)
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(plan.shape),
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(plan.chunks)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": separator}},
        "fill_value": fill,
        "codecs": codecs,
        "attributes": attributes,
        "dimension_names": list(dims),
        "storage_transformers": [],
    }


def consolidated_v3(root: Json, documents: Mapping[str, Json]) -> Json:
    """The document of the root, including those of all nodes below it."""
    return root | {"consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": dict(documents)}}


def array_v2(plan: Plan, dims: tuple[str, ...], *, fills: bool) -> tuple[Json, Json]:
    """The documents `.zarray` and `.zattrs` of an array.

    fills: whether there are missing chunks, which have the fill value. If there are none, the fill value is not stated, as
        xarray treats a v2 fill value as missing data.
    """
    attributes = attributes_of(plan.array)
    _set_missing(attributes, plan)
    stored = in_v2(plan.codecs)
    if plan.dtype is None:
        stored = {"filters": [{"id": "vlen-utf8"}], "compressor": None}
    document: Json = {
        "zarr_format": 2,
        "shape": list(plan.shape),
        "chunks": list(plan.chunks),
        "dtype": "|O" if plan.dtype is None else _descr(plan.dtype),
        "fill_value": _fill_v2(plan) if fills else None,
        "order": "C",
        "dimension_separator": ".",
        **stored,
    }
    return document, attributes | {"_ARRAY_DIMENSIONS": list(dims)}


def attributes_of(of: Group | Array) -> Json:
    """Attributes as JSON values."""
    return {name: json_value(value) for name, value in of.attrs.items()}


def json_value(value: Any) -> Any:
    """An attribute value as a JSON value. What JSON cannot represent becomes a string: dates in ISO 8601, bytes decoded as UTF-8 with
    U+FFFD for invalid bytes, and opaque values (`np.void`) in Base64."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value
    if isinstance(value, np.ndarray):
        return [json_value(item) for item in value]
    if isinstance(value, np.void):
        if value.dtype.names is not None:
            return {name: json_value(value[name]) for name in value.dtype.names}
        return base64.standard_b64encode(value.tobytes()).decode()
    if isinstance(value, (bytes, np.bytes_)):
        return value.rstrip(b"\0").decode(errors="replace")
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return str(value)
    if isinstance(value, np.generic):
        item = value.item()
        return json_value(item) if not isinstance(item, np.generic) else float(value)
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if isinstance(value, dict):
        return {str(name): json_value(item) for name, item in value.items()}
    return str(value)


def _set_missing(attributes: Json, plan: Plan) -> None:
    """State the value of missing elements, if the type of elements allows missing ones."""
    if plan.is_masked and plan.dtype is not None:
        attributes.setdefault("_FillValue", json_value(plan.missing))


def _encode_missing(attributes: Json, dtype: np.dtype[Any] | None) -> None:
    """Encode `_FillValue` as xarray does in Zarr v3. For non-numeric types, xarray cannot decode it, so it is left out."""
    if "_FillValue" not in attributes:
        return
    value = _single(attributes.pop("_FillValue"))
    kind = "" if dtype is None else dtype.kind
    try:
        if kind == "f":
            attributes["_FillValue"] = _double(float(value))
        elif kind == "c":
            parts = value if isinstance(value, list) else [value, 0.0]
            attributes["_FillValue"] = [_double(float(part)) for part in parts]
        elif kind in ("i", "u", "b") and kind:
            attributes["_FillValue"] = int(value) if kind != "b" else bool(value)
    except (TypeError, ValueError):
        # The value is not of this type, so no element is equal to it.
        return


def _double(number: float) -> str:
    return base64.standard_b64encode(struct.pack("<d", number)).decode()


def _type_v3(dtype: np.dtype[Any] | None, fill: Any) -> tuple[Any, Any]:
    """The members `data_type` and `fill_value` of a document, in the notation of the installed version of zarr."""
    if dtype is None:
        return "string", fill
    of = _zarr_type(dtype)
    with warnings.catch_warnings():
        # This ignores warnings about types without a specification. zarr issues them when it reads such types as well.
        warnings.simplefilter("ignore")
        return _data_type(dtype), of.to_json_scalar(fill, zarr_format=3)


@lru_cache(maxsize=256)
def _zarr_type(dtype: np.dtype[Any]) -> Any:
    from zarr.dtype import parse_dtype

    return parse_dtype(dtype, zarr_format=3)


def _single(value: Any) -> Any:
    """The only element of a list of one; other values are returned unchanged."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


@lru_cache(maxsize=256)
def _data_type(dtype: np.dtype[Any]) -> Any:
    return _zarr_type(dtype).to_json(zarr_format=3)


def has_bytes_for_compounds(dtype: np.dtype[Any] | None) -> bool:
    """Whether members of elements are themselves compounds, which v2 documents describe as bytes."""
    return dtype is not None and dtype.names is not None and any(dtype[name].names is not None for name in dtype.names)


def _descr(dtype: np.dtype[Any]) -> Any:
    """A dtype in Zarr v2 notation."""
    if dtype.names is None:
        return dtype.str
    # A nested compound is described as bytes, as zarr 3 does not read its v2 description.
    members = [(name, dtype[name]) for name in dtype.names]
    return [[name, of.str if of.names is None else f"|V{of.itemsize}"] for name, of in members]


def _fill_v2(plan: Plan) -> Any:
    dtype, fill = plan.dtype, plan.fill
    if dtype is None:
        return fill
    if dtype.kind == "f":
        return _number(float(fill))
    if dtype.kind == "c":
        return [_number(float(fill.real)), _number(float(fill.imag))]
    if dtype.kind in "SV":
        return base64.standard_b64encode(np.asarray(fill, dtype).tobytes()).decode()
    if dtype.kind in "mM":
        return int(np.asarray(fill, dtype).view("i8")[()])
    return str(fill) if dtype.kind == "U" else np.asarray(fill).item()


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
