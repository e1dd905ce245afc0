"""xarray's tests of netCDF4 and h5netcdf: these write, and hyperslab reads."""

from __future__ import annotations

import pytest

upstream = pytest.importorskip("xarray.tests.test_backends")
pytest.importorskip("netCDF4")
pytest.importorskip("h5netcdf")

pytestmark = pytest.mark.usefixtures("opened")


class TestNetCDF4Data(upstream.TestNetCDF4Data): ...


class TestNetCDF4InMemory(upstream.TestNetCDF4InMemory): ...


class TestNetCDF4ViaDaskData(upstream.TestNetCDF4ViaDaskData): ...


class TestNetCDF3ViaNetCDF4Data(upstream.TestNetCDF3ViaNetCDF4Data): ...


class TestNetCDF4ClassicViaNetCDF4Data(upstream.TestNetCDF4ClassicViaNetCDF4Data): ...


class TestNetCDF4ClassicViaH5NetCDFData(upstream.TestNetCDF4ClassicViaH5NetCDFData): ...


class TestGenericNetCDFData(upstream.TestGenericNetCDFData):
    # This is expected to fail with scipy, which closes files.
    def test_roundtrip_via_file_object(self) -> None:
        super().test_roundtrip_via_file_object()


class TestGenericNetCDF4InMemory(upstream.TestGenericNetCDF4InMemory): ...


class TestH5NetCDFData(upstream.TestH5NetCDFData): ...


class TestH5NetCDFFileObject(upstream.TestH5NetCDFFileObject): ...


class TestH5NetCDFInMemoryData(upstream.TestH5NetCDFInMemoryData): ...


class TestH5NetCDFViaDaskData(upstream.TestH5NetCDFViaDaskData): ...


class TestOpenMFDatasetWithDataVarsAndCoordsKw(upstream.TestOpenMFDatasetWithDataVarsAndCoordsKw): ...


class TestDask(upstream.TestDask): ...
