//! Level 2: header messages.
//!
//! Spec: HDF5 IV.A.2 Data Object Header Messages

pub mod attribute;
pub mod attribute_info;
pub mod bogus;
pub mod btree_k_values;
pub mod character_set;
pub mod comment;
pub mod continuation;
pub mod data_layout;
pub mod dataspace;
pub mod datatype;
mod dense_storage;
pub mod driver_info;
pub mod external_files;
pub mod file_space_info;
pub mod fill_value;
pub mod fill_value_old;
pub mod filter_pipeline;
pub mod group_info;
pub mod link;
pub mod link_info;
pub mod metadata_cache_image;
pub mod modification_time;
pub mod modification_time_old;
pub mod nil;
pub mod reference_count;
pub mod shared;
pub mod shared_message_table;
pub mod symbol_table;

use super::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};
use std::fmt;

/// A structure that is a message in object headers.
pub trait HeaderMessage: Structure<Context = Sizes> {
    /// The type code of the message.
    const TYPE: MessageType;

    /// Rejects values that are valid but are far more often caused by damage. For headers without checksum.
    ///
    /// # Errors
    /// If libhdf5 rejects the value there.
    fn check_unchecksummed(&self) -> Result<()> {
        Ok(())
    }
}

/// The type code of a header message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageType(pub u16);

impl MessageType {
    /// NIL: readers skip it.
    pub const NIL: MessageType = MessageType(0x00);
    /// Dataspace.
    pub const DATASPACE: MessageType = MessageType(0x01);
    /// Link Info.
    pub const LINK_INFO: MessageType = MessageType(0x02);
    /// Datatype.
    pub const DATATYPE: MessageType = MessageType(0x03);
    /// Data Storage - Fill Value (Old).
    pub const FILL_VALUE_OLD: MessageType = MessageType(0x04);
    /// Data Storage - Fill Value.
    pub const FILL_VALUE: MessageType = MessageType(0x05);
    /// Link.
    pub const LINK: MessageType = MessageType(0x06);
    /// Data Storage - External Data Files.
    pub const EXTERNAL_FILES: MessageType = MessageType(0x07);
    /// Data Layout.
    pub const DATA_LAYOUT: MessageType = MessageType(0x08);
    /// Bogus: written only by tests of the reference library.
    pub const BOGUS: MessageType = MessageType(0x09);
    /// Group Info.
    pub const GROUP_INFO: MessageType = MessageType(0x0a);
    /// Data Storage - Filter Pipeline.
    pub const FILTER_PIPELINE: MessageType = MessageType(0x0b);
    /// Attribute.
    pub const ATTRIBUTE: MessageType = MessageType(0x0c);
    /// Object Comment.
    pub const COMMENT: MessageType = MessageType(0x0d);
    /// Object Modification Time (Old).
    pub const MODIFICATION_TIME_OLD: MessageType = MessageType(0x0e);
    /// Shared Message Table.
    pub const SHARED_MESSAGE_TABLE: MessageType = MessageType(0x0f);
    /// Object Header Continuation.
    pub const CONTINUATION: MessageType = MessageType(0x10);
    /// Symbol Table.
    pub const SYMBOL_TABLE: MessageType = MessageType(0x11);
    /// Object Modification Time.
    pub const MODIFICATION_TIME: MessageType = MessageType(0x12);
    /// B-tree 'K' Values.
    pub const BTREE_K_VALUES: MessageType = MessageType(0x13);
    /// Driver Info.
    pub const DRIVER_INFO: MessageType = MessageType(0x14);
    /// Attribute Info.
    pub const ATTRIBUTE_INFO: MessageType = MessageType(0x15);
    /// Object Reference Count.
    pub const REFERENCE_COUNT: MessageType = MessageType(0x16);
    /// File Space Info.
    pub const FILE_SPACE_INFO: MessageType = MessageType(0x17);
    /// Metadata Cache Image, which the specification does not describe.
    pub const METADATA_CACHE_IMAGE: MessageType = MessageType(0x18);

    /// Whether this crate decodes messages of this type. Bogus is excluded: it stands for an unknown type.
    pub const fn is_known(self) -> bool {
        self.0 <= Self::METADATA_CACHE_IMAGE.0 && self.0 != Self::BOGUS.0
    }

    /// Whether messages of this type may be shared by several objects.
    pub const fn is_shareable(self) -> bool {
        matches!(
            self,
            Self::DATASPACE
                | Self::DATATYPE
                | Self::FILL_VALUE_OLD
                | Self::FILL_VALUE
                | Self::FILTER_PIPELINE
                | Self::ATTRIBUTE
        )
    }
}

/// Declares [`Message`] with a variant for each message structure.
macro_rules! messages {
    ($($name:ident($structure:ty)),* $(,)?) => {
        /// A message of any type.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "each variant is the structure of its name")]
        pub enum Message {
            $($name($structure),)*
            /// A message of a type that the specification does not define.
            Unknown { message_type: MessageType, bytes: Vec<u8> },
        }

        impl Message {
            /// Decodes a message that is not shared.
            pub fn decode(message_type: MessageType, d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
                match message_type {
                    $(<$structure>::TYPE => <$structure>::decode(d, sizes).map(Message::$name),)*
                    _ => Ok(Message::Unknown { message_type, bytes: d.rest().to_vec() }),
                }
            }

            /// Appends the bytes that [`Message::decode`] reads.
            pub fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
                match self {
                    $(Message::$name(message) => message.encode(e, sizes),)*
                    Message::Unknown { bytes, .. } => {
                        e.bytes(bytes);
                        Ok(())
                    }
                }
            }

            /// The type code of the message.
            pub fn message_type(&self) -> MessageType {
                match self {
                    $(Message::$name(_) => <$structure>::TYPE,)*
                    Message::Unknown { message_type, .. } => *message_type,
                }
            }
        }
    };
}

messages! {
    Nil(nil::Nil),
    Dataspace(dataspace::Dataspace),
    LinkInfo(link_info::LinkInfo),
    Datatype(datatype::Datatype),
    FillValueOld(fill_value_old::FillValueOld),
    FillValue(fill_value::FillValue),
    Link(link::Link),
    ExternalFiles(external_files::ExternalFiles),
    DataLayout(data_layout::DataLayout),
    Bogus(bogus::Bogus),
    GroupInfo(group_info::GroupInfo),
    FilterPipeline(filter_pipeline::FilterPipeline),
    Attribute(attribute::Attribute),
    Comment(comment::Comment),
    ModificationTimeOld(modification_time_old::ModificationTimeOld),
    SharedMessageTable(shared_message_table::SharedMessageTable),
    Continuation(continuation::Continuation),
    SymbolTable(symbol_table::SymbolTable),
    ModificationTime(modification_time::ModificationTime),
    BtreeKValues(btree_k_values::BtreeKValues),
    DriverInfo(driver_info::DriverInfo),
    AttributeInfo(attribute_info::AttributeInfo),
    ReferenceCount(reference_count::ReferenceCount),
    FileSpaceInfo(file_space_info::FileSpaceInfo),
    MetadataCacheImage(metadata_cache_image::MetadataCacheImage),
}

impl fmt::Debug for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#06x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_type_has_a_structure() {
        for code in 0..=MessageType::METADATA_CACHE_IMAGE.0 {
            let decoded = Message::decode(MessageType(code), &mut Decoder::new("t", 0, &[]), &Sizes::DEFAULT);
            assert!(!matches!(decoded, Ok(Message::Unknown { .. })), "{code}");
        }
    }

    #[test]
    fn unknown_messages_keep_their_bytes() {
        let unknown = MessageType(0x19);
        let message = Message::decode(unknown, &mut Decoder::new("t", 0, b"any"), &Sizes::DEFAULT).unwrap();
        assert_eq!(message.message_type(), unknown);
        let mut e = Encoder::new();
        message.encode(&mut e, &Sizes::DEFAULT).unwrap();
        assert_eq!(e.as_slice(), b"any");
    }
}
