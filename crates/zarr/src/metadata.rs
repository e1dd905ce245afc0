//! Metadata documents, one file per entity. Each file parses and emits its document without loss.
//!
//! [`v3`] has the documents of version 3, [`v2`] those of version 2. This module has the shared parts.
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

use crate::data_type::{ByteOrder, DataType, Dtype, TypeForm};
use crate::json::Json;
use hyperslab_core::Result;
use std::ops::Deref;

/// A value with its JSON in the document, for values that have several forms in JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Written<T> {
    value: T,
    json: Json,
}

impl<T> Written<T> {
    pub(crate) fn new(value: T, json: Json) -> Written<T> {
        Written { value, json }
    }

    /// The JSON in the document.
    pub fn json(&self) -> &Json {
        &self.json
    }
}

impl Written<DataType> {
    /// A data type in the form of version 3.
    ///
    /// # Errors
    /// As [`DataType::emit`].
    pub fn data_type(data_type: DataType, form: TypeForm, order: ByteOrder) -> Result<Written<DataType>> {
        let json = data_type.emit(form, order)?;
        Ok(Written::new(data_type, json))
    }
}

impl Written<Dtype> {
    /// A data type in the form of version 2.
    ///
    /// # Errors
    /// As [`Dtype::emit`].
    pub fn dtype(dtype: Dtype) -> Result<Written<Dtype>> {
        let json = dtype.emit()?;
        Ok(Written::new(dtype, json))
    }
}

impl Written<Vec<u8>> {
    /// A fill value in the form of version 3.
    ///
    /// # Errors
    /// As [`DataType::emit_fill`].
    pub fn fill_value(data_type: &DataType, row: Vec<u8>) -> Result<Written<Vec<u8>>> {
        let json = data_type.emit_fill(&row)?;
        Ok(Written::new(row, json))
    }

    /// A fill value in the form of version 2.
    ///
    /// # Errors
    /// As [`Dtype::emit_fill`].
    pub fn fill_value_v2(dtype: &Dtype, row: Vec<u8>) -> Result<Written<Vec<u8>>> {
        let json = dtype.emit_fill(&row)?;
        Ok(Written::new(row, json))
    }
}

impl<T> Deref for Written<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// The documents that make their folder a node.
pub const NODE_DOCUMENTS: [&str; 3] = [v3::DOCUMENT, v2::ARRAY, v2::GROUP];

/// The names of all documents.
pub const DOCUMENTS: [&str; 5] = [v3::DOCUMENT, v2::CONSOLIDATED, v2::ARRAY, v2::GROUP, v2::ATTRIBUTES];

#[cfg(test)]
mod tests;
