//! Quantization, the filter `quantize` of numcodecs: rounds floating-point numbers to a number of decimal digits, as
//! multiples of a power of two.

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::number::{BLOCK, Number};
use crate::spared::Spared;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int, missing, named};
use hyperslab_core::{Error, Result};

/// Rounds floating-point numbers to a number of digits after the decimal point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quantize {
    decoded: Number,
    encoded: Number,
    digits: i32,
    spared: Spared,
}

impl Quantize {
    /// Rounds numbers of the type `decoded` and stores them as `encoded`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if one of the types is not
    /// floating-point.
    pub fn new(decoded: Number, encoded: Number, digits: i32) -> Result<Quantize> {
        match decoded.is_real() && encoded.is_real() {
            true => Ok(Quantize { decoded, encoded, digits, spared: Spared::default() }),
            false => Err(Error::invalid("quantize of integers, expected floating-point numbers")),
        }
    }

    pub(crate) fn sparing(self, spared: Spared) -> Quantize {
        Quantize { spared, ..self }
    }

    /// The type of the numbers.
    pub fn decoded(&self) -> Number {
        self.decoded
    }

    /// The type of the stored numbers.
    pub fn encoded(&self) -> Number {
        self.encoded
    }

    /// The number of digits after the decimal point. Negative for tens, hundreds and so on.
    pub fn digits(&self) -> i32 {
        self.digits
    }

    /// The power of two by which numbers are multiplied before they are rounded to integers.
    fn scale(&self) -> f64 {
        let exponent = 10_f64.powf(-f64::from(self.digits)).log10();
        let exponent = if exponent < 0.0 { exponent.floor() } else { exponent.ceil() };
        2_f64.powf(10_f64.powf(-exponent).log2().ceil())
    }
}

impl Transform for Quantize {
    fn decoded_sizes(&self, min: usize, max: usize) -> Option<(usize, usize)> {
        self.encoded.sizes_as(self.decoded, min, max)
    }

    fn encoded_size(&self, raw: usize) -> Option<usize> {
        self.decoded.size_as(self.encoded, raw)
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        self.decoded.max_size_as(self.encoded, raw)
    }

    fn cut<'a>(&self, stored: &'a [u8]) -> Result<Option<&'a [u8]>> {
        Ok((self.encoded == self.decoded).then_some(stored))
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let Quantize { decoded, encoded, .. } = *self;
        let len = encoded.count(stored)?.saturating_mul(decoded.size());
        let out = room(out, len)?;
        let mut block = [0.0; BLOCK];
        let parts = stored.chunks(BLOCK * encoded.size()).zip(out.chunks_mut(BLOCK * decoded.size()));
        for (from, to) in parts {
            let (block, _) = block.split_at_mut(from.len() / encoded.size());
            encoded.load_reals(from, block);
            decoded.store_reals(block, to)?;
        }
        Ok(len)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        let Quantize { decoded, encoded, .. } = *self;
        out.clear();
        out.resize(decoded.count(raw)?.saturating_mul(encoded.size()), 0);
        let scale = decoded.rounded(self.scale());
        let mut block = [0.0; BLOCK];
        let parts = raw.chunks(BLOCK * decoded.size()).zip(out.chunks_mut(BLOCK * encoded.size()));
        for (from, to) in parts {
            let (block, _) = block.split_at_mut(from.len() / decoded.size());
            decoded.load_reals(from, block);
            let is_kept = |value: &f64| !self.spared.is_empty() && self.spared.has(*value);
            for value in block.iter_mut().filter(|value| !is_kept(value)) {
                let scaled = decoded.rounded(scale * *value).round_ties_even();
                *value = decoded.rounded(scaled / scale);
            }
            encoded.store_reals(block, to)?;
        }
        Ok(())
    }
}

/// The vocabulary has a name for this codec only if the stored numbers have the type of the array.
impl Vocabulary for Quantize {
    const NAMES: &'static [&'static str] = &["quantize"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        let number = given.elements.number.ok_or_else(|| missing("type"))?;
        Quantize::new(number, number, given.int("digits")?)
    }

    fn named(&self, elements: &Elements) -> Option<Named> {
        let is_of_array = [self.decoded, self.encoded].map(Some) == [elements.number; 2];
        named("quantize", [("digits", int(self.digits))]).filter(|_| is_of_array)
    }
}
