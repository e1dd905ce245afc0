//! Data Storage - Fill Value (Old) message, type 0x0004.
//!
//! Spec: HDF5 IV.A.2.e

use super::{HeaderMessage, MessageType};
use crate::format::{Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// The fill value as libhdf5 before 1.6 stored it. A dataset may have both fill value messages; then the new one
/// applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FillValueOld {
    /// The bytes of one element; empty for the default fill value.
    pub value: Vec<u8>,
}

impl Structure for FillValueOld {
    type Context = Sizes;
    const NAME: &'static str = "Fill Value (Old) message";

    fn decode(d: &mut Decoder<'_>, _: &Sizes) -> Result<Self> {
        let len = d.u32()?;
        let len = d.len_of(len.into())?;
        Ok(FillValueOld { value: d.take(len)?.to_vec() })
    }

    fn encode(&self, e: &mut Encoder, _: &Sizes) -> Result<()> {
        e.len_as(4, self.value.len())?;
        e.bytes(&self.value);
        Ok(())
    }
}

impl HeaderMessage for FillValueOld {
    const TYPE: MessageType = MessageType::FILL_VALUE_OLD;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(FillValueOld, context: Sizes::DEFAULT,
        golden: [include_str!("../../../tests/golden/message_fill_value_old.hex")],
        values: [FillValueOld { value: vec![] }]);
}
