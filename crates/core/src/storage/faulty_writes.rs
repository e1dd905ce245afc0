//! Storage with injected write failures, for tests.

use super::WriteAt;
use crate::wrapper::Wrapper;
use crate::{Error, ErrorKind, Result};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// How the writes of [`FaultyWrites`] fail. Writes, changes of length, allocations and syncs are counted together,
/// from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteFault {
    /// Each write accepts at most this number of bytes, and none fails: callers must write the rest again.
    Short(usize),
    /// The operation with this number fails with EIO and changes nothing.
    Operation(u64),
    /// This and all later operations fail with EIO, as if the device was removed.
    FromOperation(u64),
    /// The operation with the first number fails with EIO. If it is a write, at most the second number of its bytes is
    /// written first.
    Torn(u64, usize),
    /// The device has space for this number of bytes. A larger write is written partly and fails with ENOSPC.
    Full(u64),
    /// Syncs fail with EIO.
    Sync,
}

/// Storage that reads and writes like the inner one until its [`WriteFault`] occurs.
///
/// ```
/// use hyperslab_core::ErrorKind;
/// use hyperslab_core::storage::{FaultyWrites, WritableMemory, WriteAt, WriteFault};
///
/// let storage = FaultyWrites::new(WritableMemory::default(), WriteFault::Full(4));
/// assert_eq!(storage.write_at(0, b"abcdef").unwrap_err().kind(), ErrorKind::Io);
/// assert_eq!(storage.inner().to_vec(), b"abcd");
/// ```
#[derive(Debug)]
pub struct FaultyWrites<W> {
    inner: W,
    fault: WriteFault,
    operations: AtomicU64,
}

impl<W: WriteAt> FaultyWrites<W> {
    /// Storage with one fault.
    pub fn new(inner: W, fault: WriteFault) -> Self {
        FaultyWrites { inner, fault, operations: AtomicU64::new(0) }
    }

    /// The inner storage.
    pub fn inner(&self) -> &W {
        &self.inner
    }

    /// The number of attempted operations. A test that fails each operation in turn needs this number.
    pub fn operations(&self) -> u64 {
        self.operations.load(Ordering::Relaxed)
    }

    /// Counts an operation. Returns the error if the operation must fail, otherwise the fault that applies to it.
    fn next(&self) -> Result<WriteFault> {
        let number = self.operations.fetch_add(1, Ordering::Relaxed);
        match self.fault {
            WriteFault::Operation(fails) if number == fails => Err(failure()),
            WriteFault::FromOperation(fails) if number >= fails => Err(failure()),
            WriteFault::Torn(fails, _) if number != fails => Ok(WriteFault::Short(usize::MAX)),
            fault => Ok(fault),
        }
    }

    /// Runs an operation that extends the storage to `end` if it is shorter.
    fn lengthen(&self, end: u64, change: impl FnOnce() -> Result<()>) -> Result<()> {
        match self.next()? {
            WriteFault::Torn(..) => Err(failure()),
            WriteFault::Full(room) if end > room => Err(no_space()),
            _ => change(),
        }
    }
}

impl<W: WriteAt> Wrapper for FaultyWrites<W> {
    type Inner = W;

    fn wrapped(&self) -> &W {
        &self.inner
    }
}

impl<W: WriteAt> WriteAt for FaultyWrites<W> {
    fn write_some(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        let first = |max: usize| bytes.get(..max).unwrap_or(bytes);
        match self.next()? {
            WriteFault::Short(max) => self.inner.write_some(offset, first(max.max(1))),
            WriteFault::Torn(_, max) => {
                self.inner.write_at(offset, first(max))?;
                Err(failure())
            }
            WriteFault::Full(room) if offset.saturating_add(bytes.len() as u64) > room => {
                let fits = usize::try_from(room.saturating_sub(offset)).unwrap_or(usize::MAX);
                match first(fits) {
                    [] => Err(no_space()),
                    // Like an operating system: the write is short, and the next one fails.
                    fitting => self.inner.write_some(offset, fitting),
                }
            }
            _ => self.inner.write_some(offset, bytes),
        }
    }

    fn set_len(&self, len: u64) -> Result<()> {
        // A hole takes no space.
        self.lengthen(0, || self.inner.set_len(len))
    }

    fn allocate(&self, range: Range<u64>) -> Result<()> {
        self.lengthen(range.end, || self.inner.allocate(range))
    }

    fn sync(&self) -> Result<()> {
        match self.next()? {
            WriteFault::Torn(..) | WriteFault::Sync => Err(failure()),
            _ => self.inner.sync(),
        }
    }
}

fn failure() -> Error {
    Error::new(ErrorKind::Io, "injected failure")
}

fn no_space() -> Error {
    io::Error::from(io::ErrorKind::StorageFull).into()
}

#[cfg(test)]
mod tests {
    use super::super::WritableMemory;
    use super::*;

    fn faulty(fault: WriteFault) -> FaultyWrites<WritableMemory> {
        FaultyWrites::new(WritableMemory::default(), fault)
    }

    #[test]
    fn short_writes_are_continued_until_all_is_written() {
        let storage = faulty(WriteFault::Short(2));
        storage.write_at(1, b"abcde").unwrap();
        assert_eq!(storage.inner().to_vec(), b"\0abcde");
        assert_eq!(storage.operations(), 3);
    }

    #[test]
    fn the_selected_operations_fail() {
        let run = |storage: &FaultyWrites<WritableMemory>| {
            [
                storage.write_at(0, b"ab").is_ok(),
                storage.set_len(3).is_ok(),
                storage.allocate(0..4).is_ok(),
                storage.sync().is_ok(),
                storage.write_at(0, b"cd").is_ok(),
            ]
        };
        for fails in 0..5 {
            let one = faulty(WriteFault::Operation(fails as u64));
            assert_eq!(run(&one), std::array::from_fn(|number| number != fails), "{fails}");
            let rest = faulty(WriteFault::FromOperation(fails as u64));
            assert_eq!(run(&rest), std::array::from_fn(|number| number < fails), "{fails}");
            let torn = faulty(WriteFault::Torn(fails as u64, 1));
            assert_eq!(run(&torn), std::array::from_fn(|number| number != fails), "{fails}");
        }
        assert_eq!(run(&faulty(WriteFault::Sync)), [true, true, true, false, true]);
        let torn = faulty(WriteFault::Torn(0, 1));
        assert!(torn.write_at(0, b"ab").is_err());
        assert_eq!(torn.inner().to_vec(), b"a");
    }

    #[test]
    fn a_full_device_stores_what_fits_and_fails() {
        let storage = faulty(WriteFault::Full(3));
        let e = storage.write_at(1, b"abc").unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Io);
        assert_eq!(storage.inner().to_vec(), b"\0ab");
        assert!(storage.allocate(0..4).is_err());
        storage.allocate(0..3).unwrap();
        storage.write_at(0, b"xyz").unwrap();
        assert!(storage.write_at(3, b"!").is_err());
    }
}
