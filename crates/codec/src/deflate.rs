//! Deflate: a zlib stream, id 1 in the HDF5 registry.
//!
//! Spec: RFC 1950, RFC 1951

use crate::pipeline::Buffer;
use hyperslab_core::{Error, Result};
use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};

/// The most bytes that one byte of a stream can stand for: a match of 258 bytes takes at least two bits.
pub(crate) const MOST_RATIO: usize = 1032;

/// Coders, which cost more to make than a small chunk to code.
#[derive(Default)]
pub(crate) struct State {
    decompressor: Option<Decompressor>,
    compressor: Option<(u8, Compressor)>,
}

impl State {
    /// Inflates a stream that holds exactly as many bytes as `out`. Bytes behind the stream are ignored, as
    /// zlib does.
    pub(crate) fn decode(&mut self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        match self.inflate(stored, out)? {
            Some(len) if len == out.len() => Ok(()),
            Some(len) => Err(Error::malformed(format!("inflates to {len} bytes, expected {}", out.len()))),
            None => Err(too_long(out.len())),
        }
    }

    /// Inflates a stream of unknown size, at most `most` bytes, to the beginning of `out`.
    pub(crate) fn decode_most(&mut self, stored: &[u8], out: &mut Buffer, most: usize) -> Result<usize> {
        let most = most.min(stored.len().saturating_mul(MOST_RATIO));
        let mut len = stored.len().saturating_mul(4).min(most);
        loop {
            if let Some(found) = self.inflate(stored, out.first(len))? {
                return Ok(found);
            }
            if len >= most {
                return Err(too_long(most));
            }
            len = len.saturating_mul(4).min(most);
        }
    }

    /// Deflates to the beginning of `out`.
    pub(crate) fn encode(&mut self, level: u8, raw: &[u8], out: &mut Buffer) -> Result<usize> {
        let compressor = match &mut self.compressor {
            Some((kept, compressor)) if *kept == level => compressor,
            other => {
                let Ok(valid) = CompressionLvl::new(level.into()) else {
                    return Err(Error::invalid(format!("deflate level {level}, expected 0 to 12")));
                };
                &mut other.insert((level, Compressor::new(valid))).1
            }
        };
        let bound = compressor.zlib_compress_bound(raw.len());
        compressor
            .zlib_compress(raw, out.first(bound))
            .map_err(|_| Error::invalid(format!("{} bytes do not deflate to {bound}", raw.len())))
    }

    /// Inflates to `out` and tells how much it was, or `None` if it did not fit.
    fn inflate(&mut self, stored: &[u8], out: &mut [u8]) -> Result<Option<usize>> {
        let decompressor = self.decompressor.get_or_insert_with(Decompressor::new);
        match decompressor.zlib_decompress(stored, out) {
            Ok(len) => Ok(Some(len)),
            Err(DecompressionError::InsufficientSpace) => Ok(None),
            Err(DecompressionError::BadData) => {
                Err(Error::malformed(format!("{} bytes are no whole deflate stream", stored.len())))
            }
        }
    }
}

/// More than any encoder makes of `raw` bytes: fixed Huffman codes take up to 9 bits a byte, and a flush after
/// each block adds a few bytes.
pub(crate) fn most_encoded(raw: usize) -> usize {
    raw.saturating_add(raw / 8).saturating_add(1024)
}

fn too_long(expected: usize) -> Error {
    Error::malformed(format!("inflates to more than {expected} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_core::ErrorKind;

    fn stored(raw: &[u8]) -> Vec<u8> {
        let mut buffer = Buffer::default();
        let len = State::default().encode(4, raw, &mut buffer).unwrap();
        buffer.first(len).to_vec()
    }

    fn failure(stored: &[u8], len: usize) -> Error {
        State::default().decode(stored, &mut vec![0; len]).unwrap_err()
    }

    #[test]
    fn rejects_other_lengths_than_expected() {
        let stored = stored(&[7; 100]);
        assert_eq!(failure(&stored, 101).to_string(), "inflates to 100 bytes, expected 101");
        assert_eq!(failure(&stored, 99).to_string(), "inflates to more than 99 bytes");
    }

    #[test]
    fn rejects_every_truncation_and_ignores_what_follows() {
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
    fn rejects_data_that_is_not_what_was_deflated() {
        let mut stored = stored(&[7; 100]);
        *stored.last_mut().unwrap() ^= 1;
        assert_eq!(
            failure(&stored, 100).to_string(),
            format!("{} bytes are no whole deflate stream", stored.len())
        );
    }

    #[test]
    fn levels_end_at_12() {
        let mut state = State::default();
        for level in 0..=12 {
            state.encode(level, b"abc", &mut Buffer::default()).unwrap();
        }
        let e = state.encode(13, b"abc", &mut Buffer::default()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidArgument);
    }

    #[test]
    fn streams_of_unknown_size_are_found_within_the_bound() {
        let raw = vec![7; 100_000];
        let stored = stored(&raw);
        let mut out = Buffer::default();
        assert_eq!(State::default().decode_most(&stored, &mut out, 100_000).unwrap(), 100_000);
        assert_eq!(out.first(100_000), raw);
        assert!(State::default().decode_most(&stored, &mut out, 99_999).is_err());
    }

    #[test]
    fn no_stream_is_denser_than_the_greatest_ratio() {
        let raw = vec![0; 20_000_000];
        assert!(stored(&raw).len() * MOST_RATIO >= raw.len());
    }
}
