//! Positional reading and writing: what the format crates need of a file, and nothing more.
//!
//! Behaviour is added by wrapping: [`Cached`] keeps blocks of metadata, [`Joined`] makes one of several,
//! [`Faulty`] and [`FaultyWrites`] fail where a test wants, [`Recorded`] yields the states that a crash may leave.
//! [`wrapper`](crate::wrapper) has those that stores have too. [`Siblings`] opens other files that an opened one names.

mod cached;
mod chunk_place;
mod faulty;
mod faulty_writes;
mod file;
mod joined;
mod memory;
mod merged;
mod recorded;
mod siblings;
mod write_at;

pub use cached::Cached;
pub use chunk_place::{ChunkPlace, Container, Placed};
pub use faulty::{Fault, Faulty};
pub use faulty_writes::{FaultyWrites, WriteFault};
pub use file::FileStorage;
pub use joined::{Joined, Part};
pub use merged::{NEAR, read_merged};
pub use recorded::{EXHAUSTIVE, Log, Operation, Recorded};
pub use siblings::{Directory, Lonely, Siblings};
pub use write_at::{WritableFile, WritableMemory, WriteAt};

use crate::Result;
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that can be read at any position, from many threads at once.
///
/// Storage over another one is best a [`Wrapper`](crate::wrapper::Wrapper), which passes on all that it leaves alone.
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

    /// Several ranges in one request, where the backend gains from it; [`read_each`] where it does not.
    ///
    /// # Errors
    /// As [`ReadAt::read_at`], if any of them fails.
    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>>;

    /// Whether a request costs more than the bytes that it brings, as over a network. Readers that need several pieces
    /// then ask for them in one [`ReadAt::read_ranges`]; pieces of near storage are read one by one, each into its
    /// place, which is as fast and takes no memory.
    fn is_far(&self) -> bool;

    /// The files around this one, if it is a file that was opened by its path.
    fn siblings(&self) -> Option<Arc<dyn Siblings>>;
}

/// Several ranges, one after the other: [`ReadAt::read_ranges`] of storage that gains nothing from all at once.
///
/// # Errors
/// As [`ReadAt::read_at`].
pub fn read_each(storage: &(impl ReadAt + ?Sized), ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
    ranges.iter().map(|range| storage.read_at(range.clone())).collect()
}

/// Says that a range passes the end, in one wording for all backends.
fn past_end(offset: u64, len: u64, size: u64) -> crate::Error {
    crate::Error::malformed(format!("{len} bytes at {offset:#x} are past the end, the file has {size} bytes"))
}
