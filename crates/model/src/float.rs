//! Conversion of floating-point numbers of any format to `f64`.

use crate::{Float, Normalization};

impl Float {
    /// The `f64` nearest to a number given by its stored bytes, little-endian. `None` if the format is wider than 128
    /// bits or cannot represent the number.
    ///
    /// ```
    /// use hyperslab_model::Float;
    ///
    /// let half = 0x3ffe_u128 << 112;
    /// assert_eq!(Float::Quad.nearest(&half.to_le_bytes()), Some(0.5));
    /// ```
    pub fn nearest(&self, stored: &[u8]) -> Option<f64> {
        let (sign, exponent, mantissa, bias, normalization) = match self {
            Float::Half => (15, (10, 5), (0, 10), 15, Normalization::Implied),
            Float::BFloat => (15, (7, 8), (0, 7), 127, Normalization::Implied),
            Float::Single => (31, (23, 8), (0, 23), 127, Normalization::Implied),
            Float::Double => (63, (52, 11), (0, 52), 1023, Normalization::Implied),
            Float::Quad => (127, (112, 15), (0, 112), 16_383, Normalization::Implied),
            Float::Other(of) => (of.sign, of.exponent, of.mantissa, of.bias, of.normalization),
        };
        let mut bytes = [0; 16];
        bytes.get_mut(..stored.len())?.copy_from_slice(stored);
        let all = u128::from_le_bytes(bytes);
        let bits = |(from, count): (u8, u8)| {
            let mask = 1_u128.checked_shl(count.into()).map_or(u128::MAX, |one| one - 1);
            Some(all.checked_shr(from.into())? & mask)
        };
        let power = i64::try_from(bits(exponent)?).ok()?;
        let digits = bits(mantissa)?;
        let (bias, size) = (i64::from(bias), i64::from(mantissa.1));
        let max_exponent = 1_i64.checked_shl(exponent.1.into())?.checked_sub(1)?;
        let one = 1_u128.checked_shl(mantissa.1.into());
        let value = match normalization {
            // Infinities and NaN have the largest exponent. A stored leading mantissa bit does not distinguish them.
            _ if power == max_exponent => {
                let rest = match normalization {
                    Normalization::Implied => digits,
                    Normalization::Set | Normalization::None => digits & !(one.map_or(0, |one| one >> 1)),
                };
                if rest == 0 { f64::INFINITY } else { f64::NAN }
            }
            Normalization::Implied if power == 0 => scaled(digits, 1 - bias - size),
            Normalization::Implied => scaled(digits | one?, power - bias - size),
            // HDF5 marks the long doubles of x86 as not normalised. All bits of their mantissa are stored.
            Normalization::Set | Normalization::None => scaled(digits, power.max(1) - bias - (size - 1)),
        };
        Some(if bits((sign, 1))? == 1 { -value } else { value })
    }
}

/// `digits` × 2^`power`.
fn scaled(digits: u128, power: i64) -> f64 {
    // Rounded once, to the number of bits of the result. Numbers below the smallest one become 0.
    #[expect(clippy::cast_precision_loss, reason = "rounds, which is meant")]
    let mut value = digits as f64;
    let mut power = i32::try_from(power.clamp(-40_000, 40_000)).unwrap_or(0);
    while power != 0 && value != 0.0 && value.is_finite() {
        let step = power.clamp(-1000, 1000);
        value *= 2_f64.powi(step);
        power -= step;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FloatFormat;

    #[test]
    fn every_format_is_read_as_the_nearest_number() {
        let x87 = |normalization| {
            Float::Other(FloatFormat {
                bits: 80,
                sign: 79,
                exponent: (64, 15),
                mantissa: (0, 64),
                bias: 16_383,
                normalization,
            })
        };
        // HDF5 uses either marking for the same numbers.
        let extended = |exponent: u128, digits: u64| {
            let bytes = (exponent << 64 | u128::from(digits)).to_le_bytes();
            let [set, none] = [Normalization::Set, Normalization::None]
                .map(|normalization| x87(normalization).nearest(bytes.get(..10).unwrap()));
            assert_eq!(set.map(f64::to_bits), none.map(f64::to_bits));
            set
        };
        assert_eq!(extended(0x3fff, 1 << 63), Some(1.0));
        assert_eq!(extended(0xbffe, 3 << 62), Some(-0.75));
        assert_eq!(extended(0, 0), Some(0.0));
        assert_eq!(extended(0x7fff, 1 << 63), Some(f64::INFINITY));
        assert!(extended(0x7fff, 3 << 62).unwrap().is_nan());
        assert_eq!(extended(0x7ffe, u64::MAX), Some(f64::INFINITY));
        for value in [0.0, 1.5, -2.25, f64::MAX, f64::MIN_POSITIVE, 5e-324, f64::INFINITY] {
            assert_eq!(Float::Double.nearest(&value.to_le_bytes()), Some(value));
        }
        for value in [0.1_f32, -1e-40, f32::MAX] {
            assert_eq!(Float::Single.nearest(&value.to_le_bytes()), Some(value.into()));
        }
        assert_eq!(Float::Half.nearest(&0x3555_u16.to_le_bytes()), Some(0.333_251_953_125));
        assert_eq!(Float::Quad.nearest(&(0xbfff_u128 << 112).to_le_bytes()), Some(-1.0));
        assert_eq!(Float::Quad.nearest(&[0; 17]), None);
    }
}
