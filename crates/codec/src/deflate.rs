//! Deflate: a zlib stream; filter id 1 in the HDF5 registry.
//!
//! Spec: RFC 1950, RFC 1951

mod bits;
mod block;
mod header;
mod huffman;
mod literals;
mod reopen;
mod symbols;
mod trials;

use crate::codec::Transform;
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int, named};
use hyperslab_core::{Error, ErrorKind, Result};
use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor, adler32, crc32};
use literals::Literals;
use reopen::reopen;
use std::ops::RangeInclusive;

/// A zlib stream. Bytes after it are ignored, as in zlib.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Deflate {
    /// The compression level, 0 to 12, for encoding only. Levels of zlib itself end at 9.
    pub level: u8,
}

impl Transform for Deflate {
    fn decoded_sizes(&self, _: usize, max: usize) -> Option<(usize, usize)> {
        Some((0, max.saturating_mul(MAX_RATIO)))
    }

    /// Fixed Huffman codes take up to 9 bits for a byte, and a flush after each block adds a few bytes.
    fn max_encoded_size(&self, raw: usize) -> usize {
        raw.saturating_add(raw / 8).saturating_add(1024)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], coders: &mut Coders) -> Result<usize> {
        coders.deflate.decode(stored, out)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, coders: &mut Coders) -> Result<()> {
        coders.deflate.encode(self.level, raw, out)
    }
}

impl Vocabulary for Deflate {
    const NAMES: &'static [&'static str] = &["deflate"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        Ok(Deflate { level: given.int("level")? })
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named("deflate", [("level", int(self.level))])
    }
}

/// The maximum ratio of decoded to stored bytes: a match of 258 bytes takes at least two bits.
pub(crate) const MAX_RATIO: usize = 1032;

/// The coders of one thread.
#[derive(Default)]
pub(crate) struct State {
    decompressor: Option<Decompressor>,
    compressor: Option<(u8, Compressor)>,
    literals: Option<Literals>,
}

impl State {
    /// Inflates a zlib stream to the beginning of `out` and returns the number of bytes.
    pub(crate) fn decode(&mut self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        // Some writers store gzip members under the name of deflate. No zlib stream begins with these bytes.
        if stored.starts_with(&GZIP) {
            return self.decode_gzip(stored, out);
        }
        let decompressor = self.decompressor.get_or_insert_with(Decompressor::new);
        decompressor.zlib_decompress(stored, out).map_err(|e| refused(e, stored, out))
    }

    /// Inflates a gzip member to the beginning of `out` and returns the number of bytes.
    pub(crate) fn decode_gzip(&mut self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        let decompressor = self.decompressor.get_or_insert_with(Decompressor::new);
        decompressor.gzip_decompress(stored, out).map_err(|e| refused(e, stored, out))
    }

    /// Replaces the content of `out` by `raw` as a zlib stream.
    pub(crate) fn encode(&mut self, level: u8, raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
        if self.with_literals(level, raw, &ZLIB_HEADER, out)? {
            out.extend_from_slice(&adler32(raw).to_be_bytes());
            return Ok(());
        }
        let compressor = self.compressor(level)?;
        let bound = compressor.zlib_compress_bound(raw.len());
        out.resize(bound, 0);
        let len = compressor.zlib_compress(raw, out).map_err(|_| too_small(raw, bound))?;
        out.truncate(len);
        Ok(())
    }

    /// Replaces the content of `out` by `raw` as a gzip member.
    pub(crate) fn encode_gzip(&mut self, level: u8, raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
        if self.with_literals(level, raw, &GZIP_HEADER, out)? {
            out.extend_from_slice(&crc32(raw).to_le_bytes());
            let len = u32::try_from(raw.len() & 0xffff_ffff).unwrap_or(u32::MAX);
            out.extend_from_slice(&len.to_le_bytes());
            return Ok(());
        }
        let compressor = self.compressor(level)?;
        let bound = compressor.gzip_compress_bound(raw.len());
        out.resize(bound, 0);
        let len = compressor.gzip_compress(raw, out).map_err(|_| too_small(raw, bound))?;
        out.truncate(len);
        Ok(())
    }

    /// If a search for matches is not worth its time in parts of `raw`, replaces the content of `out` with `header` and
    /// the deflated bytes. The other parts are left to the compressor.
    fn with_literals(&mut self, level: u8, raw: &[u8], header: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        if !LITERAL_LEVELS.contains(&level) || raw.len() < MIN_LITERALS {
            return Ok(false);
        }
        out.clear();
        out.extend_from_slice(header);
        let mut literals = self.literals.take().unwrap_or_default();
        literals.begin(raw.len());
        let is_encoded = self.encode_parts(level, raw, &mut literals, out);
        self.literals = Some(literals);
        is_encoded
    }

    fn encode_parts(
        &mut self,
        level: u8,
        raw: &[u8],
        literals: &mut Literals,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let mut rest = raw;
        loop {
            let done = literals.encode(rest, self.compressor(level)?, out);
            rest = rest.get(done..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(true);
            }
            let next = literals.find(rest, self.compressor(level)?);
            if next.is_none() && rest.len() == raw.len() {
                return Ok(false);
            }
            let (before, searched) = (out.len(), next.unwrap_or(rest.len()));
            self.append(level, rest.get(..searched).unwrap_or(rest), out)?;
            if searched == rest.len() {
                return Ok(true);
            }
            if reopen(out, before) {
                rest = rest.get(searched..).unwrap_or_default();
            } else {
                out.truncate(before);
                self.append(level, rest, out)?;
                return Ok(true);
            }
        }
    }

    /// Appends `raw`, deflated by the compressor, as the end of a stream.
    fn append(&mut self, level: u8, raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let compressor = self.compressor(level)?;
        let (before, bound) = (out.len(), compressor.deflate_compress_bound(raw.len()));
        out.resize(before + bound, 0);
        let into = out.get_mut(before..).unwrap_or_default();
        let len = compressor.deflate_compress(raw, into).map_err(|_| too_small(raw, bound))?;
        out.truncate(before + len);
        Ok(())
    }

    fn compressor(&mut self, level: u8) -> Result<&mut Compressor> {
        let compressor = match self.compressor.take() {
            Some((kept, compressor)) if kept == level => compressor,
            _ => match CompressionLvl::new(level.into()) {
                Ok(valid) => Compressor::new(valid),
                Err(_) => return Err(Error::invalid(format!("deflate level {level}, expected 0 to 12"))),
            },
        };
        Ok(&mut self.compressor.insert((level, compressor)).1)
    }
}

fn refused(e: DecompressionError, stored: &[u8], out: &[u8]) -> Error {
    match e {
        DecompressionError::InsufficientSpace => {
            Error::new(ErrorKind::LimitExceeded, format!("inflates to more than {} bytes", out.len()))
        }
        DecompressionError::BadData => {
            Error::malformed(format!("{} bytes are not a complete deflate stream", stored.len()))
        }
    }
}

fn too_small(raw: &[u8], bound: usize) -> Error {
    Error::invalid(format!("{} bytes deflate to more than {bound}", raw.len()))
}

/// The levels at which bytes are not searched for matches if that makes them hardly smaller. Higher levels ask for the
/// smallest stream, and level 0 for stored bytes.
const LITERAL_LEVELS: RangeInclusive<u8> = 1..=6;
/// Shorter inputs are not examined first, because it does not pay off.
const MIN_LITERALS: usize = 16_384;

/// The header of a zlib stream with a window of 32 KiB, without a hint at the level.
const ZLIB_HEADER: [u8; 2] = [0x78, 0x9c];
/// The header of a gzip member without a name, a time and a system.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// The signature of a gzip member.
const GZIP: [u8; 2] = [0x1f, 0x8b];

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_core::ErrorKind;

    fn stored(raw: &[u8]) -> Vec<u8> {
        let mut stored = Vec::new();
        State::default().encode(4, raw, &mut stored).unwrap();
        stored
    }

    fn failure(stored: &[u8], len: usize) -> Error {
        State::default().decode(stored, &mut vec![0; len]).unwrap_err()
    }

    #[test]
    fn rejects_more_than_fits() {
        let stored = stored(&[7; 100]);
        assert_eq!(failure(&stored, 99).to_string(), "inflates to more than 99 bytes");
        assert_eq!(State::default().decode(&stored, &mut [0; 101]).unwrap(), 100);
    }

    #[test]
    fn rejects_every_truncation_and_ignores_bytes_after_the_stream() {
        let raw: Vec<u8> = (0..=255).collect();
        let mut stored = stored(&raw);
        for len in 0..stored.len() {
            assert_eq!(failure(&stored[..len], 256).kind(), ErrorKind::Malformed, "{len}");
        }
        stored.extend([0; 9]);
        let mut out = [0; 256];
        State::default().decode(&stored, &mut out).unwrap();
        assert_eq!(raw, out);
    }

    #[test]
    fn gzip_members_are_inflated_too() {
        let mut state = State::default();
        let mut stored = Vec::new();
        state.encode_gzip(4, &[7; 100], &mut stored).unwrap();
        let mut out = [0; 100];
        assert_eq!(state.decode(&stored, &mut out).unwrap(), 100);
        assert_eq!(out, [7; 100]);
    }

    #[test]
    fn rejects_a_wrong_adler_32() {
        let mut stored = stored(&[7; 100]);
        *stored.last_mut().unwrap() ^= 1;
        assert_eq!(
            failure(&stored, 100).to_string(),
            format!("{} bytes are not a complete deflate stream", stored.len())
        );
    }

    #[test]
    fn rejects_levels_above_12() {
        let mut state = State::default();
        for level in 0..=12 {
            state.encode(level, b"abc", &mut Vec::new()).unwrap();
        }
        let e = state.encode(13, b"abc", &mut Vec::new()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidArgument);
    }

    #[test]
    fn no_stream_exceeds_the_maximum_ratio() {
        let raw = vec![0; 20_000_000];
        assert!(stored(&raw).len() * MAX_RATIO >= raw.len());
    }
}
