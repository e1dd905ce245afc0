//! Which values nodes have in their store.

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
        self.values_below(&Key::root(), visit)
    }

    /// Whether at least one chunk of an array is stored.
    ///
    /// # Errors
    /// If the store cannot be listed.
    pub fn has_chunks(&self, node: &Node) -> Result<bool> {
        let mut found = false;
        self.chunks(node, &mut |_, _| {
            found = true;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// Calls `visit` with the key and the index of each stored chunk of an array, in no particular order, until `visit`
    /// breaks; a group has none. Chunks may lie beyond the end of the array if it was longer before.
    ///
    /// # Errors
    /// As [`Hierarchy::values`].
    pub fn chunks(&self, node: &Node, visit: &mut ChunkVisitor<'_>) -> Result<()> {
        let (keys, rank) = match &node.metadata {
            Metadata::V3(v3::NodeMetadata::Array(array)) => (*array.chunk_key_encoding, array.shape.len()),
            Metadata::V2Array { array, .. } => (array.chunk_key_encoding(), array.shape.len()),
            _ => return Ok(()),
        };
        let own = match node.path.is_root() {
            true => 0,
            false => node.path.as_str().len() + 1,
        };
        self.values_below(&node.path, &mut |key| match key
            .as_str()
            .get(own..)
            .and_then(|inner| keys.decode(inner, rank))
        {
            Some(index) => visit(key, &index),
            None => Ok(ControlFlow::Continue(())),
        })
    }

    fn values_below(&self, path: &Key, visit: &mut dyn FnMut(Key) -> Result<ControlFlow<()>>) -> Result<()> {
        let mut left = vec![path.clone()];
        while let Some(prefix) = left.pop() {
            for entry in self.store.list(&prefix)? {
                match entry.kind {
                    EntryKind::Prefix => left.push(prefix.join(&entry.name)?),
                    EntryKind::Value => {
                        if visit(prefix.join(&entry.name)?)?.is_break() {
                            return Ok(());
                        }
                    }
                    EntryKind::Alias | EntryKind::Refused(_) => {}
                }
            }
        }
        Ok(())
    }
}
