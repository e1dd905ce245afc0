//! The additions of the NetCDF library to Zarr: attribute types, dimensions and references to dimensions.
//!
//! Spec: NetCDF "NCZarr Overview". The library stores them in attributes or, before version 4.9.3, next to the members
//! of documents.

use super::read::attribute::plain_numbers;
use hyperslab_model::{Attribute, NodePath};
use hyperslab_netcdf4::name::PROPERTIES;
use hyperslab_zarr::hierarchy::{Metadata, Node};
use hyperslab_zarr::json::{Json, Object};
use rustc_hash::FxHashMap;

/// Whether an attribute is meaningful only to the NetCDF library.
pub(super) fn is_bookkeeping(name: &str, value: &Json) -> bool {
    let own = name.starts_with("_nczarr_") || name.starts_with("_NCZARR_");
    own && matches!(value, Json::Object(_)) || name == PROPERTIES && matches!(value, Json::String(_))
}

/// An attribute with the type that the library recorded; `None` if it recorded none, or a type that does not fit the
/// value.
pub(super) fn attribute(attributes: &Object, name: &str, value: &Json) -> Option<Attribute> {
    let types = [ATTRIBUTES, "_nczarr_attrs", "_NCZARR_ATTR"].iter().find_map(|key| attributes.get(key));
    let recorded = types?.as_object()?.get("types")?.as_object()?.get(name)?.as_str()?;
    plain_numbers(value, recorded.trim_start_matches(['<', '>', '|']))
}

/// The paths of the dimensions of an array with these extents; `None` for unnamed dimensions.
pub(super) fn references(node: &Node, extents: &[u64]) -> Option<Vec<Option<NodePath>>> {
    let beside = match &node.metadata {
        Metadata::V2Array { array, .. } => array.unknown.get("_NCZARR_ARRAY"),
        _ => None,
    };
    let own = beside.or_else(|| node.attributes()?.get(ARRAY))?.as_object()?;
    let Json::Array(paths) = own.get("dimension_references").or_else(|| own.get("dimrefs"))? else {
        return None;
    };
    if paths.len() != extents.len() {
        return None;
    }
    let path = |(path, size): (&Json, &u64)| {
        let path = NodePath::new(path.as_str()?).ok().filter(|path| !path.is_root())?;
        Some(Some(path).filter(|path| path.name() != nameless(*size)))
    };
    paths.iter().zip(extents).map(path).collect()
}

/// The library's name for unnamed dimensions of this size, all of which are in the root group.
pub(super) fn nameless(size: u64) -> String {
    format!("_Anonymous_Dim_{size}")
}

/// A dimension that a group declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) size: u64,
    pub(super) is_unlimited: bool,
}

/// The dimensions of a group by name. Each is a size, or an object with the size and whether it is unlimited. Version 3
/// has a list of objects with names.
pub(super) fn dimensions(node: &Node) -> FxHashMap<String, Declared> {
    let beside = match &node.metadata {
        Metadata::V2Group { group, .. } => group.unknown.get("_NCZARR_GROUP"),
        _ => None,
    };
    let Some(own) = beside.or_else(|| node.attributes()?.get(GROUP)).and_then(Json::as_object) else {
        return FxHashMap::default();
    };
    let mut found: FxHashMap<_, _> = match own.get("dimensions").or_else(|| own.get("dims")) {
        Some(Json::Object(dimensions)) => {
            dimensions.iter().filter_map(|(name, json)| declared(name, json)).collect()
        }
        Some(Json::Array(dimensions)) => {
            let named = |json: &Json| declared(json.as_object()?.get("name")?.as_str()?, json);
            dimensions.iter().filter_map(named).collect()
        }
        _ => FxHashMap::default(),
    };
    found.retain(|name, of| *name != nameless(of.size));
    found
}

fn declared(name: &str, json: &Json) -> Option<(String, Declared)> {
    let number = |json: &Json| match json {
        Json::Number(number) => number.as_u64(),
        _ => None,
    };
    let (size, is_unlimited) = match json {
        Json::Object(object) => {
            let unlimited = object.get("unlimited");
            (
                number(object.get("size")?)?,
                unlimited.is_some_and(|of| *of == Json::Bool(true) || number(of) == Some(1)),
            )
        }
        json => (number(json)?, false),
    };
    Some((name.to_owned(), Declared { size, is_unlimited }))
}

/// The attribute with the types of other attributes.
pub(super) const ATTRIBUTES: &str = "_nczarr_attr";

/// The attribute of the root group that marks a store of the NetCDF library.
pub(super) const SUPERBLOCK: &str = "_nczarr_superblock";

/// The attribute of a group with its dimensions and the names of its members.
pub(super) const GROUP: &str = "_nczarr_group";

/// The attribute of an array with the paths of its dimensions.
pub(super) const ARRAY: &str = "_nczarr_array";
