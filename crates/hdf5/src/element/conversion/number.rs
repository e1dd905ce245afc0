//! Numbers of any type as values between two types.

use super::float::Float;
use crate::format::message::datatype::{Datatype, DatatypeClass};
use hyperslab_core::rows::int_row;

/// The layout of a number in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer { size: usize, signed: bool, precision: u32 },
    Float(Float),
}

/// A number without a type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Integer(i128),
    /// Also every number that is not finite.
    Float(f64),
    /// `digits` × 2^`power`, which may not be equal to any double.
    Exact {
        negative: bool,
        digits: u128,
        power: i64,
    },
}

impl Number {
    /// The layout of a number that a [`Value`] holds exactly.
    pub(super) fn of(datatype: &Datatype) -> Option<Number> {
        match &datatype.class {
            DatatypeClass::FixedPoint(class) => {
                let size = usize::try_from(datatype.size).ok().filter(|size| *size <= 16)?;
                let precision = class.bit_precision.into();
                let fits = precision < 128 || class.signed && precision == 128;
                fits.then_some(Number::Integer { size: int_row(size), signed: class.signed, precision })
            }
            DatatypeClass::FloatingPoint(class) => Float::of(class, datatype.size).map(Number::Float),
            _ => None,
        }
    }

    pub(super) fn read(&self, row: &[u8]) -> Value {
        match self {
            Number::Integer { signed, .. } => Value::Integer(integer(row, *signed)),
            Number::Float(float) => float.read(row),
        }
    }

    /// Writes a value. A value out of range becomes the nearest one in range.
    pub(super) fn write(&self, value: Value, row: &mut [u8]) {
        match self {
            Number::Integer { signed, precision, .. } => {
                let magnitude = precision.saturating_sub(u32::from(*signed));
                let max = i128::MAX.unbounded_shr(127_u32.saturating_sub(magnitude));
                let min = if *signed { -max - 1 } else { 0 };
                let value = match value {
                    Value::Integer(value) => value,
                    Value::Float(value) => whole(value),
                    Value::Exact { negative, digits, power } => whole_of(negative, digits, power),
                };
                put_integer(value.clamp(min, max), row);
            }
            Number::Float(float) => float.write(value, row),
        }
    }
}

/// The integer part of a number. NaN, which has none, becomes 0: libhdf5 leaves it to the C compiler, which leaves it
/// to the processor, so the same file gives the minimum of signed integers on x86 and 0 on ARM. Here, it is 0 on all
/// machines.
#[expect(clippy::cast_possible_truncation, reason = "truncates and saturates, as libhdf5 does")]
fn whole(value: f64) -> i128 {
    value as i128
}

/// The integer part of `digits` × 2^`power`; the nearest integer if it is out of range.
fn whole_of(negative: bool, digits: u128, power: i64) -> i128 {
    let shift = u32::try_from(power.unsigned_abs()).unwrap_or(u32::MAX);
    let magnitude = match power >= 0 {
        true if digits.leading_zeros() < shift && digits != 0 => u128::MAX,
        true => digits.unbounded_shl(shift),
        false => digits.unbounded_shr(shift),
    };
    match negative {
        true => 0_i128.checked_sub_unsigned(magnitude).unwrap_or(i128::MIN),
        false => i128::try_from(magnitude).unwrap_or(i128::MAX),
    }
}

/// An integer in the byte order of this machine.
fn integer(row: &[u8], signed: bool) -> i128 {
    let mut bytes = [0; 16];
    let ordered: &mut dyn Iterator<Item = &u8> =
        if cfg!(target_endian = "little") { &mut row.iter() } else { &mut row.iter().rev() };
    ordered.zip(&mut bytes).for_each(|(from, to)| *to = *from);
    let unused = 128_u32.saturating_sub(u32::try_from(row.len()).unwrap_or(16).saturating_mul(8));
    let top = u128::from_le_bytes(bytes).unbounded_shl(unused);
    match signed {
        true => top.cast_signed().unbounded_shr(unused),
        false => top.unbounded_shr(unused).cast_signed(),
    }
}

fn put_integer(value: i128, row: &mut [u8]) {
    let bytes = value.to_le_bytes();
    match cfg!(target_endian = "little") {
        true => row.iter_mut().zip(bytes).for_each(|(to, from)| *to = from),
        false => row.iter_mut().rev().zip(bytes).for_each(|(to, from)| *to = from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_the_nearest_integers_in_range() {
        let written = |signed, precision, value| {
            let mut row = [0xaa; 16];
            Number::Integer { size: 16, signed, precision }.write(value, &mut row);
            i128::from_ne_bytes(row)
        };
        for (signed, precision, min, max) in [
            (true, 128, i128::MIN, i128::MAX),
            (true, 8, -128, 127),
            (false, 127, 0, i128::MAX),
            (false, 8, 0, 255),
        ] {
            assert_eq!(written(signed, precision, Value::Integer(i128::MAX)), max);
            assert_eq!(written(signed, precision, Value::Integer(i128::MIN)), min);
            assert_eq!(written(signed, precision, Value::Float(f64::INFINITY)), max);
            assert_eq!(written(signed, precision, Value::Float(f64::NEG_INFINITY)), min);
            assert_eq!(written(signed, precision, Value::Float(f64::NAN)), 0);
            let exact = |negative, digits, power| {
                written(signed, precision, Value::Exact { negative, digits, power })
            };
            assert_eq!((exact(false, u128::MAX, 0), exact(true, 1, 127)), (max, min));
            assert_eq!((exact(false, 7, -1), exact(false, 3, 2), exact(false, 1, i64::MIN)), (3, 12, 0));
            assert_eq!((exact(false, 1, i64::MAX), exact(true, 0, i64::MAX)), (max, 0));
        }
    }
}
