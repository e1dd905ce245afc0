//! Content of the model that Zarr cannot represent: it is kept in records, and elements are lowered to Zarr data types
//! and lifted back.

pub(in crate::format) mod lowering;
pub(super) mod members;
pub(in crate::format) mod record;
pub(in crate::format) mod value;
