"""References to the chunks of files, for readers that work without hyperslab: kerchunk, VirtualiZarr and Icechunk.

Chunks that Zarr codecs can decode are referenced where they are. Data that a byte range cannot represent is inlined:
variable-length strings, compact data, elements that have to be converted, and chunks with filters that Zarr does not have. An
array of which more than `inline` bytes would be inlined is refused, by name.
"""

from __future__ import annotations

import gc
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import _hyperslab
from ._errors import LeftOutWarning
from ._objects import Array, Group
from ._storage import local
from ._stores import named
from ._virtual.references import References, collect, in_base64, inline_fill, size_in_bytes, url_of, urls
from ._warnings import warn
from ._zarr.documents import array_v2, array_v3, attributes_of, group_v3, has_bytes_for_compounds
from ._zarr.plans import opened

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["HyperslabParser", "references", "to_icechunk", "to_parquet"]


def references(
    location: Any,
    path: str = "/",
    *,
    url: str | None = None,
    inline: int | str = "1 MiB",
    drop: Iterable[str] = (),
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Return kerchunk references, version 1: open them with ``xarray.open_dataset(references, engine="kerchunk")``.

    location: whatever `hyperslab.open` takes, or an open group or array, including stores opened by `hyperslab.open_joined`
    path: group or array to refer to
    url: address of the file in references; for joined stores, that of the folder with all of them [default: that of the location]
    inline: how much of an array may be in the references themselves, such as "1 MiB"
    drop: names of arrays to leave out
    storage_options, options: as for `hyperslab.open`

    Raises a ValueError that names all arrays of which more would have to be inlined. A `LeftOutWarning` names arrays that these
    references cannot represent, such as sequences of variable length.
    """
    root = _root(location, path, options, storage_options)
    base, listed, found = url_of(root, url), *collect(root, inline=inline, drop=frozenset(drop))
    _warn_of_bytes(root, found)
    _inline_missing(root, found, size_in_bytes(inline))
    refs: dict[str, Any] = {}
    for inner, group in listed.groups.items():
        below = f"{inner}/" if inner else ""
        refs[f"{below}.zgroup"] = json.dumps({"zarr_format": 2})
        refs[f"{below}.zattrs"] = json.dumps(attributes_of(group))
    for inner, of in found.items():
        below = f"{inner}/" if inner else ""
        document, attributes = array_v2(of.plan, of.dims, fills=of.fills)
        refs[f"{below}.zarray"] = json.dumps(document)
        refs[f"{below}.zattrs"] = json.dumps(attributes)
        with _without_cycles():
            _hyperslab.add_references(
                refs, below, of.index, of.offset, of.length, urls(of, base, root), of.which.astype("u4", copy=False)
            )
        for at, content in of.inlined.items():
            refs[below + (".".join(map(str, at)) or "0")] = in_base64(content)
    return {"version": 1, "refs": refs}


def _warn_of_bytes(root: Group | Array, found: Mapping[str, References]) -> None:
    shown = [path or "/" for path, of in found.items() if has_bytes_for_compounds(of.plan.dtype)]
    if shown:
        warn(
            "kerchunk cannot represent nested compounds; references to these arrays of "
            f"{named(root._opened)} contain them as bytes: {', '.join(shown)}",
            LeftOutWarning,
        )


def _inline_missing(root: Group | Array, found: Mapping[str, References], inline: int) -> None:
    """Inline chunks that were never written, as far as `inline` allows: if references stated a fill value for them, xarray would
    treat all elements with this value as missing."""
    shown = []
    for path, of in found.items():
        dtype = of.plan.dtype
        means_missing = of.plan.is_masked or "_FillValue" in of.plan.array.attrs or dtype is None or dtype.kind not in "biuf"
        if not of.fills or means_missing or of.plan.fill != of.plan.fill:
            continue
        if not inline_fill(of, inline):
            shown.append(f"{path or '/'} ({of.plan.fill})")
    if shown:
        warn(
            f"kerchunk references to these arrays of {named(root._opened)} state a fill value for chunks that were never written, and"
            f" xarray treats every element with this value as missing: {', '.join(shown)}; raise `inline` to inline these chunks instead",
            LeftOutWarning,
        )


@contextmanager
def _without_cycles() -> Iterator[None]:
    """Disable garbage collection while many objects without cycles are created, which would otherwise run for every few hundred."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


def to_parquet(
    location: Any,
    folder: str | os.PathLike[str],
    path: str = "/",
    *,
    url: str | None = None,
    inline: int | str = "1 MiB",
    drop: Iterable[str] = (),
    record_size: int = 100_000,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    """Write references as kerchunk stores them in Parquet, in a new folder: the references of an array are read when it is read.

    record_size: number of references in a file

    Other arguments and exceptions as for `references`. Needs pyarrow.
    """
    from ._virtual.parquet import write

    root = _root(location, path, options, storage_options)
    base, listed, found = url_of(root, url), *collect(root, inline=inline, drop=frozenset(drop))
    _warn_of_bytes(root, found)
    _inline_missing(root, found, size_in_bytes(inline))
    metadata: dict[str, Any] = {}
    for inner, group in listed.groups.items():
        below = f"{inner}/" if inner else ""
        metadata[f"{below}.zgroup"] = {"zarr_format": 2}
        metadata[f"{below}.zattrs"] = attributes_of(group)
    for inner, of in found.items():
        below = f"{inner}/" if inner else ""
        metadata[f"{below}.zarray"], metadata[f"{below}.zattrs"] = array_v2(of.plan, of.dims, fills=of.fills)
    write(os.fspath(folder), metadata, found, {inner: urls(of, base, root) for inner, of in found.items()}, record_size)


class HyperslabParser:
    """A parser for VirtualiZarr: ``open_virtual_dataset(url, registry, parser=HyperslabParser())``, for all formats.

    group: group that is the root
    drop_variables: names of arrays to leave out
    inline: how much of an array may be inlined. Versions of VirtualiZarr before 2.8 cannot inline: with them, the content is put
        into an in-memory store of the registry, so that it can be loaded, but it is not part of what is written. A
        `LeftOutWarning` names such arrays, and objects that Zarr cannot represent
    open: options of `hyperslab.open`

    The kerchunk references that VirtualiZarr writes state the fill value of each array, which xarray treats as missing data.
    `references` states it only for arrays with missing chunks.
    """

    def __init__(
        self,
        group: str | None = None,
        drop_variables: Iterable[str] | None = None,
        inline: int | str = "1 MiB",
        **open: Any,
    ) -> None:
        self._group, self._drop = group or "/", frozenset(drop_variables or ())
        self._inline, self._options = inline, open

    def __call__(self, url: str, registry: Any) -> Any:
        """The references of a file as a `ManifestStore`. Local files are read by hyperslab, others through the registry."""
        from ._virtual.manifests import manifest_store

        location: Any = url
        if url.startswith("file://"):
            location = local(url)
        elif "://" in url:
            location = tuple(registry.resolve(url))
        elif not os.path.isabs(url):
            url = os.path.abspath(url)
        if "://" not in url:
            url = f"file://{url}"
        root = _root(location, self._group, self._options, None)
        if isinstance(root, Array):
            raise ValueError(f"{self._group} is an array, expected a group")
        listed, found = collect(root, inline=self._inline, drop=self._drop)
        return manifest_store(root, listed, found, url, registry)


def to_icechunk(
    location: Any,
    store: Any,
    path: str = "/",
    *,
    group: str = "",
    url: str | None = None,
    inline: int | str = "1 MiB",
    drop: Iterable[str] = (),
    modified: datetime | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    """Write references to an Icechunk store, whose repository needs a virtual chunk container for `url`.

    store: a writable `IcechunkStore`; its session commits what is written
    group: path in the store to write to
    modified: when the file was last modified, so that reads of a file modified later are refused [default: as reported by the
        file system, for a local file]

    Other arguments and exceptions as for `references`. Inlined content becomes chunks of the repository.
    """
    from ._virtual.icechunk import write

    root = _root(location, path, options, storage_options)
    base, listed, found = url_of(root, url), *collect(root, inline=inline, drop=frozenset(drop))
    documents: dict[str, Any] = {inner: group_v3(of) for inner, of in listed.groups.items()}
    for inner, of in found.items():
        documents[inner] = array_v3(of.plan, of.dims)
    where = {inner: urls(of, base, root) for inner, of in found.items()}
    write(store, group.strip("/"), documents, found, where, modified or _modified(root))


def _modified(root: Group | Array) -> datetime | None:
    from datetime import datetime, timezone

    content = root._opened.content
    if content is None:
        return None
    changed = max(time for _, time in content)
    # Rounded up to whole seconds, so that it is not before the change itself.
    return datetime.fromtimestamp(math.ceil(changed / 1e9), timezone.utc)


def _root(location: Any, path: str, options: dict[str, Any], storage_options: Mapping[str, Any] | None) -> Group | Array:
    return opened(location, path, options, dict(storage_options) if storage_options else None)
