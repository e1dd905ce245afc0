"""How variables are stored: chunks and filters from the encodings of netCDF4, h5netcdf, zarr and hyperslab."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from . import blosc
from .asked import check_filters, check_sides
from .codecs import blosc_shuffle, filters_of_codecs, listed
from .goal import Goal

# The compression level of these libraries if none is given.
_LEVEL = 4
_MAX_LEVEL = 9

_BLOSC = {name: codec for codec, name in blosc.CODECS.items()}


def rounded(variable: xr.Variable, digits: int) -> xr.Variable:
    """The values rounded to this many decimal digits, with the attribute that records it."""
    variable = variable.copy(deep=False)
    if variable.dtype.kind == "f":
        scale = 2.0 ** np.ceil(np.log2(10.0**digits))
        variable.data = (np.around(variable.data * scale) / scale).astype(variable.dtype)
    variable.attrs["least_significant_digit"] = digits
    return variable


def chunks_of(
    name: str, variable: xr.Variable, encoding: Mapping[str, Any], growing: Container[Any], is_asked: bool, is_zarr: bool
) -> tuple[int, ...] | None:
    """The shape of a chunk; None for the default of the format."""
    if not variable.shape:
        return None
    blocks = variable.chunks
    keys: tuple[str, ...] = ("chunks", "chunksizes") if is_zarr else ("chunksizes", "chunks")
    if is_zarr and not is_asked and blocks is not None:
        # If Dask has chunks of its own, those that were read from NetCDF do not apply to Zarr.
        keys = ("chunks",)
    key = next((key for key in keys if encoding.get(key) is not None), None)
    asked = () if key is None else encoding[key]
    if isinstance(asked, (int, np.integer)):
        asked = (asked,) * variable.ndim
    if key is not None and len(asked) == variable.ndim:
        sides = _whole(name, asked)
        if is_asked:
            check_sides(name, key, sides, variable, growing, is_zarr)
        sides = tuple(size if side == -1 else side for side, size in zip(sides, variable.shape, strict=True))
        if is_asked or (is_zarr and key == "chunks") or _fits(sides, variable, encoding, growing):
            extents = zip(sides, variable.dims, variable.shape, strict=True)
            return tuple(max(side if is_zarr or dim in growing else min(side, size), 1) for side, dim, size in extents)
    if blocks is None:
        return None
    if is_zarr:
        _check_uniform(name, blocks)
    return tuple(max(*sizes, 1) for sizes in blocks)


def shards_of(
    name: str, variable: xr.Variable, encoding: Mapping[str, Any], chunks: Sequence[int] | None, is_asked: bool
) -> tuple[int, ...] | None:
    """The shape of a shard, which holds whole chunks; None for chunks without shards."""
    asked = encoding.get("shards")
    if asked is None or (chunks is None and not is_asked):
        return None
    if chunks is None:
        raise ValueError(f"{name}: shards of {asked} without chunks; shards consist of chunks")
    shards = _whole(name, (asked,) * variable.ndim if isinstance(asked, (int, np.integer)) else asked)
    if len(shards) != len(chunks):
        return None
    if any(shard % side for shard, side in zip(shards, chunks, strict=True)):
        raise ValueError(f"{name}: shards of {shards} are not multiples of the chunks of {chunks}")
    return shards


def _whole(name: str, asked: Sequence[Any]) -> tuple[int, ...]:
    if not all(isinstance(side, (int, np.integer)) for side in asked):
        raise TypeError(f"{name}: chunks of {tuple(asked)}, expected integers")
    return tuple(int(side) for side in asked)


def _fits(sides: Sequence[int], variable: xr.Variable, encoding: Mapping[str, Any], growing: Container[Any]) -> bool:
    """Whether the chunks of the file that was read still fit the variable."""
    if tuple(encoding.get("original_shape", variable.shape)) != variable.shape:
        return False
    extents = zip(sides, variable.dims, variable.shape, strict=True)
    return all(side <= size or dim in growing for side, dim, size in extents)


def _check_uniform(name: str, blocks: Sequence[Sequence[int]]) -> None:
    for sizes in blocks:
        if len(set(sizes[:-1])) > 1 or sizes[-1] > sizes[0]:
            raise ValueError(
                f"Zarr has uniform chunk sizes. The variable named {name!r} has Dask blocks of sizes {tuple(sizes)}; "
                "use `chunk()`, or chunks in the encoding"
            )


def aligned(name: str, data: Any, unit: Sequence[int], is_zarr: bool) -> Any:
    """A Dask array whose blocks do not cut across chunks. For Zarr, xarray leaves rechunking to the user."""
    from ..dask import cuts

    are_cut = cuts(data, unit)
    if not any(are_cut):
        return data
    if is_zarr:
        raise ValueError(
            f"Chunks of {tuple(unit)} for the variable named {name!r} would overlap multiple Dask chunks of {data.chunks}; "
            "use `chunk()`, or other chunks in the encoding"
        )
    better = [
        max(max(sizes) // side, 1) * side if is_cut else sizes
        for sizes, side, is_cut in zip(data.chunks, unit, are_cut, strict=True)
    ]
    return data.rechunk(tuple(better))


def filters_of(name: str, encoding: Mapping[str, Any], is_asked: bool, goal: Goal) -> list[Any] | None:
    """Filters in Ndarray Data Language notation."""
    is_zarr = goal.is_zarr
    if not is_asked and "source" in encoding:
        encoding = _portable(encoding, goal)
    given = encoding.get("filters")
    if given and all(isinstance(item, (str, Mapping)) for item in given):
        words = [dict(item) if isinstance(item, Mapping) else item for item in given]
        return _checked(name, "filters", given, words, is_asked)
    key = "compressors" if "compressors" in encoding else "compressor"
    compressors = encoding.get(key, "auto")
    codecs = [*listed(given), *listed(compressors)]
    key = key if listed(compressors) else "filters"
    # The codecs of a Zarr store that was read are only for Zarr: readers of other formats may lack them.
    if codecs and (is_zarr or is_asked):
        return _checked(name, key, encoding[key], filters_of_codecs(name, codecs, is_asked, is_zarr), is_asked)
    filters: list[Any] = []
    main = _main(name, encoding, is_asked)
    is_deflate = isinstance(main, dict) and "deflate" in main
    if encoding.get("shuffle", is_deflate):
        filters.append("shuffle")
    if main is not None:
        filters.append(main)
    if encoding.get("fletcher32"):
        filters.append("fletcher32")
    if is_zarr and not filters and compressors == "auto":
        # The default of zarr.
        filters.append({"zstd": {"level": 0}})
    return filters or None


def _portable(encoding: Mapping[str, Any], goal: Goal) -> Mapping[str, Any]:
    """The encoding of a file that was read, with Deflate in place of compression that the target does not support."""
    compression = encoding.get("compression")
    # h5netcdf reports filters that it cannot name as "unknown". The NetCDF library cannot read h5py's LZF.
    if compression == "unknown" or (compression == "lzf" and goal.is_netcdf):
        kept = {key: value for key, value in encoding.items() if key not in ("compression_opts", "complevel")}
        return {**kept, "compression": "gzip", "shuffle": True}
    return encoding


def _checked(name: str, key: str, asked: Any, filters: list[Any], is_asked: bool) -> list[Any] | None:
    if is_asked:
        check_filters(name, key, asked, filters)
    return filters or None


def _main(name: str, encoding: Mapping[str, Any], is_asked: bool) -> Any:
    """The compression filter."""
    compression = encoding.get("compression")
    key = "complevel" if encoding.get("compression_opts") is None else "compression_opts"
    level = encoding.get(key)
    if compression is None:
        # The form in which the engine netcdf4 reports the filters of a file.
        compression = next((key for key in ("zlib", "zstd", "bzip2", "szip") if encoding.get(key)), None)
        if isinstance(told := encoding.get("blosc"), Mapping):
            compression, encoding = told["compressor"], {**encoding, "blosc_shuffle": told["shuffle"]}
    made = _compressing(name, compression, _LEVEL if level is None else level, encoding)
    if is_asked:
        check_filters(name, key, level, [made])
    elif isinstance(made, dict) and not 0 <= made.get("deflate", 0) <= _MAX_LEVEL:
        # A file may state an invalid level.
        made = {"deflate": _LEVEL}
    return made


def _compressing(name: str, compression: Any, level: Any, encoding: Mapping[str, Any]) -> Any:
    match compression:
        case None:
            return None
        case "zlib" | "gzip":
            return {"deflate": level}
        case "zstd" | "bzip2":
            return {compression: level}
        case "lzf":
            return "lzf"
        case "szip":
            told = encoding.get("szip")
            told = told if isinstance(told, Mapping) else {}
            coding = encoding.get("szip_coding", told.get("coding", "nn"))
            pixels = encoding.get("szip_pixels_per_block", told.get("pixels_per_block", 8))
            return {"szip": {"coding": coding, "pixels": pixels}}
        case str() if compression in _BLOSC:
            shuffle = blosc_shuffle(name, encoding.get("blosc_shuffle", 1))
            return {"blosc": {"codec": _BLOSC[compression], "level": level, "shuffle": shuffle}}
    known = ", ".join(["zlib", "gzip", "zstd", "bzip2", "szip", "lzf", *_BLOSC])
    raise ValueError(f"{name}: compression {compression!r}, expected one of {known}; alternatively, use filters=[…]")
