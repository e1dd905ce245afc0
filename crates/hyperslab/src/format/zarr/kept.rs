//! What groups keep of members that are no nodes.

use super::dimensions::{MOST_GROUPS, dimension_of};
use super::names::handle;
use super::record::Record;
use super::{ZarrSource, unpoisoned};
use crate::source::{Entry, Item};
use hyperslab_core::Result;
use hyperslab_model::{Node, NodePath};
use hyperslab_zarr::hierarchy::Node as ZarrNode;
use std::sync::Arc;

impl ZarrSource {
    /// A member that a group keeps in its record.
    pub(super) fn kept_member(&self, path: &NodePath) -> Result<Option<Node>> {
        let Some(group) = path.parent().filter(|_| !self.raw) else { return Ok(None) };
        Ok(self.kept(&group)?.members.get(path.name()).cloned())
    }

    /// What a group keeps of members that are no nodes.
    pub(super) fn kept(&self, group: &NodePath) -> Result<Arc<Record>> {
        if let Some(known) = unpoisoned(&self.kept).get(group) {
            return Ok(Arc::clone(known));
        }
        let node = match self.key(group) {
            Ok(key) if key.is_root() => self.hierarchy.node_or_folder(&key),
            Ok(key) => self.hierarchy.node(&key),
            Err(_) => Ok(None),
        };
        // A group that cannot be read says so itself.
        let record = match node {
            Ok(Some(node)) if !node.is_array() => self.record(&node)?,
            _ => None,
        };
        let record = Arc::new(record.unwrap_or_default());
        let mut known = unpoisoned(&self.kept);
        if known.len() >= MOST_GROUPS {
            known.clear();
        }
        known.insert(group.clone(), Arc::clone(&record));
        Ok(record)
    }

    /// What a node keeps that Zarr has no place for.
    pub(super) fn record(&self, node: &ZarrNode) -> Result<Option<Record>> {
        if self.raw { Ok(None) } else { Record::of(node.attributes()) }
    }
}

/// A member that its group keeps.
pub(super) fn kept_entry(path: NodePath, member: &Node) -> Entry {
    let item = match member {
        Node::DimCoord(dimcoord) => dimension_of(dimcoord.size),
        Node::Datatype(named) => Item::Datatype(Arc::clone(&named.datatype)),
        Node::Link(link) => Item::Link(link.clone()),
        Node::Group(_) | Node::Ndarray(_) | Node::Unreadable(_) => Item::Group,
    };
    Entry { handle: handle(path), item }
}
