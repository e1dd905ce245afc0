"""Codecs of zarr-python and numcodecs as filters in the words of the Ndarray Data Language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import blosc

_BLOSC_SHUFFLES: dict[Any, str] = {
    **{number: shuffle for shuffle, number in blosc.SHUFFLES.items()},
    **{-1: "auto", "noshuffle": "none", "shuffle": "byte", "bitshuffle": "bit"},
}


def blosc_shuffle(name: str, asked: Any) -> str:
    """The shuffle of Blosc that a number or a word of an encoding means."""
    if asked not in _BLOSC_SHUFFLES:
        raise ValueError(f"{name}: blosc_shuffle={asked!r}, expected one of {', '.join(map(repr, _BLOSC_SHUFFLES))}")
    return _BLOSC_SHUFFLES[asked]


def listed(codecs: Any) -> list[Any]:
    """Codecs of an encoding, which may have one without a list, or leave them to the library."""
    if codecs is None or codecs == "auto":
        return []
    return list(codecs) if isinstance(codecs, (list, tuple)) else [codecs]


def filters_of_codecs(name: str, codecs: Sequence[Any], is_asked: bool, is_zarr: bool) -> list[Any]:
    """Filters from codecs. Those of a store that was read may be unknown, and are left out."""
    filters = []
    for codec in codecs:
        kind, parameters = parameters_of(codec)
        if kind == "vlen-utf8":
            continue
        made = _filter(name, kind, parameters, is_zarr)
        if made is not None:
            filters.append(made)
        elif is_asked:
            raise ValueError(f"{name}: the codec {codec!r} is not written; expected filters=[…]")
    return filters


def parameters_of(codec: Any) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of a codec of zarr or numcodecs, or of the dictionary of one."""
    describe = getattr(codec, "to_dict", None) or getattr(codec, "get_config", None)
    if describe is None and not isinstance(codec, Mapping):
        raise TypeError(
            f"{codec!r} is not a codec of zarr or numcodecs, nor the dictionary of one; filters of an array are given as words, or as"
            " mappings of a word to its parameters: ['shuffle', {'deflate': 4}]"
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
