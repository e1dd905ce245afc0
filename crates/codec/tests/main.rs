//! Decodes chunks written by libhdf5. `golden.py` makes `golden.txt`.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot read its own file may panic"
)]

mod numcodecs;
mod packed;

use hyperslab_codec::{
    Bitshuffle, BitshuffleCodec, Blosc, Blosc2, BloscCodec, BloscShuffle, Bzip2, Codec, Deflate, Fletcher32,
    Gzip, Lz4Hdf5, Lzf, Scratch, Shuffle, Zstd, check_size, decode, encode,
};
use hyperslab_core::ErrorKind;

struct Golden {
    name: &'static str,
    codecs: Vec<Codec>,
    raw: Vec<u8>,
    stored: Vec<u8>,
}

fn goldens() -> Vec<Golden> {
    let lines = include_str!("golden.txt").lines();
    lines
        .map(|line| {
            let [name, codecs, raw, stored] = line.split("; ").collect::<Vec<_>>().try_into().unwrap();
            Golden {
                name,
                codecs: codecs.split(", ").map(codec).collect(),
                raw: bytes(raw),
                stored: bytes(stored),
            }
        })
        .collect()
}

fn codec(text: &str) -> Codec {
    let words: Vec<&str> = text.split(' ').collect();
    let number = |at: usize| words.get(at).map_or(0, |word: &&str| word.parse().unwrap());
    let small = |at: usize| u8::try_from(number(at)).unwrap();
    let size = |at: usize| usize::try_from(number(at)).unwrap();
    match words[0] {
        "deflate" => Deflate { level: small(1) }.into(),
        "gzip" => Gzip { level: small(1) }.into(),
        "shuffle" => Shuffle { element: size(1) }.into(),
        "fletcher32" => Fletcher32.into(),
        "lzf" => Lzf.into(),
        "lz4" => Lz4Hdf5 { block: number(1) }.into(),
        "bzip2" => Bzip2 { level: small(1) }.into(),
        "zstd" => Zstd { level: small(1).into(), checksum: false }.into(),
        "bitshuffle" => {
            let codec = match words[3] {
                "none" => BitshuffleCodec::None,
                "lz4" => BitshuffleCodec::Lz4,
                _ => BitshuffleCodec::Zstd { level: 3 },
            };
            Bitshuffle { element: size(1), block: size(2), codec }.into()
        }
        kind => {
            let codec = match words[1] {
                "blosclz" => BloscCodec::BloscLz,
                "lz4" => BloscCodec::Lz4,
                "lz4hc" => BloscCodec::Lz4Hc,
                "zlib" => BloscCodec::Zlib,
                "zstd" => BloscCodec::Zstd,
                other => panic!("{other}"),
            };
            let shuffle = match words[3] {
                "none" => BloscShuffle::None,
                "byte" => BloscShuffle::Byte,
                _ => BloscShuffle::Bit,
            };
            let (level, element, block) = (small(2), size(4), number(5));
            let shape = (6..words.len()).map(number).collect();
            match kind {
                "blosc" => Blosc { codec, level, shuffle, element, block }.into(),
                "blosc2" => Blosc2 { codec, level, shuffle, element, block, shape }.into(),
                _ => panic!("{kind}"),
            }
        }
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

#[test]
fn decodes_chunks_of_libhdf5() {
    let mut scratch = Scratch::new();
    for golden in goldens() {
        check_size(&golden.codecs, &golden.stored, golden.raw.len()).unwrap();
        let mut out = vec![0xee; golden.raw.len()];
        decode(&golden.codecs, &golden.stored, &mut out, &mut scratch).unwrap();
        assert_eq!(out, golden.raw, "{}", golden.name);
    }
}

#[test]
fn encodes_the_same_bytes_as_libhdf5_where_the_encoding_is_unique() {
    let mut scratch = Scratch::new();
    let fixed = |golden: &Golden| {
        golden.codecs.iter().all(|codec| match codec {
            Codec::Bitshuffle(bitshuffle) => bitshuffle.codec == BitshuffleCodec::None,
            Codec::Fletcher32(_) | Codec::Shuffle(_) => true,
            _ => false,
        })
    };
    for golden in goldens().into_iter().filter(fixed) {
        let stored = encode(&golden.codecs, &golden.raw, &mut scratch).unwrap();
        assert_eq!(stored, golden.stored, "{}", golden.name);
    }
}

#[test]
fn round_trips_every_codec() {
    let mut scratch = Scratch::new();
    for golden in goldens() {
        let stored = encode(&golden.codecs, &golden.raw, &mut scratch).unwrap();
        let mut out = vec![0xee; golden.raw.len()];
        decode(&golden.codecs, &stored, &mut out, &mut scratch).unwrap();
        assert_eq!(out, golden.raw, "{}", golden.name);
    }
}

#[test]
fn rejects_wrong_declared_sizes_before_decoding() {
    let declares = |codec: &Codec| match codec {
        Codec::Bitshuffle(bitshuffle) => bitshuffle.codec != BitshuffleCodec::None,
        Codec::Blosc(_) | Codec::Blosc2(_) | Codec::Lz4Hdf5(_) | Codec::Zstd(_) => true,
        _ => false,
    };
    for golden in goldens().into_iter().filter(|golden| golden.codecs.last().is_some_and(declares)) {
        let [codec] = golden.codecs.as_slice() else { continue };
        for wrong in [0, golden.raw.len() - 1, golden.raw.len() + 1, 1 << 40] {
            let e = check_size(std::slice::from_ref(codec), &golden.stored, wrong).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Malformed, "{} as {wrong}", golden.name);
        }
    }
}

/// The blocks declare more bytes than their chunk; they must not be allocated.
#[test]
fn rejects_blosc2_arrays_with_blocks_larger_than_their_chunk() {
    let golden = goldens().into_iter().find(|golden| golden.name == "blosc2 array of zeros").unwrap();
    let mut stored = golden.stored;
    // Chunks of 6 x 4 and blocks of 3 x 2 elements become 2^30 elements long along the first dimension.
    for (at, from) in [(0, 6_u32), (10, 3)] {
        let shape = [0xd2, 0, 0, 0, u8::try_from(from).unwrap()];
        let found = stored.windows(5).enumerate().skip(at).find(|(_, window)| *window == shape).unwrap().0;
        stored[found + 1] = 0x40;
    }
    let mut out = vec![0; golden.raw.len()];
    let e = decode(&golden.codecs, &stored, &mut out, &mut Scratch::new()).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Malformed);
    assert!(e.to_string().contains("Blosc block size"), "{e}");
}

#[test]
fn accepts_an_empty_blosc_chunk_with_block_size_0() {
    // Version, LZ4 format version, flags, element size; then the sizes of the content, of a block and of the chunk.
    let chunk = bytes("02012101000000000000000010000000");
    decode(&[codec("blosc lz4 5 byte 4 0")], &chunk, &mut [], &mut Scratch::default()).unwrap();
}

/// Encodes chunks to the file that `HYPERSLAB_ENCODED` names, for `foreign.py` to read with the libraries of the
/// codecs.
#[test]
fn encodes_chunks_for_other_libraries() {
    let mut scratch = Scratch::new();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let lines = include_str!("golden.txt").lines().zip(goldens());
    let line = |name: &str, codecs: &str, raw: &[u8], stored: &[u8]| {
        format!("{name}; {codecs}; {}; {}\n", hex(raw), hex(stored))
    };
    let mut encoded: Vec<String> = lines
        .map(|(text, golden)| {
            let stored = encode(&golden.codecs, &golden.raw, &mut scratch).unwrap();
            line(golden.name, text.split("; ").nth(1).unwrap(), &golden.raw, &stored)
        })
        .collect();
    for (name, raw) in noisy() {
        for codecs in ["deflate 1", "deflate 6", "gzip 4"] {
            let stored = encode(&[codec(codecs)], &raw, &mut scratch).unwrap();
            encoded.push(line(name, codecs, &raw, &stored));
        }
    }
    assert!(encoded.len() > 200, "{}", encoded.len());
    if let Some(path) = std::env::var_os("HYPERSLAB_ENCODED") {
        std::fs::write(path, encoded.concat()).unwrap();
    }
}

/// Bytes that begin with noise, whose blocks this crate makes itself: noise of different distributions, with runs, and
/// before bytes that are searched for matches.
fn noisy() -> Vec<(&'static str, Vec<u8>)> {
    let mut state = 1_u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    let noise: Vec<u8> = (0..70_000).map(|_| next()).collect();
    let skewed: Vec<u8> = (0..70_000).map(|_| next() % 60 + next() % 60).collect();
    let rare: Vec<u8> = (0..70_000).map(|_| if next() == 0 { next() } else { next() % 32 }).collect();
    let masked: Vec<u8> = (0..140_000).map(|at| if at / 9_000 % 3 == 0 { 7 } else { next() % 120 }).collect();
    let words = b"these words are found again and again; ".repeat(1_000);
    vec![
        ("noise before words", [&noise[..], &words].concat()),
        ("noise", noise),
        ("skewed noise", skewed),
        ("noise with rare bytes", rare),
        ("masked noise", masked),
        ("one byte many times", vec![3; 200_000]),
    ]
}

/// Every truncation of small frames, some truncations of long ones.
#[test]
fn rejects_every_truncation() {
    let mut scratch = Scratch::new();
    for golden in goldens() {
        for len in (0..golden.stored.len()).step_by(1 + golden.stored.len() / 400) {
            let mut out = vec![0; golden.raw.len()];
            let e = decode(&golden.codecs, &golden.stored[..len], &mut out, &mut scratch).unwrap_err();
            assert!(matches!(e.kind(), ErrorKind::Malformed | ErrorKind::Checksum), "{} {len}", golden.name);
        }
    }
}
