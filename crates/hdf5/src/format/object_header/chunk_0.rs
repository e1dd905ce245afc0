//! Chunk 0 of an object header: the prefix and the messages after it.
//!
//! Spec: HDF5 IV.A.1 Data Object Header Prefix

use super::Prefix;
use super::message::{Envelopes, OwnedMessage, chunk, encode_chunk};
use crate::format::Structure;
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The part of an object header at the address of the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk0 {
    /// The prefix. Its size of chunk 0 is the size of messages and gap.
    pub prefix: Prefix,
    /// The messages.
    pub messages: Vec<OwnedMessage>,
    /// The gap: bytes that are too few for a message.
    pub gap: Vec<u8>,
}

impl Chunk0 {
    /// Decodes the prefix. Returns it with the messages, not yet decoded.
    pub fn envelopes<'a>(d: &mut Decoder<'a>) -> Result<(Prefix, Envelopes<'a>)> {
        let start = d.clone();
        let prefix = Prefix::decode(d, &())?;
        let form = prefix.message_form();
        let envelopes = chunk(&start, d, prefix.chunk_0_size(), form)?;
        Ok((prefix, envelopes))
    }
}

impl Structure for Chunk0 {
    type Context = ();
    const NAME: &'static str = "Object Header";

    fn decode(d: &mut Decoder<'_>, _: &()) -> Result<Self> {
        let (prefix, mut envelopes) = Chunk0::envelopes(d)?;
        let messages = envelopes.by_ref().map(|e| e.map(Into::into)).collect::<Result<_>>()?;
        Ok(Chunk0 { prefix, messages, gap: envelopes.gap().to_vec() })
    }

    fn encode(&self, e: &mut Encoder, context: &()) -> Result<()> {
        let start = e.len();
        self.prefix.encode(e, context)?;
        let behind_prefix = e.len();
        let form = self.prefix.message_form();
        encode_chunk(e, start, &self.messages, &self.gap, form)?;
        let len = (e.len() - behind_prefix) as u64 - form.checksum_len();
        if len != self.prefix.chunk_0_size() {
            return Err(Error::invalid(format!(
                "{len} bytes of messages, expected {} as in the prefix",
                self.prefix.chunk_0_size()
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::object_header::PrefixV1;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(Chunk0, context: (),
    golden: [
        include_str!("../../../tests/golden/object_header_v1.hex"),
        include_str!("../../../tests/golden/object_header_v2.hex"),
        include_str!("../../../tests/golden/object_header_v2_gap.hex"),
    ],
    values: [Chunk0 {
        prefix: Prefix::V1(PrefixV1 { message_count: 0, reference_count: 1, chunk_0_size: 0 }),
        messages: vec![],
        gap: vec![],
    }]);

    #[test]
    fn rejects_wrong_sizes_in_the_prefix() {
        let prefix = Prefix::V1(PrefixV1 { message_count: 1, reference_count: 1, chunk_0_size: 8 });
        let lie = Chunk0 { prefix, messages: vec![], gap: vec![] };
        assert!(lie.encode(&mut Encoder::new(), &()).is_err());
    }

    #[test]
    fn rejects_damage_by_the_checksum() {
        let mut bytes =
            crate::format::structure_tests::hex(include_str!("../../../tests/golden/object_header_v2.hex"));
        *bytes.last_mut().unwrap() ^= 1;
        let e = Chunk0::decode(&mut Decoder::new("t", 0, &bytes), &()).unwrap_err();
        assert_eq!(e.kind(), hyperslab_core::ErrorKind::Checksum);
    }
}
