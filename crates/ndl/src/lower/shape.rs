//! Shapes, with the names of dimensions.

use super::Lower;
use crate::tree::{Scalar, Tree};
use hyperslab_model::{Dimension, Extent, NodePath};

impl Lower<'_> {
    /// The dimensions of an array in `group`.
    pub(super) fn dimensions<'a>(&mut self, group: &NodePath, dims: &'a [Dimension]) -> Tree<'a> {
        Tree::list(dims.iter().map(|dimension| match &dimension.coordinate {
            Some(path) if !(self.pure && self.dimcoords.get(path) == Some(&false)) => {
                Tree::text(if self.is_visible(group, path) { path.name() } else { path.as_str() })
            }
            _ => size(&dimension.extent),
        }))
    }

    /// Whether the bare name is found as `path` from `group`: in the group, then in the groups above it. A name of
    /// digits would be read as a size.
    fn is_visible(&self, group: &NodePath, path: &NodePath) -> bool {
        let name = path.name();
        if name.bytes().all(|b| b.is_ascii_digit()) {
            return false;
        }
        let mut scope = group.clone();
        while !is_member(path, &scope) {
            if self.dimcoords.contains_key(&scope.child(name)) {
                return false;
            }
            match scope.parent() {
                Some(parent) => scope = parent,
                None => return false,
            }
        }
        true
    }
}

/// The maximum length of a dimension.
pub(super) fn size<'a>(extent: &Extent) -> Tree<'a> {
    extent.max().map_or(Tree::Scalar(Scalar::Null), Tree::int)
}

/// Whether `path` is a member of `group`.
pub(crate) fn is_member(path: &NodePath, group: &NodePath) -> bool {
    match path.as_str().rsplit_once('/') {
        Some(("", name)) => group.is_root() && !name.is_empty(),
        Some((parent, _)) => parent == group.as_str(),
        None => false,
    }
}
