//! Handles of values, to read them in parts.
//!
//! Spec: Zarr v3 "Abstract store interface"

use super::{Key, Store};
use crate::{Error, Result};
use bytes::Bytes;
use std::ops::Range;

/// A value of a store.
pub trait Value {
    /// The size in bytes.
    fn size(&self) -> u64;

    /// Byte ranges of the value, in one request if the store supports it.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) if the value ends before the end of a range,
    /// because the structure with this offset is invalid.
    fn parts(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>>;

    /// A byte range of the value.
    ///
    /// # Errors
    /// As [`Value::parts`].
    fn part(&self, range: Range<u64>) -> Result<Bytes> {
        self.parts(std::slice::from_ref(&range)).map(only)
    }

    /// Fills `out` with the bytes from `start` on.
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

    /// Whether reading many parts costs no more than reading the whole value at once.
    fn has_cheap_parts(&self) -> bool;
}

/// The only piece of a request for one range.
pub(super) fn only(pieces: Vec<Bytes>) -> Bytes {
    pieces.into_iter().next().unwrap_or_default()
}

/// A value that is looked up again for each part.
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
        // A whole value is read with `read`, because only then do stores verify checksums.
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
