//! Wrappers, which add behaviour to storage or to a store.
//!
//! [`Cancellable`] stops work, [`Watched`] reports the number of read bytes, [`Counted`] counts requests. Each wraps bytes
//! at positions ([`ReadAt`]) or values under keys ([`Store`]) and is implemented once, as a [`Wrapper`]: its action at
//! each request. This module forwards everything else, so that no wrapper can miss a method.

mod cancellable;
mod counted;
mod watched;

pub use cancellable::Cancellable;
pub use counted::Counted;
pub use watched::Watched;

use crate::Result;
use crate::storage::{ReadAt, Siblings};
use crate::store::{Entry, Key, Store, Value, read_each};
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// Forwards all requests to an inner storage or store, with an action at each request.
///
/// A wrapper implements [`ReadAt`] or [`Store`] if the inner type does.
pub trait Wrapper: Send + Sync {
    /// The inner storage or store.
    type Inner: ?Sized;

    /// The inner storage or store.
    fn wrapped(&self) -> &Self::Inner;

    /// Called before each request, with the number of byte ranges or values in it.
    ///
    /// # Errors
    /// If this fails, the request is not made and returns the error.
    fn before(&self, _pieces: usize) -> Result<()> {
        Ok(())
    }

    /// Called after each successful request, with the number of bytes.
    fn after(&self, _bytes: u64) {}

    /// Whether this is far, if the inner one `is_far` or not.
    fn is_as_far(&self, inner: bool) -> bool {
        inner
    }

    /// The maximum number of bytes of one request into the caller's memory. Longer reads are split.
    fn longest_read(&self) -> usize {
        usize::MAX
    }
}

impl<T: Wrapper<Inner: ReadAt>> ReadAt for T {
    fn len(&self) -> Result<u64> {
        self.wrapped().len()
    }

    fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        self.before(1)?;
        let bytes = self.wrapped().read_at(range)?;
        self.after(bytes.len() as u64);
        Ok(bytes)
    }

    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        read_cut(self, offset, out, |at, part| self.wrapped().read_into(at, part))
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.before(ranges.len())?;
        let pieces = self.wrapped().read_ranges(ranges)?;
        self.after(total(&pieces));
        Ok(pieces)
    }

    fn is_far(&self) -> bool {
        self.is_as_far(self.wrapped().is_far())
    }

    fn siblings(&self) -> Option<Arc<dyn Siblings>> {
        self.wrapped().siblings()
    }
}

impl<T: Wrapper<Inner: Store>> Store for T {
    fn size(&self, key: &Key) -> Result<Option<u64>> {
        self.before(0)?;
        self.wrapped().size(key)
    }

    fn read(&self, key: &Key, max_bytes: u64) -> Result<Option<Bytes>> {
        self.before(1)?;
        let value = self.wrapped().read(key, max_bytes)?;
        self.after(total(value.as_slice()));
        Ok(value)
    }

    fn read_ranges(&self, key: &Key, ranges: &[Range<u64>]) -> Result<Option<Vec<Bytes>>> {
        self.before(ranges.len())?;
        let pieces = self.wrapped().read_ranges(key, ranges)?;
        self.after(total(pieces.as_deref().unwrap_or_default()));
        Ok(pieces)
    }

    fn read_many(&self, keys: &[Key], max_bytes: u64) -> Vec<Result<Option<Bytes>>> {
        if self.before(keys.len()).is_err() {
            // Each single read returns the error.
            return read_each(self, keys, max_bytes);
        }
        let values = self.wrapped().read_many(keys, max_bytes);
        let found = values.iter().flatten().flatten();
        self.after(found.fold(0, |sum: u64, value| sum.saturating_add(value.len() as u64)));
        values
    }

    fn is_far(&self) -> bool {
        self.is_as_far(self.wrapped().is_far())
    }

    fn find<'a>(&'a self, key: &'a Key) -> Result<Option<Box<dyn Value + 'a>>> {
        self.before(0)?;
        let found = self.wrapped().find(key)?;
        Ok(found.map(|value| Box::new(WrappedValue { wrapper: self, value }) as Box<dyn Value>))
    }

    fn resolve(&self, key: &Key) -> Result<Option<Key>> {
        self.wrapped().resolve(key)
    }

    fn list(&self, prefix: &Key) -> Result<Vec<Entry>> {
        self.before(0)?;
        self.wrapped().list(prefix)
    }
}

/// The handle of a value of a wrapped store.
struct WrappedValue<'a, W> {
    wrapper: &'a W,
    value: Box<dyn Value + 'a>,
}

impl<W: Wrapper> Value for WrappedValue<'_, W> {
    fn size(&self) -> u64 {
        self.value.size()
    }

    fn parts(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.wrapper.before(ranges.len())?;
        let pieces = self.value.parts(ranges)?;
        self.wrapper.after(total(&pieces));
        Ok(pieces)
    }

    fn read(&self, start: u64, out: &mut [u8]) -> Result<()> {
        read_cut(self.wrapper, start, out, |at, part| self.value.read(at, part))
    }

    fn has_cheap_parts(&self) -> bool {
        self.value.has_cheap_parts()
    }
}

impl<T: Send + Sync + ?Sized> Wrapper for Arc<T> {
    type Inner = T;

    fn wrapped(&self) -> &T {
        self
    }
}

impl<T: Send + Sync + ?Sized> Wrapper for Box<T> {
    type Inner = T;

    fn wrapped(&self) -> &T {
        self
    }
}

/// Reads into the caller's memory, split into requests of the maximum size.
fn read_cut(
    wrapper: &impl Wrapper,
    start: u64,
    out: &mut [u8],
    read: impl Fn(u64, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let (mut at, mut rest) = (start, out);
    loop {
        let len = rest.len().min(wrapper.longest_read().max(1));
        let (part, behind) = rest.split_at_mut(len);
        wrapper.before(1)?;
        read(at, part)?;
        wrapper.after(len as u64);
        if behind.is_empty() {
            return Ok(());
        }
        at = at.saturating_add(len as u64);
        rest = behind;
    }
}

fn total(pieces: &[Bytes]) -> u64 {
    pieces.iter().fold(0, |sum: u64, piece| sum.saturating_add(piece.len() as u64))
}
