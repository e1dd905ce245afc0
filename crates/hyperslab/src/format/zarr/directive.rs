//! Converts the JSON of metadata to storage directives, which have the same structure.

use hyperslab_model::Directive;
use hyperslab_zarr::json::{Json, Number, Object};

pub(super) fn directive(json: &Json) -> Directive {
    match json {
        Json::Null => Directive::Null,
        Json::Bool(value) => Directive::Bool(*value),
        Json::Number(number) => match number.as_integer() {
            Some(value) => Directive::Int(value),
            None => Directive::Float(number.as_f64()),
        },
        Json::String(text) => Directive::Text(text.clone()),
        Json::Array(items) => Directive::List(items.iter().map(directive).collect()),
        Json::Object(object) => Directive::Map(directives(object)),
    }
}

pub(super) fn directives(object: &Object) -> Vec<(String, Directive)> {
    object.iter().map(|(name, value)| (name.to_owned(), directive(value))).collect()
}

/// Numbers as a list.
pub(super) fn sizes(sizes: &[u64]) -> Directive {
    Directive::List(sizes.iter().map(|size| Directive::Int((*size).into())).collect())
}

/// The JSON of a directive. Numbers that JSON cannot represent become null.
pub(super) fn json(directive: &Directive) -> Json {
    match directive {
        Directive::Null => Json::Null,
        Directive::Bool(value) => Json::Bool(*value),
        Directive::Int(value) => Json::Number(Number::integer(*value)),
        Directive::Float(value) => Number::float(*value).map_or(Json::Null, Json::Number),
        Directive::Text(text) => text.as_str().into(),
        Directive::List(items) => Json::Array(items.iter().map(json).collect()),
        Directive::Map(members) => Json::Object(object(members)),
    }
}

pub(super) fn object(members: &[(String, Directive)]) -> Object {
    members.iter().map(|(name, value)| (name.clone(), json(value))).collect()
}
