//! Facts about a node whose documents cannot be read as a whole.

use super::Hierarchy;
use crate::json::{Json, Object};
use crate::metadata::{v2, v3};
use hyperslab_core::Result;
use hyperslab_core::store::Key;

/// The readable facts about a node whose documents are invalid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remains {
    /// Whether the node is an array. `None` if unknown.
    pub is_array: Option<bool>,
    /// The user attributes, which are usually valid.
    pub attributes: Option<Object>,
}

impl Remains {
    /// Reads the valid parts of the documents at `path`.
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
        // A document that is not valid JSON also shows that the node exists.
        let is_array = match (is_there(v2::ARRAY), is_there(v2::GROUP)) {
            (Ok(true) | Err(_), _) => Some(true),
            (_, Ok(true) | Err(_)) => Some(false),
            _ => None,
        };
        let attributes = is_array.and_then(|_| object(v2::ATTRIBUTES));
        Remains { is_array, attributes }
    }
}
