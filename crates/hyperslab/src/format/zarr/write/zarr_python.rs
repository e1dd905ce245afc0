//! The data types that zarr-python can read. If it cannot read the type of one array, it does not open a store whose
//! consolidated metadata contains this array; without consolidated metadata it reads all other arrays.
//!
//! Determined with zarr-python 3.1.6, the last version for Python 3.11.

use hyperslab_zarr::data_type::{DataType, Float, TypeForm};
use hyperslab_zarr::write::Version;

/// Whether zarr-python can read arrays of this type.
pub(super) fn reads(data_type: &DataType, version: Version, form: TypeForm) -> bool {
    match data_type {
        DataType::Bool
        | DataType::NullTerminatedBytes { .. }
        | DataType::FixedLengthUtf32 { .. }
        | DataType::String
        | DataType::Bytes
        | DataType::DateTime64(_)
        | DataType::TimeDelta64(_) => true,
        DataType::Integer { bits, .. } => *bits >= 8,
        DataType::Float(float) => matches!(float, Float::Float16 | Float::Float32 | Float::Float64),
        DataType::Complex(float) => matches!(float, Float::Float32 | Float::Float64),
        DataType::Raw { .. } => version == Version::V2 || form == TypeForm::Legacy,
        DataType::Struct(structure) => {
            let is_nested = |of: &DataType| matches!(of, DataType::Struct(_));
            let fits = |of: &DataType| match version {
                Version::V2 => !is_nested(of),
                Version::V3 => form == TypeForm::Legacy,
            };
            let mut fields = structure.fields().iter().map(|field| &field.data_type);
            fields.all(|field| fits(field) && reads(field, version, form))
        }
        DataType::Array { .. } => false,
    }
}
