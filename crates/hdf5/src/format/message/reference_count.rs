//! Object Reference Count message, type 0x0016.
//!
//! Spec: HDF5 IV.A.2.w

use super::{HeaderMessage, MessageType};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// The number of hard links to an object, if it is more than one. Only in version 2 headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferenceCount {
    /// The number of hard links.
    pub count: u32,
}

impl Structure for ReferenceCount {
    type Context = Sizes;
    const NAME: &'static str = "Object Reference Count message";

    fn decode(d: &mut Decoder<'_>, _: &Sizes) -> Result<Self> {
        match d.u8()? {
            0 => Ok(ReferenceCount { count: d.u32()? }),
            other => Err(d.unsupported(format!("version {other}, expected 0"))),
        }
    }

    fn encode(&self, e: &mut Encoder, _: &Sizes) -> Result<()> {
        e.u8(0);
        e.u32(self.count);
        Ok(())
    }
}

impl HeaderMessage for ReferenceCount {
    const TYPE: MessageType = MessageType::REFERENCE_COUNT;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(ReferenceCount, context: Sizes::DEFAULT,
        golden: [include_str!("../../../tests/golden/message_reference_count.hex")],
        values: [ReferenceCount { count: u32::MAX }]);
}
