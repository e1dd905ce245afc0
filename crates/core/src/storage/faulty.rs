//! Storage with injected read failures, for tests.

use super::{ReadAt, Siblings, past_end};
use crate::{Error, ErrorKind, Result};
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How [`Faulty`] storage fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The read with this number, counted from 0, fails with [`ErrorKind::Io`]. A wrapper that retries, such as
    /// [`Cached`](super::Cached), hides the failure.
    Read(u64),
    /// This and all later reads fail with [`ErrorKind::Io`].
    FromRead(u64),
    /// Reads that end after this offset fail with [`ErrorKind::Io`].
    PastOffset(u64),
    /// The file ends here, and its length is correct.
    Truncated(u64),
    /// The file ends here, but its length is larger: it was truncated after opening.
    Shrunk(u64),
}

/// Storage that reads like the inner one until its [`Fault`] occurs.
///
/// ```
/// use bytes::Bytes;
/// use hyperslab_core::ErrorKind;
/// use hyperslab_core::storage::{Fault, Faulty, ReadAt};
///
/// let storage = Faulty::new(Bytes::from_static(b"abcdef"), Fault::PastOffset(4));
/// assert_eq!(storage.read_at(1..4)?, "bcd");
/// assert_eq!(storage.read_at(1..5).unwrap_err().kind(), ErrorKind::Io);
/// assert_eq!(storage.reads(), 2);
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Faulty<R> {
    inner: R,
    fault: Fault,
    reads: AtomicU64,
}

impl<R: ReadAt> Faulty<R> {
    /// Storage with one fault.
    pub fn new(inner: R, fault: Fault) -> Self {
        Faulty { inner, fault, reads: AtomicU64::new(0) }
    }

    /// The number of attempted reads. A test that fails each read in turn needs this number.
    pub fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    fn check(&self, offset: u64, len: u64) -> Result<()> {
        let read = self.reads.fetch_add(1, Ordering::Relaxed);
        let end = offset.saturating_add(len);
        match self.fault {
            Fault::Read(number) if read == number => Err(failure()),
            Fault::FromRead(number) if read >= number => Err(failure()),
            Fault::PastOffset(limit) if end > limit => Err(failure()),
            Fault::Truncated(size) | Fault::Shrunk(size) if end > size => Err(past_end(offset, len, size)),
            _ => Ok(()),
        }
    }
}

impl<R: ReadAt> ReadAt for Faulty<R> {
    fn len(&self) -> Result<u64> {
        let len = self.inner.len()?;
        Ok(match self.fault {
            Fault::Truncated(size) => len.min(size),
            _ => len,
        })
    }

    fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        self.check(range.start, range.end.saturating_sub(range.start))?;
        self.inner.read_at(range)
    }

    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        self.check(offset, out.len() as u64)?;
        self.inner.read_into(offset, out)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        ranges.iter().try_for_each(|range| self.check(range.start, range.end.saturating_sub(range.start)))?;
        self.inner.read_ranges(ranges)
    }

    fn is_far(&self) -> bool {
        self.inner.is_far()
    }

    fn siblings(&self) -> Option<Arc<dyn Siblings>> {
        self.inner.siblings()
    }
}

fn failure() -> Error {
    Error::new(ErrorKind::Io, "injected failure")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storage(fault: Fault) -> Faulty<Bytes> {
        Faulty::new(Bytes::from_static(b"abcdef"), fault)
    }

    fn kinds(storage: &Faulty<Bytes>, ranges: &[Range<u64>]) -> Vec<Option<ErrorKind>> {
        ranges.iter().map(|range| storage.read_at(range.clone()).err().map(|e| e.kind())).collect()
    }

    #[test]
    fn the_selected_reads_fail() {
        let io = Some(ErrorKind::Io);
        let ranges = [0..1, 0..1, 0..1];
        assert_eq!(kinds(&storage(Fault::Read(1)), &ranges), [None, io, None]);
        assert_eq!(kinds(&storage(Fault::FromRead(1)), &ranges), [None, io, io]);
        let faulty = storage(Fault::Read(0));
        assert!(faulty.read_into(0, &mut [0]).is_err());
        faulty.read_into(0, &mut [0]).unwrap();
        assert_eq!(faulty.reads(), 2);
    }

    #[test]
    fn truncated_storage_fails_like_a_truncated_file() {
        let malformed = Some(ErrorKind::Malformed);
        for (fault, len) in [(Fault::Truncated(3), 3), (Fault::Shrunk(3), 6)] {
            let storage = storage(fault);
            assert_eq!(ReadAt::len(&storage).unwrap(), len);
            assert_eq!(kinds(&storage, &[0..3, 2..4, 5..6]), [None, malformed, malformed]);
        }
    }
}
