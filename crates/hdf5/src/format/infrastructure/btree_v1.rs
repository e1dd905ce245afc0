//! Version 1 B-tree node.
//!
//! Spec: HDF5 III.A.1 Disk Format: Level 1A1 - Version 1 B-trees

use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// A node of a B-tree that indexes the links of a group or the chunks of a dataset.
///
/// In the file, a node has room for twice the K of its tree; the unused part is not encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BtreeV1Node {
    /// The level of the node above the leaves, which are level 0.
    pub level: u8,
    /// The address of the node before this one on its level; undefined if there is none.
    pub left_sibling: Address,
    /// The address of the node after this one on its level; undefined if there is none.
    pub right_sibling: Address,
    /// The keys, one more than children; none in a node without children.
    pub keys: Keys,
    /// The addresses of nodes one level down; at level 0, of symbol table nodes or raw data chunks.
    pub children: Vec<Address>,
}

/// The keys of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Type 0: for each child, the offset in the group's local heap of the largest name in the child before.
    Group(Vec<u64>),
    /// Type 1: for each child, the first chunk in it.
    Chunks(ChunkKeys),
}

/// The keys of a node that indexes chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkKeys {
    /// The number of dimensions of the dataset.
    pub rank: u8,
    /// The stored size in bytes and the filter mask of each chunk.
    pub stored: Vec<(u32, u32)>,
    /// The offset of each chunk in elements: `rank` numbers and one more for the datatype, which is 0.
    pub offsets: Vec<u64>,
}

/// The parameters that determine the layout of a node.
#[derive(Clone, Copy, Debug)]
pub struct BtreeV1Context {
    /// The widths of addresses and lengths.
    pub sizes: Sizes,
    /// The type of the tree.
    pub node_type: NodeType,
}

/// The type of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeType {
    /// Type 0: the links of a group.
    Group,
    /// Type 1: the chunks of a dataset.
    Chunks {
        /// The number of dimensions of the dataset.
        rank: u8,
    },
}

impl BtreeV1Node {
    /// The number of bytes from which [`BtreeV1Node::stored_len`] determines the size of a node.
    pub fn prefix_len(sizes: &Sizes) -> u64 {
        8 + 2 * u64::from(sizes.offsets)
    }

    /// The size in bytes of the node at the cursor.
    pub fn stored_len(d: &mut Decoder<'_>, context: &BtreeV1Context) -> Result<u64> {
        let children = u64::from(Prefix::decode(d, context)?.entries_used);
        let keys = if children == 0 { 0 } else { children + 1 };
        Ok(Self::prefix_len(&context.sizes)
            + children * u64::from(context.sizes.offsets)
            + keys * context.key_len())
    }
}

impl BtreeV1Context {
    /// The size in bytes of a node of a tree with this K, with room for all children.
    pub fn node_len(&self, k: u16) -> u64 {
        let children = 2 * u64::from(k);
        BtreeV1Node::prefix_len(&self.sizes)
            + children * u64::from(self.sizes.offsets)
            + (children + 1) * self.key_len()
    }

    fn key_len(&self) -> u64 {
        match self.node_type {
            NodeType::Group => self.sizes.lengths.into(),
            NodeType::Chunks { rank } => 8 + 8 * (u64::from(rank) + 1),
        }
    }
}

impl Structure for BtreeV1Node {
    type Context = BtreeV1Context;
    const NAME: &'static str = "Version 1 B-tree Node";

    fn decode(d: &mut Decoder<'_>, context: &BtreeV1Context) -> Result<Self> {
        let Prefix { level, entries_used, left_sibling, right_sibling } = Prefix::decode(d, context)?;
        let min =
            usize::from(context.sizes.offsets) + usize::try_from(context.key_len()).unwrap_or(usize::MAX);
        let count = d.count(entries_used.into(), min)?;
        let mut keys = Keys::with_capacity(context.node_type, count + 1);
        let mut children = Vec::with_capacity(count);
        for _ in 0..count {
            keys.decode_one(d, &context.sizes)?;
            children.push(context.sizes.address(d)?);
        }
        if count > 0 {
            keys.decode_one(d, &context.sizes)?;
        }
        Ok(BtreeV1Node { level, left_sibling, right_sibling, keys, children })
    }

    fn encode(&self, e: &mut Encoder, context: &BtreeV1Context) -> Result<()> {
        self.keys.check(context.node_type, self.children.len())?;
        e.bytes(SIGNATURE);
        e.u8(context.node_type.code());
        e.u8(self.level);
        e.len_as(2, self.children.len())?;
        context.sizes.put_address(e, self.left_sibling)?;
        context.sizes.put_address(e, self.right_sibling)?;
        for (index, child) in self.children.iter().enumerate() {
            self.keys.encode_one(e, &context.sizes, index)?;
            context.sizes.put_address(e, *child)?;
        }
        if self.children.is_empty() {
            return Ok(());
        }
        self.keys.encode_one(e, &context.sizes, self.children.len())
    }
}

struct Prefix {
    level: u8,
    entries_used: u16,
    left_sibling: Address,
    right_sibling: Address,
}

impl Prefix {
    fn decode(d: &mut Decoder<'_>, context: &BtreeV1Context) -> Result<Self> {
        d.signature(SIGNATURE)?;
        let at = d.clone();
        let code = d.u8()?;
        if code != context.node_type.code() {
            return Err(at.malformed(format!("node type {code}, expected {}", context.node_type.code())));
        }
        let level = d.u8()?;
        let entries_used = d.u16()?;
        let left_sibling = context.sizes.address(d)?;
        let right_sibling = context.sizes.address(d)?;
        Ok(Prefix { level, entries_used, left_sibling, right_sibling })
    }
}

impl NodeType {
    fn code(self) -> u8 {
        match self {
            NodeType::Group => 0,
            NodeType::Chunks { .. } => 1,
        }
    }
}

impl Keys {
    fn with_capacity(node_type: NodeType, keys: usize) -> Self {
        match node_type {
            NodeType::Group => Keys::Group(Vec::with_capacity(keys)),
            NodeType::Chunks { rank } => Keys::Chunks(ChunkKeys {
                rank,
                stored: Vec::with_capacity(keys),
                offsets: Vec::with_capacity(keys * (usize::from(rank) + 1)),
            }),
        }
    }

    fn decode_one(&mut self, d: &mut Decoder<'_>, sizes: &Sizes) -> Result<()> {
        match self {
            Keys::Group(names) => names.push(sizes.length(d)?),
            Keys::Chunks(chunks) => {
                chunks.stored.push((d.u32()?, d.u32()?));
                for _ in 0..=chunks.rank {
                    chunks.offsets.push(d.u64()?);
                }
            }
        }
        Ok(())
    }

    fn encode_one(&self, e: &mut Encoder, sizes: &Sizes, index: usize) -> Result<()> {
        let missing = || Error::invalid("fewer keys than children, expected one more");
        match self {
            Keys::Group(names) => sizes.put_length(e, *names.get(index).ok_or_else(missing)?),
            Keys::Chunks(chunks) => {
                let (size, filter_mask) = chunks.stored.get(index).ok_or_else(missing)?;
                e.u32(*size);
                e.u32(*filter_mask);
                chunks.offset(index).ok_or_else(missing)?.iter().for_each(|offset| e.u64(*offset));
                Ok(())
            }
        }
    }

    fn check(&self, node_type: NodeType, children: usize) -> Result<()> {
        let (own, keys) = match self {
            Keys::Group(names) => (NodeType::Group, names.len()),
            Keys::Chunks(chunks) => (NodeType::Chunks { rank: chunks.rank }, chunks.stored.len()),
        };
        if own != node_type {
            return Err(Error::invalid(format!("keys of type {own:?} in a node of type {node_type:?}")));
        }
        let expected = if children == 0 { 0 } else { children + 1 };
        if keys != expected {
            return Err(Error::invalid(format!("{keys} keys, expected {expected}")));
        }
        Ok(())
    }
}

impl ChunkKeys {
    /// The offsets of one key: `rank` numbers and that of the datatype.
    pub fn offset(&self, index: usize) -> Option<&[u64]> {
        let width = usize::from(self.rank) + 1;
        let start = index.checked_mul(width)?;
        self.offsets.get(start..start.checked_add(width)?)
    }
}

const SIGNATURE: &[u8] = b"TREE";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};

    const GROUP: BtreeV1Context = BtreeV1Context { sizes: Sizes::DEFAULT, node_type: NodeType::Group };
    const CHUNKS: BtreeV1Context =
        BtreeV1Context { sizes: Sizes::DEFAULT, node_type: NodeType::Chunks { rank: 2 } };

    structure_tests!(BtreeV1Node, context: GROUP,
    golden: [
        include_str!("../../../tests/golden/btree_v1_group_leaf.hex"),
        include_str!("../../../tests/golden/btree_v1_group_empty.hex"),
    ],
    values: [
        BtreeV1Node {
            level: 3,
            left_sibling: Address(0x100),
            right_sibling: Address(0x200),
            keys: Keys::Group(vec![0, 16, 64]),
            children: vec![Address(0x300), Address(0x400)],
        },
    ]);

    mod chunks {
        use super::*;
        structure_tests!(BtreeV1Node, context: CHUNKS,
            golden: [
                include_str!("../../../tests/golden/btree_v1_chunk_leaf.hex"),
                include_str!("../../../tests/golden/btree_v1_chunk_root.hex"),
            ],
            values: []);
    }

    mod narrow {
        use super::*;
        structure_tests!(BtreeV1Node,
            context: BtreeV1Context { sizes: Sizes { offsets: 4, lengths: 4 }, node_type: NodeType::Group },
            golden: [include_str!("../../../tests/golden/btree_v1_group_narrow.hex")],
            values: []);
    }

    #[test]
    fn the_prefix_determines_the_size() {
        for (context, text) in [
            (GROUP, include_str!("../../../tests/golden/btree_v1_group_leaf.hex")),
            (GROUP, include_str!("../../../tests/golden/btree_v1_group_empty.hex")),
            (CHUNKS, include_str!("../../../tests/golden/btree_v1_chunk_leaf.hex")),
        ] {
            let bytes = hex(text);
            let len = BtreeV1Node::stored_len(&mut Decoder::new("t", 0, &bytes[..24]), &context).unwrap();
            assert_eq!(len, bytes.len() as u64);
        }
    }

    #[test]
    fn rejects_a_node_of_another_type() {
        let bytes = hex(include_str!("../../../tests/golden/btree_v1_group_leaf.hex"));
        let e = BtreeV1Node::decode(&mut Decoder::new("t", 0, &bytes), &CHUNKS).unwrap_err();
        assert_eq!(e.to_string(), "malformed t at byte 0x4: node type 0, expected 1");
    }
}
