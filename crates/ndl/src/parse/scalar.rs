//! Scalars of the YAML core schema, and numbers of a declared type.
//!
//! Spec: YAML 1.2.2, 10.3.2

use super::events::{Scalar, Tag};
use std::cmp::Ordering;

/// The type of a scalar without a declared type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Resolved {
    Null,
    Bool(bool),
    Int(i128),
    /// An integer that is out of range for all integer types.
    HugeInt,
    Float,
    Text,
    Bytes,
}

pub(crate) fn resolve(scalar: Scalar<'_>) -> Resolved {
    let text = scalar.text;
    match scalar.tag {
        Tag::Binary => return Resolved::Bytes,
        Tag::Float => return Resolved::Float,
        Tag::Int => return integer(text).map_or(Resolved::HugeInt, Resolved::Int),
        _ if scalar.is_null() => return Resolved::Null,
        Tag::Bool => return boolean(text).map_or(Resolved::Text, Resolved::Bool),
        _ if !scalar.is_plain() => return Resolved::Text,
        _ => {}
    }
    if let Some(value) = boolean(text) {
        return Resolved::Bool(value);
    }
    if is_integer(text) {
        return integer(text).map_or(Resolved::HugeInt, Resolved::Int);
    }
    match is_decimal(text) || special(text).is_some_and(|_| text.contains('.')) {
        true => Resolved::Float,
        false => Resolved::Text,
    }
}

pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// A decimal, octal (`0o17`) or hexadecimal (`0x1f`) integer.
pub(crate) fn integer(text: &str) -> Option<i128> {
    if let Some(digits) = text.strip_prefix("0x") {
        return digits
            .bytes()
            .all(|b| b.is_ascii_hexdigit())
            .then(|| i128::from_str_radix(digits, 16).ok())?;
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return digits.bytes().all(|b| b.is_ascii_digit()).then(|| i128::from_str_radix(digits, 8).ok())?;
    }
    is_integer(text).then(|| text.parse().ok())?
}

pub(crate) fn is_integer(text: &str) -> bool {
    let digits = |text: &str, of: fn(&u8) -> bool| !text.is_empty() && text.bytes().all(|b| of(&b));
    match (text.strip_prefix("0x"), text.strip_prefix("0o")) {
        (Some(text), _) => digits(text, u8::is_ascii_hexdigit),
        (_, Some(text)) => digits(text, |b| (b'0'..=b'7').contains(b)),
        _ => digits(text.strip_prefix(['-', '+']).unwrap_or(text), u8::is_ascii_digit),
    }
}

/// Whether the text is a decimal number, with or without point and exponent.
pub(crate) fn is_decimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let mantissa = match mantissa.split_once('.') {
        Some((whole, fraction)) => {
            digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty())
        }
        None => !mantissa.is_empty() && digits(mantissa),
    };
    mantissa && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent))
}

/// Infinities and NaN, in YAML and JSON spelling.
pub(crate) fn special(text: &str) -> Option<f64> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    match unsigned {
        ".inf" | ".Inf" | ".INF" | "Infinity" if negative => Some(f64::NEG_INFINITY),
        ".inf" | ".Inf" | ".INF" | "Infinity" => Some(f64::INFINITY),
        _ if unsigned.len() < text.len() => None,
        ".nan" | ".NaN" | ".NAN" | "NaN" => Some(f64::NAN),
        _ => None,
    }
}

/// The nearest double. Infinity if the number is too large.
pub(crate) fn double(text: &str) -> Option<f64> {
    special(text).or_else(|| is_decimal(text).then(|| text.parse().ok())?)
}

/// The nearest number of a 16-bit binary format with `precision` significant bits, including the implied one. Rounded
/// once, ties to even. `None` if the text is not a number, infinity if it is too large.
pub(crate) fn small_float(text: &str, precision: u32) -> Option<u16> {
    let exponent_bits = 16 - precision;
    let bias = (1_i64 << (exponent_bits - 1)) - 1;
    let fraction = precision - 1;
    let infinity = ((1_u64 << exponent_bits) - 1) << fraction;
    let negative = text.starts_with('-');
    let finish = |bits: u64| u16::try_from(bits | u64::from(negative) << 15).ok();
    if let Some(value) = special(text) {
        let quiet = if value.is_nan() { 1 << (fraction - 1) } else { 0 };
        return finish(infinity | quiet);
    }
    if !is_decimal(text) {
        return None;
    }
    let near = text.parse::<f64>().ok()?.abs();
    if near.is_infinite() {
        return finish(infinity);
    }
    let bits = near.to_bits();
    let stored = i64::try_from(bits >> 52).ok()?;
    if stored == 0 {
        // Far below the smallest number of a 16-bit format.
        return finish(0);
    }
    let significand = bits & ((1 << 52) - 1) | 1 << 52;
    let exponent = stored - 1023;
    let lowest = 1 - bias;
    let dropped = 53 - i64::from(precision) + (lowest - exponent).max(0);
    let Some(dropped) = u32::try_from(dropped).ok().filter(|dropped| *dropped <= 54) else {
        return finish(0);
    };
    let (kept, rest, half) =
        (significand >> dropped, significand & ((1 << dropped) - 1), 1_u64 << (dropped - 1));
    // The double nearest to a decimal can be exactly halfway between two numbers, although the decimal is not.
    let up = match rest.cmp(&half) {
        Ordering::Equal => match compare_decimal(text, near) {
            Ordering::Equal => kept & 1 == 1,
            order => order == Ordering::Greater,
        },
        order => order == Ordering::Greater,
    };
    let biased = u64::try_from(exponent.max(lowest) + bias - 1).ok()?;
    // The implied bit, if there is one, carries into the exponent. So does rounding.
    let rounded = (biased << fraction) + kept + u64::from(up);
    finish(rounded.min(infinity))
}

/// Compares a decimal text without its sign to a number, exactly.
fn compare_decimal(text: &str, value: f64) -> Ordering {
    let (digits, point) = normalized(text);
    // Numbers of 16-bit formats, and the ties between them, have fewer digits after the point.
    let (exact, exact_point) = normalized(&format!("{value:.200}"));
    point.cmp(&exact_point).then_with(|| digits.cmp(&exact))
}

/// The significant digits, and the position of the point.
pub(crate) fn normalized(text: &str) -> (Vec<u8>, i64) {
    let text = text.trim_start_matches(['-', '+']);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let leading = all.iter().take_while(|b| **b == b'0').count();
    let end = all.iter().rposition(|b| *b != b'0').map_or(leading, |last| last + 1);
    let digits = all.get(leading..end).unwrap_or_default().to_vec();
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX / 4);
    let exponent = exponent.parse::<i64>().unwrap_or(0).clamp(i64::MIN / 4, i64::MAX / 4);
    (digits, count(whole.len()) - count(leading) + exponent)
}

/// The bytes of hexadecimal digits after `0x`.
pub(crate) fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let pairs = digits.as_bytes().chunks_exact(2).map(|pair| match pair {
        [high, low] => u8::try_from(digit(high)? << 4 | digit(low)?).ok(),
        _ => None,
    });
    pairs.collect()
}

/// The bytes of base 64 text. White space is ignored.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    let (mut out, mut bits, mut count, mut padding) =
        (Vec::with_capacity(text.len() / 4 * 3), 0_u32, 0_u32, 0);
    for byte in text.bytes().filter(|b| !b.is_ascii_whitespace()) {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                padding += 1;
                continue;
            }
            _ => return None,
        };
        if padding > 0 {
            return None;
        }
        (bits, count) = (bits << 6 | u32::from(digit), count + 1);
        if count == 4 {
            let [_, bytes @ ..] = bits.to_be_bytes();
            out.extend(bytes);
            (bits, count) = (0, 0);
        }
    }
    match (count, padding) {
        (0, 0) => {}
        (2, 0 | 2) if bits & 15 == 0 => out.extend(u8::try_from(bits >> 4)),
        (3, 0 | 1) if bits & 3 == 0 => {
            out.extend(u8::try_from(bits >> 10));
            out.extend(u8::try_from(bits >> 2 & 255));
        }
        _ => return None,
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::{bf16, f16};

    #[test]
    fn every_half_and_bfloat_round_trips_through_its_exact_digits() {
        for bits in 0..=u16::MAX {
            let (half, bfloat) = (f16::from_bits(bits).to_f64(), bf16::from_bits(bits).to_f64());
            if half.is_finite() {
                assert_eq!(small_float(&format!("{half:.40}"), 11), Some(bits));
            }
            if bfloat.is_finite() {
                assert_eq!(small_float(&format!("{bfloat:e}"), 8), Some(bits));
            }
        }
    }

    #[test]
    fn halves_are_rounded_once() {
        // 2049 is halfway between 2048 and 2050. A double cannot hold the digits after it.
        assert_eq!(small_float("2049", 11), Some(f16::from_f32(2048.0).to_bits()));
        assert_eq!(small_float("2049.00000000000000000000000001", 11), Some(f16::from_f32(2050.0).to_bits()));
        assert_eq!(
            small_float("-2050.99999999999999999999999999", 11),
            Some(f16::from_f32(-2050.0).to_bits())
        );
        assert_eq!(small_float("2051", 11), Some(f16::from_f32(2052.0).to_bits()));
        assert_eq!(small_float("65520", 11), Some(0x7c00));
        assert_eq!(small_float("65519.99", 11), Some(0x7bff));
        assert_eq!(small_float("2.98023223876953125e-8", 11), Some(0));
        assert_eq!(small_float("2.980232238769531250000001e-8", 11), Some(1));
        assert_eq!(small_float("1e-400", 8), Some(0));
        assert_eq!(small_float("-1e999999999999999999999", 8), Some(0xff80));
    }

    #[test]
    fn distinguishes_numbers_from_text() {
        for text in ["1", "-1.", ".5", "+1e5", "1.5E-3"] {
            assert!(is_decimal(text), "{text}");
        }
        for text in ["", ".", "1_000", "1:30", "0x1f", "e5", "1e", "1.5.2", "1e5.5", "+-1"] {
            assert!(!is_decimal(text), "{text}");
        }
        assert_eq!((integer("0o17"), integer("0x1F"), integer("-0x1")), (Some(15), Some(31), None));
        assert_eq!((integer("0x-1"), integer("0o8"), integer("007")), (None, None, Some(7)));
    }

    #[test]
    fn decodes_hex_and_base_64() {
        assert_eq!(hex("0x00Ff"), Some(vec![0, 255]));
        assert_eq!((hex("0x0"), hex("00"), hex("0xg0")), (None, None, None));
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v\n  Yg", "foob")] {
            assert_eq!(base64(text).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!((base64("Z"), base64("Zh=="), base64("Z*==")), (None, None, None));
    }
}
