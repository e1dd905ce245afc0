//! Decodes bytes encoded by numcodecs. `numcodecs_golden.py` makes `numcodecs.txt`.

use super::bytes;
use hyperslab_codec::{
    AsType, Base64, BitRound, Bzip2, Checksum, ChecksumAlgorithm, Codec, Deflate, Delta, FixedScaleOffset,
    Fletcher32, Gzip, Lz4Numcodecs, Lzma, LzmaBranches, LzmaCheck, LzmaCoder, LzmaContainer, LzmaFilter,
    LzmaParameters, Number, NumberKind, PackBits, Pcodec, PcodecSettings, Quantize, Scratch, Shuffle, Zstd,
    check_size, decode, decode_within, encode,
};

struct Golden {
    name: &'static str,
    codec: Codec,
    raw: Vec<u8>,
    stored: Vec<u8>,
    /// The decoded bytes, if they differ from the bytes that were encoded.
    back: Option<Vec<u8>>,
}

fn goldens() -> Vec<Golden> {
    let golden = |line: &'static str| {
        let [name, raw, stored, back] =
            line.split(';').map(str::trim).collect::<Vec<_>>().try_into().unwrap();
        let back = (!back.is_empty()).then(|| bytes(back));
        Golden { name, codec: codec(name), raw: bytes(raw), stored: bytes(stored), back }
    };
    include_str!("numcodecs.txt").lines().map(golden).collect()
}

fn number(text: &str) -> Number {
    let (order, kind) = text.split_at(1);
    let kind = match kind {
        "b1" => NumberKind::Bool,
        "f2" => NumberKind::Float16,
        "f4" => NumberKind::Float32,
        "f8" => NumberKind::Float64,
        other => {
            let bytes = other[1..].parse().unwrap();
            match &other[..1] {
                "i" => NumberKind::Signed { bytes },
                _ => NumberKind::Unsigned { bytes },
            }
        }
    };
    Number { kind, big_endian: order == ">" }
}

fn codec(text: &str) -> Codec {
    let words: Vec<&str> = text.split(' ').collect();
    let small = || words[1].parse().unwrap();
    let numbers = || (number(words[1]), number(words[2]));
    let sum = |algorithm| Checksum { algorithm, at_start: words[1] == "start" }.into();
    match words[0] {
        "delta" => Delta { decoded: numbers().0, encoded: numbers().1 }.into(),
        "fixedscaleoffset" => {
            let (decoded, encoded) = numbers();
            FixedScaleOffset::new(decoded, encoded, words[3].parse().unwrap(), words[4].parse().unwrap())
                .into()
        }
        "quantize" => Quantize::new(numbers().0, numbers().1, words[3].parse().unwrap()).unwrap().into(),
        "bitround" => BitRound::new(number(words[1]), words[2].parse().unwrap()).unwrap().into(),
        "astype" => AsType { decoded: numbers().0, encoded: numbers().1 }.into(),
        "packbits" => PackBits.into(),
        "base64" => Base64.into(),
        "crc32" => sum(ChecksumAlgorithm::Crc32),
        "crc32c" => sum(ChecksumAlgorithm::Crc32c),
        "adler32" => sum(ChecksumAlgorithm::Adler32),
        "jenkins_lookup3" => sum(ChecksumAlgorithm::Lookup3 { initial: words[1].parse().unwrap() }),
        "fletcher32" => Fletcher32.into(),
        "shuffle" => Shuffle { element: words[1].parse().unwrap() }.into(),
        "lz4" => Lz4Numcodecs { acceleration: 1 }.into(),
        "zlib" => Deflate { level: small() }.into(),
        "gzip" => Gzip { level: small() }.into(),
        "bz2" => Bzip2 { level: small() }.into(),
        "zstd" => Zstd { level: 0, checksum: false }.into(),
        "lzma" => lzma(&words).into(),
        "pcodec" => Pcodec::new(number(words[1]), PcodecSettings::default()).unwrap().into(),
        other => panic!("{other}"),
    }
}

fn lzma(words: &[&str]) -> Lzma {
    let preset = words.get(2).and_then(|word| word.parse().ok()).unwrap_or(6);
    let mut parameters = LzmaParameters::preset(preset).unwrap();
    let branches = |of| vec![LzmaFilter::Branches { of, start: 0 }];
    let filters = match words.get(2) {
        Some(&"delta") => vec![LzmaFilter::Delta { distance: 4 }],
        Some(&"x86") => branches(LzmaBranches::X86),
        Some(&"ppc") => branches(LzmaBranches::PowerPc),
        Some(&"ia64") => branches(LzmaBranches::Ia64),
        Some(&"arm") => branches(LzmaBranches::Arm),
        Some(&"thumb") => branches(LzmaBranches::ArmThumb),
        Some(&"sparc") => branches(LzmaBranches::Sparc),
        _ => Vec::new(),
    };
    if let [_, _, lc, lp, pb] = words {
        parameters.dictionary = 4096;
        parameters.literal_context = lc.parse().unwrap();
        parameters.literal_position = lp.parse().unwrap();
        parameters.position = pb.parse().unwrap();
    }
    let (container, coder) = match words[1] {
        "alone" => (LzmaContainer::Alone, LzmaCoder::Lzma1(parameters)),
        "raw1" => (LzmaContainer::Raw, LzmaCoder::Lzma1(parameters)),
        "raw2" => (LzmaContainer::Raw, LzmaCoder::Lzma2(parameters)),
        _ => (LzmaContainer::Xz { check: LzmaCheck::Crc64 }, LzmaCoder::Lzma2(parameters)),
    };
    Lzma::new(container, filters, coder).unwrap()
}

/// Whether the encoding is unique.
fn is_exact(name: &str) -> bool {
    !["lz4", "zlib", "gzip", "bz2", "zstd", "lzma", "pcodec"].iter().any(|free| name.starts_with(free))
}

/// Whether two chunks of floating-point numbers are equal, with all NaNs treated as equal.
fn alike(name: &str, one: &[u8], other: &[u8]) -> bool {
    let last = name.split(' ').rfind(|word| word.starts_with(['<', '>']));
    one == other
        || one.len() == other.len()
            && last.is_some_and(|last| {
                let size = number(last).size();
                let nan = |bytes: &[u8]| {
                    let mut bytes = bytes.to_vec();
                    if last.starts_with('>') {
                        bytes.reverse();
                    }
                    match size {
                        2 => u16::from_le_bytes([bytes[0], bytes[1]]) & 0x7fff > 0x7c00,
                        4 => f32::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
                        _ => f64::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
                    }
                };
                last.contains('f')
                    && one.chunks(size).zip(other.chunks(size)).all(|(a, b)| a == b || nan(a) && nan(b))
            })
}

#[test]
fn decodes_bytes_of_numcodecs() {
    assert!(goldens().len() > 200);
    for Golden { name, codec, raw, stored, back } in goldens() {
        let expected = back.unwrap_or(raw);
        let mut scratch = Scratch::new();
        let codecs = [codec];
        check_size(&codecs, &stored, expected.len()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut out = vec![0xee; expected.len()];
        decode(&codecs, &stored, &mut out, &mut scratch).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(alike(name, &out, &expected), "{name}: {out:x?}, expected {expected:x?}");
        let out = decode_within(&codecs, &stored, 1 << 20, &mut scratch).unwrap();
        assert!(alike(name, &out, &expected), "{name}");
    }
}

#[test]
fn encodes_the_same_bytes_as_numcodecs() {
    for Golden { name, codec, raw, stored, .. } in goldens() {
        let encoded = encode(&[codec], &raw, &mut Scratch::new()).unwrap_or_else(|e| panic!("{name}: {e}"));
        if is_exact(name) {
            assert!(alike(name, &encoded, &stored), "{name}: {encoded:x?}, expected {stored:x?}");
        }
    }
}

#[test]
fn rejects_truncated_numbers() {
    let stored = [0; 7];
    let number = Number { kind: NumberKind::Float32, big_endian: false };
    let short = Number { kind: NumberKind::Signed { bytes: 2 }, big_endian: false };
    let codecs: [Codec; 4] = [
        Delta { decoded: number, encoded: short }.into(),
        AsType { decoded: number, encoded: short }.into(),
        FixedScaleOffset::new(number, short, 0.0, 1.0).into(),
        Quantize::new(number, Number { kind: NumberKind::Float16, ..number }, 1).unwrap().into(),
    ];
    for codec in codecs {
        assert!(decode(std::slice::from_ref(&codec), &stored, &mut [0; 12], &mut Scratch::new()).is_err());
        assert!(decode_within(&[codec], &stored, 99, &mut Scratch::new()).is_err());
    }
}

#[test]
fn rejects_numbers_out_of_range() {
    let refused =
        |codec: Codec, raw: &[u8]| encode(&[codec], raw, &mut Scratch::new()).unwrap_err().to_string();
    let (byte, short) = (number("|i1"), number("<i2"));
    let delta = Delta { decoded: short, encoded: byte };
    assert_eq!(refused(delta.into(), &[0, 0, 200, 0]), "200 does not fit in int8");
    assert_eq!(
        refused(AsType { decoded: short, encoded: number("|u1") }.into(), &[0xff, 0xff]),
        "-1 does not fit in uint8"
    );
    let real = AsType { decoded: number("<i4"), encoded: number("<f2") };
    assert_eq!(refused(real.into(), &70_000_i32.to_le_bytes()), "70000 does not fit in float16");
    let scaled = FixedScaleOffset::new(number("<f4"), byte, 0.0, 1.0);
    assert_eq!(refused(scaled.into(), &f32::NAN.to_le_bytes()), "NaN does not fit in int8");
    assert_eq!(refused(scaled.into(), &128_f32.to_le_bytes()), "128 does not fit in int8");
    assert!(BitRound::new(number("<f2"), 11).is_err() && BitRound::new(number("|b1"), 1).is_err());
    assert!(Quantize::new(short, number("<f4"), 1).is_err());
}
