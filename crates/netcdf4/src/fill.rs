//! Default fill values: the values of elements that were never written, if a variable has no `_FillValue`.
//!
//! Spec: `netcdf.h`, `NC_FILL_BYTE` to `NC_FILL_UINT64`

/// The number types of NetCDF. Text and user-defined types are filled with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberType {
    /// `NC_BYTE`: 8 bits, signed
    Byte,
    /// `NC_UBYTE`: 8 bits, unsigned
    UByte,
    /// `NC_SHORT`: 16 bits, signed
    Short,
    /// `NC_USHORT`: 16 bits, unsigned
    UShort,
    /// `NC_INT`: 32 bits, signed
    Int,
    /// `NC_UINT`: 32 bits, unsigned
    UInt,
    /// `NC_INT64`: 64 bits, signed
    Int64,
    /// `NC_UINT64`: 64 bits, unsigned
    UInt64,
    /// `NC_FLOAT`: IEEE 754 single precision
    Float,
    /// `NC_DOUBLE`: IEEE 754 double precision
    Double,
}

impl NumberType {
    /// The integer type with this number of bits; `None` if NetCDF has none.
    pub fn integer(bits: u16, signed: bool) -> Option<NumberType> {
        Some(match (bits, signed) {
            (8, true) => NumberType::Byte,
            (8, false) => NumberType::UByte,
            (16, true) => NumberType::Short,
            (16, false) => NumberType::UShort,
            (32, true) => NumberType::Int,
            (32, false) => NumberType::UInt,
            (64, true) => NumberType::Int64,
            (64, false) => NumberType::UInt64,
            _ => return None,
        })
    }

    /// The default fill value, in native byte order.
    pub fn default_fill(self) -> Vec<u8> {
        match self {
            NumberType::Byte => (-127_i8).to_ne_bytes().to_vec(),
            NumberType::UByte => u8::MAX.to_ne_bytes().to_vec(),
            NumberType::Short => (-32_767_i16).to_ne_bytes().to_vec(),
            NumberType::UShort => u16::MAX.to_ne_bytes().to_vec(),
            NumberType::Int => (-2_147_483_647_i32).to_ne_bytes().to_vec(),
            NumberType::UInt => u32::MAX.to_ne_bytes().to_vec(),
            NumberType::Int64 => (-9_223_372_036_854_775_806_i64).to_ne_bytes().to_vec(),
            NumberType::UInt64 => (u64::MAX - 1).to_ne_bytes().to_vec(),
            // Both are the number 15 × 2^119.
            NumberType::Float => 9.969_21e36_f32.to_ne_bytes().to_vec(),
            NumberType::Double => 9.969_209_968_386_869e36_f64.to_ne_bytes().to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floating_point_fill_values_are_the_same_number() {
        let single = f32::from_ne_bytes(NumberType::Float.default_fill().try_into().unwrap());
        let double = f64::from_ne_bytes(NumberType::Double.default_fill().try_into().unwrap());
        assert_eq!(f64::from(single).to_bits(), double.to_bits());
        assert_eq!(double.to_bits(), (15.0 * 2_f64.powi(119)).to_bits());
    }

    #[test]
    fn fill_values_are_as_long_as_their_integers() {
        for bits in [8_u16, 16, 32, 64] {
            for signed in [true, false] {
                let of = NumberType::integer(bits, signed).unwrap();
                assert_eq!(of.default_fill().len(), usize::from(bits / 8), "{of:?}");
            }
        }
        assert_eq!(NumberType::integer(24, true), None);
    }
}
