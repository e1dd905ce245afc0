"""Our writer in place of xarray's writers, for options that ours has."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import xarray as xr
from hyperslab.xarray import write

# Options of both of xarray's writers that change nothing if they have these values.
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "auto_complex": (None, True),
    "consolidated": (None, True),
    "invalid_netcdf": (None, False),
    "write_inherited_coords": (False,),
    "align_chunks": (False,),
    "safe_chunks": (True,),
}
_OWN = {"encoding", "unlimited_dims", "compute"}
_NETCDF = {None: "netcdf4", "NETCDF4": "netcdf4", "NETCDF4_CLASSIC": "netcdf4-classic"}


def as_netcdf(original: Callable[..., Any], counts: Counter[str]) -> Callable[..., Any]:
    """`to_netcdf` by our writer, unless something is requested that ours does not have."""

    def to_netcdf(data: Any, path: Any = None, mode: str = "w", format: Any = None, **options: Any) -> Any:
        named = _NETCDF.get(format)
        if not isinstance(path, (str, os.PathLike)):
            why = "in memory"
        elif mode != "w" and os.path.exists(path):
            why = "added"
        elif named is None or options.get("engine") not in (None, "netcdf4", "h5netcdf") or not _are_ours(options):
            why = "options"
        else:
            counts["ours"] += 1
            return _written(data, path, options, format=named, overwrite=True)
        counts[why] += 1
        return original(data, path, mode=mode, format=format, **options)

    return to_netcdf


def as_zarr(original: Callable[..., Any], counts: Counter[str]) -> Callable[..., Any]:
    """`to_zarr` by our writer, unless something is requested that ours does not have."""

    def to_zarr(data: Any, store: Any = None, chunk_store: Any = None, mode: Any = None, **options: Any) -> Any:
        import zarr

        exists = isinstance(store, (str, os.PathLike)) and os.path.exists(store)
        version = options.get("zarr_format") or zarr.config.get("default_zarr_format")
        if not isinstance(store, (str, os.PathLike)):
            why = "in memory"
        elif mode not in (None, "w", "w-", "a") or options.keys() & {"region", "append_dim"}:
            why = "added"
        elif exists and (mode == "a" or options.get("group")):
            why = "added"
        elif not options.get("compute", True):
            # The documents of such a store exist before its chunks, which may be written as regions.
            why = "laid out"
        elif chunk_store is not None or not _are_ours(options):
            why = "options"
        else:
            counts["ours"] += 1
            return _written(data, store, options, format=f"zarr{version}", overwrite=mode == "w")
        counts[why] += 1
        return original(data, store, chunk_store=chunk_store, mode=mode, **options)

    return to_zarr


def _are_ours(options: dict[str, Any]) -> bool:
    others = {key: value for key, value in options.items() if key not in _OWN | {"engine", "group", "zarr_format"}}
    return all(value in _NEUTRAL.get(key, (None,)) for key, value in others.items())


def _written(data: Any, path: Any, options: dict[str, Any], **ours: Any) -> Any:
    ours.update((key, value) for key, value in options.items() if key in _OWN)
    group = "/" + (options.get("group") or "").strip("/")
    if group != "/":
        dataset = data if isinstance(data, xr.Dataset) else data.to_dataset()
        data = xr.DataTree.from_dict({group: dataset})
        for key in ("encoding", "unlimited_dims"):
            if ours.get(key) is not None:
                ours[key] = {group: ours[key]}
    done = write(data, path, **ours)
    return done if not ours.get("compute", True) else None
