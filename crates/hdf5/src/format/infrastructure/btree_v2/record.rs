//! Records of version 2 B-trees, types 1 to 11.
//!
//! Spec: HDF5 III.A.2 Disk Format: Level 1A2 - Version 2 B-trees, tables of record layouts

use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Type 1: a huge object of a fractal heap without filters, found by its ID.
    HugeObject {
        /// The address of the object.
        address: Address,
        /// The size of the object in bytes.
        length: u64,
        /// The ID of the object.
        id: u64,
    },
    /// Type 2: a huge object of a fractal heap with filters, found by its ID.
    FilteredHugeObject {
        /// The address of the object.
        address: Address,
        /// The stored size in bytes.
        length: u64,
        /// A bit for each filter that was skipped.
        filter_mask: u32,
        /// The size before filters in bytes.
        memory_size: u64,
        /// The ID of the object.
        id: u64,
    },
    /// Type 3: a huge object of a fractal heap without filters, whose heap ID contains its address and size.
    DirectHugeObject {
        /// The address of the object.
        address: Address,
        /// The size of the object in bytes.
        length: u64,
    },
    /// Type 4: a huge object of a fractal heap with filters, whose heap ID contains its address and size.
    FilteredDirectHugeObject {
        /// The address of the object.
        address: Address,
        /// The stored size in bytes.
        length: u64,
        /// A bit for each filter that was skipped.
        filter_mask: u32,
        /// The size before filters in bytes.
        memory_size: u64,
    },
    /// Type 5: a link, indexed by name.
    LinkName {
        /// The lookup3 checksum of the name.
        hash: u32,
        /// The heap ID of the link message in the group's fractal heap.
        heap_id: [u8; 7],
    },
    /// Type 6: a link, indexed by creation order.
    LinkCreationOrder {
        /// The creation order.
        creation_order: i64,
        /// The heap ID of the link message in the group's fractal heap.
        heap_id: [u8; 7],
    },
    /// Type 7: a shared message.
    SharedMessage(SharedMessage),
    /// Type 8: an attribute, indexed by name.
    AttributeName {
        /// The heap ID of the attribute message in the object's fractal heap.
        heap_id: [u8; 8],
        /// The flags of the attribute message.
        message_flags: u8,
        /// The creation order.
        creation_order: u32,
        /// The lookup3 checksum of the name.
        hash: u32,
    },
    /// Type 9: an attribute, indexed by creation order.
    AttributeCreationOrder {
        /// The heap ID of the attribute message in the object's fractal heap.
        heap_id: [u8; 8],
        /// The flags of the attribute message.
        message_flags: u8,
        /// The creation order.
        creation_order: u32,
    },
    /// Type 10: a chunk of a dataset without filters.
    Chunk {
        /// The address of the chunk.
        address: Address,
        /// The scaled offset: the chunk offset in elements divided by the chunk dimensions.
        scaled: Vec<u64>,
    },
    /// Type 11: a chunk of a dataset with filters.
    FilteredChunk {
        /// The address of the chunk.
        address: Address,
        /// The stored size in bytes.
        size: u64,
        /// A bit for each filter that was skipped.
        filter_mask: u32,
        /// The scaled offset: the chunk offset in elements divided by the chunk dimensions.
        scaled: Vec<u64>,
    },
}

/// A shared message: its hash and location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedMessage {
    /// The lookup3 checksum of the message.
    pub hash: u32,
    /// The location of the message.
    pub location: SharedMessageLocation,
}

/// The location of a shared message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedMessageLocation {
    /// Location 0: in the fractal heap of the index.
    Heap {
        /// The number of objects that refer to the message.
        reference_count: u32,
        /// The heap ID of the message.
        heap_id: [u8; 8],
    },
    /// Location 1: in the object header of the only object that has it.
    ObjectHeader {
        /// The type of the message.
        message_type: u8,
        /// The index of the message among those of its type in the object header.
        index: u16,
        /// The address of the object header.
        object_header: Address,
    },
}

/// The type of records, as in [`Record`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named like the records")]
pub enum RecordType {
    HugeObject,
    FilteredHugeObject,
    DirectHugeObject,
    FilteredDirectHugeObject,
    LinkName,
    LinkCreationOrder,
    SharedMessage,
    AttributeName,
    AttributeCreationOrder,
    Chunk,
    FilteredChunk,
}

/// The layout of the records of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordLayout {
    record_type: RecordType,
    record_size: u16,
    rank: u16,
    chunk_size_width: u8,
}

impl RecordLayout {
    /// The layout for the record type and the record size in a header.
    ///
    /// # Errors
    /// If records of this type cannot have this size.
    pub fn new(record_type: RecordType, record_size: u16, sizes: &Sizes) -> Result<Self> {
        let offsets = u16::from(sizes.offsets);
        let mut layout = RecordLayout { record_type, record_size, rank: 0, chunk_size_width: 0 };
        let expected = match record_type {
            RecordType::Chunk => {
                layout.rank = record_size.saturating_sub(offsets) / 8;
                offsets + 8 * layout.rank.max(1)
            }
            // Offsets take multiples of 8 bytes and the width is 1 to 8, so the solution is unique.
            RecordType::FilteredChunk => {
                let rest = record_size.saturating_sub(offsets + 4 + 1);
                layout.rank = rest / 8;
                layout.chunk_size_width = u8::try_from(rest % 8 + 1).unwrap_or(8);
                offsets + 4 + u16::from(layout.chunk_size_width) + 8 * layout.rank.max(1)
            }
            _ => record_type.size(sizes),
        };
        if record_size != expected {
            return Err(Error::malformed(format!(
                "record size {record_size}, expected {expected} for {record_type:?}"
            )));
        }
        Ok(layout)
    }

    /// The layout of records that are not chunks, whose size follows from their type.
    ///
    /// # Errors
    /// For chunks.
    pub fn of(record_type: RecordType, sizes: &Sizes) -> Result<Self> {
        RecordLayout::new(record_type, record_type.size(sizes), sizes)
    }

    /// The type of the records.
    pub fn record_type(&self) -> RecordType {
        self.record_type
    }

    /// The size of a record in bytes.
    pub fn record_size(&self) -> u16 {
        self.record_size
    }

    /// The number of dimensions of the dataset, if the records are chunks; otherwise 0.
    pub fn rank(&self) -> u16 {
        self.rank
    }

    pub(super) fn len(&self) -> u64 {
        self.record_size.into()
    }
}

impl RecordType {
    /// The type code in the file.
    pub fn code(self) -> u8 {
        ALL.iter().zip(1..).find(|(known, _)| **known == self).map_or(0, |(_, code)| code)
    }

    /// The size of a record in bytes; of chunks, without their offset and stored size.
    fn size(self, sizes: &Sizes) -> u16 {
        let (offsets, lengths) = (u16::from(sizes.offsets), u16::from(sizes.lengths));
        match self {
            RecordType::HugeObject => offsets + 2 * lengths,
            RecordType::FilteredHugeObject => offsets + 4 + 3 * lengths,
            RecordType::DirectHugeObject => offsets + lengths,
            RecordType::FilteredDirectHugeObject => offsets + 4 + 2 * lengths,
            RecordType::LinkName => 11,
            RecordType::LinkCreationOrder => 15,
            RecordType::SharedMessage => 5 + (4 + offsets).max(12),
            RecordType::AttributeName => 17,
            RecordType::AttributeCreationOrder => 13,
            RecordType::Chunk => offsets,
            RecordType::FilteredChunk => offsets + 4,
        }
    }

    pub(super) fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let at = d.clone();
        let code = d.u8()?;
        ALL.iter()
            .zip(1..)
            .find(|(_, known)| *known == code)
            .map(|(known, _)| *known)
            .ok_or_else(|| at.unsupported(format!("record type {code}, expected 1 to {}", ALL.len())))
    }
}

impl Structure for Record {
    type Context = (Sizes, RecordLayout);
    const NAME: &'static str = "Version 2 B-tree Record";

    fn decode(d: &mut Decoder<'_>, (sizes, layout): &Self::Context) -> Result<Self> {
        let mut d = d.sub(Self::NAME, layout.record_size.into())?;
        let d = &mut d;
        Ok(match layout.record_type {
            RecordType::HugeObject => Record::HugeObject {
                address: sizes.address(d)?,
                length: sizes.length(d)?,
                id: sizes.length(d)?,
            },
            RecordType::FilteredHugeObject => Record::FilteredHugeObject {
                address: sizes.address(d)?,
                length: sizes.length(d)?,
                filter_mask: d.u32()?,
                memory_size: sizes.length(d)?,
                id: sizes.length(d)?,
            },
            RecordType::DirectHugeObject => {
                Record::DirectHugeObject { address: sizes.address(d)?, length: sizes.length(d)? }
            }
            RecordType::FilteredDirectHugeObject => Record::FilteredDirectHugeObject {
                address: sizes.address(d)?,
                length: sizes.length(d)?,
                filter_mask: d.u32()?,
                memory_size: sizes.length(d)?,
            },
            RecordType::LinkName => Record::LinkName { hash: d.u32()?, heap_id: d.array()? },
            RecordType::LinkCreationOrder => {
                Record::LinkCreationOrder { creation_order: d.i64()?, heap_id: d.array()? }
            }
            RecordType::SharedMessage => Record::SharedMessage(SharedMessage::decode(d, sizes)?),
            RecordType::AttributeName => Record::AttributeName {
                heap_id: d.array()?,
                message_flags: d.u8()?,
                creation_order: d.u32()?,
                hash: d.u32()?,
            },
            RecordType::AttributeCreationOrder => Record::AttributeCreationOrder {
                heap_id: d.array()?,
                message_flags: d.u8()?,
                creation_order: d.u32()?,
            },
            RecordType::Chunk => {
                Record::Chunk { address: sizes.address(d)?, scaled: decode_scaled(d, layout)? }
            }
            RecordType::FilteredChunk => Record::FilteredChunk {
                address: sizes.address(d)?,
                size: d.uint(layout.chunk_size_width)?,
                filter_mask: d.u32()?,
                scaled: decode_scaled(d, layout)?,
            },
        })
    }

    fn encode(&self, e: &mut Encoder, (sizes, layout): &Self::Context) -> Result<()> {
        if self.record_type() != layout.record_type {
            return Err(Error::invalid(format!(
                "record of type {:?} in a tree of type {:?}",
                self.record_type(),
                layout.record_type
            )));
        }
        let end = e.len() + usize::from(layout.record_size);
        match self {
            Record::HugeObject { address, length, id } => {
                sizes.put_address(e, *address)?;
                sizes.put_length(e, *length)?;
                sizes.put_length(e, *id)?;
            }
            Record::FilteredHugeObject { address, length, filter_mask, memory_size, id } => {
                sizes.put_address(e, *address)?;
                sizes.put_length(e, *length)?;
                e.u32(*filter_mask);
                sizes.put_length(e, *memory_size)?;
                sizes.put_length(e, *id)?;
            }
            Record::DirectHugeObject { address, length } => {
                sizes.put_address(e, *address)?;
                sizes.put_length(e, *length)?;
            }
            Record::FilteredDirectHugeObject { address, length, filter_mask, memory_size } => {
                sizes.put_address(e, *address)?;
                sizes.put_length(e, *length)?;
                e.u32(*filter_mask);
                sizes.put_length(e, *memory_size)?;
            }
            Record::LinkName { hash, heap_id } => {
                e.u32(*hash);
                e.bytes(heap_id);
            }
            Record::LinkCreationOrder { creation_order, heap_id } => {
                e.i64(*creation_order);
                e.bytes(heap_id);
            }
            Record::SharedMessage(message) => message.encode(e, sizes)?,
            Record::AttributeName { heap_id, message_flags, creation_order, hash } => {
                e.bytes(heap_id);
                e.u8(*message_flags);
                e.u32(*creation_order);
                e.u32(*hash);
            }
            Record::AttributeCreationOrder { heap_id, message_flags, creation_order } => {
                e.bytes(heap_id);
                e.u8(*message_flags);
                e.u32(*creation_order);
            }
            Record::Chunk { address, scaled } => {
                sizes.put_address(e, *address)?;
                scaled.iter().for_each(|position| e.u64(*position));
            }
            Record::FilteredChunk { address, size, filter_mask, scaled } => {
                sizes.put_address(e, *address)?;
                e.uint(layout.chunk_size_width, *size)?;
                e.u32(*filter_mask);
                scaled.iter().for_each(|position| e.u64(*position));
            }
        }
        let left = end
            .checked_sub(e.len())
            .filter(|left| *left == 0 || layout.record_type == RecordType::SharedMessage)
            .ok_or_else(|| {
                Error::invalid(format!("record does not have the record size {}", layout.record_size))
            })?;
        e.reserved(left);
        Ok(())
    }
}

impl Record {
    /// The type of the record.
    pub fn record_type(&self) -> RecordType {
        match self {
            Record::HugeObject { .. } => RecordType::HugeObject,
            Record::FilteredHugeObject { .. } => RecordType::FilteredHugeObject,
            Record::DirectHugeObject { .. } => RecordType::DirectHugeObject,
            Record::FilteredDirectHugeObject { .. } => RecordType::FilteredDirectHugeObject,
            Record::LinkName { .. } => RecordType::LinkName,
            Record::LinkCreationOrder { .. } => RecordType::LinkCreationOrder,
            Record::SharedMessage(_) => RecordType::SharedMessage,
            Record::AttributeName { .. } => RecordType::AttributeName,
            Record::AttributeCreationOrder { .. } => RecordType::AttributeCreationOrder,
            Record::Chunk { .. } => RecordType::Chunk,
            Record::FilteredChunk { .. } => RecordType::FilteredChunk,
        }
    }
}

impl Structure for SharedMessage {
    type Context = Sizes;
    const NAME: &'static str = "Shared Object Header Message Record";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        let location = d.u8()?;
        let hash = d.u32()?;
        let location = match location {
            0 => SharedMessageLocation::Heap { reference_count: d.u32()?, heap_id: d.array()? },
            1 => {
                d.reserved(1)?;
                SharedMessageLocation::ObjectHeader {
                    message_type: d.u8()?,
                    index: d.u16()?,
                    object_header: sizes.address(d)?,
                }
            }
            other => return Err(at.malformed(format!("message location {other}, expected 0 or 1"))),
        };
        Ok(SharedMessage { hash, location })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        match &self.location {
            SharedMessageLocation::Heap { reference_count, heap_id } => {
                e.u8(0);
                e.u32(self.hash);
                e.u32(*reference_count);
                e.bytes(heap_id);
                Ok(())
            }
            SharedMessageLocation::ObjectHeader { message_type, index, object_header } => {
                e.u8(1);
                e.u32(self.hash);
                e.reserved(1);
                e.u8(*message_type);
                e.u16(*index);
                sizes.put_address(e, *object_header)
            }
        }
    }
}

fn decode_scaled(d: &mut Decoder<'_>, layout: &RecordLayout) -> Result<Vec<u64>> {
    let mut scaled = Vec::with_capacity(d.count(layout.rank.into(), 8)?);
    for _ in 0..layout.rank {
        scaled.push(d.u64()?);
    }
    Ok(scaled)
}

/// All types, in order of their codes, which start at 1.
const ALL: [RecordType; 11] = [
    RecordType::HugeObject,
    RecordType::FilteredHugeObject,
    RecordType::DirectHugeObject,
    RecordType::FilteredDirectHugeObject,
    RecordType::LinkName,
    RecordType::LinkCreationOrder,
    RecordType::SharedMessage,
    RecordType::AttributeName,
    RecordType::AttributeCreationOrder,
    RecordType::Chunk,
    RecordType::FilteredChunk,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    /// Tests of records of one type and size.
    macro_rules! record_tests {
        ($name:ident, $type:ident, $size:expr, sizes: $sizes:expr, golden: [$($golden:expr),*], values: [$($value:expr),*]) => {
            mod $name {
                use super::*;
                structure_tests!(Record,
                    context: ($sizes, RecordLayout::new(RecordType::$type, $size, &$sizes).unwrap()),
                    golden: [$($golden),*], values: [$($value),*]);
            }
        };
    }

    const NARROW: Sizes = Sizes { offsets: 4, lengths: 2 };

    record_tests!(huge, HugeObject, 24, sizes: Sizes::DEFAULT,
        golden: [include_str!("../../../../tests/golden/btree_v2_record_huge_object.hex")],
        values: [Record::HugeObject { address: Address(1), length: 2, id: 3 }]);
    record_tests!(filtered_huge, FilteredHugeObject, 36, sizes: Sizes::DEFAULT,
    golden: [],
    values: [Record::FilteredHugeObject {
        address: Address(1), length: 2, filter_mask: 3, memory_size: 4, id: 5
    }]);
    record_tests!(filtered_huge_narrow, FilteredHugeObject, 14, sizes: NARROW,
    golden: [],
    values: [Record::FilteredHugeObject {
        address: Address(1), length: 2, filter_mask: 3, memory_size: 4, id: 5
    }]);
    record_tests!(direct_huge, DirectHugeObject, 16, sizes: Sizes::DEFAULT,
        golden: [],
        values: [Record::DirectHugeObject { address: Address(1), length: 2 }]);
    record_tests!(filtered_direct_huge, FilteredDirectHugeObject, 28, sizes: Sizes::DEFAULT,
    golden: [],
    values: [Record::FilteredDirectHugeObject {
        address: Address(1), length: 2, filter_mask: 3, memory_size: 4
    }]);
    record_tests!(link_name, LinkName, 11, sizes: Sizes::DEFAULT,
        golden: [include_str!("../../../../tests/golden/btree_v2_record_link_name.hex")],
        values: [Record::LinkName { hash: 7, heap_id: [1, 2, 3, 4, 5, 6, 7] }]);
    record_tests!(link_order, LinkCreationOrder, 15, sizes: Sizes::DEFAULT,
        golden: [include_str!("../../../../tests/golden/btree_v2_record_link_order.hex")],
        values: [Record::LinkCreationOrder { creation_order: -1, heap_id: [7; 7] }]);
    record_tests!(shared_message, SharedMessage, 17, sizes: Sizes::DEFAULT,
    golden: [
        include_str!("../../../../tests/golden/btree_v2_record_shared_message_in_heap.hex"),
        include_str!("../../../../tests/golden/btree_v2_record_shared_message_in_header.hex")
    ],
    values: [
        Record::SharedMessage(SharedMessage {
            hash: 1,
            location: SharedMessageLocation::Heap { reference_count: 2, heap_id: [3; 8] },
        }),
        Record::SharedMessage(SharedMessage {
            hash: 1,
            location: SharedMessageLocation::ObjectHeader {
                message_type: 3, index: 4, object_header: Address(5)
            },
        })
    ]);
    record_tests!(shared_message_narrow, SharedMessage, 17, sizes: NARROW,
    golden: [],
    values: [
        Record::SharedMessage(SharedMessage {
            hash: 1,
            location: SharedMessageLocation::ObjectHeader {
                message_type: 3, index: 4, object_header: Address(5)
            },
        })
    ]);
    record_tests!(attribute_name, AttributeName, 17, sizes: Sizes::DEFAULT,
        golden: [include_str!("../../../../tests/golden/btree_v2_record_attribute_name.hex")],
        values: [Record::AttributeName { heap_id: [1; 8], message_flags: 2, creation_order: 3, hash: 4 }]);
    record_tests!(attribute_order, AttributeCreationOrder, 13, sizes: Sizes::DEFAULT,
        golden: [include_str!("../../../../tests/golden/btree_v2_record_attribute_order.hex")],
        values: [Record::AttributeCreationOrder { heap_id: [1; 8], message_flags: 2, creation_order: 3 }]);
    record_tests!(chunk, Chunk, 24, sizes: Sizes::DEFAULT,
        golden: [include_str!("../../../../tests/golden/btree_v2_record_chunk.hex")],
        values: [Record::Chunk { address: Address(1), scaled: vec![2, 3] }]);
    record_tests!(filtered_chunk, FilteredChunk, 30, sizes: Sizes::DEFAULT,
        golden: [include_str!("../../../../tests/golden/btree_v2_record_filtered_chunk.hex")],
        values: [Record::FilteredChunk { address: Address(1), size: 2, filter_mask: 3, scaled: vec![4, 5] }]);
    record_tests!(filtered_chunk_version_5, FilteredChunk, 36, sizes: Sizes::DEFAULT,
    golden: [include_str!("../../../../tests/golden/btree_v2_record_filtered_chunk_v5.hex")],
    values: [Record::FilteredChunk {
        address: Address(1), size: 1 << 40, filter_mask: 3, scaled: vec![4, 5]
    }]);

    #[test]
    fn the_record_size_determines_rank_and_width() {
        for rank in 1..=32_u16 {
            for width in 1..=8_u16 {
                let size = 8 + width + 4 + 8 * rank;
                let layout = RecordLayout::new(RecordType::FilteredChunk, size, &Sizes::DEFAULT).unwrap();
                assert_eq!((layout.rank, u16::from(layout.chunk_size_width)), (rank, width));
            }
        }
    }

    #[test]
    fn rejects_impossible_record_sizes() {
        for (record_type, size) in [
            (RecordType::LinkName, 12),
            (RecordType::HugeObject, 23),
            (RecordType::Chunk, 8),
            (RecordType::Chunk, 23),
            (RecordType::Chunk, 0),
            (RecordType::FilteredChunk, 0),
            (RecordType::FilteredChunk, 13),
            (RecordType::FilteredChunk, 20),
        ] {
            assert!(RecordLayout::new(record_type, size, &Sizes::DEFAULT).is_err(), "{record_type:?} {size}");
        }
    }
}
