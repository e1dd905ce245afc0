//! Wrappers, which add behaviour to storage or to a store.
//!
//! [`Cancellable`] stops work, [`Watched`] reports the number of bytes read, [`Counted`] counts requests, [`Failing`]
//! makes one of them fail, [`Noting`] records failed ones. Each wraps bytes at positions ([`ReadAt`]) or values under
//! keys ([`Store`]) and is implemented once, as a [`Wrapper`]: its action at each request. This module forwards
//! everything else, so that no wrapper can miss a method.

mod cancellable;
mod counted;
mod failing;
mod noting;
mod watched;

pub use cancellable::Cancellable;
pub use counted::Counted;
pub use failing::Failing;
pub use noting::{Failures, Noting};
pub use watched::Watched;

use crate::storage::{ReadAt, Siblings};
use crate::store::{Entry, Key, Store, Value, read_each};
use crate::{Error, Result};
use bytes::Bytes;
use std::fmt;
use std::ops::Range;
use std::path::Path;
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

    /// Called after each failed request, with a description of what was requested.
    fn failed(&self, _asked: &dyn fmt::Display, _error: &Error) {}

    /// The files beside this one, given the `siblings` of the inner one.
    fn with_siblings(&self, siblings: Option<Arc<dyn Siblings>>) -> Option<Arc<dyn Siblings>> {
        siblings
    }

    /// Whether this is remote, given whether the `inner` one is.
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
        self.wrapped().len().inspect_err(|e| self.failed(&"the length", e))
    }

    fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        self.before(1)?;
        let read = self.wrapped().read_at(range.clone());
        let bytes = read.inspect_err(|e| self.failed(&Asked::Ranges(std::slice::from_ref(&range)), e))?;
        self.after(bytes.len() as u64);
        Ok(bytes)
    }

    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        read_cut(self, offset, out, None, |at, part| self.wrapped().read_into(at, part))
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.before(ranges.len())?;
        let pieces = self.wrapped().read_ranges(ranges);
        let pieces = pieces.inspect_err(|e| self.failed(&Asked::Ranges(ranges), e))?;
        self.after(total(&pieces));
        Ok(pieces)
    }

    fn is_far(&self) -> bool {
        self.is_as_far(self.wrapped().is_far())
    }

    fn siblings(&self) -> Option<Arc<dyn Siblings>> {
        self.with_siblings(self.wrapped().siblings())
    }
}

impl<T: Wrapper<Inner: Store>> Store for T {
    fn size(&self, key: &Key) -> Result<Option<u64>> {
        self.before(0)?;
        self.wrapped().size(key).inspect_err(|e| self.failed(key, e))
    }

    fn read(&self, key: &Key, max_bytes: u64) -> Result<Option<Bytes>> {
        self.before(1)?;
        let value = self.wrapped().read(key, max_bytes).inspect_err(|e| self.failed(key, e))?;
        self.after(total(value.as_slice()));
        Ok(value)
    }

    fn read_ranges(&self, key: &Key, ranges: &[Range<u64>]) -> Result<Option<Vec<Bytes>>> {
        self.before(ranges.len())?;
        let pieces = self.wrapped().read_ranges(key, ranges).inspect_err(|e| self.failed(key, e))?;
        self.after(total(pieces.as_deref().unwrap_or_default()));
        Ok(pieces)
    }

    fn read_many(&self, keys: &[Key], max_bytes: u64) -> Vec<Result<Option<Bytes>>> {
        if self.before(keys.len()).is_err() {
            // Each individual read returns the error.
            return read_each(self, keys, max_bytes);
        }
        let values = self.wrapped().read_many(keys, max_bytes);
        for (key, value) in keys.iter().zip(&values) {
            if let Err(e) = value {
                self.failed(key, e);
            }
        }
        let found = values.iter().flatten().flatten();
        self.after(found.fold(0, |sum: u64, value| sum.saturating_add(value.len() as u64)));
        values
    }

    fn is_far(&self) -> bool {
        self.is_as_far(self.wrapped().is_far())
    }

    fn find<'a>(&'a self, key: &'a Key) -> Result<Option<Box<dyn Value + 'a>>> {
        self.before(0)?;
        let found = self.wrapped().find(key).inspect_err(|e| self.failed(key, e))?;
        Ok(found.map(|value| Box::new(WrappedValue { wrapper: self, key, value }) as Box<dyn Value>))
    }

    fn resolve(&self, key: &Key) -> Result<Option<Key>> {
        self.wrapped().resolve(key).inspect_err(|e| self.failed(key, e))
    }

    fn real_path(&self) -> Option<&Path> {
        self.wrapped().real_path()
    }

    fn list(&self, prefix: &Key) -> Result<Vec<Entry>> {
        self.before(0)?;
        self.wrapped().list(prefix).inspect_err(|e| self.failed(&Asked::Folder(prefix), e))
    }
}

/// The handle of a value of a wrapped store.
struct WrappedValue<'a, W> {
    wrapper: &'a W,
    key: &'a Key,
    value: Box<dyn Value + 'a>,
}

impl<W: Wrapper> Value for WrappedValue<'_, W> {
    fn size(&self) -> u64 {
        self.value.size()
    }

    fn parts(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.wrapper.before(ranges.len())?;
        let pieces = self.value.parts(ranges).inspect_err(|e| self.wrapper.failed(self.key, e))?;
        self.wrapper.after(total(&pieces));
        Ok(pieces)
    }

    fn read(&self, start: u64, out: &mut [u8]) -> Result<()> {
        read_cut(self.wrapper, start, out, Some(self.key), |at, part| self.value.read(at, part))
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

/// What a request asked for, as worded in messages.
enum Asked<'a> {
    Ranges(&'a [Range<u64>]),
    Folder(&'a Key),
}

impl fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Asked::Ranges([range]) => {
                write!(f, "bytes {:#x} to {:#x}", range.start, range.end)
            }
            Asked::Ranges(ranges) => match ranges.first() {
                Some(first) => write!(f, "{} ranges from byte {:#x}", ranges.len(), first.start),
                None => f.write_str("no bytes"),
            },
            Asked::Folder(key) if key.is_root() => f.write_str("the list of files"),
            Asked::Folder(key) => write!(f, "the list of files in {key}"),
        }
    }
}

/// Reads into the caller's memory, split into requests of the maximum size.
fn read_cut(
    wrapper: &impl Wrapper,
    start: u64,
    out: &mut [u8],
    key: Option<&Key>,
    read: impl Fn(u64, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let (mut at, mut rest) = (start, out);
    loop {
        let len = rest.len().min(wrapper.longest_read().max(1));
        let (part, behind) = rest.split_at_mut(len);
        wrapper.before(1)?;
        read(at, part).inspect_err(|e| match key {
            Some(key) => wrapper.failed(key, e),
            None => {
                let range = at..at.saturating_add(len as u64);
                wrapper.failed(&Asked::Ranges(std::slice::from_ref(&range)), e);
            }
        })?;
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
