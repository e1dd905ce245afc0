//! Which names of dimensions are dimension coordinates: those that all arrays of a group give one size.

use super::nczarr;
use hyperslab_zarr::hierarchy::{Metadata, Node};
use hyperslab_zarr::json::Json;
use hyperslab_zarr::metadata::v3;
use rustc_hash::FxHashMap;

/// The named dimensions of a group.
#[derive(Debug, Default)]
pub(super) struct Dimensions {
    /// Their sizes; none where arrays do not agree.
    found: FxHashMap<String, Option<u64>>,
    /// What the group has under a name.
    owners: FxHashMap<String, Owner>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// The array of the coordinates.
    Coordinates,
    /// Something else, so that there can be no dimension of that name.
    Other,
}

impl Dimensions {
    /// Notes a member of the group, with its node if that can be read.
    pub(super) fn add(&mut self, member: &str, node: Option<&Node>) {
        let names = node.and_then(names);
        let shape = node.map(shape).unwrap_or_default();
        let owns = matches!(names.as_deref(), Some([Some(name)]) if name == member);
        self.owners.insert(member.to_owned(), if owns { Owner::Coordinates } else { Owner::Other });
        for (name, size) in names.iter().flatten().zip(shape) {
            let Some(name) = name else { continue };
            let known = self.found.entry(name.clone()).or_insert(Some(*size));
            *known = known.filter(|known| known == size);
        }
    }

    /// Forgets members that dimensions do not have the names of.
    pub(super) fn finish(&mut self) {
        self.owners.retain(|member, _| self.found.contains_key(member));
        self.owners.shrink_to_fit();
    }

    /// How long the dimension `name` is; none if there is none of that name.
    pub(super) fn size(&self, name: &str) -> Option<u64> {
        let size = (*self.found.get(name)?)?;
        (self.owners.get(name) != Some(&Owner::Other) && is_name(name)).then_some(size)
    }

    /// Whether the array `name` has the coordinates of a dimension.
    pub(super) fn has_coordinates(&self, name: &str) -> bool {
        self.size(name).is_some() && self.owners.contains_key(name)
    }

    /// Dimensions without coordinates.
    pub(super) fn without_coordinates(&self) -> impl Iterator<Item = (&str, u64)> {
        let names = self.found.keys().filter(|name| !self.owners.contains_key(*name));
        names.filter_map(|name| Some((name.as_str(), self.size(name)?)))
    }
}

/// The names of an array's dimensions, by its metadata or by the attribute that programs use in version 2.
pub(super) fn names(node: &Node) -> Option<Vec<Option<String>>> {
    match &node.metadata {
        Metadata::V3(v3::NodeMetadata::Array(array)) if array.dimension_names.is_some() => {
            array.dimension_names.clone()
        }
        Metadata::V3(v3::NodeMetadata::Array(_)) | Metadata::V2Array { .. } => {
            let rank = shape(node).len();
            of_attribute(node).or_else(|| nczarr::names(node).filter(|names| names.len() == rank))
        }
        _ => None,
    }
}

/// The names that the attribute gives, one a dimension.
pub(super) fn of_attribute(node: &Node) -> Option<Vec<Option<String>>> {
    let Json::Array(names) = node.attributes()?.get(ATTRIBUTE)? else { return None };
    let names: Vec<_> = names.iter().map(|name| Some(name.as_str()?.to_owned())).collect();
    (names.len() == shape(node).len() && names.iter().all(Option::is_some)).then_some(names)
}

/// The extents of an array; none for a group.
pub(super) fn shape(node: &Node) -> &[u64] {
    match &node.metadata {
        Metadata::V3(v3::NodeMetadata::Array(array)) => &array.shape,
        Metadata::V2Array { array, .. } => &array.shape,
        _ => &[],
    }
}

/// Whether an object can have this name.
fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains('/')
}

/// Where xarray and others keep the names in version 2.
pub(super) const ATTRIBUTE: &str = "_ARRAY_DIMENSIONS";
