//! Chunks as libhdf5 stores them. `golden.py` makes `golden.txt`.

#![allow(clippy::unwrap_used, reason = "a test that cannot read its own file may panic")]

mod packed;

use hyperslab_codec::{Codec, Deflate, Fletcher32, Scratch, Shuffle, check_size, decode, encode};
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
    match text.split_once(' ') {
        Some(("deflate", level)) => Deflate { level: level.parse().unwrap() }.into(),
        Some(("shuffle", element)) => Shuffle { element: element.parse().unwrap() }.into(),
        _ => Fletcher32.into(),
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

#[test]
fn decodes_what_libhdf5_stores() {
    let mut scratch = Scratch::new();
    for golden in goldens() {
        check_size(&golden.codecs, &golden.stored, golden.raw.len()).unwrap();
        let mut out = vec![0xee; golden.raw.len()];
        decode(&golden.codecs, &golden.stored, &mut out, &mut scratch).unwrap();
        assert_eq!(out, golden.raw, "{}", golden.name);
    }
}

#[test]
fn stores_what_libhdf5_stores_where_no_compressor_has_a_choice() {
    let mut scratch = Scratch::new();
    let free = |golden: &Golden| golden.codecs.iter().any(|codec| matches!(codec, Codec::Deflate(_)));
    for golden in goldens().into_iter().filter(|golden| !free(golden)) {
        let stored = encode(&golden.codecs, &golden.raw, &mut scratch).unwrap();
        assert_eq!(stored, golden.stored, "{}", golden.name);
    }
}

#[test]
fn rejects_every_truncation() {
    let mut scratch = Scratch::new();
    for golden in goldens() {
        for len in 0..golden.stored.len() {
            let mut out = vec![0; golden.raw.len()];
            let e = decode(&golden.codecs, &golden.stored[..len], &mut out, &mut scratch).unwrap_err();
            assert!(matches!(e.kind(), ErrorKind::Malformed | ErrorKind::Checksum), "{} {len}", golden.name);
        }
    }
}
