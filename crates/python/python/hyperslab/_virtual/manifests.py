"""References as the manifests of VirtualiZarr."""

from __future__ import annotations

import inspect
import math
import uuid
from importlib.metadata import version
from typing import Any

import numpy as np
from virtualizarr.manifests import ChunkManifest, ManifestArray, ManifestGroup, ManifestStore
from zarr.core.metadata.v3 import ArrayV3Metadata

from .._errors import LeftOutWarning
from .._objects import Group
from .._stores import named
from .._warnings import warn
from .._zarr.documents import array_v3, attributes_of
from .._zarr.plans import Tree
from .references import References, urls

# Since VirtualiZarr 2.8.
_INLINES = "inlined" in inspect.signature(ChunkManifest.from_arrays).parameters


def manifest_store(root: Group, listed: Tree, found: dict[str, References], url: str, registry: Any) -> Any:
    """All groups and arrays with their manifests."""
    memory = _Memory(registry)
    if not _INLINES:
        _warn_of_memory(root, [path for path, of in found.items() if of.inlined])
    arrays = {path: _array(of, urls(of, url, root), memory) for path, of in found.items()}
    groups: dict[str, ManifestGroup] = {}
    # Groups are listed before their subgroups, but have to be made after them.
    for path in reversed(list(listed.groups)):
        groups[path] = ManifestGroup(
            arrays={inner.rpartition("/")[2]: of for inner, of in arrays.items() if inner.rpartition("/")[0] == path},
            groups={
                inner.rpartition("/")[2]: of for inner, of in groups.items() if inner and inner.rpartition("/")[0] == path
            },
            attributes=attributes_of(listed.groups[path]),
        )
    return ManifestStore(group=groups[""], registry=registry)


def _warn_of_memory(root: Group, inlined: list[str]) -> None:
    if inlined:
        warn(
            f"VirtualiZarr {version('virtualizarr')} cannot inline chunks, so the references it writes cannot be read for these "
            f"arrays of {named(root._opened)}: {', '.join(inlined)}; load them (loadable_variables), leave them out (drop_variables), "
            "or install VirtualiZarr 2.8",
            LeftOutWarning,
        )


def _array(of: References, where: list[str], memory: _Memory) -> ManifestArray:
    document = array_v3(of.plan, of.dims, separator=".")
    if _is_complete_with_zeros(of):
        # The kerchunk references that VirtualiZarr writes must state a fill value, which xarray treats as missing data.
        document["fill_value"] = "NaN"
    metadata = ArrayV3Metadata.from_dict(document)
    grid = of.plan.grid
    count = math.prod(grid)
    offsets, lengths, number = np.zeros(count, "u8"), np.zeros(count, "u8"), of.number
    text: Any = np.dtypes.StringDType()
    paths: Any
    if len(where) == 1 and len(number) == count:
        # Broadcasting one address costs no memory.
        paths = np.broadcast_to(np.array(where[0], dtype=text), count)
    else:
        paths = np.full(count, "", dtype=text)
        paths[number] = np.array(where, dtype=text)[of.which.astype("i8")]
    offsets[number], lengths[number] = of.offset, of.length
    paths, offsets, lengths = paths.reshape(grid), offsets.reshape(grid), lengths.reshape(grid)
    options: dict[str, Any] = {"validate_paths": False}
    if of.inlined and _INLINES:
        options["inlined"] = of.inlined
    elif of.inlined:
        for index, content in of.inlined.items():
            paths[index], lengths[index] = memory.add(content), len(content)
    manifest = ChunkManifest.from_arrays(paths=paths, offsets=offsets, lengths=lengths, **options)
    return ManifestArray(metadata=metadata, chunkmanifest=manifest)


def _is_complete_with_zeros(of: References) -> bool:
    """Whether zero is the fill value of an array only by default, and no chunk is missing."""
    is_stated = "_FillValue" in of.plan.array.attrs
    return not (of.fills or is_stated) and of.plan.dtype is not None and of.plan.dtype.kind == "f" and of.plan.fill == 0


class _Memory:
    """An in-memory store in a registry, for content that is in no file."""

    def __init__(self, registry: Any) -> None:
        self._registry, self._url, self._count = registry, "", 0
        self._store: Any = None

    def add(self, content: bytes) -> str:
        """Store content, and return its address."""
        import obstore
        from obstore.store import MemoryStore

        if self._store is None:
            self._store, self._url = MemoryStore(), f"memory://{uuid.uuid4().hex}"
            self._registry.register(self._url, self._store)
        name = f"inlined/{self._count}"
        self._count += 1
        obstore.put(self._store, name, content)
        return f"{self._url}/{name}"
