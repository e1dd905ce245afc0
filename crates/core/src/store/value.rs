//! Values that were found, to be read in parts.
//!
//! Spec: Zarr v3 "Abstract store interface"

use super::{Key, Store};
use crate::{Error, Result};
use bytes::Bytes;
use std::ops::Range;

/// A value of a store.
pub trait Value {
    /// Its bytes.
    fn size(&self) -> u64;

    /// Parts of it in one request, where the store gains from it.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) if the value ends before one of the ranges: whoever
    /// pointed there was wrong.
    fn parts(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>>;

    /// A part of it.
    ///
    /// # Errors
    /// As [`Value::parts`].
    fn part(&self, range: Range<u64>) -> Result<Bytes> {
        self.parts(std::slice::from_ref(&range)).map(only)
    }

    /// Reads the part from `start` on that is as long as `out`.
    ///
    /// # Errors
    /// As [`Value::part`].
    fn read(&self, start: u64, out: &mut [u8]) -> Result<()> {
        let part = self.part(start..start.saturating_add(out.len() as u64))?;
        match part.len() == out.len() {
            true => out.copy_from_slice(&part),
            false => return Err(Error::malformed(format!("{} bytes, expected {}", part.len(), out.len()))),
        }
        Ok(())
    }

    /// Whether many parts cost no more than all of it at once.
    fn has_cheap_parts(&self) -> bool;
}

/// The one piece that was asked for.
pub(super) fn only(pieces: Vec<Bytes>) -> Bytes {
    pieces.into_iter().next().unwrap_or_default()
}

/// A value that is looked for again for each part.
pub(super) struct ByKey<'a, S: ?Sized> {
    pub(super) store: &'a S,
    pub(super) key: &'a Key,
    pub(super) size: u64,
}

impl<S: Store + ?Sized> Value for ByKey<'_, S> {
    fn size(&self) -> u64 {
        self.size
    }

    fn parts(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        // The whole of a value is read as such: only then stores check what they know of it.
        let pieces = match ranges {
            [range] if *range == (0..self.size) => {
                self.store.read(self.key, self.size)?.map(|bytes| vec![bytes])
            }
            ranges => self.store.read_ranges(self.key, ranges)?,
        };
        pieces.ok_or_else(|| Error::not_found(format!("{} is gone", self.key)))
    }

    fn has_cheap_parts(&self) -> bool {
        false
    }
}
