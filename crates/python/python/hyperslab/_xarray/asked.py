"""Requested encodings, which are refused if they cannot be followed. Those of a file that was read are followed if possible."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from .codecs import parameters_of

# The keys of an encoding, whichever engine has read the variable.
_FILTERS = {
    *("zlib", "complevel", "shuffle", "fletcher32", "compression", "compression_opts", "zstd", "bzip2", "blosc"),
    *("blosc_shuffle", "szip", "szip_coding", "szip_pixels_per_block", "filters", "compressor", "compressors", "serializer"),
}
_LAYOUT = {"chunksizes", "chunks", "shards", "contiguous"}
_VALUES = {"dtype", "_FillValue", "fill_value", "endian", "least_significant_digit"}
# Keys that engines record about their files, which have no meaning for another file.
_NOTED = {"source", "original_shape", "preferred_chunks", "char_dim_name"}
_KNOWN = _FILTERS | _LAYOUT | _VALUES

# Keys that require chunks.
_CHUNKED = (
    *("chunksizes", "chunks", "zlib", "zstd", "bzip2", "blosc", "szip", "shuffle", "fletcher32"),
    *("compression", "filters", "compressor", "compressors"),
)

# The lowest and the highest level of each filter.
_LEVELS = {"deflate": (0, 9), "gzip": (0, 9), "zstd": (-131072, 22), "bzip2": (1, 9), "blosc": (0, 9)}

_ORDERS = ("big", "little", "native")


def check(name: str, variable: xr.Variable, encoding: Mapping[str, Any], growing: Container[Any], is_zarr: bool) -> None:
    """Refuse a requested encoding that is invalid or contradictory."""
    _check_known(name, encoding)
    if encoding.get("zlib") and encoding.get("compression") not in (None, "zlib", "gzip"):
        raise ValueError(f"{name}: 'zlib' and 'compression' encodings mismatch")
    levels = [encoding[key] for key in ("complevel", "compression_opts") if key in encoding]
    if len(levels) == 2 and levels[0] != levels[1]:
        raise ValueError(f"{name}: 'complevel' and 'compression_opts' encodings mismatch")
    if encoding.get("contiguous") and variable.shape:
        _check_contiguous(name, variable, encoding, growing, is_zarr)
    if encoding.get("shards") is not None and not is_zarr:
        raise ValueError(f"{name}: only Zarr supports shards")
    key = "shards" if is_zarr else "chunksizes"
    sides = encoding.get(key)
    if sides is not None and not isinstance(sides, (int, np.integer)) and len(sides) != variable.ndim:
        raise ValueError(f"{name}: {key}={tuple(sides)} has length {len(sides)}, expected {variable.ndim}, one for each dimension")
    if not _is_plain(encoding.get("serializer")):
        raise ValueError(
            f"{name}: the serializer {encoding['serializer']!r} is not supported for writing, expected bytes in little-endian order"
        )
    if encoding.get("endian", "native") not in _ORDERS:
        raise ValueError(f"{name}: endian={encoding['endian']!r}, expected one of {', '.join(map(repr, _ORDERS))}")


def _check_known(name: str, encoding: Mapping[str, Any]) -> None:
    unknown = [key for key in encoding if key not in _KNOWN | _NOTED]
    hint = ""
    if not {"significant_digits", "quantize_mode"}.isdisjoint(unknown):
        hint = "; round numbers with least_significant_digit, or before writing them"
    if unknown:
        raise ValueError(f"{name}: unexpected encoding parameters {unknown}, expected some of {sorted(_KNOWN)}{hint}")


def _check_contiguous(
    name: str, variable: xr.Variable, encoding: Mapping[str, Any], growing: Container[Any], is_zarr: bool
) -> None:
    if variable.chunks is not None:
        raise ValueError(f"{name}: a Dask array is written in chunks and cannot be contiguous; load it first")
    if is_zarr:
        raise ValueError(f"{name}: contiguous=True, but Zarr always uses chunks; use chunks=-1 for a single chunk")
    if (against := next((key for key in _CHUNKED if encoding.get(key)), None)) is not None:
        raise ValueError(
            f"{name}: contiguous=True conflicts with {against}={encoding[against]!r}, which needs chunks; choose one of them"
        )
    if (along := next((dim for dim in variable.dims if dim in growing), None)) is not None:
        raise ValueError(
            f"{name}: contiguous=True conflicts with the unlimited dimension {along!r}, which needs chunks; choose one of them"
        )


def _is_plain(serializer: Any) -> bool:
    """Whether it is the serializer that is used anyway."""
    if serializer is None or serializer == "auto":
        return True
    kind, parameters = parameters_of(serializer)
    return kind in ("vlen-utf8", "vlen-bytes") or (kind == "bytes" and parameters.get("endian", "little") == "little")


def check_sides(
    name: str, key: str, sides: Sequence[int], variable: xr.Variable, growing: Container[Any], is_zarr: bool
) -> None:
    """Refuse an invalid chunk shape. For Zarr, -1 means the whole dimension."""
    for side, dim, size in zip(sides, variable.dims, variable.shape, strict=True):
        most = None if is_zarr or dim in growing or not size else size
        if (side == -1 and key == "chunks") or (side > 0 and (most is None or side <= most)):
            continue
        expected = "at least 1" if most is None else f"from 1 to {most}"
        raise ValueError(f"{name}: {key}={tuple(sides)} has {side} along {dim!r}, expected {expected}")


def check_filters(name: str, key: str, asked: Any, filters: Sequence[Any]) -> None:
    """Refuse parameters that the filters do not have."""
    for kind, parameters in (pair for one in filters if isinstance(one, Mapping) for pair in one.items()):
        if kind in _LEVELS:
            level = parameters.get("level") if isinstance(parameters, Mapping) else parameters
            low, high = _LEVELS[kind]
            if level is not None and not (isinstance(level, (int, np.integer)) and low <= level <= high):
                raise ValueError(f"{name}: {key}={asked!r}, expected a level of {kind} from {low} to {high}")
        elif kind == "szip" and isinstance(parameters, Mapping):
            _check_szip(name, parameters.get("coding", "nn"), parameters.get("pixels", 8))


def _check_szip(name: str, coding: Any, pixels: Any) -> None:
    if coding not in ("nn", "ec"):
        raise ValueError(f"{name}: szip_coding={coding!r}, expected 'nn' or 'ec'")
    if not isinstance(pixels, (int, np.integer)) or pixels % 2 or not 2 <= pixels <= 32:
        raise ValueError(f"{name}: szip_pixels_per_block={pixels!r}, expected an even number from 2 to 32")
