//! Group members that are not nodes, taken from the records of the groups.

use super::record::Record;
use crate::format::zarr::nczarr::{self, Declared};
use crate::format::zarr::read::dimensions::{MAX_GROUPS, dimension_of, is_name};
use crate::format::zarr::read::paths::handle;
use crate::format::zarr::{ZarrSource, unpoisoned};
use crate::source::{Entry, Item};
use hyperslab_core::{Result, valid};
use hyperslab_model::{Attributes, BoxedStorage, DimCoord, Extent, Node, NodePath};
use hyperslab_zarr::hierarchy::Node as ZarrNode;
use hyperslab_zarr::name;
use rustc_hash::FxHashSet;
use std::sync::Arc;

impl ZarrSource {
    /// A member in the record of its group.
    pub(in crate::format::zarr) fn kept_member(&self, path: &NodePath) -> Result<Option<Node>> {
        let Some(group) = path.parent().filter(|_| !self.raw) else { return Ok(None) };
        Ok(self.kept(&group)?.members.get(path.name()).cloned())
    }

    /// The record of a group, with its members that are not nodes.
    pub(in crate::format::zarr) fn kept(&self, group: &NodePath) -> Result<Arc<Record>> {
        if let Some(known) = unpoisoned(&self.kept).get(group) {
            return Ok(Arc::clone(known));
        }
        let node = match self.key(group) {
            Ok(key) if key.is_root() => self.hierarchy.node_or_folder(&key),
            Ok(key) => self.hierarchy.node(&key),
            Err(_) => Ok(None),
        };
        // An invalid group reports its own error.
        let mut node = valid(node)?.flatten();
        if node.is_none() {
            // Its name in the store is known once the groups above it have been listed.
            node = match valid(self.search(group))?.flatten() {
                Some(key) => valid(self.hierarchy.node(&key))?.flatten(),
                None => None,
            };
            if node.is_none() {
                return Ok(Arc::default());
            }
        }
        let record = match &node {
            Some(node) if !node.is_array() => self.record(node)?,
            _ => None,
        };
        let mut record = record.unwrap_or_default();
        if let Some(node) = &node
            && !self.raw
        {
            self.add_declared(node, &mut record)?;
        }
        let record = Arc::new(record);
        let mut known = unpoisoned(&self.kept);
        if known.len() >= MAX_GROUPS {
            known.clear();
        }
        known.insert(group.clone(), Arc::clone(&record));
        Ok(record)
    }

    /// Adds the dimensions of a group that the NetCDF library has recorded. Those without coordinates become members.
    fn add_declared(&self, group: &ZarrNode, record: &mut Record) -> Result<()> {
        let declared = nczarr::dimensions(group);
        let mut alone: Vec<_> = declared.iter().filter(|(name, _)| is_name(name)).collect();
        alone.retain(|(name, _)| !record.members.contains_key(*name));
        if !alone.is_empty() {
            let mut taken = FxHashSet::default();
            let children = self.hierarchy.children(&group.path)?;
            let followed = children.iter().filter(|child| child.unfollowed.is_none());
            self.hierarchy.fetch(followed.map(|child| &child.path));
            for child in children {
                if child.unfollowed.is_none()
                    && let Some(Some(node)) = valid(self.hierarchy.node(&child.path))?
                {
                    taken.extend(name::recorded(&node));
                }
                taken.insert(child.path.name().to_owned());
            }
            alone.retain(|(name, _)| !taken.contains(*name));
        }
        for (name, of) in alone {
            let current = of.size;
            let size = if of.is_unlimited { Extent::Unlimited { current } } else { Extent::Fixed(current) };
            let dimcoord = DimCoord {
                size,
                datatype: None,
                attributes: Attributes::new(),
                storage: BoxedStorage::default(),
                value: None,
            };
            record.members.insert(name.clone(), Node::DimCoord(dimcoord));
        }
        record.declared = declared;
        Ok(())
    }

    /// The record of the NetCDF library for a dimension.
    pub(in crate::format::zarr) fn declared(&self, dimension: &NodePath) -> Result<Option<Declared>> {
        let Some(group) = dimension.parent() else { return Ok(None) };
        let group = valid(self.kept(&group))?;
        Ok(group.and_then(|group| group.declared.get(dimension.name()).copied()))
    }

    /// The record of a node.
    pub(in crate::format::zarr) fn record(&self, node: &ZarrNode) -> Result<Option<Record>> {
        if self.raw { Ok(None) } else { Record::of(node) }
    }
}

/// The entry of a member that is stored in the record of its group.
pub(in crate::format::zarr) fn kept_entry(path: NodePath, member: &Node) -> Entry {
    let item = match member {
        Node::DimCoord(dimcoord) => dimension_of(dimcoord.size),
        Node::Datatype(named) => Item::Datatype(Arc::clone(&named.datatype)),
        Node::Link(link) => Item::Link(link.clone()),
        Node::Group(_) | Node::Ndarray(_) | Node::Unreadable(_) => Item::Group,
    };
    Entry { handle: handle(path), item }
}
