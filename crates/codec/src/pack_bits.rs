//! Packs booleans into bits, as in numcodecs. The first byte is the number of unused bits at the end. The bits follow,
//! the most significant of each byte first.

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, named};
use hyperslab_core::{Error, Result};

/// Packs booleans into bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PackBits;

impl Transform for PackBits {
    fn decoded_sizes(&self, min: usize, max: usize) -> Option<(usize, usize)> {
        let max = max.checked_sub(1)?.saturating_mul(8);
        Some((min.saturating_sub(1).saturating_mul(8).saturating_sub(7), max))
    }

    fn declared_size(&self, stored: &[u8]) -> Result<Option<usize>> {
        split(stored).map(|(size, _)| Some(size))
    }

    fn encoded_size(&self, raw: usize) -> Option<usize> {
        Some(raw.div_ceil(8).saturating_add(1))
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        raw.div_ceil(8).saturating_add(1)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let (size, bits) = split(stored)?;
        for (byte, elements) in bits.iter().zip(room(out, size)?.chunks_mut(8)) {
            for (element, place) in elements.iter_mut().zip((0..8).rev()) {
                *element = byte >> place & 1;
            }
        }
        Ok(size)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        let unused = raw.len().next_multiple_of(8) - raw.len();
        out.clear();
        out.push(u8::try_from(unused).unwrap_or_default());
        out.extend(raw.chunks(8).map(|elements| {
            let bits = elements.iter().zip((0..8).rev());
            bits.fold(0, |byte, (element, place)| byte | u8::from(*element != 0) << place)
        }));
        Ok(())
    }
}

impl Vocabulary for PackBits {
    const NAMES: &'static [&'static str] = &["packbits"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        given.only_default("padding").map(|()| PackBits)
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named("packbits", [("padding", "none".into())])
    }
}

/// The number of booleans, and their bits.
fn split(stored: &[u8]) -> Result<(usize, &[u8])> {
    let found = stored.split_first().and_then(|(unused, bits)| {
        let size = bits.len().checked_mul(8)?.checked_sub(usize::from(*unused))?;
        (*unused < 8).then_some((size, bits))
    });
    found.ok_or_else(|| Error::malformed(format!("{} bytes are not packed bits", stored.len())))
}
