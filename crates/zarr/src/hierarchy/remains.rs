//! What can be told of a node whose documents cannot be read.

use super::Hierarchy;
use crate::json::{Json, Object};
use crate::metadata::{v2, v3};
use hyperslab_core::Result;
use hyperslab_core::store::Key;

/// What is known of a node that cannot be read as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remains {
    /// Whether it is an array; none if that is unknown as well.
    pub is_array: Option<bool>,
    /// What users say of it, which is seldom what is wrong.
    pub attributes: Option<Object>,
}

impl Remains {
    /// What the documents of `path` tell in spite of what is wrong with them.
    pub(super) fn of(hierarchy: &Hierarchy, path: &Key) -> Remains {
        let documents = hierarchy.documents();
        let object = |name| -> Option<Object> {
            let found = documents.document(path, name).ok()??;
            found.as_object().cloned()
        };
        let is_there = |name| -> Result<bool> { Ok(documents.document(path, name)?.is_some()) };
        if let Some(document) = object(v3::DOCUMENT) {
            let is_array = match document.get("node_type").and_then(Json::as_str) {
                Some("array") => Some(true),
                Some("group") => Some(false),
                _ => None,
            };
            let attributes = document.get("attributes").and_then(Json::as_object).cloned();
            return Remains { is_array, attributes };
        }
        // A document that is there and is no JSON is one as well.
        let is_array = match (is_there(v2::ARRAY), is_there(v2::GROUP)) {
            (Ok(true) | Err(_), _) => Some(true),
            (_, Ok(true) | Err(_)) => Some(false),
            _ => None,
        };
        let attributes = is_array.and_then(|_| object(v2::ATTRIBUTES));
        Remains { is_array, attributes }
    }
}
