//! LZMA: xz files, the older `.lzma` format of one stream, and raw streams without header.
//!
//! Spec: The .xz File Format, The .lzma File Format

mod coding;

use crate::codec::Transform;
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int, named};
use hyperslab_core::{Error, Result};

/// An LZMA stream.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lzma {
    container: LzmaContainer,
    filters: Vec<LzmaFilter>,
    coder: LzmaCoder,
}

/// The container of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LzmaContainer {
    /// An xz file. It describes its filters and parameters.
    Xz {
        /// The integrity check of the data, for encoding only.
        check: LzmaCheck,
    },
    /// The older `.lzma` format. It describes its parameters and has no integrity check.
    Alone,
    /// A raw stream without container.
    Raw,
}

/// The integrity check of the data in an xz file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LzmaCheck {
    /// No check.
    None,
    /// CRC-32, four bytes.
    Crc32,
    /// CRC-64, eight bytes.
    Crc64,
    /// SHA-256, 32 bytes.
    Sha256,
}

impl LzmaCheck {
    /// All checks.
    pub const ALL: [LzmaCheck; 4] = [LzmaCheck::None, LzmaCheck::Crc32, LzmaCheck::Crc64, LzmaCheck::Sha256];
}

/// A filter that is applied before compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LzmaFilter {
    /// Stores the difference of each byte and the byte `distance` before it.
    Delta {
        /// The distance in bytes, 1 to 256.
        distance: u16,
    },
    /// Converts relative addresses in the instructions of a processor to absolute ones.
    Branches {
        /// The processor.
        of: LzmaBranches,
        /// The address of the first instruction.
        start: u32,
    },
}

/// A processor whose instructions a branch filter converts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LzmaBranches {
    /// x86
    X86,
    /// PowerPC, big-endian.
    PowerPc,
    /// Itanium
    Ia64,
    /// ARM, little-endian.
    Arm,
    /// ARM Thumb.
    ArmThumb,
    /// SPARC
    Sparc,
}

impl LzmaBranches {
    /// All processors.
    pub const ALL: [LzmaBranches; 6] = [
        LzmaBranches::X86,
        LzmaBranches::PowerPc,
        LzmaBranches::Ia64,
        LzmaBranches::Arm,
        LzmaBranches::ArmThumb,
        LzmaBranches::Sparc,
    ];
}

/// The compression method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LzmaCoder {
    /// LZMA1: one stream.
    Lzma1(LzmaParameters),
    /// LZMA2: a stream in chunks, some of which may be stored uncompressed.
    Lzma2(LzmaParameters),
}

/// The parameters of LZMA1 and LZMA2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LzmaParameters {
    /// The size of the dictionary in bytes: the maximum distance of back references.
    pub dictionary: u32,
    /// `lc`: the number of bits of the previous byte that are the context of a literal.
    pub literal_context: u8,
    /// `lp`: the number of bits of the position that are the context of a literal.
    pub literal_position: u8,
    /// `pb`: the number of bits of the position that are the context of everything else.
    pub position: u8,
    /// Whether the encoder takes the first match, for encoding only.
    pub is_fast: bool,
    /// The length from which a match is accepted without further search, for encoding only.
    pub nice_length: u16,
    /// Whether matches are found by binary trees instead of hash chains, for encoding only.
    pub has_trees: bool,
    /// The maximum number of matches that are compared, for encoding only. 0 for a default that suits the other
    /// parameters.
    pub depth: u16,
}

impl Lzma {
    /// A codec that applies `filters`, then `coder`, and writes a stream in `container`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for parameters and combinations
    /// that the format does not have.
    pub fn new(container: LzmaContainer, filters: Vec<LzmaFilter>, coder: LzmaCoder) -> Result<Lzma> {
        let (LzmaCoder::Lzma1(parameters) | LzmaCoder::Lzma2(parameters)) = coder;
        parameters.check(matches!(coder, LzmaCoder::Lzma2(_)))?;
        let wrong = match (container, coder) {
            (LzmaContainer::Xz { .. }, LzmaCoder::Lzma1(_)) => Some("LZMA1 in an xz file, expected LZMA2"),
            (LzmaContainer::Alone, LzmaCoder::Lzma2(_)) => Some("LZMA2 in an .lzma file, expected LZMA1"),
            (LzmaContainer::Alone, _) if !filters.is_empty() => {
                Some("filters in an .lzma file, which has none")
            }
            _ if filters.len() > MAX_FILTERS => {
                Some("more than three filters before LZMA, expected at most three")
            }
            _ => None,
        };
        if let Some(wrong) = wrong {
            return Err(Error::invalid(wrong));
        }
        for filter in &filters {
            match filter {
                LzmaFilter::Delta { distance: 1..=256 } | LzmaFilter::Branches { .. } => {}
                LzmaFilter::Delta { distance } => {
                    return Err(Error::invalid(format!("LZMA delta distance {distance}, expected 1 to 256")));
                }
            }
        }
        Ok(Lzma { container, filters, coder })
    }

    /// The container of the stream.
    pub fn container(&self) -> LzmaContainer {
        self.container
    }

    /// The filters that are applied before compression.
    pub fn filters(&self) -> &[LzmaFilter] {
        &self.filters
    }

    /// The compression method.
    pub fn coder(&self) -> LzmaCoder {
        self.coder
    }
}

impl LzmaParameters {
    /// The parameters of a preset of xz, from 0 (fast) to 9 (small).
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for other numbers.
    pub fn preset(preset: u8) -> Result<LzmaParameters> {
        let Some(dictionary) = DICTIONARIES.get(usize::from(preset)) else {
            return Err(Error::invalid(format!("LZMA preset {preset}, expected 0 to 9")));
        };
        let (nice_length, depth) = match preset {
            0 => (128, 4),
            1 => (128, 8),
            2 => (273, 24),
            3 => (273, 48),
            4 => (16, 0),
            5 => (32, 0),
            _ => (64, 0),
        };
        Ok(LzmaParameters {
            dictionary: *dictionary,
            literal_context: 3,
            literal_position: 0,
            position: 2,
            is_fast: preset < 4,
            nice_length,
            has_trees: preset >= 4,
            depth,
        })
    }

    fn check(&self, is_second: bool) -> Result<()> {
        let LzmaParameters { literal_context: lc, literal_position: lp, position: pb, .. } = *self;
        if lc > 8 || lp > 4 || pb > 4 || is_second && lc + lp > 4 {
            return Err(Error::invalid(format!(
                "LZMA lc {lc}, lp {lp}, pb {pb}, expected lc + lp up to 4 and pb up to 4"
            )));
        }
        if !(MIN_DICTIONARY..=MAX_DICTIONARY).contains(&self.dictionary) {
            let found = self.dictionary;
            return Err(Error::invalid(format!(
                "LZMA dictionary of {found} bytes, expected {MIN_DICTIONARY} to {MAX_DICTIONARY}"
            )));
        }
        match self.nice_length {
            8..=273 => Ok(()),
            other => Err(Error::invalid(format!("LZMA nice length {other}, expected 8 to 273"))),
        }
    }
}

impl Transform for Lzma {
    fn decoded_sizes(&self, _: usize, max: usize) -> Option<(usize, usize)> {
        Some((0, max.saturating_mul(MAX_RATIO)))
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        // Data that does not compress grows by a few bytes in each chunk. LZMA1 cannot store it uncompressed.
        raw.saturating_add(raw / 16).saturating_add(1024)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        self.decode_to(stored, out)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        out.clear();
        self.encode_to(raw, out)
    }
}

/// Only presets are parameters of the vocabulary. Other settings have no name.
impl Vocabulary for Lzma {
    const NAMES: &'static [&'static str] = &["lzma"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        let parameters = LzmaParameters::preset(given.int("preset")?)?;
        match given.int("format")? {
            FORMAT_XZ => {
                let container = LzmaContainer::Xz { check: LzmaCheck::Crc64 };
                Lzma::new(container, Vec::new(), LzmaCoder::Lzma2(parameters))
            }
            FORMAT_ALONE => Lzma::new(LzmaContainer::Alone, Vec::new(), LzmaCoder::Lzma1(parameters)),
            format => Err(Error::unsupported(format!("LZMA format {format} without a list of filters"))),
        }
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        let format = match (self.container, self.coder) {
            (LzmaContainer::Xz { check: LzmaCheck::Crc64 }, LzmaCoder::Lzma2(_)) => FORMAT_XZ,
            (LzmaContainer::Alone, LzmaCoder::Lzma1(_)) => FORMAT_ALONE,
            _ => return None,
        };
        let preset = self.preset().filter(|_| self.filters.is_empty())?;
        named("lzma", [("preset", int(preset)), ("format", int(format))])
    }
}

impl Lzma {
    /// The preset of xz that these parameters equal, if any.
    pub fn preset(&self) -> Option<u8> {
        let (LzmaCoder::Lzma1(own) | LzmaCoder::Lzma2(own)) = self.coder;
        // 6 comes first: some presets above it have the same parameters as one below it, apart from the dictionary.
        [6, 0, 1, 2, 3, 4, 5, 7, 8, 9]
            .into_iter()
            .find(|preset| LzmaParameters::preset(*preset).ok() == Some(own))
    }
}

/// Containers by their numbers in the Python module `lzma`.
const FORMAT_XZ: u8 = 1;
const FORMAT_ALONE: u8 = 2;

/// The maximum ratio of decoded to stored bytes: a match of 273 bytes takes at least a third of a bit, and each chunk
/// of 2 MiB has a header.
const MAX_RATIO: usize = 1 << 14;

const MAX_FILTERS: usize = 3;

const MIN_DICTIONARY: u32 = 1 << 12;
const MAX_DICTIONARY: u32 = 3 << 29;

const DICTIONARIES: [u32; 10] =
    [1 << 18, 1 << 20, 1 << 21, 1 << 22, 1 << 22, 1 << 23, 1 << 23, 1 << 24, 1 << 25, 1 << 26];

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Lzma> {
        let parameters = LzmaParameters::preset(1).unwrap();
        let delta = LzmaFilter::Delta { distance: 4 };
        let branches = |of| LzmaFilter::Branches { of, start: 0 };
        let xz = |check| LzmaContainer::Xz { check };
        let mut all = vec![
            Lzma::new(LzmaContainer::Alone, Vec::new(), LzmaCoder::Lzma1(parameters)).unwrap(),
            Lzma::new(LzmaContainer::Raw, Vec::new(), LzmaCoder::Lzma1(parameters)).unwrap(),
            Lzma::new(LzmaContainer::Raw, vec![delta], LzmaCoder::Lzma2(parameters)).unwrap(),
            Lzma::new(xz(LzmaCheck::Crc64), vec![delta], LzmaCoder::Lzma2(parameters)).unwrap(),
        ];
        for check in LzmaCheck::ALL {
            all.push(Lzma::new(xz(check), Vec::new(), LzmaCoder::Lzma2(parameters)).unwrap());
        }
        for of in LzmaBranches::ALL {
            for container in [LzmaContainer::Raw, xz(LzmaCheck::Crc32)] {
                let filters = vec![delta, branches(of)];
                all.push(Lzma::new(container, filters, LzmaCoder::Lzma2(parameters)).unwrap());
            }
        }
        all
    }

    fn encoded(lzma: &Lzma, raw: &[u8]) -> Vec<u8> {
        let mut stored = Vec::new();
        lzma.encode(raw, &mut stored, &mut Coders::default()).unwrap();
        stored
    }

    #[test]
    fn round_trips_streams_of_all_kinds() {
        let mut state = 1_u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        })
        .take(100_000)
        .collect();
        let text = b"words and words and other words ".repeat(300);
        for lzma in all() {
            for raw in [&b""[..], b"a", &text, &noise] {
                let stored = encoded(&lzma, raw);
                assert!(stored.len() <= lzma.max_encoded_size(raw.len()), "{lzma:?}");
                let mut out = vec![0xee; raw.len()];
                let mut coders = Coders::default();
                let found = lzma.decode(&stored, &mut out, &mut coders);
                assert_eq!(found.unwrap_or_else(|e| panic!("{lzma:?}: {e}")), raw.len());
                assert_eq!(out, raw, "{lzma:?}");
                if let Some(less) = out.get_mut(1..) {
                    let e = lzma.decode(&stored, less, &mut coders).unwrap_err();
                    assert_eq!(e.kind(), hyperslab_core::ErrorKind::LimitExceeded, "{lzma:?}");
                }
            }
        }
    }

    #[test]
    fn rejects_every_truncation() {
        let raw = b"words and words and other words".repeat(2);
        for lzma in all() {
            let stored = encoded(&lzma, &raw);
            for len in 0..stored.len() {
                let mut out = vec![0; raw.len()];
                let found = lzma.decode(&stored[..len], &mut out, &mut Coders::default());
                // The last bytes of a range coder are not needed if there is no check.
                let is_whole = found.as_ref().is_ok_and(|found| *found == raw.len()) && out == raw;
                assert!(found.is_err() || is_whole && len + 5 > stored.len(), "{lzma:?} {len}");
            }
        }
    }

    #[test]
    fn no_stream_exceeds_the_maximum_ratio() {
        let raw = vec![0; 20_000_000];
        for lzma in all().iter().take(3) {
            assert!(encoded(lzma, &raw).len() * MAX_RATIO >= raw.len());
        }
    }

    #[test]
    fn rejects_dictionaries_above_the_memory_limit() {
        let alone = all().swap_remove(0);
        let mut stored = encoded(&alone, b"abc");
        stored[1..5].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
        let e = alone.decode(&stored, &mut [0; 3], &mut Coders::default()).unwrap_err();
        assert_eq!(e.to_string(), "LZMA dictionary of more than 128 MiB, the limit of memory");
    }

    #[test]
    fn rejects_parameters_that_the_format_does_not_have() {
        let parameters = LzmaParameters::preset(6).unwrap();
        let new = |coder| Lzma::new(LzmaContainer::Raw, Vec::new(), coder);
        assert!(LzmaParameters::preset(10).is_err());
        assert!(new(LzmaCoder::Lzma2(LzmaParameters { literal_position: 2, ..parameters })).is_err());
        assert!(new(LzmaCoder::Lzma1(LzmaParameters { literal_position: 2, ..parameters })).is_ok());
        assert!(new(LzmaCoder::Lzma1(LzmaParameters { position: 5, ..parameters })).is_err());
        assert!(new(LzmaCoder::Lzma1(LzmaParameters { dictionary: 5, ..parameters })).is_err());
        assert!(new(LzmaCoder::Lzma1(LzmaParameters { nice_length: 7, ..parameters })).is_err());
        let xz = LzmaContainer::Xz { check: LzmaCheck::None };
        assert!(Lzma::new(xz, Vec::new(), LzmaCoder::Lzma1(parameters)).is_err());
        let far = vec![LzmaFilter::Delta { distance: 257 }];
        assert!(Lzma::new(xz, far, LzmaCoder::Lzma2(parameters)).is_err());
    }
}
