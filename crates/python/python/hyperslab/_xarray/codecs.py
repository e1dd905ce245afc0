"""Codecs of zarr-python and numcodecs as filters in Ndarray Data Language notation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import blosc

_BLOSC_SHUFFLES: dict[Any, str] = {
    **{number: shuffle for shuffle, number in blosc.SHUFFLES.items()},
    **{-1: "auto", "noshuffle": "none", "shuffle": "byte", "bitshuffle": "bit"},
}


def blosc_shuffle(name: str, asked: Any) -> str:
    """The Blosc shuffle that a number or a word in an encoding means."""
    if asked not in _BLOSC_SHUFFLES:
        raise ValueError(f"{name}: blosc_shuffle={asked!r}, expected one of {', '.join(map(repr, _BLOSC_SHUFFLES))}")
    return _BLOSC_SHUFFLES[asked]


def listed(codecs: Any) -> list[Any]:
    """Codecs of an encoding as a list. The encoding may have a single codec, or leave the choice to the library."""
    if codecs is None or codecs == "auto":
        return []
    return list(codecs) if isinstance(codecs, (list, tuple)) else [codecs]


def filters_of_codecs(name: str, codecs: Sequence[Any], is_asked: bool, is_zarr: bool) -> list[Any]:
    """Filters from codecs. Unknown codecs of a store that was read are left out."""
    filters = []
    for codec in codecs:
        kind, parameters = parameters_of(codec)
        if kind == "vlen-utf8":
            continue
        made = _filter(name, kind, parameters, is_zarr)
        if made is not None:
            filters.append(made)
        elif is_asked:
            raise ValueError(f"{name}: the codec {codec!r} is not supported for writing; use filters=[…]")
    return filters


def parameters_of(codec: Any) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of a zarr or numcodecs codec, or of its dictionary form."""
    describe = getattr(codec, "to_dict", None) or getattr(codec, "get_config", None)
    if describe is None and not isinstance(codec, Mapping):
        raise TypeError(
            f"{codec!r} is not a zarr or numcodecs codec, nor its dictionary form; give filters as names, or as mappings from a name"
            " to parameters: ['shuffle', {'deflate': 4}]"
        )
    document = dict(describe() if describe else codec)
    if "name" in document:
        return document["name"].removeprefix("numcodecs."), dict(document.get("configuration") or {})
    return document.pop("id"), document


def _filter(name: str, kind: str, parameters: dict[str, Any], is_zarr: bool) -> Any:
    match kind:
        case "blosc":
            shuffle = blosc_shuffle(name, parameters.get("shuffle", 1))
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
