//! Facts about dimensions that are needed before arrays are planned one by one.

use super::{ConvertOptions, each_object};
use crate::source::{Entry, Item, Source};
use crate::target::Growing;
use hyperslab_core::Result;
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
            if let Some(of) = dimension.coordinate.as_ref().filter(|of| of.parent() != path.parent()) {
                outer.insert(of.clone());
            }
        }
        Ok(())
    })?;
    let mut groups = FxHashMap::default();
    let is_missing = |dimension: &NodePath| {
        let mut above = std::iter::successors(dimension.parent(), NodePath::parent);
        let is_above = above.all(|group| {
            *groups.entry(group).or_insert_with_key(|group| group.is_root() || is_readable(source, group))
        });
        !is_above || source.find(dimension).is_ok_and(|entry| matches!(entry.item, Item::Unreadable(_)))
    };
    outer.retain(is_missing);
    Ok((growing, outer))
}

/// Whether a group is converted with its members.
fn is_readable(source: &dyn Source, group: &NodePath) -> bool {
    source.find(group).is_ok_and(|entry| match entry.item {
        Item::Unreadable(_) => false,
        Item::Group => source.load(&entry.handle).is_ok_and(|node| !matches!(node, Node::Unreadable(_))),
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
