//! Stored chunks: where their bytes come from, and how they are undone.

use crate::store::{Key, Store};
use bytes::Bytes;
use hyperslab_codec::{Codec, Scratch, check_size, cut, decode, decode_within};
use hyperslab_core::{Error, ErrorKind, Limits, Result};
use std::ops::Range;

/// Stored bytes, of which parts can be had.
pub(crate) trait Source {
    fn len(&self) -> u64;
    fn part(&self, range: Range<u64>) -> Result<Bytes>;

    /// Whether parts cost nothing.
    fn is_at_hand(&self) -> bool {
        false
    }
}

/// A value of a store.
pub(crate) struct Stored<'a> {
    store: &'a dyn Store,
    key: &'a Key,
    len: u64,
}

impl<'a> Stored<'a> {
    /// None if there is no such value.
    pub(crate) fn find(store: &'a dyn Store, key: &'a Key) -> Result<Option<Stored<'a>>> {
        Ok(store.size(key)?.map(|len| Stored { store, key, len }))
    }
}

impl Source for Stored<'_> {
    fn len(&self) -> u64 {
        self.len
    }

    fn part(&self, range: Range<u64>) -> Result<Bytes> {
        // The whole of a value is read as such: only then stores check what they know of it.
        let bytes = match range == (0..self.len) {
            true => self.store.read(self.key, self.len)?,
            false => self.store.read_range(self.key, range)?,
        };
        bytes.ok_or_else(|| Error::not_found(format!("{} is gone", self.key)))
    }
}

/// Bytes in hand.
pub(super) struct InMemory(pub(super) Bytes);

impl Source for InMemory {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn is_at_hand(&self) -> bool {
        true
    }

    fn part(&self, range: Range<u64>) -> Result<Bytes> {
        hyperslab_core::storage::ReadAt::read_at(&self.0, range)
    }
}

/// All bytes of a chunk.
pub(super) fn whole(source: &dyn Source, limits: &Limits) -> Result<Bytes> {
    let len = source.len();
    match len > limits.allocation {
        true => Err(Error::new(
            ErrorKind::LimitExceeded,
            format!("a chunk of {len} stored bytes (raise with --limit allocation=N)"),
        )),
        false => source.part(0..len),
    }
}

/// A chunk undone as far as that moves no bytes.
pub(super) struct Undone<'c> {
    left: &'c [Codec],
    bytes: Bytes,
}

impl<'c> Undone<'c> {
    /// A chunk that was written through `codecs`.
    pub(super) fn open(codecs: &'c [Codec], stored: Bytes) -> Result<Undone<'c>> {
        let (left, cut) = cut(codecs, &stored)?;
        let bytes = stored.slice_ref(cut);
        Ok(Undone { left, bytes })
    }

    /// The decoded bytes, if nothing is left to undo.
    pub(super) fn raw(&self) -> Option<&[u8]> {
        self.left.is_empty().then_some(&*self.bytes)
    }

    /// Whether it can decode to exactly `len` bytes.
    pub(super) fn check(&self, len: usize) -> Result<()> {
        match self.raw() {
            Some(raw) if raw.len() == len => Ok(()),
            Some(raw) => Err(Error::malformed(format!("a chunk of {} bytes, expected {len}", raw.len()))),
            None => check_size(self.left, &self.bytes, len),
        }
    }

    /// Decodes to `out`, which is as long as what comes out.
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

    /// Decodes to any number of bytes up to `most`.
    pub(super) fn decode(&self, most: u64, scratch: &mut Scratch) -> Result<Bytes> {
        let decoded = match self.raw() {
            Some(_) if self.bytes.len() as u64 > most => Err(Error::new(
                ErrorKind::LimitExceeded,
                format!("{} bytes, at most {most}", self.bytes.len()),
            )),
            Some(_) => return Ok(self.bytes.clone()),
            None => {
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                decode_within(self.left, &self.bytes, most, scratch).map(Bytes::from)
            }
        };
        decoded.map_err(|e| match e.kind() {
            ErrorKind::LimitExceeded => {
                let detail = format!("{} (raise with --limit allocation=N)", e.detail());
                Error::new(ErrorKind::LimitExceeded, detail)
            }
            _ => e,
        })
    }
}
