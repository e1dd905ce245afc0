//! Object Header Continuation message, type 0x0010.
//!
//! Spec: HDF5 IV.A.2.q

use super::{HeaderMessage, MessageType};
use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// The location of more messages of the same object header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Continuation {
    /// The address of the continuation block.
    pub address: Address,
    /// The size of the block in bytes, including signature and checksum.
    pub len: u64,
}

impl Structure for Continuation {
    type Context = Sizes;
    const NAME: &'static str = "Object Header Continuation message";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let address = sizes.address(d)?;
        let at = d.clone();
        let len = sizes.length(d)?;
        if len == 0 {
            return Err(at.malformed("continuation block size 0, expected 1 or more"));
        }
        Ok(Continuation { address, len })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        sizes.put_address(e, self.address)?;
        sizes.put_length(e, self.len)
    }
}

impl HeaderMessage for Continuation {
    const TYPE: MessageType = MessageType::CONTINUATION;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(Continuation, context: Sizes::DEFAULT,
        golden: [include_str!("../../../tests/golden/message_continuation.hex")],
        values: [Continuation { address: Address(0x1234), len: 0x78 }]);

    #[test]
    fn round_trips_with_narrow_sizes() {
        let sizes = Sizes { offsets: 4, lengths: 2 };
        crate::format::structure_tests::values(
            &[Continuation { address: Address(0x1234), len: 0x78 }],
            &sizes,
        );
    }
}
