//! JSON of metadata as storage directives, which have the same shapes.

use hyperslab_model::Directive;
use hyperslab_zarr::json::{Json, Object};

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
