//! Records: data about a node that Zarr cannot represent, stored where readers do not show it.
//!
//! | node | the record is |
//! |---|---|
//! | array of version 3 | the member [`MEMBER`] of `zarr.json`, which readers need not understand |
//! | group, and array of version 2 | the attribute [`ATTRIBUTE`], a string of JSON |
//!
//! zarr-python reads no other members of groups and of version 2. xarray hides attributes whose names begin with `_nc`,
//! except those of arrays of version 3. The attribute is a string because NetCDF files cannot store objects as
//! attributes.
//!
//! Stores of earlier releases have an object as the attribute [`MEMBER`] instead.

use crate::hierarchy::{Metadata, Node};
use crate::json::{Json, Object};
use crate::metadata::v3;
use hyperslab_core::{Error, Limits, Result};
use std::borrow::Cow;

/// The member of the metadata of an array of version 3, and the attribute of earlier releases.
pub const MEMBER: &str = "hyperslab";

/// The attribute of groups, and of arrays of version 2.
pub const ATTRIBUTE: &str = "_nc_hyperslab";

/// The member of an extension of version 3 that readers may ignore.
const MUST_UNDERSTAND: &str = "must_understand";

/// The record of a node, and whether it is an attribute of an earlier release, which other programs may use for
/// something else. `None` if the node has no record.
///
/// # Errors
/// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) for a record that is not a JSON object.
pub fn of(node: &Node) -> Result<Option<(Cow<'_, Object>, bool)>> {
    if let Metadata::V3(v3::NodeMetadata::Array(array)) = &node.metadata
        && let Some(json) = array.unknown.get(MEMBER)
    {
        let Json::Object(record) = json else { return Err(no_object(MEMBER, json)) };
        let members = record.iter().filter(|(name, _)| *name != MUST_UNDERSTAND);
        let record = members.map(|(name, json)| (name.to_owned(), json.clone())).collect();
        return Ok(Some((Cow::Owned(record), false)));
    }
    let Some(attributes) = node.attributes() else { return Ok(None) };
    if let Some(json) = attributes.get(ATTRIBUTE) {
        let Json::String(text) = json else { return Err(no_object(ATTRIBUTE, json)) };
        return match Json::parse(ATTRIBUTE, text.as_bytes(), &Limits::default())? {
            Json::Object(record) => Ok(Some((Cow::Owned(record), false))),
            json => Err(no_object(ATTRIBUTE, &json)),
        };
    }
    Ok(attributes.get(MEMBER).and_then(Json::as_object).map(|record| (Cow::Borrowed(record), true)))
}

/// Adds the members of a record to the metadata of an array of version 3.
pub(crate) fn put_member(record: &Object, unknown: &mut Object) {
    if record.is_empty() {
        return;
    }
    let mut member = Object::new();
    member.insert(MUST_UNDERSTAND, Json::Bool(false));
    for (name, json) in record.iter() {
        member.insert(name, json.clone());
    }
    unknown.insert(MEMBER, Json::Object(member));
}

/// Adds a record to the attributes of a group, or of an array of version 2.
pub(crate) fn put_attribute(record: &Object, attributes: &mut Object) {
    if !record.is_empty() {
        let text = Json::Object(record.clone()).emit_compact();
        attributes.insert(ATTRIBUTE, text.as_str().into());
    }
}

fn no_object(name: &str, found: &Json) -> Error {
    Error::malformed(format!("{name}: {}, expected an object of JSON", found.kind()))
}
