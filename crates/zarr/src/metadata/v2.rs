//! `.zarray`, `.zgroup`, `.zattrs` and `.zmetadata`, the documents of version 2.
//!
//! Spec: Zarr v2 "Storage"

mod array;
mod consolidated;
mod group;

pub use array::{ArrayMetadata, CodecConfiguration, Order};
pub use consolidated::ConsolidatedMetadata;
pub use group::GroupMetadata;

use crate::json::{Context, Json, Object, Spot};
use hyperslab_core::{Limits, Result};

/// The document of an array.
pub const ARRAY: &str = ".zarray";

/// The document of a group.
pub const GROUP: &str = ".zgroup";

/// The document of the user attributes of an array or a group.
pub const ATTRIBUTES: &str = ".zattrs";

/// The document with copies of all others.
pub const CONSOLIDATED: &str = ".zmetadata";

/// The attribute in which xarray and others store the names of dimensions.
pub const DIMENSION_NAMES: &str = "_ARRAY_DIMENSIONS";

/// Parses `.zattrs`.
///
/// # Errors
/// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if the value is not an object.
pub fn parse_attributes(json: &Json, limits: &Limits) -> Result<Object> {
    json.object(&Context::new(limits).document(ATTRIBUTES)).cloned()
}

fn check_version(object: &Object, at: &Spot<'_>) -> Result<()> {
    let here = at.name("zarr_format");
    match object.required("zarr_format", at)? {
        Json::Number(version) if version.as_u64() == Some(2) => Ok(()),
        Json::Number(version) => Err(here.unsupported(format!("version {version}, expected 2"))),
        other => Err(other.is_not("2", &here)),
    }
}
