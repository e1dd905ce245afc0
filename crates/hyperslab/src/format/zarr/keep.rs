//! Content of the model that Zarr cannot represent: records keep it, and elements are lowered to
//! datatypes of Zarr and lifted back.

pub(super) mod lowering;
pub(super) mod members;
pub(super) mod record;
mod value;
