//! The table of rules. Sections are those of the NetCDF Classic Format Specification.

hyperslab_core::rules! {
    HEADER Error "netcdf3/header" in "header" "the header cannot be decoded";
    LIMIT Error "netcdf3/limit" in "Limits" "the header is larger than the limits allow";
    DUPLICATE_NAME Error "netcdf3/duplicate-name" in "dim_list, att_list, var_list"
        "two dimensions, two variables, or two attributes of one object have the same name"
        => "programs find the first of them by its name; rename the other";
    RECORD_DIMENSION Error "netcdf3/record-dimension" in "dim_length" "there is more than one record dimension"
        => "a dimension of length 0 is the record dimension; readers treat the first as the record dimension";
    SHAPE Error "netcdf3/shape" in "var"
        "the dimensions of a variable do not exist, are in a wrong order, or give it 2^64 bytes or more";
    BEGIN Error "netcdf3/begin" in "begin" "the elements of a variable begin within the header";
    TRUNCATED Error "netcdf3/truncated" in "data" "the file ends before the last element of a variable"
        => "the file was cut, or a part of it was never copied";
    OVERLAP Error "netcdf3/overlap" in "data" "two variables share a part of their bytes";

    DATA_TYPE Warning "netcdf3/data-type" in "nc_type, CDF-5" "a file has a type that its version does not have"
        => "most readers refuse the file; only CDF-5 has this type";
    NAME Warning "netcdf3/name" in "Note on names" "a name is empty or has a character that is not allowed";
    SIZE Warning "netcdf3/vsize" in "Note on vsize" "the size recorded for a variable is not that of its elements"
        => "readers compute the size from the dimensions";
    FILL_VALUE Warning "netcdf3/fill-value" in "Note on fill values" "_FillValue is not one value of the type of its variable"
        => "readers ignore it or refuse the variable";
    UNCOUNTED_RECORDS Warning "netcdf3/uncounted-records" in "numrecs" "the file has room for more records than it counts"
        => "an interrupted writer may have left them; they are not read";

    PADDING Note "netcdf3/padding" in "padding" "bytes of padding in the header are not zero";
    STREAMING Note "netcdf3/streaming" in "Note on streaming data"
        "the number of records is not stored, and is derived from the size of the file";
}
