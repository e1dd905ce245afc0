"""xarray's tests of netCDF4, h5netcdf and zarr: hyperslab writes, and these read."""

from __future__ import annotations

import os
from typing import Any

import pytest

upstream = pytest.importorskip("xarray.tests.test_backends")
pytest.importorskip("netCDF4")
pytest.importorskip("h5netcdf")
pytest.importorskip("zarr")

from hyperslab.xarray import write  # noqa: E402


class Written:
    """Writes with hyperslab what a test saves."""

    def save(self, dataset: Any, path: Any, **options: Any) -> Any:
        ours = {key: value for key, value in options.items() if key in ("encoding", "unlimited_dims", "compute")}
        others = options.keys() - ours.keys() - {"engine", "format", "mode"}
        # Nothing is added to a file, and other options are those of other writers.
        if others or options.get("mode", "w") != "w" or not isinstance(path, (str, os.PathLike)):
            return super().save(dataset, path, **options)  # type: ignore[misc]
        return write(dataset, path, format="netcdf4", overwrite=True, **ours)


class TestNetCDF4Written(Written, upstream.TestNetCDF4Data): ...


class TestH5NetCDFWritten(Written, upstream.TestH5NetCDFData): ...


class TestDaskWritten(Written, upstream.TestNetCDF4ViaDaskData): ...
