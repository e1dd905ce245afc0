//! Content of the model that Zarr cannot represent: records keep it, and elements are lowered to
//! datatypes of Zarr and lifted back.

pub(in crate::format) mod lowering;
pub(super) mod members;
pub(in crate::format) mod record;
pub(in crate::format) mod value;
