//! Messages that many object headers share: a table of indexes, each a list or a B-tree, and a heap for each.
//!
//! Spec: HDF5 III.I Disk Format: Level 1I - Shared Object Header Message Table

use super::btree_v2::{BtreeV2Builder, BtreeV2Parameters};
use super::fractal_heap::{FractalHeapBuilder, FractalHeapParameters};
use super::{Sink, put};
use crate::format::infrastructure::btree_v2::record::{SharedMessage, SharedMessageLocation};
use crate::format::infrastructure::btree_v2::{Record, RecordType};
use crate::format::infrastructure::shared_message_table::{
    SharedMessageIndex, SharedMessageIndexType, SharedMessageListContext, SharedMessageTableContext,
};
use crate::format::infrastructure::{SharedMessageList, SharedMessageTable};
use crate::format::message::attribute::{Attribute, Version as AttributeVersion};
use crate::format::message::shared::{MaybeShared, MessageLocation, SharedMessage as Reference, Version};
use crate::format::message::shared_message_table::SharedMessageTable as TableMessage;
use crate::format::message::{HeaderMessage, MessageType};
use crate::format::{Address, Sizes, Structure, checksum};
use crate::space::SpaceKind;
use hyperslab_core::{Encoder, Error, Result};
use rustc_hash::FxHashMap;
use std::fmt;

/// The messages that one index shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedIndexOptions {
    /// Bit n is set for message type n.
    pub message_types: u16,
    /// The minimum size of a message in bytes.
    pub min_message_size: u32,
}

/// How messages of a file are shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedMessageOptions {
    /// At most eight, of different types.
    pub indexes: Vec<SharedIndexOptions>,
    /// With more messages than this, an index is a B-tree.
    pub list_cutoff: u16,
    /// With fewer messages than this, libhdf5 converts a B-tree to a list.
    pub btree_cutoff: u16,
}

/// What happens to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// It is not shared.
    No,
    /// It is the first message with its content, and stays where it is, flagged as shareable.
    First,
    /// It is replaced by this reference, flagged as shared.
    Reference(Reference),
}

/// The shared messages of a file, collected in the order of the headers. Each pass over the file has its own, and must
/// offer equal messages in the same order. A message whose bytes contain an address should therefore not be offered.
#[derive(Debug)]
pub(crate) struct SharedMessages {
    sizes: Sizes,
    options: SharedMessageOptions,
    indexes: Vec<Index>,
}

struct Index {
    heap: FractalHeapBuilder<8>,
    /// In the order of their first use.
    messages: Vec<Known>,
    /// The indexes of messages by type and content.
    places: FxHashMap<Key, usize>,
    /// The indexes of messages in a header that has no address yet.
    unplaced: Vec<usize>,
}

/// The type and the content of a message.
type Key = (u16, Vec<u8>);

/// A message in an index.
#[derive(Debug)]
struct Known {
    message_type: MessageType,
    location: Location,
}

#[derive(Clone, Copy, Debug)]
enum Location {
    /// In the header at this address.
    ObjectHeader(Address),
    Heap {
        id: [u8; 8],
        reference_count: u32,
    },
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("messages", &self.messages.len()).finish_non_exhaustive()
    }
}

impl SharedMessages {
    /// No message yet.
    ///
    /// # Errors
    /// If there are more than eight indexes, or if two have the same message type.
    pub(crate) fn new(sizes: Sizes, options: SharedMessageOptions) -> Result<Self> {
        let mut seen = 0;
        for index in &options.indexes {
            if seen & index.message_types != 0 {
                let twice = seen & index.message_types;
                return Err(Error::invalid(format!("message types {twice:#x} in two indexes, expected one")));
            }
            seen |= index.message_types;
        }
        if options.indexes.len() > MAX_INDEXES {
            let count = options.indexes.len();
            return Err(Error::invalid(format!(
                "{count} indexes of shared messages, expected at most {MAX_INDEXES}"
            )));
        }
        let index = |_: &SharedIndexOptions| {
            let heap = FractalHeapBuilder::new(sizes, FractalHeapParameters::SHARED_MESSAGES, None)?;
            Ok(Index { heap, messages: Vec::new(), places: FxHashMap::default(), unplaced: Vec::new() })
        };
        let indexes = options.indexes.iter().map(index).collect::<Result<_>>()?;
        Ok(SharedMessages { sizes, options, indexes })
    }

    /// Decides what happens to a message, which is in the header at this address; `None` for a part of another message.
    /// The first message with its content stays in its header, unless it is an attribute; all others are in the heap.
    ///
    /// # Errors
    /// If the heap is full.
    pub(crate) fn share(
        &mut self,
        message_type: MessageType,
        body: &[u8],
        header: Option<Address>,
    ) -> Result<Sharing> {
        let is_wanted = |options: &SharedIndexOptions| {
            options.message_types.checked_shr(index_bit(message_type).into()).unwrap_or(0) & 1 == 1
                && body.len() as u64 >= options.min_message_size.into()
        };
        let place = self.options.indexes.iter().position(is_wanted);
        let index = place.and_then(|place| self.indexes.get_mut(place));
        let Some(index) = index.filter(|_| message_type.is_shareable() && !body.is_empty()) else {
            return Ok(Sharing::No);
        };
        index.share(message_type, body, header.filter(|_| message_type != MessageType::ATTRIBUTE))
    }

    /// Sets the address of the header that was created last, whose messages were offered with an undefined address.
    pub(crate) fn place_header(&mut self, header: Address) {
        for Index { messages, unplaced, .. } in &mut self.indexes {
            for place in unplaced.drain(..) {
                if let Some(Known { location: Location::ObjectHeader(address), .. }) = messages.get_mut(place)
                {
                    *address = header;
                }
            }
        }
    }

    /// Shares the datatype and the dataspace of an attribute, and decides what happens to the attribute itself.
    ///
    /// # Errors
    /// If it cannot be encoded, or a heap is full.
    pub(crate) fn share_attribute(&mut self, attribute: &mut Attribute) -> Result<Sharing> {
        let mut parts = Vec::new();
        if attribute.version != AttributeVersion::V1 {
            parts.extend(self.share_part(&mut attribute.datatype)?);
            parts.extend(self.share_part(&mut attribute.dataspace)?);
        }
        let mut e = Encoder::new();
        attribute.encode(&mut e, &self.sizes)?;
        let key = (MessageType::ATTRIBUTE.0, e.into_bytes());
        if self.indexes.iter().any(|index| index.places.contains_key(&key)) {
            // It is stored once, so its parts also count once.
            parts.iter().for_each(|part| self.release(part));
        }
        self.share(MessageType::ATTRIBUTE, &key.1, None)
    }

    /// Replaces a part of an attribute with a reference. Returns the type and the content of what is shared.
    fn share_part<S: HeaderMessage>(&mut self, part: &mut MaybeShared<S>) -> Result<Option<Key>> {
        let MaybeShared::Here(value) = part else { return Ok(None) };
        let mut e = Encoder::new();
        value.encode(&mut e, &self.sizes)?;
        let Sharing::Reference(reference) = self.share(S::TYPE, e.as_slice(), None)? else { return Ok(None) };
        *part = MaybeShared::Shared(reference);
        Ok(Some((S::TYPE.0, e.into_bytes())))
    }

    fn release(&mut self, key: &Key) {
        for Index { messages, places, .. } in &mut self.indexes {
            let known = places.get(key).and_then(|place| messages.get_mut(*place));
            if let Some(Known { location: Location::Heap { reference_count, .. }, .. }) = known {
                *reference_count = reference_count.saturating_sub(1);
            }
        }
    }

    /// Writes all indexes and heaps. Returns the message of the superblock extension.
    ///
    /// # Errors
    /// If addresses of the file are too narrow.
    pub(crate) fn write(self, sink: &mut dyn Sink) -> Result<TableMessage> {
        let SharedMessages { sizes, options, indexes } = self;
        let index_count = u8::try_from(indexes.len())
            .map_err(|_| Error::invalid("more than 255 indexes of shared messages"))?;
        let indexes = indexes.into_iter().zip(&options.indexes);
        let indexes = indexes.map(|(index, of_index)| index.write(sink, of_index, &options));
        let table = SharedMessageTable { indexes: indexes.collect::<Result<_>>()? };
        let context = SharedMessageTableContext { sizes, index_count };
        let address = put(sink, SpaceKind::Metadata, &table, &context)?;
        Ok(TableMessage { address, index_count })
    }
}

impl Index {
    fn share(&mut self, message_type: MessageType, body: &[u8], header: Option<Address>) -> Result<Sharing> {
        let key = (message_type.0, body.to_vec());
        let id = match self.places.get(&key).and_then(|place| self.messages.get_mut(*place)) {
            Some(known) => {
                if let Location::Heap { id, reference_count } = &mut known.location {
                    *reference_count = reference_count.saturating_add(1);
                    *id
                } else {
                    let Some(id) = self.heap.insert(body)? else { return Ok(Sharing::No) };
                    // The first header keeps its own copy.
                    known.location = Location::Heap { id, reference_count: 2 };
                    id
                }
            }
            None => match self.add(message_type, key, header)? {
                Some(Location::Heap { id, .. }) => id,
                Some(Location::ObjectHeader(_)) => return Ok(Sharing::First),
                None => return Ok(Sharing::No),
            },
        };
        Ok(Sharing::Reference(Reference { version: Version::V3, location: MessageLocation::Heap(id) }))
    }

    /// Adds a new message, if there is room.
    fn add(
        &mut self,
        message_type: MessageType,
        key: Key,
        header: Option<Address>,
    ) -> Result<Option<Location>> {
        if self.messages.len() >= MAX_MESSAGES {
            return Ok(None);
        }
        let location = match header {
            Some(header) => Location::ObjectHeader(header),
            None => match self.heap.insert(&key.1)? {
                Some(id) => Location::Heap { id, reference_count: 1 },
                None => return Ok(None),
            },
        };
        if matches!(location, Location::ObjectHeader(address) if address.is_undefined()) {
            self.unplaced.push(self.messages.len());
        }
        self.places.insert(key, self.messages.len());
        self.messages.push(Known { message_type, location });
        Ok(Some(location))
    }

    fn write(
        self,
        sink: &mut dyn Sink,
        of_index: &SharedIndexOptions,
        options: &SharedMessageOptions,
    ) -> Result<SharedMessageIndex> {
        let count = self.messages.len();
        let message_count = u16::try_from(count)
            .map_err(|_| Error::invalid(format!("{count} shared messages in one index")))?;
        let is_list = message_count <= options.list_cutoff && options.list_cutoff > 0;
        let mut written = SharedMessageIndex {
            index_type: if is_list { SharedMessageIndexType::List } else { SharedMessageIndexType::BtreeV2 },
            message_types: of_index.message_types,
            min_message_size: of_index.min_message_size,
            list_cutoff: options.list_cutoff,
            btree_cutoff: options.btree_cutoff,
            message_count,
            index: Address::UNDEFINED,
            heap: Address::UNDEFINED,
        };
        if count == 0 {
            return Ok(written);
        }
        let Index { heap, messages, places, .. } = self;
        (written.heap, _) = heap.write(sink)?;
        let mut contents: Vec<(&[u8], usize)> = Vec::with_capacity(count);
        contents.extend(places.iter().map(|((_, body), place)| (body.as_slice(), *place)));
        let mut records = Vec::with_capacity(count);
        for (body, place) in contents {
            let known =
                messages.get(place).ok_or_else(|| Error::invalid("a shared message without place"))?;
            records.push((known.record(body)?, body, place));
        }
        if is_list {
            records.sort_by_key(|(_, _, place)| *place);
            let messages = records.into_iter().map(|(record, ..)| record).collect();
            written.index = write_list(sink, messages, message_count, options.list_cutoff)?;
        } else {
            records.sort_by_key(|(record, body, _)| (record.hash, body.len(), *body));
            let parameters = BtreeV2Parameters::of(RecordType::SharedMessage, &sink.sizes())?;
            let tree = BtreeV2Builder::allocate(sink, &parameters, count as u64)?;
            written.index = tree.address();
            tree.write(sink, records.into_iter().map(|(record, ..)| Ok(Record::SharedMessage(record))))?;
        }
        Ok(written)
    }
}

impl Known {
    fn record(&self, body: &[u8]) -> Result<SharedMessage> {
        let location = match self.location {
            Location::Heap { id, reference_count } => {
                SharedMessageLocation::Heap { reference_count, heap_id: id }
            }
            Location::ObjectHeader(object_header) => {
                let message_type = u8::try_from(self.message_type.0)
                    .map_err(|_| Error::invalid(format!("message type {}", self.message_type)))?;
                // No header has two messages of a type that stays in its header.
                SharedMessageLocation::ObjectHeader { message_type, index: 0, object_header }
            }
        };
        Ok(SharedMessage { hash: checksum::lookup3_from(body, self.message_type.0.into()), location })
    }
}

/// Writes a list, which is allocated for as many messages as a list may have.
fn write_list(
    sink: &mut dyn Sink,
    messages: Vec<SharedMessage>,
    message_count: u16,
    list_cutoff: u16,
) -> Result<Address> {
    let sizes = sink.sizes();
    let mut e = Encoder::new();
    SharedMessageList { messages }.encode(&mut e, &SharedMessageListContext { sizes, message_count })?;
    let len = SharedMessageListContext { sizes, message_count: list_cutoff }.list_len();
    e.reserved(usize::try_from(len).unwrap_or(usize::MAX).saturating_sub(e.len()));
    let address = sink.allocate(SpaceKind::Metadata, len)?;
    sink.write(address, e.as_slice())?;
    Ok(address)
}

/// The bit of a message type. Fill values of both types are in the index of the newer one.
fn index_bit(message_type: MessageType) -> u16 {
    match message_type {
        MessageType::FILL_VALUE_OLD => MessageType::FILL_VALUE.0,
        other => other.0,
    }
}

/// As in libhdf5.
const MAX_INDEXES: usize = 8;
/// The table counts messages in two bytes.
const MAX_MESSAGES: usize = u16::MAX as usize;

#[cfg(test)]
mod tests;
