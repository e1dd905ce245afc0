//! Zarr, versions 2 and 3.
//!
//! The modules are layers. Each uses only the layers before it:
//!
//! 1. [`json`]: strict JSON without loss, the text of metadata documents.
//! 2. [`data_type`]: data types, their names in metadata, and the layout of stored elements.
//! 3. [`metadata`]: parses and emits the documents of arrays and groups.
//! 4. [`hierarchy`]: the groups and arrays of a store, of version 2 or 3. The stores (directories, zip files, memory)
//!    are in [`hyperslab_core::store`].
//! 5. [`Array`]: reads and encodes elements of regions, through codecs and shards.
//! 6. [`mod@write`]: writes stores from definitions and elements: chunks first, documents last.
//! 7. [`check`](mod@check): checks whether a store conforms to the specification.
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
pub mod record;
pub mod write;

pub use array::Array;
