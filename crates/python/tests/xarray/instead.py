"""Our engine in place of others."""

from __future__ import annotations

from typing import Any

from hyperslab.xarray import HyperslabBackendEntrypoint

# Options of other engines that have no meaning for ours, such as locks.
_FOREIGN = {
    *("autoclose", "chunk_store", "clobber", "consolidated", "decode_vlen_strings", "diskless", "driver", "driver_kwds"),
    *("lock", "mode", "open_kwargs", "persist", "synchronizer", "zarr_format", "zarr_version"),
}


class Instead(HyperslabBackendEntrypoint):
    """Our engine in place of another. It ignores the options that only the other one has."""

    # Otherwise xarray takes them from the signature.
    open_dataset_parameters = HyperslabBackendEntrypoint.open_dataset_parameters

    def open_dataset(self, filename_or_obj: Any, **options: Any) -> Any:  # type: ignore[override]
        return super().open_dataset(filename_or_obj, **_of_ours(options))

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> Any:  # type: ignore[override]
        return super().open_datatree(filename_or_obj, **_of_ours(options))

    def open_groups_as_dict(self, filename_or_obj: Any, **options: Any) -> Any:  # type: ignore[override]
        return super().open_groups_as_dict(filename_or_obj, **_of_ours(options))


def _of_ours(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in _FOREIGN}
