"""Attributes and encodings of Zarr stores, as xarray's zarr engine returns them.

JSON expresses both less and more than the model: numbers have no type, and attributes may be mappings or null. If the documents of
a store can be read, xarray gets their content.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import struct
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import numpy as np

from .._objects import Array, Group
from .._storage import JoinedStores, local
from .._stores import Opened

_DIMENSIONS = "_ARRAY_DIMENSIONS"

Read = tuple[dict[str, Any], dict[str, Any]]
"""The document of a node, and its attributes."""


def group_attributes(group: Group, attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes of a group, given those from the model."""
    read = _documents(group, group.name)
    if read is not None:
        attributes = dict(read[1])
    return {name: value for name, value in attributes.items() if not name.lower().startswith("_nc")}


def variable_parts(
    group: Group, array: Array, dims: tuple[str, ...], attributes: dict[str, Any], fill_is_missing: bool | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Attributes and encoding of an array, given the attributes from the model."""
    is_v2 = group.format == "Zarr v2"
    read = _documents(group, array.path)
    document: dict[str, Any] | None = None
    if read is not None:
        document, attributes = read[0], dict(read[1])
    if is_v2:
        attributes.pop(_DIMENSIONS, None)
        attributes = {name: value for name, value in attributes.items() if not name.lower().startswith("_nc")}
    known = None if document is None else _of_zarr_python(document)
    # The chunks of the model are clipped to the array.
    chunks = tuple(array.chunks or array.shape) if known is None else known.chunks
    encoding: dict[str, Any] = {"chunks": chunks, "preferred_chunks": dict(zip(dims, chunks, strict=False))}
    if known is not None:
        encoding.update(compressors=known.compressors, filters=known.filters, shards=known.shards)
        if not is_v2:
            encoding["serializer"] = known.serializer
        fill = known.metadata.fill_value
    else:
        encoding["shards"] = array.shards
        fill = array.storage_dict().get("fill")
        fill = None if isinstance(fill, str) and fill == "undefined" else fill
    if is_v2 if fill_is_missing is None else fill_is_missing:
        if fill is not None:
            attributes["_FillValue"] = fill
    else:
        if not is_v2:
            encoding["fill_value"] = fill
        if "_FillValue" in attributes:
            attributes["_FillValue"] = fill_of(attributes["_FillValue"], array.dtype)
    return attributes, encoding


def fill_of(value: Any, dtype: np.dtype[Any]) -> Any:
    """The fill value that an attribute encodes. Floats and bytes are written in base 64."""
    try:
        if dtype.kind == "f" and isinstance(value, str):
            return struct.unpack("<d", base64.standard_b64decode(value))[0]
        if dtype.kind == "c" and isinstance(value, (list, np.ndarray)):
            real, imaginary = (struct.unpack("<d", base64.standard_b64decode(part))[0] for part in value)
            return complex(real, imaginary)
        if dtype.kind == "S" and isinstance(value, str):
            return base64.standard_b64decode(value)
    except (binascii.Error, struct.error, ValueError):
        # Other writers use JSON numbers, and "NaN".
        return dtype.type(value)
    if dtype.kind in "iu" and isinstance(value, (int, float, np.number)):
        return int(value)
    return value


def _documents(group: Group, path: str) -> Read | None:
    """The document of an array or group, and its attributes. None if it does not exist."""
    location = group.location
    if group._opened.keyed is not None:
        return _of_keyed(group._opened).at(path)
    if isinstance(location, JoinedStores):
        # The first store determines how arrays are stored.
        location = location.stores[0]
    if not isinstance(location, (str, os.PathLike)):
        return None
    root: Any = Path(local(location))
    if root.is_file():
        root = zipfile.Path(root) if zipfile.is_zipfile(root) else None
    if root is None:
        return None
    folder = root / path.strip("/") if path.strip("/") else root
    if (document := _read(folder / "zarr.json")) is not None:
        return document, document.get("attributes") or {}
    document = _read(folder / ".zarray") or _read(folder / ".zgroup")
    return None if document is None else (document, _read(folder / ".zattrs") or {})


def read_ahead(group: Group, paths: Iterable[str]) -> None:
    """Read the documents of arrays together if requests are slow."""
    if group._opened.keyed is not None:
        _of_keyed(group._opened).fetch(paths)


class _Documents:
    """The documents in a key-value storage. Consolidated ones are read at once."""

    _NAMES = ("zarr.json", ".zarray", ".zgroup", ".zattrs")

    def __init__(self, storage: Any) -> None:
        self._storage = storage
        # Documents by their keys; None for missing ones.
        self._known: dict[str, dict[str, Any] | None] = {}
        root, metadata = self._request(["zarr.json", ".zmetadata"])
        if root is not None:
            found = (root.get("consolidated_metadata") or {}).get("metadata") or {}
            self._learn({"zarr.json": root} | {f"{path}/zarr.json": document for path, document in found.items()})
        elif metadata is not None:
            self._learn(metadata.get("metadata") or {})

    def _learn(self, documents: dict[str, Any]) -> None:
        """Store consolidated documents. Their nodes have no other documents."""
        for key in documents:
            folder = key.rpartition("/")[0]
            self._known.update(dict.fromkeys((_key(folder, name) for name in self._NAMES)))
        self._known.update(documents)

    def _request(self, keys: list[str]) -> list[dict[str, Any] | None]:
        read = []
        for found in self._storage.values_of(keys):
            if isinstance(found, Exception):
                raise found
            read.append(None if found is None else _parsed(found))
        return read

    def fetch(self, paths: Iterable[str]) -> None:
        """Read the documents that are not known yet, in one batch of requests."""
        keys = [_key(path.strip("/"), name) for path in paths for name in self._NAMES]
        unknown = [key for key in keys if key not in self._known]
        if unknown:
            self._known.update(zip(unknown, self._request(unknown), strict=True))

    def at(self, path: str) -> Read | None:
        self.fetch([path])
        document, array, group, attributes = (self._known[_key(path.strip("/"), name)] for name in self._NAMES)
        if document is not None:
            return document, document.get("attributes") or {}
        document = array or group
        return None if document is None else (document, attributes or {})


def _of_keyed(opened: Opened) -> _Documents:
    if opened.documents is None:
        opened.documents = _Documents(opened.keyed)
    found: _Documents = opened.documents
    return found


def _key(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _read(file: Any) -> dict[str, Any] | None:
    try:
        return _parsed(file.read_bytes())
    except (OSError, KeyError):
        return None


def _parsed(content: bytes) -> dict[str, Any] | None:
    try:
        read = json.loads(content)
    except ValueError:
        return None
    return read if isinstance(read, dict) else None


def _of_zarr_python(document: dict[str, Any]) -> Any:
    """The array as interpreted by zarr-python. None if zarr-python is not installed, or cannot interpret it."""
    try:
        from zarr import AsyncArray
        from zarr.storage import MemoryStore, StorePath
    except ImportError:
        return None
    try:
        made: Any = AsyncArray(metadata=cast("Any", document), store_path=StorePath(MemoryStore()))
        _ = made.compressors, made.filters, made.shards
        return made
    except Exception:
        # zarr-python raises many kinds of errors for metadata that it does not know.
        return None
