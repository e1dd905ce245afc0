//! Decimal text as floating-point numbers of any format, rounded once, to nearest, ties to even.
//!
//! Numbers are integers of any length. A decimal is an integer times or divided by a power of ten; one division gives
//! its significant bits and whether a remainder is left. Powers of ten are kept, and the total cost is limited.

use super::super::scalar::{normalized, special};
use hyperslab_model::{Float, FloatFormat, Normalization};
use std::cmp::Ordering;

/// A floating-point format.
struct Binary {
    bytes: usize,
    sign: usize,
    exponent: (usize, u32),
    mantissa: (usize, u32),
    bias: i64,
    /// Whether the first bit of the mantissa is stored.
    explicit: bool,
}

/// The result of converting a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Encoded {
    /// The stored bytes, least significant first.
    Bytes(Vec<u8>),
    TooLarge,
    /// The format has more bits than this code supports.
    Unwieldy,
    /// The limit of work for all numbers of the array is reached.
    TooCostly,
}

/// The powers of ten computed before, and the remaining work.
pub(super) struct Powers {
    /// Powers of 10^256.
    steps: Vec<Big>,
    /// The number of multiplications that are still allowed.
    left: usize,
}

/// A number: least significant limb first, the last limb is not 0.
type Big = Vec<u32>;

impl Default for Powers {
    fn default() -> Self {
        Powers { steps: vec![vec![1]], left: MAX_WORK }
    }
}

impl Powers {
    /// Converts a text, which is known to be a number, to the format.
    pub(super) fn encode(&mut self, text: &str, float: &Float) -> Encoded {
        let Some(format) = Binary::of(float) else { return Encoded::Unwieldy };
        let negative = text.starts_with('-');
        let top = (1_u64 << format.exponent.1) - 1;
        if let Some(value) = special(text) {
            let first = u128::from(format.explicit) << (format.mantissa.1 - 1);
            let quiet = 1_u128 << (format.mantissa.1 - 1 - u32::from(format.explicit));
            return format.bytes(negative, top, if value.is_nan() { first | quiet } else { first });
        }
        let (mut digits, point) = normalized(text);
        if digits.is_empty() || point < -MAX_EXPONENT {
            return format.bytes(negative, 0, 0);
        }
        if point > MAX_EXPONENT {
            return Encoded::TooLarge;
        }
        if digits.len() > MAX_DIGITS {
            // Digits after the limit decide only whether the number is above a tie.
            digits.truncate(MAX_DIGITS);
            digits.push(b'1');
        }
        let Ok(len) = i64::try_from(digits.len()) else { return Encoded::TooCostly };
        match self.rounded(&digits, point - len, &format) {
            None => Encoded::TooCostly,
            Some((field, _)) if field >= top => Encoded::TooLarge,
            Some((field, mantissa)) => format.bytes(negative, field, mantissa),
        }
    }

    /// The exponent and mantissa, in stored form, of an integer times a power of ten.
    fn rounded(&mut self, digits: &[u8], power: i64, format: &Binary) -> Option<(u64, u128)> {
        let precision = i64::from(format.mantissa.1) + i64::from(!format.explicit);
        let least = 1 - format.bias;
        let scale = self.power(usize::try_from(power.unsigned_abs()).ok()?)?;
        let integer = self.integer(digits)?;
        let (over, under) = match power < 0 {
            true => (integer, scale),
            false => (self.product(&integer, &scale)?, vec![1]),
        };
        // One or two bits more than the format keeps. Fewer for subnormal numbers.
        let shift = (precision + 1 - (bits(&over) - bits(&under))).min(precision - least);
        let (over, under) = match usize::try_from(shift) {
            Ok(shift) => (shifted(&over, shift), under),
            Err(_) => (over, shifted(&under, usize::try_from(-shift).ok()?)),
        };
        let (quotient, exact) = self.quotient(over, &under)?;
        let width = i64::from(128 - quotient.leading_zeros());
        let lowest = (width - shift).max(least + 1) - precision;
        let dropped = u32::try_from(lowest + shift).ok()?;
        let mut kept = quotient.checked_shr(dropped).unwrap_or(0);
        let rest = quotient & !(u128::MAX.checked_shl(dropped).unwrap_or(0));
        let half = 1_u128.checked_shl(dropped.checked_sub(1)?)?;
        kept += u128::from(match rest.cmp(&half) {
            Ordering::Equal => !exact || kept & 1 == 1,
            order => order == Ordering::Greater,
        });
        let implied = 1_u128 << u32::try_from(precision - 1).ok()?;
        if kept < implied {
            return Some((0, kept));
        }
        // Rounding up can need one bit more. Then all bits but the first are 0.
        let carried = kept >= implied << 1;
        let kept = if carried { kept >> 1 } else { kept };
        let exponent = lowest + precision - 1 + i64::from(carried) + format.bias;
        let mantissa = if format.explicit { kept } else { kept & (implied - 1) };
        Some((u64::try_from(exponent).ok()?, mantissa))
    }

    fn integer(&mut self, digits: &[u8]) -> Option<Big> {
        let mut number = Big::new();
        for part in digits.chunks(9) {
            self.spend(number.len())?;
            let value = part.iter().fold(0, |value, digit| 10 * value + u64::from(digit - b'0'));
            let mut carry = value;
            for limb in &mut number {
                carry += u64::from(*limb) * 10_u64.pow(u32::try_from(part.len()).ok()?);
                *limb = low(carry);
                carry >>= 32;
            }
            number.extend((carry > 0).then(|| low(carry)));
        }
        Some(number)
    }

    fn power(&mut self, power: usize) -> Option<Big> {
        let small = |power: usize| {
            let mut digits = vec![b'0'; power + 1];
            digits.first_mut().into_iter().for_each(|digit| *digit = b'1');
            digits
        };
        while self.steps.len() <= power / STEP {
            let step = self.integer(&small(STEP))?;
            let next = self.product(self.steps.last()?.clone().as_slice(), &step)?;
            self.steps.push(next);
        }
        let rest = self.integer(&small(power % STEP))?;
        let step = self.steps.get(power / STEP)?.clone();
        self.product(&step, &rest)
    }

    fn product(&mut self, a: &[u32], b: &[u32]) -> Option<Big> {
        self.spend(a.len().saturating_mul(b.len()))?;
        let mut product = vec![0; a.len() + b.len()];
        for (at, x) in a.iter().enumerate() {
            let mut carry = 0;
            let row = product.get_mut(at..)?;
            for (limb, y) in row.iter_mut().zip(b.iter().chain(std::iter::repeat(&0)).take(b.len() + 1)) {
                carry += u64::from(*limb) + u64::from(*x) * u64::from(*y);
                *limb = low(carry);
                carry >>= 32;
            }
        }
        trim(&mut product);
        Some(product)
    }

    /// The quotient, which has less than 128 bits, and whether the remainder is 0.
    fn quotient(&mut self, over: Big, under: &[u32]) -> Option<(u128, bool)> {
        // Knuth, The Art of Computer Programming, 4.3.1, algorithm D. The first bit of the divisor is 1.
        let normal = under.last()?.leading_zeros();
        let normal = usize::try_from(normal).ok()?;
        let under = shifted(under, normal);
        let mut over = shifted(&over, normal);
        over.push(0);
        let first = u64::from(*under.last()?);
        let second =
            under.len().checked_sub(2).and_then(|at| under.get(at)).map_or(0, |limb| u64::from(*limb));
        let mut quotient = 0_u128;
        for at in (0..over.len().saturating_sub(under.len())).rev() {
            self.spend(under.len())?;
            let row = over.get_mut(at..=at + under.len())?;
            let mut top = row.iter().rev().map(|limb| u64::from(*limb));
            let (high, next, third) = (top.next()?, top.next()?, top.next().unwrap_or(0));
            let head = high << 32 | next;
            let (mut digit, mut left) = (head / first, head % first);
            while digit >> 32 > 0 || digit * second > (left << 32 | third) {
                digit -= 1;
                left += first;
                if left >> 32 > 0 {
                    break;
                }
            }
            let (mut carry, mut borrow) = (0_u64, false);
            for (limb, y) in row.iter_mut().zip(under.iter().chain([&0])) {
                carry += digit * u64::from(*y);
                let (less, one) = limb.overflowing_sub(low(carry));
                let (less, two) = less.overflowing_sub(u32::from(borrow));
                (*limb, borrow) = (less, one || two);
                carry >>= 32;
            }
            if borrow {
                digit -= 1;
                let mut carry = 0;
                for (limb, y) in row.iter_mut().zip(under.iter().chain([&0])) {
                    carry += u64::from(*limb) + u64::from(*y);
                    *limb = low(carry);
                    carry >>= 32;
                }
            }
            quotient = quotient << 32 | u128::from(digit);
        }
        Some((quotient, over.iter().all(|limb| *limb == 0)))
    }

    fn spend(&mut self, work: usize) -> Option<()> {
        self.left = self.left.checked_sub(work.max(1))?;
        Some(())
    }
}

impl Binary {
    fn of(float: &Float) -> Option<Binary> {
        let (bits, sign, exponent, mantissa, bias, explicit) = match float {
            Float::Quad => (128, 127, (112, 15), (0, 112), 16383, false),
            Float::Other(FloatFormat { bits, sign, exponent, mantissa, bias, normalization }) => {
                let explicit = *normalization != Normalization::Implied;
                (*bits, *sign, *exponent, *mantissa, *bias, explicit)
            }
            _ => return None,
        };
        let fits = |(at, count): (u8, u8)| u16::from(at) + u16::from(count) <= bits;
        let sound = fits(exponent) && fits(mantissa) && u16::from(sign) < bits;
        let small = (2..=15).contains(&exponent.1) && (2..=120).contains(&mantissa.1) && bias < 1 << 15;
        (sound && small).then(|| Binary {
            bytes: usize::from(bits).div_ceil(8),
            sign: usize::from(sign),
            exponent: (usize::from(exponent.0), u32::from(exponent.1)),
            mantissa: (usize::from(mantissa.0), u32::from(mantissa.1)),
            bias: i64::from(bias),
            explicit,
        })
    }

    fn bytes(&self, negative: bool, exponent: u64, mantissa: u128) -> Encoded {
        let mut bytes = vec![0; self.bytes];
        let fields = [
            (self.sign, 1, u128::from(negative)),
            (self.exponent.0, self.exponent.1, u128::from(exponent)),
            (self.mantissa.0, self.mantissa.1, mantissa),
        ];
        for (at, count, value) in fields {
            for bit in (0..count).filter(|bit| value >> bit & 1 == 1) {
                let place = at + usize::try_from(bit).unwrap_or(usize::MAX / 2);
                if let Some(byte) = bytes.get_mut(place / 8) {
                    *byte |= 1 << (place % 8);
                }
            }
        }
        Encoded::Bytes(bytes)
    }
}

fn low(value: u64) -> u32 {
    u32::try_from(value & u64::from(u32::MAX)).unwrap_or(u32::MAX)
}

fn trim(number: &mut Big) {
    while number.last() == Some(&0) {
        number.pop();
    }
}

/// The number of bits.
fn bits(number: &[u32]) -> i64 {
    let last = number.last().map_or(32, |limb| limb.leading_zeros());
    i64::try_from(32 * number.len()).unwrap_or(i64::MAX) - i64::from(last)
}

fn shifted(number: &[u32], by: usize) -> Big {
    let mut out = vec![0; by / 32];
    let mut carry = 0;
    for limb in number {
        carry |= u64::from(*limb) << (by % 32);
        out.push(low(carry));
        carry >>= 32;
    }
    out.push(low(carry));
    trim(&mut out);
    out
}

/// The power of ten whose powers are kept.
const STEP: usize = 256;

/// A decimal exponent whose numbers are infinite or zero in every format: 2^(2^16) has fewer digits.
const MAX_EXPONENT: i64 = 20_000;

/// The maximum number of digits that are used. The tie between two neighbouring numbers has fewer digits.
const MAX_DIGITS: usize = 40_000;

/// The maximum number of multiplications for all numbers of one array. They take about a second.
const MAX_WORK: usize = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::scalar::small_float;

    fn format(bits: u16, sign: u8, exponent: (u8, u8), mantissa: (u8, u8), bias: u32) -> Float {
        Float::Other(FloatFormat {
            bits,
            sign,
            exponent,
            mantissa,
            bias,
            normalization: Normalization::Implied,
        })
    }

    fn bytes(text: &str, float: &Float) -> Vec<u8> {
        match Powers::default().encode(text, float) {
            Encoded::Bytes(bytes) => bytes,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn encodes_doubles_and_singles_as_rust_parses_them() {
        let double = format(64, 63, (52, 11), (0, 52), 1023);
        let single = format(32, 31, (23, 8), (0, 23), 127);
        let texts = [
            "0",
            "-0.0",
            "1",
            "1.5",
            "0.1",
            "-84.7619",
            "1e22",
            "1e23",
            "9007199254740993",
            "5e-324",
            "2.5e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "2.2250738585072014e-308",
            "2.2250738585072011e-308",
            "1.7976931348623157e308",
            "123456789012345678901234567890e-40",
            ".inf",
            "-Infinity",
            "1.00000017881393432617187499",
            "1e-45",
            "1.1754942e-38",
            "3.4028235e38",
        ];
        for text in texts {
            let plain = special(text).unwrap_or_else(|| text.parse().unwrap());
            assert_eq!(bytes(text, &double), plain.to_le_bytes(), "{text}");
            if plain.is_infinite() || plain.abs() < 3.4e38 {
                let plain = special(text).map_or_else(
                    || text.parse::<f32>().unwrap(),
                    |value| {
                        if value > 0.0 { f32::INFINITY } else { f32::NEG_INFINITY }
                    },
                );
                assert_eq!(bytes(text, &single), plain.to_le_bytes(), "{text}");
            }
        }
        assert_eq!(Powers::default().encode("1.7976931348623159e308", &double), Encoded::TooLarge);
        assert_eq!(Powers::default().encode("1e999999999999", &double), Encoded::TooLarge);
        assert_eq!(bytes("1e-999999999999", &double), [0; 8]);
    }

    #[test]
    fn encodes_halves_as_small_float_does() {
        let half = format(16, 15, (10, 5), (0, 10), 15);
        for bits in (0..0x7bff_u16).step_by(7) {
            let text = format!("{:.40}", half::f16::from_bits(bits).to_f64() * 1.0003);
            assert_eq!(
                Some(bytes(&text, &half)),
                small_float(&text, 11).map(|bits| bits.to_le_bytes().to_vec())
            );
        }
    }

    #[test]
    fn encodes_quad_and_x87_numbers_as_compilers_do() {
        let hex = |bytes: Vec<u8>| bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect::<String>();
        let quad = |text: &str| hex(bytes(text, &Float::Quad));
        assert_eq!(quad("1.5"), "3fff8000000000000000000000000000");
        assert_eq!(quad("0.1"), "3ffb999999999999999999999999999a");
        assert_eq!(quad("-3.14159265358979323846264338327950288"), "c000921fb54442d18469898cc51701b8");
        assert_eq!(quad("1.18973149535723176508575932662800702e4932"), "7ffeffffffffffffffffffffffffffff");
        assert_eq!(quad("6.47517511943802511092443895822764655e-4966"), "00000000000000000000000000000001");
        assert_eq!(quad("3.2e-4966"), "00000000000000000000000000000000");
        assert_eq!(quad(".nan"), "7fff8000000000000000000000000000");
        let x87 = Float::Other(FloatFormat {
            bits: 80,
            sign: 79,
            exponent: (64, 15),
            mantissa: (0, 64),
            bias: 16383,
            normalization: Normalization::Set,
        });
        assert_eq!(hex(bytes("0.1", &x87)), "3ffbcccccccccccccccd");
        assert_eq!(hex(bytes(".inf", &x87)), "7fff8000000000000000");
        assert_eq!(hex(bytes(".nan", &x87)), "7fffc000000000000000");
    }

    #[test]
    fn last_digit_of_many_decides_a_tie() {
        let half = format(16, 15, (10, 5), (0, 10), 15);
        assert_eq!(bytes("2049", &half), half::f16::from_f32(2048.0).to_le_bytes());
        let above = format!("2049.{}1", "0".repeat(100_000));
        assert_eq!(bytes(&above, &half), half::f16::from_f32(2050.0).to_le_bytes());
    }

    #[test]
    fn limits_the_work_for_long_numbers() {
        let mut powers = Powers { left: 1 << 20, ..Powers::default() };
        let count =
            (0..1000).take_while(|_| powers.encode("7e-4000", &Float::Quad) != Encoded::TooCostly).count();
        assert!((1..900).contains(&count), "{count}");
    }
}
