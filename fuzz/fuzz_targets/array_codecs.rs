//! Decodes bytes with a codec that Zarr arrays refer to by its numcodecs name. The first bytes choose the codec and its
//! parameters. Encoded data must decode to the original unless the codec rounds.
#![no_main]

use hyperslab_codec::{
    AsType, Base64, BitRound, Checksum, ChecksumAlgorithm, Codec, Delta, FixedScaleOffset, Lz4Numcodecs,
    Lzma, LzmaBranches, LzmaCheck, LzmaCoder, LzmaContainer, LzmaFilter, LzmaParameters, Number, NumberKind,
    PackBits, Quantize, Scratch, decode, decode_within, encode,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((parameters, data)) = bytes.split_first_chunk::<6>() else { return };
    let Some((codec, is_exact)) = codec(parameters) else { return };
    // Chunks have up to 64 KiB: if a header claims more, it must be rejected.
    let [.., low, high] = *parameters;
    let len = usize::from(u16::from_le_bytes([low, high]));
    let mut scratch = Scratch::new();
    let codecs = [codec];
    let _ = decode(&codecs, data, &mut vec![0; len], &mut scratch);
    if let Ok(raw) = decode_within(&codecs, data, len, &mut scratch) {
        assert!(raw.len() <= len, "{codecs:?}");
    }
    if let Ok(stored) = encode(&codecs, data, &mut scratch) {
        let mut out = vec![0; data.len()];
        let decoded = decode(&codecs, &stored, &mut out, &mut scratch);
        if is_exact {
            decoded.expect("what was encoded decodes");
            assert_eq!(out, data, "{codecs:?}");
        }
    }
});

/// A codec, and whether it is lossless.
fn codec(parameters: &[u8; 6]) -> Option<(Codec, bool)> {
    let [kind, a, b, c, ..] = *parameters;
    let (decoded, encoded) = (number(a), number(b));
    Some(match kind % 12 {
        0 => (AsType { decoded, encoded }.into(), decoded == encoded && decoded.kind != NumberKind::Bool),
        1 => (Base64.into(), true),
        2 => (BitRound::new(decoded, c % 53).ok()?.into(), false),
        3 => {
            let algorithm = match c % 4 {
                0 => ChecksumAlgorithm::Crc32,
                1 => ChecksumAlgorithm::Crc32c,
                2 => ChecksumAlgorithm::Adler32,
                _ => ChecksumAlgorithm::Lookup3 { initial: a.into() },
            };
            (Checksum { algorithm, at_start: b % 2 == 0 }.into(), true)
        }
        4 => (Delta { decoded, encoded }.into(), false),
        5 => (FixedScaleOffset::new(decoded, encoded, f64::from(c) - 3.0, 10_f64).into(), false),
        6 => (Lz4Numcodecs { acceleration: 1 }.into(), true),
        7 => (PackBits.into(), false),
        8 => (Quantize::new(decoded, encoded, i32::from(c) - 128).ok()?.into(), false),
        _ => {
            let mut parameters = LzmaParameters::preset(0).ok()?;
            parameters.dictionary = 1 << (12 + a % 6);
            parameters.literal_context = b % 5;
            parameters.position = b >> 4 & 3;
            let (container, coder) = match c % 4 {
                0 => (
                    LzmaContainer::Xz { check: LzmaCheck::ALL[usize::from(c >> 6)] },
                    LzmaCoder::Lzma2(parameters),
                ),
                1 => (LzmaContainer::Alone, LzmaCoder::Lzma1(parameters)),
                2 => (LzmaContainer::Raw, LzmaCoder::Lzma1(parameters)),
                _ => (LzmaContainer::Raw, LzmaCoder::Lzma2(parameters)),
            };
            let filters = match c >> 2 & 3 {
                0 => vec![LzmaFilter::Delta { distance: u16::from(b) + 1 }],
                1 => vec![LzmaFilter::Branches { of: LzmaBranches::ALL[usize::from(b % 6)], start: 0 }],
                _ => Vec::new(),
            };
            (Lzma::new(container, filters, coder).ok()?.into(), true)
        }
    })
}

fn number(byte: u8) -> Number {
    let bytes = 1 << (byte >> 4 & 3);
    let kind = match byte & 7 {
        0 => NumberKind::Bool,
        1 | 2 => NumberKind::Signed { bytes },
        3 | 4 => NumberKind::Unsigned { bytes },
        5 => NumberKind::Float16,
        6 => NumberKind::Float32,
        _ => NumberKind::Float64,
    };
    Number { kind, big_endian: byte & 8 != 0 }
}
