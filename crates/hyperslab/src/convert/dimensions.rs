//! The dimensions of a conversion: their lengths, which are needed before arrays are planned one by one, and which
//! dimensions are not converted.

use super::made::Made;
use super::{ConvertOptions, Visited, each_object};
use crate::source::{Entry, Item, Source};
use crate::target::Growing;
use hyperslab_core::{Result, valid};
use hyperslab_model::{Node, NodeKind, NodePath, Shape};
use rustc_hash::{FxHashMap, FxHashSet};

/// The lengths of dimensions that can grow, since shorter arrays depend on longer ones. Walks the source.
pub(super) fn growing(
    source: &dyn Source,
    root: &Entry,
    options: (&ConvertOptions<'_>, &Made),
) -> Result<Growing> {
    let mut growing = Growing::default();
    each_object(source, root, options, &mut |visited| {
        let Visited::Object(entry) = visited else { return Ok(()) };
        let Item::Array { kind, shape, .. } = &entry.item else { return Ok(()) };
        let path = &entry.handle.path;
        for dimension in shape.dims() {
            let own = (*kind == NodeKind::DimCoord).then_some(path);
            if let Some(of) = own.or(dimension.coordinate.as_ref()) {
                growing.add(of, dimension.extent);
            }
            if let Some(of) = dimension.coordinate.as_ref().filter(|of| is_beside(of, path)) {
                growing.add_array(of);
            }
        }
        Ok(())
    })?;
    Ok(growing)
}

/// Whether a dimension lies in the group of an array, where it is found by its name.
fn is_beside(dimension: &NodePath, array: &NodePath) -> bool {
    dimension.parent() == array.parent()
}

/// Finds the dimensions that arrays of other groups name but that are not converted.
pub(super) struct Outer<'a> {
    source: &'a dyn Source,
    /// Whether a group is converted with its members.
    groups: FxHashMap<NodePath, bool>,
    /// The dimensions that were looked up.
    known: FxHashSet<NodePath>,
}

impl<'a> Outer<'a> {
    pub(super) fn of(source: &'a dyn Source) -> Self {
        Outer { source, groups: FxHashMap::default(), known: FxHashSet::default() }
    }

    /// Adds those of the array at `path` to `missing`.
    ///
    /// # Errors
    /// If a group or dimension cannot be looked up for a reason other than its own content.
    pub(super) fn note(
        &mut self,
        path: &NodePath,
        node: &Node,
        missing: &mut FxHashSet<NodePath>,
    ) -> Result<()> {
        let Node::Ndarray(array) = node else { return Ok(()) };
        for of in array.shape.dims().iter().filter_map(|dimension| dimension.coordinate.as_ref()) {
            if !is_beside(of, path) && self.known.insert(of.clone()) && self.is_missing(of)? {
                missing.insert(of.clone());
            }
        }
        Ok(())
    }

    fn is_missing(&mut self, dimension: &NodePath) -> Result<bool> {
        for group in std::iter::successors(dimension.parent(), NodePath::parent) {
            let is_known = match self.groups.get(&group) {
                Some(is_known) => *is_known,
                None => group.is_root() || is_readable(self.source, &group)?,
            };
            self.groups.insert(group, is_known);
            if !is_known {
                return Ok(true);
            }
        }
        Ok(valid(self.source.find(dimension))?.is_some_and(|entry| matches!(entry.item, Item::Unreadable(_))))
    }
}

/// Whether a group is converted with its members.
fn is_readable(source: &dyn Source, group: &NodePath) -> Result<bool> {
    let Some(entry) = valid(source.find(group))? else { return Ok(false) };
    Ok(match entry.item {
        Item::Unreadable(_) => false,
        Item::Group => {
            valid(source.load(&entry.handle))?.is_some_and(|node| !matches!(node, Node::Unreadable(_)))
        }
        Item::Array { .. } | Item::Datatype(_) | Item::Link(_) => true,
    })
}

/// Removes dimensions that are not converted from an array, and returns them.
pub(super) fn forget(missing: &FxHashSet<NodePath>, node: &mut Node) -> Vec<NodePath> {
    let mut forgotten = Vec::new();
    if let Node::Ndarray(array) = node
        && let Shape::Dims(dims) = &mut array.shape
    {
        for dimension in dims {
            forgotten.extend(dimension.coordinate.take_if(|of| missing.contains(of)));
        }
    }
    forgotten
}
