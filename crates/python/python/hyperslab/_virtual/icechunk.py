"""References as virtual chunks of Icechunk."""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import Any

import numpy as np
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

from .references import References

# Number of references that are passed to Icechunk at a time.
_BATCH = 100_000


def write(
    store: Any,
    group: str,
    documents: dict[str, Any],
    arrays: dict[str, References],
    urls: dict[str, list[str]],
    modified: datetime | None,
) -> None:
    """Write documents, then references, then inlined content."""
    below = f"{group}/" if group else ""
    values = {below + (f"{path}/" if path else "") + "zarr.json": json.dumps(of).encode() for path, of in documents.items()}
    if group:
        parts = group.split("/")
        for count in range(len(parts)):
            above = "/".join([*parts[:count], "zarr.json"])
            values.setdefault(above, json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {}}).encode())
    # Documents of parents come first.
    sync(_set(store, dict(sorted(values.items(), key=lambda item: item[0].count("/"))), group))
    for path, of in arrays.items():
        _refer(store, f"/{below}{path}".rstrip("/") or "/", of, urls[path], modified)
        inner = f"{below}{path}/" if path else below
        content = {"/".join([f"{inner}c", *map(str, at)]): value for at, value in of.inlined.items()}
        sync(_set(store, content, None))


async def _set(store: Any, values: dict[str, bytes], group: str | None) -> None:
    buffer = default_buffer_prototype().buffer
    for key, value in values.items():
        is_above = group is not None and group and not key.startswith(f"{group}/")
        if is_above and await store.exists(key):
            continue
        await store.set(key, buffer.from_bytes(value))


def _refer(store: Any, path: str, of: References, urls: list[str], modified: datetime | None) -> None:
    count = len(of.index)
    if not count:
        return
    if hasattr(store, "set_virtual_refs_arr") and count == math.prod(of.plan.grid) and len(urls) == 1:
        # Icechunk 2 takes columns in grid order.
        order = np.lexsort(of.index.T[::-1]) if of.index.shape[1] else np.arange(count)
        failed = store.set_virtual_refs_arr(
            path, of.plan.grid, [urls[0]] * count, of.offset[order], of.length[order], checksum=modified
        )
        _raise(path, failed, urls)
        return
    from icechunk import VirtualChunkSpec

    rows = zip(of.index.tolist(), of.which.tolist(), of.offset.tolist(), of.length.tolist(), strict=True)
    chunks = [
        VirtualChunkSpec(index, urls[which], offset, length, last_updated_at_checksum=modified)
        for index, which, offset, length in rows
    ]
    for start in range(0, count, _BATCH):
        _raise(path, store.set_virtual_refs(path, chunks[start : start + _BATCH], validate_containers=True), urls)


def _raise(path: str, failed: Any, urls: list[str]) -> None:
    if failed:
        raise ValueError(f"{path}: the repository has no virtual chunk container for {urls[0]}")
