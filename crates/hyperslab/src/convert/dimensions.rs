//! Facts about dimensions that are needed before arrays are planned one by one.

use super::{ConvertOptions, each_object};
use crate::source::{Entry, Item, Source};
use crate::target::Growing;
use hyperslab_core::{Result, valid};
use hyperslab_model::{Node, NodeKind, NodePath, Shape};
use rustc_hash::{FxHashMap, FxHashSet};

/// The lengths of dimensions that can grow, since shorter arrays depend on longer ones; and the dimensions that
/// arrays name but that are not converted.
pub(super) fn dimensions(
    source: &dyn Source,
    root: &Entry,
    options: &ConvertOptions<'_>,
) -> Result<(Growing, FxHashSet<NodePath>)> {
    let mut growing = Growing::default();
    let mut outer = FxHashSet::default();
    each_object(source, root, options, &mut |entry| {
        let Item::Array { kind, shape, .. } = &entry.item else { return Ok(()) };
        let path = &entry.handle.path;
        for dimension in shape.dims() {
            let own = (*kind == NodeKind::DimCoord).then_some(path);
            if let Some(of) = own.or(dimension.coordinate.as_ref()) {
                growing.add(of, dimension.extent);
            }
            // Dimensions of the same group are found by their names.
            match &dimension.coordinate {
                Some(of) if of.parent() != path.parent() => drop(outer.insert(of.clone())),
                Some(of) => growing.add_array(of),
                None => {}
            }
        }
        Ok(())
    })?;
    let mut groups = FxHashMap::default();
    let mut is_missing = |dimension: &NodePath| -> Result<bool> {
        for group in std::iter::successors(dimension.parent(), NodePath::parent) {
            let is_known = match groups.get(&group) {
                Some(is_known) => *is_known,
                None => group.is_root() || is_readable(source, &group)?,
            };
            groups.insert(group, is_known);
            if !is_known {
                return Ok(true);
            }
        }
        Ok(valid(source.find(dimension))?.is_some_and(|entry| matches!(entry.item, Item::Unreadable(_))))
    };
    let mut missing = FxHashSet::default();
    for dimension in outer {
        if is_missing(&dimension)? {
            missing.insert(dimension);
        }
    }
    Ok((growing, missing))
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
