//! Class 3: strings of fixed length.
//!
//! Spec: HDF5 IV.A.2.d, Class Specific Information for Strings

use super::Head;
use crate::format::message::character_set::CharacterSet;
use hyperslab_core::{Decoder, Result};

/// A string of fixed length: the size of the element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// The padding of shorter strings.
    pub padding: StringPadding,
    /// The character set.
    pub character_set: CharacterSet,
}

/// The padding of strings that are shorter than the element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StringPadding {
    /// Null-terminated: the string ends at the first NUL.
    NullTerminate = 0,
    /// Padded with NULs. A string of full length has none.
    NullPad = 1,
    /// Padded with spaces, as in Fortran.
    SpacePad = 2,
}

impl Text {
    pub(super) fn decode(head: &Head<'_>) -> Result<Self> {
        let padding = StringPadding::from_code(head.nibble(0), &head.at)?;
        let character_set = CharacterSet::from_code(head.nibble(4), &head.at)?;
        Ok(Text { padding, character_set })
    }

    pub(super) fn bits(&self) -> u32 {
        self.padding as u32 | (self.character_set as u32) << 4
    }
}

impl StringPadding {
    pub(super) fn from_code(code: u8, at: &Decoder<'_>) -> Result<Self> {
        match code {
            0 => Ok(StringPadding::NullTerminate),
            1 => Ok(StringPadding::NullPad),
            2 => Ok(StringPadding::SpacePad),
            other => Err(at.unsupported(format!("string padding {other}, expected 0 to 2"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Sizes;
    use crate::format::message::datatype::{Datatype, DatatypeClass, Version};
    use crate::format::structure_tests::structure_tests;

    structure_tests!(Datatype, context: Sizes::DEFAULT,
    golden: [
        include_str!("../../../../tests/golden/message_datatype_string_v1.hex"),
        include_str!("../../../../tests/golden/message_datatype_string_v1_utf8.hex"),
    ],
    values: [Datatype {
        version: Version::V3,
        size: 5,
        class: DatatypeClass::String(Text {
            padding: StringPadding::SpacePad,
            character_set: CharacterSet::Utf8,
        }),
    }]);
}
