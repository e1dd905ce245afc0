//! The types of stored numbers, and conversion between stored bytes and integers or doubles.

use hyperslab_core::{Error, Result};

/// The type of a stored number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    /// The kind and size of the number.
    pub kind: NumberKind,
    /// Whether the number is big-endian.
    pub big_endian: bool,
}

/// Type codes and names of NumPy.
const CODES: [(&str, &str, NumberKind); 12] = [
    ("b1", "bool", NumberKind::Bool),
    ("i1", "int8", NumberKind::Signed { bytes: 1 }),
    ("i2", "int16", NumberKind::Signed { bytes: 2 }),
    ("i4", "int32", NumberKind::Signed { bytes: 4 }),
    ("i8", "int64", NumberKind::Signed { bytes: 8 }),
    ("u1", "uint8", NumberKind::Unsigned { bytes: 1 }),
    ("u2", "uint16", NumberKind::Unsigned { bytes: 2 }),
    ("u4", "uint32", NumberKind::Unsigned { bytes: 4 }),
    ("u8", "uint64", NumberKind::Unsigned { bytes: 8 }),
    ("f2", "float16", NumberKind::Float16),
    ("f4", "float32", NumberKind::Float32),
    ("f8", "float64", NumberKind::Float64),
];

/// The kind and size of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// A boolean: one byte, 0 for false.
    Bool,
    /// A signed integer, two's complement.
    Signed {
        /// The size in bytes: 1, 2, 4 or 8; other values count as 8.
        bytes: u8,
    },
    /// An unsigned integer.
    Unsigned {
        /// The size in bytes: 1, 2, 4 or 8; other values count as 8.
        bytes: u8,
    },
    /// IEEE 754 half precision.
    Float16,
    /// IEEE 754 single precision.
    Float32,
    /// IEEE 754 double precision.
    Float64,
}

impl Number {
    /// The number type with this code or name in NumPy: `<f4`, `float32`. A code without byte order is little-endian.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for other types.
    pub fn of_code(code: &str) -> Result<Number> {
        let (big_endian, kind) = match code.split_at_checked(1) {
            Some((">", kind)) => (true, kind),
            Some(("<" | "|" | "=", kind)) => (false, kind),
            _ => (false, code),
        };
        let found = CODES
            .iter()
            .find(|(code, name, _)| *code == kind || *name == kind || kind == "?" && *code == "b1");
        let (.., kind) = found.ok_or_else(|| {
            Error::unsupported(format!(
                "number type {code:?}, expected a boolean, integer or floating-point type of NumPy"
            ))
        })?;
        Ok(Number { kind: *kind, big_endian })
    }

    /// The type code in NumPy: `<f4`, `>i2`, `|u1`.
    pub fn code(self) -> String {
        let size = self.size();
        let order = match (size, self.big_endian) {
            (1, _) => '|',
            (_, true) => '>',
            (_, false) => '<',
        };
        let kind = match self.kind {
            NumberKind::Bool => 'b',
            NumberKind::Signed { .. } => 'i',
            NumberKind::Unsigned { .. } => 'u',
            NumberKind::Float16 | NumberKind::Float32 | NumberKind::Float64 => 'f',
        };
        format!("{order}{kind}{size}")
    }

    /// The size of a number in bytes.
    pub fn size(self) -> usize {
        match self.kind {
            NumberKind::Bool => 1,
            NumberKind::Signed { bytes } | NumberKind::Unsigned { bytes } => match bytes {
                1 | 2 | 4 => bytes.into(),
                _ => 8,
            },
            NumberKind::Float16 => 2,
            NumberKind::Float32 => 4,
            NumberKind::Float64 => 8,
        }
    }

    /// Whether the type is floating-point.
    pub fn is_real(self) -> bool {
        matches!(self.kind, NumberKind::Float16 | NumberKind::Float32 | NumberKind::Float64)
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self.kind, NumberKind::Signed { .. })
    }

    /// The smallest and the largest size in bytes of numbers stored as `other`, given that they take `min` to `max`
    /// bytes stored as `self`.
    pub(crate) fn sizes_as(self, other: Number, min: usize, max: usize) -> Option<(usize, usize)> {
        let (min, max) = (min.div_ceil(self.size()), max / self.size());
        let size = |count: usize| count.saturating_mul(other.size());
        (min <= max).then_some((size(min), size(max)))
    }

    /// The size in bytes that the numbers in `len` bytes take when stored as `other`. `None` if `len` is not a multiple
    /// of the number size.
    pub(crate) fn size_as(self, other: Number, len: usize) -> Option<usize> {
        len.is_multiple_of(self.size()).then(|| len / self.size())?.checked_mul(other.size())
    }

    /// The upper bound of [`size_as`](Self::size_as).
    pub(crate) fn max_size_as(self, other: Number, len: usize) -> usize {
        (len / self.size()).saturating_mul(other.size())
    }

    /// The number of elements in `bytes`. Fails if the length is not a multiple of the element size.
    pub(crate) fn count(self, bytes: &[u8]) -> Result<usize> {
        match bytes.len().is_multiple_of(self.size()) {
            true => Ok(bytes.len() / self.size()),
            false => Err(Error::malformed(format!(
                "{} bytes, expected a multiple of the element size {}",
                bytes.len(),
                self.size()
            ))),
        }
    }

    /// Loads integers, each extended to 64 bits.
    pub(crate) fn load_integers(self, from: &[u8], to: &mut [u64]) {
        macro_rules! load {
            ($type:ty, $read:expr) => {
                self.load(from, to, <$type>::from_le_bytes, <$type>::from_be_bytes, $read)
            };
        }
        match self.kind {
            NumberKind::Signed { bytes: 1 } => {
                load!(i8, |value| i64::from(value).cast_unsigned());
            }
            NumberKind::Signed { bytes: 2 } => load!(i16, |value| i64::from(value).cast_unsigned()),
            NumberKind::Signed { bytes: 4 } => load!(i32, |value| i64::from(value).cast_unsigned()),
            NumberKind::Unsigned { bytes: 1 } => load!(u8, u64::from),
            NumberKind::Unsigned { bytes: 2 } => load!(u16, u64::from),
            NumberKind::Unsigned { bytes: 4 } => load!(u32, u64::from),
            NumberKind::Bool => load!(u8, |value| u64::from(value != 0)),
            _ => load!(u64, |value| value),
        }
    }

    /// Loads numbers of any kind as doubles. Integers of more than 53 bits are rounded.
    pub(crate) fn load_reals(self, from: &[u8], to: &mut [f64]) {
        macro_rules! load {
            ($type:ty, $read:expr) => {
                self.load(from, to, <$type>::from_le_bytes, <$type>::from_be_bytes, $read)
            };
        }
        match self.kind {
            NumberKind::Float16 => load!(half::f16, f64::from),
            NumberKind::Float32 => load!(f32, f64::from),
            NumberKind::Float64 => load!(f64, |value| value),
            _ => {
                let mut integers = [0; BLOCK];
                for (from, to) in from.chunks(BLOCK * self.size()).zip(to.chunks_mut(BLOCK)) {
                    let (integers, _) = integers.split_at_mut(to.len());
                    self.load_integers(from, integers);
                    for (to, from) in to.iter_mut().zip(&*integers) {
                        *to = real(*from, self.is_signed());
                    }
                }
            }
        }
    }

    /// Stores integers, truncated to the size of this type. `signed` is whether those in `from` are signed.
    pub(crate) fn store_integers(self, signed: bool, from: &[u64], to: &mut [u8]) {
        match self.kind {
            NumberKind::Bool => self.store(from, to, |value| [u8::from(value != 0)]),
            NumberKind::Signed { bytes } | NumberKind::Unsigned { bytes } => match bytes {
                1 => self.store(from, to, low::<1>),
                2 => self.store(from, to, low::<2>),
                4 => self.store(from, to, low::<4>),
                _ => self.store(from, to, low::<8>),
            },
            NumberKind::Float16 => {
                self.store(from, to, |value| half::f16::from_f64(real(value, signed)).to_le_bytes());
            }
            // A conversion by way of double would round twice.
            NumberKind::Float32 => self.store(from, to, |value| single(value, signed).to_le_bytes()),
            NumberKind::Float64 => self.store(from, to, |value| real(value, signed).to_le_bytes()),
        }
    }

    /// Stores numbers, rounded to the nearest. For integer types, truncates fractions, as NumPy does, and fails if a
    /// number is out of range.
    pub(crate) fn store_reals(self, from: &[f64], to: &mut [u8]) -> Result<()> {
        match self.kind {
            NumberKind::Float16 => self.store(from, to, |value| half::f16::from_f64(value).to_le_bytes()),
            NumberKind::Float32 => self.store(from, to, |value| narrow(value).to_le_bytes()),
            NumberKind::Float64 => self.store(from, to, f64::to_le_bytes),
            NumberKind::Bool => self.store(from, to, |value| [u8::from(value != 0.0)]),
            NumberKind::Signed { .. } | NumberKind::Unsigned { .. } => {
                let (low, high) = self.range();
                // One comparison, which is false for NaN too.
                if let Some(value) = from.iter().find(|value| !(low..high).contains(&value.trunc())) {
                    return Err(self.does_not_fit(value));
                }
                let mut integers = [0; BLOCK];
                for (from, to) in from.chunks(BLOCK).zip(to.chunks_mut(BLOCK * self.size())) {
                    let (integers, _) = integers.split_at_mut(from.len());
                    for (to, from) in integers.iter_mut().zip(from) {
                        *to = integer(*from, self.is_signed());
                    }
                    self.store_integers(self.is_signed(), integers, to);
                }
            }
        }
        Ok(())
    }

    /// The value of an integer after it is stored in this type and loaded again.
    pub(crate) fn wrapped(self, value: u64) -> u64 {
        let unused = 64_u32.saturating_sub(u32::try_from(self.size() * 8).unwrap_or(64));
        let high = value << unused;
        match self.kind {
            NumberKind::Bool => u64::from(value != 0),
            NumberKind::Signed { .. } => (high.cast_signed() >> unused).cast_unsigned(),
            _ => high >> unused,
        }
    }

    /// The nearest value of this type, if it is floating-point; otherwise the value.
    pub(crate) fn rounded(self, value: f64) -> f64 {
        match self.kind {
            NumberKind::Float16 => half::f16::from_f64(value).to_f64(),
            NumberKind::Float32 => f64::from(narrow(value)),
            _ => value,
        }
    }

    /// Whether an integer that was stored as `other` and loaded again is in the range of this type, and unchanged if
    /// `other` is an integer type.
    pub(crate) fn returns_from(self, other: Number, value: u64) -> bool {
        if other.is_real() {
            let (low, high) = self.range();
            return (low..high).contains(&other.rounded(real(value, self.is_signed())));
        }
        // With the same number of bits, only one of a signed and an unsigned type may hold the value.
        let negative = value.cast_signed() < 0;
        other.wrapped(value) == value && (self.is_signed() == other.is_signed() || !negative)
    }

    pub(crate) fn does_not_fit(self, value: impl std::fmt::Display) -> Error {
        let kind = match (self.is_real(), self.is_signed()) {
            (true, _) => "float",
            (false, true) => "int",
            (false, false) => "uint",
        };
        Error::invalid(format!("{value} does not fit in {kind}{}", self.size() * 8))
    }

    /// The minimum, and the maximum plus one.
    fn range(self) -> (f64, f64) {
        if self.kind == NumberKind::Bool {
            return (0.0, 2.0);
        }
        let bits = i32::try_from(self.size() * 8).unwrap_or(64);
        match self.is_signed() {
            true => (-f64::powi(2.0, bits - 1), f64::powi(2.0, bits - 1)),
            false => (0.0, f64::powi(2.0, bits)),
        }
    }

    #[inline(always)]
    fn load<const N: usize, T, V>(
        self,
        from: &[u8],
        to: &mut [V],
        little: impl Fn([u8; N]) -> T,
        big: impl Fn([u8; N]) -> T,
        read: impl Fn(T) -> V,
    ) {
        let pairs = from.as_chunks::<N>().0.iter().zip(to);
        match self.big_endian {
            true => pairs.for_each(|(from, to)| *to = read(big(*from))),
            false => pairs.for_each(|(from, to)| *to = read(little(*from))),
        }
    }

    #[inline(always)]
    fn store<const N: usize, V: Copy>(self, from: &[V], to: &mut [u8], bytes: impl Fn(V) -> [u8; N]) {
        let pairs = from.iter().zip(to.as_chunks_mut::<N>().0);
        match self.big_endian {
            true => pairs.for_each(|(from, to)| {
                *to = bytes(*from);
                to.reverse();
            }),
            false => pairs.for_each(|(from, to)| *to = bytes(*from)),
        }
    }
}

/// The error if stored numbers are out of range: the file is malformed.
pub(crate) fn stored_does_not_fit(e: Error) -> Error {
    Error::malformed(e.detail().to_owned())
}

/// The number of numbers that are converted at a time.
pub(crate) const BLOCK: usize = 512;

fn low<const N: usize>(value: u64) -> [u8; N] {
    value.to_le_bytes().first_chunk().copied().unwrap_or([0; N])
}

#[expect(clippy::cast_precision_loss, reason = "rounds to the nearest number")]
fn real(value: u64, signed: bool) -> f64 {
    if signed { value.cast_signed() as f64 } else { value as f64 }
}

#[expect(clippy::cast_precision_loss, reason = "rounds to the nearest number")]
fn single(value: u64, signed: bool) -> f32 {
    if signed { value.cast_signed() as f32 } else { value as f32 }
}

#[expect(clippy::cast_possible_truncation, reason = "rounds to the nearest number")]
fn narrow(value: f64) -> f32 {
    value as f32
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "callers have checked the range")]
fn integer(value: f64, signed: bool) -> u64 {
    if signed { (value as i64).cast_unsigned() } else { value as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNED_8: Number = Number { kind: NumberKind::Signed { bytes: 1 }, big_endian: false };
    const UNSIGNED_16: Number = Number { kind: NumberKind::Unsigned { bytes: 2 }, big_endian: true };
    const UNSIGNED_64: Number = Number { kind: NumberKind::Unsigned { bytes: 8 }, big_endian: false };

    #[test]
    fn stores_numbers_in_their_byte_order() {
        let mut bytes = [0; 4];
        UNSIGNED_16.store_integers(false, &[0x0102, 0x1_fffe], &mut bytes);
        assert_eq!(bytes, [1, 2, 0xff, 0xfe]);
        let mut back = [0; 2];
        UNSIGNED_16.load_integers(&bytes, &mut back);
        assert_eq!(back, [0x0102, 0xfffe]);
        let mut reals = [0.0; 2];
        UNSIGNED_16.load_reals(&bytes, &mut reals);
        assert_eq!(reals, [258.0, 65_534.0]);
    }

    #[test]
    fn rejects_numbers_out_of_range() {
        let store = |number: Number, value: f64| {
            let mut bytes = [0; 8];
            number.store_reals(&[value], &mut bytes).map_err(|e| e.to_string())
        };
        for fits in [-128.0, -128.9, 127.9, -0.5] {
            store(SIGNED_8, fits).unwrap();
        }
        assert_eq!(store(SIGNED_8, 128.0).unwrap_err(), "128 does not fit in int8");
        assert_eq!(store(UNSIGNED_16, f64::NAN).unwrap_err(), "NaN does not fit in uint16");
        assert!(store(UNSIGNED_16, -1.0).is_err() && store(UNSIGNED_16, -0.9).is_ok());
        assert!(store(UNSIGNED_64, 18_446_744_073_709_551_616.0).is_err());
        assert!(store(UNSIGNED_64, 18_446_744_073_709_549_568.0).is_ok());
    }

    #[test]
    fn rounds_integers_once() {
        let single = Number { kind: NumberKind::Float32, big_endian: false };
        let value = (1_u64 << 60) + (1 << 36) + 1;
        let mut bytes = [0; 4];
        single.store_integers(false, &[value], &mut bytes);
        assert_eq!(f32::from_le_bytes(bytes).to_bits(), 0x5d80_0001);
    }
}
