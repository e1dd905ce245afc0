//! Level 2: data object headers.
//!
//! Spec: HDF5 IV.A.1 Data Object Header Prefix

pub mod chunk_0;
pub mod continuation_block;
pub mod message;
pub mod prefix_v1;
pub mod prefix_v2;

pub use chunk_0::Chunk0;
pub use continuation_block::ContinuationBlock;
pub use message::{Envelope, Envelopes, MessageFlags, MessageForm, MessagePrefix, OwnedMessage};
pub use prefix_v1::PrefixV1;
pub use prefix_v2::PrefixV2;

use super::Structure;
use hyperslab_core::{Decoder, Encoder, Result};

/// The prefix of an object header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// Version 1.
    V1(PrefixV1),
    /// Version 2, `OHDR`.
    V2(PrefixV2),
}

impl Prefix {
    /// The maximum size of a prefix in bytes.
    pub const MAX_LEN: u64 = 34;

    /// The form of the messages after the prefix.
    pub fn message_form(&self) -> MessageForm {
        match self {
            Prefix::V1(_) => MessageForm::V1,
            Prefix::V2(prefix) => {
                MessageForm::V2 { creation_order_tracked: prefix.attribute_creation_order_tracked }
            }
        }
    }

    /// The size in bytes of the messages and the gap in chunk 0.
    pub fn chunk_0_size(&self) -> u64 {
        match self {
            Prefix::V1(prefix) => prefix.chunk_0_size.into(),
            Prefix::V2(prefix) => prefix.chunk_0_size,
        }
    }
}

impl Structure for Prefix {
    type Context = ();
    const NAME: &'static str = "Object Header";

    fn decode(d: &mut Decoder<'_>, context: &()) -> Result<Self> {
        if d.starts_with(PrefixV2::SIGNATURE) {
            PrefixV2::decode(d, context).map(Prefix::V2)
        } else {
            PrefixV1::decode(d, context).map(Prefix::V1)
        }
    }

    fn encode(&self, e: &mut Encoder, context: &()) -> Result<()> {
        match self {
            Prefix::V1(prefix) => prefix.encode(e, context),
            Prefix::V2(prefix) => prefix.encode(e, context),
        }
    }
}
