"""Tests of xarray that do not hold for our engine, and why."""

from __future__ import annotations

_WARNS = "h5netcdf warns that it may name dimensions differently in future; there is nothing to warn of"
_UTF8 = "bytes that are not UTF-8 are read as U+FFFD, so that texts are texts"
_MASK = "the engine zarr has the option use_zarr_fill_value_as_mask, but does not heed it"

EXCEPTIONS: dict[str, str] = {
    "TestH5NetCDFData::test_phony_dims_warning": _WARNS,
    "TestH5NetCDFFileObject::test_phony_dims_warning": _WARNS,
    "TestH5NetCDFViaDaskData::test_phony_dims_warning": _WARNS,
    "TestH5NetCDFDatatreeIO::test_phony_dims_warning": _WARNS,
    "TestH5NetCDFData::test_decode_utf8_warning": _UTF8,
    "TestH5NetCDFFileObject::test_decode_utf8_warning": _UTF8,
    "TestH5NetCDFViaDaskData::test_decode_utf8_warning": _UTF8,
    "TestH5NetCDFFileObject::test_open_badbytes": "our error says in other words that this is no file of a known format",
    "TestGenericNetCDFData::test_engine": "the engine netcdf4 refuses open files; ours reads them",
    "TestH5NetCDFDatatreeIO::test_compute_false": "h5netcdf has the file open, and has not yet written all of it",
    "TestZarrDirectoryStore::test_zarr_fill_value_setting[2-int]": _MASK,
    "TestZarrDirectoryStore::test_zarr_fill_value_setting[2-float]": _MASK,
    "TestZarrWriteEmpty::test_zarr_fill_value_setting[2-int]": _MASK,
    "TestZarrWriteEmpty::test_zarr_fill_value_setting[2-float]": _MASK,
}
