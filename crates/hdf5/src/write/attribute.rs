//! Attributes that are written.

use super::LibraryVersion;
use crate::format::Address;
use crate::format::message::attribute::Attribute;
use crate::format::message::character_set::CharacterSet;
use crate::format::message::dataspace::{Dataspace, Extent};
use crate::format::message::datatype::Datatype;
use crate::format::message::shared::{MaybeShared, MessageLocation, SharedMessage, Version};
use crate::reference::Reference;
use hyperslab_core::rows::Rows;
use hyperslab_core::{Error, Result};

/// The datatype of an attribute or a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDatatype {
    /// The type.
    pub datatype: Datatype,
    /// The address of the committed datatype that the object shares; `None` if the object has its own.
    pub committed: Option<Address>,
}

/// An attribute to be written.
#[derive(Clone, Debug)]
pub struct NewAttribute {
    /// The name.
    pub name: Vec<u8>,
    /// The character set of the name.
    pub character_set: CharacterSet,
    /// The datatype of its elements.
    pub datatype: NewDatatype,
    /// Its dimensions.
    pub extent: Extent,
    /// Its elements, as [`Converter`](crate::element::Converter) decodes them.
    pub value: Rows<Reference>,
}

impl NewDatatype {
    /// The location of the committed datatype.
    pub(super) fn shared(&self) -> Option<SharedMessage> {
        let location = MessageLocation::Committed(self.committed?);
        Some(SharedMessage { version: Version::V2, location })
    }
}

impl NewAttribute {
    /// The number of elements.
    pub(super) fn count(&self) -> Result<usize> {
        let count = self.extent.element_count().and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| Error::invalid("attribute with more elements than memory holds"))
    }

    /// The message of the attribute, whose elements are stored as `data`.
    pub(super) fn message(&self, low: LibraryVersion, data: Vec<u8>) -> Attribute {
        let shared = self.datatype.shared();
        Attribute {
            version: low.attribute(self.character_set, shared.is_some()),
            name: self.name.clone(),
            datatype: shared.map_or(MaybeShared::Here(self.datatype.datatype.clone()), MaybeShared::Shared),
            dataspace: MaybeShared::Here(Dataspace {
                version: low.dataspace(&self.extent),
                extent: self.extent.clone(),
            }),
            data,
        }
    }
}
