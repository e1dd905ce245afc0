//! Group metadata.
//!
//! Spec: Zarr v3 "Group metadata"

use super::{ConsolidatedMetadata, OF_ALL, attributes, check_unknown, insert_all};
use crate::json::{Deviation, Json, Object, Spot};
use hyperslab_core::Result;

/// The `zarr.json` of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupMetadata {
    /// The user attributes.
    pub attributes: Option<Object>,
    /// Copies of the documents of all nodes below.
    pub consolidated_metadata: Option<ConsolidatedMetadata>,
    /// Unknown members that may be ignored.
    pub unknown: Object,
    /// The accepted deviations from the specification.
    pub deviations: Vec<Deviation>,
}

impl GroupMetadata {
    pub(super) fn parse(mut object: Object, at: &Spot<'_>) -> Result<GroupMetadata> {
        let mut unknown = object.others_than(&[&OF_ALL, &OF_GROUPS]);
        let copies = object.take("consolidated_metadata");
        let is_null = copies == Some(Json::Null);
        let consolidated_metadata = match copies {
            None => None,
            // zarr-python writes null if there is no consolidated metadata.
            Some(Json::Null) => {
                at.name("consolidated_metadata").deviates("null, expected an object or nothing");
                None
            }
            Some(json) => Some(ConsolidatedMetadata::parse(json, &at.name("consolidated_metadata"))?),
        };
        check_unknown(&unknown, at)?;
        if is_null {
            unknown.insert("consolidated_metadata", Json::Null);
        }
        let attributes = attributes(&mut object, at)?;
        Ok(GroupMetadata { attributes, consolidated_metadata, unknown, deviations: Vec::new() })
    }

    pub(super) fn emit(&self) -> Json {
        let mut object = Object::new();
        object.insert("zarr_format", 3.into());
        object.insert("node_type", "group".into());
        if let Some(attributes) = &self.attributes {
            object.insert("attributes", Json::Object(attributes.clone()));
        }
        if let Some(consolidated) = &self.consolidated_metadata {
            object.insert("consolidated_metadata", consolidated.emit());
        }
        insert_all(&self.unknown, &mut object);
        Json::Object(object)
    }
}

/// The members of groups that arrays do not have.
pub(crate) const OF_GROUPS: [&str; 1] = ["consolidated_metadata"];
