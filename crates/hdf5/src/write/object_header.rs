//! Builds object headers.
//!
//! Spec: HDF5 IV.A.1 Data Object Header Prefix

use super::{CreationOrder, LibraryVersion};
use crate::format::message::modification_time::ModificationTime;
use crate::format::message::reference_count::ReferenceCount;
use crate::format::message::shared::SharedMessage;
use crate::format::message::{HeaderMessage, Message, MessageType};
use crate::format::object_header::prefix_v2::{AttributePhaseChange, Times};
use crate::format::object_header::{
    Chunk0, MessageFlags, MessageForm, OwnedMessage, Prefix, PrefixV1, PrefixV2,
};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The properties that all objects store in their headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderOptions {
    /// The creation order of attributes.
    pub attribute_order: CreationOrder,
    /// The attribute counts at which attributes move between compact and dense storage.
    pub attribute_phase_change: AttributePhaseChange,
    /// The times of the object, if they are stored.
    pub times: Option<Times>,
    /// The number of hard links to the object; for a committed datatype, also the number of messages that share it.
    pub reference_count: u32,
}

impl Default for HeaderOptions {
    fn default() -> Self {
        HeaderOptions {
            attribute_order: CreationOrder::Untracked,
            attribute_phase_change: AttributePhaseChange::default(),
            times: None,
            reference_count: 1,
        }
    }
}

/// An object header that is being built. Its length depends only on the lengths of its messages.
#[derive(Clone, Debug)]
pub(super) struct ObjectHeader {
    prefix: Prefix,
    form: MessageForm,
    sizes: Sizes,
    messages: Vec<OwnedMessage>,
}

impl ObjectHeader {
    /// A header without messages, in the version that `low` or the options require.
    pub(super) fn new(options: &HeaderOptions, low: LibraryVersion, sizes: Sizes) -> Result<ObjectHeader> {
        let prefix = if low == LibraryVersion::Earliest && !options.needs_v2() {
            let reference_count = options.reference_count;
            Prefix::V1(PrefixV1 { message_count: 0, reference_count, chunk_0_size: 0 })
        } else {
            let phase_change = options.attribute_phase_change;
            Prefix::V2(PrefixV2 {
                attribute_creation_order_tracked: options.attribute_order.is_tracked(),
                attribute_creation_order_indexed: options.attribute_order == CreationOrder::Indexed,
                times: options.times,
                attribute_phase_change: (phase_change != AttributePhaseChange::default())
                    .then_some(phase_change),
                chunk_0_size_width: 1,
                chunk_0_size: 0,
            })
        };
        let form = prefix.message_form();
        let mut header = ObjectHeader { prefix, form, sizes, messages: Vec::new() };
        match options.times {
            Some(times) if header.is_v1() => {
                header.push(&ModificationTime { seconds: times.modification }, 0)?;
            }
            _ => {}
        }
        if options.reference_count > 1 && !header.is_v1() {
            header.push(&ReferenceCount { count: options.reference_count }, 0)?;
        }
        Ok(header)
    }

    /// Whether it is a version 1 header.
    pub(super) fn is_v1(&self) -> bool {
        self.form == MessageForm::V1
    }

    /// Adds a message.
    pub(super) fn push<M: HeaderMessage>(&mut self, message: &M, flags: u8) -> Result<()> {
        let body = self.body(message)?;
        self.push_encoded(M::TYPE, flags, 0, body)
    }

    /// Adds a message whose body is elsewhere.
    pub(super) fn push_shared(&mut self, of: MessageType, location: &SharedMessage, flags: u8) -> Result<()> {
        let body = self.body(location)?;
        self.push_encoded(of, flags | MessageFlags::SHARED, 0, body)
    }

    /// Adds a message with its creation index among messages of its type. Only some headers store it.
    pub(super) fn push_indexed<M: HeaderMessage>(&mut self, message: &M, index: u16) -> Result<()> {
        let body = self.body(message)?;
        self.push_encoded(M::TYPE, 0, index, body)
    }

    /// As [`ObjectHeader::push_indexed`], for a message whose body is elsewhere.
    pub(super) fn push_shared_indexed(
        &mut self,
        of: MessageType,
        location: &SharedMessage,
        index: u16,
    ) -> Result<()> {
        let body = self.body(location)?;
        self.push_encoded(of, MessageFlags::SHARED, index, body)
    }

    /// Adds an encoded message.
    fn push_encoded(&mut self, of: MessageType, flags: u8, index: u16, mut body: Vec<u8>) -> Result<()> {
        if self.is_v1() {
            body.resize(body.len().next_multiple_of(8), 0);
        }
        if body.len() > usize::from(u16::MAX) {
            return Err(Error::invalid(format!(
                "message {of} of {} bytes, expected at most {} in an object header",
                body.len(),
                u16::MAX
            )));
        }
        let tracks = self.form == MessageForm::V2 { creation_order_tracked: true };
        self.messages.push(OwnedMessage {
            message_type: of,
            flags: MessageFlags(flags),
            creation_index: tracks.then_some(index),
            body,
        });
        Ok(())
    }

    /// Adds a message of any type.
    pub(super) fn push_message(&mut self, message: &Message, flags: u8) -> Result<()> {
        let mut e = Encoder::with_capacity(SOME);
        message.encode(&mut e, &self.sizes)?;
        self.push_encoded(message.message_type(), flags, 0, e.into_bytes())
    }

    /// Changes the message of a type. It must keep its length.
    pub(super) fn change<M: HeaderMessage>(&mut self, change: impl FnOnce(&mut M)) -> Result<()> {
        let sizes = self.sizes;
        let own = self.messages.iter_mut().find(|own| own.message_type == M::TYPE);
        let own = own.ok_or_else(|| Error::invalid(format!("header without {}", M::NAME)))?;
        let mut message = M::decode(&mut Decoder::new(M::NAME, 0, &own.body), &sizes)?;
        change(&mut message);
        let mut e = Encoder::with_capacity(own.body.len());
        message.encode(&mut e, &sizes)?;
        if self.form == MessageForm::V1 {
            e.pad_to(0, 8);
        }
        if e.len() != own.body.len() {
            return Err(Error::invalid(format!(
                "{} of {} bytes, expected {} as declared",
                M::NAME,
                e.len(),
                own.body.len()
            )));
        }
        own.body = e.into_bytes();
        Ok(())
    }

    /// The length of the header in bytes.
    pub(super) fn len(&self) -> Result<u64> {
        let mut e = Encoder::with_capacity(SOME);
        let len = self.messages_len();
        self.prefix(len)?.encode(&mut e, &())?;
        Ok((e.len() + len) as u64 + self.form.checksum_len())
    }

    /// The bytes of the header: one chunk, with room for a Continuation message at its end.
    pub(super) fn encode(mut self) -> Result<Vec<u8>> {
        let len = self.messages_len();
        let prefix = self.prefix(len)?;
        self.messages.push(OwnedMessage {
            message_type: MessageType::NIL,
            flags: MessageFlags(0),
            creation_index: (self.form == MessageForm::V2 { creation_order_tracked: true }).then_some(0),
            body: vec![0; room_len(self.form, &self.sizes)],
        });
        let mut e = Encoder::with_capacity(len + SOME);
        Chunk0 { prefix, messages: self.messages, gap: Vec::new() }.encode(&mut e, &())?;
        Ok(e.into_bytes())
    }

    /// The length of the messages in bytes, including the room at their end.
    fn messages_len(&self) -> usize {
        let bodies = self.messages.iter().map(|message| message.body.len());
        bodies.chain([room_len(self.form, &self.sizes)]).map(|body| self.form.prefix_len() + body).sum()
    }

    /// The prefix before messages of this length.
    fn prefix(&self, len: usize) -> Result<Prefix> {
        let mut prefix = self.prefix.clone();
        match &mut prefix {
            Prefix::V1(prefix) => {
                let too_many =
                    |_| Error::invalid("more messages or bytes than a version 1 object header can have");
                prefix.message_count = u16::try_from(self.messages.len() + 1).map_err(too_many)?;
                prefix.chunk_0_size = u32::try_from(len).map_err(too_many)?;
            }
            Prefix::V2(prefix) => {
                prefix.chunk_0_size = len as u64;
                prefix.chunk_0_size_width = match len {
                    ..0x100 => 1,
                    0x100..0x1_0000 => 2,
                    _ => 4,
                };
            }
        }
        Ok(prefix)
    }

    fn body<S: Structure<Context = Sizes>>(&self, structure: &S) -> Result<Vec<u8>> {
        let mut e = Encoder::with_capacity(SOME);
        structure.encode(&mut e, &self.sizes)?;
        Ok(e.into_bytes())
    }
}

impl HeaderOptions {
    /// Whether the options require a version 2 header.
    fn needs_v2(&self) -> bool {
        self.attribute_order.is_tracked() || self.attribute_phase_change != AttributePhaseChange::default()
    }
}

/// The length of the NIL message at the end of a header: that of a Continuation message, or the few bytes more that
/// libhdf5 leaves. Without this room, a program that adds messages must first move others.
fn room_len(form: MessageForm, sizes: &Sizes) -> usize {
    let continuation = usize::from(sizes.offsets) + usize::from(sizes.lengths);
    match form {
        MessageForm::V1 => continuation.next_multiple_of(8),
        MessageForm::V2 { .. } => continuation.max(MIN_ROOM - form.prefix_len()),
    }
}

/// The smallest size in bytes of the free messages of a header that libhdf5 makes.
const MIN_ROOM: usize = 22;

/// Capacity in bytes for a prefix with a checksum, and for most messages.
const SOME: usize = 40;
