//! The fill values and missing values of all NetCDF formats.

use hyperslab_model::{Datatype, Fill, Float};
use hyperslab_netcdf4::NumberType;

/// The default fill value of NetCDF for a datatype, as one row in memory; `None` for zeros.
pub(super) fn default_fill(datatype: &Datatype) -> Option<Vec<u8>> {
    let number = match datatype {
        Datatype::Int { bits, signed } => NumberType::integer(*bits, *signed)?,
        Datatype::Float(Float::Single) => NumberType::Float,
        Datatype::Float(Float::Double) => NumberType::Double,
        Datatype::Enum { base, .. } => return default_fill(base),
        _ => return None,
    };
    Some(number.default_fill())
}

/// The value that readers of NetCDF treat as missing although no attribute marks it.
pub(super) fn missing(datatype: &Datatype, fill: &Fill) -> Option<Vec<u8>> {
    match fill {
        // For types of one byte every value can be data; ncdump treats none as missing.
        _ if datatype.row_size() == Some(1) => None,
        Fill::Default => default_fill(datatype),
        Fill::Value(_) | Fill::Undefined => None,
    }
}
