"""Tests of xarray that do not hold for our engine, and why."""

from __future__ import annotations

_WARNS = "h5netcdf warns that it may name dimensions differently in future; there is nothing to warn of"
_UTF8 = "an attribute that is not UTF-8 is bytes, as its type says without a warning"
_BYTES = "netCDF4 replaces what is not UTF-8 in attributes by U+FFFD; ours are bytes, so that nothing is lost"
_MASK = "the engine zarr has the option use_zarr_fill_value_as_mask, but does not heed it"
_BEFORE = "our writer has nothing at the target before all of it is there"
_NULLS = "h5netcdf refuses bytes with null characters; our writer stores what netCDF4 stores of them"
_LABEL = "h5netcdf warns that its fill value is a member of the enumeration; our writer has nothing to warn of"
_LONGER = "our writer stores texts of any length, so that longer ones can be added"

EXCEPTIONS: dict[str, str] = {
    "TestH5NetCDFData::test_phony_dims_warning": _WARNS,
    "TestH5NetCDFFileObject::test_phony_dims_warning": _WARNS,
    "TestH5NetCDFViaDaskData::test_phony_dims_warning": _WARNS,
    "TestH5NetCDFDatatreeIO::test_phony_dims_warning": _WARNS,
    "TestNetCDF4DataTree::test_byte_attrs": _BYTES,
    "TestNetCDF4Data::test_byte_attrs": _BYTES,
    "TestNetCDF4ViaDaskData::test_byte_attrs": _BYTES,
    "TestH5NetCDFData::test_decode_utf8_warning": _UTF8,
    "TestH5NetCDFFileObject::test_decode_utf8_warning": _UTF8,
    "TestH5NetCDFViaDaskData::test_decode_utf8_warning": _UTF8,
    "TestH5NetCDFFileObject::test_open_badbytes": "our error says in other words that this is not a file of a known format",
    "TestGenericNetCDFData::test_engine": "the engine netcdf4 refuses open files; ours reads them",
    "TestH5NetCDFDatatreeIO::test_compute_false": "h5netcdf has the file open, and has not yet written all of it",
    "TestZarrDirectoryStore::test_zarr_fill_value_setting[2-int]": _MASK,
    "TestZarrDirectoryStore::test_zarr_fill_value_setting[2-float]": _MASK,
    "TestZarrWriteEmpty::test_zarr_fill_value_setting[2-int]": _MASK,
    "TestZarrWriteEmpty::test_zarr_fill_value_setting[2-float]": _MASK,
    "TestGenericNetCDFTreeWritten::test_compute_false": _BEFORE,
    "TestNetCDF4TreeWritten::test_compute_false": _BEFORE,
    "TestH5NetCDFTreeWritten::test_compute_false": _BEFORE,
    "TestH5NetCDFWritten::test_byte_attrs": _NULLS,
    "TestH5NetCDFViaDaskWritten::test_byte_attrs": _NULLS,
    "TestH5NetCDFWritten::test_encoding_enum__no_fill_value": _LABEL,
    "TestH5NetCDFViaDaskWritten::test_encoding_enum__no_fill_value": _LABEL,
    "TestZarrWritten::test_append_string_length_mismatch_raises[2-U]": _LONGER,
    "TestZarrWritten::test_append_string_length_mismatch_raises[3-U]": _LONGER,
    "TestZarrWritten::test_roundtrip_None_variable[3]": "names that begin with two underscores are reserved in Zarr version 3",
}
