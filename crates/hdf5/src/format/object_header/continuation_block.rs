//! Object Header Continuation Block.
//!
//! Spec: HDF5 IV.A.2.q The Object Header Continuation Message

use super::message::{Envelopes, MessageForm, OwnedMessage, chunk, encode_chunk};
use crate::format::Structure;
use hyperslab_core::{Decoder, Encoder, Result};

/// Messages of an object header that are not in chunk 0. The block fills the bytes that it is decoded from: only the
/// Continuation message stores its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContinuationBlock {
    /// The messages.
    pub messages: Vec<OwnedMessage>,
    /// The gap: bytes that are too few for a message.
    pub gap: Vec<u8>,
}

impl ContinuationBlock {
    /// The messages of the block in `d`, not yet decoded.
    pub fn envelopes<'a>(d: &mut Decoder<'a>, form: MessageForm) -> Result<Envelopes<'a>> {
        let start = d.clone();
        let mut len = d.remaining() as u64;
        if form != MessageForm::V1 {
            d.signature(SIGNATURE)?;
            let behind = SIGNATURE.len() as u64 + form.checksum_len();
            len = len.checked_sub(behind).ok_or_else(|| {
                start.malformed(format!(
                    "continuation block of {len} bytes, too few for signature and checksum"
                ))
            })?;
        }
        chunk(&start, d, len, form)
    }
}

impl Structure for ContinuationBlock {
    type Context = MessageForm;
    const NAME: &'static str = "Object Header Continuation Block";

    fn decode(d: &mut Decoder<'_>, form: &MessageForm) -> Result<Self> {
        let mut envelopes = ContinuationBlock::envelopes(d, *form)?;
        let messages = envelopes.by_ref().map(|e| e.map(Into::into)).collect::<Result<_>>()?;
        Ok(ContinuationBlock { messages, gap: envelopes.gap().to_vec() })
    }

    fn encode(&self, e: &mut Encoder, form: &MessageForm) -> Result<()> {
        let start = e.len();
        if *form != MessageForm::V1 {
            e.bytes(SIGNATURE);
        }
        encode_chunk(e, start, &self.messages, &self.gap, *form)
    }
}

const SIGNATURE: &[u8] = b"OCHK";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::message::MessageType;
    use crate::format::object_header::MessageFlags;
    use crate::format::structure_tests::{self, structure_tests};

    const TRACKED: MessageForm = MessageForm::V2 { creation_order_tracked: true };

    structure_tests!(ContinuationBlock, context: MessageForm::V2 { creation_order_tracked: false },
    golden: [include_str!("../../../tests/golden/object_header_continuation_block_v2.hex")],
    values: [ContinuationBlock {
        messages: vec![OwnedMessage {
            message_type: MessageType::COMMENT,
            flags: MessageFlags(0),
            creation_index: None,
            body: b"hello\0".to_vec(),
        }],
        gap: vec![1, 2, 3],
    }]);

    #[test]
    fn round_trips_other_forms() {
        let tracked = include_str!("../../../tests/golden/object_header_continuation_block_v2_tracked.hex");
        structure_tests::golden::<ContinuationBlock>(&[tracked], &TRACKED);
        structure_tests::truncations::<ContinuationBlock>(&[tracked], &[], &TRACKED);
        let v1 = include_str!("../../../tests/golden/object_header_continuation_block_v1.hex");
        structure_tests::golden::<ContinuationBlock>(&[v1], &MessageForm::V1);
        structure_tests::damage::<ContinuationBlock>(&[v1], &[], &MessageForm::V1);
    }

    #[test]
    fn bodies_of_version_1_must_be_padded() {
        let block = ContinuationBlock {
            messages: vec![OwnedMessage {
                message_type: MessageType::COMMENT,
                flags: MessageFlags(0),
                creation_index: None,
                body: b"hi\0".to_vec(),
            }],
            gap: vec![],
        };
        assert!(block.encode(&mut Encoder::new(), &MessageForm::V1).is_err());
    }
}
