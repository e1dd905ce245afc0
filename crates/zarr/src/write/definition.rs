//! What an array is to be, and the documents of either version that say so.

mod chunks;
mod version_2;
mod version_3;

use super::{Version, WrittenCodec};
use crate::data_type::{ByteOrder, DataType, StructForm};
use crate::hierarchy::Metadata;
use crate::json::{Json, Object};
use crate::metadata::{Edges, Separator};
use hyperslab_codec::{Blosc, BloscCodec, BloscShuffle, Zstd};
use hyperslab_core::{Error, Result};

/// An array to be written: its shape and type, and what else is not to be as by default.
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
    struct_form: StructForm,
    separator: Option<Separator>,
    dimension_names: Option<Vec<Option<String>>>,
    attributes: Object,
    stores_fill: bool,
}

/// The documents of an array.
#[derive(Clone, Debug)]
pub struct ArrayDocuments {
    /// What they say, as a reader understands it.
    pub metadata: Metadata,
    /// Name and content of each.
    pub documents: Vec<(&'static str, Json)>,
    /// What the array is not as it was wanted, though no element is lost, and what had better not be written.
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
    /// An array of little-endian elements, filled with zeros or with nothing, in chunks of about a mebibyte that
    /// are compressed by Zstandard, numbers shuffled before.
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
            struct_form: StructForm::Registered,
            separator: None,
            dimension_names: None,
            attributes: Object::new(),
            stores_fill: false,
        }
    }

    /// Chunks of one shape; within shards, if there are any.
    #[must_use]
    pub fn chunks(mut self, shape: Vec<u64>) -> Self {
        self.chunks = Chunks::Regular(shape);
        self
    }

    /// Chunks of several sizes along each dimension.
    #[must_use]
    pub fn rectilinear(mut self, edges: Vec<Edges>) -> Self {
        self.chunks = Chunks::Rectilinear(edges);
        self
    }

    /// Shards of this shape, each one value of the store with many chunks in it.
    #[must_use]
    pub fn shards(mut self, shape: Vec<u64>) -> Self {
        self.shards = Some(shape);
        self
    }

    /// What chunks pass, first to last; nothing if the list is empty. What makes bytes of elements is not among
    /// them.
    #[must_use]
    pub fn codecs(mut self, codecs: Vec<WrittenCodec>) -> Self {
        self.codecs = Some(codecs);
        self
    }

    /// Chunks are stored with their dimensions in another order: dimension `i` as stored is dimension `order[i]`
    /// of the array.
    #[must_use]
    pub fn transpose(mut self, order: Vec<usize>) -> Self {
        self.transpose = Some(order);
        self
    }

    /// The element where nothing is written: a row, or the content of a string or of bytes.
    #[must_use]
    pub fn fill(mut self, row: Vec<u8>) -> Self {
        self.fill = Fill::Value(row);
        self
    }

    /// Nobody knows what elements are where nothing is written, which only version 2 can say.
    #[must_use]
    pub fn undefined_fill(mut self) -> Self {
        self.fill = Fill::Undefined;
        self
    }

    /// The order in which bytes of numbers are stored.
    #[must_use]
    pub fn byte_order(mut self, order: ByteOrder) -> Self {
        self.byte_order = order;
        self
    }

    /// How version 3 tells structs.
    #[must_use]
    pub fn struct_form(mut self, form: StructForm) -> Self {
        self.struct_form = form;
        self
    }

    /// What stands in keys of chunks; a slash in version 3 and a dot in version 2 if nothing is said.
    #[must_use]
    pub fn separator(mut self, separator: Separator) -> Self {
        self.separator = Some(separator);
        self
    }

    /// A name for each dimension that has one. Version 2 has them as others write them, in the attribute
    /// `_ARRAY_DIMENSIONS`.
    #[must_use]
    pub fn dimension_names(mut self, names: Vec<Option<String>>) -> Self {
        self.dimension_names = Some(names);
        self
    }

    /// What users say of the array.
    #[must_use]
    pub fn attributes(mut self, attributes: Object) -> Self {
        self.attributes = attributes;
        self
    }

    /// Chunks of nothing but the fill value are stored as well. They are always where the fill value is undefined.
    #[must_use]
    pub fn store_fill(mut self) -> Self {
        self.stores_fill = true;
        self
    }

    pub(super) fn stores_fill(&self) -> bool {
        self.stores_fill || matches!(self.fill, Fill::Undefined)
    }

    /// The attributes that were given.
    pub fn attributes_mut(&mut self) -> &mut Object {
        &mut self.attributes
    }

    /// The documents of the array, which readers, this one among them, take for what it is to be.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for what the version does not have, by
    /// name; [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for what no array is.
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
                return Err(Error::invalid(format!("{len} {what}, the array has {rank} dimensions")));
            }
        }
        if let Some(codecs) = &self.codecs {
            let first_of_bytes =
                codecs.iter().position(|codec| !codec.is_of_arrays()).unwrap_or(codecs.len());
            if codecs.iter().skip(first_of_bytes).any(WrittenCodec::is_of_arrays) {
                return Err(Error::invalid("a codec of arrays behind one of bytes"));
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

    /// Zstandard at level 3. Numbers are shuffled by Blosc, which is the one shuffle that every reader has.
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

/// What we wrote and do not understand ourselves was no array to begin with.
fn wrong(e: Error) -> Error {
    Error::invalid(e.detail().to_owned())
}

/// Blosc takes twice its level less one for Zstandard.
const LEVEL_3: u8 = 2;

#[cfg(test)]
mod tests;
