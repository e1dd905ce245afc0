use super::*;
use crate::{Codec, Scratch};
use hyperslab_core::ErrorKind;
use proptest::prelude::*;

fn stored(szip: Szip, raw: &[u8]) -> Vec<u8> {
    crate::encode(&[szip.into()], raw, &mut Scratch::new()).unwrap()
}

fn decoded(szip: Szip, stored: &[u8], len: usize) -> Result<Vec<u8>> {
    let mut out = vec![0xee; len];
    crate::decode(&[szip.into()], stored, &mut out, &mut Scratch::new())?;
    Ok(out)
}

fn szip() -> impl Strategy<Value = Szip> {
    let bits = prop_oneof![1..=24_u32, Just(32), Just(64)];
    (bits, 1..=32_u32, 1..600_u32, any::<bool>(), any::<bool>())
        .prop_map(|(bits, half, line, nn, msb)| Szip::new(bits, half * 2, line, nn, msb).unwrap())
}

/// Smooth, noisy and constant stretches of samples.
fn raw(szip: Szip) -> impl Strategy<Value = Vec<u8>> {
    let stretch = prop_oneof![
        (any::<u32>(), 1..9_000_usize).prop_map(|(value, len)| vec![value; len]),
        prop::collection::vec(any::<u32>(), 1..400),
        (any::<u32>(), prop::collection::vec(0..7_u32, 1..900)).prop_map(|(mut value, steps)| {
            let step = |step: u32| {
                value = value.wrapping_add(step).wrapping_sub(3);
                value
            };
            steps.into_iter().map(step).collect()
        }),
    ];
    prop::collection::vec(stretch, 0..6).prop_map(move |stretches| {
        let (size, mask) = (szip.sample_size(), greatest(szip.sample_bits()));
        let bytes = stretches.concat().into_iter().flat_map(|value| {
            let mut bytes = (value & mask).to_le_bytes()[..size].to_vec();
            if szip.most_significant_first {
                bytes.reverse();
            }
            bytes
        });
        let mut raw: Vec<u8> = bytes.collect();
        raw.truncate(raw.len() / 8 * 8);
        raw
    })
}

proptest! {
    #[test]
    fn returns_what_it_was_given((szip, raw) in szip().prop_flat_map(|szip| (Just(szip), raw(szip)))) {
        let stored = stored(szip, &raw);
        prop_assert!(stored.len() <= szip.max_encoded_size(raw.len()));
        prop_assert_eq!(decoded(szip, &stored, raw.len()).unwrap(), raw);
    }

    #[test]
    fn any_bytes_decode_or_are_malformed(
        szip in szip(),
        mut stored in prop::collection::vec(any::<u8>(), 4..300),
        len in 0..2000_u32,
    ) {
        stored[..4].copy_from_slice(&len.to_le_bytes());
        if let Err(e) = decoded(szip, &stored, len.try_into().unwrap()) {
            prop_assert_eq!(e.kind(), ErrorKind::Malformed);
        }
    }

    #[test]
    fn truncated_streams_are_rejected(
        (szip, raw) in szip().prop_flat_map(|szip| (Just(szip), raw(szip))),
        cut in any::<prop::sample::Index>(),
    ) {
        let stored = stored(szip, &raw);
        let stored = &stored[..cut.index(stored.len())];
        match decoded(szip, stored, raw.len()) {
            Err(e) => prop_assert_eq!(e.kind(), ErrorKind::Malformed),
            // Only the samples that fill up the last scanline are missing.
            Ok(out) => {
                prop_assert_eq!(&out, &raw);
                let line = szip.pixels_per_scanline as usize * szip.interleaved().unwrap_or(szip.sample_size());
                let whole = raw.len().is_multiple_of(line) && line.is_multiple_of(szip.pixels_per_block.into());
                prop_assert!(!whole);
            }
        }
    }

    #[test]
    fn damaged_streams_decode_or_are_malformed(
        (szip, raw) in szip().prop_flat_map(|szip| (Just(szip), raw(szip))),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u32), 1..4),
    ) {
        let mut stored = stored(szip, &raw);
        for (at, bit) in flips {
            *at.get_mut(&mut stored) ^= 1_u8 << bit;
        }
        if let Err(e) = decoded(szip, &stored, raw.len()) {
            prop_assert_eq!(e.kind(), ErrorKind::Malformed);
        }
    }
}

#[test]
fn rejects_invalid_parameters() {
    let refused = |bits, block, line| Szip::new(bits, block, line, true, false).unwrap_err().to_string();
    assert_eq!(refused(25, 8, 8), "25 bits per pixel, expected 1 to 24, 32 or 64");
    assert_eq!(refused(0, 8, 8), "0 bits per pixel, expected 1 to 24, 32 or 64");
    assert_eq!(refused(320, 8, 8), "320 bits per pixel, expected 1 to 24, 32 or 64");
    assert_eq!(refused(8, 7, 8), "7 pixels per block, expected an even number from 2 to 64");
    assert_eq!(refused(8, 0, 8), "0 pixels per block, expected an even number from 2 to 64");
    assert_eq!(refused(8, 8, 0), "0 pixels per scanline, expected 1 to 4096 blocks of 8");
    assert_eq!(refused(8, 8, 32769), "32769 pixels per scanline, expected 1 to 4096 blocks of 8");
}

#[test]
fn rejects_unexpected_lengths() {
    let szip = Szip::new(16, 8, 64, true, false).unwrap();
    let mut stored = stored(szip, &[1, 2, 3, 4]);
    let refused = |stored: &[u8], len| decoded(szip, stored, len).unwrap_err().to_string();
    assert_eq!(refused(&stored[..3], 4), "szip data of 3 bytes, expected a length of 4");
    assert_eq!(refused(&stored, 6), "16 stored bytes cannot decode to 6");
    stored[0] = 3;
    assert_eq!(refused(&stored, 3), "3 bytes for szip, expected a multiple of the pixel size 2");
    let e = crate::encode(&[Codec::from(szip)], &[1, 2, 3], &mut Scratch::new()).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn rejects_impossible_runs_and_pairs() {
    let szip = Szip::new(8, 8, 16, false, false).unwrap();
    let refused = |bits: &[u8]| decoded(szip, &[&[16, 0, 0, 0], bits].concat(), 16).unwrap_err().to_string();
    // Identifier 0, no second extension, five zeros and a 1 bit: five blocks in a scanline of two.
    assert_eq!(refused(&[0, 0x40]), "szip stream with 5 blocks of zeros, more than the rest of a scanline");
    // Identifier 0, second extension, 91 zeros and a 1 bit.
    let pair = [&[0x10][..], &[0; 10], &[1]].concat();
    assert_eq!(refused(&pair), "szip stream with second extension code 91, expected at most 90");
    assert_eq!(refused(&[0]), "szip stream ends early, after 1 bytes");
}
