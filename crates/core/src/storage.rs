//! Positional reading and writing of files, as the format crates need it.
//!
//! Wrappers add behaviour: [`Cached`] keeps blocks of metadata, [`Joined`] joins several files into one, [`Faulty`] and
//! [`FaultyWrites`] inject failures for tests, [`Recorded`] yields the states that a crash may leave. Wrappers for both
//! storage and stores are in [`wrapper`](crate::wrapper). [`Siblings`] opens other files that an opened file names.

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
pub use chunk_place::{ChunkPlace, ChunkPlacement, Container};
pub use faulty::{Fault, Faulty};
pub use faulty_writes::{FaultyWrites, WriteFault};
pub use file::FileStorage;
pub use joined::{Joined, Part};
pub use merged::{FAR_REQUEST, NEAR, read_merged};
pub use recorded::{EXHAUSTIVE, Log, Operation, Recorded};
pub use siblings::{Directory, Lonely, Siblings};
pub use write_at::{WritableFile, WritableMemory, WriteAt};

use crate::Result;
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that can be read at any position, from many threads at once.
///
/// To wrap another storage, implement [`Wrapper`](crate::wrapper::Wrapper), which forwards all other methods.
pub trait ReadAt: Send + Sync {
    /// The number of bytes.
    fn len(&self) -> Result<u64>;

    /// Whether the storage is empty.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The bytes in `range`.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) if the range ends after the end of the
    /// storage, because the structure with this offset is invalid.
    fn read_at(&self, range: Range<u64>) -> Result<Bytes>;

    /// Fills `out` from `offset`.
    ///
    /// # Errors
    /// As [`ReadAt::read_at`].
    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()>;

    /// Reads several ranges, in one request if the backend supports it, otherwise with [`read_each`].
    ///
    /// # Errors
    /// As [`ReadAt::read_at`], if any of them fails.
    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>>;

    /// Whether the latency of a request dominates its cost, as over a network. If so, readers request several ranges
    /// with one [`ReadAt::read_ranges`]. Ranges of local storage are read one by one into their destination, which is
    /// as fast and needs no extra memory.
    fn is_far(&self) -> bool;

    /// The files around this one, if it was opened by its path.
    fn siblings(&self) -> Option<Arc<dyn Siblings>>;
}

/// Reads several ranges one after the other: [`ReadAt::read_ranges`] for storage without combined requests.
///
/// # Errors
/// As [`ReadAt::read_at`].
pub fn read_each(storage: &(impl ReadAt + ?Sized), ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
    ranges.iter().map(|range| storage.read_at(range.clone())).collect()
}

/// The error for a range after the end of the storage, the same for all backends.
fn past_end(offset: u64, len: u64, size: u64) -> crate::Error {
    crate::Error::malformed(format!("{len} bytes at {offset:#x} are past the end, the file has {size} bytes"))
}
