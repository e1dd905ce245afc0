//! Delta: stores the difference of each number and the number before it, as in numcodecs.

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::number::{BLOCK, Number, stored_does_not_fit};
use crate::vocabulary::{Elements, Given, Named, Vocabulary, named};
use hyperslab_core::Result;

/// Stores differences of consecutive numbers. The first number is stored unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Delta {
    /// The type of the numbers.
    pub decoded: Number,
    /// The type of the stored differences.
    pub encoded: Number,
}

impl Transform for Delta {
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
        let Delta { decoded, encoded } = *self;
        let len = encoded.count(stored)?.saturating_mul(decoded.size());
        let out = room(out, len)?;
        let parts = stored.chunks(BLOCK * encoded.size()).zip(out.chunks_mut(BLOCK * decoded.size()));
        if decoded.is_real() {
            let (mut block, mut sum) = ([0.0; BLOCK], None);
            for (from, to) in parts {
                let (block, _) = block.split_at_mut(to.len() / decoded.size());
                encoded.load_reals(from, block);
                for value in &mut *block {
                    let next = decoded.rounded(*value);
                    *value = sum.map_or(next, |sum| decoded.rounded(sum + next));
                    sum = Some(*value);
                }
                decoded.store_reals(block, to)?;
            }
            return Ok(len);
        }
        let (mut block, mut sum) = ([0; BLOCK], 0_u64);
        for (from, to) in parts {
            let (block, _) = block.split_at_mut(to.len() / decoded.size());
            if encoded.is_real() {
                // Each difference is truncated to an integer before it is added.
                decoded
                    .store_reals(reals(encoded, from, &mut [0.0; BLOCK]), to)
                    .map_err(stored_does_not_fit)?;
                decoded.load_integers(to, block);
            } else {
                encoded.load_integers(from, block);
            }
            for value in &mut *block {
                sum = sum.wrapping_add(*value);
                *value = sum;
            }
            decoded.store_integers(decoded.is_signed(), block, to);
        }
        Ok(len)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        let Delta { decoded, encoded } = *self;
        out.clear();
        out.resize(decoded.count(raw)?.saturating_mul(encoded.size()), 0);
        let parts = raw.chunks(BLOCK * decoded.size()).zip(out.chunks_mut(BLOCK * encoded.size()));
        if decoded.is_real() {
            let (mut block, mut before) = ([0.0; BLOCK], None);
            for (from, to) in parts {
                let (block, _) = block.split_at_mut(from.len() / decoded.size());
                decoded.load_reals(from, block);
                for value in &mut *block {
                    let this = *value;
                    *value = before.map_or(this, |before| decoded.rounded(this - before));
                    before = Some(this);
                }
                encoded.store_reals(block, to)?;
            }
            return Ok(());
        }
        let (mut block, mut before) = ([0; BLOCK], 0_u64);
        for (from, to) in parts {
            let (block, _) = block.split_at_mut(from.len() / decoded.size());
            decoded.load_integers(from, block);
            for value in &mut *block {
                (*value, before) = (decoded.wrapped(value.wrapping_sub(before)), *value);
            }
            // Sums wrap in the same high bits as differences, so differences may lose these bits.
            let lost = |value: &&u64| match encoded.is_real() {
                true => !decoded.returns_from(encoded, **value),
                false => decoded.wrapped(encoded.wrapped(**value)) != **value,
            };
            if let Some(value) = block.iter().find(lost) {
                return Err(match decoded.is_signed() {
                    true => encoded.does_not_fit(value.cast_signed()),
                    false => encoded.does_not_fit(value),
                });
            }
            encoded.store_integers(decoded.is_signed(), block, to);
        }
        Ok(())
    }
}

/// The vocabulary has no name for this codec if the differences have a type other than that of the numbers.
impl Vocabulary for Delta {
    const NAMES: &'static [&'static str] = &["delta"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        let number = given.number("type")?;
        Ok(Delta { decoded: number, encoded: number })
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        if self.decoded != self.encoded {
            return None;
        }
        named("delta", [("type", self.decoded.into())])
    }
}

fn reals<'b>(number: Number, from: &[u8], block: &'b mut [f64; BLOCK]) -> &'b [f64] {
    let (block, _) = block.split_at_mut((from.len() / number.size()).min(BLOCK));
    number.load_reals(from, block);
    block
}
