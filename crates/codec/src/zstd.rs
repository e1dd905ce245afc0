//! Zstandard frames; filter id 32015 in the HDF5 registry.
//!
//! Spec: RFC 8878

use crate::codec::Transform;
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int, named};
use hyperslab_core::filter::Value;
use hyperslab_core::{Error, ErrorKind, Result};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::{self, CParameter};

/// Zstandard frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Zstd {
    /// The compression level, -131072 to 22, for encoding only; 0 stands for 3.
    pub level: i32,
    /// Whether frames end with a checksum, for encoding only.
    pub checksum: bool,
}

impl Transform for Zstd {
    fn decoded_sizes(&self, _: usize, max: usize) -> Option<(usize, usize)> {
        Some((0, max.saturating_mul(MAX_RATIO)))
    }

    /// The content size that the frame declares, if there is only one frame.
    fn declared_size(&self, stored: &[u8]) -> Result<Option<usize>> {
        if zstd_safe::find_frame_compressed_size(stored) != Ok(stored.len()) {
            return Ok(None);
        }
        let size = zstd_safe::get_frame_content_size(stored).ok().flatten();
        Ok(size.map(|size| usize::try_from(size).unwrap_or(usize::MAX)))
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        zstd_safe::compress_bound(raw).max(raw)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], coders: &mut Coders) -> Result<usize> {
        coders.zstd.decode(stored, out)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, coders: &mut Coders) -> Result<()> {
        out.clear();
        coders.zstd.encode(self, raw, out)
    }
}

impl Vocabulary for Zstd {
    const NAMES: &'static [&'static str] = &["zstd"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        Ok(Zstd { level: given.int("level")?, checksum: given.flag("checksum") })
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named("zstd", [("level", int(self.level)), ("checksum", Value::Bool(self.checksum))])
    }
}

/// The maximum ratio of decoded to stored bytes: a block of four bytes, including its header of three, stands for at
/// most 128 KiB.
pub(crate) const MAX_RATIO: usize = 1 << 15;

/// The coders of one thread.
#[derive(Default)]
pub(crate) struct State {
    decompressor: Option<Decompressor<'static>>,
    compressor: Option<(Zstd, Compressor<'static>)>,
}

impl State {
    /// Decodes to the beginning of `out` and returns the number of bytes.
    pub(crate) fn decode(&mut self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        let decompressor = match &mut self.decompressor {
            Some(kept) => kept,
            none => none.insert(Decompressor::new()?),
        };
        decompressor.decompress_to_buffer(stored, out).map_err(|e| malformed(stored, &e))
    }

    /// Decodes frames that refer to `dictionary`, to the beginning of `out`, and returns the number of bytes.
    pub(crate) fn decode_with(&mut self, dictionary: &[u8], stored: &[u8], out: &mut [u8]) -> Result<usize> {
        let mut decompressor = Decompressor::with_dictionary(dictionary)?;
        decompressor.decompress_to_buffer(stored, out).map_err(|e| malformed(stored, &e))
    }

    /// Appends `raw` as a frame.
    pub(crate) fn encode(&mut self, parameters: &Zstd, raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let compressor = match &mut self.compressor {
            Some((kept, compressor)) if kept == parameters => compressor,
            other => {
                let level = parameters.level;
                if !zstd::compression_level_range().contains(&level) {
                    return Err(Error::invalid(format!("zstd level {level}, expected -131072 to 22")));
                }
                let mut compressor = Compressor::new(level)?;
                compressor.set_parameter(CParameter::ChecksumFlag(parameters.checksum))?;
                &mut other.insert((*parameters, compressor)).1
            }
        };
        let at = out.len();
        if at == 0 {
            // The encoder writes to reserved memory that is not initialized.
            out.reserve(zstd_safe::compress_bound(raw.len()));
            compressor.compress_to_buffer(raw, out)?;
            return Ok(());
        }
        out.resize(at + zstd_safe::compress_bound(raw.len()), 0);
        let len = compressor.compress_to_buffer(raw, out.get_mut(at..).unwrap_or_default())?;
        out.truncate(at + len);
        Ok(())
    }
}

fn malformed(stored: &[u8], e: &std::io::Error) -> Error {
    let text = e.to_string();
    let kind = if text == NO_ROOM { ErrorKind::LimitExceeded } else { ErrorKind::Malformed };
    Error::new(kind, format!("zstd failed on {} bytes: {}", stored.len(), text.to_lowercase()))
}

/// The message of libzstd if the output does not fit.
const NO_ROOM: &str = "Destination buffer is too small";

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(raw: &[u8], checksum: bool) -> Vec<u8> {
        let mut out = Vec::new();
        Zstd { level: 3, checksum }.encode(raw, &mut out, &mut Coders::default()).unwrap();
        out
    }

    #[test]
    fn no_frame_exceeds_the_maximum_ratio() {
        let raw = vec![0; 40_000_000];
        assert!(encoded(&raw, false).len() * MAX_RATIO >= raw.len());
    }

    #[test]
    fn consecutive_frames_are_one_chunk() {
        let mut stored = encoded(b"abc", false);
        stored.extend(encoded(b"defg", true));
        let zstd = Zstd { level: 3, checksum: false };
        assert_eq!(zstd.declared_size(&stored).unwrap(), None);
        let mut out = [0; 7];
        assert_eq!(zstd.decode(&stored, &mut out, &mut Coders::default()).unwrap(), 7);
        assert_eq!(&out, b"abcdefg");
    }

    #[test]
    fn rejects_a_wrong_checksum() {
        let mut stored = encoded(b"abcdefgh", true);
        *stored.last_mut().unwrap() ^= 1;
        let e = Zstd { level: 3, checksum: true }.decode(&stored, &mut [0; 8], &mut Coders::default());
        assert_eq!(
            e.unwrap_err().to_string(),
            "zstd failed on 21 bytes: restored data doesn't match checksum"
        );
    }

    #[test]
    fn rejects_levels_above_22() {
        let level = |level| {
            let zstd = Zstd { level, checksum: false };
            zstd.encode(b"abc", &mut Vec::new(), &mut Coders::default())
        };
        level(22).unwrap();
        level(-131_072).unwrap();
        assert_eq!(level(23).unwrap_err().to_string(), "zstd level 23, expected -131072 to 22");
    }
}
