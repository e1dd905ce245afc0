//! Bzip2: sorted blocks and Huffman codes; filter id 307 in the HDF5 registry.

use crate::codec::{Transform, too_long};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int, named};
use bzip2::{Action, Compress, Compression, Decompress, Status};
use hyperslab_core::{Error, Result};

/// A bzip2 stream. Bytes after it are ignored, as in the HDF5 filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bzip2 {
    /// The compression level, 1 to 9: the size of a block in units of 100,000 bytes, for encoding only.
    pub level: u8,
}

impl Transform for Bzip2 {
    fn decoded_sizes(&self, _: usize, max: usize) -> Option<(usize, usize)> {
        Some((0, max.saturating_mul(MAX_RATIO)))
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        raw.saturating_add(raw / 100).saturating_add(600)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let broken = || Error::malformed(format!("{} bytes are not a complete bzip2 stream", stored.len()));
        if stored.is_empty() {
            return Err(broken());
        }
        let mut decompress = Decompress::new(false);
        loop {
            let (read, written) = (position(decompress.total_in()), position(decompress.total_out()));
            let input = stored.get(read..).unwrap_or_default();
            // When the output is full, the end of the stream must still be read. One byte more than expected shows
            // that the stream is longer.
            let (mut probe, mut full) = ([0], false);
            let output = match out.get_mut(written..) {
                Some(room) if !room.is_empty() => room,
                _ => {
                    full = true;
                    &mut probe[..]
                }
            };
            let status = decompress.decompress(input, output).map_err(|_| broken())?;
            let now = position(decompress.total_out());
            if full && now > written {
                return Err(too_long(now, out.len()));
            }
            if status == Status::StreamEnd {
                return Ok(now);
            }
            if now == written && position(decompress.total_in()) == read {
                return Err(broken());
            }
        }
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        if !(1..=9).contains(&self.level) {
            return Err(Error::invalid(format!("bzip2 level {}, expected 1 to 9", self.level)));
        }
        out.resize(self.max_encoded_size(raw.len()), 0);
        let mut compress = Compress::new(Compression::new(self.level.into()), 0);
        loop {
            let (read, written) = (position(compress.total_in()), position(compress.total_out()));
            let input = raw.get(read..).unwrap_or_default();
            let output = out.get_mut(written..).unwrap_or_default();
            let status = compress.compress(input, output, Action::Finish);
            if status.as_ref().is_ok_and(|status| *status == Status::StreamEnd) {
                out.truncate(position(compress.total_out()));
                return Ok(());
            }
            if status.is_err() || position(compress.total_out()) == written {
                return Err(Error::invalid(format!("bzip2 does not compress {} bytes", raw.len())));
            }
        }
    }
}

impl Vocabulary for Bzip2 {
    const NAMES: &'static [&'static str] = &["bzip2"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        Ok(Bzip2 { level: given.int("level")? })
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named("bzip2", [("level", int(self.level))])
    }
}

fn position(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Above the largest ratio: a block of 900,000 runs of 259 bytes, each coded in five bytes, takes at least 30 bytes.
const MAX_RATIO: usize = 1 << 21;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_stream_exceeds_the_maximum_ratio() {
        let raw = vec![0; 100_000_000];
        let mut stored = Vec::new();
        Bzip2 { level: 9 }.encode(&raw, &mut stored, &mut Coders::default()).unwrap();
        assert!(stored.len() * MAX_RATIO >= raw.len());
    }

    #[test]
    fn rejects_more_than_fits_and_ignores_bytes_after_the_stream() {
        let (mut stored, mut coders) = (Vec::new(), Coders::default());
        let bzip2 = Bzip2 { level: 1 };
        bzip2.encode(&[7; 100], &mut stored, &mut coders).unwrap();
        stored.extend([0; 9]);
        assert_eq!(bzip2.decode(&stored, &mut [0; 101], &mut coders).unwrap(), 100);
        assert_eq!(bzip2.decode(&stored, &mut [0; 100], &mut coders).unwrap(), 100);
        let e = bzip2.decode(&stored, &mut [0; 99], &mut coders).unwrap_err();
        assert_eq!(e.to_string(), "decodes to 100 bytes, expected 99");
    }

    #[test]
    fn rejects_levels_outside_of_1_to_9() {
        for (level, good) in [(0, false), (1, true), (9, true), (10, false)] {
            let encoded = Bzip2 { level }.encode(b"abc", &mut Vec::new(), &mut Coders::default());
            assert_eq!(encoded.is_ok(), good);
        }
    }
}
