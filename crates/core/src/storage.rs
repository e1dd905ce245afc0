//! Positional reading and writing: what the format crates need of a file, and nothing more.
//!
//! Behaviour is added by wrapping: [`Cached`] keeps blocks of metadata, [`Joined`] makes one of several,
//! [`Faulty`] and [`FaultyWrites`] fail where a test wants, [`Recorded`] yields the states that a crash may leave,
//! [`Watched`] reports how much is read. [`Siblings`] opens other files that an opened one names.

mod cached;
mod cancellable;
mod counted;
mod faulty;
mod faulty_writes;
mod file;
mod joined;
mod memory;
mod recorded;
mod siblings;
mod watched;
mod write_at;

pub use cached::Cached;
pub use cancellable::Cancellable;
pub use counted::Counted;
pub use faulty::{Fault, Faulty};
pub use faulty_writes::{FaultyWrites, WriteFault};
pub use file::FileStorage;
pub use joined::{Joined, Part};
pub use recorded::{EXHAUSTIVE, Log, Operation, Recorded};
pub use siblings::{Directory, Lonely, Siblings};
pub use watched::Watched;
pub use write_at::{WritableFile, WritableMemory, WriteAt};

use crate::Result;
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that can be read at any position, from many threads at once.
pub trait ReadAt: Send + Sync {
    /// The number of bytes.
    fn len(&self) -> Result<u64>;

    /// Whether there are none.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The bytes in `range`.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) if the range passes the end: whoever pointed
    /// there was wrong.
    fn read_at(&self, range: Range<u64>) -> Result<Bytes>;

    /// Fills `out` from `offset`.
    ///
    /// # Errors
    /// As [`ReadAt::read_at`].
    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()>;

    /// Several ranges in one request, where the backend gains from it.
    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        ranges.iter().map(|range| self.read_at(range.clone())).collect()
    }

    /// Whether a request costs more than the bytes that it brings, as over a network. Readers that need several pieces
    /// then ask for them in one [`ReadAt::read_ranges`]; pieces of near storage are read one by one, each into its
    /// place, which is as fast and takes no memory.
    fn is_far(&self) -> bool {
        false
    }

    /// The files around this one, if it is a file that was opened by its path.
    fn siblings(&self) -> Option<Arc<dyn Siblings>> {
        None
    }
}

impl<T: ReadAt + ?Sized> ReadAt for Arc<T> {
    fn len(&self) -> Result<u64> {
        (**self).len()
    }
    fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        (**self).read_at(range)
    }
    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        (**self).read_into(offset, out)
    }
    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        (**self).read_ranges(ranges)
    }
    fn is_far(&self) -> bool {
        (**self).is_far()
    }
    fn siblings(&self) -> Option<Arc<dyn Siblings>> {
        (**self).siblings()
    }
}

impl<T: ReadAt + ?Sized> ReadAt for Box<T> {
    fn len(&self) -> Result<u64> {
        (**self).len()
    }
    fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        (**self).read_at(range)
    }
    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        (**self).read_into(offset, out)
    }
    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        (**self).read_ranges(ranges)
    }
    fn is_far(&self) -> bool {
        (**self).is_far()
    }
    fn siblings(&self) -> Option<Arc<dyn Siblings>> {
        (**self).siblings()
    }
}

/// Bytes between two pieces that are cheaper read with them than skipped.
pub const NEAR: u64 = 4096;

/// Says that a range passes the end, in one wording for all backends.
fn past_end(offset: u64, len: u64, size: u64) -> crate::Error {
    crate::Error::malformed(format!("{len} bytes at {offset:#x} are past the end, the file has {size} bytes"))
}
