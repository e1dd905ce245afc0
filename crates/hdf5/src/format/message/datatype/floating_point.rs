//! Class 1: floating-point numbers.
//!
//! Spec: HDF5 IV.A.2.d, Class Specific Information for Floating-Point Numbers

use super::{Head, Version, bits};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// A floating-point number, described bit by bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatingPoint {
    /// The byte order.
    pub byte_order: FloatByteOrder,
    /// The value of unused bits below the number.
    pub low_padding: bool,
    /// The value of unused bits above the number.
    pub high_padding: bool,
    /// The value of unused bits within the number.
    pub internal_padding: bool,
    /// Whether the highest bit of the mantissa is stored.
    pub normalization: Normalization,
    /// The position of the sign bit.
    pub sign_location: u8,
    /// The position of the lowest bit of the number.
    pub bit_offset: u16,
    /// The number of bits of the number.
    pub bit_precision: u16,
    /// The position of the lowest bit of the exponent.
    pub exponent_location: u8,
    /// The number of bits of the exponent.
    pub exponent_size: u8,
    /// The position of the lowest bit of the mantissa.
    pub mantissa_location: u8,
    /// The number of bits of the mantissa.
    pub mantissa_size: u8,
    /// The bias, which is added to the exponent when it is stored.
    pub exponent_bias: u32,
}

/// The byte order of a floating-point number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatByteOrder {
    /// The least significant byte first.
    LittleEndian,
    /// The most significant byte first.
    BigEndian,
    /// VAX: words of two bytes, the most significant word first; the least significant byte of each word first.
    Vax,
}

/// The normalization of the mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Normalization {
    /// None: the highest bit may be 0 or 1.
    None = 0,
    /// The highest bit is always 1, and stored.
    MostSignificantBitSet = 1,
    /// The highest bit is always 1, and not stored.
    MostSignificantBitImplied = 2,
}

impl FloatingPoint {
    pub(super) fn decode(d: &mut Decoder<'_>, head: &Head<'_>) -> Result<Self> {
        let byte_order = match (head.bit(0), head.bit(VAX) && head.version >= Version::V3) {
            (false, false) => FloatByteOrder::LittleEndian,
            (true, false) => FloatByteOrder::BigEndian,
            (true, true) => FloatByteOrder::Vax,
            (false, true) => return Err(head.at.unsupported("byte order 2, expected 0, 1 or 3")),
        };
        let normalization = match head.nibble(NORMALIZATION) & 3 {
            0 => Normalization::None,
            1 => Normalization::MostSignificantBitSet,
            2 => Normalization::MostSignificantBitImplied,
            other => {
                return Err(head.at.unsupported(format!("mantissa normalization {other}, expected 0 to 2")));
            }
        };
        let [_, sign_location, ..] = head.bits.to_le_bytes();
        let float = FloatingPoint {
            byte_order,
            low_padding: head.bit(LOW_PADDING),
            high_padding: head.bit(HIGH_PADDING),
            internal_padding: head.bit(INTERNAL_PADDING),
            normalization,
            sign_location,
            bit_offset: d.u16()?,
            bit_precision: d.u16()?,
            exponent_location: d.u8()?,
            exponent_size: d.u8()?,
            mantissa_location: d.u8()?,
            mantissa_size: d.u8()?,
            exponent_bias: d.u32()?,
        };
        float.check(head)?;
        Ok(float)
    }

    /// The class bit field.
    pub(super) fn bits(&self, version: Version) -> Result<u32> {
        let (big, vax) = match self.byte_order {
            FloatByteOrder::LittleEndian => (false, false),
            FloatByteOrder::BigEndian => (true, false),
            FloatByteOrder::Vax if version < Version::V3 => {
                return Err(Error::invalid("VAX byte order needs version 3 or later"));
            }
            FloatByteOrder::Vax => (true, true),
        };
        Ok(bits([
            (0, big),
            (VAX, vax),
            (LOW_PADDING, self.low_padding),
            (HIGH_PADDING, self.high_padding),
            (INTERNAL_PADDING, self.internal_padding),
        ]) | (self.normalization as u32) << NORMALIZATION
            | u32::from(self.sign_location) << 8)
    }

    pub(super) fn encode(&self, e: &mut Encoder) {
        e.u16(self.bit_offset);
        e.u16(self.bit_precision);
        e.u8(self.exponent_location);
        e.u8(self.exponent_size);
        e.u8(self.mantissa_location);
        e.u8(self.mantissa_size);
        e.u32(self.exponent_bias);
    }

    /// Checks that sign, exponent and mantissa are within the element and do not overlap.
    fn check(&self, head: &Head<'_>) -> Result<()> {
        let mut fields = [
            ("sign", self.sign_location, 1),
            ("exponent", self.exponent_location, self.exponent_size),
            ("mantissa", self.mantissa_location, self.mantissa_size),
        ]
        .map(|(name, location, size)| (u16::from(location), u16::from(location) + u16::from(size), name));
        for (start, end, name) in fields {
            if start == end {
                return Err(head.at.malformed(format!("{name} of 0 bits")));
            }
            if u64::from(end) > u64::from(head.size) * 8 {
                return Err(head.at.malformed(format!(
                    "{name} in bits {start} to {end} exceeds the element of {} bytes",
                    head.size
                )));
            }
        }
        fields.sort_unstable();
        let [first, second, third] = fields;
        for (low, high) in [(first, second), (second, third)] {
            if low.1 > high.0 {
                return Err(head.at.malformed(format!("{} and {} overlap", low.2, high.2)));
            }
        }
        Ok(())
    }
}

const LOW_PADDING: u32 = 1;
const HIGH_PADDING: u32 = 2;
const INTERNAL_PADDING: u32 = 3;
const NORMALIZATION: u32 = 4;
const VAX: u32 = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::message::datatype::{Datatype, DatatypeClass};
    use crate::format::structure_tests::{hex, structure_tests};
    use crate::format::{Sizes, Structure};

    const F4: &str = include_str!("../../../../tests/golden/message_datatype_floating_point_v1.hex");

    structure_tests!(Datatype, context: Sizes::DEFAULT,
        golden: [
            F4,
            include_str!("../../../../tests/golden/message_datatype_floating_point_v1_big_endian.hex"),
            include_str!("../../../../tests/golden/message_datatype_floating_point_v1_half.hex"),
            include_str!("../../../../tests/golden/message_datatype_floating_point_v3_vax.hex"),
            include_str!("../../../../tests/golden/message_datatype_floating_point_v1_x87.hex"),
            include_str!("../../../../tests/golden/message_datatype_floating_point_v1_bfloat16.hex"),
        ],
        values: []);

    fn decode(change: impl FnOnce(&mut Vec<u8>)) -> Result<Datatype> {
        let mut bytes = hex(F4);
        change(&mut bytes);
        Datatype::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT)
    }

    fn detail(change: impl FnOnce(&mut Vec<u8>)) -> String {
        decode(change).unwrap_err().detail().to_owned()
    }

    #[test]
    fn rejects_fields_that_overlap_or_exceed_the_element() {
        assert_eq!(detail(|b| b[2] = 30), "exponent and sign overlap");
        assert_eq!(detail(|b| b[2] = 32), "sign in bits 32 to 33 exceeds the element of 4 bytes");
        assert_eq!(detail(|b| b[12] = 22), "mantissa and exponent overlap");
        assert_eq!(detail(|b| b[13] = 0), "exponent of 0 bits");
        assert_eq!(detail(|b| b[15] = 0), "mantissa of 0 bits");
    }

    #[test]
    fn rejects_vax_byte_order_before_version_3() {
        let vax = |version: u8| decode(|b| (b[0], b[1]) = (version << 4 | 1, b[1] | 0x41)).unwrap();
        let order = |datatype: Datatype| match datatype.class {
            DatatypeClass::FloatingPoint(float) => float.byte_order,
            other => panic!("{other:?}"),
        };
        assert_eq!(order(vax(1)), FloatByteOrder::BigEndian);
        let mut datatype = vax(3);
        assert_eq!(order(datatype.clone()), FloatByteOrder::Vax);
        datatype.version = Version::V2;
        assert!(datatype.encode(&mut Encoder::new(), &Sizes::DEFAULT).is_err());
        assert!(decode(|b| (b[0], b[1]) = (0x31, 0x60)).is_err());
    }
}
