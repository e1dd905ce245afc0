//! The objects of a source that are converted.

use crate::links;
use crate::source::{Entry, Item, Source};
use crate::walk::{Step, walk};
use hyperslab_core::{Result, valid};
use hyperslab_model::{Link, NodeKind, NodePath, Shape};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// A part of a source: some objects with everything below them, the groups on their paths, and the dimensions of
/// their arrays.
#[derive(Clone, Debug)]
pub struct Parts {
    kept: FxHashSet<NodePath>,
    ways: FxHashSet<NodePath>,
    dimensions: FxHashSet<NodePath>,
}

impl Parts {
    /// The part with these `entries`; everything if the root is one of them. A link selects its target.
    ///
    /// # Errors
    /// If a group on a path cannot be listed.
    pub fn new(source: &dyn Source, entries: &[Entry]) -> Result<Parts> {
        let mut entries = entries.to_vec();
        entries.extend(led_to(source, &entries)?);
        let kept: FxHashSet<_> = entries.iter().map(|entry| entry.handle.path.clone()).collect();
        let above = |path: &NodePath| std::iter::successors(path.parent(), NodePath::parent);
        let ways = kept.iter().flat_map(above).collect();
        let mut parts = Parts { kept, ways, dimensions: FxHashSet::default() };
        for entry in &entries {
            match entry.item {
                Item::Group => walk(source, &entry.handle, &mut |step| {
                    if let Step::Member(entry) = step {
                        parts.add_dimensions(entry);
                    }
                    Ok(())
                })?,
                _ => parts.add_dimensions(entry),
            }
        }
        let ways: Vec<_> = parts.dimensions.iter().flat_map(above).collect();
        parts.ways.extend(ways);
        Ok(parts)
    }

    /// The paths of the requested objects.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        self.kept.iter().map(NodePath::as_str).collect()
    }

    /// Whether a line of a digest belongs to the part. `path` is that of an object, or `PATH@NAME` of an attribute.
    pub fn has_line(&self, path: &str) -> bool {
        let is_part = |path: &str| NodePath::new(path).is_ok_and(|path| self.has_path(&path));
        // Names of objects may contain an @ too.
        is_part(path) || path.rsplit_once('@').is_some_and(|(object, _)| is_part(object))
    }

    /// Whether the object at `path` or something below it is converted.
    pub(crate) fn has_path(&self, path: &NodePath) -> bool {
        self.ways.contains(path) || self.dimensions.contains(path) || self.keeps(path)
    }

    /// Whether an object is converted.
    pub(crate) fn has(&self, entry: &Entry) -> bool {
        let path = &entry.handle.path;
        match &entry.item {
            Item::Group if self.ways.contains(path) => true,
            Item::Array { kind: NodeKind::DimCoord, .. } if self.dimensions.contains(path) => true,
            _ => self.keeps(path),
        }
    }

    /// Whether an object is a requested one or below one.
    pub(crate) fn keeps(&self, path: &NodePath) -> bool {
        std::iter::successors(Some(path.clone()), NodePath::parent).any(|path| self.kept.contains(&path))
    }

    fn add_dimensions(&mut self, entry: &Entry) {
        if let Item::Array { shape: Shape::Dims(dims), .. } = &entry.item {
            self.dimensions.extend(dims.iter().filter_map(|dimension| dimension.coordinate.clone()));
        }
    }
}

/// The targets of links among `entries` or on their paths, by their paths without links.
fn led_to(source: &dyn Source, entries: &[Entry]) -> Result<Vec<Entry>> {
    let root = source.find(&NodePath::root())?;
    // Only a walk finds further paths of an object; opening a path returns the object.
    let mut known: FxHashMap<NodePath, Link> = FxHashMap::default();
    walk(source, &root.handle, &mut |step| {
        if let Step::Member(Entry { handle, item: Item::Link(link) }) = step {
            known.insert(handle.path.clone(), link.clone());
        }
        Ok(())
    })?;
    let mut link_at = |at: &NodePath| Ok(known.get(at).cloned());
    let hops = entries.iter().flat_map(|entry| links::hops(&entry.handle.path, &mut link_at));
    let found: FxHashSet<NodePath> = hops.collect();
    // A link without target remains a link.
    found.iter().filter_map(|path| valid(source.find(path)).transpose()).collect()
}
