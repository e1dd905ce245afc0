//! `zarr.json`, the document of a node of version 3.
//!
//! Spec: Zarr v3 "Metadata"

mod array;
mod consolidated;
mod group;

pub use array::ArrayMetadata;
pub(crate) use array::OF_ARRAYS;
pub use consolidated::ConsolidatedMetadata;
pub use group::GroupMetadata;
pub(crate) use group::OF_GROUPS;

use crate::json::{Context, Json, Object, Spot};
use hyperslab_core::{Limits, Result};

/// The name of the document.
pub const DOCUMENT: &str = "zarr.json";

/// The document of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeMetadata {
    /// An array.
    Array(Box<ArrayMetadata>),
    /// A group.
    Group(Box<GroupMetadata>),
}

impl NodeMetadata {
    /// Parses the document of an array or a group.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) with the JSON Pointer of the invalid value,
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for an unknown extension that must be understood.
    pub fn parse(json: &Json, limits: &Limits) -> Result<NodeMetadata> {
        NodeMetadata::of(json.clone(), limits)
    }

    /// As [`NodeMetadata::parse`], consuming the document.
    pub(crate) fn of(json: Json, limits: &Limits) -> Result<NodeMetadata> {
        let context = Context::new(limits);
        let at = context.document(DOCUMENT);
        let object = json.into_object(&at)?;
        let here = at.name("zarr_format");
        match object.required("zarr_format", &at)? {
            Json::Number(version) if version.as_u64() == Some(3) => {}
            Json::Number(version) => return Err(here.unsupported(format!("version {version}, expected 3"))),
            other => return Err(other.is_not("3", &here)),
        }
        let here = at.name("node_type");
        let is_array = match object.required("node_type", &at)?.text(&here)? {
            "array" => true,
            "group" => false,
            other => return Err(here.malformed(format!("{other:?}, expected \"array\" or \"group\""))),
        };
        match is_array {
            true => {
                let mut array = ArrayMetadata::parse(object, &at)?;
                array.deviations = context.into_deviations();
                Ok(NodeMetadata::Array(Box::new(array)))
            }
            false => {
                let mut group = GroupMetadata::parse(object, &at)?;
                group.deviations = context.into_deviations();
                Ok(NodeMetadata::Group(Box::new(group)))
            }
        }
    }

    /// The document.
    pub fn emit(&self) -> Json {
        match self {
            NodeMetadata::Array(array) => array.emit(),
            NodeMetadata::Group(group) => group.emit(),
        }
    }
}

/// Checks that all unknown members may be ignored.
fn check_unknown(unknown: &Object, at: &Spot<'_>) -> Result<()> {
    for (name, value) in unknown.iter() {
        let understand = value.as_object().and_then(|value| value.get("must_understand"));
        if understand != Some(&Json::Bool(false)) {
            return Err(at
                .name(name)
                .unsupported(format!("{name:?} is unknown, and must_understand is not false")));
        }
    }
    Ok(())
}

fn attributes(object: &mut Object, at: &Spot<'_>) -> Result<Option<Object>> {
    object.take("attributes").map(|json| json.into_object(&at.name("attributes"))).transpose()
}

fn insert_all(members: &Object, into: &mut Object) {
    for (name, value) in members.iter() {
        into.insert(name, value.clone());
    }
}

/// The members that arrays and groups share.
const OF_ALL: [&str; 3] = ["zarr_format", "node_type", "attributes"];
