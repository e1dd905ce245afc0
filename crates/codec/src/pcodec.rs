//! Pcodec: numbers in bins, behind differences and modes that suit them, in its standalone format.
//!
//! Spec: pcodec "pco format", docs/format.md

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::number::{Number, NumberKind};
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int, missing};
use half::f16;
use hyperslab_core::{Error, ErrorKind, Result};
use pco::standalone::{guarantee, simple_compress, simple_decompress_into};
use pco::{ChunkConfig, DeltaSpec, ModeSpec, PagingSpec};

/// Numbers of 2, 4 or 8 bytes, the least significant first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pcodec {
    number: Number,
    settings: PcodecSettings,
}

/// How numbers are encoded; streams say all that decoding needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PcodecSettings {
    /// 0 to 12: more is smaller and slower.
    pub level: u8,
    /// The structure that is looked for in the numbers.
    pub mode: PcodecMode,
    /// What is encoded in place of the numbers.
    pub delta: PcodecDelta,
    /// The most numbers of a part that is encoded by itself, at least 1.
    pub page: u32,
}

/// The structure that is looked for in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PcodecMode {
    /// Any.
    Auto,
    /// None.
    Classic,
}

/// What is encoded in place of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PcodecDelta {
    /// Whatever is found to be smallest.
    Auto,
    /// The numbers.
    None,
    /// Differences of differences, 0 to 7 times, where they are smaller.
    Consecutive(u8),
    /// Differences to numbers some places before, where they are smaller.
    Lookback,
}

impl Default for PcodecSettings {
    fn default() -> Self {
        PcodecSettings { level: 8, mode: PcodecMode::Auto, delta: PcodecDelta::Auto, page: 1 << 18 }
    }
}

impl Pcodec {
    /// A coder of such numbers.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for booleans, numbers of one byte, and numbers with the most significant byte first,
    /// which numcodecs does not encode; [`ErrorKind::InvalidArgument`] for settings out of range.
    pub fn new(number: Number, settings: PcodecSettings) -> Result<Pcodec> {
        let PcodecSettings { level, delta, page, .. } = settings;
        if number.size() == 1 || number.big_endian {
            let code = number.code();
            let detail = format!("pcodec of {code}, expected little-endian numbers of 2, 4 or 8 bytes");
            return Err(Error::unsupported(detail));
        }
        if level > MAX_LEVEL {
            return Err(Error::invalid(format!("pcodec level {level}, expected 0 to {MAX_LEVEL}")));
        }
        if let PcodecDelta::Consecutive(order @ 8..) = delta {
            return Err(Error::invalid(format!("pcodec differences of order {order}, expected 0 to 7")));
        }
        match page {
            0 => Err(Error::invalid("pcodec pages of 0 numbers, expected 1 or more")),
            _ => Ok(Pcodec { number, settings }),
        }
    }

    /// The numbers.
    pub(crate) fn number(&self) -> Number {
        self.number
    }

    /// How numbers are encoded.
    pub fn settings(&self) -> PcodecSettings {
        self.settings
    }

    fn config(&self) -> ChunkConfig {
        let PcodecSettings { level, mode, delta, page } = self.settings;
        ChunkConfig::default()
            .with_compression_level(level.into())
            .with_mode_spec(match mode {
                PcodecMode::Auto => ModeSpec::Auto,
                PcodecMode::Classic => ModeSpec::Classic,
            })
            .with_delta_spec(match delta {
                PcodecDelta::Auto => DeltaSpec::Auto,
                PcodecDelta::None => DeltaSpec::NoOp,
                PcodecDelta::Consecutive(order) => DeltaSpec::TryConsecutive(order.into()),
                PcodecDelta::Lookback => DeltaSpec::TryLookback,
            })
            .with_paging_spec(PagingSpec::EqualPagesUpTo(usize::try_from(page).unwrap_or(usize::MAX)))
    }
}

/// Does the same for numbers of each type.
macro_rules! for_numbers {
    ($number:expr, $function:ident($($argument:expr),*)) => {
        match $number.kind {
            NumberKind::Signed { bytes: 2 } => $function::<i16, 2>($($argument),*),
            NumberKind::Signed { bytes: 4 } => $function::<i32, 4>($($argument),*),
            NumberKind::Signed { .. } => $function::<i64, 8>($($argument),*),
            NumberKind::Unsigned { bytes: 2 } => $function::<u16, 2>($($argument),*),
            NumberKind::Unsigned { bytes: 4 } => $function::<u32, 4>($($argument),*),
            NumberKind::Unsigned { .. } | NumberKind::Bool => $function::<u64, 8>($($argument),*),
            NumberKind::Float16 => $function::<f16, 2>($($argument),*),
            NumberKind::Float32 => $function::<f32, 4>($($argument),*),
            NumberKind::Float64 => $function::<f64, 8>($($argument),*),
        }
    };
}

impl Transform for Pcodec {
    fn decoded_sizes(&self, _: usize, most: usize) -> Option<(usize, usize)> {
        Some((0, most.saturating_mul(MAX_RATIO)))
    }

    fn most_encoded(&self, raw: usize) -> usize {
        let count = raw / self.number.size();
        let paging = self.config().paging_spec;
        let most = match self.number.size() {
            2 => guarantee::file_size::<u16>(count, &paging),
            4 => guarantee::file_size::<u32>(count, &paging),
            _ => guarantee::file_size::<u64>(count, &paging),
        };
        most.unwrap_or(usize::MAX)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        for_numbers!(self.number, decode(stored, out))
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        self.number.count(raw)?;
        *out = for_numbers!(self.number, encode(raw, &self.config()))?;
        Ok(())
    }
}

impl Vocabulary for Pcodec {
    const NAMES: &'static [&'static str] = &["pcodec"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        let order = || given.value("order").map_or(Ok(None), |_| given.int("order").map(Some));
        let delta = match (given.word("delta")?, order()?) {
            // Numcodecs lets an order alone ask for differences.
            ("auto" | "try_consecutive", Some(order)) => PcodecDelta::Consecutive(order),
            (_, Some(_)) => return Err(Error::invalid("order without delta: try_consecutive")),
            ("none", None) => PcodecDelta::None,
            ("try_lookback", None) => PcodecDelta::Lookback,
            ("try_consecutive", None) => return Err(missing("order")),
            _ => PcodecDelta::Auto,
        };
        let mode = if given.word("mode")? == "classic" { PcodecMode::Classic } else { PcodecMode::Auto };
        let settings = PcodecSettings { level: given.int("level")?, mode, delta, page: given.int("page")? };
        Pcodec::new(given.elements.number.ok_or_else(|| missing("type"))?, settings)
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        let PcodecSettings { level, mode, delta, page } = self.settings;
        let mode = match mode {
            PcodecMode::Auto => "auto",
            PcodecMode::Classic => "classic",
        };
        let (delta, order) = match delta {
            PcodecDelta::Auto => ("auto", None),
            PcodecDelta::None => ("none", None),
            PcodecDelta::Consecutive(order) => ("try_consecutive", Some(order)),
            PcodecDelta::Lookback => ("try_lookback", None),
        };
        let mut parameters = vec![("level", int(level)), ("mode", mode.into()), ("delta", delta.into())];
        parameters.extend(order.map(|order| ("order", int(order))));
        parameters.push(("page", int(page)));
        Some(Named { name: "pcodec", parameters })
    }
}

/// A number that the library codes, as `N` bytes.
trait Stored<const N: usize>: pco::data_types::Number + Default {
    fn of(bytes: [u8; N]) -> Self;
    fn bytes(self) -> [u8; N];
}

macro_rules! stored {
    ($($number:ty: $size:literal),*) => {
        $(impl Stored<$size> for $number {
            fn of(bytes: [u8; $size]) -> Self {
                <$number>::from_le_bytes(bytes)
            }

            fn bytes(self) -> [u8; $size] {
                self.to_le_bytes()
            }
        })*
    };
}

stored!(i16: 2, i32: 4, i64: 8, u16: 2, u32: 4, u64: 8, f16: 2, f32: 4, f64: 8);

fn decode<T: Stored<N>, const N: usize>(stored: &[u8], out: &mut [u8]) -> Result<usize> {
    let mut numbers = vec![T::default(); out.len() / N];
    let broken = |e: pco::errors::PcoError| {
        Error::malformed(format!("{} bytes are no pcodec stream: {}", stored.len(), e.message))
    };
    let progress = simple_decompress_into(stored, &mut numbers).map_err(broken)?;
    if !progress.finished {
        let detail = format!("decodes to more than {} bytes", out.len());
        return Err(Error::new(ErrorKind::LimitExceeded, detail));
    }
    let len = progress.n_processed.saturating_mul(N);
    let (chunks, _) = room(out, len)?.as_chunks_mut();
    chunks.iter_mut().zip(numbers).for_each(|(to, number)| *to = number.bytes());
    Ok(len)
}

fn encode<T: Stored<N>, const N: usize>(raw: &[u8], config: &ChunkConfig) -> Result<Vec<u8>> {
    let numbers: Vec<T> = raw.as_chunks().0.iter().map(|bytes| T::of(*bytes)).collect();
    simple_compress(&numbers, config).map_err(|e| Error::invalid(format!("pcodec: {}", e.message)))
}

/// A chunk of a few bytes can stand for 2^24 equal numbers.
const MAX_RATIO: usize = 1 << 27;
const MAX_LEVEL: u8 = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Codec, Scratch};

    fn codec(kind: NumberKind, settings: PcodecSettings) -> Codec {
        Pcodec::new(Number { kind, big_endian: false }, settings).unwrap().into()
    }

    fn raw() -> Vec<u8> {
        (0..3000_u16).flat_map(|at| (f32::from(at) * 0.01).sin().to_le_bytes()).collect()
    }

    #[test]
    fn numbers_of_every_type_return_through_all_settings() {
        let mut scratch = Scratch::new();
        let kinds = [2, 4, 8]
            .into_iter()
            .flat_map(|bytes| [NumberKind::Signed { bytes }, NumberKind::Unsigned { bytes }]);
        for kind in kinds.chain([NumberKind::Float16, NumberKind::Float32, NumberKind::Float64]) {
            for (mode, delta, page) in [
                (PcodecMode::Auto, PcodecDelta::Auto, 1 << 18),
                (PcodecMode::Classic, PcodecDelta::None, 100),
                (PcodecMode::Auto, PcodecDelta::Consecutive(2), 7),
                (PcodecMode::Classic, PcodecDelta::Lookback, 1000),
            ] {
                let codecs = [codec(kind, PcodecSettings { level: 4, mode, delta, page })];
                for raw in [&raw()[..], &[], &raw()[..8]] {
                    let stored = crate::encode(&codecs, raw, &mut scratch).unwrap();
                    assert!(stored.len() <= codecs[0].transform().most_encoded(raw.len()), "{codecs:?}");
                    let mut out = vec![0; raw.len()];
                    crate::decode(&codecs, &stored, &mut out, &mut scratch).unwrap();
                    assert_eq!(out, raw, "{codecs:?}");
                }
            }
        }
    }

    #[test]
    fn damaged_streams_are_errors_or_other_numbers_and_never_a_panic() {
        let codecs = [codec(NumberKind::Float32, PcodecSettings::default())];
        let mut scratch = Scratch::new();
        let raw = raw();
        let stored = crate::encode(&codecs, &raw, &mut scratch).unwrap();
        let mut out = vec![0; raw.len()];
        for len in 0..stored.len() {
            assert!(crate::decode(&codecs, &stored[..len], &mut out, &mut scratch).is_err(), "{len}");
        }
        for at in 0..stored.len() {
            for bit in 0..8 {
                let mut damaged = stored.clone();
                damaged[at] ^= 1 << bit;
                let _ = crate::decode(&codecs, &damaged, &mut out, &mut scratch);
            }
        }
        let short = raw.len() - 4;
        assert!(crate::decode(&codecs, &stored, &mut out[..short], &mut scratch).is_err());
        out.resize(raw.len() + 4, 0);
        assert!(crate::decode(&codecs, &stored, &mut out, &mut scratch).is_err());
    }

    #[test]
    fn numbers_that_numcodecs_does_not_encode_are_refused() {
        let refused = |kind, big_endian| {
            Pcodec::new(Number { kind, big_endian }, PcodecSettings::default()).unwrap_err().to_string()
        };
        let expected = "expected little-endian numbers of 2, 4 or 8 bytes";
        assert_eq!(refused(NumberKind::Float32, true), format!("pcodec of >f4, {expected}"));
        assert_eq!(refused(NumberKind::Signed { bytes: 1 }, false), format!("pcodec of |i1, {expected}"));
    }
}
