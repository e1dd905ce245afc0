//! Whether elements are unchanged after encoding and decoding.

use crate::codec::Codec;
use crate::number::NumberKind;
use crate::scale_offset::ScaleOffsetNumber;
use crate::zfp::ZfpMode;

/// Whether encoding and decoding changes elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fidelity {
    /// Elements are unchanged.
    Exact,
    /// Idempotent: the first encoding may change elements; encoding the result again changes nothing.
    Idempotent,
    /// Each encoding may change elements.
    Lossy,
}

impl Fidelity {
    /// The fidelity of codecs that are applied one after another.
    pub fn of(codecs: &[Codec]) -> Fidelity {
        codecs.iter().fold(Fidelity::Exact, |all, codec| all.then(codec.fidelity()))
    }

    /// The fidelity of two pipelines, one applied after the other. Two idempotent pipelines together are lossy: the
    /// result of one need not be unchanged by the other.
    #[must_use]
    pub fn then(self, next: Fidelity) -> Fidelity {
        match (self, next) {
            (Fidelity::Idempotent, Fidelity::Idempotent) => Fidelity::Lossy,
            (one, other) => one.max(other),
        }
    }
}

impl Codec {
    /// Whether encoding or decoding may fail for some elements, because numbers are converted to a type that cannot
    /// hold all of them.
    pub fn may_refuse(&self) -> bool {
        match self {
            Codec::AsType(of) => of.decoded != of.encoded,
            Codec::Delta(of) => of.decoded != of.encoded,
            Codec::Quantize(of) => of.decoded() != of.encoded(),
            Codec::FixedScaleOffset(_) => true,
            _ => false,
        }
    }

    /// Whether encoding and decoding changes elements. A codec that fails instead of changing an element is exact.
    pub fn fidelity(&self) -> Fidelity {
        let unless = |exact: bool, otherwise: Fidelity| if exact { Fidelity::Exact } else { otherwise };
        match self {
            // Integers that would change are an error.
            Codec::AsType(of) => {
                let widens = of.encoded.is_real() && of.encoded.size() >= of.decoded.size();
                match of.decoded.is_real() {
                    true => unless(widens, Fidelity::Idempotent),
                    false => unless(of.encoded.kind != NumberKind::Bool, Fidelity::Idempotent),
                }
            }
            // Once a difference is rounded, the sums of differences change.
            Codec::Delta(of) => unless(!of.decoded.is_real(), Fidelity::Lossy),
            Codec::BitRound(_) | Codec::PackBits(_) => Fidelity::Idempotent,
            Codec::Quantize(of) => match of.encoded().size() >= of.decoded().size() {
                true => Fidelity::Idempotent,
                false => Fidelity::Lossy,
            },
            Codec::FixedScaleOffset(_) => Fidelity::Lossy,
            // A given number of bits may be too small.
            Codec::ScaleOffset(of) => {
                unless(matches!(of.number(), ScaleOffsetNumber::Integer { bits: 0, .. }), Fidelity::Lossy)
            }
            Codec::Zfp(of) => unless(of.mode() == ZfpMode::Reversible, Fidelity::Lossy),
            Codec::ZfpStream(of) => unless(of.mode() == ZfpMode::Reversible, Fidelity::Lossy),
            Codec::Base64(_)
            | Codec::Bitshuffle(_)
            | Codec::Blosc(_)
            | Codec::Blosc2(_)
            | Codec::Bzip2(_)
            | Codec::Checksum(_)
            | Codec::Deflate(_)
            | Codec::Fletcher32(_)
            | Codec::Gzip(_)
            | Codec::Lz4Block(_)
            | Codec::Lz4Hdf5(_)
            | Codec::Lz4Numcodecs(_)
            | Codec::Lzf(_)
            | Codec::Lzma(_)
            | Codec::Nbit(_)
            | Codec::Pcodec(_)
            | Codec::Shuffle(_)
            | Codec::Snappy(_)
            | Codec::Szip(_)
            | Codec::Zstd(_) => Fidelity::Exact,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BitRound, Delta, Number, PackBits, Quantize, Scratch, Shuffle, Zstd, decode, encode};

    const FLOAT: Number = Number { kind: NumberKind::Float32, big_endian: false };
    const INTEGER: Number = Number { kind: NumberKind::Signed { bytes: 4 }, big_endian: false };

    /// Encodes and decodes bytes.
    fn again(codecs: &[Codec], raw: &[u8]) -> Vec<u8> {
        let mut out = vec![0; raw.len()];
        let mut scratch = Scratch::default();
        let stored = encode(codecs, raw, &mut scratch).unwrap();
        decode(codecs, &stored, &mut out, &mut scratch).unwrap();
        out
    }

    #[test]
    fn codecs_have_the_fidelity_that_they_declare() {
        let floats: Vec<u8> =
            (0..1000).flat_map(|at| (1.0e4 / (at as f32 + 0.3) - 7.0).to_le_bytes()).collect();
        let delta = |number| Delta { decoded: number, encoded: number }.into();
        let pipelines: [(Vec<Codec>, Fidelity); 8] = [
            (vec![Shuffle { element: 4 }.into(), Zstd { level: 1, checksum: true }.into()], Fidelity::Exact),
            (vec![delta(INTEGER)], Fidelity::Exact),
            (vec![delta(FLOAT)], Fidelity::Lossy),
            (vec![BitRound::new(FLOAT, 5).unwrap().into()], Fidelity::Idempotent),
            (vec![Quantize::new(FLOAT, FLOAT, 1).unwrap().into()], Fidelity::Idempotent),
            (vec![PackBits.into()], Fidelity::Idempotent),
            (
                vec![BitRound::new(FLOAT, 5).unwrap().into(), Shuffle { element: 4 }.into()],
                Fidelity::Idempotent,
            ),
            (vec![BitRound::new(FLOAT, 5).unwrap().into(), delta(FLOAT)], Fidelity::Lossy),
        ];
        for (codecs, fidelity) in pipelines {
            assert_eq!(Fidelity::of(&codecs), fidelity, "{codecs:?}");
            let once = again(&codecs, &floats);
            assert_eq!(once == floats, fidelity == Fidelity::Exact, "{codecs:?}");
            assert!(fidelity == Fidelity::Lossy || again(&codecs, &once) == once, "{codecs:?}");
        }
    }
}
