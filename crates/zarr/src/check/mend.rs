//! Replaces invalid members with valid ones, so that a check can continue after them.
//!
//! Spec: Zarr v3 "Array metadata", Zarr v2 "Metadata"

use crate::data_type::DataType;
use crate::json::{Context, Json, Object};
use crate::metadata::v3::{OF_ARRAYS, OF_GROUPS};
use hyperslab_core::Limits;

/// Replaces a member and those that depend on it with valid ones. Returns false if there is no replacement.
pub(super) fn mend(json: &mut Json, version: u8, member: &str, limits: &Limits) -> bool {
    let Json::Object(object) = json else { return false };
    let rank = match object.get("shape") {
        Some(Json::Array(sizes)) => sizes.len(),
        _ => 0,
    };
    let mut put = |name: &str, value: Json| object.insert(name, value);
    match (version, member) {
        (_, "zarr_format") => put("zarr_format", u64::from(version).into()),
        (3, "node_type") => {
            let is_array = ["shape", "data_type"].iter().any(|name| object.get(name).is_some());
            object.insert("node_type", if is_array { "array" } else { "group" }.into());
        }
        (3, "shape") => {
            put("shape", [0; 0].as_slice().into());
            put("chunk_grid", regular(0));
            *object = object.others(&["dimension_names"]);
        }
        (3, "chunk_grid") => put("chunk_grid", regular(rank)),
        (3, "data_type") => {
            put("data_type", "uint8".into());
            put("fill_value", 0.into());
        }
        (3, "chunk_key_encoding") => put("chunk_key_encoding", "default".into()),
        (3, "codecs") => put("codecs", Json::Array(vec![bytes()])),
        (3, "fill_value") => match zero(object, limits) {
            Some(zero) => object.insert("fill_value", zero),
            None => return false,
        },
        (2, "shape") => {
            put("shape", [0; 0].as_slice().into());
            put("chunks", [0; 0].as_slice().into());
        }
        (2, "chunks") => put("chunks", vec![1; rank].as_slice().into()),
        (2, "dtype") => {
            put("dtype", "|u1".into());
            put("fill_value", Json::Null);
            put("filters", Json::Null);
        }
        (2, "filters") => {
            // The filter determines the type of objects, so without it the type is also replaced.
            let is_object = object.get("dtype").and_then(Json::as_str) == Some("|O");
            object.insert("filters", Json::Null);
            if is_object {
                object.insert("dtype", "|u1".into());
                object.insert("fill_value", Json::Null);
            }
        }
        (2, "fill_value" | "compressor") => put(member, Json::Null),
        (2, "order") => put("order", "C".into()),
        (_, "") => return false,
        (_, other) => *object = object.others(&[other]),
    }
    true
}

/// Whether chunks can be read without a member.
pub(super) fn is_harmless(member: &str, version: u8) -> bool {
    match member {
        "attributes" | "dimension_names" | "consolidated_metadata" | "fill_value" => true,
        member => version == 2 && matches!(member, "zarr_format"),
    }
}

/// Whether a member is an extension point, whose value can be valid but unknown.
pub(super) fn is_extension_point(member: &str) -> bool {
    matches!(
        member,
        "data_type"
            | "dtype"
            | "chunk_grid"
            | "chunk_key_encoding"
            | "codecs"
            | "filters"
            | "compressor"
            | "storage_transformers"
            | "fill_value"
    )
}

/// The name of the missing member in a message.
pub(super) fn missing(message: &str) -> Option<String> {
    message.strip_prefix("no \"")?.strip_suffix('"').map(str::to_owned)
}

/// The node type of a document, and a member that this type cannot have. All such members are removed.
pub(super) fn contradiction(json: &mut Json) -> Option<(&'static str, &'static str)> {
    let Json::Object(object) = json else { return None };
    let (says, foreign): (_, &[&str]) = match object.get("node_type").and_then(Json::as_str) {
        Some("group") => ("group", &OF_ARRAYS),
        Some("array") => ("array", &OF_GROUPS),
        _ => return None,
    };
    let first = *foreign.iter().find(|name| object.get(name).is_some())?;
    *object = object.others(foreign);
    Some((says, first))
}

fn regular(rank: usize) -> Json {
    let mut configuration = Object::new();
    configuration.insert("chunk_shape", vec![1; rank].as_slice().into());
    named("regular", configuration)
}

fn bytes() -> Json {
    let mut configuration = Object::new();
    configuration.insert("endian", "little".into());
    named("bytes", configuration)
}

fn named(name: &str, configuration: Object) -> Json {
    let mut object = Object::new();
    object.insert("name", name.into());
    object.insert("configuration", Json::Object(configuration));
    Json::Object(object)
}

/// The fill value of zeros.
fn zero(object: &Object, limits: &Limits) -> Option<Json> {
    let context = Context::new(limits);
    let data_type = DataType::parse(object.get("data_type")?, &context.document("zarr.json")).ok()?;
    let size = match data_type {
        DataType::String | DataType::Bytes => 0,
        _ => usize::try_from(data_type.row_size()).ok().filter(|size| *size <= MAX_ZEROS)?,
    };
    data_type.emit_fill(&vec![0; size]).ok()
}

/// The maximum size in bytes of an element that is written as a list of numbers.
const MAX_ZEROS: usize = 1 << 16;
