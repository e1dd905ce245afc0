"""How variables are stored: chunks and filters, from the encodings of netCDF4, h5netcdf, zarr and hyperslab."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from . import blosc

# What an encoding may say, whatever engine has read the variable.
_FILTERS = {
    *("zlib", "complevel", "shuffle", "fletcher32", "compression", "compression_opts", "zstd", "bzip2", "blosc"),
    *("blosc_shuffle", "szip", "szip_coding", "szip_pixels_per_block", "filters", "compressor", "compressors", "serializer"),
}
_LAYOUT = {"chunksizes", "chunks", "shards", "contiguous"}
_VALUES = {"dtype", "_FillValue", "fill_value", "endian", "least_significant_digit"}
# What engines note of their files, which has no meaning for another.
_NOTED = {"source", "original_shape", "preferred_chunks", "char_dim_name"}
_KNOWN = _FILTERS | _LAYOUT | _VALUES

# Without a level, these libraries compress so.
_LEVEL = 4

_BLOSC = {name: codec for codec, name in blosc.CODECS.items()}
_BLOSC_SHUFFLES: dict[Any, str] = {
    **{number: shuffle for shuffle, number in blosc.SHUFFLES.items()},
    **{-1: "auto", "noshuffle": "none", "shuffle": "byte", "bitshuffle": "bit"},
}


def check(name: str, variable: xr.Variable, encoding: Mapping[str, Any], is_zarr: bool) -> None:
    """Refuse what an encoding that was asked for cannot mean."""
    unknown = [key for key in encoding if key not in _KNOWN | _NOTED]
    if unknown:
        raise ValueError(f"{name}: unexpected encoding parameters {unknown}, expected some of {sorted(_KNOWN)}")
    if encoding.get("zlib") and encoding.get("compression") not in (None, "zlib", "gzip"):
        raise ValueError(f"{name}: 'zlib' and 'compression' encodings mismatch")
    levels = [encoding[key] for key in ("complevel", "compression_opts") if key in encoding]
    if len(levels) == 2 and levels[0] != levels[1]:
        raise ValueError(f"{name}: 'complevel' and 'compression_opts' encodings mismatch")
    if encoding.get("contiguous") and variable.chunks is not None and variable.shape:
        raise ValueError(f"{name}: an array of Dask is written in chunks, and cannot be contiguous; load it before")
    if encoding.get("shards") is not None and not is_zarr:
        raise ValueError(f"{name}: only Zarr has shards")
    key = "shards" if is_zarr else "chunksizes"
    sides = encoding.get(key)
    if sides is not None and not isinstance(sides, (int, np.integer)) and len(sides) != variable.ndim:
        raise ValueError(f"{name}: {key} of {tuple(sides)} for {variable.ndim} dimensions")
    if not _is_plain(encoding.get("serializer")):
        raise ValueError(f"{name}: the serializer {encoding['serializer']!r} is not written, expected bytes in little-endian order")
    check_order(name, encoding)


def _is_plain(serializer: Any) -> bool:
    """Whether it is the serializer that is written anyway."""
    if serializer is None or serializer == "auto":
        return True
    kind, parameters = _parameters(serializer)
    return kind in ("vlen-utf8", "vlen-bytes") or (kind == "bytes" and parameters.get("endian", "little") == "little")


def check_order(name: str, encoding: Mapping[str, Any]) -> None:
    """Refuse a byte order that is not that of the machine."""
    if encoding.get("endian", "native") != "native":
        raise NotImplementedError(f"{name}: a byte order other than the native one is not written")


def rounded(variable: xr.Variable, digits: int) -> xr.Variable:
    """The values with so many decimal digits, and the attribute that tells it."""
    variable = variable.copy(deep=False)
    if variable.dtype.kind == "f":
        scale = 2.0 ** np.ceil(np.log2(10.0**digits))
        variable.data = (np.around(variable.data * scale) / scale).astype(variable.dtype)
    variable.attrs["least_significant_digit"] = digits
    return variable


def chunks_of(
    name: str, variable: xr.Variable, encoding: Mapping[str, Any], growing: Container[Any], is_asked: bool, is_zarr: bool
) -> tuple[int, ...] | None:
    """The shape of a chunk; None for that of the format."""
    if not variable.shape:
        return None
    blocks = variable.chunks
    keys = ("chunks", "chunksizes") if is_zarr else ("chunksizes", "chunks")
    asked = next((encoding[key] for key in keys if encoding.get(key) is not None), None)
    if isinstance(asked, (int, np.integer)):
        asked = (asked,) * variable.ndim
    if asked is not None and len(asked) == variable.ndim:
        sides = tuple(size if side == -1 else side for side, size in zip(_whole(name, asked), variable.shape, strict=True))
        if is_asked or is_zarr or _fits(sides, variable, encoding, growing):
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
    """The shape of a shard, which holds whole chunks; None for chunks of their own."""
    asked = encoding.get("shards")
    if asked is None or (chunks is None and not is_asked):
        return None
    if chunks is None:
        raise ValueError(f"{name}: shards of {asked} without chunks, which they hold")
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
    """Whether chunks of the file that was read fit what became of the variable."""
    if tuple(encoding.get("original_shape", variable.shape)) != variable.shape:
        return False
    extents = zip(sides, variable.dims, variable.shape, strict=True)
    return all(side <= size or dim in growing for side, dim, size in extents)


def _check_uniform(name: str, blocks: Sequence[Sequence[int]]) -> None:
    for sizes in blocks:
        if len(set(sizes[:-1])) > 1 or sizes[-1] > sizes[0]:
            raise ValueError(
                f"Zarr has uniform chunk sizes. The variable named {name!r} has blocks of Dask of {tuple(sizes)}; "
                "use `chunk()`, or chunks in the encoding"
            )


def aligned(name: str, data: Any, unit: Sequence[int], is_zarr: bool) -> Any:
    """An array of Dask whose blocks cut no chunks. For Zarr, xarray leaves rechunking to the user."""
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


def filters_of(name: str, encoding: Mapping[str, Any], is_asked: bool, is_zarr: bool) -> list[Any] | None:
    """Filters in the words of the Ndarray Data Language."""
    given = encoding.get("filters")
    if given and all(isinstance(item, (str, Mapping)) for item in given):
        return [dict(item) if isinstance(item, Mapping) else item for item in given]
    compressors = encoding.get("compressors", encoding.get("compressor", "auto"))
    codecs = [*_listed(given), *_listed(compressors)]
    # Those of a Zarr store that was read are for Zarr: other readers need not have them.
    if codecs and (is_zarr or is_asked):
        return _of_codecs(name, codecs, is_asked, is_zarr)
    filters: list[Any] = []
    main = _main(name, encoding)
    is_deflate = isinstance(main, dict) and "deflate" in main
    if encoding.get("shuffle", is_deflate):
        filters.append("shuffle")
    if main is not None:
        filters.append(main)
    if encoding.get("fletcher32"):
        filters.append("fletcher32")
    if is_zarr and not filters and compressors == "auto":
        # As zarr does by itself.
        filters.append({"zstd": {"level": 0}})
    return filters or None


def _main(name: str, encoding: Mapping[str, Any]) -> Any:
    """The filter that compresses."""
    compression = encoding.get("compression")
    level = encoding.get("compression_opts")
    level = encoding.get("complevel") if level is None else level
    if compression is None:
        # As the engine netcdf4 tells of a file.
        compression = next((key for key in ("zlib", "zstd", "bzip2", "szip") if encoding.get(key)), None)
        if isinstance(told := encoding.get("blosc"), Mapping):
            compression, encoding = told["compressor"], {**encoding, "blosc_shuffle": told["shuffle"]}
    level = _LEVEL if level is None else level
    match compression:
        case None:
            return None
        case "zlib" | "gzip":
            return {"deflate": int(level)}
        case "zstd" | "bzip2":
            return {compression: int(level)}
        case "lzf":
            return "lzf"
        case "szip":
            told = encoding.get("szip")
            told = told if isinstance(told, Mapping) else {}
            coding = encoding.get("szip_coding", told.get("coding", "nn"))
            pixels = encoding.get("szip_pixels_per_block", told.get("pixels_per_block", 8))
            return {"szip": {"coding": coding, "pixels": int(pixels)}}
        case str() if compression in _BLOSC:
            shuffle = _blosc_shuffle(name, encoding.get("blosc_shuffle", 1))
            return {"blosc": {"codec": _BLOSC[compression], "level": int(level), "shuffle": shuffle}}
    known = ", ".join(["zlib", "gzip", "zstd", "bzip2", "szip", "lzf", *_BLOSC])
    raise ValueError(f"{name}: compression {compression!r}, expected one of {known}; or filters=[…]")


def _blosc_shuffle(name: str, asked: Any) -> str:
    if asked not in _BLOSC_SHUFFLES:
        raise ValueError(f"{name}: blosc_shuffle={asked!r}, expected one of {', '.join(map(repr, _BLOSC_SHUFFLES))}")
    return _BLOSC_SHUFFLES[asked]


def _listed(codecs: Any) -> list[Any]:
    if codecs is None or codecs == "auto":
        return []
    return list(codecs) if isinstance(codecs, (list, tuple)) else [codecs]


def _of_codecs(name: str, codecs: Sequence[Any], is_asked: bool, is_zarr: bool) -> list[Any] | None:
    """Filters from codecs of zarr-python or numcodecs. Those of a store that was read may be unknown, and are left out."""
    filters = []
    for codec in codecs:
        kind, parameters = _parameters(codec)
        if kind == "vlen-utf8":
            continue
        made = _filter(name, kind, parameters, is_zarr)
        if made is not None:
            filters.append(made)
        elif is_asked:
            raise ValueError(f"{name}: the codec {codec!r} is not written; expected filters=[…]")
    return filters or None


def _parameters(codec: Any) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of a codec of zarr or numcodecs, or of the dictionary of one."""
    describe = getattr(codec, "to_dict", None) or getattr(codec, "get_config", None)
    if describe is None and not isinstance(codec, Mapping):
        raise TypeError(f"{codec!r} is not a codec of zarr or numcodecs, nor the dictionary of one")
    document = dict(describe() if describe else codec)
    if "name" in document:
        return document["name"].removeprefix("numcodecs."), dict(document.get("configuration") or {})
    return document.pop("id"), document


def _filter(name: str, kind: str, parameters: dict[str, Any], is_zarr: bool) -> Any:
    match kind:
        case "blosc":
            shuffle = _blosc_shuffle(name, parameters.get("shuffle", 1))
            known = {"codec": parameters["cname"], "level": parameters["clevel"], "shuffle": shuffle}
            return {"blosc": {**known, "block": parameters.get("blocksize", 0)}}
        case "gzip" if is_zarr:
            return {"gzip": parameters["level"]}
        case "gzip" | "zlib":
            return {"deflate": parameters["level"]}
        case "zstd":
            # Level 0 stands for the default of the library.
            checksum = {"checksum": True} if parameters.get("checksum") else {}
            return {"zstd": {"level": parameters["level"], **checksum}}
        case "bz2":
            return {"bzip2": parameters["level"]}
        case "shuffle" | "fletcher32" | "crc32c":
            return kind
    return None
