//! Version 2 B-tree: header, internal nodes and leaf nodes.
//!
//! Spec: HDF5 III.A.2 Disk Format: Level 1A2 - Version 2 B-trees

pub mod record;

pub use record::{Record, RecordLayout, RecordType};

use crate::format::{Address, Sizes, Structure, append_checksum, verify_checksum};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The header of a version 2 B-tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BtreeV2Header {
    /// The type of the records.
    pub record_type: RecordType,
    /// The allocated size of each node in bytes.
    pub node_size: u32,
    /// The size of each record in bytes.
    pub record_size: u16,
    /// The depth of the tree: the level of the root node above the leaves.
    pub depth: u16,
    /// The fullness of a node, in percent, above which it is split.
    pub split_percent: u8,
    /// The fullness of a node, in percent, below which it is merged.
    pub merge_percent: u8,
    /// The address of the root node; undefined in a tree without records.
    pub root: Address,
    /// The number of records in the root node.
    pub root_records: u16,
    /// The number of records in the tree.
    pub total_records: u64,
}

/// A node above the leaves: records, and children before, between and after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BtreeV2InternalNode {
    /// The records.
    pub records: Vec<Record>,
    /// The children, one more than records.
    pub children: Vec<ChildPointer>,
}

/// A leaf node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BtreeV2LeafNode {
    /// The records.
    pub records: Vec<Record>,
}

/// The pointer to a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildPointer {
    /// The address of the child.
    pub address: Address,
    /// The number of records in the child node.
    pub records: u64,
    /// The number of records in the child and its descendants. Not stored if the child is a leaf; then it equals
    /// `records`.
    pub total_records: u64,
}

/// The parameters that determine the layout of a node.
#[derive(Clone, Copy, Debug)]
pub struct BtreeV2Context {
    /// The widths of addresses and lengths.
    pub sizes: Sizes,
    /// The layout of a record.
    pub layout: RecordLayout,
    /// The number of records in the node, as stored in its parent.
    pub records: u16,
    /// The widths of record counts in an internal node.
    pub level: Level,
}

/// The properties of the nodes of one level, which follow from the sizes in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The maximum number of records in a node.
    pub capacity: u64,
    /// The size in bytes of the field with the number of records of a child.
    pub count_width: u8,
    /// The size in bytes of the field with the number of records of a child and its descendants; 0 if the child is a
    /// leaf.
    pub total_width: u8,
}

impl BtreeV2Header {
    /// The size of a header in bytes.
    pub fn len(sizes: &Sizes) -> u64 {
        22 + u64::from(sizes.offsets) + u64::from(sizes.lengths)
    }

    /// The properties of each level, from the leaves to the root.
    ///
    /// # Errors
    /// If a node cannot hold a record, or the tree is deeper than 2⁶⁴ records need.
    pub fn levels(&self, sizes: &Sizes) -> Result<Vec<Level>> {
        let record_size = u64::from(self.record_size).max(1);
        let room = u64::from(self.node_size).saturating_sub(NODE_OVERHEAD);
        let leaf = Level { capacity: room / record_size, count_width: 0, total_width: 0 };
        // In the specification this width follows from the capacity of the children, level by level. libhdf5 uses the
        // width of the leaves, which is the largest, on all levels.
        let count_width = width_of(leaf.capacity);
        let mut levels = vec![leaf];
        let (mut total, mut total_width) = (leaf.capacity, 0);
        if self.depth > MAX_DEPTH {
            return Err(Error::malformed(format!("depth {}, expected at most {MAX_DEPTH}", self.depth)));
        }
        for _ in 0..self.depth {
            let pointer = u64::from(sizes.offsets) + u64::from(count_width) + u64::from(total_width);
            let capacity = room.saturating_sub(pointer) / (record_size + pointer);
            levels.push(Level { capacity, count_width, total_width });
            total = (capacity + 1).saturating_mul(total).saturating_add(capacity);
            total_width = width_of(total);
        }
        if levels.iter().any(|level| level.capacity == 0) {
            return Err(Error::malformed(format!(
                "node size {}, expected room for a record of {record_size} bytes",
                self.node_size
            )));
        }
        Ok(levels)
    }
}

impl BtreeV2Context {
    /// The size of a leaf node in bytes, without unused space.
    pub fn leaf_len(&self) -> u64 {
        NODE_OVERHEAD + u64::from(self.records) * self.layout.len()
    }

    /// The size of an internal node in bytes, without unused space.
    pub fn internal_len(&self) -> u64 {
        let level = &self.level;
        let pointer = u64::from(self.sizes.offsets + level.count_width) + u64::from(level.total_width);
        self.leaf_len() + (u64::from(self.records) + 1) * pointer
    }

    fn decode_prefix(&self, d: &mut Decoder<'_>, signature: &[u8]) -> Result<Vec<Record>> {
        d.signature(signature)?;
        decode_version(d)?;
        let at = d.clone();
        let found = d.u8()?;
        let expected = self.layout.record_type().code();
        if found != expected {
            return Err(at.malformed(format!("record type {found}, expected {expected}")));
        }
        let count = d.count(self.records.into(), usize::from(self.layout.record_size()))?;
        let mut records = Vec::with_capacity(count);
        for _ in 0..count {
            records.push(Record::decode(d, &(self.sizes, self.layout))?);
        }
        Ok(records)
    }

    fn encode_prefix(&self, e: &mut Encoder, signature: &[u8], records: &[Record]) -> Result<()> {
        if records.len() != usize::from(self.records) {
            return Err(Error::invalid(format!("{} records, expected {}", records.len(), self.records)));
        }
        e.bytes(signature);
        e.u8(0);
        e.u8(self.layout.record_type().code());
        records.iter().try_for_each(|record| record.encode(e, &(self.sizes, self.layout)))
    }
}

impl Structure for BtreeV2Header {
    type Context = Sizes;
    const NAME: &'static str = "Version 2 B-tree Header";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let start = d.clone();
        d.signature(HEADER)?;
        decode_version(d)?;
        let record_type = RecordType::decode(d)?;
        let node_size = d.u32()?;
        let record_size = d.u16()?;
        let depth = d.u16()?;
        let split_percent = d.u8()?;
        let merge_percent = d.u8()?;
        let root = sizes.address(d)?;
        let root_records = d.u16()?;
        let total_records = sizes.length(d)?;
        verify_checksum(&start, d)?;
        Ok(BtreeV2Header {
            record_type,
            node_size,
            record_size,
            depth,
            split_percent,
            merge_percent,
            root,
            root_records,
            total_records,
        })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        let start = e.len();
        e.bytes(HEADER);
        e.u8(0);
        e.u8(self.record_type.code());
        e.u32(self.node_size);
        e.u16(self.record_size);
        e.u16(self.depth);
        e.u8(self.split_percent);
        e.u8(self.merge_percent);
        sizes.put_address(e, self.root)?;
        e.u16(self.root_records);
        sizes.put_length(e, self.total_records)?;
        append_checksum(e, start)
    }
}

impl Structure for BtreeV2InternalNode {
    type Context = BtreeV2Context;
    const NAME: &'static str = "Version 2 B-tree Internal Node";

    fn decode(d: &mut Decoder<'_>, context: &BtreeV2Context) -> Result<Self> {
        let start = d.clone();
        let records = context.decode_prefix(d, INTERNAL)?;
        let Level { count_width, total_width, .. } = context.level;
        let children = (0..=records.len())
            .map(|_| {
                let address = context.sizes.address(d)?;
                let records = d.uint(count_width)?;
                let total_records = if total_width == 0 { records } else { d.uint(total_width)? };
                Ok(ChildPointer { address, records, total_records })
            })
            .collect::<Result<_>>()?;
        verify_checksum(&start, d)?;
        Ok(BtreeV2InternalNode { records, children })
    }

    fn encode(&self, e: &mut Encoder, context: &BtreeV2Context) -> Result<()> {
        let start = e.len();
        context.encode_prefix(e, INTERNAL, &self.records)?;
        if self.children.len() != self.records.len() + 1 {
            return Err(Error::invalid(format!(
                "{} children for {} records, expected one more than records",
                self.children.len(),
                self.records.len()
            )));
        }
        for child in &self.children {
            context.sizes.put_address(e, child.address)?;
            e.uint(context.level.count_width, child.records)?;
            if context.level.total_width != 0 {
                e.uint(context.level.total_width, child.total_records)?;
            }
        }
        append_checksum(e, start)
    }
}

impl Structure for BtreeV2LeafNode {
    type Context = BtreeV2Context;
    const NAME: &'static str = "Version 2 B-tree Leaf Node";

    fn decode(d: &mut Decoder<'_>, context: &BtreeV2Context) -> Result<Self> {
        let start = d.clone();
        let records = context.decode_prefix(d, LEAF)?;
        verify_checksum(&start, d)?;
        Ok(BtreeV2LeafNode { records })
    }

    fn encode(&self, e: &mut Encoder, context: &BtreeV2Context) -> Result<()> {
        let start = e.len();
        context.encode_prefix(e, LEAF, &self.records)?;
        append_checksum(e, start)
    }
}

fn decode_version(d: &mut Decoder<'_>) -> Result<()> {
    let at = d.clone();
    match d.u8()? {
        0 => Ok(()),
        other => Err(at.unsupported(format!("version {other}, expected 0"))),
    }
}

/// The number of bytes that `value` needs, at least one.
fn width_of(value: u64) -> u8 {
    match value.checked_ilog2() {
        Some(log) => u8::try_from(log / 8 + 1).unwrap_or(8),
        None => 1,
    }
}

const HEADER: &[u8] = b"BTHD";
const INTERNAL: &[u8] = b"BTIN";
const LEAF: &[u8] = b"BTLF";

/// Signature, version, type and checksum of a node.
const NODE_OVERHEAD: u64 = 10;

/// An internal node has at least two children, so this depth holds more than 2⁶⁴ records.
const MAX_DEPTH: u16 = 63;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};

    fn header() -> BtreeV2Header {
        BtreeV2Header {
            record_type: RecordType::LinkName,
            node_size: 512,
            record_size: 11,
            depth: 2,
            split_percent: 100,
            merge_percent: 40,
            root: Address(0x800),
            root_records: 1,
            total_records: 1000,
        }
    }

    structure_tests!(BtreeV2Header, context: Sizes::DEFAULT,
        golden: [include_str!("../../../tests/golden/btree_v2_header.hex")],
        values: [header()]);

    fn context(records: u16) -> BtreeV2Context {
        let layout = RecordLayout::new(RecordType::Chunk, 24, &Sizes::DEFAULT).unwrap();
        BtreeV2Context {
            sizes: Sizes::DEFAULT,
            layout,
            records,
            level: Level { capacity: 50, count_width: 1, total_width: 0 },
        }
    }

    mod leaf {
        use super::*;
        structure_tests!(BtreeV2LeafNode, context: context(3),
            golden: [include_str!("../../../tests/golden/btree_v2_leaf.hex")],
            values: []);
    }

    mod internal {
        use super::*;
        structure_tests!(BtreeV2InternalNode, context: context(1),
            golden: [include_str!("../../../tests/golden/btree_v2_internal.hex")],
            values: []);
    }

    mod upper_internal {
        use super::*;
        structure_tests!(BtreeV2InternalNode,
        context: BtreeV2Context {
            level: Level { capacity: 50, count_width: 1, total_width: 2 },
            ..context(0)
        },
        golden: [],
        values: [BtreeV2InternalNode {
            records: vec![],
            children: vec![ChildPointer { address: Address(9), records: 3, total_records: 777 }],
        }]);
    }

    #[test]
    fn lengths_are_the_numbers_of_encoded_bytes() {
        let leaf = hex(include_str!("../../../tests/golden/btree_v2_leaf.hex"));
        assert_eq!(context(3).leaf_len(), leaf.len() as u64);
        let internal = hex(include_str!("../../../tests/golden/btree_v2_internal.hex"));
        assert_eq!(context(1).internal_len(), internal.len() as u64);
    }

    #[test]
    fn widths_of_counts_grow_from_the_leaves_to_the_root() {
        let levels = header().levels(&Sizes::DEFAULT).unwrap();
        assert_eq!(
            levels,
            [
                Level { capacity: 45, count_width: 0, total_width: 0 },
                Level { capacity: 24, count_width: 1, total_width: 0 },
                Level { capacity: 22, count_width: 1, total_width: 2 },
            ]
        );
    }

    #[test]
    fn rejects_impossible_depths_and_node_sizes() {
        for broken in [
            BtreeV2Header { depth: 64, ..header() },
            BtreeV2Header { node_size: 20, ..header() },
            BtreeV2Header { node_size: 40, record_size: 30, depth: 1, ..header() },
        ] {
            assert!(broken.levels(&Sizes::DEFAULT).is_err(), "{broken:?}");
        }
    }
}
