//! Object Modification Time (Old) message, type 0x000E.
//!
//! Spec: HDF5 IV.A.2.o

use super::{HeaderMessage, MessageType};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The last modification time of an object, as libhdf5 before 1.6.1 stored it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModificationTimeOld {
    /// Year, month, day, hour, minute and second as digits: `YYYYMMDDhhmmss`, in UTC.
    pub digits: [u8; 14],
}

impl Structure for ModificationTimeOld {
    type Context = Sizes;
    const NAME: &'static str = "Object Modification Time (Old) message";

    fn decode(d: &mut Decoder<'_>, _: &Sizes) -> Result<Self> {
        let at = d.clone();
        let digits: [u8; 14] = d.array()?;
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(
                at.malformed(format!("time {:?}, expected 14 digits", String::from_utf8_lossy(&digits)))
            );
        }
        d.reserved(2)?;
        Ok(ModificationTimeOld { digits })
    }

    fn encode(&self, e: &mut Encoder, _: &Sizes) -> Result<()> {
        if !self.digits.iter().all(u8::is_ascii_digit) {
            return Err(Error::invalid("modification time with a character that is not a digit"));
        }
        e.bytes(&self.digits);
        e.reserved(2);
        Ok(())
    }
}

impl HeaderMessage for ModificationTimeOld {
    const TYPE: MessageType = MessageType::MODIFICATION_TIME_OLD;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(ModificationTimeOld, context: Sizes::DEFAULT, golden: [],
        values: [ModificationTimeOld { digits: *b"20021224235959" }]);

    #[test]
    fn rejects_characters_that_are_not_digits() {
        let decode =
            |bytes: &[u8]| ModificationTimeOld::decode(&mut Decoder::new("t", 0, bytes), &Sizes::DEFAULT);
        assert!(decode(b"2002122423595X\0\0").is_err());
        assert!(
            ModificationTimeOld { digits: [b' '; 14] }.encode(&mut Encoder::new(), &Sizes::DEFAULT).is_err()
        );
    }
}
