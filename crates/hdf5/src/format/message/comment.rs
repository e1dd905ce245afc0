//! Object Comment message, type 0x000D.
//!
//! Spec: HDF5 IV.A.2.n

use super::{HeaderMessage, MessageType};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// A comment on an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The text, in an unknown character set.
    pub text: Vec<u8>,
}

impl Structure for Comment {
    type Context = Sizes;
    const NAME: &'static str = "Object Comment message";

    fn decode(d: &mut Decoder<'_>, _: &Sizes) -> Result<Self> {
        Ok(Comment { text: d.until_nul()?.to_vec() })
    }

    fn encode(&self, e: &mut Encoder, _: &Sizes) -> Result<()> {
        if self.text.contains(&0) {
            return Err(Error::invalid("comment contains NUL"));
        }
        e.bytes(&self.text);
        e.u8(0);
        Ok(())
    }
}

impl HeaderMessage for Comment {
    const TYPE: MessageType = MessageType::COMMENT;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(Comment, context: Sizes::DEFAULT,
        golden: [include_str!("../../../tests/golden/message_comment.hex")],
        values: [Comment { text: vec![] }]);

    #[test]
    fn rejects_text_with_nul() {
        let comment = Comment { text: b"a\0b".to_vec() };
        assert!(comment.encode(&mut Encoder::new(), &Sizes::DEFAULT).is_err());
    }
}
