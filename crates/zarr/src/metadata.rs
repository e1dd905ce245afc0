//! Metadata documents, one file per entity; parsed and emitted in the same place, and nothing of them lost.
//!
//! [`v3`] has the documents of version 3, [`v2`] those of version 2. What both have in common is here.
//!
//! Spec: Zarr v3 "Metadata", Zarr v2 "Storage"

mod chunk_grid;
mod chunk_key_encoding;
mod extension;
pub mod v2;
pub mod v3;

pub use chunk_grid::{ChunkGrid, Edges};
pub use chunk_key_encoding::{ChunkKeyEncoding, Separator};
pub use extension::Extension;

use crate::json::Json;
use std::ops::Deref;

/// A value with the JSON that said it, where there is more than one way to say it.
#[derive(Clone, Debug, PartialEq)]
pub struct Written<T> {
    value: T,
    json: Json,
}

impl<T> Written<T> {
    pub(crate) fn new(value: T, json: Json) -> Written<T> {
        Written { value, json }
    }

    /// How the document says it.
    pub fn json(&self) -> &Json {
        &self.json
    }
}

impl<T> Deref for Written<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

#[cfg(test)]
mod tests;
