"""Writing xarray datasets and trees as stores of any format."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from .._arguments import target_path
from .._losses import LossReport
from .._warnings import warn
from .._writing import Schema, create_store, write_store
from .asked import check
from .attributes import attributes_of
from .encoded import dtype_of, encoded, in_order_of
from .goal import Goal
from .storage import aligned, chunks_of, filters_of, rounded, shards_of
from .times import as_count

# Names for an array that has no name, or the name of a dimension, by which xarray recognizes it again.
_ARRAY = "__xarray_dataarray_variable__"
_ARRAY_NAME = "__xarray_dataarray_name__"


def write(
    data: xr.Dataset | xr.DataArray | xr.DataTree,
    target: str | os.PathLike[str],
    *,
    encoding: Mapping[str, Any] | None = None,
    unlimited_dims: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    format: str | None = None,
    allow_loss: str | Iterable[str] = (),
    overwrite: bool = False,
    options: Mapping[str, Any] | None = None,
    compute: bool = True,
) -> Any:
    """Write a dataset or a tree as NetCDF (``.nc``), HDF5 (``.h5``), Zarr (``.zarr``) or TileDB (``.tdb``).

    encoding: how variables are stored, by their names: dtype, scale_factor, add_offset, _FillValue, units, calendar as in xarray;
        chunksizes, zlib, complevel, shuffle, fletcher32, or ``filters`` as in the Ndarray Data Language. For a tree, by the paths
        of its groups.
    unlimited_dims: unlimited dimensions. For a tree, by the paths of its groups.
    format: name of the format, or xarray's name for it, such as "NETCDF3_CLASSIC" [default: inferred from the name of the target]
    allow_loss: kinds of losses that are allowed, if the format cannot represent everything
    options: options of the format, as for `hyperslab.convert`: ``{"zarr.struct": "legacy"}``
    compute: whether Dask variables are written now. Otherwise a `Delayed` is returned, whose value is the report.

    The report lists what the format cannot store unchanged. Dask variables are encoded and stored by the Dask workers, in any
    process. The target appears only when it is complete.
    """
    target = target_path(target)
    goal = Goal.of(target, format)
    nodes = _nodes(data)
    _check_groups(data, encoding)
    by_group = isinstance(data, xr.DataTree)
    schema, lazy = Schema(), {}
    sizes: dict[str, dict[str, int]] = {}
    for path, (full, dataset) in nodes.items():
        own = (encoding or {}).get(full, {}) if by_group else (encoding or {})
        growing = _growing(dataset, unlimited_dims, full if by_group else None)
        lazy.update(_add(schema, goal, path, dataset, own, growing, sizes))
    how: dict[str, Any] = {"format": goal.format, "allow_loss": allow_loss, "overwrite": overwrite, "options": options}
    if not lazy:
        report = write_store(target, schema, **how)
        return report if compute else _delayed(report)
    writer = create_store(target, schema, **how)
    from ..dask import store

    try:
        blocks = {path: aligned(name, data, writer.unit(path), goal.is_zarr) for path, (name, data) in lazy.items()}
    except BaseException:
        writer.abandon()
        raise
    return store(writer, blocks, compute=compute)


def _delayed(report: LossReport) -> Any:
    from dask.delayed import delayed

    return delayed(report, traverse=False)


def _nodes(data: xr.Dataset | xr.DataArray | xr.DataTree) -> dict[str, tuple[str, xr.Dataset]]:
    """Datasets by their paths in the store, each with its path in the tree. The root dataset includes what it inherits."""
    if isinstance(data, xr.DataTree):
        nodes = {}
        for relative, node in data.subtree_with_keys:
            path = "/" if node is data else f"/{relative}"
            nodes[path] = (node.path, node.to_dataset(inherit=node is data))
        return nodes
    if isinstance(data, xr.Dataset):
        return {"/": ("/", data)}
    if not isinstance(data, xr.DataArray):
        raise TypeError(f"cannot write {type(data).__name__}, expected a Dataset, a DataArray or a DataTree of xarray")
    if not data.name:
        return {"/": ("/", data.to_dataset(name=_ARRAY))}
    if data.name in data.coords or data.name in data.dims:
        dataset = data.to_dataset(name=_ARRAY)
        dataset.attrs[_ARRAY_NAME] = data.name
        return {"/": ("/", dataset)}
    return {"/": ("/", data.to_dataset())}


def _check_groups(data: Any, encoding: Mapping[str, Any] | None) -> None:
    if isinstance(data, xr.DataTree) and (unknown := set(encoding or {}) - set(data.groups)):
        raise ValueError(f"unexpected encoding group name(s) provided: {', '.join(sorted(map(str, unknown)))}")


def _growing(dataset: xr.Dataset, asked: Any, group: str | None) -> list[str]:
    """The unlimited dimensions."""
    if group is not None and isinstance(asked, Mapping):
        asked = asked.get(group)
    origin = "'dataset.encoding'" if asked is None else "'unlimited_dims-kwarg'"
    found = dataset.encoding.get("unlimited_dims", ()) if asked is None else asked
    names = [found] if isinstance(found, str) else list(found or ())
    unknown = [name for name in names if name not in dataset.sizes]
    if unknown and not (asked is not None and group is not None):
        said = f"Unlimited dimension(s) {unknown} declared in {origin}, which the dataset does not have"
        if asked is not None:
            raise ValueError(said)
        warn(said, UserWarning)
    return [str(name) for name in names if name in dataset.sizes]


def _add(
    schema: Schema,
    goal: Goal,
    path: str,
    dataset: xr.Dataset,
    encoding: Mapping[str, Any],
    growing: Sequence[str],
    sizes: dict[str, dict[str, int]],
) -> dict[str, tuple[str, Any]]:
    """Add the variables of a group, and return those whose values are written later, with their names.

    sizes: the dimensions of groups by their paths; those of this group are added
    """
    prefix = path.rstrip("/")
    variables, attrs = encoded(dataset, encoding, goal)
    schema.group(path, attributes_of(path if path != "/" else "the dataset", attrs))
    own = {dimension: dataset.sizes[dimension] for dimension in growing}
    for variable in variables.values():
        own.update({str(dimension): size for dimension, size in variable.sizes.items()})
    inherited = _inherited(sizes, path)
    sizes[path] = own
    for dimension, size in own.items():
        if inherited.get(dimension) != size:
            schema.dimension(f"{prefix}/{dimension}", size, unlimited=dimension in growing)
    lazy = {}
    for name, variable in variables.items():
        data = _declare(schema, goal, f"{prefix}/{name}", name, variable, growing, name in encoding)
        if data is not None:
            lazy[f"{prefix}/{name}"] = (name, data)
    return lazy


def _inherited(sizes: Mapping[str, Mapping[str, int]], path: str) -> dict[str, int]:
    """Dimensions of the groups above."""
    found: dict[str, int] = {}
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        for name, size in sizes.get(path, {}).items():
            found.setdefault(name, size)
    return found


def _declare(
    schema: Schema, goal: Goal, path: str, name: str, variable: xr.Variable, growing: Sequence[str], is_asked: bool
) -> Any:
    """Add a variable with its values, or return them if they are to be computed."""
    said = variable.encoding
    if is_asked:
        check(name, variable, said, growing, goal.is_zarr)
    if said.get("least_significant_digit") is not None:
        variable = rounded(variable, said["least_significant_digit"])
    if variable.chunks is not None and variable.size == 0:
        variable = variable.compute()
    dtype = in_order_of(name, dtype_of(variable), said)
    attributes = attributes_of(name, variable.attrs, dtype)
    fill = _fill(name, goal, said, attributes, dtype, is_asked)
    is_lazy = variable.chunks is not None
    chunks = chunks_of(name, variable, said, growing, is_asked, goal.is_zarr)
    schema.array(
        path,
        [str(dim) for dim in variable.dims],
        dtype=dtype,
        shape=variable.shape,
        values=None if is_lazy else variable.values.astype(dtype, copy=False),
        attrs=attributes,
        chunks=chunks,
        shards=shards_of(name, variable, said, chunks, is_asked) if goal.is_zarr else None,
        filters=filters_of(name, said, is_asked, goal) if variable.shape else None,
        fill_value=fill if dtype.kind != "O" else None,
    )
    if not is_lazy:
        return None
    return variable.data if variable.dtype == dtype or dtype.kind == "O" else variable.astype(dtype).data


def _fill(
    name: str, goal: Goal, said: Mapping[str, Any], attributes: Mapping[str, Any], dtype: np.dtype[Any], is_asked: bool
) -> Any:
    """The value of elements that were never written."""
    if not goal.is_zarr:
        return attributes.get("_FillValue", as_count(name, said.get("fill_value"), dtype) if is_asked else None)
    if said.get("fill_value") is not None:
        return as_count(name, said["fill_value"], dtype)
    return dtype.type("nan") if dtype.kind == "f" else None


@xr.register_dataarray_accessor("hyperslab")
@xr.register_dataset_accessor("hyperslab")
@xr.register_datatree_accessor("hyperslab")
class Accessor:
    """``dataset.hyperslab.write(target)``, also for an array or a tree."""

    def __init__(self, data: xr.Dataset | xr.DataArray | xr.DataTree) -> None:
        self._data = data

    def write(self, target: str | os.PathLike[str], **options: Any) -> Any:
        """Write the dataset, the array or the tree, with the options of `hyperslab.xarray.write`."""
        return write(self._data, target, **options)
