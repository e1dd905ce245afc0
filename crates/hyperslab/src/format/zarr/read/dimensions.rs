//! Dimension coordinates, derived from dimension names with the same size in all arrays of a group.

use super::paths::handle;
use crate::format::zarr::keep::record::Record;
use crate::format::zarr::{ZarrSource, nczarr, unpoisoned};
use crate::source::{Entry, Item, Stored};
use hyperslab_core::store::Key;
use hyperslab_core::{Result, valid};
use hyperslab_model::{Dimension, Extent, NodeKind, NodePath, Shape};
use hyperslab_zarr::hierarchy::{Metadata, Node};
use hyperslab_zarr::json::Json;
use hyperslab_zarr::metadata::v3;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, OnceLock};

pub(in crate::format::zarr) use hyperslab_zarr::metadata::v2::DIMENSION_NAMES as ATTRIBUTE;

/// The named dimensions of a group.
#[derive(Debug, Default)]
pub(in crate::format::zarr) struct Dimensions {
    found: FxHashMap<String, Size>,
    /// The members of the group, by name.
    owners: FxHashMap<String, Owner>,
    /// Arrays with recorded paths of their dimensions.
    with_paths: FxHashSet<String>,
    /// Set once the node above is known to be a group. There may also be arrays below an array.
    is_of_group: OnceLock<()>,
}

/// The lengths of a dimension in the arrays of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    /// The length in arrays whose dimension cannot grow; the inner `None` if they disagree.
    fixed: Option<Option<u64>>,
    /// The maximum length in arrays whose dimension can grow: other arrays may be shorter.
    growing: Option<u64>,
}

impl Size {
    fn add(&mut self, size: u64, grows: bool) {
        match (grows, self.fixed) {
            (true, _) => self.growing = self.growing.max(Some(size)),
            (false, None) => self.fixed = Some(Some(size)),
            (false, Some(known)) => self.fixed = Some(known.filter(|known| *known == size)),
        }
    }

    fn agreed(self) -> Option<u64> {
        match self.fixed {
            Some(fixed) => fixed.filter(|fixed| self.growing.is_none_or(|growing| growing <= *fixed)),
            None => self.growing,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// The array holds the coordinates.
    Coordinates,
    /// An array that is not the coordinates, such as `lon(lat, lon)`.
    Array,
    /// Another member, which prevents any dimension from having this name.
    Other,
    /// The group itself declares the length.
    Kept,
}

impl Dimensions {
    /// Adds a member of `group` with its node and record, if they can be read. `paths` are the recorded paths of its
    /// dimensions.
    pub(in crate::format::zarr) fn add(
        &mut self,
        group: &NodePath,
        member: &str,
        node: Option<&Node>,
        record: Option<&Record>,
        paths: Option<&[Option<NodePath>]>,
    ) {
        // An array that represents a null dataspace has a dimension with a generated name.
        let has_names = record.is_none_or(|record| !record.is_null);
        let mut names = node.filter(|_| has_names).and_then(names);
        let shape = node.map(shape).unwrap_or_default();
        if let Some(names) = &mut names {
            names.truncate(shape.len().saturating_sub(record.map_or(0, Record::trailing)));
        }
        if let Some(paths) = paths {
            let own = |path: &Option<NodePath>| {
                let path = path.as_ref().filter(|path| path.parent().as_ref() == Some(group))?;
                Some(path.name().to_owned())
            };
            names = Some(paths.iter().map(own).collect());
            self.with_paths.insert(member.to_owned());
        }
        let owns = match record.and_then(|record| record.kind) {
            Some(kind) => kind == NodeKind::DimCoord,
            None => matches!(names.as_deref(), Some([Some(name)]) if name == member),
        };
        let owner = match node {
            Some(_) if owns => Owner::Coordinates,
            Some(node) if node.is_array() => Owner::Array,
            _ => Owner::Other,
        };
        self.owners.insert(member.to_owned(), owner);
        for (index, (name, size)) in names.iter().flatten().zip(shape).enumerate() {
            let Some(name) = name else { continue };
            let grows = record.is_some_and(|record| record.grows(index, *size));
            self.found.entry(name.clone()).or_default().add(*size, grows);
        }
    }

    /// Adds a dimension without coordinates that the group declares.
    pub(in crate::format::zarr) fn keep(&mut self, name: &str, size: u64) {
        self.found.insert(name.to_owned(), Size { fixed: Some(Some(size)), growing: None });
        self.owners.insert(name.to_owned(), Owner::Kept);
    }

    /// Whether an array has recorded paths of its dimensions.
    pub(in crate::format::zarr) fn has_paths(&self, array: &str) -> bool {
        self.with_paths.contains(array)
    }

    /// Removes members whose names are not those of dimensions.
    pub(in crate::format::zarr) fn finish(&mut self) {
        self.owners.retain(|member, _| self.found.contains_key(member));
        self.owners.shrink_to_fit();
    }

    /// The length of the dimension `name`; `None` if there is none.
    pub(in crate::format::zarr) fn size(&self, name: &str) -> Option<u64> {
        let size = self.found.get(name)?.agreed()?;
        (self.owners.get(name) != Some(&Owner::Other) && is_name(name)).then_some(size)
    }

    /// Whether the array `name` holds the coordinates of a dimension.
    pub(in crate::format::zarr) fn has_coordinates(&self, name: &str) -> bool {
        self.size(name).is_some() && self.owners.get(name) == Some(&Owner::Coordinates)
    }

    /// The length of the dimension that shares its name with the array `name`, which is not its coordinates.
    pub(in crate::format::zarr) fn beside(&self, name: &str) -> Option<Extent> {
        (self.owners.get(name) == Some(&Owner::Array)).then(|| self.size(name).map(Extent::Fixed))?
    }

    /// Dimensions without coordinates.
    pub(in crate::format::zarr) fn without_coordinates(&self) -> impl Iterator<Item = (&str, u64)> {
        self.found.keys().filter_map(|name| Some((name.as_str(), self.size_without_coordinates(name)?)))
    }

    /// The length of the dimension `name` if there is no member of this name; `None` if there is no such dimension.
    fn size_without_coordinates(&self, name: &str) -> Option<u64> {
        if self.owners.contains_key(name) {
            return None;
        }
        self.size(name)
    }
}

impl ZarrSource {
    /// The dimensions of the group of a node, if the node names any, or if it is a scalar, since there may be a
    /// dimension with the same name.
    pub(in crate::format::zarr) fn dimensions_for(
        &self,
        path: &NodePath,
        node: &Node,
    ) -> Result<Arc<Dimensions>> {
        let is_scalar = node.is_array() && shape(node).is_empty();
        match path.parent() {
            Some(group) if !self.raw && (is_scalar || names(node).is_some()) => self.dimensions(&group),
            _ => Ok(Arc::default()),
        }
    }

    /// The dimensions of a group.
    fn dimensions(&self, group: &NodePath) -> Result<Arc<Dimensions>> {
        if let Some(known) = self.known_dimensions(group) {
            return Ok(known);
        }
        let dimensions = Arc::new(self.list(group)?.dimensions);
        self.keep_dimensions(group, Arc::clone(&dimensions));
        Ok(dimensions)
    }

    /// The dimensions of a group that has been listed before.
    fn known_dimensions(&self, group: &NodePath) -> Option<Arc<Dimensions>> {
        unpoisoned(&self.dimensions).get(group).map(Arc::clone)
    }

    pub(in crate::format::zarr) fn keep_dimensions(&self, group: &NodePath, dimensions: Arc<Dimensions>) {
        let mut known = unpoisoned(&self.dimensions);
        if known.len() >= MAX_GROUPS {
            known.clear();
        }
        known.insert(group.clone(), dimensions);
    }

    /// The paths of an array's dimensions in its record or in that of the NetCDF library; `None` if both are missing.
    pub(in crate::format::zarr) fn paths(
        &self,
        node: &Node,
        record: Option<&Record>,
    ) -> Result<Option<Vec<Option<NodePath>>>> {
        if self.raw {
            return Ok(None);
        }
        if let Some(paths) = record.and_then(|record| record.dimensions.as_ref()) {
            return Ok(Some(paths.clone()));
        }
        let Some(paths) = self.referenced(node) else { return Ok(None) };
        // Names that another program has set since then override recorded paths.
        let names = of_attribute(node);
        let is_named = |index: usize, path: &NodePath| match names.as_ref().map(|names| names.get(index)) {
            Some(name) => name.is_some_and(|name| name.as_deref() == Some(path.name())),
            None => true,
        };
        for (index, (path, size)) in paths.iter().zip(shape(node)).enumerate() {
            if let Some(path) = path
                && !(is_named(index, path) && self.declared(path)?.is_some_and(|of| of.size == *size))
            {
                return Ok(None);
            }
        }
        Ok(Some(paths))
    }

    /// The paths of an array's dimensions in the record of the NetCDF library.
    fn referenced(&self, node: &Node) -> Option<Vec<Option<NodePath>>> {
        let mut paths = nczarr::references(node, shape(node))?;
        // The NetCDF library uses the stored names of groups.
        for path in paths.iter_mut().flatten() {
            let group = Key::new(path.parent()?.as_str().trim_start_matches('/')).ok()?;
            let rest = node.path.as_str().strip_prefix(group.as_str());
            if group.is_root() || rest.is_some_and(|rest| rest.starts_with('/')) {
                *path = self.seen(&group)?.child(path.name());
            }
        }
        Some(paths)
    }

    /// The dimension without coordinates at `path`, if its group has been listed and has this dimension. A group may
    /// have many of them and need not be read again for each.
    pub(in crate::format::zarr) fn known_dimension(&self, path: &NodePath) -> Option<Entry> {
        let dimensions = self.known_dimensions(&path.parent()?)?;
        dimensions.is_of_group.get()?;
        let size = dimensions.size_without_coordinates(path.name())?;
        Some(pure_dimension(path.clone(), size))
    }

    /// The dimension without coordinates at `path`, if there is one.
    pub(in crate::format::zarr) fn dimension(&self, path: &NodePath) -> Result<Option<Entry>> {
        if let Some(known) = self.known_dimension(path) {
            return Ok(Some(known));
        }
        let Some(group) = path.parent() else { return Ok(None) };
        let is_group = |node: Option<Node>| node.is_some_and(|node| !node.is_array());
        let key = if group.is_root() { Ok(Key::root()) } else { self.key(&group) };
        if !valid(key.and_then(|key| self.hierarchy.node_or_folder(&key)))?.is_some_and(is_group) {
            return Ok(None);
        }
        let dimensions = self.dimensions(&group)?;
        let _ = dimensions.is_of_group.set(());
        let size = dimensions.size_without_coordinates(path.name());
        Ok(size.map(|size| pure_dimension(path.clone(), size)))
    }
}

/// Resolves dimension names in `group` to dimension coordinates, or removes them.
pub(in crate::format::zarr) fn name_dimensions(entry: &mut Entry, group: &NodePath, dimensions: &Dimensions) {
    let has_coordinates = dimensions.has_coordinates(entry.handle.path.name());
    let name = entry.handle.path.name();
    if let Item::Array { kind, shape, .. } = &mut entry.item {
        *shape = resolved(shape, name, group, dimensions);
        if has_coordinates {
            *kind = NodeKind::DimCoord;
            if let Shape::Dims(dims) = shape {
                dims.iter_mut().for_each(|dimension| dimension.coordinate = None);
            }
        }
    }
}

/// The shape of the array `name` with its dimension names resolved.
pub(in crate::format::zarr) fn resolved(
    shape: &Shape,
    name: &str,
    group: &NodePath,
    dimensions: &Dimensions,
) -> Shape {
    let mut shape = shape.clone();
    if dimensions.has_paths(name) {
        return shape;
    }
    if let Shape::Dims(dims) = &mut shape {
        for dimension in dims {
            let name = dimension.coordinate.take();
            let name = name.as_ref().and_then(|path| path.as_str().strip_prefix('/'));
            dimension.coordinate =
                name.filter(|name| dimensions.size(name).is_some()).map(|name| group.child(name));
        }
    }
    shape
}

pub(in crate::format::zarr) fn pure_dimension(path: NodePath, size: u64) -> Entry {
    Entry { handle: handle(path), item: dimension_of(Extent::Fixed(size)) }
}

pub(in crate::format::zarr) fn dimension_of(extent: Extent) -> Item {
    Item::Array {
        kind: NodeKind::DimCoord,
        datatype: None,
        shape: Shape::Dims(vec![Dimension { extent, coordinate: None }]),
        stored: Stored::Nothing,
    }
}

/// The dimension names of an array, from its metadata or from the usual attribute in version 2.
pub(in crate::format::zarr) fn names(node: &Node) -> Option<Vec<Option<String>>> {
    match &node.metadata {
        Metadata::V3(v3::NodeMetadata::Array(array)) if array.dimension_names.is_some() => {
            array.dimension_names.clone()
        }
        Metadata::V3(v3::NodeMetadata::Array(_)) | Metadata::V2Array { .. } => {
            let (group, _) = node.path.as_str().rsplit_once('/').unwrap_or_default();
            let own = |path: Option<NodePath>| {
                let path = path.filter(|path| {
                    path.parent().is_some_and(|parent| parent.as_str().trim_start_matches('/') == group)
                })?;
                Some(path.name().to_owned())
            };
            let referred = || Some(nczarr::references(node, shape(node))?.into_iter().map(own).collect());
            of_attribute(node).or_else(referred)
        }
        _ => None,
    }
}

/// The names in that attribute, one for each dimension.
pub(in crate::format::zarr) fn of_attribute(node: &Node) -> Option<Vec<Option<String>>> {
    let Json::Array(names) = node.attributes()?.get(ATTRIBUTE)? else { return None };
    let names: Vec<_> = names.iter().map(|name| Some(name.as_str()?.to_owned())).collect();
    (names.len() == shape(node).len() && names.iter().all(Option::is_some)).then_some(names)
}

/// The extents of an array; none for a group.
pub(in crate::format::zarr) fn shape(node: &Node) -> &[u64] {
    match &node.metadata {
        Metadata::V3(v3::NodeMetadata::Array(array)) => &array.shape,
        Metadata::V2Array { array, .. } => &array.shape,
        _ => &[],
    }
}

/// Whether an object can have this name.
pub(in crate::format::zarr) fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains('/')
}

/// The maximum number of groups whose dimensions are cached.
pub(in crate::format::zarr) const MAX_GROUPS: usize = 4096;

#[cfg(test)]
mod tests {
    use super::super::super::open_source;
    use super::*;
    use crate::format::OpenOptions;
    use crate::source::Source;
    use hyperslab_core::store::MemoryStore;
    use hyperslab_core::wrapper::Counted;

    #[test]
    fn dimensions_of_a_listed_group_are_found_without_reading_it_again() {
        let mut store = MemoryStore::new();
        let mut insert = |key: &str, text: String| store.insert(&Key::new(key).unwrap(), text);
        insert("zarr.json", r#"{"zarr_format":3,"node_type":"group"}"#.to_owned());
        for number in 0..10 {
            let array = format!(
                r#"{{"zarr_format":3,"node_type":"array","shape":[6],"data_type":"int8","fill_value":0,
                "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[4]}}}},
                "chunk_key_encoding":"default","codecs":["bytes"],"dimension_names":["x{number}"]}}"#
            );
            insert(&format!("a{number}/zarr.json"), array);
        }
        let store = Arc::new(Counted::new(store));
        let source = open_source(Arc::clone(&store) as _, &OpenOptions::default()).unwrap();
        let found = |number: u8| {
            let path = NodePath::root().child(&format!("x{number}"));
            source.dimension(&path).unwrap().map(|entry| entry.handle.path) == Some(path)
        };
        assert!(found(0));
        let requests = store.requests();
        assert!((0..10).all(found));
        assert_eq!(store.requests(), requests);
        // A member of this name is not such a dimension.
        assert!(source.dimension(&NodePath::root().child("a0")).unwrap().is_none());
        let members = source.members(&source.find(&NodePath::root()).unwrap().handle).unwrap();
        assert_eq!(members.len(), 20);
    }
}
