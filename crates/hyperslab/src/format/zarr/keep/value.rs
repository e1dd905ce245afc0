//! Converts parts of NDL documents to the JSON of records, and back.

use hyperslab_core::{Error, Result};
use hyperslab_ndl::part::Value;
use hyperslab_zarr::json::{Json, Number, Object};

/// A part of a record.
///
/// # Errors
/// If a map has duplicate names, or the nesting exceeds the limit of readers.
pub(in crate::format) fn json(value: Value) -> Result<Json> {
    nested(value, LEVELS_ABOVE)
}

/// The value of a part of a record.
pub(in crate::format) fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => Value::Number(number.as_str().to_owned()),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(value).collect()),
        Json::Object(object) => {
            Value::Map(object.iter().map(|(name, json)| (name.to_owned(), value(json))).collect())
        }
    }
}

fn nested(value: Value, level: usize) -> Result<Json> {
    if level > MAX_LEVELS {
        return Err(Error::unsupported(format!("a description of more than {MAX_LEVELS} levels")));
    }
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(value),
        Value::Number(digits) => Json::Number(Number::of_digits(&digits)?),
        Value::Text(text) => Json::String(text),
        Value::List(items) => {
            Json::Array(items.into_iter().map(|item| nested(item, level + 1)).collect::<Result<_>>()?)
        }
        Value::Map(entries) => {
            let members = entries.into_iter().map(|(name, value)| Ok((name, nested(value, level + 1)?)));
            Json::Object(Object::of_unique(members.collect::<Result<_>>()?)?)
        }
    })
}

/// The maximum nesting of JSON in a document.
const MAX_LEVELS: usize = 128;

/// The number of levels above a part of a record: the document, its attributes, the record, its members.
const LEVELS_ABOVE: usize = 4;
