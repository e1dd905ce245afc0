//! Floating-point numbers of any layout, read exactly and rounded once, to the nearest with ties to even.

use super::number::Value;
use crate::element::FloatKind;
use crate::format::message::datatype::{FloatingPoint, Normalization};

/// The layout of a floating-point number of up to 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Float {
    kind: FloatKind,
    size: usize,
    little_endian: bool,
    sign: u32,
    exponent: (u32, u32),
    /// The position of the fraction: the bits after the leading one.
    fraction: (u32, u32),
    bias: i64,
    /// Whether the leading bit is stored, above the fraction, as in the long doubles of x86.
    has_leading_bit: bool,
}

impl Float {
    /// The layout, if it represents numbers as IEEE 754 does: with a leading bit, infinities and NaN.
    pub(super) fn of(class: &FloatingPoint, size: u32) -> Option<Float> {
        let kind = FloatKind::of(class, size);
        let size = usize::try_from(size).ok().filter(|size| *size <= 16)?;
        // libhdf5 describes the long doubles of x86 as not normalized, although their leading bit is set.
        let has_leading_bit = class.normalization != Normalization::MostSignificantBitImplied;
        let fraction = u32::from(class.mantissa_size).checked_sub(u32::from(has_leading_bit))?;
        let fits =
            class.bit_offset == 0 && (2..=15).contains(&class.exponent_size) && (1..=112).contains(&fraction);
        let native =
            matches!(kind, FloatKind::Half | FloatKind::Single | FloatKind::Double | FloatKind::BFloat);
        fits.then_some(Float {
            kind,
            size,
            little_endian: !native || cfg!(target_endian = "little"),
            sign: class.sign_location.into(),
            exponent: (class.exponent_location.into(), class.exponent_size.into()),
            fraction: (class.mantissa_location.into(), fraction),
            bias: class.exponent_bias.into(),
            has_leading_bit,
        })
    }

    pub(super) fn read(&self, row: &[u8]) -> Value {
        let mut bytes = [0; 16];
        let row = row.get(..self.size).unwrap_or(row);
        match self.little_endian {
            true => row.iter().zip(&mut bytes).for_each(|(from, to)| *to = *from),
            false => row.iter().rev().zip(&mut bytes).for_each(|(from, to)| *to = *from),
        }
        let bits = u128::from_le_bytes(bytes);
        match self.kind {
            FloatKind::Single => {
                return Value::Float(f32::from_bits(u32::try_from(bits).unwrap_or(0)).into());
            }
            FloatKind::Double => return Value::Float(f64::from_bits(u64::try_from(bits).unwrap_or(0))),
            _ => {}
        }
        let part = |(at, len): (u32, u32)| bits.unbounded_shr(at) & low_bits(len);
        let (exponent, fraction) = (part(self.exponent), part(self.fraction));
        let negative = part((self.sign, 1)) == 1;
        if exponent == low_bits(self.exponent.1) {
            let value = if fraction == 0 { f64::INFINITY } else { f64::NAN };
            return Value::Float(if negative { -value } else { value });
        }
        let leading = match self.has_leading_bit {
            true => part((self.fraction.0.saturating_add(self.fraction.1), 1)),
            false => u128::from(exponent != 0),
        };
        let digits = fraction | leading.unbounded_shl(self.fraction.1);
        // Subnormal numbers have the power of the smallest normal ones.
        let power = i64::try_from(exponent.max(1)).unwrap_or(1) - self.bias - i64::from(self.fraction.1);
        Value::Exact { negative, digits, power }
    }

    pub(super) fn write(&self, value: Value, row: &mut [u8]) {
        let bits = match (value, self.kind) {
            // The processor does these conversions, which is faster.
            (Value::Integer(value), FloatKind::Single) => single_of(value).to_bits().into(),
            (Value::Float(value), FloatKind::Single) => single(value).to_bits().into(),
            (Value::Integer(value), FloatKind::Double) => double_of(value).to_bits().into(),
            (Value::Float(value), FloatKind::Double) => value.to_bits().into(),
            (Value::Integer(value), _) => self.rounded(value < 0, value.unsigned_abs(), 0),
            (Value::Float(value), _) => self.of_double(value),
            (Value::Exact { negative, digits, power }, _) => self.rounded(negative, digits, power),
        };
        let row = row.get_mut(..self.size).unwrap_or_default();
        let bytes = bits.to_le_bytes().into_iter().chain(std::iter::repeat(0));
        match self.little_endian {
            true => row.iter_mut().zip(bytes).for_each(|(to, from)| *to = from),
            false => row.iter_mut().rev().zip(bytes).for_each(|(to, from)| *to = from),
        }
    }

    fn of_double(&self, value: f64) -> u128 {
        let (negative, ones) = (value.is_sign_negative(), low_bits(self.exponent.1));
        if value.is_nan() {
            return self.joined(negative, ones, 1_u128.unbounded_shl(self.fraction.1.saturating_sub(1)));
        }
        if value.is_infinite() {
            return self.joined(negative, ones, 0);
        }
        let bits = value.abs().to_bits();
        let exponent = bits >> 52;
        let digits = u128::from(bits) & low_bits(52) | u128::from(exponent != 0) << 52;
        self.rounded(negative, digits, i64::try_from(exponent.max(1)).unwrap_or(1) - 1075)
    }

    /// The bits of the number nearest to `digits` × 2^`power`, ties to even.
    fn rounded(&self, negative: bool, digits: u128, power: i64) -> u128 {
        if digits == 0 {
            return self.joined(negative, 0, 0);
        }
        let unused = digits.leading_zeros();
        let significand = digits.unbounded_shl(unused);
        let exponent =
            power.saturating_add(i64::from(127_u32.saturating_sub(unused))).saturating_add(self.bias);
        let ones = low_bits(self.exponent.1);
        if i64::try_from(ones).is_ok_and(|ones| exponent >= ones) {
            return self.joined(negative, ones, 0);
        }
        // The number of the 128 bits that are lost: more if the result is subnormal.
        let lost = i64::from(127_u32.saturating_sub(self.fraction.1))
            .saturating_add(1_i64.saturating_sub(exponent).max(0));
        let lost = u32::try_from(lost).unwrap_or(u32::MAX);
        let kept = significand.unbounded_shr(lost);
        let rest = significand & low_bits(lost);
        let half = 1_u128.unbounded_shl(lost.saturating_sub(1));
        let up = (1..=128).contains(&lost) && (rest > half || rest == half && kept & 1 == 1);
        // A carry out of the fraction increments the exponent, which is correct. So does the leading bit.
        let biased = u128::try_from(exponent.max(1) - 1).unwrap_or(0);
        let all = biased.unbounded_shl(self.fraction.1).saturating_add(kept + u128::from(up));
        self.joined(negative, all.unbounded_shr(self.fraction.1), all & low_bits(self.fraction.1))
    }

    fn joined(&self, negative: bool, exponent: u128, fraction: u128) -> u128 {
        let leading = u128::from(self.has_leading_bit && exponent != 0).unbounded_shl(self.fraction.1);
        u128::from(negative).unbounded_shl(self.sign)
            | exponent.unbounded_shl(self.exponent.0)
            | (fraction | leading).unbounded_shl(self.fraction.0)
    }
}

const fn low_bits(count: u32) -> u128 {
    match 1_u128.checked_shl(count) {
        Some(bit) => bit - 1,
        None => u128::MAX,
    }
}

fn double_of(value: i128) -> f64 {
    value as f64
}

fn single_of(value: i128) -> f32 {
    value as f32
}

#[expect(clippy::cast_possible_truncation, reason = "rounds to the nearest")]
fn single(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::message::datatype::FloatByteOrder;

    /// The long double of x86, as libhdf5 describes it: 80 bits in 16 bytes, the leading bit stored.
    fn extended() -> Float {
        let class = FloatingPoint {
            byte_order: FloatByteOrder::LittleEndian,
            low_padding: false,
            high_padding: false,
            internal_padding: false,
            normalization: Normalization::None,
            sign_location: 79,
            bit_offset: 0,
            bit_precision: 80,
            exponent_location: 64,
            exponent_size: 15,
            mantissa_location: 0,
            mantissa_size: 64,
            exponent_bias: 16_383,
        };
        Float::of(&class, 16).unwrap()
    }

    fn known(kind: FloatKind) -> Float {
        let (size, class) = kind.class(FloatByteOrder::LittleEndian).unwrap();
        Float::of(&class, size).unwrap()
    }

    fn stored(float: &Float, bits: u128) -> Vec<u8> {
        let mut row = bits.to_le_bytes()[..float.size].to_vec();
        if !float.little_endian {
            row.reverse();
        }
        row
    }

    fn converted(from: &Float, bits: u128, to: &Float) -> u128 {
        let mut row = vec![0xaa; to.size];
        to.write(from.read(&stored(from, bits)), &mut row);
        if !to.little_endian {
            row.reverse();
        }
        row.resize(16, 0);
        u128::from_le_bytes(row.try_into().unwrap())
    }

    #[test]
    fn doubles_become_long_doubles_and_the_same_doubles_again() {
        let double = known(FloatKind::Double);
        for (value, bits) in [
            (1.0, 0x3fff_u128 << 64 | 1 << 63),
            (-0.75, 0xbffe << 64 | 3 << 62),
            (-0.0, 0x8000 << 64),
            (f64::INFINITY, 0x7fff << 64 | 1 << 63),
            // A subnormal double is a normal number there.
            (5e-324, (16_383 - 1074) << 64 | 1 << 63),
        ] {
            assert_eq!(converted(&double, value.to_bits().into(), &extended()), bits, "{value}");
            assert_eq!(converted(&extended(), bits, &double), value.to_bits().into(), "{value}");
        }
        for value in [f64::MAX, f64::MIN_POSITIVE, 2.2e-310, 0.1, -1e300, 3.5] {
            for wide in [extended(), known(FloatKind::Quad)] {
                let bits = converted(&double, value.to_bits().into(), &wide);
                assert_eq!(converted(&wide, bits, &double), value.to_bits().into(), "{value}");
            }
        }
        assert!(
            f64::from_bits(u64::try_from(converted(&extended(), 0x7fff << 64 | 3 << 62, &double)).unwrap())
                .is_nan()
        );
    }

    #[test]
    fn long_doubles_are_rounded_once_to_the_nearest_with_ties_to_even() {
        let (double, single) = (known(FloatKind::Double), known(FloatKind::Single));
        let one = 0x3fff_u128 << 64 | 1 << 63;
        // Half of the last place of a double is 2^10.
        for (more, last) in [(0x400, 0), (0x401, 1), (0xc00, 2), (0xbff, 1), (0x3ff, 0)] {
            assert_eq!(
                converted(&extended(), one + more, &double),
                u128::from(1_f64.to_bits()) + last,
                "{more:#x}"
            );
        }
        // A double between would be a tie, and become the even one below.
        let above = one + (1 << 39) + 1;
        assert_eq!(converted(&extended(), above, &single), u128::from(1_f32.to_bits()) + 1);
        // All digits carry into the exponent, and the largest number is above all doubles.
        assert_eq!(
            converted(&extended(), 0x3fff << 64 | u128::from(u64::MAX), &double),
            2_f64.to_bits().into()
        );
        let largest = 0x7ffe << 64 | u128::from(u64::MAX);
        assert_eq!(converted(&extended(), largest, &double), f64::INFINITY.to_bits().into());
        // Half of the smallest double is a tie; anything more becomes that double.
        let half = (16_383 - 1075) << 64 | 1 << 63;
        assert_eq!(converted(&extended(), half, &double), 0);
        assert_eq!(converted(&extended(), half + 1, &double), 1);
        assert_eq!(converted(&extended(), (16_383 - 1076) << 64 | u128::from(u64::MAX), &double), 0);
    }

    #[test]
    fn small_floats_are_rounded_as_before() {
        let (half, double) = (known(FloatKind::Half), known(FloatKind::Double));
        for (value, bits) in
            [(1.5, 0x3e00), (65_520.0, 0x7c00), (65_519.0, 0x7bff), (2.98e-8, 0), (3e-8, 1), (-2.0, 0xc000)]
        {
            assert_eq!(converted(&double, f64::to_bits(value).into(), &half), bits, "{value}");
        }
        assert_eq!(converted(&half, 0x0001, &double), 2_f64.powi(-24).to_bits().into());
        assert_eq!(converted(&half, 0xfc00, &double), f64::NEG_INFINITY.to_bits().into());
    }
}
