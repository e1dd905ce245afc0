//! Numbers to differences.

use super::{Header, ones};

/// Replaces integers of `all` bits by differences of `bits`, or of as many as needed if those are 0.
pub(super) fn integers(numbers: &mut [u64], all: u32, signed: bool, bits: u32, fill: Option<u64>) -> Header {
    // Signed numbers are in the order of unsigned ones when their signs are inverted.
    let sign = if signed { 1 << (all - 1) } else { 0 };
    let is_fill = |number: u64| fill == Some(number);
    let mut range = None;
    for number in numbers.iter().filter(|number| !is_fill(**number)) {
        let (least, most) = range.unwrap_or((number ^ sign, number ^ sign));
        range = Some((least.min(number ^ sign), most.max(number ^ sign)));
    }
    let (least, most) = range.unwrap_or((sign, sign));
    let span = most - least;
    let bits = match bits {
        0 if span > ones(all) - 2 => return Header { bits: all, least: 0 },
        0 => bits_of(span + u64::from(fill.is_some())),
        bits => bits,
    };
    let least = least ^ sign;
    let extended = if least & sign == 0 { least } else { least | !ones(all) };
    if bits == all {
        return Header { bits, least: extended };
    }
    for number in numbers {
        *number = if is_fill(*number) { ones(bits) } else { number.wrapping_sub(least) };
    }
    Header { bits, least: extended }
}

macro_rules! floats {
    ($name:ident, $float:ty, $word:ty) => {
        /// Replaces numbers by differences, or leaves them if those take as many bits or some are no numbers.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "differences are checked to be finite and less than half of the integers"
        )]
        pub(super) fn $name(numbers: &mut [u64], digits: i32, fill: Option<u64>) -> Header {
            let all = <$word>::BITS;
            let as_they_are = Header { bits: all, least: 0 };
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
                let (least, most): ($float, $float) = range.unwrap_or((number, number));
                range = Some((least.min(number), most.max(number)));
            }
            let (least, most) = range.unwrap_or((0.0, 0.0));
            let span = (most * scale - least * scale).round();
            if span >= (1_u64 << (all - 1)) as $float {
                return as_they_are;
            }
            let bits = bits_of(span as u64 + u64::from(fill.is_some()));
            if bits >= all {
                return as_they_are;
            }
            for bits_of_number in numbers {
                let number = float(*bits_of_number);
                *bits_of_number = if is_fill(number) {
                    ones(bits)
                } else {
                    (number * scale - least * scale).round() as u64
                };
            }
            Header { bits, least: least.to_bits().into() }
        }
    };
}

floats!(float32, f32, u32);
floats!(float64, f64, u64);

/// The bits that a number takes.
fn bits_of(number: u64) -> u32 {
    64 - number.leading_zeros()
}
