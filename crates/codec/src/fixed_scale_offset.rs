//! Fixed scale and offset, the filter `fixedscaleoffset` of numcodecs.

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::number::{BLOCK, Number, NumberKind, stored_does_not_fit};
use crate::vocabulary::{Elements, Given, Named, Vocabulary, named, real};
use hyperslab_core::Result;

/// Subtracts an offset, multiplies by a scale and rounds to the nearest integer, halfway cases to even. Encoding
/// fails if a result does not fit into the stored type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FixedScaleOffset {
    decoded: Number,
    encoded: Number,
    /// The bits of a double.
    offset: u64,
    scale: u64,
}

impl FixedScaleOffset {
    /// Stores numbers of the type `decoded` as `encoded`.
    pub fn new(decoded: Number, encoded: Number, offset: f64, scale: f64) -> FixedScaleOffset {
        FixedScaleOffset { decoded, encoded, offset: offset.to_bits(), scale: scale.to_bits() }
    }

    /// The type of the numbers.
    pub fn decoded(&self) -> Number {
        self.decoded
    }

    /// The type of the stored numbers.
    pub fn encoded(&self) -> Number {
        self.encoded
    }

    /// The offset, which encoding subtracts.
    pub fn offset(&self) -> f64 {
        f64::from_bits(self.offset)
    }

    /// The scale, by which encoding multiplies.
    pub fn scale(&self) -> f64 {
        f64::from_bits(self.scale)
    }

    /// The number type for the arithmetic, and offset and scale in it. Integers are computed in double precision.
    fn arithmetic(&self, number: Number) -> (Number, f64, f64) {
        let number = match number.is_real() {
            true => number,
            false => Number { kind: NumberKind::Float64, ..number },
        };
        (number, number.rounded(self.offset()), number.rounded(self.scale()))
    }
}

impl Transform for FixedScaleOffset {
    fn decoded_sizes(&self, min: usize, max: usize) -> Option<(usize, usize)> {
        self.encoded.sizes_as(self.decoded, min, max)
    }

    fn encoded_size(&self, raw: usize) -> Option<usize> {
        self.decoded.size_as(self.encoded, raw)
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        self.decoded.max_size_as(self.encoded, raw)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let (of, to) = (self.encoded, self.decoded);
        let len = of.count(stored)?.saturating_mul(to.size());
        let (number, offset, scale) = self.arithmetic(of);
        let parts = stored.chunks(BLOCK * of.size()).zip(room(out, len)?.chunks_mut(BLOCK * to.size()));
        let mut block = [0.0; BLOCK];
        for (from, out) in parts {
            let (block, _) = block.split_at_mut(from.len() / of.size());
            of.load_reals(from, block);
            for value in &mut *block {
                *value = number.rounded(number.rounded(*value / scale) + offset);
            }
            to.store_reals(block, out).map_err(stored_does_not_fit)?;
        }
        Ok(len)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        let (of, to) = (self.decoded, self.encoded);
        out.clear();
        out.resize(of.count(raw)?.saturating_mul(to.size()), 0);
        let (number, offset, scale) = self.arithmetic(of);
        let parts = raw.chunks(BLOCK * of.size()).zip(out.chunks_mut(BLOCK * to.size()));
        let mut block = [0.0; BLOCK];
        for (from, out) in parts {
            let (block, _) = block.split_at_mut(from.len() / of.size());
            of.load_reals(from, block);
            for value in &mut *block {
                let scaled = number.rounded(number.rounded(*value - offset) * scale);
                *value = scaled.round_ties_even();
            }
            to.store_reals(block, out)?;
        }
        Ok(())
    }
}

impl Vocabulary for FixedScaleOffset {
    const NAMES: &'static [&'static str] = &["fixedscaleoffset"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        let decoded = given.number("from")?;
        let encoded = given.value("to").map_or(Ok(decoded), |_| given.number("to"))?;
        Ok(FixedScaleOffset::new(decoded, encoded, given.real("offset")?, given.real("scale")?))
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named(
            "fixedscaleoffset",
            [
                ("offset", real(self.offset())),
                ("scale", real(self.scale())),
                ("from", self.decoded.into()),
                ("to", self.encoded.into()),
            ],
        )
    }
}
