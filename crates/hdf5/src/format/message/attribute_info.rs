//! Attribute Info message, type 0x0015.
//!
//! Spec: HDF5 IV.A.2.v

use super::dense_storage::{Flags, decode_places, encode_places};
use super::{HeaderMessage, MessageType};
use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// The locations of the attributes of an object that are not stored in its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeInfo {
    /// The largest creation index that an attribute has had, if creation order is tracked.
    pub maximum_creation_index: Option<u16>,
    /// The address of the fractal heap of the attributes; undefined if they are stored in the header.
    pub heap: Address,
    /// The address of the version 2 B-tree that indexes attributes by name.
    pub name_index: Address,
    /// The address of the version 2 B-tree that indexes attributes by creation order, if there is one.
    pub creation_order_index: Option<Address>,
}

impl Structure for AttributeInfo {
    type Context = Sizes;
    const NAME: &'static str = "Attribute Info message";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let flags = Flags::decode(d)?;
        let maximum_creation_index = if flags.tracked { Some(d.u16()?) } else { None };
        let (heap, name_index, creation_order_index) = decode_places(d, sizes, flags)?;
        Ok(AttributeInfo { maximum_creation_index, heap, name_index, creation_order_index })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        let tracked = self.maximum_creation_index.is_some();
        Flags { tracked, indexed: self.creation_order_index.is_some() }.encode(e);
        if let Some(index) = self.maximum_creation_index {
            e.u16(index);
        }
        encode_places(e, sizes, (self.heap, self.name_index, self.creation_order_index))
    }
}

impl HeaderMessage for AttributeInfo {
    const TYPE: MessageType = MessageType::ATTRIBUTE_INFO;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(AttributeInfo, context: Sizes::DEFAULT,
    golden: [
        include_str!("../../../tests/golden/message_attribute_info.hex"),
        include_str!("../../../tests/golden/message_attribute_info_dense.hex"),
        include_str!("../../../tests/golden/message_attribute_info_indexed.hex"),
    ],
    values: [AttributeInfo {
        maximum_creation_index: None,
        heap: Address(1),
        name_index: Address(2),
        creation_order_index: Some(Address(3)),
    }]);
}
