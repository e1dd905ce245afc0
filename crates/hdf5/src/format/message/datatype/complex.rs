//! Class 11: complex numbers.
//!
//! Spec: HDF5 IV.A.2.d, Class Specific Information for Complex

use super::{Datatype, DatatypeClass, Head, Version};
use hyperslab_core::{Decoder, Encoder, Result};

/// A complex number: the real part, then the imaginary part, of the same datatype. Other forms are not yet completely
/// specified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complex {
    /// The floating-point datatype of both parts.
    pub base: Box<Datatype>,
}

impl Complex {
    pub(super) fn decode(d: &mut Decoder<'_>, head: &Head<'_>) -> Result<Self> {
        if head.version < Version::V5 {
            return Err(head.at.malformed(format!("version {}, expected 5", head.version as u8)));
        }
        match head.bits {
            HOMOGENEOUS_RECTANGULAR => {}
            bits if bits & 1 == 0 => {
                return Err(head.at.unsupported("complex number with parts of different datatypes"));
            }
            bits if bits >> 1 & 3 != 0 => {
                return Err(head.at.unsupported("complex number in polar form, expected rectangular"));
            }
            bits => return Err(head.at.unsupported(format!("flags {bits:#x}"))),
        }
        let base = head.base(d)?;
        if !matches!(base.class, DatatypeClass::FloatingPoint(_)) {
            return Err(head.at.malformed("complex number with parts that are not floating-point"));
        }
        if base.size.checked_mul(2) != Some(head.size) {
            return Err(head.at.malformed(format!(
                "complex number of {} bytes, expected twice the part size {}",
                head.size, base.size
            )));
        }
        Ok(Complex { base })
    }

    pub(super) fn bits(&self) -> u32 {
        HOMOGENEOUS_RECTANGULAR
    }

    pub(super) fn encode(&self, e: &mut Encoder) -> Result<()> {
        self.base.encode_nested(e)
    }
}

const HOMOGENEOUS_RECTANGULAR: u32 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};
    use crate::format::{Sizes, Structure};
    use hyperslab_core::ErrorKind;

    const GOLDEN: &str = include_str!("../../../../tests/golden/message_datatype_complex_v5.hex");

    structure_tests!(Datatype, context: Sizes::DEFAULT, golden: [GOLDEN], values: []);

    #[test]
    fn rejects_other_forms_as_unsupported() {
        for (flags, kind) in
            [(0, ErrorKind::Unsupported), (3, ErrorKind::Unsupported), (9, ErrorKind::Unsupported)]
        {
            let mut bytes = hex(GOLDEN);
            bytes[1] = flags;
            let e = Datatype::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).unwrap_err();
            assert_eq!(e.kind(), kind);
        }
    }

    #[test]
    fn rejects_a_size_that_is_not_twice_the_part_size() {
        let mut bytes = hex(GOLDEN);
        bytes[4] += 1;
        assert!(Datatype::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).is_err());
    }
}
