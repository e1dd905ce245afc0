//! `.zarray`.
//!
//! Spec: Zarr v2 "Arrays"

use super::{ARRAY, check_version};
use crate::data_type::{Dtype, FillRules, ObjectCodec, TypeForm};
use crate::json::{Context, Deviation, Json, Object, Spot};
use crate::metadata::{ChunkKeyEncoding, Separator, Written};
use hyperslab_core::{Limits, Result, nd};

/// The document of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayMetadata {
    /// The size along each dimension.
    pub shape: Vec<u64>,
    /// The shape of a chunk, in elements.
    pub chunks: Vec<u64>,
    /// The data type and the byte order.
    pub dtype: Written<Dtype>,
    /// The compressor, which is the last codec.
    pub compressor: Option<CodecConfiguration>,
    /// The fill value: a row, or the content of a string or of bytes. `None` if it is undefined.
    pub fill_value: Option<Written<Vec<u8>>>,
    /// The order of elements in a chunk.
    pub order: Order,
    /// The filters, in encoding order, before compression.
    pub filters: Option<Vec<CodecConfiguration>>,
    /// The separator in chunk keys. `None` means a dot.
    pub dimension_separator: Option<Separator>,
    /// Members that the specification does not know.
    pub unknown: Object,
    /// The accepted deviations from the specification.
    pub deviations: Vec<Deviation>,
}

/// A codec of numcodecs with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct CodecConfiguration {
    /// The name.
    pub id: String,
    /// All other members.
    pub parameters: Object,
}

/// The order of elements in a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last dimension varies fastest.
    C,
    /// The first dimension varies fastest.
    F,
}

impl ArrayMetadata {
    /// Parses `.zarray`.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) with the JSON Pointer of the invalid value,
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for unknown data types and filters.
    pub fn parse(json: &Json, limits: &Limits) -> Result<ArrayMetadata> {
        let context = Context::new(limits);
        let mut metadata = parse(json, &context.document(ARRAY))?;
        metadata.deviations = context.into_deviations();
        Ok(metadata)
    }

    /// The document.
    pub fn emit(&self) -> Json {
        let codec = |codec: &CodecConfiguration| codec.emit();
        let mut object = Object::new();
        object.insert("zarr_format", 2.into());
        object.insert("shape", self.shape.as_slice().into());
        object.insert("chunks", self.chunks.as_slice().into());
        object.insert("dtype", self.dtype.json().clone());
        object.insert("compressor", self.compressor.as_ref().map_or(Json::Null, codec));
        object
            .insert("fill_value", self.fill_value.as_ref().map_or(Json::Null, |value| value.json().clone()));
        object.insert("order", if self.order == Order::C { "C" } else { "F" }.into());
        let filters = |filters: &Vec<CodecConfiguration>| Json::Array(filters.iter().map(codec).collect());
        object.insert("filters", self.filters.as_ref().map_or(Json::Null, filters));
        if let Some(separator) = self.dimension_separator {
            object.insert("dimension_separator", separator.text().into());
        }
        for (name, value) in self.unknown.iter() {
            object.insert(name, value.clone());
        }
        Json::Object(object)
    }

    /// The chunk grid.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for chunk sizes of more than 2^64.
    pub fn grid(&self) -> Result<nd::ChunkGrid> {
        // Only dimensions of length 0 can have chunks of 0. They contain no elements.
        let chunks: Vec<u64> = self.chunks.iter().map(|chunk| (*chunk).max(1)).collect();
        nd::ChunkGrid::regular(&chunks)
    }

    /// The rule for chunk keys.
    pub fn chunk_key_encoding(&self) -> ChunkKeyEncoding {
        ChunkKeyEncoding::V2(self.dimension_separator.unwrap_or(Separator::Dot))
    }
}

impl CodecConfiguration {
    fn parse(json: &Json, at: &Spot<'_>) -> Result<CodecConfiguration> {
        let object = json.object(at)?;
        let id = object.required("id", at)?.text(&at.name("id"))?.to_owned();
        Ok(CodecConfiguration { id, parameters: object.others(&["id"]) })
    }

    fn emit(&self) -> Json {
        let mut object = Object::new();
        object.insert("id", self.id.as_str().into());
        for (name, value) in self.parameters.iter() {
            object.insert(name, value.clone());
        }
        Json::Object(object)
    }
}

fn parse(json: &Json, at: &Spot<'_>) -> Result<ArrayMetadata> {
    let object = json.object(at)?;
    check_version(object, at)?;
    let here = at.name("shape");
    let shape = object.required("shape", at)?.unsigned_array(&here)?;
    if shape.len() as u64 > u64::from(at.limits().rank) {
        return Err(here.too_large(format!(
            "{} dimensions, expected at most {}",
            shape.len(),
            at.limits().rank
        )));
    }
    let chunks = chunks(object, &shape, at)?;
    let filters = filters(object, at)?;
    let told = object.required("dtype", at)?;
    let objects = filters.iter().flatten().next().and_then(|filter| match filter.id.as_str() {
        "vlen-utf8" | "json2" => Some(ObjectCodec::Utf8),
        "vlen-bytes" => Some(ObjectCodec::Bytes),
        _ => None,
    });
    if let (Some("|O"), None, Some(filter)) = (told.as_str(), objects, filters.iter().flatten().next()) {
        return Err(at
            .name("filters")
            .index(0)
            .unsupported(format!("objects of the filter {:?}", filter.id)));
    }
    let dtype = Dtype::parse(told, objects, &at.name("dtype"))?;
    let fill_value = match object.required("fill_value", at)? {
        Json::Null => None,
        json => {
            let rules = FillRules { version_2: true, form: TypeForm::Registered, order: dtype.byte_order };
            let value = dtype.data_type.parse_fill(json, rules, &at.name("fill_value"))?;
            Some(Written::new(value, json.clone()))
        }
    };
    let here = at.name("order");
    let order = match object.required("order", at)?.text(&here)? {
        "C" => Order::C,
        "F" => Order::F,
        other => return Err(here.malformed(format!("{other:?}, expected \"C\" or \"F\""))),
    };
    let separator = at.name("dimension_separator");
    Ok(ArrayMetadata {
        chunks,
        dtype: Written::new(dtype, told.clone()),
        compressor: compressor(object, at)?,
        fill_value,
        order,
        filters,
        dimension_separator: object
            .get("dimension_separator")
            .map(|json| Separator::parse(json, &separator))
            .transpose()?,
        unknown: object.others(&KNOWN),
        deviations: Vec::new(),
        shape,
    })
}

fn chunks(object: &Object, shape: &[u64], at: &Spot<'_>) -> Result<Vec<u64>> {
    let here = at.name("chunks");
    let chunks = object.required("chunks", at)?.unsigned_array(&here)?;
    if chunks.len() != shape.len() {
        let found = chunks.len();
        return Err(here.malformed(format!("{found} dimensions, expected {} as in the array", shape.len())));
    }
    for (index, (chunk, len)) in chunks.iter().zip(shape).enumerate() {
        match (chunk, len) {
            (0, 0) => here.index(index).deviates("0, expected 1 or more"),
            (0, _) => return Err(here.index(index).malformed("0, expected 1 or more")),
            _ => {}
        }
    }
    Ok(chunks)
}

fn filters(object: &Object, at: &Spot<'_>) -> Result<Option<Vec<CodecConfiguration>>> {
    let here = at.name("filters");
    match object.get("filters") {
        Some(Json::Null) => Ok(None),
        Some(json) => {
            let filters = json.array(&here)?.iter().enumerate();
            filters
                .map(|(i, json)| CodecConfiguration::parse(json, &here.index(i)))
                .collect::<Result<_>>()
                .map(Some)
        }
        None => {
            here.deviates("no filters, expected null or a list");
            Ok(None)
        }
    }
}

fn compressor(object: &Object, at: &Spot<'_>) -> Result<Option<CodecConfiguration>> {
    let here = at.name("compressor");
    match object.get("compressor") {
        Some(Json::Null) => Ok(None),
        Some(json) => CodecConfiguration::parse(json, &here).map(Some),
        None => {
            here.deviates("no compressor, expected null or a codec");
            Ok(None)
        }
    }
}

const KNOWN: [&str; 9] = [
    "zarr_format",
    "shape",
    "chunks",
    "dtype",
    "compressor",
    "fill_value",
    "order",
    "filters",
    "dimension_separator",
];
