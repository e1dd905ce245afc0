//! The definition of an array to be written, and its documents in version 2 or 3.

mod chunks;
mod version_2;
mod version_3;

use super::{Version, WrittenCodec};
use crate::data_type::{ByteOrder, DataType, TypeForm};
use crate::hierarchy::Metadata;
use crate::json::{Json, Object};
use crate::metadata::{Edges, Separator};
use hyperslab_codec::{Blosc, BloscCodec, BloscShuffle, Zstd};
use hyperslab_core::{Error, Result};

/// An array to be written: its shape, its type, and options.
///
/// ```
/// use hyperslab_zarr::data_type::{DataType, Float};
/// use hyperslab_zarr::write::{ArrayDefinition, Version};
///
/// let array = ArrayDefinition::new(vec![100, 200], DataType::Float(Float::Float32)).chunks(vec![10, 200]);
/// let v3 = array.documents(Version::V3)?;
/// assert_eq!(v3.documents[0].0, "zarr.json");
/// let e = array.shards(vec![100, 200]).documents(Version::V2).unwrap_err();
/// assert_eq!(e.to_string(), "shards, which version 2 does not have");
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ArrayDefinition {
    shape: Vec<u64>,
    data_type: DataType,
    chunks: Chunks,
    shards: Option<Vec<u64>>,
    codecs: Option<Vec<WrittenCodec>>,
    transpose: Option<Vec<usize>>,
    fill: Fill,
    byte_order: ByteOrder,
    type_form: TypeForm,
    separator: Option<Separator>,
    dimension_names: Option<Vec<Option<String>>>,
    attributes: Object,
    record: Object,
    stores_fill: bool,
}

/// The documents of an array.
#[derive(Clone, Debug)]
pub struct ArrayDocuments {
    /// The array as a reader sees it.
    pub metadata: Metadata,
    /// The name and content of each document.
    pub documents: Vec<(&'static str, Json)>,
    /// Warnings: differences from the request without loss of elements, and discouraged features.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug)]
enum Chunks {
    Default,
    Regular(Vec<u64>),
    Rectilinear(Vec<Edges>),
}

#[derive(Clone, Debug)]
enum Fill {
    Zero,
    Value(Vec<u8>),
    Undefined,
}

impl ArrayDefinition {
    /// An array with the default options: little-endian, a fill value of zeros or of empty strings, chunks of about 1 MiB
    /// with Zstandard compression, and a shuffle before it for numbers.
    pub fn new(shape: Vec<u64>, data_type: DataType) -> ArrayDefinition {
        ArrayDefinition {
            shape,
            data_type,
            chunks: Chunks::Default,
            shards: None,
            codecs: None,
            transpose: None,
            fill: Fill::Zero,
            byte_order: ByteOrder::Little,
            type_form: TypeForm::Registered,
            separator: None,
            dimension_names: None,
            attributes: Object::new(),
            record: Object::new(),
            stores_fill: false,
        }
    }

    /// Sets the shape of chunks, or of inner chunks if there are shards.
    #[must_use]
    pub fn chunks(mut self, shape: Vec<u64>) -> Self {
        self.chunks = Chunks::Regular(shape);
        self
    }

    /// Sets a rectilinear grid: chunks of several sizes along each dimension.
    #[must_use]
    pub fn rectilinear(mut self, edges: Vec<Edges>) -> Self {
        self.chunks = Chunks::Rectilinear(edges);
        self
    }

    /// Sets the shape of shards. A shard is one value of the store with several inner chunks.
    #[must_use]
    pub fn shards(mut self, shape: Vec<u64>) -> Self {
        self.shards = Some(shape);
        self
    }

    /// Sets the codecs in encoding order, without the array-to-bytes codec. An empty list stores plain elements.
    #[must_use]
    pub fn codecs(mut self, codecs: Vec<WrittenCodec>) -> Self {
        self.codecs = Some(codecs);
        self
    }

    /// Transposes stored chunks: dimension `i` of a stored chunk is dimension `order[i]` of the array.
    #[must_use]
    pub fn transpose(mut self, order: Vec<usize>) -> Self {
        self.transpose = Some(order);
        self
    }

    /// Sets the fill value: a row, or the content of a string or of bytes.
    #[must_use]
    pub fn fill(mut self, row: Vec<u8>) -> Self {
        self.fill = Fill::Value(row);
        self
    }

    /// Makes the fill value undefined, which only version 2 supports.
    #[must_use]
    pub fn undefined_fill(mut self) -> Self {
        self.fill = Fill::Undefined;
        self
    }

    /// Sets the byte order of stored numbers.
    #[must_use]
    pub fn byte_order(mut self, order: ByteOrder) -> Self {
        self.byte_order = order;
        self
    }

    /// Sets the form of structs in version 3.
    #[must_use]
    pub fn type_form(mut self, form: TypeForm) -> Self {
        self.type_form = form;
        self
    }

    /// Sets the separator in chunk keys. The default is a slash in version 3 and a dot in version 2.
    #[must_use]
    pub fn separator(mut self, separator: Separator) -> Self {
        self.separator = Some(separator);
        self
    }

    /// Sets the names of dimensions; `None` is a dimension without a name. In version 2, the names are in the attribute
    /// `_ARRAY_DIMENSIONS`, as in xarray.
    #[must_use]
    pub fn dimension_names(mut self, names: Vec<Option<String>>) -> Self {
        self.dimension_names = Some(names);
        self
    }

    /// Sets the user attributes.
    #[must_use]
    pub fn attributes(mut self, attributes: Object) -> Self {
        self.attributes = attributes;
        self
    }

    /// Sets the [record](crate::record).
    #[must_use]
    pub fn record(mut self, record: Object) -> Self {
        self.record = record;
        self
    }

    /// Also stores chunks whose elements all equal the fill value. If the fill value is undefined, all chunks are stored.
    #[must_use]
    pub fn store_fill(mut self) -> Self {
        self.stores_fill = true;
        self
    }

    pub(super) fn stores_fill(&self) -> bool {
        self.stores_fill || matches!(self.fill, Fill::Undefined)
    }

    /// The user attributes.
    pub fn attributes_mut(&mut self) -> &mut Object {
        &mut self.attributes
    }

    /// The [record](crate::record).
    pub fn record_mut(&mut self) -> &mut Object {
        &mut self.record
    }

    /// The documents of the array. Our own reader has parsed and checked them.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) with the name of a feature that the version
    /// does not have; [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for an invalid array.
    pub fn documents(&self, version: Version) -> Result<ArrayDocuments> {
        self.check()?;
        match version {
            Version::V2 => self.documents_v2(),
            Version::V3 => self.documents_v3(),
        }
    }

    fn check(&self) -> Result<()> {
        let rank = self.shape.len();
        let lists = [
            ("dimension names", self.dimension_names.as_ref().map(Vec::len)),
            ("dimensions of a shard", self.shards.as_ref().map(Vec::len)),
            ("dimensions to transpose", self.transpose.as_ref().map(Vec::len)),
            (
                "dimensions of a chunk",
                match &self.chunks {
                    Chunks::Default => None,
                    Chunks::Regular(chunk) => Some(chunk.len()),
                    Chunks::Rectilinear(edges) => Some(edges.len()),
                },
            ),
        ];
        for (what, len) in lists {
            if let Some(len) = len.filter(|len| *len != rank) {
                return Err(Error::invalid(format!("{len} {what}, expected {rank}, one per dimension")));
            }
        }
        if let Some(codecs) = &self.codecs {
            let first_of_bytes =
                codecs.iter().position(|codec| !codec.is_of_arrays()).unwrap_or(codecs.len());
            if codecs.iter().skip(first_of_bytes).any(WrittenCodec::is_of_arrays) {
                return Err(Error::invalid("an array-to-array codec after a bytes-to-bytes codec"));
            }
        }
        Ok(())
    }

    fn fill_row(&self) -> Result<Option<Vec<u8>>> {
        let varies = self.data_type.stored_size().is_none();
        match &self.fill {
            Fill::Value(row) => Ok(Some(row.clone())),
            Fill::Zero if varies => Ok(Some(Vec::new())),
            Fill::Zero => {
                let size = self.data_type.row_size();
                let size = usize::try_from(size).ok().filter(|_| size <= crate::data_type::MAX_ELEMENT);
                let size = size.ok_or_else(|| Error::invalid("elements that are too large"))?;
                Ok(Some(vec![0; size]))
            }
            Fill::Undefined => Ok(None),
        }
    }

    /// Zstandard at level 3. Blosc shuffles numbers, because it is the only shuffle that all readers support.
    fn codecs_or_default(&self) -> Vec<WrittenCodec> {
        if let Some(codecs) = &self.codecs {
            return codecs.clone();
        }
        let element = match &self.data_type {
            DataType::Integer { .. }
            | DataType::Float(_)
            | DataType::Complex(_)
            | DataType::DateTime64(_)
            | DataType::TimeDelta64(_) => self.data_type.swapped_together(),
            _ => 1,
        };
        match element {
            1 => vec![Zstd { level: 3, checksum: false }.into()],
            element => {
                let (codec, shuffle) = (BloscCodec::Zstd, BloscShuffle::Byte);
                vec![Blosc { codec, level: LEVEL_3, shuffle, element: element.into(), block: 0 }.into()]
            }
        }
    }
}

/// Errors of our own reader in the new documents are errors in the definition.
fn wrong(e: Error) -> Error {
    Error::invalid(e.detail().to_owned())
}

/// Blosc uses Zstandard at level 2 × its own level − 1.
const LEVEL_3: u8 = 2;

#[cfg(test)]
mod tests;
