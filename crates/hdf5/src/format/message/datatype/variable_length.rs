//! Class 9: sequences and strings of variable length.
//!
//! Spec: HDF5 IV.A.2.d, Class Specific Information for Variable-Length

use super::{Datatype, Head, StringPadding};
use crate::format::message::character_set::CharacterSet;
use hyperslab_core::{Decoder, Encoder, Result};

/// A sequence or string of variable length, stored in the global heap. An element is a length and a heap ID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableLength {
    /// Whether it is a sequence or a string.
    pub kind: VariableLengthKind,
    /// The datatype of the items; for strings, of a character.
    pub base: Box<Datatype>,
}

/// The kind of a variable-length datatype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableLengthKind {
    /// A sequence of items of the base datatype.
    Sequence,
    /// A string.
    String {
        /// The padding of the string before it was stored.
        padding: StringPadding,
        /// The character set.
        character_set: CharacterSet,
    },
}

impl VariableLength {
    pub(super) fn decode(d: &mut Decoder<'_>, head: &Head<'_>) -> Result<Self> {
        let kind = match head.nibble(0) {
            0 => VariableLengthKind::Sequence,
            1 => VariableLengthKind::String {
                padding: StringPadding::from_code(head.nibble(4), &head.at)?,
                character_set: CharacterSet::from_code(head.nibble(8), &head.at)?,
            },
            other => {
                return Err(head.at.unsupported(format!("variable-length type {other}, expected 0 or 1")));
            }
        };
        Ok(VariableLength { kind, base: head.base(d)? })
    }

    pub(super) fn bits(&self) -> u32 {
        match self.kind {
            VariableLengthKind::Sequence => 0,
            VariableLengthKind::String { padding, character_set } => {
                1 | (padding as u32) << 4 | (character_set as u32) << 8
            }
        }
    }

    pub(super) fn encode(&self, e: &mut Encoder) -> Result<()> {
        self.base.encode_nested(e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Sizes;
    use crate::format::message::datatype::{DatatypeClass, Text, Version};
    use crate::format::structure_tests::structure_tests;

    structure_tests!(Datatype, context: Sizes::DEFAULT,
    golden: [
        include_str!("../../../../tests/golden/message_datatype_variable_length_v1_string.hex"),
        include_str!("../../../../tests/golden/message_datatype_variable_length_v1_sequence.hex"),
    ],
    values: [Datatype {
        version: Version::V3,
        size: 16,
        class: DatatypeClass::VariableLength(VariableLength {
            kind: VariableLengthKind::String {
                padding: StringPadding::SpacePad,
                character_set: CharacterSet::Utf8,
            },
            base: Box::new(Datatype {
                version: Version::V3,
                size: 1,
                class: DatatypeClass::String(Text {
                    padding: StringPadding::NullTerminate,
                    character_set: CharacterSet::Utf8,
                }),
            }),
        }),
    }]);
}
