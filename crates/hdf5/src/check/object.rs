//! Checks objects: their messages, and the structures that these point to.

use super::Checker;
use super::object_header::Header;
use super::reading::pointer;
use super::rule;
use crate::format::Structure;
use crate::format::message::datatype::Datatype;
use crate::format::message::shared::SharedMessage;
use crate::format::message::{HeaderMessage, MessageType};
use crate::format::object_header::MessageFlags;
use crate::navigate::object_header::StoredMessage;
use hyperslab_core::Result;
use std::rc::Rc;

impl Checker<'_> {
    /// Checks an object and everything that only it owns.
    pub(super) fn object(&mut self, number: u32) -> Result<()> {
        self.current = number;
        let (address, from) = (self.objects.address(number), self.objects.from(number));
        let Some(header) = self.object_header(address, from)? else {
            self.complete = false;
            return Ok(());
        };
        self.objects.set_sound(number);
        let (count, structure, byte) = header.reference_count;
        self.objects.count(number, count, structure, byte);
        self.complete &= header.is_whole;
        self.check_repeated(&header);
        let has = |message_type| header.find(message_type).is_some();
        let cached = self.objects.cached(number);
        if has(MessageType::SYMBOL_TABLE) {
            self.old_group(&header, cached)?;
        } else if has(MessageType::LINK_INFO) {
            self.new_group(&header)?;
        } else if has(MessageType::DATASPACE) || has(MessageType::DATA_LAYOUT) {
            self.dataset(&header)?;
        } else if let Some(message) = header.find(MessageType::DATATYPE) {
            if let Some(datatype) = self.datatype_of(&header, message)? {
                self.check_datatype(&datatype, pointer(Datatype::NAME, message.offset));
            }
        } else if header.is_whole {
            let message = "the object is not a group, dataset or datatype by its messages";
            self.report(&rule::MISSING_MESSAGE, header.name(), header.byte, message);
        }
        self.attributes(&header)?;
        for message in header.messages() {
            if message.flags.any(MessageFlags::SHAREABLE) && !message.flags.is_shared() {
                self.keep_shareable(message.message_type, &message.body);
            }
            if is_only_laid_out(message.message_type) {
                self.any_message(&header, message)?;
            }
        }
        Ok(())
    }

    /// The datatype in a message of a header, shared or not.
    pub(super) fn datatype_of(
        &mut self,
        header: &Header,
        message: &StoredMessage,
    ) -> Result<Option<Rc<Datatype>>> {
        if !message.flags.any(MessageFlags::SHARED) {
            return Ok(self.message::<Datatype>(header, message)?.map(Rc::new));
        }
        let shared: Option<SharedMessage> = self.decode(message.offset, &message.body, &self.sizes())?;
        match shared {
            Some(shared) => self.resolve_datatype(&shared, pointer(Datatype::NAME, message.offset)),
            None => Ok(None),
        }
    }

    /// The message of a type that occurs once.
    pub(super) fn only<S: HeaderMessage>(&mut self, header: &Header) -> Result<Option<(S, u64)>> {
        let Some(message) = header.find(S::TYPE) else { return Ok(None) };
        Ok(self.message::<S>(header, message)?.map(|value| (value, message.offset)))
    }

    /// As [`Checker::only`], for messages that the object must have.
    pub(super) fn required<S: HeaderMessage>(&mut self, header: &Header) -> Result<Option<(S, u64)>> {
        if header.find(S::TYPE).is_none() {
            self.missing(header, S::NAME);
        }
        self.only(header)
    }

    pub(super) fn missing(&mut self, header: &Header, name: &str) {
        if header.is_whole {
            let message = format!("the object has no {name}");
            self.report(&rule::MISSING_MESSAGE, header.name(), header.byte, message);
        }
    }

    /// Checks that messages of most types occur once.
    fn check_repeated(&mut self, header: &Header) {
        let mut seen: Vec<MessageType> = Vec::new();
        for message in header.messages() {
            let message_type = message.message_type;
            if matches!(message_type, MessageType::LINK | MessageType::ATTRIBUTE) {
                continue;
            }
            if seen.contains(&message_type) {
                let text = format!("a second message of type {message_type}, of which the first counts");
                let name = super::message::name(message_type);
                self.report(&rule::DUPLICATE_MESSAGE, name, message.offset, text);
            } else {
                seen.push(message_type);
            }
        }
    }
}

/// Checks messages that no other check depends on.
fn is_only_laid_out(message_type: MessageType) -> bool {
    matches!(
        message_type,
        MessageType::BOGUS
            | MessageType::COMMENT
            | MessageType::MODIFICATION_TIME
            | MessageType::MODIFICATION_TIME_OLD
            | MessageType::GROUP_INFO
    )
}
