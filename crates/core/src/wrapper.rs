//! Behaviour that is added to storage or to a store by wrapping it.
//!
//! [`Cancellable`] stops work, [`Watched`] reports how much is read, [`Counted`] counts requests. Each wraps bytes at
//! positions ([`ReadAt`]) and is written once, as a [`Wrapper`]: what it does at a request. All else is passed on here,
//! so that no wrapper can forget a method.

mod cancellable;
mod counted;
mod watched;

pub use cancellable::Cancellable;
pub use counted::Counted;
pub use watched::Watched;

use crate::Result;
use crate::storage::{ReadAt, Siblings};
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// Something that reads what the inner one reads, and does something of its own at each request.
///
/// It implements [`ReadAt`] if the inner one does.
pub trait Wrapper: Send + Sync {
    /// What is wrapped.
    type Inner: ?Sized;

    /// What is wrapped.
    fn wrapped(&self) -> &Self::Inner;

    /// Called before each request, with the number of pieces of bytes that it asks for.
    ///
    /// # Errors
    /// Any error is that of the request, which is not made then.
    fn before(&self, _pieces: usize) -> Result<()> {
        Ok(())
    }

    /// Called after each request that brought what it asked for, with the number of bytes.
    fn after(&self, _bytes: u64) {}

    /// Whether this is far, given whether the inner one is.
    fn is_as_far(&self, inner: bool) -> bool {
        inner
    }

    /// The most bytes that are read to the caller's memory in one request; longer reads are made in several.
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
        let (mut at, mut rest) = (offset, out);
        loop {
            let len = rest.len().min(self.longest_read().max(1));
            let (part, behind) = rest.split_at_mut(len);
            self.before(1)?;
            self.wrapped().read_into(at, part)?;
            self.after(len as u64);
            if behind.is_empty() {
                return Ok(());
            }
            at = at.saturating_add(len as u64);
            rest = behind;
        }
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

fn total(pieces: &[Bytes]) -> u64 {
    pieces.iter().fold(0, |sum: u64, piece| sum.saturating_add(piece.len() as u64))
}
