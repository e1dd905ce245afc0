//! Object headers: all messages of an object, wherever they are stored.

use super::Reader;
use crate::format::message::continuation::Continuation;
use crate::format::message::reference_count::ReferenceCount;
use crate::format::message::shared::{MaybeShared, MessageLocation, SharedMessage};
use crate::format::message::{HeaderMessage, MessageType};
use crate::format::object_header::prefix_v2::{AttributePhaseChange, Times};
use crate::format::object_header::{Chunk0, ContinuationBlock, Envelopes, MessageFlags, MessageForm, Prefix};
use crate::format::{Address, Structure};
use bytes::Bytes;
use hyperslab_core::{Charge, Decoder, Error, Result};
use rustc_hash::FxHashSet;

/// The header of an object: its messages in file order, not decoded.
#[derive(Debug)]
pub struct ObjectHeader {
    address: Address,
    prefix: Prefix,
    reference_count: u32,
    messages: Vec<StoredMessage>,
    _charges: Vec<Charge>,
}

/// A message in a header.
#[derive(Clone, Debug)]
pub struct StoredMessage {
    /// The type of the message.
    pub message_type: MessageType,
    /// The flags of the message.
    pub flags: MessageFlags,
    /// The creation order among messages of its type, if tracked.
    pub creation_index: Option<u16>,
    /// The body of the message, not decoded. Other bytes can follow its end.
    pub body: Bytes,
    /// The offset of the body in the file.
    pub offset: u64,
}

/// The kind of an object, as the messages of its header show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// Has a Symbol Table or Link Info message.
    Group,
    /// Has a Datatype and a Dataspace message.
    Dataset,
    /// Has a Datatype message alone.
    NamedDatatype,
    /// None of these.
    Unknown,
}

impl ObjectHeader {
    /// Reads the prefix and all messages, including those of continuation blocks.
    ///
    /// Continuation blocks follow the messages of the blocks that refer to them, as in libhdf5.
    ///
    /// # Errors
    /// Also [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) if there is an unknown message that
    /// readers must understand.
    pub fn read(reader: &Reader, address: Address) -> Result<ObjectHeader> {
        let bytes = chunk_0(reader, address)?;
        let mut charges = Vec::new();
        charge(reader, bytes.len(), &mut charges)?;
        let mut d = Decoder::new(Chunk0::NAME, reader.offset(Chunk0::NAME, address)?, &bytes);
        let (prefix, envelopes) = Chunk0::envelopes(&mut d)?;
        let mut loading = Loading::new(&prefix);
        loading.add(&bytes, envelopes, reader)?;
        if let Prefix::V1(prefix) = &prefix
            && loading.messages.len() > usize::from(prefix.message_count)
        {
            // The count covers continuation blocks, but libhdf5 accepts a wrong count there.
            return Err(Error::malformed(format!(
                "{} messages in chunk 0, expected at most {} as in the prefix",
                loading.messages.len(),
                prefix.message_count
            ))
            .at(Chunk0::NAME, reader.offset(Chunk0::NAME, address)?));
        }
        let mut next = 0;
        while let Some(block) = loading.continuations.get(next).copied() {
            next += 1;
            let bytes = reader.bytes(ContinuationBlock::NAME, block.address, block.len)?;
            charge(reader, bytes.len(), &mut charges)?;
            let offset = reader.offset(ContinuationBlock::NAME, block.address)?;
            let mut d = Decoder::new(ContinuationBlock::NAME, offset, &bytes);
            let envelopes = ContinuationBlock::envelopes(&mut d, prefix.message_form())?;
            loading.add(&bytes, envelopes, reader)?;
        }
        let reference_count = loading.reference_count;
        Ok(ObjectHeader { address, prefix, reference_count, messages: loading.messages, _charges: charges })
    }

    /// The address of the object.
    pub fn address(&self) -> Address {
        self.address
    }

    /// The prefix of the header.
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// Whether the header has version 2: with checksum, times and creation order.
    pub fn is_version_2(&self) -> bool {
        matches!(self.prefix, Prefix::V2(_))
    }

    /// The number of hard links to the object.
    pub fn reference_count(&self) -> u32 {
        self.reference_count
    }

    /// When the object was used, if a version 2 header stores it. Version 1 headers may have a Modification Time
    /// message.
    pub fn times(&self) -> Option<Times> {
        match &self.prefix {
            Prefix::V1(_) => None,
            Prefix::V2(prefix) => prefix.times,
        }
    }

    /// The attribute counts at which attributes move between header and heap; `None` in version 1 headers.
    pub fn attribute_phase_change(&self) -> Option<AttributePhaseChange> {
        match &self.prefix {
            Prefix::V1(_) => None,
            Prefix::V2(prefix) => Some(prefix.attribute_phase_change.unwrap_or_default()),
        }
    }

    /// Whether messages store the order in which attributes were created.
    pub fn attribute_creation_order_tracked(&self) -> bool {
        matches!(&self.prefix, Prefix::V2(prefix) if prefix.attribute_creation_order_tracked)
    }

    /// All messages, including NIL, Continuation and unknown ones.
    pub fn messages(&self) -> &[StoredMessage] {
        &self.messages
    }

    /// The first message of a type.
    pub fn find(&self, message_type: MessageType) -> Option<&StoredMessage> {
        self.messages.iter().find(|message| message.message_type == message_type)
    }

    /// All messages of a type, for those that may be repeated.
    pub fn find_all(&self, message_type: MessageType) -> impl Iterator<Item = &StoredMessage> {
        self.messages.iter().filter(move |message| message.message_type == message_type)
    }

    /// The kind of the object.
    pub fn kind(&self) -> ObjectKind {
        let has = |message_type| self.find(message_type).is_some();
        if has(MessageType::SYMBOL_TABLE) || has(MessageType::LINK_INFO) {
            ObjectKind::Group
        } else if !has(MessageType::DATATYPE) {
            ObjectKind::Unknown
        } else if has(MessageType::DATASPACE) {
            ObjectKind::Dataset
        } else {
            ObjectKind::NamedDatatype
        }
    }

    /// The first message of the type of `S`, decoded, even if it is shared.
    pub fn message<S: HeaderMessage>(&self, reader: &Reader) -> Result<Option<S>> {
        self.find(S::TYPE).map(|message| self.decode(reader, message)).transpose()
    }

    /// As [`ObjectHeader::message`], for messages that the object must have.
    pub fn required<S: HeaderMessage>(&self, reader: &Reader) -> Result<S> {
        self.message(reader)?.ok_or_else(|| {
            let offset = reader.offset(Chunk0::NAME, self.address).unwrap_or_default();
            Error::malformed(format!("no {}", S::NAME)).at(Chunk0::NAME, offset)
        })
    }

    /// Decodes one of the messages, even if it is shared.
    pub fn decode<S: HeaderMessage>(&self, reader: &Reader, message: &StoredMessage) -> Result<S> {
        if message.flags.is_shared() {
            return message.decode(reader);
        }
        self.decode_here(reader, message)
    }

    /// Decodes a message that is stored in this header.
    fn decode_here<S: HeaderMessage>(&self, reader: &Reader, message: &StoredMessage) -> Result<S> {
        let value: S = message.structure(reader)?;
        if !self.is_version_2() {
            value.check_unchecksummed().map_err(|e| e.at(S::NAME, message.offset))?;
        }
        Ok(value)
    }
}

impl StoredMessage {
    /// Decodes the message, even if it is shared, without the checks that [`ObjectHeader::decode`] makes for headers
    /// that have no checksum.
    pub fn decode<S: HeaderMessage>(&self, reader: &Reader) -> Result<S> {
        match self.flags.is_shared() {
            true => resolve(reader, &self.structure::<SharedMessage>(reader)?),
            false => self.structure(reader),
        }
    }

    pub(super) fn structure<S: Structure<Context = crate::format::Sizes>>(
        &self,
        reader: &Reader,
    ) -> Result<S> {
        S::decode(&mut Decoder::new(S::NAME, self.offset, &self.body), reader.sizes())
    }
}

/// Reads a message from where it is shared.
///
/// # Errors
/// Also [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if the message is itself shared from elsewhere,
/// which no writer does.
pub fn resolve<S: HeaderMessage>(reader: &Reader, shared: &SharedMessage) -> Result<S> {
    let address = match shared.location {
        MessageLocation::Committed(address) => address,
        MessageLocation::Heap(id) => return reader.shared_messages()?.message(reader, &id),
    };
    let header = ObjectHeader::read(reader, address)?;
    let place = |e: Error| e.at(S::NAME, reader.offset(S::NAME, address).unwrap_or_default());
    let message = header.find(S::TYPE).ok_or_else(|| {
        place(Error::malformed(format!(
            "shared message refers to the object at {address}, which has no message of this type"
        )))
    })?;
    if message.flags.is_shared() {
        return Err(place(Error::malformed("shared message refers to another shared message")));
    }
    header.decode_here(reader, message)
}

/// Takes a part of a message, or reads it from where it is shared.
pub fn resolve_part<S: HeaderMessage>(reader: &Reader, part: MaybeShared<S>) -> Result<S> {
    match part {
        MaybeShared::Here(value) => Ok(value),
        MaybeShared::Shared(shared) => resolve(reader, &shared),
    }
}

/// The messages of a header whose chunk 0 is in the cache, except those in continuation blocks that are not.
pub(super) fn messages_at_hand(
    reader: &Reader,
    address: Address,
) -> Result<(Vec<StoredMessage>, Vec<Continuation>)> {
    let bytes = chunk_0(reader, address)?;
    let mut d = Decoder::new(Chunk0::NAME, reader.offset(Chunk0::NAME, address)?, &bytes);
    let (prefix, envelopes) = Chunk0::envelopes(&mut d)?;
    let mut loading = Loading::new(&prefix);
    loading.add(&bytes, envelopes, reader)?;
    let (mut next, mut elsewhere) = (0, Vec::new());
    while let Some(block) = loading.continuations.get(next).copied() {
        next += 1;
        if !reader.is_at_hand(block.address, block.len) {
            elsewhere.push(block);
            continue;
        }
        let bytes = reader.bytes(ContinuationBlock::NAME, block.address, block.len)?;
        let offset = reader.offset(ContinuationBlock::NAME, block.address)?;
        let mut d = Decoder::new(ContinuationBlock::NAME, offset, &bytes);
        let envelopes = ContinuationBlock::envelopes(&mut d, prefix.message_form())?;
        loading.add(&bytes, envelopes, reader)?;
    }
    Ok((loading.messages, elsewhere))
}

/// The bytes of chunk 0, including prefix and checksum.
fn chunk_0(reader: &Reader, address: Address) -> Result<Bytes> {
    let first = reader.bytes_up_to(Chunk0::NAME, address, FIRST_READ)?;
    let mut d = Decoder::new(Chunk0::NAME, reader.offset(Chunk0::NAME, address)?, &first);
    let prefix = Prefix::decode(&mut d, &())?;
    let prefix_len = (first.len() - d.remaining()) as u64;
    let len =
        prefix_len.saturating_add(prefix.chunk_0_size()).saturating_add(prefix.message_form().checksum_len());
    match usize::try_from(len) {
        Ok(len) if len <= first.len() => Ok(first.slice(..len)),
        _ => reader.bytes(Chunk0::NAME, address, len),
    }
}

/// Charges the memory that the messages of a chunk may take. Most headers are too small to matter.
fn charge(reader: &Reader, chunk_len: usize, charges: &mut Vec<Charge>) -> Result<()> {
    let max = (chunk_len / MIN_MESSAGE).saturating_mul(size_of::<StoredMessage>());
    if max > UNCHARGED {
        charges.push(reader.budget().charge(max as u64)?);
    }
    Ok(())
}

/// The state of reading the blocks of a header.
struct Loading {
    messages: Vec<StoredMessage>,
    /// Blocks in the order of their messages.
    continuations: Vec<Continuation>,
    /// The addresses of these blocks.
    addresses: FxHashSet<Address>,
    /// The number of bytes that remain for continuation blocks: as blocks do not overlap, they cannot exceed the file.
    room: Option<u64>,
    form: MessageForm,
    reference_count: u32,
}

impl Loading {
    fn new(prefix: &Prefix) -> Self {
        let (expected, reference_count) = match prefix {
            Prefix::V1(prefix) => (usize::from(prefix.message_count), prefix.reference_count),
            Prefix::V2(_) => (USUAL_MESSAGES, 1),
        };
        Loading {
            messages: Vec::with_capacity(expected.min(USUAL_MESSAGES)),
            continuations: Vec::new(),
            addresses: FxHashSet::default(),
            room: None,
            form: prefix.message_form(),
            reference_count,
        }
    }

    fn add(&mut self, bytes: &Bytes, envelopes: Envelopes<'_>, reader: &Reader) -> Result<()> {
        for envelope in envelopes {
            let envelope = envelope?;
            let message = StoredMessage {
                message_type: envelope.prefix.message_type,
                flags: envelope.prefix.flags,
                creation_index: envelope.prefix.creation_index,
                body: bytes.slice_ref(envelope.body),
                offset: envelope.offset,
            };
            self.check_known(&message)?;
            match message.message_type {
                MessageType::CONTINUATION => self.add_continuation(&message, reader)?,
                MessageType::REFERENCE_COUNT => self.add_reference_count(&message, reader)?,
                _ => {}
            }
            self.messages.push(message);
        }
        Ok(())
    }

    fn check_known(&self, message: &StoredMessage) -> Result<()> {
        if message.message_type.is_known() || !message.flags.any(MessageFlags::FAIL_IF_UNKNOWN) {
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "type {} is unknown and flagged to fail if unknown",
            message.message_type
        ))
        .at("Header Message", message.offset))
    }

    fn add_continuation(&mut self, message: &StoredMessage, reader: &Reader) -> Result<()> {
        let block: Continuation = message.structure(reader)?;
        let malformed = |detail: String| Error::malformed(detail).at(Continuation::NAME, message.offset);
        if !self.addresses.insert(block.address) {
            return Err(malformed(format!(
                "two messages refer to the continuation block at {}",
                block.address
            )));
        }
        let room = match self.room {
            Some(room) => room,
            None => reader.len()?,
        };
        self.room = Some(room.checked_sub(block.len).ok_or_else(|| {
            malformed(format!(
                "continuation blocks are longer than the file, the last has {} bytes",
                block.len
            ))
        })?);
        self.continuations.push(block);
        Ok(())
    }

    fn add_reference_count(&mut self, message: &StoredMessage, reader: &Reader) -> Result<()> {
        if self.form == MessageForm::V1 {
            return Err(Error::malformed("a version 1 header has its reference count in the prefix")
                .at(ReferenceCount::NAME, message.offset));
        }
        self.reference_count = message.structure::<ReferenceCount>(reader)?.count;
        Ok(())
    }
}

/// The number of bytes that are read first, which cover chunk 0 of most objects.
const FIRST_READ: u64 = 512;

/// The number of messages of a usual dataset: with this capacity, its messages are not moved.
const USUAL_MESSAGES: usize = 16;

/// The minimum size of a message in a chunk, in bytes.
const MIN_MESSAGE: usize = 4;

/// The number of bytes of memory for messages that are not worth charging.
const UNCHARGED: usize = 1 << 20;

#[cfg(test)]
mod tests;
