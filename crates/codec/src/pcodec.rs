//! Pcodec: modes, differences and bins of numbers, in its standalone format.
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

/// Pcodec for little-endian numbers of 2, 4 or 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pcodec {
    number: Number,
    settings: PcodecSettings,
}

/// The settings of the encoder. Decoding needs none: a stream describes itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PcodecSettings {
    /// The compression level, 0 to 12: a higher level is slower and compresses more.
    pub level: u8,
    /// The structure that the encoder searches for in the numbers.
    pub mode: PcodecMode,
    /// The differences that are encoded in place of the numbers.
    pub delta: PcodecDelta,
    /// The maximum count of numbers in a page, at least 1. Each page can be decoded alone.
    pub page: u32,
}

/// The structure that the encoder searches for in the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PcodecMode {
    /// Any structure; the encoder chooses.
    Auto,
    /// No structure.
    Classic,
}

/// The differences that are encoded in place of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PcodecDelta {
    /// The encoder chooses the smallest result.
    Auto,
    /// No differences: the numbers themselves.
    None,
    /// Consecutive differences of an order from 0 to 7, if that is smaller.
    Consecutive(u8),
    /// Differences to earlier numbers at a distance, if that is smaller.
    Lookback,
}

impl Default for PcodecSettings {
    fn default() -> Self {
        PcodecSettings { level: 8, mode: PcodecMode::Auto, delta: PcodecDelta::Auto, page: 1 << 18 }
    }
}

impl Pcodec {
    /// A codec for numbers of this type.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for booleans, numbers of one byte and big-endian numbers, which numcodecs does not
    /// encode. [`ErrorKind::InvalidArgument`] for settings out of range.
    pub fn new(number: Number, settings: PcodecSettings) -> Result<Pcodec> {
        let PcodecSettings { level, delta, page, .. } = settings;
        if number.size() == 1 || number.big_endian {
            let code = number.code();
            let detail = format!("pcodec of type {code}, expected little-endian numbers of 2, 4 or 8 bytes");
            return Err(Error::unsupported(detail));
        }
        if level > MAX_LEVEL {
            return Err(Error::invalid(format!("pcodec level {level}, expected 0 to {MAX_LEVEL}")));
        }
        if let PcodecDelta::Consecutive(order @ 8..) = delta {
            return Err(Error::invalid(format!("pcodec delta order {order}, expected 0 to 7")));
        }
        match page {
            0 => Err(Error::invalid("pcodec page size 0, expected 1 or more")),
            _ => Ok(Pcodec { number, settings }),
        }
    }

    /// The type of the numbers.
    pub(crate) fn number(&self) -> Number {
        self.number
    }

    /// The settings of the encoder.
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

/// Repeats an expression for numbers of each type.
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
    fn decoded_sizes(&self, _: usize, max: usize) -> Option<(usize, usize)> {
        Some((0, max.saturating_mul(MAX_RATIO)))
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        let count = raw / self.number.size();
        let paging = self.config().paging_spec;
        let max = match self.number.size() {
            2 => guarantee::file_size::<u16>(count, &paging),
            4 => guarantee::file_size::<u32>(count, &paging),
            _ => guarantee::file_size::<u64>(count, &paging),
        };
        max.unwrap_or(usize::MAX)
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
            // In numcodecs, an order alone selects differences.
            ("auto" | "try_consecutive", Some(order)) => PcodecDelta::Consecutive(order),
            (_, Some(_)) => {
                return Err(Error::invalid("pcodec delta order, which needs delta: try_consecutive"));
            }
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

/// A number type of the library, stored as `N` bytes.
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
        Error::malformed(format!("{} bytes are not a pcodec stream: {}", stored.len(), e.message))
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

/// The maximum ratio of decoded to stored bytes: a chunk of a few bytes can hold 2^24 equal numbers.
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
    fn round_trips_every_type_with_all_settings() {
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
                    assert!(stored.len() <= codecs[0].transform().max_encoded_size(raw.len()), "{codecs:?}");
                    let mut out = vec![0; raw.len()];
                    crate::decode(&codecs, &stored, &mut out, &mut scratch).unwrap();
                    assert_eq!(out, raw, "{codecs:?}");
                }
            }
        }
    }

    #[test]
    fn damaged_streams_never_panic() {
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
    fn rejects_types_that_numcodecs_does_not_encode() {
        let refused = |kind, big_endian| {
            Pcodec::new(Number { kind, big_endian }, PcodecSettings::default()).unwrap_err().to_string()
        };
        let expected = "expected little-endian numbers of 2, 4 or 8 bytes";
        assert_eq!(refused(NumberKind::Float32, true), format!("pcodec of type >f4, {expected}"));
        assert_eq!(
            refused(NumberKind::Signed { bytes: 1 }, false),
            format!("pcodec of type |i1, {expected}")
        );
    }
}
