//! The values that nodes have in their store.

use super::{Hierarchy, Metadata, Node};
use crate::metadata::v3;
use hyperslab_core::Result;
use hyperslab_core::store::{EntryKind, Key};
use std::ops::ControlFlow;

/// Called with the key and the index of each chunk; `Break` ends the visit.
pub type ChunkVisitor<'a> = dyn FnMut(Key, &[u64]) -> Result<ControlFlow<()>> + 'a;

impl Hierarchy {
    /// Calls `visit` with the key of each value of the store, in no particular order, until `visit` breaks. Values are
    /// only listed, not opened.
    ///
    /// # Errors
    /// If the store cannot be listed, and those of `visit`.
    pub fn values(&self, visit: &mut dyn FnMut(Key) -> Result<ControlFlow<()>>) -> Result<()> {
        self.below(&Key::root(), &mut |key, is_link| match is_link {
            true => Ok(ControlFlow::Continue(())),
            false => visit(key),
        })
    }

    /// Whether any chunk of an array may be stored: there may be some behind links.
    ///
    /// # Errors
    /// If the store cannot be listed.
    pub fn has_chunks(&self, node: &Node) -> Result<bool> {
        let mut found = false;
        self.each_chunk(node, &mut |_, index, is_link| {
            found |= is_link || index.is_some();
            Ok(if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(found)
    }

    /// Calls `visit` with the key and the index of each stored chunk of an array, in no particular order, until `visit`
    /// breaks; a group has none. Chunks may lie beyond the end of the array if it was longer before.
    ///
    /// # Errors
    /// As [`Hierarchy::values`].
    pub fn chunks(&self, node: &Node, visit: &mut ChunkVisitor<'_>) -> Result<()> {
        self.each_chunk(node, &mut |key, index, _| match index {
            Some(index) => visit(key, &index),
            None => Ok(ControlFlow::Continue(())),
        })
    }

    /// Calls `visit` with the key of each value or link below an array, the index of the chunk that has this key, and
    /// whether it is a link.
    fn each_chunk(
        &self,
        node: &Node,
        visit: &mut dyn FnMut(Key, Option<Vec<u64>>, bool) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let (keys, rank) = match &node.metadata {
            Metadata::V3(v3::NodeMetadata::Array(array)) => (*array.chunk_key_encoding, array.shape.len()),
            Metadata::V2Array { array, .. } => (array.chunk_key_encoding(), array.shape.len()),
            _ => return Ok(()),
        };
        let own = match node.path.is_root() {
            true => 0,
            false => node.path.as_str().len() + 1,
        };
        self.below(&node.path, &mut |key, is_link| {
            let index = key.as_str().get(own..).and_then(|inner| keys.decode(inner, rank));
            visit(key, index, is_link)
        })
    }

    /// Calls `visit` with the key of each value, and of each link that the listing does not follow.
    fn below(&self, path: &Key, visit: &mut dyn FnMut(Key, bool) -> Result<ControlFlow<()>>) -> Result<()> {
        let mut left = vec![path.clone()];
        while let Some(prefix) = left.pop() {
            for entry in self.store.list(&prefix)? {
                let is_link = match entry.kind {
                    EntryKind::Prefix => {
                        left.push(prefix.join(&entry.name)?);
                        continue;
                    }
                    EntryKind::Value => false,
                    EntryKind::Alias | EntryKind::Unfollowed(_) => true,
                    EntryKind::Refused(_) => continue,
                };
                if visit(prefix.join(&entry.name)?, is_link)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
