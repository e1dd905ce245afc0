//! Writes stores: definitions of arrays and groups, then chunks, and last the documents, which make the nodes readable.
//!
//! ```
//! use hyperslab_codec::Scratch;
//! use hyperslab_core::rows::Heap;
//! use hyperslab_zarr::data_type::DataType;
//! use hyperslab_core::store::{Key, MemoryStore};
//! use hyperslab_zarr::write::{ArrayDefinition, HierarchyWriter, Version};
//! use std::sync::Arc;
//!
//! let store = Arc::new(MemoryStore::new());
//! let hierarchy = HierarchyWriter::new(store.clone(), Version::V3)?;
//! let bytes = ArrayDefinition::new(vec![6], DataType::Integer { signed: false, bits: 8 }).chunks(vec![4]);
//! let array = hierarchy.array(&Key::root(), "bytes", bytes)?;
//! let (heap, mut scratch) = (Heap::<()>::default(), Scratch::new());
//! array.write_chunk(&[0], &[1, 2, 3, 4], &heap, &mut scratch)?;
//! array.write_chunk(&[1], &[5, 6], &heap, &mut scratch)?;
//! array.finish()?;
//! hierarchy.finish(true)?;
//! # Ok::<(), hyperslab_core::Error>(())
//! ```
//!
//! Spec: Zarr v3, Zarr v2

mod array;
mod codec;
mod definition;
mod hierarchy;

pub use array::{ArrayWriter, is_mostly_padding};
pub use codec::WrittenCodec;
pub use definition::{ArrayDefinition, ArrayDocuments};
pub use hierarchy::{GroupDefinition, HierarchyWriter, PlacedNode};

/// A version of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// Version 2.
    V2,
    /// Version 3.
    V3,
}
