//! Names of attributes that the NetCDF library gives a meaning.
//!
//! Spec: NetCDF-4 file format specification, "Appendix C.3: The NetCDF-4 Format"; HDF5 dimension scales
//! specification; NetCDF User's Guide, "Attribute Conventions"

/// On the root group: which versions of which libraries wrote the file.
pub const PROPERTIES: &str = "_NCProperties";

/// On the root group: the file keeps to the classic model.
pub const CLASSIC_MODEL: &str = "_nc3_strict";

/// On a dimension scale: the identifier of the dimension, an `int` that counts definitions from 0.
pub const DIMENSION_ID: &str = "_Netcdf4Dimid";

/// On a coordinate variable of several dimensions: the identifiers of its dimensions.
pub const COORDINATES: &str = "_Netcdf4Coordinates";

/// On a dimension scale: `DIMENSION_SCALE`.
pub const CLASS: &str = "CLASS";

/// On a dimension scale: its label.
pub const NAME: &str = "NAME";

/// On a dimension scale: references to the variables along it.
pub const REFERENCE_LIST: &str = "REFERENCE_LIST";

/// On a variable: references to the scales of each of its dimensions.
pub const DIMENSION_LIST: &str = "DIMENSION_LIST";

/// On a variable: the labels of its dimensions.
pub const DIMENSION_LABELS: &str = "DIMENSION_LABELS";

/// On a variable: the value of elements that were never written, of the variable's own type.
pub const FILL_VALUE: &str = "_FillValue";
