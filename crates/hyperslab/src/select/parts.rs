//! The objects of a source that are converted.

use crate::links;
use crate::source::{Entry, Item, Source};
use crate::walk::{Step, walk};
use hyperslab_cf::dataset::{names_variables, places, variables_in};
use hyperslab_cf::meaning::text;
use hyperslab_core::{Result, valid};
use hyperslab_model::{Link, NodeKind, NodePath, Shape};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// A part of a source: some objects with everything below them, the groups on their paths, the dimensions of their
/// arrays, and the variables that the attributes of all these objects name: coordinates, bounds, grid mappings.
#[derive(Clone, Debug)]
pub struct Parts {
    kept: FxHashSet<NodePath>,
    ways: FxHashSet<NodePath>,
    dimensions: FxHashSet<NodePath>,
    /// Arrays that attributes name.
    named: FxHashSet<NodePath>,
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
        let (ways, dimensions, named) = Default::default();
        let mut parts = Parts { kept, ways, dimensions, named };
        let mut arrays = Vec::new();
        for entry in &entries {
            match entry.item {
                Item::Group => walk(source, &entry.handle, &mut |step| {
                    if let Step::Member(entry) = step {
                        arrays.push(entry.clone());
                    }
                    Ok(())
                })?,
                _ => arrays.push(entry.clone()),
            }
        }
        parts.add_arrays(source, arrays)?;
        let above = |path: &NodePath| std::iter::successors(path.parent(), NodePath::parent);
        let all = parts.kept.iter().chain(&parts.dimensions).chain(&parts.named);
        parts.ways = all.flat_map(above).collect();
        Ok(parts)
    }

    /// The paths of the requested objects.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        self.kept.iter().map(NodePath::as_str).collect()
    }

    /// Whether a line of a digest belongs to the part. `path` is that of an object, or `PATH@NAME` of an attribute.
    pub fn has_line(&self, path: &str) -> bool {
        let is_part = |path: &str| NodePath::new(path).is_ok_and(|path| self.has_path(&path));
        // Object names may also contain an @.
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

    /// Whether an object is a requested one or below one, or an array that attributes name.
    pub(crate) fn keeps(&self, path: &NodePath) -> bool {
        self.named.contains(path)
            || std::iter::successors(Some(path.clone()), NodePath::parent)
                .any(|path| self.kept.contains(&path))
    }

    /// Adds the dimensions of arrays, the variables that their attributes name, and in turn everything that these need.
    fn add_arrays(&mut self, source: &dyn Source, mut left: Vec<Entry>) -> Result<()> {
        while let Some(entry) = left.pop() {
            let Item::Array { shape, .. } = &entry.item else { continue };
            if let Shape::Dims(dims) = shape {
                for coordinate in dims.iter().filter_map(|dimension| dimension.coordinate.as_ref()) {
                    if self.dimensions.insert(coordinate.clone()) && !self.keeps(coordinate) {
                        left.extend(valid(source.find(coordinate))?);
                    }
                }
            }
            for named in named(source, &entry)? {
                if !self.keeps(&named.handle.path) {
                    self.named.insert(named.handle.path.clone());
                    left.push(named);
                }
            }
        }
        Ok(())
    }
}

/// The arrays that attributes of an array name.
fn named(source: &dyn Source, entry: &Entry) -> Result<Vec<Entry>> {
    let Some(node) = valid(source.load(&entry.handle))? else { return Ok(Vec::new()) };
    let group = entry.handle.path.parent().unwrap_or_else(NodePath::root);
    let mut found = Vec::new();
    let Some(attributes) = node.attributes() else { return Ok(found) };
    for attribute in attributes.keys().filter(|name| names_variables(name)) {
        let text = text(attributes, attribute).unwrap_or_default();
        for name in variables_in(attribute, &text) {
            for path in places(&group, name) {
                if let Some(array) =
                    valid(source.find(&path))?.filter(|at| matches!(at.item, Item::Array { .. }))
                {
                    found.push(array);
                    break;
                }
            }
        }
    }
    Ok(found)
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
    // A link without a target remains a link.
    found.iter().filter_map(|path| valid(source.find(path)).transpose()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::StoreBuilder;

    #[test]
    fn a_part_has_what_attributes_of_its_arrays_name() {
        let mut store = StoreBuilder::new();
        store.dimension("/x", 2).unwrap();
        store.dimension("/nv", 2).unwrap();
        store.coordinate("/time", &[1, 2]).unwrap().attribute("bounds", "bnds");
        store.array("/bnds", &["/time", "/nv"], &[0, 1, 1, 2]).unwrap();
        store.array("/height", &[], &[2.0]).unwrap().attribute("ancillary_variables", "g/v");
        store.array("/crs", &[], &[0]).unwrap().attribute("name", "other");
        store.array("/area", &["/x"], &[1.0, 1.0]).unwrap();
        store.array("/other", &["/x"], &[1.0, 1.0]).unwrap();
        store.group("/g").unwrap();
        store
            .array("/g/v", &["/time"], &[1, 2])
            .unwrap()
            .attribute("coordinates", "height missing")
            .attribute("grid_mapping", "crs: time")
            .attribute("cell_measures", "area: /area")
            .attribute("comment", "other");
        let source = store.build();
        let part = |path: &str| {
            let entry = source.find(&NodePath::new(path).unwrap()).unwrap();
            let parts = Parts::new(&*source, &[entry]).unwrap();
            let mut found = Vec::new();
            let root = source.find(&NodePath::root()).unwrap();
            walk(&*source, &root.handle, &mut |step| {
                match step {
                    Step::Member(entry) if parts.has(entry) => found.push(entry.handle.path.to_string()),
                    Step::Enter(group, _) if parts.has_path(&group.path) => {
                        found.push(group.path.to_string())
                    }
                    _ => {}
                }
                Ok(())
            })
            .unwrap();
            found.sort();
            found.join(" ")
        };
        assert_eq!(part("/g/v"), "/ /area /bnds /crs /g /g/v /height /nv /time /x");
        assert_eq!(part("/height"), "/ /area /bnds /crs /g /g/v /height /nv /time /x");
        assert_eq!(part("/time"), "/ /bnds /nv /time");
        assert_eq!(part("/other"), "/ /other /x");
    }
}
