//! Link Info message, type 0x0002.
//!
//! Spec: HDF5 IV.A.2.c

use super::{HeaderMessage, MessageType};
use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// Where the links of a group are, if not in its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkInfo {
    /// The greatest creation index that was given to a link, if creation order is tracked.
    pub maximum_creation_index: Option<i64>,
    /// The fractal heap of the links; undefined if they are messages of the header.
    pub heap: Address,
    /// The version 2 B-tree of their names.
    pub name_index: Address,
    /// The version 2 B-tree of their creation order, if it is indexed.
    pub creation_order_index: Option<Address>,
}

impl Structure for LinkInfo {
    type Context = Sizes;
    const NAME: &'static str = "Link Info message";

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
        let mut maximum_creation_index = None;
        if flags & TRACKED != 0 {
            let at = d.clone();
            let index = d.i64()?;
            if index < 0 {
                return Err(at.malformed(format!("maximum creation index {index}")));
            }
            maximum_creation_index = Some(index);
        }
        Ok(LinkInfo {
            maximum_creation_index,
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
            if index < 0 {
                return Err(Error::invalid(format!("maximum creation index {index}")));
            }
            e.i64(index);
        }
        sizes.put_address(e, self.heap)?;
        sizes.put_address(e, self.name_index)?;
        self.creation_order_index.map_or(Ok(()), |address| sizes.put_address(e, address))
    }
}

impl HeaderMessage for LinkInfo {
    const TYPE: MessageType = MessageType::LINK_INFO;
}

const TRACKED: u8 = 1;
const INDEXED: u8 = 2;

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
