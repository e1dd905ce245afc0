//! NIL message, type 0x0000.
//!
//! Spec: HDF5 IV.A.2.a

use super::{HeaderMessage, MessageType};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// Space in an object header without a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nil {
    /// The bytes of the space, which have no meaning.
    pub bytes: Vec<u8>,
}

impl Structure for Nil {
    type Context = Sizes;
    const NAME: &'static str = "NIL message";

    fn decode(d: &mut Decoder<'_>, _: &Sizes) -> Result<Self> {
        Ok(Nil { bytes: d.rest().to_vec() })
    }

    fn encode(&self, e: &mut Encoder, _: &Sizes) -> Result<()> {
        e.bytes(&self.bytes);
        Ok(())
    }
}

impl HeaderMessage for Nil {
    const TYPE: MessageType = MessageType::NIL;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(Nil, context: Sizes::DEFAULT,
        golden: [include_str!("../../../tests/golden/message_nil.hex")],
        values: [Nil { bytes: vec![1, 2, 3] }], open_ended);
}
