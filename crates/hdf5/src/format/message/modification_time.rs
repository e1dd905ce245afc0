//! Object Modification Time message, type 0x0012.
//!
//! Spec: HDF5 IV.A.2.s

use super::{HeaderMessage, MessageType};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// The last modification time of an object with a version 1 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModificationTime {
    /// Seconds since 1970-01-01 00:00 UTC.
    pub seconds: u32,
}

impl Structure for ModificationTime {
    type Context = Sizes;
    const NAME: &'static str = "Object Modification Time message";

    fn decode(d: &mut Decoder<'_>, _: &Sizes) -> Result<Self> {
        let at = d.clone();
        let version = d.u8()?;
        if version != 1 {
            return Err(at.unsupported(format!("version {version}, expected 1")));
        }
        d.reserved(3)?;
        Ok(ModificationTime { seconds: d.u32()? })
    }

    fn encode(&self, e: &mut Encoder, _: &Sizes) -> Result<()> {
        e.u8(1);
        e.reserved(3);
        e.u32(self.seconds);
        Ok(())
    }
}

impl HeaderMessage for ModificationTime {
    const TYPE: MessageType = MessageType::MODIFICATION_TIME;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(ModificationTime, context: Sizes::DEFAULT,
        golden: [include_str!("../../../tests/golden/message_modification_time.hex")],
        values: [ModificationTime { seconds: u32::MAX }]);
}
