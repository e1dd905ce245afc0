//! Numbers as text: the shortest digits that are read back as the same number, in a form that both YAML versions
//! recognise as a number.

use half::{bf16, f16};
use std::fmt::{Debug, Write as _};

/// Writes an integer in decimal.
pub(crate) fn int(out: &mut String, value: i128) {
    let mut buffer = itoa::Buffer::new();
    out.push_str(match i64::try_from(value) {
        Ok(value) => buffer.format(value),
        Err(_) => buffer.format(value),
    });
}

/// A float of a certain type, which determines its shortest digits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Half(f16),
    BFloat(bf16),
    Single(f32),
    Double(f64),
}

impl Number {
    /// Whether it is a NaN with bits other than those of `.nan`.
    pub(crate) fn is_unusual_nan(self) -> bool {
        match self {
            Number::Half(value) => value.is_nan() && value.to_bits() != f16::NAN.to_bits(),
            Number::BFloat(value) => value.is_nan() && value.to_bits() != bf16::NAN.to_bits(),
            Number::Single(value) => value.is_nan() && value.to_bits() != f32::NAN.to_bits(),
            Number::Double(value) => value.is_nan() && value.to_bits() != f64::NAN.to_bits(),
        }
    }
}

/// Writes a float. `special` holds the words for NaN, infinity and negative infinity.
pub(crate) fn float(out: &mut String, value: Number, special: [&str; 3]) {
    let wide = match value {
        Number::Half(value) => value.to_f64(),
        Number::BFloat(value) => value.to_f64(),
        Number::Single(value) => f64::from(value),
        Number::Double(value) => value,
    };
    let [nan, positive, negative] = special;
    match value {
        _ if wide.is_nan() => out.push_str(nan),
        _ if wide.is_infinite() => out.push_str(if wide > 0.0 { positive } else { negative }),
        Number::Half(value) => finite(out, shortest_half(value)),
        Number::BFloat(value) => finite(out, shortest_bfloat(value)),
        Number::Single(value) => finite(out, value),
        Number::Double(value) => finite(out, value),
    }
}

/// Writes a finite float with the shortest digits that are read back as the same number of its type. There is always
/// a point, and from 1e16 and below 1e-4 a signed exponent, because PyYAML reads `1e20` and `1.0e20` as text.
///
/// `Debug` changes to an exponent at the same limits.
fn finite(out: &mut String, value: impl Debug) {
    let start = out.len();
    // Writing to a string cannot fail.
    let _ = write!(out, "{value:?}");
    let Some(at) = out.get(start..).and_then(|text| text.find('e')) else { return };
    let exponent = out.split_off(start + at);
    if !out.get(start..).is_some_and(|mantissa| mantissa.contains('.')) {
        out.push_str(".0");
    }
    let exponent = exponent.trim_start_matches('e');
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    let _ = write!(out, "e{sign}{digits:0>2}");
}

/// The shortest decimal that is read back as `value`.
fn shortest_half(value: f16) -> f64 {
    shortest(value.to_f64(), |decimal| f16::from_f64(decimal) == value)
}

/// The shortest decimal that is read back as `value`.
fn shortest_bfloat(value: bf16) -> f64 {
    // bf16::from_f64 ignores the lower half of a double.
    let near = |bits: u16| bf16::from_bits(bits).to_f64();
    let (bits, middle) = (value.to_bits() & 0x7fff, value.to_f64().abs());
    let below = bits.checked_sub(1).map_or(f64::NEG_INFINITY, |bits| middle.midpoint(near(bits)));
    let above = match near(bits + 1) {
        next if next.is_finite() => middle.midpoint(next),
        _ => middle + (middle - below),
    };
    shortest(value.to_f64(), |decimal| below < decimal.abs() && decimal.abs() < above)
}

fn shortest(value: f64, returns: impl Fn(f64) -> bool) -> f64 {
    let candidates = (0..17_u8).flat_map(|digits| {
        let text = format!("{:.*e}", usize::from(digits), value.abs());
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa: u64 = mantissa.replace('.', "").parse().unwrap_or_default();
        let exponent = exponent.parse().unwrap_or(0_i32) - i32::from(digits);
        // Above a power of two, the next higher decimal can be right where the nearest one is not.
        [mantissa, mantissa + 1].map(|mantissa| format!("{mantissa}e{exponent}"))
    });
    let mut decimals = candidates.filter_map(|text| Some(text.parse::<f64>().ok()?.copysign(value)));
    decimals.find(|decimal| returns(*decimal)).unwrap_or(value)
}

/// Writes bytes in hexadecimal.
pub(crate) fn hex<'a>(out: &mut String, bytes: impl Iterator<Item = &'a u8>) {
    for byte in bytes {
        let digits = [byte >> 4, byte & 15].map(u32::from);
        out.extend(digits.iter().filter_map(|digit| char::from_digit(*digit, 16)));
    }
}

/// Writes bytes in base 64.
pub(crate) fn base64(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, i| bits << 8 | three.get(i).copied().map_or(0, usize::from));
        for place in 0..4 {
            let digit = DIGITS.get(bits >> (18 - 6 * place) & 63).filter(|_| place <= three.len());
            out.push(digit.copied().map_or('=', char::from));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(value: impl Debug) -> String {
        let mut out = String::new();
        finite(&mut out, value);
        out
    }

    #[test]
    fn exponents_have_a_point_a_sign_and_two_digits() {
        assert_eq!(text(1e16), "1.0e+16");
        assert_eq!(text(9_999_999_999_999_998.0), "9999999999999998.0");
        assert_eq!(text(1e-4), "0.0001");
        assert_eq!(text(1e-5), "1.0e-05");
        assert_eq!(text(1.5e20_f32), "1.5e+20");
        assert_eq!(text(1e-45_f32), "1.0e-45");
        assert_eq!(text(-2.5e300), "-2.5e+300");
        assert_eq!(text(-0.0), "-0.0");
    }

    #[test]
    fn every_half_and_bfloat_round_trips() {
        for bits in 0..=u16::MAX {
            let (half, bfloat) = (f16::from_bits(bits), bf16::from_bits(bits));
            if half.is_finite() {
                let back: f64 = text(shortest_half(half)).parse().unwrap();
                assert_eq!(f16::from_f64(back).to_bits(), bits);
            }
            if bfloat.is_finite() {
                let back: f64 = text(shortest_bfloat(bfloat)).parse().unwrap();
                let distance = |bits: u16| (back - bf16::from_bits(bits).to_f64()).abs();
                let neighbours =
                    [bits.checked_sub(1), bits.checked_add(1)].into_iter().flatten().map(distance);
                assert!(neighbours.filter(|other| !other.is_nan()).all(|other| other > distance(bits)));
            }
        }
        assert_eq!(text(shortest_half(f16::MAX)), "65500.0");
        assert_eq!(text(shortest_half(f16::from_f64(0.015625))), "0.01563");
        assert_eq!(text(shortest_bfloat(bf16::from_f64(0.1))), "0.1");
    }

    #[test]
    fn base64_is_padded() {
        for (bytes, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            let mut out = String::new();
            base64(&mut out, bytes.as_bytes());
            assert_eq!(out, expected);
        }
    }

    proptest! {
        #[test]
        fn doubles_return(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let shown = text(value);
            prop_assert_eq!(shown.parse::<f64>().unwrap().to_bits(), bits);
            prop_assert!(shown.contains('.'));
        }

        #[test]
        fn singles_return_in_their_own_type(bits: u32) {
            let value = f32::from_bits(bits);
            prop_assume!(value.is_finite());
            let shown = text(value);
            prop_assert_eq!(shown.parse::<f32>().unwrap().to_bits(), bits);
            // 9 digits are always enough for 24 bits. The rest is for sign, point, zeros and exponent.
            prop_assert!(shown.bytes().filter(u8::is_ascii_digit).count() <= 18, "{}", shown);
        }
    }
}
