//! Attribute Info message, type 0x0015.
//!
//! Spec: HDF5 IV.A.2.v

use super::{HeaderMessage, MessageType};
use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// Where the attributes of an object are, if not in its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeInfo {
    /// The greatest creation index that was given to an attribute, if creation order is tracked.
    pub maximum_creation_index: Option<u16>,
    /// The fractal heap of the attributes; undefined if they are messages of the header.
    pub heap: Address,
    /// The version 2 B-tree of their names.
    pub name_index: Address,
    /// The version 2 B-tree of their creation order, if it is indexed.
    pub creation_order_index: Option<Address>,
}

impl Structure for AttributeInfo {
    type Context = Sizes;
    const NAME: &'static str = "Attribute Info message";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let at = d.clone();
        let version = d.u8()?;
        if version != 0 {
            return Err(at.unsupported(format!("version {version}, expected 0")));
        }
        let at = d.clone();
        let flags = d.u8()?;
        if flags & !(TRACKED | INDEXED) != 0 {
            return Err(at.unsupported(format!("flags {flags:#04x}")));
        }
        Ok(AttributeInfo {
            maximum_creation_index: if flags & TRACKED != 0 { Some(d.u16()?) } else { None },
            heap: sizes.address(d)?,
            name_index: sizes.address(d)?,
            creation_order_index: if flags & INDEXED != 0 { Some(sizes.address(d)?) } else { None },
        })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        e.u8(0);
        let tracked = if self.maximum_creation_index.is_some() { TRACKED } else { 0 };
        let indexed = if self.creation_order_index.is_some() { INDEXED } else { 0 };
        e.u8(tracked | indexed);
        if let Some(index) = self.maximum_creation_index {
            e.u16(index);
        }
        sizes.put_address(e, self.heap)?;
        sizes.put_address(e, self.name_index)?;
        self.creation_order_index.map_or(Ok(()), |address| sizes.put_address(e, address))
    }
}

impl HeaderMessage for AttributeInfo {
    const TYPE: MessageType = MessageType::ATTRIBUTE_INFO;
}

const TRACKED: u8 = 1;
const INDEXED: u8 = 2;

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
