//! What the NetCDF library adds to Zarr: types of attributes, references to dimensions.
//!
//! Spec: NetCDF "NCZarr Overview", which keeps its own in attributes or, before version 4.9.3, beside the members
//! of documents

use super::attribute::plain_numbers;
use hyperslab_model::Attribute;
use hyperslab_zarr::hierarchy::{Metadata, Node};
use hyperslab_zarr::json::{Json, Object};

/// Whether an attribute is only there for the NetCDF library.
pub(super) fn is_bookkeeping(name: &str, value: &Json) -> bool {
    let own = name.starts_with("_nczarr_") || name.starts_with("_NCZARR_");
    own && matches!(value, Json::Object(_)) || name == "_NCProperties" && matches!(value, Json::String(_))
}

/// An attribute of the type that the library keeps for it; none if it keeps none, or none that the value has.
pub(super) fn attribute(attributes: &Object, name: &str, value: &Json) -> Option<Attribute> {
    let types = [ATTRIBUTES, "_nczarr_attr", "_NCZARR_ATTR"].iter().find_map(|key| attributes.get(key));
    let told = types?.as_object()?.get("types")?.as_object()?.get(name)?.as_str()?;
    plain_numbers(value, told.trim_start_matches(['<', '>', '|']))
}

/// The names of those dimensions that are of the array's own group.
pub(super) fn names(node: &Node) -> Option<Vec<Option<String>>> {
    let own = match &node.metadata {
        Metadata::V2Array { array, .. } => array.unknown.get("_NCZARR_ARRAY"),
        _ => None,
    };
    let own = own.or_else(|| node.attributes()?.get("_nczarr_array"))?.as_object()?;
    let Json::Array(paths) = own.get("dimension_references").or_else(|| own.get("dimrefs"))? else {
        return None;
    };
    let (group, _) = node.path.as_str().rsplit_once('/').unwrap_or_default();
    let name = |path: &Json| {
        let (parent, name) = path.as_str()?.rsplit_once('/')?;
        (parent.trim_start_matches('/') == group).then(|| name.to_owned())
    };
    Some(paths.iter().map(name).collect())
}

/// The attribute that keeps the types of others, as versions from 4.9.3 on write it.
pub(super) const ATTRIBUTES: &str = "_nczarr_attrs";
