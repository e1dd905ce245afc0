//! Checks messages that object headers share through heaps of the file, and their reference counts.

use super::fractal_heap::Heap;
use super::objects;
use super::reading::{AtOffset, Pointer, pointer};
use super::rule;
use super::{Checker, max};
use crate::format::infrastructure::btree_v2::record::{SharedMessage, SharedMessageLocation};
use crate::format::infrastructure::btree_v2::{Record, RecordType};
use crate::format::infrastructure::shared_message_table::{
    SharedMessageIndex, SharedMessageIndexType, SharedMessageListContext, SharedMessageTableContext,
};
use crate::format::infrastructure::{SharedMessageList, SharedMessageTable};
use crate::format::message::shared_message_table::SharedMessageTable as TableMessage;
use crate::format::message::{HeaderMessage, Message, MessageType};
use crate::format::{Structure, checksum};
use hyperslab_core::{Decoder, Result};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// The indexes of the file.
#[derive(Default)]
pub(super) struct SharedMessages {
    indexes: Vec<Index>,
    /// The number of headers with their own copy of a message that is also shared, by its hash. The first header with
    /// the message keeps it.
    kept: FxHashMap<u32, u32>,
    /// Whether the last message from a heap was used for the first time.
    pub(super) is_first_use: bool,
    /// Whether uses are within a message that was counted before. They count once, as they are stored once.
    pub(super) is_repeated: bool,
}

struct Index {
    index: SharedMessageIndex,
    /// The offset in the table.
    byte: u64,
    /// Taken out while it is in use.
    heap: Option<Heap>,
    /// The number of uses of each heap ID.
    uses: FxHashMap<[u8; 8], u32>,
}

impl Checker<'_> {
    /// Opens the table that the superblock extension points to.
    pub(super) fn open_shared_messages(&mut self, message: &TableMessage, at: u64) -> Result<()> {
        let sizes = self.sizes();
        let context = SharedMessageTableContext { sizes, index_count: message.index_count };
        let from = pointer(TableMessage::NAME, at);
        let table =
            self.structure::<SharedMessageTable>(message.address, context.table_len(), &context, from)?;
        let Some(AtOffset { value: table, byte }) = table else { return Ok(()) };
        let index_len = 14 + 2 * u64::from(sizes.offsets);
        for (number, index) in (0_u64..).zip(table.indexes) {
            let byte = byte + 4 + number * index_len;
            let from = pointer(SharedMessageTable::NAME, byte + 14 + u64::from(sizes.offsets));
            let heap = match index.heap.is_undefined() {
                true => None,
                false => self.open_heap(index.heap, from)?,
            };
            self.shared.indexes.push(Index { index, byte, heap, uses: FxHashMap::default() });
        }
        Ok(())
    }

    /// The message with a heap ID, whose use is counted.
    pub(super) fn shared_from_heap<S: HeaderMessage>(
        &mut self,
        id: &[u8; 8],
        from: Pointer,
    ) -> Result<Option<S>> {
        let bit = 1_u16 << bit_of(S::TYPE);
        let place = self.shared.indexes.iter().position(|index| index.index.message_types & bit != 0);
        let Some(place) = place else {
            let message = format!("a {} shared in a heap, which no index has", S::NAME);
            self.report(&rule::SHARED_MESSAGE, from.structure, from.byte, message);
            return Ok(None);
        };
        let Some(mut heap) = self.shared.indexes.get_mut(place).and_then(|index| index.heap.take()) else {
            let message = "the heap that the message is in cannot be read";
            self.report(&rule::SHARED_MESSAGE, from.structure, from.byte, message);
            return Ok(None);
        };
        let object = self.heap_object(&mut heap, id, from, false);
        let is_repeated = self.shared.is_repeated;
        if let Some(index) = self.shared.indexes.get_mut(place) {
            index.heap = Some(heap);
            let uses = index.uses.entry(*id).or_default();
            self.shared.is_first_use = *uses == 0;
            *uses += u32::from(!is_repeated);
        }
        let Some(object) = object? else { return Ok(None) };
        match S::decode(&mut object.decoder(S::NAME), &self.sizes()) {
            Ok(value) => Ok(Some(value)),
            Err(error) => self.error(error).map(|()| None),
        }
    }

    /// Counts a message that could be shared but is stored where it was written first.
    pub(super) fn keep_shareable(&mut self, message_type: MessageType, bytes: &[u8]) {
        let bit = 1_u16.checked_shl(bit_of(message_type).into()).unwrap_or(0);
        let is_indexed = |index: &Index| index.index.message_types & bit != 0;
        if !self.shared.indexes.iter().any(is_indexed)
            || self.shared.kept.len() >= max(self.stored, KEPT_SIZE)
        {
            return;
        }
        let name = super::message::name(message_type);
        let mut d = Decoder::new(name, 0, bytes);
        if Message::decode(message_type, &mut d, &self.sizes()).is_ok() {
            // In version 1 headers, padding follows.
            let encoded = bytes.get(..bytes.len() - d.remaining()).unwrap_or_default();
            *self.shared.kept.entry(checksum::lookup3_from(encoded, message_type.0.into())).or_default() += 1;
        }
    }

    /// Compares the indexes with the heaps, and with the number of uses.
    pub(super) fn check_shared_messages(&mut self) -> Result<()> {
        self.current = objects::FILE;
        for index in std::mem::take(&mut self.shared.indexes) {
            self.shared_index(index)?;
        }
        Ok(())
    }

    fn shared_index(&mut self, index: Index) -> Result<()> {
        const NAME: &str = SharedMessageTable::NAME;
        let Index { index, byte, mut heap, uses } = index;
        let sizes = self.sizes();
        let from = pointer(NAME, byte + 14);
        let mut records: u64 = 0;
        let mut listed = 0;
        let is_whole = match index.index_type {
            _ if index.index.is_undefined() => true,
            SharedMessageIndexType::List => {
                let context = SharedMessageListContext { sizes, message_count: index.message_count };
                let allocated =
                    SharedMessageListContext { sizes, message_count: index.list_cutoff }.list_len();
                let len = context.list_len();
                let list = self.structure::<SharedMessageList>(index.index, len, &context, from)?;
                match list {
                    None => false,
                    Some(AtOffset { value: list, byte }) => {
                        self.claim_spare(SharedMessageList::NAME, byte + len, allocated.saturating_sub(len));
                        let record_len = (len - 8).checked_div(list.messages.len() as u64).unwrap_or(0);
                        for (number, message) in (0_u64..).zip(&list.messages) {
                            let at = byte + 4 + number * record_len;
                            records += 1;
                            let from = pointer(SharedMessage::NAME, at);
                            listed +=
                                u64::from(self.shared_record(&index, heap.as_mut(), &uses, message, from)?);
                        }
                        true
                    }
                }
            }
            SharedMessageIndexType::BtreeV2 => {
                let types = [RecordType::SharedMessage];
                let walked = self.btree_v2(index.index, from, &types, &mut |checker, record, at| {
                    if let Record::SharedMessage(message) = record {
                        records += 1;
                        let from = pointer(SharedMessage::NAME, at);
                        let is_in_heap =
                            checker.shared_record(&index, heap.as_mut(), &uses, message, from)?;
                        listed += u64::from(is_in_heap);
                    }
                    Ok(())
                })?;
                walked.is_some_and(|walked| walked.is_whole)
            }
        };
        if is_whole && records != u64::from(index.message_count) {
            let message = format!("counts {} messages, the index has {records}", index.message_count);
            self.report_bytes(&rule::SHARED_MESSAGE_COUNT, NAME, byte + 12, Some(2), message);
        }
        if is_whole && (uses.len() as u64) > listed {
            let message = format!("{} messages of the heap are shared, the index has {listed}", uses.len());
            self.report(&rule::SHARED_MESSAGE_COUNT, NAME, byte + 12, message);
        }
        match heap {
            Some(heap) => self.close_heap(heap, is_whole),
            None => Ok(()),
        }
    }

    /// Checks a record of an index. Returns whether its message is in the heap.
    fn shared_record(
        &mut self,
        index: &SharedMessageIndex,
        heap: Option<&mut Heap>,
        uses: &FxHashMap<[u8; 8], u32>,
        message: &SharedMessage,
        from: Pointer,
    ) -> Result<bool> {
        match &message.location {
            SharedMessageLocation::Heap { reference_count, heap_id } => {
                let is_complete = self.complete && self.collections.is_whole;
                let kept = self.shared.kept.get(&message.hash).copied().unwrap_or(0);
                let found = uses.get(heap_id).copied().unwrap_or(0).saturating_add(kept);
                // libhdf5 counts parts of attributes once more for each object that it copies.
                let rule = match reference_count.cmp(&found) {
                    Ordering::Less => Some(&rule::SHARED_MESSAGE_COUNT),
                    Ordering::Greater => Some(&rule::SHARED_MESSAGE_LEFT).filter(|_| is_complete),
                    Ordering::Equal => None,
                };
                if let Some(rule) = rule {
                    let text = format!("a reference count of {reference_count}, {found} messages share it");
                    self.report_bytes(rule, from.structure, from.byte + 5, Some(4), text);
                }
                let Some(heap) = heap else { return Ok(true) };
                let Some(object) = self.heap_object(heap, heap_id, from, true)? else { return Ok(true) };
                let indexed = |bit: u32| index.message_types >> bit & 1 != 0;
                // The index of fill values also contains messages of the old type.
                let types = (0..16).filter(|bit| indexed(*bit) || *bit == 4 && indexed(5));
                let mut hashes =
                    types.map(|message_type| checksum::lookup3_from(&object.bytes, message_type));
                if !hashes.any(|hash| hash == message.hash) {
                    let text = format!("hash {:#010x} is not that of the message's bytes", message.hash);
                    let at = from.byte + 1;
                    self.report_bytes(&rule::SHARED_MESSAGE_HASH, from.structure, at, Some(4), text);
                }
                Ok(true)
            }
            SharedMessageLocation::ObjectHeader { message_type, object_header, .. } => {
                if self.objects.number(*object_header).is_none() && self.complete {
                    let text = format!(
                        "a message of type {message_type} of the object at {object_header}, where none is"
                    );
                    self.report(&rule::SHARED_MESSAGE, from.structure, from.byte, text);
                }
                Ok(false)
            }
        }
    }
}

/// Both types of fill value messages are in the index of the newer type.
fn bit_of(message_type: MessageType) -> u16 {
    match message_type {
        MessageType::FILL_VALUE_OLD => MessageType::FILL_VALUE.0,
        other => other.0,
    }
}

const KEPT_SIZE: u64 = 32;
