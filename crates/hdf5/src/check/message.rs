//! Checks messages, where they are stored or where they are shared from.

use super::Checker;
use super::object_header::Header;
use super::reading::{Pointer, pointer};
use super::rule;
use crate::format::message::datatype::Datatype;
use crate::format::message::shared::{MessageLocation, SharedMessage};
use crate::format::message::{HeaderMessage, Message, MessageType};
use crate::format::object_header::MessagePrefix;
use crate::format::{Address, Structure};
use crate::navigate::object_header::{StoredMessage, resolve};
use hyperslab_core::{Decoder, Encoder, Result};
use std::rc::Rc;

/// Declares [`name`] for the structures of messages.
macro_rules! names {
    ($($module:ident::$structure:ident),* $(,)?) => {
        /// The name of the structure of a message type.
        pub(super) fn name(message_type: MessageType) -> &'static str {
            $(if message_type == <crate::format::message::$module::$structure as HeaderMessage>::TYPE {
                return <crate::format::message::$module::$structure as Structure>::NAME;
            })*
            MessagePrefix::NAME
        }
    };
}

names! {
    nil::Nil, dataspace::Dataspace, link_info::LinkInfo, datatype::Datatype, fill_value_old::FillValueOld,
    fill_value::FillValue, link::Link, external_files::ExternalFiles, data_layout::DataLayout, bogus::Bogus,
    group_info::GroupInfo, filter_pipeline::FilterPipeline, attribute::Attribute, comment::Comment,
    modification_time_old::ModificationTimeOld, shared_message_table::SharedMessageTable,
    continuation::Continuation, symbol_table::SymbolTable, modification_time::ModificationTime,
    btree_k_values::BtreeKValues, driver_info::DriverInfo, attribute_info::AttributeInfo,
    reference_count::ReferenceCount, file_space_info::FileSpaceInfo, metadata_cache_image::MetadataCacheImage,
}

impl Checker<'_> {
    /// Decodes a message of a header, shared or not.
    pub(super) fn message<S: HeaderMessage>(
        &mut self,
        header: &Header,
        message: &StoredMessage,
    ) -> Result<Option<S>> {
        if message.flags.is_shared() {
            return match self.shared(message)? {
                Some(shared) => self.resolve(&shared, pointer(S::NAME, message.offset)),
                None => Ok(None),
            };
        }
        let value: Option<S> = self.decode(message.offset, &message.body, &self.sizes())?;
        if let Some(value) = &value {
            self.check_kept(value, message);
            if let Err(error) = value.check_unchecksummed()
                && !header.is_version_2()
            {
                self.error_as(error, &rule::UNUSUAL_DATATYPE, Some(pointer(S::NAME, message.offset)))?;
            }
        }
        Ok(value)
    }

    /// Decodes a message of which only the layout is checked.
    pub(super) fn any_message(&mut self, _: &Header, message: &StoredMessage) -> Result<()> {
        if message.flags.is_shared() {
            return self.shared(message).map(drop);
        }
        let name = name(message.message_type);
        let mut d = Decoder::new(name, message.offset, &message.body);
        match Message::decode(message.message_type, &mut d, &self.sizes()) {
            Ok(_) => Ok(()),
            Err(error) => self.error(error),
        }
    }

    fn shared(&mut self, message: &StoredMessage) -> Result<Option<SharedMessage>> {
        self.decode(message.offset, &message.body, &self.sizes())
    }

    /// The shared message, whose use is counted.
    pub(super) fn resolve<S: HeaderMessage>(
        &mut self,
        shared: &SharedMessage,
        from: Pointer,
    ) -> Result<Option<S>> {
        match shared.location {
            MessageLocation::Heap(id) => self.shared_from_heap(&id, from),
            MessageLocation::Committed(address) => {
                if !self.is_address(address, from)
                    || !self.spend_raw(SHARED_HEADER, from.structure, from.byte)
                {
                    return Ok(None);
                }
                self.reach_by_message(address, from);
                match resolve(&self.reader, shared) {
                    Ok(value) => Ok(Some(value)),
                    Err(error) => {
                        self.error_as(error, &rule::SHARED_MESSAGE, Some(from))?;
                        Ok(None)
                    }
                }
            }
        }
    }

    /// The shared datatype. A committed one is decoded once, however many messages share it.
    pub(super) fn resolve_datatype(
        &mut self,
        shared: &SharedMessage,
        from: Pointer,
    ) -> Result<Option<Rc<Datatype>>> {
        let MessageLocation::Committed(address) = shared.location else {
            return Ok(self.resolve(shared, from)?.map(Rc::new));
        };
        if let Some(known) = self.types.get(&address.0) {
            let known = known.clone();
            self.reach_by_message(address, from);
            return Ok(known);
        }
        let resolved: Option<Rc<Datatype>> = self.resolve(shared, from)?.map(Rc::new);
        if self.types.len() < MAX_TYPES {
            self.types.insert(address.0, resolved.clone());
        }
        Ok(resolved)
    }

    /// Whether an address in a message is within the file.
    fn is_address(&mut self, address: Address, from: Pointer) -> bool {
        self.locate("shared message", address, 1, from).is_some()
    }

    /// Compares a message with its own encoding. Differences are in reserved fields or padding.
    fn check_kept<S: HeaderMessage>(&mut self, value: &S, message: &StoredMessage) {
        let mut e = Encoder::new();
        if value.encode(&mut e, &self.sizes()).is_err() {
            return;
        }
        let differs = e.as_slice().iter().zip(&message.body).position(|(written, found)| written != found);
        if let Some(at) = differs
            && e.as_slice().len() <= message.body.len()
        {
            let found = message.body.get(at).copied().unwrap_or_default();
            let byte = message.offset + at as u64;
            let text = format!("byte {at} of the message is {found:#04x}, but has no meaning there");
            self.report_bytes(&rule::RESERVED, S::NAME, byte, Some(1), text);
        }
    }
}

/// The bytes charged for a header that is shared from.
const SHARED_HEADER: u64 = 256;

/// The number of committed datatypes that are kept decoded.
const MAX_TYPES: usize = 256;
