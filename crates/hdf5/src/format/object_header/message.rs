//! The envelope of a message: type, size, flags and creation index.
//!
//! Spec: HDF5 IV.A.1.a and IV.A.1.b, fields Header Message #n

use crate::format::message::MessageType;
use crate::format::{Structure, append_checksum, verify_checksum};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The form of messages in an object header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageForm {
    /// Aligned to 8 bytes, without checksum.
    V1,
    /// Packed, with a checksum at the end of each chunk.
    V2 {
        /// Whether the flags are followed by a creation index.
        creation_order_tracked: bool,
    },
}

/// The fields before the body of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessagePrefix {
    /// The type of the message.
    pub message_type: MessageType,
    /// The size of the body in bytes.
    pub size: u16,
    /// The flags.
    pub flags: MessageFlags,
    /// The creation index among messages of its type, if it is tracked.
    pub creation_index: Option<u16>,
}

/// The flags of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageFlags(pub u8);

/// A message that borrows its body from the chunk.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// The fields before the body.
    pub prefix: MessagePrefix,
    /// The body, not decoded.
    pub body: &'a [u8],
    /// The offset of the body in the file.
    pub offset: u64,
}

/// A message that owns its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedMessage {
    /// The type of the message.
    pub message_type: MessageType,
    /// The flags.
    pub flags: MessageFlags,
    /// The creation index among messages of its type, if it is tracked.
    pub creation_index: Option<u16>,
    /// The body, not decoded.
    pub body: Vec<u8>,
}

/// Iterates over the messages of one chunk, without its signature and checksum. Ends after the first error.
#[derive(Clone, Debug)]
pub struct Envelopes<'a> {
    d: Decoder<'a>,
    form: MessageForm,
    gap: &'a [u8],
    nil_seen: bool,
}

impl MessageForm {
    /// The number of bytes before each body.
    pub const fn prefix_len(self) -> usize {
        match self {
            MessageForm::V1 => 8,
            MessageForm::V2 { creation_order_tracked: false } => 4,
            MessageForm::V2 { creation_order_tracked: true } => 6,
        }
    }

    /// The size in bytes of the checksum at the end of a chunk.
    pub const fn checksum_len(self) -> u64 {
        match self {
            MessageForm::V1 => 0,
            MessageForm::V2 { .. } => 4,
        }
    }
}

impl MessageFlags {
    /// The body is constant.
    pub const CONSTANT: u8 = 0x01;
    /// The body is a Shared Message with the location of the message.
    pub const SHARED: u8 = 0x02;
    /// The message must not be shared.
    pub const DO_NOT_SHARE: u8 = 0x04;
    /// A program that does not know the type must not open the object for writing.
    pub const FAIL_IF_UNKNOWN_AND_WRITING: u8 = 0x08;
    /// A program that does not know the type and modifies the object must set [`MessageFlags::WAS_UNKNOWN`].
    pub const MARK_IF_UNKNOWN: u8 = 0x10;
    /// The object was modified by a program that did not know the type.
    pub const WAS_UNKNOWN: u8 = 0x20;
    /// The message may be shared.
    pub const SHAREABLE: u8 = 0x40;
    /// A program that does not know the type must not open the object.
    pub const FAIL_IF_UNKNOWN: u8 = 0x80;

    /// Whether any of `flags` is set.
    pub const fn any(self, flags: u8) -> bool {
        self.0 & flags != 0
    }

    /// Whether the body is a Shared Message.
    pub const fn is_shared(self) -> bool {
        self.any(Self::SHARED)
    }

    /// Whether the flags contradict each other.
    const fn are_contradictory(self) -> bool {
        self.is_shared() && self.any(Self::DO_NOT_SHARE)
            || self.any(Self::WAS_UNKNOWN)
                && (self.any(Self::FAIL_IF_UNKNOWN_AND_WRITING) || !self.any(Self::MARK_IF_UNKNOWN))
    }
}

impl Structure for MessagePrefix {
    type Context = MessageForm;
    const NAME: &'static str = "Header Message";

    fn decode(d: &mut Decoder<'_>, form: &MessageForm) -> Result<Self> {
        let start = d.clone();
        let message_type = MessageType(match form {
            MessageForm::V1 => d.u16()?,
            MessageForm::V2 { .. } => d.u8()?.into(),
        });
        let size = d.u16()?;
        if *form == MessageForm::V1 && !size.is_multiple_of(8) {
            return Err(start.malformed(format!("message size {size}, expected a multiple of 8")));
        }
        let flags = MessageFlags(d.u8()?);
        if flags.are_contradictory() {
            return Err(start.malformed(format!("message flags {:#04x} contradict each other", flags.0)));
        }
        if message_type.is_known()
            && !message_type.is_shareable()
            && flags.any(MessageFlags::SHARED | MessageFlags::SHAREABLE)
        {
            return Err(
                start.malformed(format!("shared message of type {message_type}, which cannot be shared"))
            );
        }
        let creation_index = match form {
            MessageForm::V1 => {
                d.reserved(3)?;
                None
            }
            MessageForm::V2 { creation_order_tracked: false } => None,
            MessageForm::V2 { creation_order_tracked: true } => Some(d.u16()?),
        };
        Ok(MessagePrefix { message_type, size, flags, creation_index })
    }

    fn encode(&self, e: &mut Encoder, form: &MessageForm) -> Result<()> {
        match form {
            MessageForm::V1 => e.u16(self.message_type.0),
            MessageForm::V2 { .. } => e.uint(1, self.message_type.0.into())?,
        }
        e.u16(self.size);
        e.u8(self.flags.0);
        match (form, self.creation_index) {
            (MessageForm::V1, None) => e.reserved(3),
            (MessageForm::V2 { creation_order_tracked: false }, None) => {}
            (MessageForm::V2 { creation_order_tracked: true }, Some(index)) => e.u16(index),
            (form, index) => {
                return Err(Error::invalid(format!(
                    "creation index {index:?} does not fit a header of form {form:?}"
                )));
            }
        }
        Ok(())
    }
}

impl<'a> Envelopes<'a> {
    /// The messages from the cursor to the end of `d`.
    pub fn new(d: Decoder<'a>, form: MessageForm) -> Self {
        Envelopes { d, form, gap: &[], nil_seen: false }
    }

    /// The gap: bytes that are too few for a message. Valid after all messages have been taken.
    pub fn gap(&self) -> &'a [u8] {
        self.gap
    }

    fn take(&mut self) -> Result<Envelope<'a>> {
        let prefix = MessagePrefix::decode(&mut self.d, &self.form)?;
        let offset = self.d.offset();
        let body = self.d.take(prefix.size.into())?;
        self.nil_seen |= prefix.message_type == MessageType::NIL;
        if self.d.remaining() < self.form.prefix_len() && !self.d.is_empty() {
            if self.form == MessageForm::V1 || self.nil_seen {
                return Err(self.d.malformed(format!(
                    "{} bytes remain after the last message, expected 0",
                    self.d.remaining()
                )));
            }
            self.gap = self.d.rest();
        }
        Ok(Envelope { prefix, body, offset })
    }
}

impl<'a> Iterator for Envelopes<'a> {
    type Item = Result<Envelope<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.d.is_empty() {
            return None;
        }
        let envelope = self.take();
        if envelope.is_err() {
            self.d.rest();
        }
        Some(envelope)
    }
}

impl OwnedMessage {
    /// Appends prefix and body.
    fn encode(&self, e: &mut Encoder, form: MessageForm) -> Result<()> {
        let size = u16::try_from(self.body.len())
            .ok()
            .filter(|size| form != MessageForm::V1 || size.is_multiple_of(8))
            .ok_or_else(|| {
                Error::invalid(format!(
                    "message body of {} bytes does not fit a header of form {form:?}",
                    self.body.len()
                ))
            })?;
        let OwnedMessage { message_type, flags, creation_index, .. } = *self;
        MessagePrefix { message_type, size, flags, creation_index }.encode(e, &form)?;
        e.bytes(&self.body);
        Ok(())
    }
}

impl From<Envelope<'_>> for OwnedMessage {
    fn from(envelope: Envelope<'_>) -> Self {
        let MessagePrefix { message_type, flags, creation_index, .. } = envelope.prefix;
        OwnedMessage { message_type, flags, creation_index, body: envelope.body.to_vec() }
    }
}

/// The messages of a chunk. `d` is after the signature or prefix, `start` before it. Verifies the checksum if the
/// form has one, and leaves `d` after it.
pub fn chunk<'a>(
    start: &Decoder<'a>,
    d: &mut Decoder<'a>,
    len: u64,
    form: MessageForm,
) -> Result<Envelopes<'a>> {
    let len = d.len_of(len)?;
    let messages = d.sub(MessagePrefix::NAME, len)?;
    if form != MessageForm::V1 {
        verify_checksum(start, d)?;
    }
    Ok(Envelopes::new(messages, form))
}

/// Appends messages, gap and checksum of a chunk that began at `start`.
pub fn encode_chunk(
    e: &mut Encoder,
    start: usize,
    messages: &[OwnedMessage],
    gap: &[u8],
    form: MessageForm,
) -> Result<()> {
    messages.iter().try_for_each(|message| message.encode(e, form))?;
    e.bytes(gap);
    if form != MessageForm::V1 {
        append_checksum(e, start)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{self, structure_tests};

    const V2: MessageForm = MessageForm::V2 { creation_order_tracked: false };
    const TRACKED: MessageForm = MessageForm::V2 { creation_order_tracked: true };

    structure_tests!(MessagePrefix, context: MessageForm::V1,
    golden: [include_str!("../../../tests/golden/object_header_message_v1.hex")],
    values: [MessagePrefix {
        message_type: MessageType(0xabcd), size: 0xfff8, flags: MessageFlags(0xc1), creation_index: None,
    }]);

    #[test]
    fn round_trips_prefixes_of_version_2() {
        let plain = include_str!("../../../tests/golden/object_header_message_v2.hex");
        structure_tests::golden::<MessagePrefix>(&[plain], &V2);
        structure_tests::truncations::<MessagePrefix>(&[plain], &[], &V2);
        let tracked = include_str!("../../../tests/golden/object_header_message_v2_tracked.hex");
        structure_tests::golden::<MessagePrefix>(&[tracked], &TRACKED);
        structure_tests::truncations::<MessagePrefix>(&[tracked], &[], &TRACKED);
        structure_tests::damage::<MessagePrefix>(&[tracked], &[], &TRACKED);
    }

    fn messages(bytes: &[u8], form: MessageForm) -> Result<Vec<OwnedMessage>> {
        Envelopes::new(Decoder::new("t", 0x100, bytes), form).map(|m| m.map(Into::into)).collect()
    }

    #[test]
    fn messages_end_with_the_chunk_or_a_gap() {
        let bytes = [1, 2, 0, 0, 7, 8, 12, 0, 0, 0];
        assert_eq!(messages(&bytes, V2).unwrap().len(), 2);
        let mut envelopes = Envelopes::new(Decoder::new("t", 0x100, &[1, 1, 0, 0, 7, 9, 9, 9]), V2);
        let envelope = envelopes.next().unwrap().unwrap();
        assert_eq!((envelope.body, envelope.offset), (&[7][..], 0x104));
        assert!(envelopes.next().is_none());
        assert_eq!(envelopes.gap(), [9; 3]);
    }

    #[test]
    fn rejects_misplaced_gaps() {
        let beside_nil = messages(&[0, 1, 0, 0, 7, 9, 9, 9], V2).unwrap_err();
        assert_eq!(beside_nil.detail(), "3 bytes remain after the last message, expected 0");
        assert!(messages(&[1, 0, 0, 0, 0, 0, 0, 0, 9, 9], MessageForm::V1).is_err());
    }

    #[test]
    fn rejects_bodies_past_the_chunk_and_stops() {
        let mut envelopes = Envelopes::new(Decoder::new("t", 0, &[1, 9, 0, 0, 7]), V2);
        assert!(envelopes.next().unwrap().is_err());
        assert!(envelopes.next().is_none());
    }

    #[test]
    fn rejects_unaligned_and_contradictory_prefixes() {
        assert!(messages(&[1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0], MessageForm::V1).is_err());
        for flags in [0x06, 0x20, 0x38] {
            assert!(messages(&[1, 0, 0, flags], V2).is_err(), "{flags:#x}");
        }
        assert!(messages(&[0x10, 0, 0, MessageFlags::SHARED], V2).is_err());
        assert!(messages(&[0x03, 0, 0, MessageFlags::SHARED], V2).is_ok());
    }
}
