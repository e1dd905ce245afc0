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

use crate::data_type::{ByteOrder, DataType, Dtype, StructForm};
use crate::json::Json;
use hyperslab_core::Result;
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

impl Written<DataType> {
    /// A type as version 3 writes it.
    ///
    /// # Errors
    /// As [`DataType::emit`].
    pub fn data_type(data_type: DataType, form: StructForm, order: ByteOrder) -> Result<Written<DataType>> {
        let json = data_type.emit(form, order)?;
        Ok(Written::new(data_type, json))
    }
}

impl Written<Dtype> {
    /// A type as version 2 writes it.
    ///
    /// # Errors
    /// As [`Dtype::emit`].
    pub fn dtype(dtype: Dtype) -> Result<Written<Dtype>> {
        let json = dtype.emit()?;
        Ok(Written::new(dtype, json))
    }
}

impl Written<Vec<u8>> {
    /// A fill value as version 3 writes it.
    ///
    /// # Errors
    /// As [`DataType::emit_fill`].
    pub fn fill_value(data_type: &DataType, row: Vec<u8>) -> Result<Written<Vec<u8>>> {
        let json = data_type.emit_fill(&row)?;
        Ok(Written::new(row, json))
    }

    /// A fill value as version 2 writes it.
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

/// Documents of which each makes a node of where it lies.
pub const NODE_DOCUMENTS: [&str; 3] = [v3::DOCUMENT, v2::ARRAY, v2::GROUP];

/// All documents, whatever they say of a node.
pub const DOCUMENTS: [&str; 5] = [v3::DOCUMENT, v2::CONSOLIDATED, v2::ARRAY, v2::GROUP, v2::ATTRIBUTES];

#[cfg(test)]
mod tests;
