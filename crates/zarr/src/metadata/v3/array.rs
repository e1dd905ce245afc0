//! Array metadata.
//!
//! Spec: Zarr v3 "Array metadata"

use super::{OF_ALL, attributes, check_unknown, insert_all};
use crate::data_type::{ByteOrder, DataType, FillRules, Layout, TypeForm};
use crate::json::{Deviation, Json, Object, Spot};
use crate::metadata::{ChunkGrid, ChunkKeyEncoding, Extension, Written};
use hyperslab_core::{ErrorKind, Result};

/// The `zarr.json` of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayMetadata {
    /// The size along each dimension.
    pub shape: Vec<u64>,
    /// The data type.
    pub data_type: Written<DataType>,
    /// The chunk grid.
    pub chunk_grid: Written<ChunkGrid>,
    /// The rule for chunk keys.
    pub chunk_key_encoding: Written<ChunkKeyEncoding>,
    /// The fill value: a row, or the content of a string or of bytes.
    pub fill_value: Written<Vec<u8>>,
    /// The codecs, in encoding order.
    pub codecs: Vec<Extension>,
    /// The byte order of the codec `bytes`, which may be inside `sharding_indexed`.
    pub byte_order: Option<ByteOrder>,
    /// The user attributes.
    pub attributes: Option<Object>,
    /// The storage transformers. All of them may be ignored.
    pub storage_transformers: Option<Vec<Extension>>,
    /// The name of each dimension, if it has one.
    pub dimension_names: Option<Vec<Option<String>>>,
    /// Unknown members that may be ignored.
    pub unknown: Object,
    /// The accepted deviations from the specification.
    pub deviations: Vec<Deviation>,
}

impl ArrayMetadata {
    pub(super) fn parse(mut object: Object, at: &Spot<'_>) -> Result<ArrayMetadata> {
        let shape = shape(&object, at)?;
        let told = object.take_required("data_type", at)?;
        let data_type = DataType::parse(&told, &at.name("data_type"))?;
        let grid = object.take_required("chunk_grid", at)?;
        let chunk_grid = ChunkGrid::parse(&grid, &shape, &at.name("chunk_grid"))?;
        let keys = object.take_required("chunk_key_encoding", at)?;
        let chunk_key_encoding = ChunkKeyEncoding::parse(&keys, &at.name("chunk_key_encoding"))?;
        let there = at.name("codecs");
        let codecs = Extension::parse_list(object.take_required("codecs", at)?, &there)?;
        if codecs.is_empty() {
            return Err(there.malformed("no codecs, expected at least an array-to-bytes codec"));
        }
        let form = TypeForm::of(&told);
        let byte_order = byte_order(&codecs, &data_type, form, 0, &there)?;
        let value = object.take_required("fill_value", at)?;
        let rules = FillRules { version_2: false, form, order: byte_order };
        let fill_value = data_type.parse_fill(&value, rules, &at.name("fill_value"))?;
        let transformers = at.name("storage_transformers");
        let storage_transformers = object
            .take("storage_transformers")
            .map(|json| Extension::parse_list(json, &transformers))
            .transpose()?;
        for (index, transformer) in storage_transformers.iter().flatten().enumerate() {
            if !transformer.may_be_ignored() {
                let name = &transformer.name;
                return Err(transformers.index(index).unsupported(format!("storage transformer {name:?}")));
            }
        }
        let mut unknown = object.others_than(&[&OF_ALL, &OF_ARRAYS]);
        check_unknown(&unknown, at)?;
        let dimension_names = match object.get("dimension_names") {
            Some(Json::Null) => {
                at.name("dimension_names").deviates("null, expected an array or nothing");
                unknown.insert("dimension_names", Json::Null);
                None
            }
            names => names.map(|names| dimension_names(names, shape.len(), at)).transpose()?,
        };
        Ok(ArrayMetadata {
            data_type: Written::new(data_type, told),
            chunk_grid: Written::new(chunk_grid, grid),
            chunk_key_encoding: Written::new(chunk_key_encoding, keys),
            fill_value: Written::new(fill_value, value),
            shape,
            codecs,
            byte_order,
            attributes: attributes(&mut object, at)?,
            storage_transformers,
            dimension_names,
            unknown,
            deviations: Vec::new(),
        })
    }

    pub(super) fn emit(&self) -> Json {
        let list = |extensions: &[Extension]| Json::Array(extensions.iter().map(Extension::emit).collect());
        let mut object = Object::new();
        object.insert("zarr_format", 3.into());
        object.insert("node_type", "array".into());
        object.insert("shape", self.shape.as_slice().into());
        object.insert("data_type", self.data_type.json().clone());
        object.insert("chunk_grid", self.chunk_grid.json().clone());
        object.insert("chunk_key_encoding", self.chunk_key_encoding.json().clone());
        object.insert("fill_value", self.fill_value.json().clone());
        object.insert("codecs", list(&self.codecs));
        if let Some(attributes) = &self.attributes {
            object.insert("attributes", Json::Object(attributes.clone()));
        }
        if let Some(names) = &self.dimension_names {
            let name = |name: &Option<String>| name.as_deref().map_or(Json::Null, Json::from);
            object.insert("dimension_names", Json::Array(names.iter().map(name).collect()));
        }
        if let Some(transformers) = &self.storage_transformers {
            object.insert("storage_transformers", list(transformers));
        }
        insert_all(&self.unknown, &mut object);
        Json::Object(object)
    }
}

fn shape(object: &Object, at: &Spot<'_>) -> Result<Vec<u64>> {
    let here = at.name("shape");
    let shape = object.required("shape", at)?.unsigned_array(&here)?;
    match shape.len() as u64 > u64::from(at.limits().rank) {
        true => {
            let max = at.limits().rank;
            Err(here.too_large(format!("{} dimensions, expected at most {max}", shape.len())))
        }
        false => Ok(shape),
    }
}

fn dimension_names(json: &Json, rank: usize, at: &Spot<'_>) -> Result<Vec<Option<String>>> {
    let here = at.name("dimension_names");
    let names = json.array(&here)?;
    if names.len() != rank {
        return Err(here.malformed(format!("{} names, expected {rank}, one per dimension", names.len())));
    }
    let name = |(index, json): (usize, &Json)| match json {
        Json::Null => Ok(None),
        json => json.text(&here.index(index)).map(|name| Some(name.to_owned())),
    };
    names.iter().enumerate().map(name).collect()
}

/// The byte order of elements. An error if the type needs one and it is missing.
fn byte_order(
    codecs: &[Extension],
    data_type: &DataType,
    form: TypeForm,
    depth: u32,
    at: &Spot<'_>,
) -> Result<Option<ByteOrder>> {
    if depth > at.limits().nesting {
        return Err(at.too_large(format!("shards nested more than {} levels deep", at.limits().nesting)));
    }
    for (index, codec) in codecs.iter().enumerate() {
        let here = at.index(index);
        let inner = here.name("configuration");
        if codec.name == "sharding_indexed" {
            let list = codec.configured(&here)?.required("codecs", &inner)?;
            let there = inner.name("codecs");
            return byte_order(
                &Extension::parse_list(list.clone(), &there)?,
                data_type,
                form,
                depth + 1,
                &there,
            );
        }
        if codec.name != "bytes" {
            continue;
        }
        let order = codec.endian(&here)?;
        // Filters before `bytes` may change the type of the elements. The chain of codecs checks this.
        let same = !codecs.iter().take(index).any(|codec| codec.name.starts_with("numcodecs."));
        let lacks = same && Layout::new(data_type, order).is_err_and(|e| e.kind() == ErrorKind::Malformed);
        return match (lacks, form) {
            (false, _) => Ok(order),
            (true, TypeForm::Registered) => {
                Err(here.malformed("no endian, expected one for elements of several bytes"))
            }
            (true, _) => {
                here.deviates("no endian, little is used");
                Ok(Some(ByteOrder::Little))
            }
        };
    }
    Ok(None)
}

/// The members of arrays that groups do not have.
pub(crate) const OF_ARRAYS: [&str; 8] = [
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "dimension_names",
    "storage_transformers",
];
