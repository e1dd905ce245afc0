//! Bogus message, type 0x0009.
//!
//! Spec: HDF5 IV.A.2.j

use super::{HeaderMessage, MessageType};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// A message that libhdf5 writes only to test that readers ignore unknown messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bogus;

impl Structure for Bogus {
    type Context = Sizes;
    const NAME: &'static str = "Bogus message";

    fn decode(d: &mut Decoder<'_>, _: &Sizes) -> Result<Self> {
        let at = d.clone();
        match d.u32()? {
            VALUE => Ok(Bogus),
            other => Err(at.malformed(format!("value {other:#010x}, expected {VALUE:#010x}"))),
        }
    }

    fn encode(&self, e: &mut Encoder, _: &Sizes) -> Result<()> {
        e.u32(VALUE);
        Ok(())
    }
}

impl HeaderMessage for Bogus {
    const TYPE: MessageType = MessageType::BOGUS;
}

const VALUE: u32 = 0xdead_beef;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(Bogus, context: Sizes::DEFAULT, golden: [], values: [Bogus]);

    #[test]
    fn rejects_other_values() {
        assert!(Bogus::decode(&mut Decoder::new("t", 0, &[0; 4]), &Sizes::DEFAULT).is_err());
    }
}
