//! Scale-offset: differences from the least number in as few bits as all of them need, id 6 in the HDF5
//! registry.
//!
//! A chunk is the number of bits, the least number and, from byte 21 on, the differences one behind the other,
//! each from its most significant bit on. The difference of which all bits are ones stands for the fill value.
//! Floating-point numbers are scaled by a power of ten and rounded.

mod encode;

use crate::bits::{BitReader, BitWriter};
use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int, named};
use hyperslab_core::{Error, Result};

/// Numbers as small differences. Rounds floating-point numbers, and loses what does not fit into a number of
/// bits that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScaleOffset {
    elements: usize,
    number: ScaleOffsetNumber,
    big_endian: bool,
    /// Where it lies within an element, the least significant byte first.
    fill: Option<u64>,
}

/// What is scaled and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScaleOffsetNumber {
    /// Integers, which are not scaled.
    Integer {
        /// Bytes: 1, 2, 4 or 8.
        size: usize,
        /// In two's complement.
        signed: bool,
        /// Bits of each difference when encoding; 0 for as many as needed.
        bits: u32,
    },
    /// Numbers of the type `float32`.
    Float32 {
        /// Digits behind the decimal point that are kept; fewer than none for tens, hundreds and so on.
        digits: i32,
    },
    /// Numbers of the type `float64`.
    Float64 {
        /// Digits behind the decimal point that are kept; fewer than none for tens, hundreds and so on.
        digits: i32,
    },
}

impl ScaleOffset {
    /// A coder of exactly `elements` elements. The fill value is one of them, its least significant byte first.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for integers of another size,
    /// and if all their bits or more are asked for.
    pub fn new(
        elements: usize,
        number: ScaleOffsetNumber,
        big_endian: bool,
        fill: Option<u64>,
    ) -> Result<ScaleOffset> {
        if let ScaleOffsetNumber::Integer { size, bits, .. } = number {
            if !matches!(size, 1 | 2 | 4 | 8) {
                return Err(Error::invalid(format!("{size} bytes for scaleoffset, expected 1, 2, 4 or 8")));
            }
            if bits >= number.bits() {
                let all = number.bits();
                return Err(Error::invalid(format!("{bits} bits of {all} for scaleoffset, expected fewer")));
            }
        }
        if elements.checked_mul(64).is_none() {
            return Err(Error::invalid(format!("{elements} elements for scaleoffset")));
        }
        let fill = fill.map(|fill| fill & ones(number.bits()));
        Ok(ScaleOffset { elements, number, big_endian, fill })
    }

    /// How many elements there are.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// What each of them is.
    pub fn number(&self) -> ScaleOffsetNumber {
        self.number
    }

    /// Whether the most significant byte of an element comes first.
    pub fn big_endian(&self) -> bool {
        self.big_endian
    }

    /// The fill value, its least significant byte first.
    pub fn fill(&self) -> Option<u64> {
        self.fill
    }

    /// Bytes of all elements.
    fn size(&self) -> usize {
        self.elements * self.number.size()
    }
}

impl Transform for ScaleOffset {
    /// Equal numbers take no bits at all.
    fn decoded_sizes(&self, _: usize, most: usize) -> Option<(usize, usize)> {
        (most >= MIN_HEADER).then_some((self.size(), self.size()))
    }

    fn most_encoded(&self, _: usize) -> usize {
        self.size().saturating_add(HEADER + 1)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let out = room(out, self.size())?;
        let header = Header::decode(stored)?;
        let all = self.number.bits();
        if header.bits > all {
            return Err(Error::malformed(format!(
                "scaleoffset data with {} bits for each number, at most {all} allowed",
                header.bits
            )));
        }
        let differences = stored.get(HEADER..).unwrap_or_default();
        let mut bits = BitReader::new(differences);
        let difference = || bits.read_long(header.bits);
        let decoded = match self.number {
            _ if header.bits == all => self.copy(differences, out),
            ScaleOffsetNumber::Integer { .. } => {
                self.write_each(&header, out, difference, |number| number.wrapping_add(header.least))
            }
            ScaleOffsetNumber::Float32 { digits } => {
                let [a, b, c, d, ..] = header.least.to_le_bytes();
                let least = f32::from_le_bytes([a, b, c, d]);
                let scale = f32::powf(10.0, digits as f32);
                let number = |difference: u64| (difference as f32 / scale + least).to_bits().into();
                self.write_each(&header, out, difference, number)
            }
            ScaleOffsetNumber::Float64 { digits } => {
                let least = f64::from_bits(header.least);
                let scale = f64::powf(10.0, digits.into());
                let number = |difference: u64| (difference as f64 / scale + least).to_bits();
                self.write_each(&header, out, difference, number)
            }
        };
        match decoded {
            Some(()) => Ok(self.size()),
            None => Err(Error::malformed(format!(
                "scaleoffset data of {} bytes, expected {} bits for each of {} numbers from byte {HEADER} on",
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
        // One byte more than whole bytes, even if no bits are left for it: so libhdf5 writes it.
        let whole = self.elements as u64 * u64::from(header.bits) / 8;
        out.resize(usize::try_from(whole).unwrap_or(0).saturating_add(HEADER + 1), 0);
        Ok(())
    }
}

/// HDF5 makes the codec of the datatype, the chunk, the fill value and the parameter.
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
    /// Numbers that are stored as they are, the least significant byte first.
    fn copy(&self, stored: &[u8], out: &mut [u8]) -> Option<()> {
        out.copy_from_slice(stored.get(..out.len())?);
        if self.big_endian {
            out.chunks_exact_mut(self.number.size()).for_each(<[u8]>::reverse);
        }
        Some(())
    }

    /// Fills `out` with what `number` makes of each difference that does not stand for the fill value.
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
    /// Bytes of one.
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

/// What comes before the differences.
struct Header {
    /// Of each difference; those of the whole number if numbers are stored as they are.
    bits: u32,
    /// The least number, of a signed integer with its sign extended.
    least: u64,
}

impl Header {
    fn decode(stored: &[u8]) -> Result<Header> {
        let Some(([bits @ .., size], rest)) = stored.split_first_chunk::<MIN_HEADER>() else {
            return Err(too_short(stored));
        };
        let mut least = [0; 8];
        let size = usize::from(*size).min(least.len());
        let Some(bytes) = rest.get(..size) else {
            return Err(too_short(stored));
        };
        least.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
        Ok(Header { bits: u32::from_le_bytes(*bits), least: u64::from_le_bytes(least) })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bits.to_le_bytes());
        out.push(8);
        out.extend_from_slice(&self.least.to_le_bytes());
        out.resize(HEADER, 0);
    }
}

fn too_short(stored: &[u8]) -> Error {
    Error::malformed(format!("scaleoffset data of {} bytes, without its header", stored.len()))
}

fn ones(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits).unwrap_or(0)
}

/// Where differences begin.
const HEADER: usize = 21;

/// The number of bits and the size of the least number.
const MIN_HEADER: usize = 5;

#[cfg(test)]
mod tests;
