//! What the model has and Zarr lacks: the attribute `hyperslab` keeps it, and elements are lowered to types of Zarr
//! and lifted back.

pub(super) mod lowering;
pub(super) mod members;
pub(super) mod record;
mod value;
