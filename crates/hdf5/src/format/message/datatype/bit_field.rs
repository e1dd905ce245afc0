//! Class 4: bit fields.
//!
//! Spec: HDF5 IV.A.2.d, Class Specific Information for Bit Fields

use super::{ByteOrder, Head, bits};
use hyperslab_core::{Decoder, Encoder, Result};

/// A bit field: a set of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitField {
    /// The byte order.
    pub byte_order: ByteOrder,
    /// The value of unused bits below the set.
    pub low_padding: bool,
    /// The value of unused bits above the set.
    pub high_padding: bool,
    /// The position of the lowest bit of the set.
    pub bit_offset: u16,
    /// The number of bits in the set.
    pub bit_precision: u16,
}

impl BitField {
    pub(super) fn decode(d: &mut Decoder<'_>, head: &Head<'_>) -> Result<Self> {
        let (bit_offset, bit_precision) = (d.u16()?, d.u16()?);
        head.check_bits(bit_offset, bit_precision)?;
        Ok(BitField {
            byte_order: head.byte_order(),
            low_padding: head.bit(LOW_PADDING),
            high_padding: head.bit(HIGH_PADDING),
            bit_offset,
            bit_precision,
        })
    }

    pub(super) fn bits(&self) -> u32 {
        self.byte_order.bits() | bits([(LOW_PADDING, self.low_padding), (HIGH_PADDING, self.high_padding)])
    }

    pub(super) fn encode(&self, e: &mut Encoder) {
        e.u16(self.bit_offset);
        e.u16(self.bit_precision);
    }
}

const LOW_PADDING: u32 = 1;
const HIGH_PADDING: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Sizes;
    use crate::format::message::datatype::{Datatype, DatatypeClass, Version};
    use crate::format::structure_tests::structure_tests;

    structure_tests!(Datatype, context: Sizes::DEFAULT,
    golden: [include_str!("../../../../tests/golden/message_datatype_bit_field_v1.hex")],
    values: [Datatype {
        version: Version::V3,
        size: 2,
        class: DatatypeClass::BitField(BitField {
            byte_order: ByteOrder::BigEndian,
            low_padding: false,
            high_padding: true,
            bit_offset: 3,
            bit_precision: 9,
        }),
    }]);
}
