#![doc = include_str!("../README.md")]
//! ## Contents
//!
//! The modules are layers. Each uses only the layers before it:
//!
//! 1. [`json`]: strict, lossless JSON, the text of metadata documents.
//! 2. [`data_type`]: data types, their names in metadata, and the layout of stored elements.
//! 3. [`metadata`]: parses and emits the documents of arrays and groups.
//! 4. [`hierarchy`]: the groups and arrays of a store, of version 2 or 3. The stores (directories, zip files, memory)
//!    are in [`hyperslab_core::store`].
//! 5. [`Array`]: reads and encodes elements of regions, through codecs and shards.
//! 6. [`mod@write`]: writes stores from definitions and elements: chunks first, documents last.
//! 7. [`check`](mod@check): checks whether a store conforms to the specification.

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
