//! Floating-point formats of all registered sizes, and their numbers in JSON.
//!
//! Spec: Zarr v3 "Permitted fill values", zarr-extensions/data-types/{bfloat16,float8_*,float6_*,float4_*}

use crate::json::{Json, Number, Spot};
use hyperslab_core::Result;

/// A format of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the registry's")]
pub enum Float {
    Float16,
    Float32,
    Float64,
    Bfloat16,
    Float8E3m4,
    Float8E4m3,
    Float8E4m3b11fnuz,
    Float8E4m3fnuz,
    Float8E5m2,
    Float8E5m2fnuz,
    Float8E8m0fnu,
    Float6E2m3fn,
    Float6E3m2fn,
    Float4E2m1fn,
}

/// The meaning of the largest exponent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// Infinity and NaN.
    Ieee,
    /// Finite numbers. The only NaN has the bits of negative zero.
    NanAtNegativeZero,
    /// Finite numbers.
    Finite,
}

struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    special: Special,
}

impl Float {
    /// The name in the registry.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, float)| *float == self).map_or("", |(name, _)| name)
    }

    /// The format with this name.
    pub fn named(name: &str) -> Option<Float> {
        NAMES.iter().find(|(found, _)| *found == name).map(|(_, float)| *float)
    }

    /// All formats.
    pub fn all() -> impl Iterator<Item = Float> {
        NAMES.iter().map(|(_, float)| *float)
    }

    /// The size of one number in bytes. Formats of less than 8 bits take one byte.
    pub fn bytes(self) -> u8 {
        match self {
            Float::Float64 => 8,
            Float::Float32 => 4,
            Float::Float16 | Float::Bfloat16 => 2,
            _ => 1,
        }
    }

    /// The size of one number in bits.
    pub fn bits(self) -> u8 {
        match self {
            Float::Float6E2m3fn | Float::Float6E3m2fn => 6,
            Float::Float4E2m1fn => 4,
            _ => 8 * self.bytes(),
        }
    }

    /// The value of a number with these bits. Bits beyond the size of the format are ignored.
    pub fn value(self, bits: u64) -> f64 {
        match self {
            Float::Float64 => return f64::from_bits(bits),
            Float::Float32 => return f64::from(f32::from_bits(low_32(bits))),
            Float::Float8E8m0fnu => {
                let bits = low_32(bits) & 0xff;
                let exponent = i32::try_from(bits).unwrap_or_default() - 127;
                return if bits == 0xff { f64::NAN } else { 2_f64.powi(exponent) };
            }
            _ => {}
        }
        let format = self.format();
        let bits = low_32(bits);
        let sign_bit = format.exponent_bits + format.mantissa_bits;
        let negative = (bits >> sign_bit) & 1 == 1;
        let magnitude = bits & ((1 << sign_bit) - 1);
        if negative && magnitude == 0 && format.special == Special::NanAtNegativeZero {
            return f64::NAN;
        }
        let exponent = magnitude >> format.mantissa_bits;
        let mantissa = magnitude & ((1 << format.mantissa_bits) - 1);
        let sign = if negative { -1.0 } else { 1.0 };
        if format.special == Special::Ieee && exponent == (1 << format.exponent_bits) - 1 {
            return if mantissa == 0 { sign * f64::INFINITY } else { f64::NAN };
        }
        let significand = if exponent == 0 { mantissa } else { mantissa | 1 << format.mantissa_bits };
        let scale = i32::try_from(exponent.max(1)).unwrap_or_default()
            - format.bias
            - i32::try_from(format.mantissa_bits).unwrap_or_default();
        sign * f64::from(significand) * 2_f64.powi(scale)
    }

    /// The bits of a number in JSON.
    pub(super) fn parse(self, json: &Json, at: &Spot<'_>) -> Result<u64> {
        let lacks = |value: &str| at.malformed(format!("{value}, which {} does not have", self.name()));
        match json {
            Json::Number(number) => self.round(number).ok_or_else(|| lacks(&format!("{number}"))),
            Json::String(text) => match text.as_str() {
                "NaN" => self.nan().ok_or_else(|| lacks("NaN")),
                "Infinity" => self.infinity(false).ok_or_else(|| lacks("Infinity")),
                "-Infinity" => self.infinity(true).ok_or_else(|| lacks("-Infinity")),
                text => text
                    .strip_prefix("0x")
                    .filter(|digits| digits.len() == 2 * usize::from(self.bytes()))
                    .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
                    .and_then(|digits| u64::from_str_radix(digits, 16).ok())
                    .ok_or_else(|| {
                        at.malformed(format!(
                            "{text:?}, expected NaN, Infinity, -Infinity or 0x and {} digits",
                            2 * self.bytes()
                        ))
                    }),
            },
            other => Err(other.is_not("a number or the name of one", at)),
        }
    }

    /// The number with these bits in JSON.
    pub(super) fn emit(self, bits: u64) -> Json {
        let value = self.value(bits);
        if value.is_infinite() {
            return if value > 0.0 { "Infinity" } else { "-Infinity" }.into();
        }
        // The shortest digits that round-trip depend on the format.
        let short = match self {
            Float::Float32 => format!("{:?}", f32::from_bits(low_32(bits))).parse().unwrap_or(value),
            _ => value,
        };
        match Number::float(short) {
            Some(number) if self.round(&number) == Some(bits) => Json::Number(number),
            _ if self.nan() == Some(bits) => "NaN".into(),
            _ => format!("0x{bits:0width$x}", width = 2 * usize::from(self.bytes())).as_str().into(),
        }
    }

    /// The nearest number, ties to even. `None` if the number is too large and the format has no infinity.
    fn round(self, number: &Number) -> Option<u64> {
        let value = number.as_f64();
        match self {
            Float::Float64 => return Some(value.to_bits()),
            Float::Float32 => {
                return number.as_str().parse::<f32>().ok().map(|value| u64::from(value.to_bits()));
            }
            Float::Float8E8m0fnu => return (0..0xff).find(|bits| self.value(*bits) == value),
            _ => {}
        }
        let format = self.format();
        let negative = value.is_sign_negative();
        let magnitude = match format.round(value.abs()) {
            Some(magnitude) => magnitude,
            None => return self.infinity(negative),
        };
        // If NaN has the bits of negative zero, zero has no sign.
        let signed = negative && (magnitude != 0 || format.special != Special::NanAtNegativeZero);
        Some(magnitude | u64::from(signed) << (format.exponent_bits + format.mantissa_bits))
    }

    /// The bits that the word `NaN` stands for.
    pub(super) fn nan(self) -> Option<u64> {
        match self {
            Float::Float64 => return Some(0x7ff8_0000_0000_0000),
            Float::Float32 => return Some(0x7fc0_0000),
            Float::Float8E8m0fnu => return Some(0xff),
            _ => {}
        }
        let format = self.format();
        match format.special {
            Special::Ieee => Some(format.first_special() | 1 << (format.mantissa_bits - 1)),
            Special::NanAtNegativeZero => Some(1 << (format.exponent_bits + format.mantissa_bits)),
            Special::Finite => None,
        }
    }

    fn infinity(self, negative: bool) -> Option<u64> {
        let (positive, sign) = match self {
            Float::Float64 => (0x7ff0_0000_0000_0000, 1 << 63),
            Float::Float32 => (0x7f80_0000, 1 << 31),
            Float::Float8E8m0fnu => return None,
            _ => {
                let format = self.format();
                if format.special != Special::Ieee {
                    return None;
                }
                (format.first_special(), 1 << (format.exponent_bits + format.mantissa_bits))
            }
        };
        Some(if negative { positive | sign } else { positive })
    }

    fn format(self) -> Format {
        let (exponent_bits, mantissa_bits, bias, special) = match self {
            Float::Float16 => (5, 10, 15, Special::Ieee),
            Float::Float32 => (8, 23, 127, Special::Ieee),
            Float::Float64 => (11, 52, 1023, Special::Ieee),
            Float::Bfloat16 => (8, 7, 127, Special::Ieee),
            Float::Float8E3m4 => (3, 4, 3, Special::Ieee),
            Float::Float8E4m3 => (4, 3, 7, Special::Ieee),
            Float::Float8E4m3b11fnuz => (4, 3, 11, Special::NanAtNegativeZero),
            Float::Float8E4m3fnuz => (4, 3, 8, Special::NanAtNegativeZero),
            Float::Float8E5m2 => (5, 2, 15, Special::Ieee),
            Float::Float8E5m2fnuz => (5, 2, 16, Special::NanAtNegativeZero),
            Float::Float8E8m0fnu => (8, 0, 127, Special::Finite),
            Float::Float6E2m3fn => (2, 3, 1, Special::Finite),
            Float::Float6E3m2fn => (3, 2, 3, Special::Finite),
            Float::Float4E2m1fn => (2, 1, 1, Special::Finite),
        };
        Format { exponent_bits, mantissa_bits, bias, special }
    }
}

impl Format {
    /// The smallest magnitude that is not a finite number.
    fn first_special(&self) -> u64 {
        match self.special {
            Special::Ieee => ((1 << self.exponent_bits) - 1) << self.mantissa_bits,
            Special::NanAtNegativeZero | Special::Finite => 1 << (self.exponent_bits + self.mantissa_bits),
        }
    }

    /// The magnitude nearest to a value that is not negative. `None` if the result is not a finite number.
    fn round(&self, value: f64) -> Option<u64> {
        let bits = value.to_bits();
        // Subnormal doubles round to zero in every smaller format.
        if bits >> 52 == 0 {
            return Some(0);
        }
        let significand = bits & ((1 << 52) - 1) | 1 << 52;
        let exponent = i32::try_from(bits >> 52).ok()? - 1023 + self.bias;
        let (dropped, base) = match exponent {
            1.. => (0, u64::try_from(exponent - 1).ok()? << self.mantissa_bits),
            _ => (1 - exponent, 0),
        };
        let shift = 52 - self.mantissa_bits + u32::try_from(dropped).ok()?;
        let rounded = match shift {
            0..=54 => {
                let kept = significand >> shift;
                let rest = significand & ((1 << shift) - 1);
                let half = 1 << (shift - 1);
                kept + u64::from(rest > half || rest == half && kept & 1 == 1)
            }
            _ => 0,
        };
        let magnitude = base + rounded;
        (magnitude < self.first_special()).then_some(magnitude)
    }
}

fn low_32(bits: u64) -> u32 {
    u32::try_from(bits & 0xffff_ffff).unwrap_or_default()
}

const NAMES: [(&str, Float); 14] = [
    ("float16", Float::Float16),
    ("float32", Float::Float32),
    ("float64", Float::Float64),
    ("bfloat16", Float::Bfloat16),
    ("float8_e3m4", Float::Float8E3m4),
    ("float8_e4m3", Float::Float8E4m3),
    ("float8_e4m3b11fnuz", Float::Float8E4m3b11fnuz),
    ("float8_e4m3fnuz", Float::Float8E4m3fnuz),
    ("float8_e5m2", Float::Float8E5m2),
    ("float8_e5m2fnuz", Float::Float8E5m2fnuz),
    ("float8_e8m0fnu", Float::Float8E8m0fnu),
    ("float6_e2m3fn", Float::Float6E2m3fn),
    ("float6_e3m2fn", Float::Float6E3m2fn),
    ("float4_e2m1fn", Float::Float4E2m1fn),
];
