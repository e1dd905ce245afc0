//! Walks version 1 B-trees.
//!
//! Spec: HDF5 III.A.1 Disk Format: Level 1A1 - Version 1 B-trees

use crate::format::infrastructure::btree_v1::{BtreeV1Context, ChunkKeys, Keys, NodeType};
use crate::format::infrastructure::{BtreeV1Node, SymbolTableEntry, SymbolTableNode};
use crate::format::{Address, Structure};
use crate::navigate::Reader;
use crate::navigate::local_heap::LocalHeap;
use crate::navigate::visited::Visited;
use bytes::Bytes;
use hyperslab_core::{Decoder, Error, Result};
use std::ops::ControlFlow;

/// Called with the entry of a link and its name, or the reason why the name cannot be read.
pub type EntryVisitor<'a> = dyn FnMut(Result<&[u8]>, &SymbolTableEntry) -> Result<ControlFlow<()>> + 'a;

/// Calls `visit` with the name and entry of each link of a group, in order of names, until it returns `Break`.
///
/// # Errors
/// If the tree or its symbol table nodes are invalid, and the errors of `visit`.
pub fn group_entries(
    reader: &Reader,
    btree: Address,
    heap: &LocalHeap,
    visit: &mut EntryVisitor<'_>,
) -> Result<()> {
    let mut walk = Walk::new(reader, NodeType::Group, btree)?;
    while let Some(node) = walk.next_leaf()? {
        reader.fetch(&node.children, USUAL_SYMBOL_NODE_LEN);
        for child in node.children {
            for entry in walk.symbol_table_node(child)?.entries {
                if visit(heap.name(entry.name_offset), &entry)?.is_break() {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// The entry of one link of a group. Reads one node per level.
pub fn find_group_entry(
    reader: &Reader,
    btree: Address,
    heap: &LocalHeap,
    name: &[u8],
) -> Result<Option<SymbolTableEntry>> {
    let mut walk = Walk::new(reader, NodeType::Group, btree)?;
    while let Some((address, level)) = walk.stack.pop() {
        let node = walk.node(address, level)?;
        let Keys::Group(keys) = &node.keys else { return Ok(None) };
        // The key after a child is its largest name.
        let mut candidate = None;
        for (child, key) in node.children.iter().zip(keys.iter().skip(1)) {
            if name <= heap.name(*key)? {
                candidate = Some(*child);
                break;
            }
        }
        match candidate {
            Some(child) if node.level == 0 => {
                for entry in walk.symbol_table_node(child)?.entries {
                    if heap.name(entry.name_offset)? == name {
                        return Ok(Some(entry));
                    }
                }
            }
            Some(child) => walk.stack.push((child, Some(node.level - 1))),
            None => {}
        }
    }
    Ok(None)
}

/// Calls `visit` with the keys, children and location of each leaf of a tree that indexes chunks of `rank` dimensions.
pub(super) fn chunk_leaves(
    reader: &Reader,
    btree: Address,
    rank: u8,
    mut visit: impl FnMut(&ChunkKeys, &[Address], u64) -> Result<()>,
) -> Result<()> {
    let mut walk = Walk::new(reader, NodeType::Chunks { rank }, btree)?;
    while let Some(node) = walk.next_leaf()? {
        if let Keys::Chunks(keys) = &node.keys {
            visit(keys, &node.children, walk.last_offset)?;
        }
    }
    Ok(())
}

struct Walk<'a> {
    reader: &'a Reader,
    context: BtreeV1Context,
    visited: Visited,
    /// Nodes that are still to be read, the next one last, with the level that their parent implies.
    stack: Vec<(Address, Option<u8>)>,
    /// The file offset of the last node.
    last_offset: u64,
    /// The largest size of a node so far, to read nodes at once.
    usual_len: u64,
}

impl<'a> Walk<'a> {
    fn new(reader: &'a Reader, node_type: NodeType, root: Address) -> Result<Self> {
        Ok(Walk {
            reader,
            context: BtreeV1Context { sizes: *reader.sizes(), node_type },
            visited: Visited::new(reader)?,
            stack: vec![(root, None)],
            last_offset: 0,
            usual_len: USUAL_LEN,
        })
    }

    fn next_leaf(&mut self) -> Result<Option<BtreeV1Node>> {
        while let Some((address, level)) = self.stack.pop() {
            let node = self.node(address, level)?;
            let Some(below) = node.level.checked_sub(1) else { return Ok(Some(node)) };
            self.reader.fetch(&node.children, self.usual_len);
            self.stack.extend(node.children.iter().rev().map(|child| (*child, Some(below))));
        }
        Ok(None)
    }

    fn node(&mut self, address: Address, level: Option<u8>) -> Result<BtreeV1Node> {
        const NAME: &str = BtreeV1Node::NAME;
        let offset = self.reader.offset(NAME, address)?;
        let left = self.reader.len()?.saturating_sub(address.0);
        let mut bytes = self.read(address, left.min(self.usual_len))?;
        let len = BtreeV1Node::stored_len(&mut Decoder::new(NAME, offset, &bytes), &self.context)?;
        self.visited.enter(self.reader, NAME, address, len)?;
        if len > bytes.len() as u64 {
            bytes = self.read(address, len)?;
            self.usual_len = len;
        }
        let node = BtreeV1Node::decode(&mut Decoder::new(NAME, offset, &bytes), &self.context)?;
        if level.is_some_and(|level| level != node.level) {
            let expected = level.unwrap_or(0);
            return Err(
                Error::malformed(format!("level {}, expected {expected}", node.level)).at(NAME, offset)
            );
        }
        self.last_offset = offset;
        Ok(node)
    }

    fn read(&self, address: Address, len: u64) -> Result<Bytes> {
        match self.context.node_type {
            NodeType::Group => self.reader.bytes(BtreeV1Node::NAME, address, len),
            // Nodes of chunk indexes are read once, and would only displace other metadata from the cache.
            NodeType::Chunks { .. } if !self.reader.is_far() => {
                self.reader.raw(BtreeV1Node::NAME, address, len)
            }
            // They were fetched into the cache.
            NodeType::Chunks { .. } => self.reader.bytes(BtreeV1Node::NAME, address, len),
        }
    }

    fn symbol_table_node(&mut self, address: Address) -> Result<SymbolTableNode> {
        const NAME: &str = SymbolTableNode::NAME;
        let sizes = &self.context.sizes;
        let prefix = self.reader.bytes(NAME, address, SymbolTableNode::PREFIX_LEN)?;
        let offset = self.reader.offset(NAME, address)?;
        let len = SymbolTableNode::stored_len(&mut Decoder::new(NAME, offset, &prefix), sizes)?;
        self.visited.enter(self.reader, NAME, address, len)?;
        self.reader.structure(address, len, sizes)
    }
}

/// The size of a node that indexes links, or chunks of two dimensions, with the default K.
const USUAL_LEN: u64 = 2616;

/// The size of a symbol table node with the default K.
const USUAL_SYMBOL_NODE_LEN: u64 = 328;

#[cfg(test)]
mod tests;
