//! Class 5: opaque bytes.
//!
//! Spec: HDF5 IV.A.2.d, Class Specific Information for Opaque

use super::Head;
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// Opaque bytes with a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque {
    /// The tag: a description of the bytes, without the NULs that pad it to a multiple of 8.
    pub tag: Vec<u8>,
}

impl Opaque {
    pub(super) fn decode(d: &mut Decoder<'_>, head: &Head<'_>) -> Result<Self> {
        let [len, ..] = head.bits.to_le_bytes();
        if !len.is_multiple_of(8) {
            return Err(head.at.malformed(format!("tag length {len}, expected a multiple of 8")));
        }
        let padded = d.take(len.into())?;
        let tag = padded.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
        Ok(Opaque { tag })
    }

    pub(super) fn bits(&self) -> Result<u32> {
        u8::try_from(self.tag.len().next_multiple_of(8))
            .map(u32::from)
            .map_err(|_| Error::invalid(format!("tag of {} bytes, expected at most 248", self.tag.len())))
    }

    pub(super) fn encode(&self, e: &mut Encoder) {
        let start = e.len();
        e.bytes(&self.tag);
        e.pad_to(start, 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::message::datatype::{Datatype, DatatypeClass, Version};
    use crate::format::structure_tests::structure_tests;
    use crate::format::{Sizes, Structure};

    fn opaque(tag: &[u8]) -> Datatype {
        Datatype { version: Version::V3, size: 5, class: DatatypeClass::Opaque(Opaque { tag: tag.to_vec() }) }
    }

    structure_tests!(Datatype, context: Sizes::DEFAULT,
        golden: [include_str!("../../../../tests/golden/message_datatype_opaque_v1.hex")],
        values: [opaque(b""), opaque(b"12345678"), opaque(&[b'x'; 248])]);

    #[test]
    fn rejects_long_tags() {
        assert!(opaque(&[b'x'; 249]).encode(&mut Encoder::new(), &Sizes::DEFAULT).is_err());
    }

    #[test]
    fn rejects_tags_that_are_not_padded() {
        let bytes = [0x15, 3, 0, 0, 1, 0, 0, 0, b'a', b'b', 0];
        assert!(Datatype::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).is_err());
    }
}
