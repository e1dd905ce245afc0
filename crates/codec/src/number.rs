//! Numbers as stored bytes, to and from what can be computed with.

use hyperslab_core::{Error, Result};

/// A number as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    /// What it is.
    pub kind: NumberKind,
    /// Whether the most significant byte comes first.
    pub big_endian: bool,
}

/// Codes and names in NumPy.
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

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// A byte, of which 0 is false.
    Bool,
    /// An integer in two's complement.
    Signed {
        /// 1, 2, 4 or 8; any other counts as 8.
        bytes: u8,
    },
    /// An integer of no sign.
    Unsigned {
        /// 1, 2, 4 or 8; any other counts as 8.
        bytes: u8,
    },
    /// IEEE half.
    Float16,
    /// IEEE single.
    Float32,
    /// IEEE double.
    Float64,
}

impl Number {
    /// The type of numbers of a code or a name in NumPy: `<f4`, `float32`. Without a sign for the order of bytes, the
    /// least significant byte comes first.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for another type.
    pub fn of_code(code: &str) -> Result<Number> {
        let (big_endian, kind) = match code.split_at_checked(1) {
            Some((">", kind)) => (true, kind),
            Some(("<" | "|" | "=", kind)) => (false, kind),
            _ => (false, code),
        };
        let found = CODES
            .iter()
            .find(|(code, name, _)| *code == kind || *name == kind || kind == "?" && *code == "b1");
        let (.., kind) = found.ok_or_else(|| Error::unsupported(format!("numbers of type {code:?}")))?;
        Ok(Number { kind: *kind, big_endian })
    }

    /// The code in NumPy: `<f4`, `>i2`, `|u1`.
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

    /// The bytes of one.
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

    /// Whether it may have a fraction.
    pub fn is_real(self) -> bool {
        matches!(self.kind, NumberKind::Float16 | NumberKind::Float32 | NumberKind::Float64)
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self.kind, NumberKind::Signed { .. })
    }

    /// The bounds on `stored` bytes of these as so many of `other`.
    pub(crate) fn sizes_as(self, other: Number, least: usize, most: usize) -> Option<(usize, usize)> {
        let (least, most) = (least.div_ceil(self.size()), most / self.size());
        let size = |count: usize| count.saturating_mul(other.size());
        (least <= most).then_some((size(least), size(most)))
    }

    /// The bytes of as many of `other` as there are in `len` bytes of these.
    pub(crate) fn size_as(self, other: Number, len: usize) -> Option<usize> {
        len.is_multiple_of(self.size()).then(|| len / self.size())?.checked_mul(other.size())
    }

    /// The most that `len` bytes of these take as so many of `other`.
    pub(crate) fn most_as(self, other: Number, len: usize) -> usize {
        (len / self.size()).saturating_mul(other.size())
    }

    /// How many there are in `bytes`, which must be a whole number of them.
    pub(crate) fn count(self, bytes: &[u8]) -> Result<usize> {
        match bytes.len().is_multiple_of(self.size()) {
            true => Ok(bytes.len() / self.size()),
            false => Err(Error::malformed(format!(
                "{} bytes are no whole number of elements of {}",
                bytes.len(),
                self.size()
            ))),
        }
    }

    /// Integers, each to 64 bits extended.
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

    /// Numbers of any kind, exactly but for integers of more than 53 bits.
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

    /// Integers, cut to as many bits as there are. `signed` is how those are that come in.
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
            // Not by way of a double, which would round twice.
            NumberKind::Float32 => self.store(from, to, |value| single(value, signed).to_le_bytes()),
            NumberKind::Float64 => self.store(from, to, |value| real(value, signed).to_le_bytes()),
        }
    }

    /// Numbers, rounded to the nearest; to integers cut at the point, as NumPy does, but only if they fit.
    pub(crate) fn store_reals(self, from: &[f64], to: &mut [u8]) -> Result<()> {
        match self.kind {
            NumberKind::Float16 => self.store(from, to, |value| half::f16::from_f64(value).to_le_bytes()),
            NumberKind::Float32 => self.store(from, to, |value| narrow(value).to_le_bytes()),
            NumberKind::Float64 => self.store(from, to, f64::to_le_bytes),
            NumberKind::Bool => self.store(from, to, |value| [u8::from(value != 0.0)]),
            NumberKind::Signed { .. } | NumberKind::Unsigned { .. } => {
                let (low, high) = self.range();
                // As one comparison: a number that is none is not within.
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

    /// What is left of an integer once it is stored in this number and loaded again.
    pub(crate) fn wrapped(self, value: u64) -> u64 {
        let unused = 64_u32.saturating_sub(u32::try_from(self.size() * 8).unwrap_or(64));
        let high = value << unused;
        match self.kind {
            NumberKind::Bool => u64::from(value != 0),
            NumberKind::Signed { .. } => (high.cast_signed() >> unused).cast_unsigned(),
            _ => high >> unused,
        }
    }

    /// The nearest number of this kind, if it may have a fraction.
    pub(crate) fn rounded(self, value: f64) -> f64 {
        match self.kind {
            NumberKind::Float16 => half::f16::from_f64(value).to_f64(),
            NumberKind::Float32 => f64::from(narrow(value)),
            _ => value,
        }
    }

    /// Whether an integer that is stored as `other` is within the range of these once it is loaded, and the same if
    /// `other` is an integer.
    pub(crate) fn returns_from(self, other: Number, value: u64) -> bool {
        if other.is_real() {
            let (low, high) = self.range();
            return (low..high).contains(&other.rounded(real(value, self.is_signed())));
        }
        // As many bits are no help where one of both has a sign.
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

    /// The least integer and what is one more than the greatest.
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

/// An error of numbers that do not fit, where it is the fault of what is stored.
pub(crate) fn stored_does_not_fit(e: Error) -> Error {
    Error::malformed(e.detail().to_owned())
}

/// Numbers that are computed with at once.
pub(crate) const BLOCK: usize = 512;

fn low<const N: usize>(value: u64) -> [u8; N] {
    value.to_le_bytes().first_chunk().copied().unwrap_or([0; N])
}

#[expect(clippy::cast_precision_loss, reason = "the nearest number is what is asked for")]
fn real(value: u64, signed: bool) -> f64 {
    if signed { value.cast_signed() as f64 } else { value as f64 }
}

#[expect(clippy::cast_precision_loss, reason = "the nearest number is what is asked for")]
fn single(value: u64, signed: bool) -> f32 {
    if signed { value.cast_signed() as f32 } else { value as f32 }
}

#[expect(clippy::cast_possible_truncation, reason = "the nearest number is what is asked for")]
fn narrow(value: f64) -> f32 {
    value as f32
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "callers have compared the range"
)]
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
    fn numbers_are_stored_in_their_order_of_bytes() {
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
    fn what_does_not_fit_is_refused() {
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
    fn integers_are_rounded_once() {
        let single = Number { kind: NumberKind::Float32, big_endian: false };
        let value = (1_u64 << 60) + (1 << 36) + 1;
        let mut bytes = [0; 4];
        single.store_integers(false, &[value], &mut bytes);
        assert_eq!(f32::from_le_bytes(bytes).to_bits(), 0x5d80_0001);
    }
}
