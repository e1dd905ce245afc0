//! Version 1 B-trees of chunks.
//!
//! Spec: HDF5 III.A.1 Disk Format: Level 1A1 - Version 1 B-trees

use super::records::Records;
use crate::format::infrastructure::BtreeV1Node;
use crate::format::infrastructure::btree_v1::{BtreeV1Context, ChunkKeys, Keys, NodeType};
use crate::format::{Address, Structure};
use crate::navigate::chunk_index::grid::Order;
use crate::space::SpaceKind;
use crate::write::sink::Sink;
use hyperslab_core::{Encoder, Error, Result};

/// A tree that is being written.
pub(super) struct Tree<'a> {
    pub(super) sink: &'a mut dyn Sink,
    /// The chunks, sorted; at least one.
    pub(super) records: &'a Records,
    /// Gives the position of each chunk number.
    pub(super) order: &'a Order,
    pub(super) chunk_dims: &'a [u64],
    pub(super) element_size: u64,
    /// Half the maximum number of children of a node.
    pub(super) k: u16,
}

/// A child of a node: the place of its first chunk in the records, and its address.
type Child = (usize, Address);

impl Tree<'_> {
    /// Writes the tree, level by level. Returns the address of the root.
    pub(super) fn write(mut self) -> Result<Address> {
        let rank = u8::try_from(self.order.rank());
        let rank = rank.map_err(|_| Error::invalid(format!("{} dimensions", self.order.rank())))?;
        let context = BtreeV1Context { sizes: self.sink.sizes(), node_type: NodeType::Chunks { rank } };
        let records = self.records;
        let mut chunks = records.iter().enumerate().map(|(at, (_, chunk))| (at, chunk.address));
        let mut nodes = self.level(&context, 0, records.len(), &mut chunks)?;
        let mut level = 0_u8;
        loop {
            match nodes.as_slice() {
                [(_, root)] => return Ok(*root),
                _ => {
                    level = level.saturating_add(1);
                    let count = nodes.len();
                    nodes = self.level(&context, level, count, &mut nodes.into_iter())?;
                }
            }
        }
    }

    /// Writes the nodes of one level, with nearly equal numbers of children. Returns them as children.
    fn level(
        &mut self,
        context: &BtreeV1Context,
        level: u8,
        count: usize,
        children: &mut dyn Iterator<Item = Child>,
    ) -> Result<Vec<Child>> {
        let capacity = 2 * usize::from(self.k);
        if capacity < 2 {
            return Err(Error::invalid("nodes of B-trees of chunks with K 0, expected 1 or more"));
        }
        let len = context.node_len(self.k);
        let count_of_nodes = count.div_ceil(capacity).max(1);
        let mut children = children.peekable();
        let mut nodes = Vec::with_capacity(count_of_nodes);
        let mut left = Address::UNDEFINED;
        let mut address = self.sink.allocate(SpaceKind::Metadata, len)?;
        for number in 0..count_of_nodes {
            let is_last = number + 1 == count_of_nodes;
            let right =
                if is_last { Address::UNDEFINED } else { self.sink.allocate(SpaceKind::Metadata, len)? };
            // The first nodes have one child more if the numbers cannot be equal.
            let own = (count + count_of_nodes - 1 - number) / count_of_nodes;
            let own: Vec<Child> = children.by_ref().take(own).collect();
            nodes.push((own.first().map_or(0, |(first, _)| *first), address));
            let end = children.peek().map(|(first, _)| *first);
            let node = BtreeV1Node {
                level,
                left_sibling: left,
                right_sibling: right,
                keys: Keys::Chunks(self.keys(context, &own, end)?),
                children: own.iter().map(|(_, address)| *address).collect(),
            };
            let mut e = Encoder::new();
            node.encode(&mut e, context)?;
            let unused = usize::try_from(len).ok().and_then(|len| len.checked_sub(e.len()));
            e.reserved(
                unused.ok_or_else(|| Error::invalid(format!("{} in {len} bytes", BtreeV1Node::NAME)))?,
            );
            self.sink.write(address, e.as_slice())?;
            (left, address) = (address, right);
        }
        Ok(nodes)
    }

    /// The keys of a node: the first chunks of its children, and the first chunk after it, at `end`.
    fn keys(&self, context: &BtreeV1Context, children: &[Child], end: Option<usize>) -> Result<ChunkKeys> {
        let NodeType::Chunks { rank } = context.node_type else {
            return Err(Error::invalid("keys of chunks in a tree of links"));
        };
        let mut keys = ChunkKeys { rank, stored: Vec::new(), offsets: Vec::new() };
        let mut scaled = vec![0; self.order.rank()];
        for place in children.iter().map(|(first, _)| *first).chain(end) {
            let Some((number, chunk)) = self.records.get(place) else { break };
            let size = u32::try_from(chunk.size);
            let size = size.map_err(|_| Error::invalid(format!("chunk of {} bytes", chunk.size)))?;
            self.order.position(number, &mut scaled);
            keys.stored.push((size, chunk.filter_mask));
            self.push_offsets(&mut keys, &scaled, 0)?;
        }
        if end.is_none() {
            // libhdf5 ends a tree with a chunk without bytes, one further along each dimension than the last one.
            let (number, _) = self.records.get(self.records.len().saturating_sub(1)).unzip();
            self.order.position(number.unwrap_or(0), &mut scaled);
            scaled.iter_mut().for_each(|at| *at = at.saturating_add(1));
            keys.stored.push((0, 0));
            self.push_offsets(&mut keys, &scaled, self.element_size)?;
        }
        Ok(keys)
    }

    /// Adds the offset of a chunk, and the offset within elements.
    fn push_offsets(&self, keys: &mut ChunkKeys, scaled: &[u64], within: u64) -> Result<()> {
        for (at, chunk) in scaled.iter().zip(self.chunk_dims) {
            keys.offsets.push(at.checked_mul(*chunk).ok_or_else(|| {
                Error::invalid(format!("chunk {scaled:?} in a B-tree, expected offsets below 2^64"))
            })?);
        }
        keys.offsets.push(within);
        Ok(())
    }
}
