//! Stored chunks: the source of their bytes, and decoding.

use super::room;
use bytes::Bytes;
use hyperslab_codec::{Blocks, Codec, Scratch, check_size, cut, declares_size, decode, decode_within};
use hyperslab_core::store::Value;
use hyperslab_core::{Error, ErrorKind, Limit, Limits, Result};
use std::ops::{Deref, Range};

/// Bytes in memory.
pub(crate) struct InMemory(pub(crate) Bytes);

impl Value for InMemory {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn has_cheap_parts(&self) -> bool {
        true
    }

    fn parts(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        hyperslab_core::storage::ReadAt::read_ranges(&self.0, ranges)
    }
}

/// The stored bytes of a chunk.
pub(super) enum Stored<'b> {
    /// In a reused buffer.
    Lent(&'b [u8]),
    Shared(Bytes),
}

impl Stored<'_> {
    /// Reads all of a chunk.
    pub(super) fn shared(value: &dyn Value, limits: &Limits) -> Result<Stored<'static>> {
        let len = check_len(value, limits)?;
        value.part(0..len).map(Stored::Shared)
    }

    /// Reads all of a chunk into a reused buffer.
    pub(super) fn lent<'b>(
        value: &dyn Value,
        limits: &Limits,
        buffer: &'b mut Vec<u8>,
    ) -> Result<Stored<'b>> {
        let len = usize::try_from(check_len(value, limits)?).unwrap_or(usize::MAX);
        let stored = room(buffer, len);
        value.read(0, stored)?;
        Ok(Stored::Lent(stored))
    }
}

impl Deref for Stored<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Stored::Lent(bytes) => bytes,
            Stored::Shared(bytes) => bytes,
        }
    }
}

fn check_len(value: &dyn Value, limits: &Limits) -> Result<u64> {
    let len = value.size();
    match len > limits.allocation {
        true => Err(Error::limit_exceeded(Limit::Allocation, format!("a chunk of {len} stored bytes"))),
        false => Ok(len),
    }
}

/// A chunk after the codecs that can be undone without copying bytes, such as checksums.
pub(super) struct Undone<'c> {
    left: &'c [Codec],
    bytes: Stored<'c>,
}

impl<'c> Undone<'c> {
    /// Opens a chunk that `codecs` encoded.
    pub(super) fn open(codecs: &'c [Codec], stored: Stored<'c>) -> Result<Undone<'c>> {
        let (left, bytes) = match stored {
            Stored::Lent(bytes) => {
                let (left, bytes) = cut(codecs, bytes)?;
                (left, Stored::Lent(bytes))
            }
            Stored::Shared(bytes) => {
                let (left, cut) = cut(codecs, &bytes)?;
                (left, Stored::Shared(bytes.slice_ref(cut)))
            }
        };
        Ok(Undone { left, bytes })
    }

    /// The decoded bytes, if no codec remains.
    pub(super) fn raw(&self) -> Option<&[u8]> {
        self.left.is_empty().then_some(&*self.bytes)
    }

    /// The remaining codec, if its blocks can be decoded independently.
    pub(super) fn blocks(&self) -> Result<Option<Blocks<'_>>> {
        Blocks::open(self.left, &self.bytes)
    }

    /// Whether it can decode to exactly `len` bytes.
    pub(super) fn check(&self, len: usize) -> Result<()> {
        match self.raw() {
            Some(raw) if raw.len() == len => Ok(()),
            Some(raw) => Err(Error::malformed(format!("a chunk of {} bytes, expected {len}", raw.len()))),
            None => check_size(self.left, &self.bytes, len),
        }
    }

    /// Whether the stored bytes themselves state that they decode to exactly `len` bytes.
    pub(super) fn declares(&self, len: usize) -> Result<bool> {
        declares_size(self.left, &self.bytes, len)
    }

    /// Decodes to `out`, which has the length of the decoded chunk.
    pub(super) fn decode_to(&self, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        match self.raw() {
            Some(raw) => {
                self.check(out.len())?;
                out.copy_from_slice(raw);
                Ok(())
            }
            None => decode(self.left, &self.bytes, out, scratch),
        }
    }

    /// Decodes to at most `max` bytes.
    pub(super) fn decode(&self, max: u64, scratch: &mut Scratch) -> Result<Bytes> {
        let decoded = match self.raw() {
            Some(_) if self.bytes.len() as u64 > max => Err(Error::new(
                ErrorKind::LimitExceeded,
                format!("{} bytes, expected at most {max}", self.bytes.len()),
            )),
            Some(raw) => {
                return Ok(match &self.bytes {
                    Stored::Shared(bytes) => bytes.clone(),
                    Stored::Lent(_) => Bytes::copy_from_slice(raw),
                });
            }
            None => {
                let max = usize::try_from(max).unwrap_or(usize::MAX);
                decode_within(self.left, &self.bytes, max, scratch).map(Bytes::from)
            }
        };
        decoded.map_err(|e| match e.kind() {
            ErrorKind::LimitExceeded => Error::limit_exceeded(Limit::Allocation, e.detail().to_owned()),
            _ => e,
        })
    }
}
