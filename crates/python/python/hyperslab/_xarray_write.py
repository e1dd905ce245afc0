"""Datasets and trees of xarray as stores of any format."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from xarray.conventions import cf_encoder

from ._writing import Schema, Writer, create_store, write_store

# What is said of how variables are stored, whatever engine has read them.
_FILTERS = ("zlib", "shuffle", "complevel", "fletcher32", "compression", "compression_opts", "zstd", "bzip2", "blosc", "szip", "filters")
_LAYOUT = ("chunksizes", "chunks", "shards", "contiguous", "preferred_chunks")
# What engines note of their files, which has no meaning in another.
_NOTED = (
    "source", "original_shape", "coordinates", "dtype", "_FillValue", "endian", "least_significant_digit", "significant_digits",
    "quantize_mode", "blosc_shuffle", "char_dim_name", "serializer", "compressors", "compressor", "compression_opts",
)


def write(
    data: xr.Dataset | xr.DataArray | xr.DataTree,
    target: str | os.PathLike[str],
    *,
    encoding: Mapping[str, Any] | None = None,
    unlimited_dims: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    format: str | None = None,
    allow_loss: Sequence[str] = (),
    overwrite: bool = False,
    compute: bool = True,
) -> Any:
    """Write a dataset or a tree as NetCDF (``.nc``), HDF5 (``.h5``), Zarr (``.zarr``) or TileDB (``.tdb``).

    encoding: how variables are stored, by their names: dtype, scale_factor, add_offset, _FillValue, units, calendar as in xarray;
        chunksizes, zlib, complevel, shuffle, fletcher32, or ``filters`` as in the Ndarray Data Language. Of a tree, by the paths of
        its groups.
    unlimited_dims: dimensions that can grow. Of a tree, by the paths of its groups.
    allow_loss: kinds of losses that are allowed, if the format cannot hold everything
    compute: whether variables of Dask are written now. Else what is returned is a `Delayed`.

    Variables of Dask are encoded and stored by its workers, in any process. Nothing is at the target before all of it is there.
    """
    nodes = _nodes(data)
    by_group = isinstance(data, xr.DataTree)
    schema, lazy = Schema(), {}
    for path, dataset in nodes.items():
        own = (encoding or {}).get(path, {}) if by_group else (encoding or {})
        growing = _growing(dataset, unlimited_dims, path, by_group)
        lazy.update(_add(schema, path, dataset, own, growing, _inherited(nodes, path)))
    if not lazy:
        write_store(target, schema, format=format, allow_loss=allow_loss, overwrite=overwrite)
        return None
    writer: Writer = create_store(target, schema, format=format, allow_loss=allow_loss, overwrite=overwrite)
    from .dask import store

    return store(writer, lazy, compute=compute)


def _nodes(data: xr.Dataset | xr.DataArray | xr.DataTree) -> dict[str, xr.Dataset]:
    if isinstance(data, xr.DataTree):
        return {node.path: node.to_dataset(inherit=False) for node in data.subtree}
    if isinstance(data, xr.DataArray):
        name = data.name if data.name is not None else "__xarray_dataarray_variable__"
        return {"/": data.to_dataset(name=name)}
    return {"/": data}


def _growing(dataset: xr.Dataset, asked: Any, path: str, by_group: bool) -> set[str]:
    if asked is None:
        return set(dataset.encoding.get("unlimited_dims", ())) & set(dataset.sizes)
    if by_group:
        asked = asked.get(path, ()) if isinstance(asked, Mapping) else asked
    names = {asked} if isinstance(asked, str) else set(asked)
    unknown = names - set(dataset.sizes)
    if unknown and not by_group:
        raise ValueError(f"unlimited_dims: {path} has no dimension {', '.join(sorted(map(str, unknown)))}")
    return names & set(dataset.sizes)


def _inherited(nodes: Mapping[str, xr.Dataset], path: str) -> dict[str, int]:
    """Dimensions of the groups above."""
    sizes: dict[str, int] = {}
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        for name, size in nodes[path].sizes.items() if path in nodes else ():
            sizes.setdefault(str(name), size)
    return sizes


def _add(
    schema: Schema,
    path: str,
    dataset: xr.Dataset,
    encoding: Mapping[str, Any],
    growing: set[str],
    inherited: Mapping[str, int],
) -> dict[str, Any]:
    """Add the variables of a group, and return those whose values come later."""
    prefix = path.rstrip("/")
    variables = {name: variable.copy(deep=False) for name, variable in dataset.variables.items()}
    for name, own in encoding.items():
        if name not in variables:
            raise ValueError(f"encoding: {path} has no variable {name}")
        variables[name].encoding = dict(own)
    encoded, attrs = cf_encoder(variables, dataset.attrs)
    schema.group(path, _attributes(attrs))
    for dimension, size in dataset.sizes.items():
        if inherited.get(str(dimension)) != size:
            schema.dimension(f"{prefix}/{dimension}", size, unlimited=str(dimension) in growing)
    lazy = {}
    for name, variable in encoded.items():
        own = f"{prefix}/{name}"
        said = {**variable.encoding, **encoding.get(name, {})}
        is_lazy = hasattr(variable.data, "dask")
        attributes = _attributes(variable.attrs)
        dtype = _dtype(variable)
        shape = variable.shape
        fill = attributes.get("_FillValue")
        chunks = _chunks(said, variable, is_lazy)
        schema.array(
            own,
            [str(dim) for dim in variable.dims],
            dtype=dtype,
            shape=shape,
            values=None if is_lazy else _values(variable, dtype),
            attrs=attributes,
            chunks=chunks,
            shards=said.get("shards"),
            filters=_filters(said, own) if shape else None,
            fill_value=fill if dtype.kind not in "OUT" else None,
        )
        if is_lazy:
            lazy[own] = variable.data if variable.data.dtype == dtype or dtype.kind == "O" else variable.data.astype(dtype)
    return lazy


def _values(variable: xr.Variable, dtype: np.dtype) -> np.ndarray:
    values = variable.values
    if dtype.kind == "O":
        return values.astype(object)
    return np.asarray(values, dtype=dtype)


def _dtype(variable: xr.Variable) -> np.dtype:
    dtype: np.dtype = variable.dtype
    if dtype.kind in "OUT":
        return np.dtype(object)
    if dtype.kind == "b" or (dtype.kind == "i" and variable.attrs.get("dtype") == "bool"):
        return np.dtype("i1")
    return dtype


def _attributes(attrs: Mapping[Any, Any]) -> dict[str, Any]:
    for name, value in attrs.items():
        if isinstance(value, (Mapping, set)) or value is None:
            kind = type(value).__name__
            raise TypeError(f"attribute {name}: a value of {kind}, expected a text, a number, or a list of them")
    return {str(name): int(value) if isinstance(value, (bool, np.bool_)) else value for name, value in attrs.items()}


def _chunks(said: Mapping[str, Any], variable: xr.Variable, is_lazy: bool) -> tuple[int, ...] | None:
    if not variable.shape:
        return None
    asked = said.get("chunksizes") or said.get("chunks")
    if asked is not None and len(asked) == variable.ndim and all(isinstance(side, (int, np.integer)) for side in asked):
        return tuple(max(min(int(side), size), 1) for side, size in zip(asked, variable.shape, strict=True))
    if is_lazy and variable.chunks is not None:
        # The blocks of Dask, whose first ones are as long as the others.
        return tuple(max(sizes[0], 1) for sizes in variable.chunks)
    return None


def _filters(said: Mapping[str, Any], name: str) -> list[Any] | None:
    """Filters in the words of NDL, from those of netCDF4, h5netcdf and h5py."""
    if said.get("filters") is not None and all(isinstance(item, (str, Mapping)) for item in said["filters"]):
        return [dict(item) if isinstance(item, Mapping) else item for item in said["filters"]] or None
    filters: list[Any] = []
    compression = said.get("compression")
    level = said.get("complevel", said.get("compression_opts"))
    if said.get("zlib"):
        compression = "zlib"
    if said.get("shuffle", compression in ("zlib", "gzip")) and (compression or "shuffle" in said):
        if said.get("shuffle", True):
            filters.append("shuffle")
    if compression in ("zlib", "gzip"):
        filters.append({"deflate": 4 if level is None else int(level)})
    elif compression in ("zstd", "bzip2"):
        filters.append({compression: int(level)} if level is not None else compression)
    elif compression == "lzf":
        filters.append("lzf")
    elif compression is not None:
        raise ValueError(f"{name}: compression {compression!r}, expected zlib, gzip, zstd, bzip2 or lzf, or filters=[…]")
    if said.get("fletcher32"):
        filters.append("fletcher32")
    return filters or None


@xr.register_dataset_accessor("hyperslab")
@xr.register_datatree_accessor("hyperslab")
class Accessor:
    """``dataset.hyperslab.write(target)`` and the same of a tree."""

    def __init__(self, data: xr.Dataset | xr.DataTree) -> None:
        self._data = data

    def write(self, target: str | os.PathLike[str], **options: Any) -> Any:
        """Write the dataset or the tree, with the options of `hyperslab.xarray.write`."""
        return write(self._data, target, **options)
