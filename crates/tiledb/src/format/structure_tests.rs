//! Tests that every structure passes.

use super::Structure;
use hyperslab_core::{Decoder, Encoder};
use std::fmt::Debug;

/// Tests of one structure: golden bytes decode and encode to the same bytes, values encode and decode to the same
/// value, every truncation fails, and random or damaged bytes never panic.
///
/// `golden` are hex digits of whole structures as TileDB wrote them; white space and `#` comments are skipped.
/// `values` are further values, for versions that TileDB does not write today. Add `open_ended` for a structure whose last
/// field takes all remaining bytes: truncated bytes are valid then.
///
/// ```ignore
/// structure_tests!(FilterPipeline, context: 22,
///     golden: ["00 00 01 00 ..", include_str!("../../tests/golden/gzip.hex")],
///     values: [FilterPipeline { .. }]);
/// ```
macro_rules! structure_tests {
    ($type:ty, context: $context:expr, golden: [$($golden:expr),* $(,)?], values: [$($value:expr),* $(,)?] $(, $open:ident)?) => {
        mod structure {
            #[allow(unused_imports)]
            use super::*;
            #[test]
            fn round_trips_golden_bytes() {
                let golden: &[&str] = &[$($golden),*];
                $crate::format::structure_tests::golden::<$type>(golden, &$context);
            }
            #[test]
            fn round_trips_values() {
                let values: Vec<$type> = vec![$($value),*];
                $crate::format::structure_tests::values(&values, &$context);
            }
            #[test]
            fn rejects_every_truncation() {
                if [$(stringify!($open)),*].contains(&"open_ended") { return }
                let golden: &[&str] = &[$($golden),*];
                let values: Vec<$type> = vec![$($value),*];
                $crate::format::structure_tests::truncations::<$type>(golden, &values, &$context);
            }
            #[test]
            fn damaged_bytes_never_panic() {
                let golden: &[&str] = &[$($golden),*];
                let values: Vec<$type> = vec![$($value),*];
                $crate::format::structure_tests::damage::<$type>(golden, &values, &$context);
            }
        }
    };
}
pub(crate) use structure_tests;

/// The bytes of a golden text.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text
        .lines()
        .flat_map(|line| line.split('#').next().unwrap().chars())
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).expect("golden text has hex digits"))
        .collect();
    assert!(digits.len().is_multiple_of(2), "golden text has whole bytes");
    digits.chunks(2).map(|pair| u8::try_from(pair[0] << 4 | pair[1]).unwrap()).collect()
}

fn decode<S: Structure>(bytes: &[u8], context: &S::Context) -> hyperslab_core::Result<S> {
    let mut d = Decoder::new(S::NAME, 0, bytes);
    let value = S::decode(&mut d, context)?;
    d.finish()?;
    Ok(value)
}

fn encode<S: Structure>(value: &S, context: &S::Context) -> Vec<u8> {
    let mut e = Encoder::new();
    value.encode(&mut e, context).expect("encodes");
    e.into_bytes()
}

pub(crate) fn golden<S: Structure + Debug>(golden: &[&str], context: &S::Context) {
    for text in golden {
        let bytes = hex(text);
        let value: S = decode(&bytes, context).unwrap_or_else(|e| panic!("{e} in {text}"));
        assert_eq!(encode(&value, context), bytes, "{value:?}");
    }
}

pub(crate) fn values<S: Structure + Debug + PartialEq>(values: &[S], context: &S::Context) {
    for value in values {
        let bytes = encode(value, context);
        assert_eq!(&decode::<S>(&bytes, context).expect("decodes"), value, "{bytes:02x?}");
    }
}

fn samples<S: Structure>(golden: &[&str], values: &[S], context: &S::Context) -> Vec<Vec<u8>> {
    let samples: Vec<_> =
        golden.iter().map(|t| hex(t)).chain(values.iter().map(|v| encode(v, context))).collect();
    assert!(!samples.is_empty(), "{} has no samples", S::NAME);
    samples
}

pub(crate) fn truncations<S: Structure + Debug>(golden: &[&str], values: &[S], context: &S::Context) {
    for bytes in samples(golden, values, context) {
        for end in 0..bytes.len() {
            let cut = decode::<S>(&bytes[..end], context);
            assert!(cut.is_err(), "{end} of {} bytes decode to {cut:?}", bytes.len());
        }
    }
}

pub(crate) fn damage<S: Structure>(golden: &[&str], values: &[S], context: &S::Context) {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for bytes in samples(golden, values, context) {
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff, next().to_le_bytes()[0]] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                let _ = decode::<S>(&damaged, context);
            }
        }
        for _ in 0..256 {
            let noise: Vec<u8> = bytes.iter().map(|_| next().to_le_bytes()[0]).collect();
            let _ = decode::<S>(&noise, context);
        }
    }
}
