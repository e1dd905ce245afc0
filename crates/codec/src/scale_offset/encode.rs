//! Encodes numbers as differences.

use super::{Header, ones};

/// Replaces integers of `all` bits by differences of `bits` bits. 0 stands for as many bits as needed.
pub(super) fn integers(numbers: &mut [u64], all: u32, signed: bool, bits: u32, fill: Option<u64>) -> Header {
    // With inverted signs, signed numbers sort like unsigned ones.
    let sign = if signed { 1 << (all - 1) } else { 0 };
    let is_fill = |number: u64| fill == Some(number);
    let mut range = None;
    for number in numbers.iter().filter(|number| !is_fill(**number)) {
        let (min, max) = range.unwrap_or((number ^ sign, number ^ sign));
        range = Some((min.min(number ^ sign), max.max(number ^ sign)));
    }
    let (min, max) = range.unwrap_or((sign, sign));
    let span = max - min;
    let bits = match bits {
        0 if span > ones(all) - 2 => return Header { bits: all, min: 0 },
        0 => bits_of(span + u64::from(fill.is_some())),
        bits => bits,
    };
    let min = min ^ sign;
    let extended = if min & sign == 0 { min } else { min | !ones(all) };
    if bits == all {
        return Header { bits, min: extended };
    }
    for number in numbers {
        *number = if is_fill(*number) { ones(bits) } else { number.wrapping_sub(min) };
    }
    Header { bits, min: extended }
}

macro_rules! floats {
    ($name:ident, $float:ty, $word:ty) => {
        /// Replaces numbers by differences. Leaves them unchanged if differences take as many bits, or if a number is
        /// NaN or infinite.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "differences are checked to be finite and less than half of the integer range"
        )]
        pub(super) fn $name(numbers: &mut [u64], digits: i32, fill: Option<u64>) -> Header {
            let all = <$word>::BITS;
            let as_they_are = Header { bits: all, min: 0 };
            let float = |bits: u64| <$float>::from_bits(bits as $word);
            let scale = <$float>::powf(10.0, digits as $float);
            let near = <$float>::powf(10.0, -(digits as $float));
            let fill = fill.map(float);
            let is_fill = |number: $float| fill.is_some_and(|fill| (number - fill).abs() < near);
            let mut range = None;
            for number in numbers.iter().map(|number| float(*number)).filter(|number| !is_fill(*number)) {
                if !(number * scale).is_finite() {
                    return as_they_are;
                }
                let (min, max): ($float, $float) = range.unwrap_or((number, number));
                range = Some((min.min(number), max.max(number)));
            }
            let (min, max) = range.unwrap_or((0.0, 0.0));
            let span = (max * scale - min * scale).round();
            if span >= (1_u64 << (all - 1)) as $float {
                return as_they_are;
            }
            let bits = bits_of(span as u64 + u64::from(fill.is_some()));
            if bits >= all {
                return as_they_are;
            }
            for bits_of_number in numbers {
                let number = float(*bits_of_number);
                *bits_of_number =
                    if is_fill(number) { ones(bits) } else { (number * scale - min * scale).round() as u64 };
            }
            Header { bits, min: min.to_bits().into() }
        }
    };
}

floats!(float32, f32, u32);
floats!(float64, f64, u64);

/// The number of bits of a number.
fn bits_of(number: u64) -> u32 {
    64 - number.leading_zeros()
}
