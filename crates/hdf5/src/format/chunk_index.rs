//! Types of indexes for dataset chunks.
//!
//! Spec: HDF5 VII Appendix C. The single-chunk and implicit indexes have no structures of their own, and the
//! records of the version 2 B-tree index are with the [B-tree](super::infrastructure::btree_v2).

pub mod element;
pub mod extensible_array;
pub mod fixed_array;
pub mod page;

pub use element::{Client, Element};
pub use extensible_array::ExtensibleArrayHeader;
pub use fixed_array::{FixedArrayDataBlock, FixedArrayHeader};
pub use page::DataBlockPage;
