//! Checks version 1 B-trees, of symbol tables and of chunks.

use super::Checker;
use super::local_heap::LocalHeap;
use super::object_header::Header;
use super::objects::{Cached, shown};
use super::reading::{AtOffset, Pointer, pointer};
use super::rule;
use crate::format::infrastructure::btree_v1::{BtreeV1Context, Keys, NodeType};
use crate::format::infrastructure::symbol_table_entry::Cache;
use crate::format::infrastructure::{BtreeV1Node, SymbolTableEntry, SymbolTableNode};
use crate::format::message::symbol_table::SymbolTable;
use crate::format::{Address, Structure};
use hyperslab_core::{Decoder, Result};
use std::cell::Cell;
use std::cmp::Ordering;
use std::rc::Rc;

/// A child of a leaf and the keys before and after it.
pub(super) struct Leaf<'n> {
    pub(super) node: &'n BtreeV1Node,
    /// The address of the node.
    pub(super) byte: u64,
    /// The index of the child.
    pub(super) at: usize,
    pub(super) child: Address,
    /// The offset of the pointer to the child.
    pub(super) from: Pointer,
}

/// Called with each child of the leaves.
pub(super) type LeafVisitor<'v, 'a> = dyn FnMut(&mut Checker<'a>, &Leaf<'_>) -> Result<()> + 'v;

/// The kind of keys, which decides how they are compared and named in messages.
pub(super) type KeyOrder<'v> = dyn Fn(&Keys, usize, &Keys, usize) -> Option<Ordering> + 'v;

impl<'a> Checker<'a> {
    /// A group with a Symbol Table message.
    pub(super) fn old_group(&mut self, header: &Header, cached: Option<Cached>) -> Result<()> {
        let Some((table, at)) = self.only::<SymbolTable>(header)? else {
            self.complete = false;
            return Ok(());
        };
        if let Some(cached) = cached
            && (cached.btree, cached.heap) != (table.btree, table.heap)
        {
            let message = format!(
                "caches a B-tree at {} and a heap at {}, the group has {} and {}",
                cached.btree, cached.heap, table.btree, table.heap
            );
            self.report(&rule::SYMBOL_TABLE_CACHE, SymbolTableEntry::NAME, cached.byte, message);
        }
        let sizes = self.sizes();
        let heap_at = pointer(SymbolTable::NAME, at + u64::from(sizes.offsets));
        let Some(heap) = self.local_heap(table.heap, heap_at)? else {
            self.complete = false;
            return Ok(());
        };
        let heap = Rc::new(heap);
        let order = {
            let heap = Rc::clone(&heap);
            // Many keys can share one long name, so only as many bytes are compared as valid files need.
            let left = Cell::new(self.bytes_left);
            move |one: &Keys, a: usize, other: &Keys, b: usize| {
                let (Keys::Group(one), Keys::Group(other)) = (one, other) else { return None };
                let Some(rest) = left.get().checked_sub(KEY_COST) else { return Some(Ordering::Less) };
                let (one, other) = (heap.text(*one.get(a)?)?, heap.text(*other.get(b)?)?);
                left.set(rest.saturating_sub((one.len() + other.len()) as u64));
                Some(one.cmp(other))
            }
        };
        let mut last: Option<Vec<u8>> = None;
        let from = pointer(SymbolTable::NAME, at);
        let is_whole = self.btree_v1(table.btree, from, NodeType::Group, &order, &mut |checker, leaf| {
            checker.symbol_table_node(&heap, leaf, &mut last)
        })?;
        self.complete &= is_whole;
        Ok(())
    }

    fn symbol_table_node(
        &mut self,
        heap: &LocalHeap,
        leaf: &Leaf<'_>,
        last: &mut Option<Vec<u8>>,
    ) -> Result<()> {
        const NAME: &str = SymbolTableNode::NAME;
        let sizes = self.sizes();
        let from = leaf.from;
        let Some((byte, prefix)) = self.bytes(NAME, leaf.child, SymbolTableNode::PREFIX_LEN, from)? else {
            self.complete = false;
            return Ok(());
        };
        let len = match SymbolTableNode::stored_len(&mut Decoder::new(NAME, byte, &prefix), &sizes) {
            Ok(len) => len,
            Err(error) => {
                self.complete = false;
                return self.error(error);
            }
        };
        let entry_len = SymbolTableEntry::len(&sizes);
        let capacity = 2 * u64::from(self.k.group_leaf);
        let count = (len - SymbolTableNode::PREFIX_LEN) / entry_len;
        if count > capacity {
            let message = format!("{count} entries in a node for {capacity}");
            self.report_bytes(&rule::BTREE_COUNT, NAME, byte + 6, Some(2), message);
        }
        let Some((byte, bytes)) = self.owned_bytes(NAME, leaf.child, len, from)? else {
            self.complete = false;
            return Ok(());
        };
        let allocated = SymbolTableNode::PREFIX_LEN + capacity * entry_len;
        self.claim_spare(NAME, byte + len, allocated.saturating_sub(len));
        let mut at = byte + SymbolTableNode::PREFIX_LEN;
        let entries = bytes.get(8..).unwrap_or_default();
        let mut d = Decoder::new(SymbolTableEntry::NAME, at, entries);
        for _ in 0..count {
            let Ok(mut one) = d.sub(SymbolTableEntry::NAME, usize::try_from(entry_len).unwrap_or(0)) else {
                break;
            };
            match SymbolTableEntry::decode(&mut one, &sizes) {
                Ok(entry) => self.symbol_table_entry(heap, leaf, &entry, at, last),
                Err(error) => {
                    self.complete = false;
                    self.error(error)?;
                }
            }
            at += entry_len;
        }
        Ok(())
    }

    fn symbol_table_entry(
        &mut self,
        heap: &LocalHeap,
        leaf: &Leaf<'_>,
        entry: &SymbolTableEntry,
        byte: u64,
        last: &mut Option<Vec<u8>>,
    ) {
        const NAME: &str = SymbolTableEntry::NAME;
        let sizes = self.sizes();
        self.part(NAME, byte, SymbolTableEntry::len(&sizes));
        let Some(name) = self.heap_text(heap, entry.name_offset, pointer(NAME, byte)) else {
            self.complete = false;
            return;
        };
        if name.is_empty() || name.contains(&b'/') {
            let message = format!("the name {} cannot stand in a path", shown(name));
            self.report(&rule::LINK_NAME, NAME, byte, message);
        }
        match last.as_deref().map(|last| last.cmp(name)) {
            Some(Ordering::Equal) => {
                let message = format!("a second link of the name {}", shown(name));
                self.report(&rule::DUPLICATE_NAME, NAME, byte, message);
            }
            Some(Ordering::Greater) => {
                let message = format!(
                    "the name {} comes after {}, out of order",
                    shown(name),
                    shown(last.as_deref().unwrap_or_default())
                );
                self.report(&rule::BTREE_ORDER, NAME, byte, message);
            }
            _ => {}
        }
        *last = Some(name.to_vec());
        if let Keys::Group(keys) = &leaf.node.keys {
            let key = |at: usize| keys.get(at).and_then(|offset| heap.text(*offset));
            let key_len = u64::from(sizes.lengths) + u64::from(sizes.offsets);
            let first = leaf.byte + BtreeV1Node::prefix_len(&sizes);
            let below = key(leaf.at).is_some_and(|key| name <= key && !key.is_empty());
            let above = key(leaf.at + 1).is_some_and(|key| name > key);
            if below || above {
                let at = leaf.at + usize::from(above);
                let message = format!(
                    "the key {} does not bound the name {}",
                    shown(key(at).unwrap_or_default()),
                    shown(name)
                );
                let at = first + at as u64 * key_len;
                self.report(&rule::BTREE_KEY, BtreeV1Node::NAME, at, message);
            }
        }
        let lengths = u64::from(sizes.lengths);
        let from = pointer(NAME, byte + lengths);
        let scratch = byte + lengths + u64::from(sizes.offsets) + 8;
        match entry.cache {
            Cache::SoftLink { target_offset } => {
                match self.heap_text(heap, target_offset.into(), pointer(NAME, scratch)) {
                    Some(path) => self.add_soft_link(name, path, pointer(NAME, scratch)),
                    None => self.complete = false,
                }
            }
            Cache::Group { btree, heap } => {
                let cached = Cached { btree, heap, byte: scratch };
                self.reach_by_link(name, entry.object_header, Some(cached), from);
            }
            Cache::Nothing => self.reach_by_link(name, entry.object_header, None, from),
        }
    }

    /// Walks a tree with its leaves in order. Returns whether all of it could be read.
    pub(super) fn btree_v1(
        &mut self,
        root: Address,
        from: Pointer,
        node_type: NodeType,
        order: &KeyOrder<'_>,
        visit: &mut LeafVisitor<'_, 'a>,
    ) -> Result<bool> {
        let context = BtreeV1Context { sizes: self.sizes(), node_type };
        let mut levels: Vec<Option<Seen>> = Vec::new();
        let mut is_whole = true;
        let mut stack = vec![Expected { address: root, level: None, from, parent: None }];
        while let Some(expected) = stack.pop() {
            let Some(AtOffset { value: node, byte }) = self.btree_v1_node(&expected, &context)? else {
                is_whole = false;
                // After a node that could not be read, the next one is not the right sibling of the last.
                levels.clear();
                continue;
            };
            self.check_siblings(&mut levels, &node, &expected, byte);
            self.check_keys(&node, &expected, byte, &context, order);
            let node = Rc::new(node);
            let width = u64::from(context.sizes.offsets) + key_len(&context);
            let first = byte + BtreeV1Node::prefix_len(&context.sizes) + key_len(&context);
            let child_at = |at: usize| pointer(BtreeV1Node::NAME, first + at as u64 * width);
            match node.level.checked_sub(1) {
                None => {
                    for (at, child) in node.children.iter().enumerate() {
                        let leaf = Leaf { node: &node, byte, at, child: *child, from: child_at(at) };
                        visit(self, &leaf)?;
                    }
                }
                Some(below) => {
                    for (at, child) in node.children.iter().enumerate().rev() {
                        let parent = Some((Rc::clone(&node), at));
                        stack.push(Expected {
                            address: *child,
                            level: Some(below),
                            from: child_at(at),
                            parent,
                        });
                    }
                }
            }
        }
        for seen in levels.into_iter().flatten() {
            if !seen.right.is_undefined() && is_whole {
                let message = format!("the last node of its level has a right sibling at {}", seen.right);
                self.report(&rule::BTREE_SIBLING, BtreeV1Node::NAME, seen.right_at, message);
            }
        }
        Ok(is_whole)
    }

    fn btree_v1_node(
        &mut self,
        expected: &Expected,
        context: &BtreeV1Context,
    ) -> Result<Option<AtOffset<BtreeV1Node>>> {
        const NAME: &str = BtreeV1Node::NAME;
        let prefix_len = BtreeV1Node::prefix_len(&context.sizes);
        let Some((byte, prefix)) = self.bytes(NAME, expected.address, prefix_len, expected.from)? else {
            return Ok(None);
        };
        let len = match BtreeV1Node::stored_len(&mut Decoder::new(NAME, byte, &prefix), context) {
            Ok(len) => len,
            Err(error) => return self.error(error).map(|()| None),
        };
        let k = match context.node_type {
            NodeType::Group => self.k.group_internal,
            NodeType::Chunks { .. } => self.k.indexed_storage_internal,
        };
        let capacity = 2 * u64::from(k);
        let entry = u64::from(context.sizes.offsets) + key_len(context);
        let used = len.saturating_sub(prefix_len) / entry;
        if used > capacity {
            let message = format!("{used} children in a node for {capacity}");
            self.report_bytes(&rule::BTREE_COUNT, NAME, byte + 6, Some(2), message);
        }
        let node = self.structure::<BtreeV1Node>(expected.address, len, context, expected.from)?;
        let Some(node) = node else { return Ok(None) };
        let allocated = prefix_len + capacity * entry + key_len(context);
        self.claim_spare(NAME, byte + len, allocated.saturating_sub(len));
        if let Some(level) = expected.level
            && level != node.value.level
        {
            let message = format!("level {}, expected {level}", node.value.level);
            self.report_bytes(&rule::BTREE_LEVEL, NAME, byte + 5, Some(1), message);
            return Ok(None);
        }
        Ok(Some(node))
    }

    /// Checks that the sibling pointers of a level follow the order of the children in their parents.
    fn check_siblings(
        &mut self,
        levels: &mut Vec<Option<Seen>>,
        node: &BtreeV1Node,
        expected: &Expected,
        byte: u64,
    ) {
        const NAME: &str = BtreeV1Node::NAME;
        let level = usize::from(node.level);
        if levels.len() <= level {
            levels.resize_with(level + 1, || None);
        }
        let right_at = byte + 8 + u64::from(self.sizes().offsets);
        let seen = Seen { address: expected.address, right: node.right_sibling, right_at };
        let before = levels.get_mut(level).and_then(|place| place.replace(seen));
        match before {
            Some(before) => {
                if before.right != expected.address {
                    let message =
                        format!("the right sibling is {}, expected {}", before.right, expected.address);
                    self.report(&rule::BTREE_SIBLING, NAME, before.right_at, message);
                }
                if node.left_sibling != before.address {
                    let message =
                        format!("the left sibling is {}, expected {}", node.left_sibling, before.address);
                    self.report(&rule::BTREE_SIBLING, NAME, byte + 8, message);
                }
            }
            None if !node.left_sibling.is_undefined() && expected.is_first() => {
                let message =
                    format!("the first node of its level has a left sibling at {}", node.left_sibling);
                self.report(&rule::BTREE_SIBLING, NAME, byte + 8, message);
            }
            None => {}
        }
    }

    /// Checks that keys ascend, and that the first and last key are those in the parent.
    fn check_keys(
        &mut self,
        node: &BtreeV1Node,
        expected: &Expected,
        byte: u64,
        context: &BtreeV1Context,
        order: &KeyOrder<'_>,
    ) {
        const NAME: &str = BtreeV1Node::NAME;
        let width = u64::from(context.sizes.offsets) + key_len(context);
        let first = byte + BtreeV1Node::prefix_len(&context.sizes);
        let place = |at: usize| first + at as u64 * width;
        let count = node.children.len();
        if count == 0 {
            return;
        }
        for at in 0..count {
            match order(&node.keys, at, &node.keys, at + 1) {
                Some(Ordering::Less) => {}
                Some(_) => {
                    let message = format!("key {} does not stand behind key {at}", at + 1);
                    self.report(&rule::BTREE_ORDER, NAME, place(at + 1), message);
                }
                None => {
                    let message = format!("key {at} or {} leads to no name", at + 1);
                    self.report(&rule::BTREE_KEY, NAME, place(at), message);
                }
            }
        }
        if let Some((parent, child)) = &expected.parent {
            let is_group = context.node_type == NodeType::Group;
            let left = order(&parent.keys, *child, &node.keys, 0);
            let right = order(&node.keys, count, &parent.keys, child + 1);
            if left != Some(Ordering::Equal) && !(is_group && left == Some(Ordering::Less)) {
                self.report(&rule::BTREE_KEY, NAME, place(0), "the first key is not that of the parent");
            }
            if is_group && right == Some(Ordering::Greater) {
                self.report(&rule::BTREE_KEY, NAME, place(count), "the last key is past that of the parent");
            }
        }
    }
}

/// A node to be read.
struct Expected {
    address: Address,
    level: Option<u8>,
    from: Pointer,
    /// The parent, and the index of this child.
    parent: Option<(Rc<BtreeV1Node>, usize)>,
}

impl Expected {
    /// Whether it is the first child of its parent.
    fn is_first(&self) -> bool {
        self.parent.as_ref().is_none_or(|(_, child)| *child == 0)
    }
}

/// The last node of a level.
struct Seen {
    address: Address,
    right: Address,
    right_at: u64,
}

/// Bytes charged for comparing two keys, in addition to their names.
const KEY_COST: u64 = 16;

fn key_len(context: &BtreeV1Context) -> u64 {
    match context.node_type {
        NodeType::Group => context.sizes.lengths.into(),
        NodeType::Chunks { rank } => 8 + 8 * (u64::from(rank) + 1),
    }
}
