//! Gzip: a deflate stream in a gzip member. [`Deflate`](crate::Deflate) is a zlib stream instead.
//!
//! Spec: RFC 1952

use crate::codec::Transform;
use crate::coders::Coders;
use crate::deflate::MAX_RATIO;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int, named};
use hyperslab_core::Result;

/// A gzip member. Bytes after it are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gzip {
    /// The compression level, 0 to 12, for encoding only. Levels of gzip itself end at 9.
    pub level: u8,
}

impl Transform for Gzip {
    fn decoded_sizes(&self, _: usize, max: usize) -> Option<(usize, usize)> {
        Some((0, max.saturating_mul(MAX_RATIO)))
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        raw.saturating_add(raw / 8).saturating_add(1024)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], coders: &mut Coders) -> Result<usize> {
        coders.deflate.decode_gzip(stored, out)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, coders: &mut Coders) -> Result<()> {
        coders.deflate.encode_gzip(self.level, raw, out)
    }
}

impl Vocabulary for Gzip {
    const NAMES: &'static [&'static str] = &["gzip"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        Ok(Gzip { level: given.int("level")? })
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named("gzip", [("level", int(self.level))])
    }
}
