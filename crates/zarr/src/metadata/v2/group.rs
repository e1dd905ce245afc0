//! `.zgroup`.
//!
//! Spec: Zarr v2 "Groups"

use super::{GROUP, check_version};
use crate::json::{Context, Json, Object};
use hyperslab_core::{Limits, Result};

/// The document of a group, which contains only the version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupMetadata {
    /// Members that the specification does not know.
    pub unknown: Object,
}

impl GroupMetadata {
    /// Parses `.zgroup`.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for another version.
    pub fn parse(json: &Json, limits: &Limits) -> Result<GroupMetadata> {
        let context = Context::new(limits);
        let at = context.document(GROUP);
        let object = json.object(&at)?;
        check_version(object, &at)?;
        // zarr-python 3.1 adds it, empty, to the copies of groups within `.zmetadata`.
        Ok(GroupMetadata { unknown: object.others(&["zarr_format", "consolidated_metadata"]) })
    }

    /// The document.
    pub fn emit(&self) -> Json {
        let mut object = Object::new();
        object.insert("zarr_format", 2.into());
        for (name, value) in self.unknown.iter() {
            object.insert(name, value.clone());
        }
        Json::Object(object)
    }
}
