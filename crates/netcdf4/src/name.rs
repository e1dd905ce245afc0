//! Names of attributes with a meaning in NetCDF.
//!
//! Spec: NetCDF-4 file format specification, "Appendix C.3: The NetCDF-4 Format"; HDF5 dimension scales
//! specification; NetCDF User's Guide, "Attribute Conventions"

/// On the root group: the libraries that wrote the file, and their versions.
pub const PROPERTIES: &str = "_NCProperties";

/// On the root group: the file uses the classic model.
pub const CLASSIC_MODEL: &str = "_nc3_strict";

/// On a dimension scale: the identifier of the dimension, an `int` from 0 in the order of definition.
pub const DIMENSION_ID: &str = "_Netcdf4Dimid";

/// On a multidimensional coordinate variable: the identifiers of its dimensions.
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

/// On a variable: the fill value, of the variable's datatype.
pub const FILL_VALUE: &str = "_FillValue";

/// The prefix of the link name of a variable that has the same name as a dimension of its group but is not its
/// coordinate variable: the dimension scale has the name itself.
pub const NON_COORDINATE: &[u8] = b"_nc4_non_coord_";
