//! Version 1 Data Object Header Prefix.
//!
//! Spec: HDF5 IV.A.1.a

use crate::format::Structure;
use hyperslab_core::{Decoder, Encoder, Result};

/// The prefix of a version 1 object header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefixV1 {
    /// The number of messages in all chunks. Some writers stored a wrong number.
    pub message_count: u16,
    /// The number of hard links to the object.
    pub reference_count: u32,
    /// The size of the messages in chunk 0 in bytes.
    pub chunk_0_size: u32,
}

impl Structure for PrefixV1 {
    type Context = ();
    const NAME: &'static str = "Version 1 Object Header";

    fn decode(d: &mut Decoder<'_>, _: &()) -> Result<Self> {
        let version = d.clone().u8()?;
        if version != 1 {
            return Err(d.unsupported(format!(
                "object header version {version} without the signature OHDR, expected 1"
            )));
        }
        d.reserved(2)?;
        let message_count = d.u16()?;
        let reference_count = d.u32()?;
        let at = d.clone();
        let chunk_0_size = d.u32()?;
        d.reserved(4)?;
        if (message_count == 0) != (chunk_0_size == 0) {
            return Err(at.malformed(format!(
                "{message_count} messages do not fit in the header size {chunk_0_size}"
            )));
        }
        Ok(PrefixV1 { message_count, reference_count, chunk_0_size })
    }

    fn encode(&self, e: &mut Encoder, _: &()) -> Result<()> {
        e.u8(1);
        e.reserved(1);
        e.u16(self.message_count);
        e.u32(self.reference_count);
        e.u32(self.chunk_0_size);
        e.reserved(4);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(PrefixV1, context: (),
        golden: [include_str!("../../../tests/golden/object_header_prefix_v1.hex")],
        values: [PrefixV1 { message_count: 0, reference_count: 7, chunk_0_size: 0 }]);
}
