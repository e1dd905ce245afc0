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

    /// A part of it.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) if the value ends before the range: whoever
    /// pointed there was wrong.
    fn part(&self, range: Range<u64>) -> Result<Bytes>;

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
    fn has_cheap_parts(&self) -> bool {
        false
    }
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

    fn part(&self, range: Range<u64>) -> Result<Bytes> {
        // The whole of a value is read as such: only then stores check what they know of it.
        let bytes = match range == (0..self.size) {
            true => self.store.read(self.key, self.size)?,
            false => self.store.read_range(self.key, range)?,
        };
        bytes.ok_or_else(|| Error::not_found(format!("{} is gone", self.key)))
    }
}
