//! Floating-point numbers of which only the first bits of the mantissa are kept, as numcodecs has it.

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::number::{Number, NumberKind};
use hyperslab_core::{Error, Result};

/// Floating-point numbers rounded to so many bits of the mantissa, to even halfway between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BitRound {
    number: Number,
    keep: u8,
}

impl BitRound {
    /// Keeps `keep` bits of the mantissa.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for integers, and for more bits
    /// than there are.
    pub fn new(number: Number, keep: u8) -> Result<BitRound> {
        match mantissa(number) {
            Some(bits) if keep <= bits => Ok(BitRound { number, keep }),
            Some(bits) => Err(Error::invalid(format!("{keep} bits of a mantissa of {bits}"))),
            None => Err(Error::invalid("bits of the mantissa of integers, which have none")),
        }
    }

    /// The numbers.
    pub fn number(&self) -> Number {
        self.number
    }

    /// Bits of the mantissa that are kept.
    pub fn keep(&self) -> u8 {
        self.keep
    }

    /// Rounds a number of which the least significant bits are those of the mantissa.
    fn round(&self, bits: u64) -> u64 {
        match mantissa(self.number).and_then(|bits| bits.checked_sub(self.keep)) {
            Some(cut @ 1..64) => {
                let half = (1_u64 << (cut - 1)) - 1;
                bits.wrapping_add((bits >> cut & 1) + half) >> cut << cut
            }
            _ => bits,
        }
    }
}

impl Transform for BitRound {
    fn decoded_sizes(&self, least: usize, most: usize) -> Option<(usize, usize)> {
        Some((least, most))
    }

    fn encoded_size(&self, raw: usize) -> Option<usize> {
        Some(raw)
    }

    fn most_encoded(&self, raw: usize) -> usize {
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
        Ok(())
    }
}

impl BitRound {
    fn bytes(&self) -> u8 {
        match self.number.kind {
            NumberKind::Float16 => 2,
            NumberKind::Float32 => 4,
            _ => 8,
        }
    }
}

/// Bits of the mantissa, of numbers that have one.
fn mantissa(number: Number) -> Option<u8> {
    match number.kind {
        NumberKind::Float16 => Some(10),
        NumberKind::Float32 => Some(23),
        NumberKind::Float64 => Some(52),
        _ => None,
    }
}
