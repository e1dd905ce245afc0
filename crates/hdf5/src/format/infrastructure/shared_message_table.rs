//! Shared Object Header Message Table and Shared Message Record List.
//!
//! Spec: HDF5 III.I Disk Format: Level 1I - Shared Object Header Message Table

use super::btree_v2::record::SharedMessage;
use crate::format::{Address, Sizes, Structure, append_checksum, verify_checksum};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The indexes of messages that object headers share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedMessageTable {
    /// The indexes, each for some message types.
    pub indexes: Vec<SharedMessageIndex>,
}

/// The index of shared messages of some types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedMessageIndex {
    /// The structure that `index` points to.
    pub index_type: SharedMessageIndexType,
    /// Bit n is set for message type n, as in libhdf5. (The specification numbers the bits differently.)
    pub message_types: u16,
    /// The minimum size in bytes of a shared message.
    pub min_message_size: u32,
    /// With more messages than this, the index becomes a B-tree.
    pub list_cutoff: u16,
    /// With fewer messages than this, the index becomes a list.
    pub btree_cutoff: u16,
    /// The number of messages.
    pub message_count: u16,
    /// The address of the list or B-tree.
    pub index: Address,
    /// The address of the fractal heap with the messages that several object headers share.
    pub heap: Address,
}

/// The structure of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedMessageIndexType {
    /// A [`SharedMessageList`].
    List,
    /// A version 2 B-tree of [`SharedMessage`]s.
    BtreeV2,
}

/// The messages of an index, unordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedMessageList {
    /// The messages and their locations.
    pub messages: Vec<SharedMessage>,
}

/// The parameters that determine the size of a table.
#[derive(Clone, Copy, Debug)]
pub struct SharedMessageTableContext {
    /// The widths of addresses and lengths.
    pub sizes: Sizes,
    /// The number of indexes, from the Shared Message Table message.
    pub index_count: u8,
}

/// The parameters that determine the size of a list.
#[derive(Clone, Copy, Debug)]
pub struct SharedMessageListContext {
    /// The widths of addresses and lengths.
    pub sizes: Sizes,
    /// The number of messages of the index.
    pub message_count: u16,
}

impl SharedMessageTableContext {
    /// The size of the table in bytes.
    pub fn table_len(&self) -> u64 {
        8 + u64::from(self.index_count) * index_len(&self.sizes) as u64
    }
}

impl SharedMessageListContext {
    /// The used size of the list in bytes.
    pub fn list_len(&self) -> u64 {
        8 + u64::from(self.message_count) * record_len(&self.sizes) as u64
    }
}

impl Structure for SharedMessageTable {
    type Context = SharedMessageTableContext;
    const NAME: &'static str = "Shared Object Header Message Table";

    fn decode(d: &mut Decoder<'_>, context: &SharedMessageTableContext) -> Result<Self> {
        let start = d.clone();
        d.signature(TABLE_SIGNATURE)?;
        let count = d.count(context.index_count.into(), index_len(&context.sizes))?;
        let indexes =
            (0..count).map(|_| SharedMessageIndex::decode(d, &context.sizes)).collect::<Result<_>>()?;
        verify_checksum(&start, d)?;
        Ok(SharedMessageTable { indexes })
    }

    fn encode(&self, e: &mut Encoder, context: &SharedMessageTableContext) -> Result<()> {
        let start = e.len();
        if self.indexes.len() != usize::from(context.index_count) {
            let detail = format!("{} indexes, expected {}", self.indexes.len(), context.index_count);
            return Err(Error::invalid(detail));
        }
        e.bytes(TABLE_SIGNATURE);
        self.indexes.iter().try_for_each(|index| index.encode(e, &context.sizes))?;
        append_checksum(e, start)
    }
}

impl SharedMessageIndex {
    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        match d.u8()? {
            0 => {}
            other => return Err(d.unsupported(format!("version {other}, expected 0"))),
        }
        let index_type = match d.u8()? {
            0 => SharedMessageIndexType::List,
            1 => SharedMessageIndexType::BtreeV2,
            other => return Err(d.malformed(format!("index type {other}, expected 0 or 1"))),
        };
        Ok(SharedMessageIndex {
            index_type,
            message_types: d.u16()?,
            min_message_size: d.u32()?,
            list_cutoff: d.u16()?,
            btree_cutoff: d.u16()?,
            message_count: d.u16()?,
            index: sizes.address(d)?,
            heap: sizes.address(d)?,
        })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        e.u8(0);
        e.u8(match self.index_type {
            SharedMessageIndexType::List => 0,
            SharedMessageIndexType::BtreeV2 => 1,
        });
        e.u16(self.message_types);
        e.u32(self.min_message_size);
        e.u16(self.list_cutoff);
        e.u16(self.btree_cutoff);
        e.u16(self.message_count);
        sizes.put_address(e, self.index)?;
        sizes.put_address(e, self.heap)
    }
}

impl Structure for SharedMessageList {
    type Context = SharedMessageListContext;
    const NAME: &'static str = "Shared Message Record List";

    fn decode(d: &mut Decoder<'_>, context: &SharedMessageListContext) -> Result<Self> {
        let start = d.clone();
        d.signature(LIST_SIGNATURE)?;
        let len = record_len(&context.sizes);
        let messages = (0..d.count(context.message_count.into(), len)?)
            .map(|_| SharedMessage::decode(&mut d.sub(SharedMessage::NAME, len)?, &context.sizes))
            .collect::<Result<_>>()?;
        verify_checksum(&start, d)?;
        Ok(SharedMessageList { messages })
    }

    fn encode(&self, e: &mut Encoder, context: &SharedMessageListContext) -> Result<()> {
        let start = e.len();
        if self.messages.len() != usize::from(context.message_count) {
            let detail = format!("{} messages, expected {}", self.messages.len(), context.message_count);
            return Err(Error::invalid(detail));
        }
        e.bytes(LIST_SIGNATURE);
        for message in &self.messages {
            let record = e.len();
            message.encode(e, &context.sizes)?;
            e.pad_to(record, record_len(&context.sizes));
        }
        append_checksum(e, start)
    }
}

fn index_len(sizes: &Sizes) -> usize {
    14 + 2 * usize::from(sizes.offsets)
}

/// The size of a record in bytes, equal for both locations.
fn record_len(sizes: &Sizes) -> usize {
    5 + (4 + usize::from(sizes.offsets)).max(12)
}

const TABLE_SIGNATURE: &[u8] = b"SMTB";
const LIST_SIGNATURE: &[u8] = b"SMLI";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::infrastructure::btree_v2::record::SharedMessageLocation;
    use crate::format::structure_tests::{hex, structure_tests};

    const TABLE: &str = include_str!("../../../tests/golden/sohm_table.hex");
    const LIST: &str = include_str!("../../../tests/golden/sohm_list.hex");

    mod table {
        use super::*;
        const CONTEXT: SharedMessageTableContext =
            SharedMessageTableContext { sizes: Sizes::DEFAULT, index_count: 2 };
        structure_tests!(SharedMessageTable, context: CONTEXT, golden: [TABLE], values: []);

        #[test]
        fn golden_indexes_have_the_expected_parameters() {
            let bytes = hex(TABLE);
            assert_eq!(bytes.len() as u64, CONTEXT.table_len());
            let table = SharedMessageTable::decode(&mut Decoder::new("t", 0, &bytes), &CONTEXT).unwrap();
            let types: Vec<_> = table
                .indexes
                .iter()
                .map(|index| (index.index_type, index.message_types, index.min_message_size))
                .collect();
            assert_eq!(
                types,
                [
                    (SharedMessageIndexType::List, 1 << 12, 20),
                    (SharedMessageIndexType::BtreeV2, 1 << 1 | 1 << 3, 10)
                ]
            );
        }
    }

    mod list {
        use super::*;
        const CONTEXT: SharedMessageListContext =
            SharedMessageListContext { sizes: Sizes::DEFAULT, message_count: 2 };
        structure_tests!(SharedMessageList, context: CONTEXT, golden: [LIST], values: []);

        #[test]
        fn golden_messages_are_in_the_heap() {
            let bytes = hex(LIST);
            assert_eq!(bytes.len() as u64, CONTEXT.list_len());
            let list = SharedMessageList::decode(&mut Decoder::new("t", 0, &bytes), &CONTEXT).unwrap();
            let in_heap = |message: &SharedMessage| match message.location {
                SharedMessageLocation::Heap { reference_count, .. } => Some(reference_count),
                SharedMessageLocation::ObjectHeader { .. } => None,
            };
            assert_eq!(list.messages.iter().map(in_heap).collect::<Vec<_>>(), [Some(3), Some(1)]);
        }
    }

    mod narrow {
        use super::*;
        const CONTEXT: SharedMessageListContext =
            SharedMessageListContext { sizes: Sizes { offsets: 4, lengths: 4 }, message_count: 1 };
        structure_tests!(SharedMessageList, context: CONTEXT, golden: [], values: [SharedMessageList {
            messages: vec![SharedMessage {
                hash: 5,
                location: SharedMessageLocation::ObjectHeader {
                    message_type: 3,
                    index: 1,
                    object_header: Address(0x60),
                },
            }],
        }]);
    }
}
