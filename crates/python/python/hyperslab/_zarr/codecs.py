"""Filters of stored chunks as numcodecs codecs, which Zarr uses.

A codec is its numcodecs configuration: ``{"id": "zlib", "level": 4}``. Codecs are in the order in which writing applies them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from .._objects import Array

Codec = dict[str, Any]

# The Blosc codecs that numcodecs is built with.
_BLOSC_CODECS = frozenset({"blosclz", "lz4", "lz4hc", "zlib", "zstd"})
_BLOSC_SHUFFLE = {"none": 0, "byte": 1, "bit": 2}


def _zlib(parameters: dict[str, Any], size: int) -> Codec | None:
    return {"id": "zlib", "level": parameters.get("level", 6)}


def _gzip(parameters: dict[str, Any], size: int) -> Codec | None:
    return {"id": "gzip", "level": parameters.get("level", 6)}


def _zstd(parameters: dict[str, Any], size: int) -> Codec | None:
    return {"id": "zstd", "level": parameters.get("level", 3), "checksum": parameters.get("checksum", False)}


def _bz2(parameters: dict[str, Any], size: int) -> Codec | None:
    return {"id": "bz2", "level": parameters.get("level", 9)}


def _shuffle(parameters: dict[str, Any], size: int) -> Codec | None:
    return {"id": "shuffle", "elementsize": parameters.get("bytes", size)}


def _fletcher32(parameters: dict[str, Any], size: int) -> Codec | None:
    return {"id": "fletcher32"}


def _crc32c(parameters: dict[str, Any], size: int) -> Codec | None:
    # The checksum may also come first, for which Zarr has no codec.
    return {"id": "crc32c"} if not parameters else None


def _blosc(parameters: dict[str, Any], size: int) -> Codec | None:
    shuffle = _BLOSC_SHUFFLE.get(parameters.get("shuffle", "byte"))
    name = parameters.get("codec", "lz4")
    if shuffle is None or name not in _BLOSC_CODECS:
        return None
    return {
        "id": "blosc",
        "cname": name,
        "clevel": parameters.get("level", 5),
        "shuffle": shuffle,
        "blocksize": parameters.get("block", 0),
    }


# The names are those of the Ndarray Data Language. Filters that HDF5 frames differently from numcodecs, such as lz4, and
# filters that only other packages provide are not listed.
_OF_FILTERS: dict[str, Callable[[dict[str, Any], int], Codec | None]] = {
    "deflate": _zlib,
    "gzip": _gzip,
    "zstd": _zstd,
    "bzip2": _bz2,
    "shuffle": _shuffle,
    "fletcher32": _fletcher32,
    "crc32c": _crc32c,
    "blosc": _blosc,
}

# Filters that only change elements before they are written.
_ROUNDING = frozenset({"bitgroom", "granularbitround"})


def codecs_of(array: Array) -> tuple[Codec, ...] | None:
    """The codecs that decode the stored chunks of an array to the bytes of elements. None if Zarr does not have them."""
    size = element_size(array)
    codecs = []
    for name, parameters in array.filters:
        stated = {key: value for key, value in parameters.items() if key != "optional"}
        if name in _ROUNDING:
            continue
        codec = _OF_FILTERS[name](stated, size) if name in _OF_FILTERS else None
        if codec is None:
            return None
        if codec["id"] == "shuffle" and codec["elementsize"] < 2:
            continue
        codecs.append(codec)
    return tuple(codecs)


def element_size(array: Array) -> int:
    """Size of an element in bytes, including its inner dimensions."""
    inner = array.shape[len(array.dimension_paths) :]
    return int(array.dtype.itemsize * np.prod(inner, dtype=object))


def stored_dtype(array: Array) -> np.dtype[Any] | None:
    """The dtype of the decoded bytes of stored chunks. None if no dtype describes them and elements have to be converted."""
    known = getattr(array, "stored_dtype", None)
    if known is not None:
        return np.dtype(known) if isinstance(known, (np.dtype, str)) else None
    dtype, storage = array.dtype, array.storage
    if dtype == "S1" and array._opened.file.format.startswith("NetCDF"):
        # Characters, not strings: they have no terminator.
        return dtype
    if dtype.kind not in "iufcb" or array.datatype.startswith(("nullable", "bitfield")):
        return None
    if array._opened.file.format.startswith("NetCDF-3"):
        return dtype.newbyteorder(">")
    if "layout" not in storage or storage.get("native", {}).get("hdf5", {}).keys() & {"bit_padding", "unfiltered_edges"}:
        return None
    # Only numbers of several bytes have a byte order.
    orders: dict[str, Literal["<", ">"]] = {"little": "<", "big": ">"}
    order = orders.get(storage.get("endian", "little" if dtype.itemsize == 1 else ""))
    return dtype.newbyteorder(order) if order else None


def in_v3(codecs: Sequence[Codec], dtype: np.dtype[Any]) -> list[dict[str, Any]]:
    """The codecs as in a Zarr v3 document, after the codec that converts elements to bytes."""
    written: list[dict[str, Any]] = [bytes_codec(dtype)]
    for codec in codecs:
        configuration = {key: value for key, value in codec.items() if key != "id"}
        name = codec["id"]
        if name == "blosc":
            shuffle = ("noshuffle", "shuffle", "bitshuffle")[configuration["shuffle"]]
            configuration.update(shuffle=shuffle, typesize=max(dtype.itemsize, 1))
        elif name == "crc32c":
            written.append({"name": name})
            continue
        elif name not in ("gzip", "zstd"):
            name = f"numcodecs.{name}"
        written.append({"name": name, "configuration": configuration})
    return written


def bytes_codec(dtype: np.dtype[Any]) -> dict[str, Any]:
    """The Zarr v3 codec that converts elements to bytes."""
    if dtype.kind in "iufcMmU" and (dtype.itemsize > 1 or dtype.kind == "U"):
        return {"name": "bytes", "configuration": {"endian": "big" if dtype.byteorder == ">" else "little"}}
    return {"name": "bytes"}


# Codecs that are compressors in Zarr v2 documents; all others are filters.
_COMPRESSORS = frozenset({"zlib", "gzip", "zstd", "bz2", "blosc"})


def in_v2(codecs: Sequence[Codec]) -> dict[str, Any]:
    """The members `filters` and `compressor` of a Zarr v2 document."""
    filters, compressor = list(codecs), None
    if filters and filters[-1]["id"] in _COMPRESSORS:
        compressor = filters.pop()
    return {"filters": filters or None, "compressor": compressor}


def encoded(codecs: Sequence[Codec], chunk: bytes) -> bytes:
    """The bytes of a chunk, encoded with codecs."""
    from numcodecs import get_codec
    from numcodecs.compat import ensure_bytes

    for codec in codecs:
        chunk = ensure_bytes(get_codec(dict(codec)).encode(chunk))
    return chunk


def decoded(codecs: Sequence[Codec], stored: bytes) -> bytes:
    """The bytes of elements of a stored chunk."""
    from numcodecs import get_codec
    from numcodecs.compat import ensure_bytes

    for codec in reversed(codecs):
        stored = ensure_bytes(get_codec(dict(codec)).decode(stored))
    return stored
