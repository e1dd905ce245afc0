//! Checks object headers: prefix, chunks and messages.

use super::Checker;
use super::reading::{Pointer, pointer};
use super::rule;
use crate::format::message::MessageType;
use crate::format::message::continuation::Continuation;
use crate::format::message::reference_count::ReferenceCount;
use crate::format::object_header::{
    Chunk0, ContinuationBlock, Envelopes, MessageFlags, MessageForm, MessagePrefix, Prefix,
};
use crate::format::{Address, Structure, checksum};
use crate::navigate::object_header::StoredMessage;
use bytes::Bytes;
use hyperslab_core::{Decoder, Result};

/// The part of a header that could be read.
pub(super) struct Header {
    prefix: Prefix,
    messages: Vec<StoredMessage>,
    /// The number of links that it states, and the offset of that field.
    pub(super) reference_count: (u32, &'static str, u64),
    /// The file offset of the header.
    pub(super) byte: u64,
    /// Whether all messages could be separated.
    pub(super) is_whole: bool,
}

impl Header {
    /// All messages except NIL, continuations and unknown ones.
    pub(super) fn messages(&self) -> &[StoredMessage] {
        &self.messages
    }

    pub(super) fn find(&self, message_type: MessageType) -> Option<&StoredMessage> {
        self.messages.iter().find(|message| message.message_type == message_type)
    }

    pub(super) fn is_version_2(&self) -> bool {
        matches!(self.prefix, Prefix::V2(_))
    }

    pub(super) fn attribute_order(&self) -> (bool, bool) {
        match &self.prefix {
            Prefix::V1(_) => (false, false),
            Prefix::V2(prefix) => {
                (prefix.attribute_creation_order_tracked, prefix.attribute_creation_order_indexed)
            }
        }
    }

    /// The name of the structure at the beginning.
    pub(super) fn name(&self) -> &'static str {
        prefix_name(&self.prefix)
    }
}

fn prefix_name(prefix: &Prefix) -> &'static str {
    use crate::format::object_header::{PrefixV1, PrefixV2};
    match prefix {
        Prefix::V1(_) => PrefixV1::NAME,
        Prefix::V2(_) => PrefixV2::NAME,
    }
}

impl Checker<'_> {
    /// Reads the header at `address`. If there is none, the structure that points to it is at fault.
    pub(super) fn object_header(&mut self, address: Address, from: Pointer) -> Result<Option<Header>> {
        let Some((byte, first)) = self.bytes_up_to(Chunk0::NAME, address, Prefix::MAX_LEN, from)? else {
            return Ok(None);
        };
        let mut d = Decoder::new(Chunk0::NAME, byte, &first);
        let prefix = match Prefix::decode(&mut d, &()) {
            Ok(prefix) => prefix,
            Err(error) => {
                let looks_like_one = first.starts_with(b"OHDR") || first.starts_with(&[1, 0]);
                match looks_like_one {
                    true => self.error(error)?,
                    false => {
                        let message = format!("no object header is at {address}: {}", error.detail());
                        self.report(&rule::LINK_TARGET, from.structure, from.byte, message);
                    }
                }
                return Ok(None);
            }
        };
        let name = prefix_name(&prefix);
        let prefix_len = (first.len() - d.remaining()) as u64;
        let form = prefix.message_form();
        let len = prefix_len.saturating_add(prefix.chunk_0_size()).saturating_add(form.checksum_len());
        let here = pointer(name, byte);
        let Some((_, bytes)) = self.owned_bytes(name, address, len, here)? else { return Ok(None) };
        let reference_count = match &prefix {
            Prefix::V1(prefix) => (prefix.reference_count, name, byte + 4),
            Prefix::V2(_) => (1, name, byte),
        };
        let mut header = Header { prefix, messages: Vec::new(), reference_count, byte, is_whole: true };
        let mut gathering = Gathering { form, continuations: Vec::new(), count: 0 };
        self.header_chunk(&mut header, &mut gathering, byte, prefix_len, &bytes)?;
        self.check_first_count(&header, &gathering);
        let mut next = 0;
        while let Some((block, from)) = gathering.continuations.get(next).copied() {
            next += 1;
            self.continuation(&mut header, &mut gathering, block, from)?;
        }
        if let Prefix::V1(prefix) = &header.prefix
            && header.is_whole
            && u64::from(prefix.message_count) != gathering.count
        {
            let message = format!(
                "{} messages according to the prefix, found {}",
                prefix.message_count, gathering.count
            );
            self.report_bytes(&rule::MESSAGE_COUNT, header.name(), byte + 2, Some(2), message);
        }
        Ok(Some(header))
    }

    /// libhdf5 refuses a header with more messages in its first chunk than its prefix states in all.
    fn check_first_count(&mut self, header: &Header, gathering: &Gathering) {
        if let Prefix::V1(prefix) = &header.prefix
            && gathering.count > u64::from(prefix.message_count)
        {
            let message = format!(
                "{} messages in chunk 0, expected at most {} as in the prefix",
                gathering.count, prefix.message_count
            );
            self.report_bytes(&rule::MALFORMED, header.name(), header.byte + 2, Some(2), message);
        }
    }

    fn continuation(
        &mut self,
        header: &mut Header,
        gathering: &mut Gathering,
        block: Continuation,
        from: Pointer,
    ) -> Result<()> {
        const NAME: &str = ContinuationBlock::NAME;
        let Some((byte, bytes)) = self.owned_bytes(NAME, block.address, block.len, from)? else {
            header.is_whole = false;
            return Ok(());
        };
        let mut prefix_len = 0;
        if gathering.form != MessageForm::V1 {
            let mut d = Decoder::new(NAME, byte, &bytes);
            if let Err(error) = d.signature(b"OCHK") {
                header.is_whole = false;
                return self.error(error);
            }
            prefix_len = 4;
        }
        self.header_chunk(header, gathering, byte, prefix_len, &bytes)
    }

    /// The messages of a chunk, which begin `prefix_len` bytes after its start.
    fn header_chunk(
        &mut self,
        header: &mut Header,
        gathering: &mut Gathering,
        byte: u64,
        prefix_len: u64,
        bytes: &Bytes,
    ) -> Result<()> {
        let form = gathering.form;
        let start = usize::try_from(prefix_len).unwrap_or(usize::MAX);
        let end = bytes.len().saturating_sub(if form == MessageForm::V1 { 0 } else { 4 });
        let Some(messages) = bytes.get(start..end) else {
            header.is_whole = false;
            let message = format!("{} bytes are too few for a chunk", bytes.len());
            self.report(&rule::MALFORMED, ContinuationBlock::NAME, byte, message);
            return Ok(());
        };
        if form != MessageForm::V1 {
            let name = if start == 4 { ContinuationBlock::NAME } else { header.name() };
            self.chunk_checksum(name, byte, bytes, end);
        }
        let at = byte.saturating_add(prefix_len);
        let d = Decoder::new(MessagePrefix::NAME, at, messages);
        for envelope in Envelopes::new(d, form) {
            let envelope = match envelope {
                Ok(envelope) => envelope,
                Err(error) => {
                    header.is_whole = false;
                    self.error(error)?;
                    continue;
                }
            };
            gathering.count += 1;
            let message = StoredMessage {
                message_type: envelope.prefix.message_type,
                flags: envelope.prefix.flags,
                creation_index: envelope.prefix.creation_index,
                body: bytes.slice_ref(envelope.body),
                offset: envelope.offset,
            };
            self.gather(header, gathering, message)?;
        }
        Ok(())
    }

    fn chunk_checksum(&mut self, name: &'static str, byte: u64, bytes: &[u8], end: usize) {
        let (Some(covered), Some(stored)) =
            (bytes.get(..end), bytes.get(end..).and_then(|s| s.first_chunk()))
        else {
            return;
        };
        let (stored, computed) = (u32::from_le_bytes(*stored), checksum::lookup3(covered));
        if stored != computed {
            let message = format!("checksum mismatch: stored {stored:#010x}, computed {computed:#010x}");
            self.report_bytes(&rule::CHECKSUM, name, byte + end as u64, Some(4), message);
        }
    }

    fn gather(
        &mut self,
        header: &mut Header,
        gathering: &mut Gathering,
        message: StoredMessage,
    ) -> Result<()> {
        const NAME: &str = MessagePrefix::NAME;
        let (message_type, flags) = (message.message_type, message.flags);
        let len = message.body.len() as u64;
        self.part(super::message::name(message_type), message.offset, len);
        if flags.any(MessageFlags::WAS_UNKNOWN) {
            let text =
                format!("message type {message_type} was unknown to the software that modified the object");
            self.report(&rule::MODIFIED_UNKNOWING, NAME, message.offset, text);
        }
        if !message_type.is_known() && message_type != MessageType::BOGUS {
            let rule = match flags.any(MessageFlags::FAIL_IF_UNKNOWN) {
                true => &rule::UNKNOWN_MESSAGE_FATAL,
                false => &rule::UNKNOWN_MESSAGE,
            };
            let text = format!("message type {message_type} of {len} bytes");
            self.report_bytes(rule, NAME, message.offset, Some(len), text);
            return Ok(());
        }
        match message_type {
            MessageType::NIL => {}
            MessageType::CONTINUATION => match self.decode(message.offset, &message.body, &self.sizes())? {
                Some(block) => {
                    let from = pointer(Continuation::NAME, message.offset);
                    gathering.continuations.push((block, from));
                }
                None => header.is_whole = false,
            },
            MessageType::REFERENCE_COUNT => {
                if !header.is_version_2() {
                    let text = "a version 1 header has its reference count in the prefix";
                    self.report(&rule::MALFORMED, ReferenceCount::NAME, message.offset, text);
                } else if let Some(found) =
                    self.decode::<ReferenceCount>(message.offset, &message.body, &self.sizes())?
                {
                    header.reference_count = (found.count, ReferenceCount::NAME, message.offset + 1);
                }
            }
            _ if header.messages.len() < MAX_MESSAGES => header.messages.push(message),
            _ if header.is_whole => {
                header.is_whole = false;
                let text = format!("more than {MAX_MESSAGES} messages, the others are not checked");
                self.report(&rule::LIMIT, header.name(), header.byte, text);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The state of reading the chunks of a header.
struct Gathering {
    form: MessageForm,
    continuations: Vec<(Continuation, Pointer)>,
    /// All messages so far.
    count: u64,
}

/// More messages than libhdf5 can write to a header.
const MAX_MESSAGES: usize = 1 << 17;
