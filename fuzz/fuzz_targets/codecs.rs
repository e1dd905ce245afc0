//! Decodes bytes with the codec that the first of them chooses. Encoded data must decode to the original.
#![no_main]

use hyperslab_codec::{
    Bitshuffle, BitshuffleCodec, Blosc, Blosc2, BloscCodec, BloscShuffle, Bzip2, Codec, Deflate, Fletcher32,
    Gzip, Lz4Hdf5, Lzf, Scratch, Shuffle, Snappy, Zstd, decode, decode_within, encode,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [kind, element, len_low, len_high, data @ ..] = bytes else { return };
    let codec = codec(*kind, usize::from(*element).max(1));
    // Chunks have up to 64 KiB: if a frame claims more, it must be rejected.
    let len = usize::from(u16::from_le_bytes([*len_low, *len_high]));
    let mut scratch = Scratch::new();
    let codecs = [codec];
    let _ = decode(&codecs, data, &mut vec![0; len], &mut scratch);
    if let Ok(raw) = decode_within(&codecs, data, len, &mut scratch) {
        assert!(raw.len() <= len, "{codecs:?}");
    }
    if let Ok(stored) = encode(&codecs, data, &mut scratch) {
        let mut out = vec![0; data.len()];
        decode(&codecs, &stored, &mut out, &mut scratch).expect("what was encoded decodes");
        assert_eq!(out, data, "{codecs:?}");
    }
});

fn codec(kind: u8, element: usize) -> Codec {
    let shuffle = match kind >> 6 {
        0 => BloscShuffle::None,
        1 => BloscShuffle::Byte,
        _ => BloscShuffle::Bit,
    };
    let blosc = |codec| Blosc { codec, level: 1, shuffle, element, block: 0 }.into();
    let blosc2 = |codec, rank| {
        let shape = vec![1; rank];
        Blosc2 { codec, level: 1, shuffle, element, block: 0, shape }.into()
    };
    let bitshuffle = |codec| Bitshuffle { element, block: 0, codec }.into();
    match kind & 0x1f {
        0 => Deflate { level: 1 }.into(),
        1 => Gzip { level: 1 }.into(),
        2 => Shuffle { element }.into(),
        3 => Fletcher32.into(),
        4 => Lzf.into(),
        5 => Lz4Hdf5 { block: 0 }.into(),
        6 => Zstd { level: 1, checksum: kind >> 6 == 1 }.into(),
        7 => Bzip2 { level: 1 }.into(),
        8 => Snappy.into(),
        9 => bitshuffle(BitshuffleCodec::None),
        10 => bitshuffle(BitshuffleCodec::Lz4),
        11 => bitshuffle(BitshuffleCodec::Zstd { level: 1 }),
        12 => blosc(BloscCodec::BloscLz),
        13 => blosc(BloscCodec::Lz4),
        14 => blosc(BloscCodec::Snappy),
        15 => blosc(BloscCodec::Zlib),
        16 => blosc(BloscCodec::Zstd),
        17 => blosc2(BloscCodec::BloscLz, 0),
        18 => blosc2(BloscCodec::Lz4, 2),
        19 => blosc2(BloscCodec::Zlib, 3),
        20 => blosc2(BloscCodec::Zstd, 1),
        21 => blosc(BloscCodec::Lz4Hc),
        _ => Lz4Hdf5 { block: u32::try_from(element).unwrap_or(1) }.into(),
    }
}
