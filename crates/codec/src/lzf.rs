//! LZF: literal runs and back references with distances up to 8 KiB; filter id 32000 in the HDF5 registry.
//!
//! `000LLLLL` is followed by L + 1 literals. `LLLooooo oooooooo` repeats L + 2 bytes from o + 1 bytes before. If L is
//! 7, a byte between the two is added to it.

use crate::back_reference::{self, Finder};
use crate::codec::{Transform, too_long};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, named};
use hyperslab_core::{Error, Result};

/// LZF: literal runs and back references.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lzf;

impl Transform for Lzf {
    /// Three bytes repeat at most 264 bytes; two literals take three bytes.
    fn decoded_sizes(&self, min: usize, max: usize) -> Option<(usize, usize)> {
        Some((min / 2, max.saturating_mul(88)))
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        raw.saturating_add(raw.div_ceil(MAX_LITERALS))
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let mut left = stored;
        let mut at = 0;
        while let Some((control, rest)) = left.split_first() {
            let control = usize::from(*control);
            if control < MAX_LITERALS {
                let Some((literals, rest)) = rest.split_at_checked(control + 1) else {
                    return Err(ends_within(stored));
                };
                let end = at + literals.len();
                let max = out.len();
                let Some(to) = out.get_mut(at..end) else { return Err(too_long(end, max)) };
                to.copy_from_slice(literals);
                (left, at) = (rest, end);
                continue;
            }
            let mut len = (control >> 5) + 2;
            let mut rest = rest;
            if len == 9 {
                let Some((more, behind)) = rest.split_first() else { return Err(ends_within(stored)) };
                (len, rest) = (len + usize::from(*more), behind);
            }
            let Some((low, rest)) = rest.split_first() else { return Err(ends_within(stored)) };
            let distance = ((control & 0x1f) << 8 | usize::from(*low)) + 1;
            at = back_reference::copy(out, at, distance, len).ok_or_else(|| {
                match at.checked_sub(distance) {
                    Some(_) => too_long(at + len, out.len()),
                    None => Error::malformed(format!(
                        "LZF back reference of distance {distance} at byte {at}, before the start"
                    )),
                }
            })?;
            left = rest;
        }
        Ok(at)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        out.clear();
        let mut finder = Finder::new(raw, 3);
        let (mut literals, mut at) = (0, 0);
        while at < raw.len() {
            let Some((distance, len)) = finder.find(at, MAX_DISTANCE, MAX_REPEATED) else {
                // The longer no match is found, the fewer positions are searched.
                at += 1 + (at - literals) / 64;
                continue;
            };
            put_literals(raw.get(literals..at).unwrap_or_default(), out);
            let [low, high, ..] = ((distance - 1) as u64).to_le_bytes();
            match u8::try_from(len - 2) {
                Ok(short @ 0..7) => out.extend([short << 5 | high, low]),
                _ => out.extend([7 << 5 | high, u8::try_from(len - 9).unwrap_or(u8::MAX), low]),
            }
            at += len;
            literals = at;
        }
        put_literals(raw.get(literals..).unwrap_or_default(), out);
        Ok(())
    }
}

impl Vocabulary for Lzf {
    const NAMES: &'static [&'static str] = &["lzf"];

    fn of_parameters(_: &Given<'_>) -> Result<Self> {
        Ok(Lzf)
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named("lzf", [])
    }
}

fn put_literals(literals: &[u8], out: &mut Vec<u8>) {
    for run in literals.chunks(MAX_LITERALS) {
        out.push(u8::try_from(run.len() - 1).unwrap_or_default());
        out.extend_from_slice(run);
    }
}

fn ends_within(stored: &[u8]) -> Error {
    Error::malformed(format!("LZF data ends within an instruction, after {} bytes", stored.len()))
}

const MAX_LITERALS: usize = 32;
const MAX_DISTANCE: usize = 1 << 13;
const MAX_REPEATED: usize = 264;
