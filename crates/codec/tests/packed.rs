//! Decodes chunks that libhdf5 encoded with codecs for numbers. `packed.py` makes `packed.txt`.

use hyperslab_codec::{
    Codec, Nbit, NbitAtomic, NbitType, ScaleOffset, ScaleOffsetNumber, Scratch, Szip, Zfp,
};
use hyperslab_codec::{check_size, decode, encode};
use hyperslab_core::ErrorKind;
use std::slice::from_ref;
use std::str::{FromStr, SplitWhitespace};

struct Packed {
    name: &'static str,
    codec: Codec,
    raw: Vec<u8>,
    stored: Vec<u8>,
}

fn all() -> impl Iterator<Item = Packed> {
    include_str!("packed.txt").lines().map(|line| {
        let [name, raw, stored] = line.split("; ").collect::<Vec<_>>().try_into().unwrap();
        let raw = raw.split_whitespace().flat_map(|piece| match piece.split_once('*') {
            Some((count, byte)) => crate::bytes(byte).repeat(count.parse().unwrap()),
            None => crate::bytes(piece),
        });
        Packed { name, codec: codec(name), raw: raw.collect(), stored: crate::bytes(stored) }
    })
}

fn codec(text: &str) -> Codec {
    let mut words = text.split_whitespace();
    let words = &mut words;
    match words.next().unwrap() {
        "szip" => {
            let [bits, block, line] = [next(words), next(words), next(words)];
            Szip::new(bits, block, line, words.next() == Some("nn"), words.next() == Some("msb"))
                .unwrap()
                .into()
        }
        "zfp" => {
            // The first word states whether decoded data equal the original exactly or nearly. The second is the
            // version of the plugin.
            let header = words.skip(2).flat_map(|word| u32::from_str_radix(word, 16).unwrap().to_le_bytes());
            Zfp::from_header(&header.collect::<Vec<_>>(), false).unwrap().into()
        }
        "nbit" => Nbit::new(next(words), nbit_type(words)).unwrap().into(),
        _ => {
            let elements = next(words);
            let float = words.next() == Some("float");
            let size = next(words);
            let signed = words.next() == Some("signed");
            let factor = next(words);
            let number = match (float, size) {
                (true, 4) => ScaleOffsetNumber::Float32 { digits: factor },
                (true, _) => ScaleOffsetNumber::Float64 { digits: factor },
                _ => ScaleOffsetNumber::Integer { size, signed, bits: factor.try_into().unwrap() },
            };
            let big_endian = words.next() == Some("be");
            let fill = u64::from_str_radix(words.next().unwrap(), 16).ok();
            ScaleOffset::new(elements, number, big_endian, fill).unwrap().into()
        }
    }
}

fn nbit_type(words: &mut SplitWhitespace<'_>) -> NbitType {
    let kind = words.next().unwrap();
    let size = next(words);
    match kind {
        "atomic" => {
            let big_endian = words.next() == Some("be");
            NbitType::Atomic(NbitAtomic { size, big_endian, precision: next(words), offset: next(words) })
        }
        "array" => NbitType::Array { size, base: nbit_type(words).into() },
        "compound" => {
            let members = 0..next(words);
            NbitType::Compound { size, members: members.map(|_| (next(words), nbit_type(words))).collect() }
        }
        _ => NbitType::Bytes { size },
    }
}

fn next<T: FromStr<Err: std::fmt::Debug>>(words: &mut SplitWhitespace<'_>) -> T {
    words.next().unwrap().parse().unwrap()
}

#[test]
fn decodes_numbers_packed_by_libhdf5() {
    let mut scratch = Scratch::new();
    for Packed { name, codec, raw, stored } in all() {
        check_size(from_ref(&codec), &stored, raw.len()).unwrap();
        let mut out = vec![0xee; raw.len()];
        decode(&[codec], &stored, &mut out, &mut scratch).unwrap();
        assert_eq!(out, raw, "{name}");
    }
}

#[test]
fn packs_the_same_bytes_as_libhdf5() {
    let mut scratch = Scratch::new();
    for Packed { name, codec, raw, stored } in all() {
        let ours = encode(from_ref(&codec), &raw, &mut scratch).unwrap();
        match codec {
            // Two options of equal length are both valid for a block.
            Codec::Szip(_) => assert_eq!(ours.len(), stored.len(), "{name}"),
            Codec::Zfp(_) if name.starts_with("zfp near") => continue,
            Codec::Zfp(_) => {
                // Our streams are padded to whole words of eight bytes.
                let (ours, filling) = ours.split_at(stored.len());
                assert_eq!((ours, filling), (&*stored, [0; 8].split_at(filling.len()).0), "{name}");
            }
            _ => assert_eq!(ours, stored, "{name}"),
        }
        let mut out = vec![0xee; raw.len()];
        decode(&[codec], &ours, &mut out, &mut scratch).unwrap();
        assert_eq!(out, raw, "{name}");
    }
}

#[test]
fn rejects_every_truncation_that_loses_bits() {
    let mut scratch = Scratch::new();
    for Packed { name, codec, raw, stored } in all() {
        let step = stored.len().div_ceil(200).max(1);
        for len in (0..stored.len()).step_by(step) {
            let mut out = vec![0; raw.len()];
            match decode(from_ref(&codec), &stored[..len], &mut out, &mut scratch) {
                Ok(()) => assert_eq!(out, raw, "{name}: {len} of {}", stored.len()),
                Err(e) => assert_eq!(e.kind(), ErrorKind::Malformed, "{name}: {len}"),
            }
        }
    }
}
