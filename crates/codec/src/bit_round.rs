//! Bit rounding, the filter `bitround` of numcodecs: keeps only the first bits of numbers; of floating-point numbers,
//! the first bits of the mantissa.

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::number::{BLOCK, Number, NumberKind};
use crate::spared::Spared;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int, missing, named};
use hyperslab_core::{Error, Result};

/// Rounds floating-point numbers to a number of mantissa bits, and integers to a number of bits from their highest 1
/// bit on. A number halfway between two results is rounded to the even one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BitRound {
    number: Number,
    keep: u8,
    spared: Spared,
}

impl BitRound {
    /// A codec that keeps `keep` bits.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for booleans, and if `keep` is more
    /// than the bits of the mantissa.
    pub fn new(number: Number, keep: u8) -> Result<BitRound> {
        match mantissa(number) {
            Some(bits) if keep > bits => {
                Err(Error::invalid(format!("{keep} mantissa bits to keep, expected 0 to {bits}")))
            }
            None if number.kind == NumberKind::Bool => {
                Err(Error::invalid("bitround of booleans, expected integers or floating-point numbers"))
            }
            _ => Ok(BitRound { number, keep, spared: Spared::default() }),
        }
    }

    pub(crate) fn sparing(self, spared: Spared) -> BitRound {
        BitRound { spared, ..self }
    }

    /// The type of the numbers.
    pub fn number(&self) -> Number {
        self.number
    }

    /// The number of bits to keep.
    pub fn keep(&self) -> u8 {
        self.keep
    }

    /// Rounds the number with these bits.
    fn round(&self, bits: u64) -> u64 {
        let keep = u32::from(self.keep);
        let cut = match mantissa(self.number) {
            Some(of) => u32::from(of).saturating_sub(keep),
            None => (u64::BITS - bits.leading_zeros()).saturating_sub(keep),
        };
        if cut == 0 {
            return bits;
        }
        let up = (bits.checked_shr(cut).unwrap_or(0) & 1) + ((1_u64 << (cut - 1)) - 1);
        let rounded = match mantissa(self.number) {
            Some(_) => bits.wrapping_add(up),
            None => bits.saturating_add(up).min(u64::MAX >> (u64::BITS - 8 * u32::from(self.bytes()))),
        };
        rounded.checked_shr(cut).and_then(|high| high.checked_shl(cut)).unwrap_or(0)
    }
}

impl Transform for BitRound {
    fn decoded_sizes(&self, min: usize, max: usize) -> Option<(usize, usize)> {
        Some((min, max))
    }

    fn encoded_size(&self, raw: usize) -> Option<usize> {
        Some(raw)
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        raw
    }

    fn cut<'a>(&self, stored: &'a [u8]) -> Result<Option<&'a [u8]>> {
        Ok(Some(stored))
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        room(out, stored.len())?.copy_from_slice(stored);
        Ok(stored.len())
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        let integer = Number { kind: NumberKind::Unsigned { bytes: self.bytes() }, ..self.number };
        out.clear();
        out.resize(integer.count(raw)?.saturating_mul(integer.size()), 0);
        let mut block = [0; 512];
        let len = block.len() * integer.size();
        for (from, to) in raw.chunks(len).zip(out.chunks_mut(len)) {
            let (block, _) = block.split_at_mut(from.len() / integer.size());
            integer.load_integers(from, block);
            block.iter_mut().for_each(|bits| *bits = self.round(*bits));
            integer.store_integers(false, block, to);
        }
        self.restore_spared(raw, out);
        Ok(())
    }
}

impl Vocabulary for BitRound {
    const NAMES: &'static [&'static str] = &["bitround"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        let number = given.elements.number.ok_or_else(|| missing("type"))?;
        BitRound::new(number, given.int("bits")?)
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named("bitround", [("bits", int(self.keep))])
    }
}

impl BitRound {
    /// Puts the spared numbers back in their places.
    fn restore_spared(&self, raw: &[u8], out: &mut [u8]) {
        if self.spared.is_empty() || !self.number.is_real() {
            return;
        }
        let size = self.number.size();
        let mut block = [0.0; BLOCK];
        for (from, to) in raw.chunks(BLOCK * size).zip(out.chunks_mut(BLOCK * size)) {
            let (block, _) = block.split_at_mut(from.len() / size);
            self.number.load_reals(from, block);
            let places = from.chunks_exact(size).zip(to.chunks_exact_mut(size));
            for (_, (from, to)) in block.iter().zip(places).filter(|(number, _)| self.spared.has(**number)) {
                to.copy_from_slice(from);
            }
        }
    }

    fn bytes(&self) -> u8 {
        match self.number.kind {
            NumberKind::Float16 => 2,
            NumberKind::Float32 => 4,
            NumberKind::Signed { bytes } | NumberKind::Unsigned { bytes } => bytes,
            _ => 8,
        }
    }
}

/// The number of mantissa bits; `None` for types that are not floating-point.
fn mantissa(number: Number) -> Option<u8> {
    match number.kind {
        NumberKind::Float16 => Some(10),
        NumberKind::Float32 => Some(23),
        NumberKind::Float64 => Some(52),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_their_highest_bits() {
        let of = |bytes, keep| {
            let number = Number { kind: NumberKind::Unsigned { bytes }, big_endian: false };
            BitRound::new(number, keep).unwrap()
        };
        let rounded = |values: &[u64], bytes, keep| -> Vec<u64> {
            values.iter().map(|value| of(bytes, keep).round(*value)).collect()
        };
        assert_eq!(rounded(&[0, 1, 2, 3, 4, 5, 6, 7, 9, 11], 1, 2), [0, 1, 2, 3, 4, 4, 6, 8, 8, 12]);
        // The next power of two does not fit.
        assert_eq!(rounded(&[255, 254], 1, 1), [128, 128]);
        assert_eq!(rounded(&[u64::MAX, 0x7fff_ffff_ffff_ffff], 8, 3), [7 << 61, 1 << 63]);
        assert_eq!(rounded(&[u64::MAX, 1], 8, 0), [0, 0]);
    }
}
