//! Records of version 2 B-trees, types 1 to 11.
//!
//! Spec: HDF5 III.A.2 Disk Format: Level 1A2 - Version 2 B-trees, tables of record layouts

use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Type 1: an object too large for its fractal heap, found by its ID.
    HugeObject {
        /// The object.
        address: Address,
        /// Its bytes in the file.
        length: u64,
        /// What the heap ID says.
        id: u64,
    },
    /// Type 2: the same in a heap with filters.
    FilteredHugeObject {
        /// The object.
        address: Address,
        /// Its bytes in the file.
        length: u64,
        /// The filters that were skipped.
        filter_mask: u32,
        /// Its bytes after the filters.
        memory_size: u64,
        /// What the heap ID says.
        id: u64,
    },
    /// Type 3: an object too large for its fractal heap, of which the heap ID says address and length.
    DirectHugeObject {
        /// The object.
        address: Address,
        /// Its bytes in the file.
        length: u64,
    },
    /// Type 4: the same in a heap with filters.
    FilteredDirectHugeObject {
        /// The object.
        address: Address,
        /// Its bytes in the file.
        length: u64,
        /// The filters that were skipped.
        filter_mask: u32,
        /// Its bytes after the filters.
        memory_size: u64,
    },
    /// Type 5: a link, by name.
    LinkName {
        /// The lookup3 checksum of the name.
        hash: u32,
        /// The link message in the group's fractal heap.
        heap_id: [u8; 7],
    },
    /// Type 6: a link, by creation order.
    LinkCreationOrder {
        /// The creation order.
        creation_order: i64,
        /// The link message in the group's fractal heap.
        heap_id: [u8; 7],
    },
    /// Type 7: a shared message.
    SharedMessage(SharedMessage),
    /// Type 8: an attribute, by name.
    AttributeName {
        /// The attribute message in the object's fractal heap.
        heap_id: [u8; 8],
        /// The flags of the attribute message.
        message_flags: u8,
        /// The creation order.
        creation_order: u32,
        /// The lookup3 checksum of the name.
        hash: u32,
    },
    /// Type 9: an attribute, by creation order.
    AttributeCreationOrder {
        /// The attribute message in the object's fractal heap.
        heap_id: [u8; 8],
        /// The flags of the attribute message.
        message_flags: u8,
        /// The creation order.
        creation_order: u32,
    },
    /// Type 10: a chunk of a dataset without filters.
    Chunk {
        /// The chunk.
        address: Address,
        /// Its position: offsets divided by chunk dimensions.
        scaled: Vec<u64>,
    },
    /// Type 11: a chunk of a dataset with filters.
    FilteredChunk {
        /// The chunk.
        address: Address,
        /// Its bytes in the file.
        size: u64,
        /// The filters that were skipped.
        filter_mask: u32,
        /// Its position: offsets divided by chunk dimensions.
        scaled: Vec<u64>,
    },
}

/// A message that object headers share, by where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedMessage {
    /// The lookup3 checksum of the message.
    pub hash: u32,
    /// Where it is.
    pub location: SharedMessageLocation,
}

/// Where a shared message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedMessageLocation {
    /// Location 0: the fractal heap of the index.
    Heap {
        /// How many objects refer to it.
        reference_count: u32,
        /// The message in the heap.
        heap_id: [u8; 8],
    },
    /// Location 1: the object header of the only object that has it.
    ObjectHeader {
        /// The type of the message.
        message_type: u8,
        /// Which message of its type it is in the object header.
        index: u16,
        /// The object header.
        object_header: Address,
    },
}

/// What records are.
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

/// How the records of one tree are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordLayout {
    record_type: RecordType,
    record_size: u16,
    rank: u16,
    chunk_size_width: u8,
}

impl RecordLayout {
    /// The layout that follows from the record type and size in a header.
    ///
    /// # Errors
    /// If records of that type cannot have that size.
    pub fn new(record_type: RecordType, record_size: u16, sizes: &Sizes) -> Result<Self> {
        let (offsets, lengths) = (u16::from(sizes.offsets), u16::from(sizes.lengths));
        let mut layout = RecordLayout { record_type, record_size, rank: 0, chunk_size_width: 0 };
        let expected = match record_type {
            RecordType::HugeObject => offsets + 2 * lengths,
            RecordType::FilteredHugeObject => offsets + 4 + 3 * lengths,
            RecordType::DirectHugeObject => offsets + lengths,
            RecordType::FilteredDirectHugeObject => offsets + 4 + 2 * lengths,
            RecordType::LinkName => 11,
            RecordType::LinkCreationOrder => 15,
            RecordType::SharedMessage => 5 + (4 + offsets).max(12),
            RecordType::AttributeName => 17,
            RecordType::AttributeCreationOrder => 13,
            RecordType::Chunk => {
                layout.rank = record_size.saturating_sub(offsets) / 8;
                offsets + 8 * layout.rank.max(1)
            }
            // Coordinates take multiples of 8 bytes and the width is 1 to 8, so there is one answer.
            RecordType::FilteredChunk => {
                let rest = record_size.saturating_sub(offsets + 4 + 1);
                layout.rank = rest / 8;
                layout.chunk_size_width = u8::try_from(rest % 8 + 1).unwrap_or(8);
                offsets + 4 + u16::from(layout.chunk_size_width) + 8 * layout.rank.max(1)
            }
        };
        if record_size != expected {
            return Err(Error::malformed(format!(
                "records of {record_size} bytes, expected {expected} for {record_type:?}"
            )));
        }
        Ok(layout)
    }

    /// What the records are.
    pub fn record_type(&self) -> RecordType {
        self.record_type
    }

    /// The number of bytes of each.
    pub fn record_size(&self) -> u16 {
        self.record_size
    }

    /// The dimensions of the dataset, if the records are chunks.
    pub fn rank(&self) -> u16 {
        self.rank
    }

    pub(super) fn len(&self) -> u64 {
        self.record_size.into()
    }
}

impl RecordType {
    /// The number that stands for the type in the file.
    pub fn code(self) -> u8 {
        ALL.iter().zip(1..).find(|(known, _)| **known == self).map_or(0, |(_, code)| code)
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
                "record of {:?} in a tree of {:?}",
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
            .ok_or_else(|| Error::invalid(format!("record is not of {} bytes", layout.record_size)))?;
        e.reserved(left);
        Ok(())
    }
}

impl Record {
    /// What the record is.
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

/// In order of their codes, which begin at 1.
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

    /// Tests of the records of one type and size.
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
    fn rank_and_width_follow_from_the_record_size() {
        for rank in 1..=32_u16 {
            for width in 1..=8_u16 {
                let size = 8 + width + 4 + 8 * rank;
                let layout = RecordLayout::new(RecordType::FilteredChunk, size, &Sizes::DEFAULT).unwrap();
                assert_eq!((layout.rank, u16::from(layout.chunk_size_width)), (rank, width));
            }
        }
    }

    #[test]
    fn rejects_sizes_that_no_record_of_the_type_has() {
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
