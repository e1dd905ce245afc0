//! Class 2: times.
//!
//! Spec: HDF5 IV.A.2.d, Class Specific Information for Time

use super::{ByteOrder, Head};
use hyperslab_core::{Decoder, Encoder, Result};

/// A time. The specification does not define its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// The byte order.
    pub byte_order: ByteOrder,
    /// The number of bits.
    pub bit_precision: u16,
}

impl Time {
    pub(super) fn decode(d: &mut Decoder<'_>, head: &Head<'_>) -> Result<Self> {
        Ok(Time { byte_order: head.byte_order(), bit_precision: d.u16()? })
    }

    pub(super) fn bits(&self) -> u32 {
        self.byte_order.bits()
    }

    pub(super) fn encode(&self, e: &mut Encoder) {
        e.u16(self.bit_precision);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Sizes;
    use crate::format::message::datatype::{Datatype, DatatypeClass, Version};
    use crate::format::structure_tests::structure_tests;

    structure_tests!(Datatype, context: Sizes::DEFAULT,
    golden: [include_str!("../../../../tests/golden/message_datatype_time_v1.hex")],
    values: [Datatype {
        version: Version::V3,
        size: 8,
        class: DatatypeClass::Time(Time { byte_order: ByteOrder::BigEndian, bit_precision: 64 }),
    }]);
}
