//! Class 0: fixed-point numbers.
//!
//! Spec: HDF5 IV.A.2.d, Class Specific Information for Fixed-Point Numbers

use super::{ByteOrder, Head, bits};
use hyperslab_core::{Decoder, Encoder, Result};

/// An integer, signed or unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedPoint {
    /// The byte order.
    pub byte_order: ByteOrder,
    /// The value of unused bits below the number.
    pub low_padding: bool,
    /// The value of unused bits above the number.
    pub high_padding: bool,
    /// Whether the number is signed, in two's complement.
    pub signed: bool,
    /// The position of the lowest bit of the number.
    pub bit_offset: u16,
    /// The number of bits of the number.
    pub bit_precision: u16,
}

impl FixedPoint {
    pub(super) fn decode(d: &mut Decoder<'_>, head: &Head<'_>) -> Result<Self> {
        let (bit_offset, bit_precision) = (d.u16()?, d.u16()?);
        head.check_bits(bit_offset, bit_precision)?;
        Ok(FixedPoint {
            byte_order: head.byte_order(),
            low_padding: head.bit(LOW_PADDING),
            high_padding: head.bit(HIGH_PADDING),
            signed: head.bit(SIGNED),
            bit_offset,
            bit_precision,
        })
    }

    pub(super) fn bits(&self) -> u32 {
        self.byte_order.bits()
            | bits([
                (LOW_PADDING, self.low_padding),
                (HIGH_PADDING, self.high_padding),
                (SIGNED, self.signed),
            ])
    }

    pub(super) fn encode(&self, e: &mut Encoder) {
        e.u16(self.bit_offset);
        e.u16(self.bit_precision);
    }
}

const LOW_PADDING: u32 = 1;
const HIGH_PADDING: u32 = 2;
const SIGNED: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::message::datatype::{Datatype, DatatypeClass, Version};
    use crate::format::structure_tests::structure_tests;
    use crate::format::{Sizes, Structure};

    structure_tests!(Datatype, context: Sizes::DEFAULT,
    golden: [
        include_str!("../../../../tests/golden/message_datatype_fixed_point_v1.hex"),
        include_str!("../../../../tests/golden/message_datatype_fixed_point_v1_big_endian.hex"),
        include_str!("../../../../tests/golden/message_datatype_fixed_point_v1_padded.hex"),
    ],
    values: [Datatype {
        version: Version::V5,
        size: 3,
        class: DatatypeClass::FixedPoint(FixedPoint {
            byte_order: ByteOrder::BigEndian,
            low_padding: true,
            high_padding: false,
            signed: true,
            bit_offset: 7,
            bit_precision: 17,
        }),
    }]);

    #[test]
    fn rejects_bits_outside_of_the_element() {
        for (offset, precision, good) in
            [(0, 16, true), (0, 17, false), (8, 8, true), (9, 8, false), (0, 0, false)]
        {
            let bytes = [0x10, 0, 0, 0, 2, 0, 0, 0, offset, 0, precision, 0];
            let decoded = Datatype::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT);
            assert_eq!(decoded.is_ok(), good, "{offset} {precision}");
        }
    }
}
