//! The sizes of nodes in their store.

use super::{Hierarchy, Metadata, Node};
use crate::metadata::v3;
use hyperslab_core::Result;
use hyperslab_core::store::{EntryKind, Key};

impl Hierarchy {
    /// The number of bytes of all values of the store.
    ///
    /// # Errors
    /// If the store cannot be listed.
    pub fn stored_bytes(&self) -> Result<u64> {
        let mut sum = 0_u64;
        self.values(&Key::root(), &mut |_, size| {
            sum = sum.saturating_add(size);
            true
        })?;
        Ok(sum)
    }

    /// The number of bytes of all chunks of an array; 0 for a group.
    ///
    /// # Errors
    /// If the store cannot be listed.
    pub fn chunk_bytes(&self, node: &Node) -> Result<u64> {
        let mut sum = 0_u64;
        self.chunks(node, &mut |_, _, size| {
            sum = sum.saturating_add(size);
            true
        })?;
        Ok(sum)
    }

    /// Whether at least one chunk of an array is stored.
    ///
    /// # Errors
    /// If the store cannot be listed.
    pub fn has_chunks(&self, node: &Node) -> Result<bool> {
        let mut found = false;
        self.chunks(node, &mut |_, _, _| {
            found = true;
            false
        })?;
        Ok(found)
    }

    /// Calls `visit` with the key, the index and the size in bytes of each stored chunk, in no particular order, until
    /// `visit` returns false. Chunks may lie beyond the end of the array if it was longer before.
    ///
    /// # Errors
    /// If the store cannot be listed.
    pub fn chunks(&self, node: &Node, visit: &mut dyn FnMut(&Key, &[u64], u64) -> bool) -> Result<()> {
        let (keys, rank) = match &node.metadata {
            Metadata::V3(v3::NodeMetadata::Array(array)) => (*array.chunk_key_encoding, array.shape.len()),
            Metadata::V2Array { array, .. } => (array.chunk_key_encoding(), array.shape.len()),
            _ => return Ok(()),
        };
        let own = match node.path.is_root() {
            true => 0,
            false => node.path.as_str().len() + 1,
        };
        self.values(&node.path, &mut |key, size| {
            let index = key.as_str().get(own..).and_then(|inner| keys.decode(inner, rank));
            index.is_none_or(|index| visit(key, &index, size))
        })
    }

    /// Calls `visit` with each value below `path` and its size in bytes, until `visit` returns false.
    fn values(&self, path: &Key, visit: &mut dyn FnMut(&Key, u64) -> bool) -> Result<()> {
        let mut left = vec![path.clone()];
        while let Some(prefix) = left.pop() {
            for entry in self.store.list(&prefix)? {
                match entry.kind {
                    EntryKind::Prefix => left.push(prefix.join(&entry.name)?),
                    EntryKind::Value => {
                        let key = prefix.join(&entry.name)?;
                        // The value may have been deleted since it was listed.
                        let size = self.store.size(&key)?;
                        if size.is_some_and(|size| !visit(&key, size)) {
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
