//! BloscLZ: literal runs and back references with distances up to 72 KiB.
//!
//! `000nnnnn` is followed by n + 1 literals. `LLLooooo oooooooo` repeats L + 2 bytes from o + 1 bytes before. If L is
//! 7, bytes between the two are added to it, up to and including the first that is not 255. If all bits of o are 1,
//! two more bytes follow, big-endian, which are added to it. A stream begins and ends with literals; the L of its
//! first byte has no meaning.

use crate::back_reference::{self, Finder};
use hyperslab_core::{Error, Result};

/// Decodes a stream of exactly as many bytes as `out`.
pub(super) fn decode(stored: &[u8], out: &mut [u8]) -> Result<()> {
    match fill(stored, out) {
        Some(len) if len == out.len() => Ok(()),
        _ => Err(Error::malformed(format!(
            "{} bytes are not a BloscLZ stream that decodes to {}",
            stored.len(),
            out.len()
        ))),
    }
}

fn fill(stored: &[u8], out: &mut [u8]) -> Option<usize> {
    let (first, mut left) = stored.split_first()?;
    let mut control = usize::from(first & 0x1f);
    let mut at = 0;
    loop {
        if control < 32 {
            let (literals, rest) = left.split_at_checked(control + 1)?;
            let end = at + literals.len();
            out.get_mut(at..end)?.copy_from_slice(literals);
            (left, at) = (rest, end);
        } else {
            let mut len = (control >> 5) + 2;
            if len == 9 {
                loop {
                    let (more, rest) = left.split_first()?;
                    left = rest;
                    len = len.checked_add(usize::from(*more))?;
                    if *more != 255 {
                        break;
                    }
                }
            }
            let (low, rest) = left.split_first()?;
            left = rest;
            let mut distance = (control & 0x1f) << 8 | usize::from(*low);
            if distance == FAR {
                let (more, rest) = left.split_first_chunk()?;
                left = rest;
                distance += usize::from(u16::from_be_bytes(*more));
            }
            // No writer ends with a back reference, and Blosc itself does not follow one at the end.
            if left.is_empty() {
                return None;
            }
            at = back_reference::copy(out, at, distance + 1, len)?;
        }
        let Some((next, rest)) = left.split_first() else { return Some(at) };
        (control, left) = (usize::from(*next), rest);
    }
}

/// Appends `raw` as a stream.
pub(super) fn encode(raw: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let mut finder = Finder::new(raw, 4);
    let (mut literals, mut at) = (0, 4);
    // The last bytes must be literals.
    while at + LAST_LITERALS < raw.len() {
        let room = raw.len() - LAST_LITERALS - at;
        let found =
            finder.find(at, MAX_DISTANCE, room).filter(|(distance, len)| *distance <= FAR || *len > 6);
        let Some((distance, len)) = found else {
            // The longer no match is found, the fewer positions are searched.
            at += 1 + (at - literals) / 64;
            continue;
        };
        put_literals(raw.get(literals..at).unwrap_or_default(), out);
        let near = (distance - 1).min(FAR);
        let [low, high, ..] = (near as u64).to_le_bytes();
        match u8::try_from(len - 2) {
            Ok(short @ 0..7) => out.push(short << 5 | high),
            _ => {
                out.push(7 << 5 | high);
                out.extend(std::iter::repeat_n(255, (len - 9) / 255));
                out.push(u8::try_from((len - 9) % 255).unwrap_or_default());
            }
        }
        out.push(low);
        if near == FAR {
            let [low, high, ..] = ((distance - 1 - FAR) as u64).to_le_bytes();
            out.extend([high, low]);
        }
        at += len;
        literals = at;
    }
    put_literals(raw.get(literals..).unwrap_or_default(), out);
    if let Some(first) = out.get_mut(start) {
        *first |= 1 << 5;
    }
}

fn put_literals(literals: &[u8], out: &mut Vec<u8>) {
    for run in literals.chunks(MAX_LITERALS) {
        out.push(u8::try_from(run.len() - 1).unwrap_or_default());
        out.extend_from_slice(run);
    }
}

/// From this distance minus one on, two more bytes hold the distance.
const FAR: usize = 0x1fff;
const MAX_DISTANCE: usize = FAR + 0xffff;
const MAX_LITERALS: usize = 32;
const LAST_LITERALS: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(raw: &[u8]) -> usize {
        let mut stored = Vec::new();
        encode(raw, &mut stored);
        let mut out = vec![0; raw.len()];
        decode(&stored, &mut out).unwrap();
        assert_eq!(out, raw);
        stored.len()
    }

    #[test]
    fn round_trips_near_and_far_references() {
        let noise: Vec<u8> = (0..80_000_u32)
            .map(|i| i.wrapping_mul(0x9e37_79b1).rotate_left(i % 31).to_le_bytes()[1])
            .collect();
        for distance in [5, 300, 8190, 8191, 8192, 8193, 8194, 20_000, 73_700, 73_726, 73_727] {
            let mut raw = noise[..distance].to_vec();
            raw.extend_from_slice(&noise[..5.max(distance.min(1000))]);
            raw.extend_from_slice(&noise[79_000..]);
            round_trip(&raw);
        }
        assert!(round_trip(&[7; 100_000]) < 500);
    }

    proptest! {
        #[test]
        fn every_stream_returns(raw in prop::collection::vec(0..4_u8, 1..3000)) {
            round_trip(&raw);
        }

        #[test]
        fn any_bytes_decode_or_fail(stored in prop::collection::vec(any::<u8>(), 0..300), len in 0..600_usize) {
            let _ = decode(&stored, &mut vec![0; len]);
        }
    }
}
