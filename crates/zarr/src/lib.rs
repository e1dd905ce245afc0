//! Zarr, versions 2 and 3.
//!
//! Layers, each using only those before it:
//!
//! 1. [`json`]: the text that metadata is written in, strictly parsed, nothing lost.
//! 2. [`data_type`]: what elements are, how they are stored, and how metadata tells both.
//! 3. [`metadata`]: the documents of arrays and groups, parsed and emitted.
//! 4. [`hierarchy`]: groups and arrays of a store, of either version. Stores themselves, directories, zip files
//!    and memory, are in [`hyperslab_core::store`].
//! 5. [`Array`]: elements of regions, through codecs and shards.
//! 6. [`mod@write`]: stores from definitions and elements, the documents last.
//! 7. [`check`](mod@check): whether a store is sound.
//!
//! ```
//! use hyperslab_core::Limits;
//! use hyperslab_zarr::hierarchy::Hierarchy;
//! use hyperslab_core::store::{Key, MemoryStore};
//! use std::sync::Arc;
//!
//! let mut store = MemoryStore::new();
//! store.insert(&Key::new("zarr.json")?, r#"{"zarr_format": 3, "node_type": "group"}"#);
//! store.insert(&Key::new("depths/.zgroup")?, r#"{"zarr_format": 2}"#);
//!
//! let hierarchy = Hierarchy::open(Arc::new(store), Limits::default())?;
//! let paths: Vec<_> = hierarchy.walk(&Key::root()).map(|(path, _)| path.to_string()).collect();
//! assert_eq!(paths, ["", "depths"]);
//! # Ok::<(), hyperslab_core::Error>(())
//! ```

mod array;
pub mod check;
pub mod codec;
pub mod data_type;
pub mod hierarchy;
pub mod json;
pub mod metadata;
pub mod name;
pub mod write;

pub use array::Array;
