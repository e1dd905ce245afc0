//! What the formats of NetCDF have in common: the values of elements that were never written, and of those that are
//! missing.

use hyperslab_model::{Datatype, Fill, Float};
use hyperslab_netcdf4::NumberType;

/// The element that NetCDF fills arrays of this type with where nothing was written; `None` if that is zeros.
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

/// The value that readers of NetCDF take for a missing one although no attribute says so.
pub(super) fn missing(datatype: &Datatype, fill: &Fill) -> Option<Vec<u8>> {
    match fill {
        // A byte may hold anything, as ncdump reads them.
        _ if datatype.row_size() == Some(1) => None,
        Fill::Default => default_fill(datatype),
        Fill::Value(_) | Fill::Undefined => None,
    }
}
