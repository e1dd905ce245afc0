//! `.zmetadata`.
//!
//! Spec: Zarr v2, zarr-python "Consolidating metadata"

use super::CONSOLIDATED;
use crate::json::{Context, Json, Object};
use hyperslab_core::{Limits, Result};

/// Copies of all documents, unparsed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsolidatedMetadata {
    /// The key of each document, as in `a/b/.zarray`, and the document.
    pub metadata: Object,
    /// Unknown members.
    pub unknown: Object,
}

impl ConsolidatedMetadata {
    /// The path of names to the copies in the document.
    pub(crate) const WAY: [&str; 1] = ["metadata"];

    /// Parses `.zmetadata`.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for another version.
    pub fn parse(json: &Json, limits: &Limits) -> Result<ConsolidatedMetadata> {
        let context = Context::new(limits);
        let at = context.document(CONSOLIDATED);
        let object = json.object(&at)?;
        let here = at.name(FORMAT);
        match object.required(FORMAT, &at)?.unsigned(&here)? {
            1 => {}
            other => return Err(here.unsupported(format!("version {other}, expected 1"))),
        }
        let metadata = object.required("metadata", &at)?.object(&at.name("metadata"))?.clone();
        Ok(ConsolidatedMetadata { metadata, unknown: object.others(&[FORMAT, "metadata"]) })
    }

    /// The document.
    pub fn emit(&self) -> Json {
        let mut object = Object::new();
        object.insert(FORMAT, 1.into());
        for (name, value) in self.unknown.iter() {
            object.insert(name, value.clone());
        }
        object.insert("metadata", Json::Object(self.metadata.clone()));
        Json::Object(object)
    }
}

const FORMAT: &str = "zarr_consolidated_format";
