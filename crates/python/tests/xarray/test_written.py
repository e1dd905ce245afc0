"""xarray's tests of netCDF4, h5netcdf and zarr: hyperslab writes, and these read."""

from __future__ import annotations

import pytest

upstream = pytest.importorskip("xarray.tests.test_backends")
trees = pytest.importorskip("xarray.tests.test_backends_datatree")
pytest.importorskip("netCDF4")
pytest.importorskip("h5netcdf")
pytest.importorskip("zarr")
pytest.importorskip("dask")

from xarray.tests.test_backends import default_zarr_format  # noqa: E402, F401
from xarray.tests.test_backends_datatree import (  # noqa: E402, F401
    diff_chunks,
    unaligned_datatree_nc,
    unaligned_datatree_zarr_factory,
)

pytestmark = pytest.mark.usefixtures("written")


class TestNetCDF4Written(upstream.TestNetCDF4Data): ...


class TestNetCDF4ViaDaskWritten(upstream.TestNetCDF4ViaDaskData): ...


class TestH5NetCDFWritten(upstream.TestH5NetCDFData): ...


class TestH5NetCDFViaDaskWritten(upstream.TestH5NetCDFViaDaskData): ...


class TestDaskWritten(upstream.TestDask): ...


class TestDataArrayToNetCDFWritten(upstream.TestDataArrayToNetCDF): ...


class TestValidateAttrsWritten(upstream.TestValidateAttrs): ...


class TestNetCDF4DataTreeWritten(trees.TestNetCDF4DataTree): ...


class TestGenericNetCDFTreeWritten(trees.TestGenericNetCDFIO): ...


class TestNetCDF4TreeWritten(trees.TestNetCDF4DatatreeIO): ...


class TestH5NetCDFTreeWritten(trees.TestH5NetCDFDatatreeIO): ...


class TestZarrTreeWritten(trees.TestZarrDatatreeIO): ...


class TestZarrWritten(upstream.TestZarrDirectoryStore): ...
