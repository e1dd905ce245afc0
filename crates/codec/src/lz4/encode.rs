//! Encodes LZ4 blocks.

use crate::coders::Coders;
use hyperslab_core::{Error, Result};
use lz4::block::{CompressionMode, compress_to_buffer};

/// The effort of the search for matches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effort {
    /// Acceleration, from 1: a higher value is faster.
    Acceleration(u32),
    /// Level, up to 12: a higher value compresses more.
    Level(u8),
}

/// The default effort.
pub(crate) const DEFAULT: Effort = Effort::Acceleration(1);

/// Appends `raw` as one block.
///
/// # Errors
/// If `raw` is too long for one block.
pub(crate) fn encode_block(raw: &[u8], effort: Effort, out: &mut Vec<u8>, coders: &mut Coders) -> Result<()> {
    match encode(raw, effort, bound(raw.len()), &mut coders.lz4)? {
        Some(block) => out.extend_from_slice(block),
        None => {
            return Err(Error::invalid(format!(
                "{} bytes for one LZ4 block, expected at most {MAX_BLOCK}",
                raw.len()
            )));
        }
    }
    Ok(())
}

/// Appends `raw` as one block if that is shorter than `raw`. Otherwise appends nothing and returns false.
///
/// # Errors
/// If `raw` is too long for one block.
pub(crate) fn encode_shorter(
    raw: &[u8],
    effort: Effort,
    out: &mut Vec<u8>,
    coders: &mut Coders,
) -> Result<bool> {
    let block = encode(raw, effort, raw.len().saturating_sub(1), &mut coders.lz4)?;
    out.extend_from_slice(block.unwrap_or_default());
    Ok(block.is_some())
}

/// Encodes to `room`. Returns `None` if that takes more bytes than `max`.
fn encode<'r>(raw: &[u8], effort: Effort, max: usize, room: &'r mut Vec<u8>) -> Result<Option<&'r [u8]>> {
    if raw.len() > MAX_BLOCK {
        return Err(Error::invalid(format!(
            "{} bytes for one LZ4 block, expected at most {MAX_BLOCK}",
            raw.len()
        )));
    }
    // For an empty block, the library would read bytes before it.
    if raw.is_empty() {
        return Ok((max > 0).then_some(&EMPTY));
    }
    if room.len() < max {
        *room = vec![0; max];
    }
    let into = room.get_mut(..max).unwrap_or_default();
    let mode = match effort {
        Effort::Acceleration(acceleration) => {
            CompressionMode::FAST(i32::try_from(acceleration.max(1)).unwrap_or(i32::MAX))
        }
        Effort::Level(level) => CompressionMode::HIGHCOMPRESSION(i32::from(level)),
    };
    // The library fails only if the output does not fit.
    let len = compress_to_buffer(raw, Some(mode), false, into).ok();
    Ok(len.and_then(|len| room.get(..len)))
}

/// The maximum size of a block of `raw` bytes.
pub(crate) fn bound(raw: usize) -> usize {
    raw.saturating_add(raw / 255).saturating_add(16)
}

/// The maximum input of one block in bytes, as in the library.
const MAX_BLOCK: usize = 0x7e00_0000;

/// The block of 0 bytes.
const EMPTY: [u8; 1] = [0];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(block: &[u8], len: usize) -> Vec<u8> {
        let mut out = vec![0; len];
        super::super::decode_block(block, &mut out).unwrap();
        out
    }

    proptest! {
        #[test]
        fn blocks_return(
            (few, len) in (1..=255_u8, prop_oneof![0..40_usize, 0..5000_usize]),
            seed in any::<u64>(),
            effort in prop_oneof![(0..=10_u32).prop_map(Effort::Acceleration), (0..=12_u8).prop_map(Effort::Level)],
        ) {
            let mut state = seed;
            let mut raw = vec![0; len];
            for byte in &mut raw {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *byte = state.to_be_bytes()[0] % few;
            }
            let (mut out, mut coders) = (b"before".to_vec(), Coders::default());
            encode_block(&raw, effort, &mut out, &mut coders).unwrap();
            prop_assert!(out.starts_with(b"before") && out.len() <= bound(len) + 6);
            prop_assert_eq!(&decoded(&out[6..], len), &raw);
            let mut shorter = Vec::new();
            let is_shorter = encode_shorter(&raw, effort, &mut shorter, &mut coders).unwrap();
            prop_assert_eq!(is_shorter, !shorter.is_empty());
            if is_shorter {
                prop_assert!(shorter.len() < len);
                prop_assert_eq!(decoded(&shorter, len), raw);
            }
        }
    }

    #[test]
    fn empty_input_is_a_block_of_one_byte() {
        for effort in
            (0..=12_u8).flat_map(|effort| [Effort::Acceleration(effort.into()), Effort::Level(effort)])
        {
            let mut out = Vec::new();
            encode_block(&[], effort, &mut out, &mut Coders::default()).unwrap();
            assert_eq!(decoded(&out, 0), []);
            assert_eq!(out.len(), 1);
        }
    }

    #[test]
    fn reports_data_that_does_not_compress() {
        let (mut out, mut coders) = (Vec::new(), Coders::default());
        let all: Vec<u8> = (0..=255).collect();
        assert!(!encode_shorter(&all, Effort::Acceleration(1), &mut out, &mut coders).unwrap());
        assert!(!encode_shorter(&[], Effort::Acceleration(1), &mut out, &mut coders).unwrap());
        assert!(out.is_empty());
        assert!(encode_shorter(&all.repeat(3), Effort::Acceleration(1), &mut out, &mut coders).unwrap());
        assert!(out.len() < 300);
    }
}
