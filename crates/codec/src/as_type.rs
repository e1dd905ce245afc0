//! Conversion of numbers to another type: the filter `astype` of numcodecs.

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::number::{BLOCK, Number, NumberKind, stored_does_not_fit};
use crate::vocabulary::{Elements, Given, Named, Vocabulary, named};
use hyperslab_core::Result;

/// Stores numbers as another type. Encoding fails if a number is out of range of an integer type; fractions are
/// truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AsType {
    /// The type of the decoded numbers.
    pub decoded: Number,
    /// The type of the stored numbers.
    pub encoded: Number,
}

impl Transform for AsType {
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
        let len = self.encoded.count(stored)?.saturating_mul(self.decoded.size());
        // Integers that are too large lose their high bits, as in NumPy.
        convert(self.encoded, self.decoded, stored, room(out, len)?, false).map_err(stored_does_not_fit)?;
        Ok(len)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        out.clear();
        out.resize(self.decoded.count(raw)?.saturating_mul(self.encoded.size()), 0);
        convert(self.decoded, self.encoded, raw, out, true)
    }
}

impl Vocabulary for AsType {
    const NAMES: &'static [&'static str] = &["astype"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        Ok(AsType { decoded: given.number("from")?, encoded: given.number("to")? })
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named("astype", [("from", self.decoded.into()), ("to", self.encoded.into())])
    }
}

/// Converts the numbers of `source`. Both slices hold the same count of numbers.
fn convert(from: Number, to: Number, source: &[u8], out: &mut [u8], must_fit: bool) -> Result<()> {
    if from.kind == to.kind && from.is_real() && source.len() == out.len() {
        // Copies the bits: a conversion would change a signalling NaN into a quiet one.
        out.copy_from_slice(source);
        if from.big_endian != to.big_endian {
            out.chunks_exact_mut(from.size()).for_each(<[u8]>::reverse);
        }
        return Ok(());
    }
    let parts = source.chunks(BLOCK * from.size()).zip(out.chunks_mut(BLOCK * to.size()));
    let (mut reals, mut integers) = ([0.0; BLOCK], [0; BLOCK]);
    for (source, out) in parts {
        let count = source.len() / from.size();
        if from.is_real() {
            let (reals, _) = reals.split_at_mut(count);
            from.load_reals(source, reals);
            to.store_reals(reals, out)?;
            continue;
        }
        let (integers, _) = integers.split_at_mut(count);
        from.load_integers(source, integers);
        if must_fit
            && to.kind != NumberKind::Bool
            && let Some(value) = integers.iter().find(|value| !from.returns_from(to, **value))
        {
            return Err(match from.is_signed() {
                true => to.does_not_fit(value.cast_signed()),
                false => to.does_not_fit(value),
            });
        }
        to.store_integers(from.is_signed(), integers, out);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scratch, decode, encode};

    #[test]
    fn signalling_nans_keep_their_bits() {
        let raw = [0xfd, 0x23, 0x7c, 0x01];
        for big_endian in [true, false] {
            let of = |big_endian| Number { kind: NumberKind::Float16, big_endian };
            let codecs = [AsType { decoded: of(true), encoded: of(big_endian) }.into()];
            let mut scratch = Scratch::new();
            let stored = encode(&codecs, &raw, &mut scratch).unwrap();
            let mut out = [0; 4];
            decode(&codecs, &stored, &mut out, &mut scratch).unwrap();
            assert_eq!((out, stored[0] == raw[0]), (raw, big_endian));
        }
    }
}
