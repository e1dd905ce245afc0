//! Link Info message, type 0x0002.
//!
//! Spec: HDF5 IV.A.2.c

use super::dense_storage::{Flags, decode_places, encode_places};
use super::{HeaderMessage, MessageType};
use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The locations of the links of a group that are not stored in its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkInfo {
    /// The largest creation index that a link has had, if creation order is tracked.
    pub maximum_creation_index: Option<i64>,
    /// The address of the fractal heap of the links; undefined if they are stored in the header.
    pub heap: Address,
    /// The address of the version 2 B-tree that indexes links by name.
    pub name_index: Address,
    /// The address of the version 2 B-tree that indexes links by creation order, if there is one.
    pub creation_order_index: Option<Address>,
}

impl Structure for LinkInfo {
    type Context = Sizes;
    const NAME: &'static str = "Link Info message";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let flags = Flags::decode(d)?;
        let mut maximum_creation_index = None;
        if flags.tracked {
            let at = d.clone();
            let index = d.i64()?;
            if index < 0 {
                return Err(at.malformed(format!("maximum creation index {index}, expected 0 or more")));
            }
            maximum_creation_index = Some(index);
        }
        let (heap, name_index, creation_order_index) = decode_places(d, sizes, flags)?;
        Ok(LinkInfo { maximum_creation_index, heap, name_index, creation_order_index })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        let tracked = self.maximum_creation_index.is_some();
        Flags { tracked, indexed: self.creation_order_index.is_some() }.encode(e);
        if let Some(index) = self.maximum_creation_index {
            if index < 0 {
                return Err(Error::invalid(format!("maximum creation index {index}, expected 0 or more")));
            }
            e.i64(index);
        }
        encode_places(e, sizes, (self.heap, self.name_index, self.creation_order_index))
    }
}

impl HeaderMessage for LinkInfo {
    const TYPE: MessageType = MessageType::LINK_INFO;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(LinkInfo, context: Sizes::DEFAULT,
    golden: [
        include_str!("../../../tests/golden/message_link_info.hex"),
        include_str!("../../../tests/golden/message_link_info_dense.hex"),
        include_str!("../../../tests/golden/message_link_info_indexed.hex"),
    ],
    values: [LinkInfo {
        maximum_creation_index: Some(i64::MAX),
        heap: Address(1),
        name_index: Address(2),
        creation_order_index: None,
    }]);

    #[test]
    fn rejects_negative_creation_indexes() {
        let mut bytes = vec![0, 1];
        bytes.extend([0xff; 24]);
        assert!(LinkInfo::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).is_err());
    }
}
