//! Consolidated metadata within the document of a group.
//!
//! Spec: Zarr v3 "Additional fields"

use crate::json::{Json, Object, Spot};
use hyperslab_core::Result;

/// Copies of the documents of all nodes below a group, unparsed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsolidatedMetadata {
    /// The path of each node, relative to the group and without a leading slash, and its document.
    pub metadata: Object,
    /// Unknown members.
    pub unknown: Object,
}

impl ConsolidatedMetadata {
    /// The path of names to the copies in the document of the group.
    pub(crate) const WAY: [&str; 2] = ["consolidated_metadata", "metadata"];

    pub(super) fn parse(json: Json, at: &Spot<'_>) -> Result<ConsolidatedMetadata> {
        let mut object = json.into_object(at)?;
        let here = at.name("kind");
        let kind = object.required("kind", at)?.text(&here)?;
        if kind != "inline" {
            return Err(here.unsupported(format!("consolidated metadata of kind {kind:?}")));
        }
        if object.get("must_understand") != Some(&Json::Bool(false)) {
            at.deviates("no must_understand false");
        }
        let metadata = object.take_required("metadata", at)?.into_object(&at.name("metadata"))?;
        Ok(ConsolidatedMetadata { metadata, unknown: object.others(&["kind", "metadata"]) })
    }

    pub(crate) fn emit(&self) -> Json {
        let mut object = Object::new();
        object.insert("kind", "inline".into());
        super::insert_all(&self.unknown, &mut object);
        object.insert("metadata", Json::Object(self.metadata.clone()));
        Json::Object(object)
    }

    /// Consolidated metadata with these copies, marked as the specification requires.
    pub fn new(metadata: Object) -> ConsolidatedMetadata {
        let mut unknown = Object::new();
        unknown.insert("must_understand", Json::Bool(false));
        ConsolidatedMetadata { metadata, unknown }
    }
}
