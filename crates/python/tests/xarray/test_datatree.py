"""xarray's tests of trees: netCDF4 and h5netcdf write, and hyperslab reads."""

from __future__ import annotations

import pytest

upstream = pytest.importorskip("xarray.tests.test_backends_datatree")
pytest.importorskip("netCDF4")
pytest.importorskip("h5netcdf")

from xarray.tests.test_backends_datatree import (  # noqa: E402, F401
    diff_chunks,
    unaligned_datatree_nc,
)

pytestmark = pytest.mark.usefixtures("opened")


class TestNetCDF4DataTree(upstream.TestNetCDF4DataTree): ...


class TestGenericNetCDFIO(upstream.TestGenericNetCDFIO): ...


class TestNetCDF4DatatreeIO(upstream.TestNetCDF4DatatreeIO): ...


class TestH5NetCDFDatatreeIO(upstream.TestH5NetCDFDatatreeIO): ...
