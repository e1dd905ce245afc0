//! The well-known floating-point formats.

use crate::format::message::datatype::{FloatByteOrder, FloatingPoint, Normalization};

/// The well-known format of a floating-point datatype, in any byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatKind {
    /// IEEE binary16.
    Half,
    /// IEEE binary32.
    Single,
    /// IEEE binary64.
    Double,
    /// IEEE binary128.
    Quad,
    /// bfloat16: the upper half of a binary32.
    BFloat,
    /// None of these. Rows keep the bits in their places.
    Other,
}

impl FloatKind {
    /// The format of elements of `size` bytes.
    pub fn of(class: &FloatingPoint, size: u32) -> FloatKind {
        let bits = u64::from(size) * 8;
        let full = class.bit_offset == 0
            && u64::from(class.bit_precision) == bits
            && u64::from(class.sign_location) + 1 == bits
            && class.mantissa_location == 0
            && class.exponent_location == class.mantissa_size
            && class.normalization == Normalization::MostSignificantBitImplied;
        let layout = (size, class.exponent_size, class.mantissa_size, class.exponent_bias);
        let named = LAYOUTS.iter().find(|(known, _)| full && *known == layout);
        named.map_or(FloatKind::Other, |(_, kind)| *kind)
    }

    /// The size in bytes and the datatype class of the format. `None` for [`FloatKind::Other`].
    pub fn class(self, byte_order: FloatByteOrder) -> Option<(u32, FloatingPoint)> {
        let ((size, exponent_size, mantissa_size, exponent_bias), _) =
            *LAYOUTS.iter().find(|(_, kind)| *kind == self)?;
        let bits = u16::try_from(size * 8).ok()?;
        let class = FloatingPoint {
            byte_order,
            low_padding: false,
            high_padding: false,
            internal_padding: false,
            normalization: Normalization::MostSignificantBitImplied,
            sign_location: u8::try_from(bits - 1).ok()?,
            bit_offset: 0,
            bit_precision: bits,
            exponent_location: mantissa_size,
            exponent_size,
            mantissa_location: 0,
            mantissa_size,
            exponent_bias,
        };
        Some((size, class))
    }
}

/// Size in bytes, exponent bits, mantissa bits and bias. The sign is the highest bit; no bits are unused.
type Layout = (u32, u8, u8, u32);

const LAYOUTS: &[(Layout, FloatKind)] = &[
    ((2, 5, 10, 15), FloatKind::Half),
    ((2, 8, 7, 127), FloatKind::BFloat),
    ((4, 8, 23, 127), FloatKind::Single),
    ((8, 11, 52, 1023), FloatKind::Double),
    ((16, 15, 112, 16383), FloatKind::Quad),
];
