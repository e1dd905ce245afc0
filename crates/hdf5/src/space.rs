//! Where structures and data lie in a file.
//!
//! Spec: HDF5 IV.A.2.x File Space Info Message; libhdf5 allocates by its own rules, which the specification leaves
//! open.

mod allocate;

pub use allocate::{Space, SpaceKind};
