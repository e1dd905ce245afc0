//! Scale-offset: differences from the minimum, in as few bits as all of them need; filter id 6 in the HDF5 registry.
//!
//! A chunk holds the number of bits, the minimum and, from byte 21 on, the differences without gaps, each from its
//! most significant bit on. A difference with all bits 1 stands for the fill value. Floating-point numbers are
//! multiplied by a power of ten and rounded.

mod encode;

use crate::bits::{BitReader, BitWriter};
use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int, named};
use hyperslab_core::{Error, Result};

/// Stores numbers as differences from the minimum. Floating-point numbers are rounded. Integers that do not fit into
/// a fixed number of bits are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScaleOffset {
    elements: usize,
    number: ScaleOffsetNumber,
    big_endian: bool,
    /// The fill value as the bytes of an element, little-endian.
    fill: Option<u64>,
}

/// The type of the numbers, and how they are scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScaleOffsetNumber {
    /// Integers. They are not scaled.
    Integer {
        /// The size in bytes: 1, 2, 4 or 8.
        size: usize,
        /// Whether they are signed, in two's complement.
        signed: bool,
        /// The number of bits of a difference when encoding; 0 for as many as needed.
        bits: u32,
    },
    /// Numbers of the type `float32`.
    Float32 {
        /// The number of digits after the decimal point to keep. Negative for tens, hundreds and so on.
        digits: i32,
    },
    /// Numbers of the type `float64`.
    Float64 {
        /// The number of digits after the decimal point to keep. Negative for tens, hundreds and so on.
        digits: i32,
    },
}

impl ScaleOffset {
    /// A codec of exactly `elements` elements. The fill value is given as the bytes of an element, little-endian.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for integers of another size, and
    /// if `bits` is not less than the bits of an integer.
    pub fn new(
        elements: usize,
        number: ScaleOffsetNumber,
        big_endian: bool,
        fill: Option<u64>,
    ) -> Result<ScaleOffset> {
        if let ScaleOffsetNumber::Integer { size, bits, .. } = number {
            if !matches!(size, 1 | 2 | 4 | 8) {
                return Err(Error::invalid(format!(
                    "scaleoffset integers of {size} bytes, expected 1, 2, 4 or 8"
                )));
            }
            if bits >= number.bits() {
                let all = number.bits();
                return Err(Error::invalid(format!("scaleoffset to {bits} bits, expected fewer than {all}")));
            }
        }
        if elements.checked_mul(64).is_none() {
            return Err(Error::invalid(format!(
                "{elements} elements for scaleoffset, which exceed the address space"
            )));
        }
        let fill = fill.map(|fill| fill & ones(number.bits()));
        Ok(ScaleOffset { elements, number, big_endian, fill })
    }

    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// The type of an element.
    pub fn number(&self) -> ScaleOffsetNumber {
        self.number
    }

    /// Whether elements are big-endian.
    pub fn big_endian(&self) -> bool {
        self.big_endian
    }

    /// The fill value as the bytes of an element, little-endian.
    pub fn fill(&self) -> Option<u64> {
        self.fill
    }

    /// The decoded size of all elements in bytes.
    fn size(&self) -> usize {
        self.elements * self.number.size()
    }
}

impl Transform for ScaleOffset {
    /// If all numbers are equal, differences take no bits.
    fn decoded_sizes(&self, _: usize, max: usize) -> Option<(usize, usize)> {
        (max >= MIN_HEADER).then_some((self.size(), self.size()))
    }

    fn max_encoded_size(&self, _: usize) -> usize {
        self.size().saturating_add(HEADER + 1)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let out = room(out, self.size())?;
        let header = Header::decode(stored)?;
        let all = self.number.bits();
        if header.bits > all {
            return Err(Error::malformed(format!(
                "scaleoffset data with {} bits for each number, expected at most {all}",
                header.bits
            )));
        }
        let differences = stored.get(HEADER..).unwrap_or_default();
        let mut bits = BitReader::new(differences);
        let difference = || bits.read_long(header.bits);
        let decoded = match self.number {
            _ if header.bits == all => self.copy(differences, out),
            ScaleOffsetNumber::Integer { .. } => {
                self.write_each(&header, out, difference, |number| number.wrapping_add(header.min))
            }
            ScaleOffsetNumber::Float32 { digits } => {
                let [a, b, c, d, ..] = header.min.to_le_bytes();
                let min = f32::from_le_bytes([a, b, c, d]);
                let scale = f32::powf(10.0, digits as f32);
                let number = |difference: u64| (difference as f32 / scale + min).to_bits().into();
                self.write_each(&header, out, difference, number)
            }
            ScaleOffsetNumber::Float64 { digits } => {
                let min = f64::from_bits(header.min);
                let scale = f64::powf(10.0, digits.into());
                let number = |difference: u64| (difference as f64 / scale + min).to_bits();
                self.write_each(&header, out, difference, number)
            }
        };
        match decoded {
            Some(()) => Ok(self.size()),
            None => Err(Error::malformed(format!(
                "scaleoffset data of {} bytes, expected {} bits for each of {} numbers after a header of {HEADER} bytes",
                stored.len(),
                header.bits,
                self.elements
            ))),
        }
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        if raw.len() != self.size() {
            let expected = self.size();
            return Err(Error::invalid(format!("{} bytes for scaleoffset, expected {expected}", raw.len())));
        }
        let mut numbers: Vec<u64> = raw.chunks_exact(self.number.size()).map(|raw| self.read(raw)).collect();
        let header = match self.number {
            ScaleOffsetNumber::Integer { signed, bits, .. } => {
                encode::integers(&mut numbers, self.number.bits(), signed, bits, self.fill)
            }
            ScaleOffsetNumber::Float32 { digits } => encode::float32(&mut numbers, digits, self.fill),
            ScaleOffsetNumber::Float64 { digits } => encode::float64(&mut numbers, digits, self.fill),
        };
        out.clear();
        header.encode(out);
        if header.bits == self.number.bits() {
            for number in numbers {
                out.extend(number.to_le_bytes().iter().take(self.number.size()));
            }
            return Ok(());
        }
        let mut bits = BitWriter::after(std::mem::take(out));
        for difference in numbers {
            bits.write(header.bits, difference & ones(header.bits));
        }
        *out = bits.finish();
        // One byte more than the whole bytes, even if no bits are left for it, as in libhdf5.
        let whole = self.elements as u64 * u64::from(header.bits) / 8;
        out.resize(usize::try_from(whole).unwrap_or(0).saturating_add(HEADER + 1), 0);
        Ok(())
    }
}

/// HDF5 derives this codec from the datatype, the chunk, the fill value and a parameter.
impl Vocabulary for ScaleOffset {
    const NAMES: &'static [&'static str] = &[];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        Err(given.not_by_name())
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        let parameter = match self.number {
            ScaleOffsetNumber::Integer { bits, .. } => ("bits", int(bits)),
            ScaleOffsetNumber::Float32 { digits } | ScaleOffsetNumber::Float64 { digits } => {
                ("digits", int(digits))
            }
        };
        named("scaleoffset", [parameter])
    }
}

impl ScaleOffset {
    /// Copies numbers that are stored unchanged, little-endian.
    fn copy(&self, stored: &[u8], out: &mut [u8]) -> Option<()> {
        out.copy_from_slice(stored.get(..out.len())?);
        if self.big_endian {
            out.chunks_exact_mut(self.number.size()).for_each(<[u8]>::reverse);
        }
        Some(())
    }

    /// Fills `out` with the result of `number` for each difference, and with the fill value where the difference
    /// stands for it.
    #[inline(always)]
    fn write_each(
        &self,
        header: &Header,
        out: &mut [u8],
        mut difference: impl FnMut() -> Option<u64>,
        number: impl Fn(u64) -> u64,
    ) -> Option<()> {
        let Some(fill) = self.fill else {
            return self.write(out, || difference().map(&number));
        };
        let ones = ones(header.bits);
        self.write(out, || {
            let difference = difference()?;
            Some(if difference == ones { fill } else { number(difference) })
        })
    }

    #[inline(always)]
    fn write(&self, out: &mut [u8], next: impl FnMut() -> Option<u64>) -> Option<()> {
        match self.number.size() {
            1 => write_words::<1>(self.big_endian, out, next),
            2 => write_words::<2>(self.big_endian, out, next),
            4 => write_words::<4>(self.big_endian, out, next),
            _ => write_words::<8>(self.big_endian, out, next),
        }
    }

    fn read(&self, raw: &[u8]) -> u64 {
        let add = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        if self.big_endian { raw.iter().fold(0, add) } else { raw.iter().rev().fold(0, add) }
    }
}

#[inline(always)]
fn write_words<const SIZE: usize>(
    big_endian: bool,
    out: &mut [u8],
    mut next: impl FnMut() -> Option<u64>,
) -> Option<()> {
    let (numbers, _) = out.as_chunks_mut::<SIZE>();
    for number in numbers {
        let value = next()?;
        if big_endian {
            *number = *value.to_be_bytes().last_chunk()?;
        } else {
            *number = *value.to_le_bytes().first_chunk()?;
        }
    }
    Some(())
}

impl ScaleOffsetNumber {
    /// The size of a number in bytes.
    pub fn size(&self) -> usize {
        match self {
            ScaleOffsetNumber::Integer { size, .. } => *size,
            ScaleOffsetNumber::Float32 { .. } => 4,
            ScaleOffsetNumber::Float64 { .. } => 8,
        }
    }

    fn bits(&self) -> u32 {
        match self.size() {
            1 => 8,
            2 => 16,
            4 => 32,
            _ => 64,
        }
    }
}

/// The header before the differences.
struct Header {
    /// The number of bits of a difference, or of the whole number if numbers are stored unchanged.
    bits: u32,
    /// The minimum. Signed integers are sign-extended.
    min: u64,
}

impl Header {
    fn decode(stored: &[u8]) -> Result<Header> {
        let Some(([bits @ .., size], rest)) = stored.split_first_chunk::<MIN_HEADER>() else {
            return Err(too_short(stored));
        };
        let mut min = [0; 8];
        let size = usize::from(*size).min(min.len());
        let Some(bytes) = rest.get(..size) else {
            return Err(too_short(stored));
        };
        min.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
        Ok(Header { bits: u32::from_le_bytes(*bits), min: u64::from_le_bytes(min) })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bits.to_le_bytes());
        out.push(8);
        out.extend_from_slice(&self.min.to_le_bytes());
        out.resize(HEADER, 0);
    }
}

fn too_short(stored: &[u8]) -> Error {
    Error::malformed(format!("scaleoffset data of {} bytes, expected a header of {MIN_HEADER}", stored.len()))
}

fn ones(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits).unwrap_or(0)
}

/// The byte offset of the differences.
const HEADER: usize = 21;

/// The number of bits and the size of the minimum.
const MIN_HEADER: usize = 5;

#[cfg(test)]
mod tests;
