"""How arrays are stored, in the terms of the xarray engines."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._objects import Array
from . import blosc
from .array import complex_of

_NONE = {
    "zlib": False,
    "szip": False,
    "zstd": False,
    "bzip2": False,
    "blosc": False,
    "shuffle": False,
    "complevel": 0,
    "fletcher32": False,
}


def encoding_of(array: Array, dims: tuple[str, ...], storage: dict[str, Any]) -> dict[str, Any]:
    """Encoding of an HDF5, NetCDF or TileDB array, as the engine netcdf4 returns it."""
    encoding: dict[str, Any] = {}
    if array.dtype.kind not in "mM":
        # CF stores times as counts, for which this would be the wrong dtype.
        encoding["dtype"] = _dtype(array, is_big_endian=storage.get("endian") == "big")
    layout, chunk = storage.get("layout"), storage.get("chunk")
    if layout is not None:
        encoding.update(filters_of(storage["filters"]))
    if chunk is not None:
        encoding["contiguous"] = False
        encoding["chunksizes"] = tuple(chunk)
        encoding["preferred_chunks"] = dict(zip(dims, chunk, strict=False))
    elif layout is not None:
        encoding["contiguous"] = True
        encoding["chunksizes"] = None
    if chunk is None and (joined := array._opened.file.joined()) is not None:
        # One Dask chunk for each file.
        path, position, lengths = joined
        encoding["preferred_chunks"] = {
            dim: tuple(lengths)
            for at, (dim, own) in enumerate(zip(dims, array.dimension_paths, strict=False))
            if own == path and position in (None, at)
        }
    return encoding


def filters_of(filters: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Filters as netCDF4 reports them; filters that it does not know are reported as by h5netcdf."""
    told: dict[str, Any] = dict(_NONE)
    for name, parameters in filters:
        level = parameters.get("level")
        if name == "shuffle" or name == "fletcher32":
            told[name] = True
        elif name == "deflate":
            told["zlib"], told["complevel"] = True, level
        elif name in ("zstd", "bzip2"):
            told[name], told["complevel"] = True, level
        elif name == "szip":
            told["szip"] = {"coding": parameters.get("coding"), "pixels_per_block": parameters.get("pixels")}
        elif name == "blosc":
            told["blosc"] = {
                "compressor": blosc.CODECS.get(codec := parameters.get("codec", "lz4"), f"blosc_{codec}"),
                "shuffle": blosc.SHUFFLES.get(parameters.get("shuffle", "byte"), 1),
            }
            told["complevel"] = 5 if level is None else level
        elif name == "lzf":
            told["compression"], told["compression_opts"] = "lzf", None
    return told


def _dtype(array: Array, *, is_big_endian: bool) -> Any:
    """The dtype of the stored elements; `str` for strings, and including the members for an enumeration."""
    dtype = array.dtype
    if is_big_endian and dtype.kind in "iufc":
        dtype = dtype.newbyteorder(">")
    if dtype.names is not None:
        return complex_of(dtype) or dtype
    metadata = dtype.metadata
    if metadata is None:
        return dtype
    if "vlen" in metadata:
        # Sequences are objects that are not strings.
        return str if metadata["vlen"] is str else np.dtype(object)
    members = metadata.get("enum")
    if members is None:
        return dtype
    plain = np.dtype(dtype.str)
    named: str | None = getattr(array, "datatype_path", None)
    if named is None:
        return plain
    return np.dtype(plain, metadata={"enum": dict(members), "enum_name": named.rpartition("/")[2]})
