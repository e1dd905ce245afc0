//! Level 0: file metadata.
//!
//! Spec: HDF5 II. The superblock extension (II.C) is an object header.

pub mod driver_info;
pub mod superblock;

pub use driver_info::{DriverInfo, DriverInfoBlock};
pub use superblock::Superblock;
