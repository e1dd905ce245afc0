"""Engine for xarray: ``xarray.open_dataset("ocean.nc", engine="hyperslab")``.

It opens all formats that hyperslab reads. There is no lock: variables can be read by any number of threads, and pickled if
the store was opened by a path.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from xarray.backends.common import BackendEntrypoint, _normalize_path, datatree_from_dict_with_io_cleanup
from xarray.core.utils import is_remote_uri, strip_uri_params

from ._errors import Error, NoObjectError
from ._objects import Group
from ._objects import open as open_store
from ._xarray.collection import collection_paused
from ._xarray.decoding import decoded_dataset
from ._xarray.store import GroupStore, MissingVariableWarning, PhonyNames
from ._xarray.unindexed import unindexed
from ._xarray.write import write

if TYPE_CHECKING:
    from xarray import Dataset, DataTree

__all__ = ["HyperslabBackendEntrypoint", "MissingVariableWarning", "dataset_of", "datatree_of", "write"]

# Format names that the NetCDF engines take. They are accepted, since the format is recognized anyway.
_NETCDF_FORMATS = {"NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_64BIT", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF3_CLASSIC"}

# Options of the engines netcdf4 and h5netcdf, and the values with which they have no effect here. `lock` may have any value,
# as there is no lock.
_FOREIGN: dict[str, tuple[Any, ...]] = {
    "mode": ("r",),
    "clobber": (True, False),
    "diskless": (False,),
    "persist": (False,),
    "autoclose": (True, False),
    "decode_vlen_strings": (True, None),
    "driver": (None,),
    "driver_kwds": (None,),
}

_EXTENSIONS = {".nc", ".nc3", ".nc4", ".cdf", ".h5", ".hdf5", ".he5", ".h5ad", ".nxs", ".tdb", ".tiledb"}

_HDF5 = b"\x89HDF\r\n\x1a\n"


class HyperslabBackendEntrypoint(BackendEntrypoint):
    """HDF5, NetCDF, TileDB and Zarr without a lock.

    In addition to the options of `xarray.open_dataset`, it has

    group: path of the group to open [default: the root]
    format: name of the format [default: recognized by the content]
    raw: show what is stored, without what NetCDF hides
    threads: number of decoding threads, for the whole process
    chunk_cache: bytes of decoded chunks to keep for small reads
    dataspace: show the variables that TileDB-CF stores as arrays
    storage_options: options of fsspec for a URL
    use_zarr_fill_value_as_mask: whether the Zarr fill value marks missing values [default: only in version 2]
    phony_dims, invalid_netcdf, auto_complex: accepted for compatibility with other engines; unnamed dimensions always get names,
        and complex numbers are always read
    lock, mode, clobber, diskless, persist, autoclose, decode_vlen_strings, driver, driver_kwds: also accepted for compatibility,
        if their values have no effect on reading
    """

    description = "Open HDF5, NetCDF, TileDB and Zarr without a lock, using hyperslab"
    url = "https://github.com/hyperslab/hyperslab/blob/main/docs/python.md"
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether it is HDF5, NetCDF or TileDB. Zarr is left to xarray's zarr engine."""
        if isinstance(filename_or_obj, Group):
            return True
        if isinstance(filename_or_obj, (bytes, bytearray, memoryview)):
            return _is_magic(bytes(filename_or_obj[:8]))
        if hasattr(filename_or_obj, "seek") and hasattr(filename_or_obj, "read"):
            at = filename_or_obj.tell()
            filename_or_obj.seek(0)
            magic = filename_or_obj.read(8)
            filename_or_obj.seek(at)
            return isinstance(magic, bytes) and _is_magic(magic)
        if isinstance(filename_or_obj, tuple) and len(filename_or_obj) == 2 and isinstance(filename_or_obj[1], str):
            return _has_extension(filename_or_obj[1])
        if isinstance(filename_or_obj, (str, os.PathLike)):
            path = os.fspath(filename_or_obj)
            if not isinstance(path, str):
                return False
            if is_remote_uri(path):
                return _has_extension(strip_uri_params(path))
            return _is_path_of_ours(path)
        return False

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        format: str | None = None,
        raw: bool = False,
        threads: int | None = None,
        chunk_cache: int | None = None,
        dataspace: str | None = None,
        storage_options: Mapping[str, Any] | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
        phony_dims: str | None = None,
        invalid_netcdf: bool | None = None,
        auto_complex: bool | None = None,
        **foreign: Any,
    ) -> Dataset:
        """Open a group as a dataset."""
        _check_foreign(foreign)
        opened = _group_of(filename_or_obj, group, format, raw, threads, chunk_cache, dataspace, storage_options)
        dataset = _dataset(
            opened,
            PhonyNames(),
            drop_variables,
            use_zarr_fill_value_as_mask,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )
        # Other callers use the dataset as it is, without the last steps of xarray.
        return unindexed(dataset) if sys._getframe(1).f_globals.get("__name__") == "xarray.backends.api" else dataset

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        format: str | None = None,
        raw: bool = False,
        threads: int | None = None,
        chunk_cache: int | None = None,
        dataspace: str | None = None,
        storage_options: Mapping[str, Any] | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
        phony_dims: str | None = None,
        invalid_netcdf: bool | None = None,
        auto_complex: bool | None = None,
        **foreign: Any,
    ) -> dict[str, Dataset]:
        """Open a group and all groups in it, keyed by their relative paths."""
        _check_foreign(foreign)
        opened = _group_of(filename_or_obj, group, format, raw, threads, chunk_cache, dataspace, storage_options)
        phony, datasets = PhonyNames(), {}
        with collection_paused():
            for path, member in _walk(opened):
                datasets[path] = _dataset(
                    member,
                    phony,
                    drop_variables,
                    use_zarr_fill_value_as_mask,
                    mask_and_scale=mask_and_scale,
                    decode_times=decode_times,
                    concat_characters=concat_characters,
                    decode_coords=decode_coords,
                    use_cftime=use_cftime,
                    decode_timedelta=decode_timedelta,
                )
        return datasets

    def open_datatree(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        format: str | None = None,
        raw: bool = False,
        threads: int | None = None,
        chunk_cache: int | None = None,
        dataspace: str | None = None,
        storage_options: Mapping[str, Any] | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
        phony_dims: str | None = None,
        invalid_netcdf: bool | None = None,
        auto_complex: bool | None = None,
        **foreign: Any,
    ) -> DataTree:
        """Open a group and all groups in it as a DataTree."""
        groups = self.open_groups_as_dict(
            filename_or_obj,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
            group=group,
            format=format,
            raw=raw,
            threads=threads,
            chunk_cache=chunk_cache,
            dataspace=dataspace,
            storage_options=storage_options,
            use_zarr_fill_value_as_mask=use_zarr_fill_value_as_mask,
            **foreign,
        )
        with collection_paused():
            return datatree_from_dict_with_io_cleanup(groups)


# If a class is given as the engine, xarray uses this attribute but does not fill it in from the signature.
HyperslabBackendEntrypoint.open_dataset_parameters = tuple(
    name for name in inspect.signature(HyperslabBackendEntrypoint.open_dataset).parameters if name not in ("self", "foreign")
)


def dataset_of(group: Group, /, **options: Any) -> Dataset:
    """A group as a Dataset, with the options of `xarray.open_dataset`."""
    import xarray

    return xarray.open_dataset(group, engine=HyperslabBackendEntrypoint, **options)  # type: ignore[arg-type]


def datatree_of(group: Group, /, **options: Any) -> DataTree:
    """A group and all groups in it as a DataTree, with the options of `xarray.open_datatree`."""
    import xarray

    return xarray.open_datatree(group, engine=HyperslabBackendEntrypoint, **options)  # type: ignore[arg-type]


def _dataset(
    group: Group, phony: PhonyNames, drop: str | Iterable[str] | None, zarr_fill_is_missing: bool | None, **decoding: Any
) -> Dataset:
    """A group as a Dataset, without the variables that decoding has to read but that cannot be read."""
    left_out, told = {drop} if isinstance(drop, str) else set(drop or ()), set[str]()
    first = phony.count
    while True:
        phony.count = first
        store = GroupStore(group, left_out, phony, zarr_fill_is_missing, told)
        try:
            variables, attributes = store.load()  # type: ignore[no-untyped-call]
            dataset = decoded_dataset(variables, attributes, **decoding)
        except Exception as error:
            # Some versions of xarray wrap the error of the array in one of their own.
            cause = error if isinstance(error, Error) else error.__cause__
            name = store.name_of(cause.object) if isinstance(cause, Error) and cause.object else None
            if name is None or name in left_out or not isinstance(cause, Error):
                raise
            store.leave_out(cause.object or name, cause)
            left_out.add(name)
        else:
            dataset.encoding = store.get_encoding()
            dataset.set_close(store.close)
            return dataset


def _check_foreign(options: Mapping[str, Any]) -> None:
    """Refuse options that this engine does not have, unless they belong to another engine and would have no effect."""
    for name, value in options.items():
        if name == "lock":
            continue
        if name not in _FOREIGN:
            known = ", ".join(HyperslabBackendEntrypoint.open_dataset_parameters or ())
            raise TypeError(f"the engine hyperslab has no option {name!r}, expected one of {known}")
        if value not in _FOREIGN[name]:
            expected = " or ".join(map(repr, _FOREIGN[name]))
            raise ValueError(f"{name}={value!r} is not supported by the engine hyperslab, expected {expected}; leave it out")


def _group_of(
    location: Any,
    group: str | None,
    format: str | None,
    raw: bool,
    threads: int | None,
    chunk_cache: int | None,
    dataspace: str | None,
    storage_options: Mapping[str, Any] | None,
) -> Group:
    if threads is not None:
        from ._threads import set_threads

        set_threads(threads)
    if not isinstance(group, (str, type(None))):
        raise ValueError(f"group must be a string or None, not {group!r}")
    path = "/" + (group or "").strip("/")
    if isinstance(location, Group):
        return location if path == "/" else _member(location, path)
    try:
        return open_store(
            _normalize_path(location),
            path,
            format=None if format in _NETCDF_FORMATS else format,
            raw=raw,
            chunk_cache=chunk_cache,
            dataspace=dataspace,
            storage_options=storage_options,
        )
    except NoObjectError as error:
        # Other engines raise an OSError, and programs expect it.
        raise OSError(f"group not found: {path}: {error}") from error


def _member(group: Group, path: str) -> Group:
    found = group[path.lstrip("/")]
    if not isinstance(found, Group):
        raise OSError(f"group not found: {path}")
    return found


def _walk(group: Group, path: str = "/") -> Iterator[tuple[str, Group]]:
    """A group and all groups in it, groups before their members. Links are not followed, because they may form cycles."""
    yield path, group
    for name, (found, kind, _) in group._listed().items():
        if kind == "group":
            yield from _walk(Group(group._opened, found), f"{path.rstrip('/')}/{name}")


def _is_magic(start: bytes) -> bool:
    return start.startswith((b"CDF\x01", b"CDF\x02", b"CDF\x05", _HDF5))


def _has_extension(path: str) -> bool:
    return os.path.splitext(path.rstrip("/"))[1].lower() in _EXTENSIONS


def _is_path_of_ours(path: str) -> bool:
    try:
        with os.scandir(path) as entries:
            names = {entry.name for entry in entries}
        return not names.isdisjoint({"__tiledb_group.tdb", "__group", "__schema", "__array_schema.tdb"})
    except NotADirectoryError:
        pass
    except FileNotFoundError:
        return _has_extension(path)
    with open(path, "rb") as file:
        if _is_magic(file.read(8)):
            return True
        # A user block may come first, whose size is 512 bytes times a power of two.
        at, end = 512, file.seek(0, os.SEEK_END)
        while at < end and _has_extension(path):
            file.seek(at)
            if file.read(8) == _HDF5:
                return True
            at *= 2
    return False
