//! Finds nodes by path: members of groups, links, and names that were encoded for the store.

use super::dimensions::{Dimensions, name_dimensions};
use crate::format::zarr::keep::members::kept_entry;
use crate::format::zarr::keep::record::Record;
use crate::format::zarr::{ZarrSource, unpoisoned};
use crate::source::{Entry, Handle, Item};
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Result, valid};
use hyperslab_model::{Attributes, Link, Node, NodePath, Unreadable};
use hyperslab_zarr::hierarchy::{Child, Node as ZarrNode};
use hyperslab_zarr::name;
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

impl ZarrSource {
    /// The key of the node at `path`, if it exists.
    pub(in crate::format::zarr) fn key(&self, path: &NodePath) -> Result<Key> {
        let renamed = unpoisoned(&self.renamed);
        let mut above = Some(path.clone()).filter(|_| !renamed.keys.is_empty());
        while let Some(ancestor) = above {
            if let Some(key) = renamed.keys.get(&ancestor) {
                let rest = path.as_str().strip_prefix(ancestor.as_str()).unwrap_or_default();
                return key.join(rest.trim_start_matches('/'));
            }
            above = ancestor.parent();
        }
        Key::new(path.as_str().trim_start_matches('/'))
    }

    /// The path under which the node at `key` is displayed, once it has been found there.
    pub(in crate::format::zarr) fn seen(&self, key: &Key) -> Option<NodePath> {
        let renamed = unpoisoned(&self.renamed);
        let ends = key.as_str().match_indices('/').map(|(at, _)| at);
        for end in ends.chain([key.as_str().len()]).rev() {
            let (above, rest) = key.as_str().split_at_checked(end)?;
            if let Some(path) = renamed.paths.get(&Key::new(above).ok()?) {
                return NodePath::new(&format!("{path}{rest}")).ok();
            }
        }
        NodePath::new(&format!("/{key}")).ok()
    }

    pub(in crate::format::zarr) fn stored(
        &self,
        path: &NodePath,
        key: &Key,
    ) -> Result<Option<Arc<ZarrNode>>> {
        if let Some(node) = unpoisoned(&self.recent).get(path) {
            return Ok(Some(Arc::clone(node)));
        }
        Ok(self.hierarchy.node(key)?.map(Arc::new))
    }

    /// Whether there is a node at `key`, readable or not, that is not displayed under another name.
    pub(in crate::format::zarr) fn is_there(&self, key: &Key) -> bool {
        match self.hierarchy.node(key) {
            Ok(Some(node)) => self.raw || name::recorded(&node).is_none(),
            Ok(None) => false,
            Err(_) => true,
        }
    }

    /// Finds a node by its displayed names, group by group.
    pub(in crate::format::zarr) fn search(&self, path: &NodePath) -> Result<Option<Key>> {
        let mut way: Vec<_> = std::iter::successors(Some(path.clone()), NodePath::parent).collect();
        way.reverse();
        for (group, member) in way.iter().zip(way.iter().skip(1)) {
            if self.is_array(&self.key(group)?)? {
                return Ok(None);
            }
            // Listing the members records the keys of encoded names.
            if !self.list(group)?.entries.iter().any(|entry| entry.handle.path == *member) {
                return Ok(None);
            }
        }
        self.key(path).map(Some)
    }

    fn is_array(&self, key: &Key) -> Result<bool> {
        let node = valid(self.hierarchy.node(key))?;
        Ok(node.flatten().is_some_and(|node| node.is_array()))
    }

    /// The target of a symbolic link, if `key` is one.
    pub(in crate::format::zarr) fn link(&self, key: &Key) -> Result<Option<Link>> {
        let store = self.hierarchy.store();
        let (parent, name) = key.as_str().rsplit_once('/').unwrap_or(("", key.as_str()));
        let (Some(target), Some(parent)) = (store.resolve(key)?, store.resolve(&Key::new(parent)?)?) else {
            return Ok(None);
        };
        Ok((parent.join(name)? != target).then(|| Link::Soft(format!("/{target}"))))
    }

    /// The members of a group, with encoded names decoded.
    pub(in crate::format::zarr) fn list(&self, group: &NodePath) -> Result<Listing> {
        let mut listing = Listing::default();
        let key = self.key(group)?;
        let children = self.hierarchy.children(&key)?;
        let stored: FxHashSet<&str> = children.iter().map(|child| child.path.name()).collect();
        let mut given = FxHashSet::default();
        let mut recent = FxHashMap::default();
        for part in children.chunks(MAX_RECENT) {
            let followed = part.iter().filter(|child| child.unfollowed.is_none());
            self.hierarchy.fetch(followed.map(|child| &child.path));
            for (child, found) in part.iter().zip(self.look_at(part)?) {
                let name = child.path.name();
                let recorded = match &found {
                    Found::Node { node, .. } if !self.raw => name::recorded(node),
                    _ => None,
                };
                let recorded = recorded.filter(|name| {
                    // Names must not be paths, so that the names of directories cannot lead elsewhere.
                    !name.is_empty() && !name.contains('/') && !stored.contains(name.as_str())
                });
                let path = match recorded.filter(|name| given.insert(name.clone())) {
                    Some(name) => {
                        let path = group.child(&name);
                        let mut renamed = unpoisoned(&self.renamed);
                        renamed.keys.insert(path.clone(), child.path.clone());
                        renamed.paths.insert(child.path.clone(), path.clone());
                        path
                    }
                    None => group.child(name),
                };
                let item = match found {
                    Found::Nothing => continue,
                    Found::Other(item) => {
                        listing.dimensions.add(group, path.name(), None, None, None);
                        item
                    }
                    Found::Node { node, record, item } => {
                        let shown = Some(&*node).filter(|_| !self.raw);
                        let paths = self.paths(&node, record.as_deref())?;
                        listing.dimensions.add(
                            group,
                            path.name(),
                            shown,
                            record.as_deref(),
                            paths.as_deref(),
                        );
                        if recent.len() < MAX_RECENT {
                            recent.insert(path.clone(), node);
                        }
                        item
                    }
                };
                listing.entries.push(Entry { handle: handle(path), item });
            }
        }
        listing.dimensions.finish();
        if !self.raw {
            for (name, member) in &self.kept(group)?.members {
                if let Node::DimCoord(dimcoord) = member {
                    listing.dimensions.keep(name, dimcoord.size.current());
                }
                listing.entries.push(kept_entry(group.child(name), member));
            }
        }
        *unpoisoned(&self.recent) = recent;
        Ok(listing)
    }

    /// The kinds of some children of a group, determined by all threads.
    fn look_at(&self, children: &[Child]) -> Result<Vec<Found>> {
        let mut found: Vec<Found> = children.iter().map(|_| Found::Nothing).collect();
        let parts = children.chunks(AT_ONCE).zip(found.chunks_mut(AT_ONCE));
        self.pool.each(parts, 0, |(children, found), _| {
            for (child, found) in children.iter().zip(found) {
                *found = self.look(child);
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn look(&self, child: &Child) -> Found {
        let Child { path, is_alias, .. } = child;
        if let Err(error) = child.check() {
            return Found::Other(Item::Unreadable(Unreadable::new(None, &error)));
        }
        if *is_alias {
            return Found::Other(match self.link(path) {
                Ok(link) => Item::Link(link.unwrap_or_else(|| Link::Soft(path.name().into()))),
                Err(error) => self.item_or_reason(Err(&error), path),
            });
        }
        match self.hierarchy.node(path) {
            Ok(Some(node)) => {
                // The item reports errors of the record.
                let record = self.record(&node).ok().flatten().map(Box::new);
                let item = self.item_or_reason(Ok(&node), path);
                Found::Node { node: Arc::new(node), record, item }
            }
            Ok(None) => Found::Nothing,
            Err(error) => Found::Other(self.item_or_reason(Err(&error), path)),
        }
    }

    /// The list item of the node at `key`, or the reason why there is none.
    pub(in crate::format::zarr) fn item_or_reason(
        &self,
        node: std::result::Result<&ZarrNode, &Error>,
        key: &Key,
    ) -> Item {
        let unreadable = |error: &Error| {
            Item::Unreadable(Unreadable { attributes: Attributes::new(), ..self.unreadable(key, error) })
        };
        match node {
            Ok(node) => self.item(node).unwrap_or_else(|error| unreadable(&error)),
            Err(error) => unreadable(error),
        }
    }

    pub(in crate::format::zarr) fn entry(
        &self,
        path: NodePath,
        node: std::result::Result<&ZarrNode, &Error>,
        key: &Key,
        dimensions: &Dimensions,
    ) -> Entry {
        let mut entry = Entry { item: self.item_or_reason(node, key), handle: handle(path) };
        let group = entry.handle.path.parent().unwrap_or_else(NodePath::root);
        name_dimensions(&mut entry, &group, dimensions);
        entry
    }
}

/// The members of a group before their dimensions are resolved.
#[derive(Default)]
pub(in crate::format::zarr) struct Listing {
    pub(in crate::format::zarr) entries: Vec<Entry>,
    pub(in crate::format::zarr) dimensions: Dimensions,
}

/// The kind of a child of a group.
enum Found {
    Node {
        node: Arc<ZarrNode>,
        record: Option<Box<Record>>,
        item: Item,
    },
    /// A link, or an object that cannot be read.
    Other(Item),
    Nothing,
}

/// A handle with an ID derived from the path, since nodes have no numbers.
pub(in crate::format::zarr) fn handle(path: NodePath) -> Handle {
    let mut hasher = DefaultHasher::new();
    path.as_str().hash(&mut hasher);
    Handle { id: hasher.finish(), path }
}

/// The maximum number of cached nodes of a group.
const MAX_RECENT: usize = 1024;

/// The number of children that a thread reads at a time. For fewer children, starting a thread takes longer than
/// reading.
const AT_ONCE: usize = 16;
