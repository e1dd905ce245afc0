//! What an array is to be, and the documents of either version that say so.

use super::{Version, WrittenCodec};
use crate::data_type::{ByteOrder, DataType, Dtype, Layout, StructForm};
use crate::hierarchy::Metadata;
use crate::json::{Json, Object};
use crate::metadata::v2::{self, Order};
use crate::metadata::v3::{self, NodeMetadata};
use crate::metadata::{ChunkGrid, ChunkKeyEncoding, Edges, Extension, Separator, Written};
use hyperslab_codec::{Blosc, BloscCodec, BloscShuffle, Zstd};
use hyperslab_core::{Error, Limits, Result};

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

    pub(super) fn attributes_mut(&mut self) -> &mut Object {
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

    fn documents_v3(&self) -> Result<ArrayDocuments> {
        let mut warnings = Vec::new();
        let data_type = self.data_type_v3(&mut warnings)?;
        let row = self
            .fill_row()?
            .ok_or_else(|| Error::unsupported("an undefined fill value, which version 3 does not have"))?;
        let (chunk_grid, codecs) = self.grid_and_codecs(&data_type)?;
        let keys = ChunkKeyEncoding::Default(self.separator.unwrap_or(Separator::Slash));
        let fill_value = match (&data_type, self.struct_form) {
            // Whoever reads no other form expects what zarr-python 3.1 wrote.
            (DataType::Struct(_), StructForm::Legacy) => {
                let byte_order = Some(self.byte_order);
                Written::fill_value_v2(&Dtype { data_type: data_type.clone(), byte_order }, row)?
            }
            _ => Written::fill_value(&data_type, row)?,
        };
        let metadata = v3::ArrayMetadata {
            shape: self.shape.clone(),
            data_type: Written::data_type(data_type, self.struct_form, self.byte_order)?,
            chunk_grid,
            chunk_key_encoding: keys.written(),
            fill_value,
            codecs,
            byte_order: Some(self.byte_order),
            attributes: (!self.attributes.is_empty()).then(|| self.attributes.clone()),
            storage_transformers: None,
            dimension_names: self.dimension_names.clone(),
            unknown: Object::new(),
            deviations: Vec::new(),
        };
        let json = NodeMetadata::Array(Box::new(metadata)).emit();
        let understood = NodeMetadata::parse(&json, &own_limits()).map_err(wrong)?;
        Ok(ArrayDocuments {
            metadata: Metadata::V3(understood),
            documents: vec![(v3::DOCUMENT, json)],
            warnings,
        })
    }

    fn documents_v2(&self) -> Result<ArrayDocuments> {
        if self.shards.is_some() {
            return Err(Error::unsupported("shards, which version 2 does not have"));
        }
        let chunks = match &self.chunks {
            Chunks::Default => default_chunks(&self.shape, self.data_type.row_size()),
            Chunks::Regular(chunk) => chunk.clone(),
            Chunks::Rectilinear(_) => {
                return Err(Error::unsupported("chunks of several sizes, which version 2 does not have"));
            }
        };
        let dtype = self.dtype_v2();
        let fill_value = match self.fill_row()? {
            Some(row) => Some(Written::fill_value_v2(&dtype, row)?),
            None => None,
        };
        if let Some(bits) = fill_value.as_ref().and_then(|value| bits_in(value.json(), &self.data_type)) {
            return Err(Error::unsupported(format!("the fill value {bits}, which version 2 cannot spell")));
        }
        let (filters, compressor) = self.filters_and_compressor()?;
        let metadata = v2::ArrayMetadata {
            shape: self.shape.clone(),
            chunks,
            dtype: Written::dtype(dtype)?,
            compressor,
            fill_value,
            order: self.order_v2()?,
            filters: (!filters.is_empty()).then_some(filters),
            dimension_separator: Some(self.separator.unwrap_or(Separator::Dot)),
            unknown: Object::new(),
            deviations: Vec::new(),
        };
        let attributes = self.attributes_v2()?;
        let mut documents = vec![(v2::ARRAY, metadata.emit())];
        let array = documents.first().map(|(_, json)| v2::ArrayMetadata::parse(json, &own_limits()));
        let array = array.transpose().map_err(wrong)?.unwrap_or(metadata);
        if let Some(attributes) = &attributes {
            documents.insert(0, (v2::ATTRIBUTES, Json::Object(attributes.clone())));
        }
        let metadata = Metadata::V2Array { array: Box::new(array), attributes };
        Ok(ArrayDocuments { metadata, documents, warnings: Vec::new() })
    }

    /// The type as version 3 can tell it: rows are the same without padding.
    fn data_type_v3(&self, warnings: &mut Vec<String>) -> Result<DataType> {
        let DataType::Struct(structure) = &self.data_type else { return Ok(self.data_type.clone()) };
        match self.struct_form {
            StructForm::Seed => return Ok(self.data_type.clone()),
            StructForm::Legacy => {
                warnings.push("\"structured\", which is only to be read and not to be written".to_owned());
            }
            StructForm::Registered => {}
        }
        if structure.fields().iter().any(|field| field.title.is_some()) {
            warnings.push("titles of fields, which \"struct\" does not have".to_owned());
        }
        Ok(DataType::Struct(structure.packed()))
    }

    fn dtype_v2(&self) -> Dtype {
        let ordered = self.data_type.swapped_together() > 1;
        Dtype { data_type: self.data_type.clone(), byte_order: ordered.then_some(self.byte_order) }
    }

    fn fill_row(&self) -> Result<Option<Vec<u8>>> {
        let varies = self.data_type.stored_size().is_none();
        match &self.fill {
            Fill::Value(row) => Ok(Some(row.clone())),
            Fill::Zero if varies => Ok(Some(Vec::new())),
            Fill::Zero => {
                let size = self.data_type.row_size();
                let size = usize::try_from(size).ok().filter(|_| size <= crate::data_type::MOST_ELEMENT);
                let size = size.ok_or_else(|| Error::invalid("elements that are too large"))?;
                Ok(Some(vec![0; size]))
            }
            Fill::Undefined => Ok(None),
        }
    }

    fn grid_and_codecs(&self, data_type: &DataType) -> Result<(Written<ChunkGrid>, Vec<Extension>)> {
        let codecs = self.codecs_v3(data_type)?;
        let Some(shards) = &self.shards else {
            let grid = match &self.chunks {
                Chunks::Default => ChunkGrid::regular(default_chunks(&self.shape, data_type.row_size())),
                Chunks::Regular(chunk) => ChunkGrid::regular(chunk.clone()),
                Chunks::Rectilinear(edges) => ChunkGrid::rectilinear(edges.clone()),
            };
            return Ok((grid, codecs));
        };
        let chunks = match &self.chunks {
            Chunks::Default => fitting(default_chunks(&self.shape, data_type.row_size()), shards),
            Chunks::Regular(chunk) => chunk.clone(),
            Chunks::Rectilinear(_) => {
                return Err(Error::unsupported(
                    "chunks of several sizes within shards, which Zarr does not have",
                ));
            }
        };
        for (chunk, shard) in chunks.iter().zip(shards) {
            if *chunk == 0 || !shard.is_multiple_of(*chunk) {
                return Err(Error::invalid(format!("chunks of {chunks:?} do not fill shards of {shards:?}")));
            }
        }
        let emit = |codecs: &[Extension]| Json::Array(codecs.iter().map(Extension::emit).collect());
        let mut configuration = Object::new();
        configuration.insert("chunk_shape", chunks.as_slice().into());
        configuration.insert("codecs", emit(&codecs));
        let index = [bytes_codec(Some(ByteOrder::Little)), Extension::new("crc32c", None)];
        configuration.insert("index_codecs", emit(&index));
        configuration.insert("index_location", "end".into());
        let sharding = Extension::new("sharding_indexed", Some(configuration));
        Ok((ChunkGrid::regular(shards.clone()), vec![sharding]))
    }

    fn codecs_v3(&self, data_type: &DataType) -> Result<Vec<Extension>> {
        let mut list = Vec::new();
        if let Some(order) = &self.transpose {
            let mut configuration = Object::new();
            let order: Vec<u64> = order.iter().map(|dimension| *dimension as u64).collect();
            configuration.insert("order", order.as_slice().into());
            list.push(Extension::new("transpose", Some(configuration)));
        }
        let codecs = self.codecs_or_default();
        for codec in codecs.iter().filter(|codec| codec.is_of_arrays()) {
            list.push(codec.registered()?);
        }
        list.push(match data_type {
            DataType::String => Extension::new("vlen-utf8", None),
            DataType::Bytes => Extension::new("vlen-bytes", None),
            data_type => bytes_codec(Layout::new(data_type, None).is_err().then_some(self.byte_order)),
        });
        for codec in codecs.iter().filter(|codec| !codec.is_of_arrays()) {
            list.push(codec.registered()?);
        }
        Ok(list)
    }

    fn filters_and_compressor(
        &self,
    ) -> Result<(Vec<v2::CodecConfiguration>, Option<v2::CodecConfiguration>)> {
        let objects = match &self.data_type {
            DataType::String => Some("vlen-utf8"),
            DataType::Bytes => Some("vlen-bytes"),
            _ => None,
        };
        let mut codecs = self.codecs_or_default();
        let compressor = match codecs.last() {
            Some(last) if !last.is_filter() => codecs.pop(),
            _ => None,
        };
        let objects = objects
            .map(|id| v2::CodecConfiguration { id: id.to_owned(), parameters: Object::new() })
            .into_iter();
        let filters = objects.map(Ok).chain(codecs.iter().map(WrittenCodec::configuration));
        let compressor = compressor.map(|codec| codec.configuration()).transpose()?;
        Ok((filters.collect::<Result<_>>()?, compressor))
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

    fn order_v2(&self) -> Result<Order> {
        let Some(order) = &self.transpose else { return Ok(Order::C) };
        let rank = order.len();
        if order.iter().copied().eq(0..rank) {
            Ok(Order::C)
        } else if order.iter().copied().eq((0..rank).rev()) {
            Ok(Order::F)
        } else {
            Err(Error::unsupported(format!("dimensions stored as {order:?}, which version 2 cannot say")))
        }
    }

    fn attributes_v2(&self) -> Result<Option<Object>> {
        let mut attributes = self.attributes.clone();
        if let Some(names) = self.dimension_names.as_ref().filter(|names| names.iter().any(Option::is_some)) {
            let name = |name: &Option<String>| match name {
                Some(name) => Ok(Json::from(name.as_str())),
                None => Err(Error::unsupported("names of some dimensions only, which version 2 cannot say")),
            };
            let names = Json::Array(names.iter().map(name).collect::<Result<_>>()?);
            match attributes.get(DIMENSIONS) {
                Some(told) if *told != names => {
                    return Err(Error::invalid(format!("an attribute {DIMENSIONS:?} with other names")));
                }
                _ => attributes.insert(DIMENSIONS, names),
            }
        }
        Ok((!attributes.is_empty()).then_some(attributes))
    }
}

fn bytes_codec(order: Option<ByteOrder>) -> Extension {
    let configuration = order.map(|order| {
        let mut configuration = Object::new();
        configuration.insert("endian", if order == ByteOrder::Little { "little" } else { "big" }.into());
        configuration
    });
    Extension::new("bytes", configuration)
}

/// Whole chunks of about a mebibyte: the longest dimension is halved until they are small enough.
fn default_chunks(shape: &[u64], row: u64) -> Vec<u64> {
    let mut chunk: Vec<u64> = shape.iter().map(|len| (*len).max(1)).collect();
    loop {
        let size = chunk.iter().fold(row, |size, len| size.saturating_mul(*len));
        // The first of the longest: what is near in memory stays together.
        let longest = chunk.iter_mut().rev().max_by_key(|len| **len);
        match longest {
            Some(len) if size > CHUNK_BYTES && *len > 1 => *len = len.div_ceil(2),
            _ => return chunk,
        }
    }
}

/// The largest chunks, no larger than these, that fill shards.
fn fitting(chunks: Vec<u64>, shards: &[u64]) -> Vec<u64> {
    let largest = |(chunk, shard): (u64, &u64)| {
        let divisor = |count: u64| (count.saturating_mul(count) <= *shard).then_some(count);
        let divisors = (1..=SIEVE).map_while(divisor).filter(|count| shard.is_multiple_of(*count));
        divisors.flat_map(|count| [count, shard / count]).filter(|size| *size <= chunk).max().unwrap_or(1)
    };
    chunks.into_iter().zip(shards).map(largest).collect()
}

/// The bits of a number that JSON of version 2 has no word for.
fn bits_in(json: &Json, data_type: &DataType) -> Option<String> {
    match (json, data_type) {
        (Json::String(text), DataType::Float(_) | DataType::Complex(_)) if text.starts_with("0x") => {
            Some(text.clone())
        }
        (Json::Array(parts), DataType::Complex(_)) => parts.iter().find_map(|part| bits_in(part, data_type)),
        _ => None,
    }
}

/// What we wrote and do not understand ourselves was no array to begin with.
fn wrong(e: Error) -> Error {
    Error::invalid(e.detail().to_owned())
}

/// What we are told to write is not a file that we mistrust.
fn own_limits() -> Limits {
    Limits { allocation: u64::MAX, ..Limits::default() }
}

const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// Compresses and is read well, and a region of a few elements does not cost much.
const CHUNK_BYTES: u64 = 1 << 20;

/// Blosc takes twice its level less one for Zstandard.
const LEVEL_3: u8 = 2;

/// Divisors are looked for up to here, so that a shard of any size takes no time.
const SIEVE: u64 = 1 << 16;

#[cfg(test)]
mod tests;
