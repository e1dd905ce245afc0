//! Snappy blocks; filter id 32003 in the HDF5 registry.
//!
//! Spec: Snappy compressed format description

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, named};
use hyperslab_core::{Error, Result};
use snap::raw::{Decoder, Encoder, decompress_len, max_compress_len};

/// A Snappy block without a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Snappy;

impl Transform for Snappy {
    /// Three bytes copy at most 64.
    fn decoded_sizes(&self, _: usize, max: usize) -> Option<(usize, usize)> {
        Some((0, max.saturating_mul(64)))
    }

    fn declared_size(&self, stored: &[u8]) -> Result<Option<usize>> {
        decompress_len(stored).map(Some).map_err(|_| broken(stored))
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        max_compress_len(raw).max(raw)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        decode(stored, out)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        out.clear();
        append(raw, out)
    }
}

impl Vocabulary for Snappy {
    const NAMES: &'static [&'static str] = &["snappy"];

    fn of_parameters(_: &Given<'_>) -> Result<Self> {
        Ok(Snappy)
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named("snappy", [])
    }
}

/// Decodes to the beginning of `out` and returns the number of bytes.
pub(crate) fn decode(stored: &[u8], out: &mut [u8]) -> Result<usize> {
    // The decoder does not accept a block without bytes.
    if stored.is_empty() {
        return Err(broken(stored));
    }
    let size = decompress_len(stored).map_err(|_| broken(stored))?;
    let out = room(out, size)?;
    Decoder::new().decompress(stored, out).map_err(|_| broken(stored))
}

/// Appends `raw` as a block.
pub(crate) fn append(raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let at = out.len();
    out.resize(at + max_compress_len(raw.len()), 0);
    let room = out.get_mut(at..).unwrap_or_default();
    let len = Encoder::new()
        .compress(raw, room)
        .map_err(|_| Error::invalid(format!("snappy does not compress {} bytes", raw.len())))?;
    out.truncate(at + len);
    Ok(())
}

fn broken(stored: &[u8]) -> Error {
    Error::malformed(format!("{} bytes are not a Snappy block", stored.len()))
}
