//! Positional writing of files, as the format crates need it.

use super::{ReadAt, Siblings, past_end, read_each};
use crate::{Error, ErrorKind, Result};
use bytes::Bytes;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Bytes that can be read and written at any position, from many threads at once.
///
/// If several threads write the same bytes at the same time, each byte has one of the values. Written bytes can be read
/// immediately. They survive a power failure only after [`WriteAt::sync`].
pub trait WriteAt: ReadAt {
    /// Writes a prefix of `bytes` at `offset`, at least one byte unless `bytes` is empty, and returns its length. The
    /// storage grows as needed. Bytes between its old end and `offset` read as zeros.
    ///
    /// [`WriteAt::write_at`] writes all of them; only implementations and wrappers call this.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with the message of the operating system, for example if the device is full or fails.
    fn write_some(&self, offset: u64, bytes: &[u8]) -> Result<usize>;

    /// Writes all of `bytes` at `offset`, in as many steps as the storage needs.
    ///
    /// # Errors
    /// As [`WriteAt::write_some`]. Part of the bytes may then have been written.
    fn write_at(&self, mut offset: u64, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let written = self.write_some(offset, bytes)?;
            if written == 0 {
                let left = bytes.len();
                return Err(Error::new(
                    ErrorKind::Io,
                    format!("{left} bytes at {offset:#x} were not written: the storage accepted no more"),
                ));
            }
            offset = offset.saturating_add(written as u64);
            bytes = bytes.get(written..).unwrap_or_default();
        }
        Ok(())
    }

    /// Truncates the storage to `len` bytes, or extends it with zeros.
    ///
    /// # Errors
    /// As [`WriteAt::write_some`].
    fn set_len(&self, len: u64) -> Result<()>;

    /// Reserves space for `range`, so that a full disk fails here and not at a later write. Existing bytes keep their
    /// values; bytes after the old end are zeros. If the system cannot reserve space, the storage only grows.
    ///
    /// # Errors
    /// As [`WriteAt::write_some`].
    fn allocate(&self, range: Range<u64>) -> Result<()>;

    /// Returns when all earlier writes and changes of length are on the medium.
    ///
    /// # Errors
    /// As [`WriteAt::write_some`]. After an error, the state of all bytes written since the last successful sync is
    /// unknown.
    fn sync(&self) -> Result<()>;
}

impl<T: WriteAt + ?Sized> WriteAt for Arc<T> {
    fn write_some(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        (**self).write_some(offset, bytes)
    }
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        (**self).write_at(offset, bytes)
    }
    fn set_len(&self, len: u64) -> Result<()> {
        (**self).set_len(len)
    }
    fn allocate(&self, range: Range<u64>) -> Result<()> {
        (**self).allocate(range)
    }
    fn sync(&self) -> Result<()> {
        (**self).sync()
    }
}

/// A local file for reading and writing.
#[derive(Debug)]
pub struct WritableFile(File);

impl WritableFile {
    /// Creates an empty file. An existing file at `path` is truncated.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn create(path: impl AsRef<Path>) -> Result<WritableFile> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        Ok(WritableFile(file))
    }

    /// Opens an existing file with its content.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn open(path: impl AsRef<Path>) -> Result<WritableFile> {
        Ok(WritableFile(OpenOptions::new().read(true).write(true).open(path)?))
    }
}

impl From<File> for WritableFile {
    /// A file that is open for reading and writing.
    fn from(file: File) -> WritableFile {
        WritableFile(file)
    }
}

impl ReadAt for WritableFile {
    fn len(&self) -> Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        let (wanted, size) = (range.end.saturating_sub(range.start), self.len()?);
        let len = usize::try_from(wanted).ok().filter(|_| range.start <= range.end && range.end <= size);
        let mut bytes = vec![0; len.ok_or_else(|| past_end(range.start, wanted, size))?];
        self.read_into(range.start, &mut bytes)?;
        Ok(bytes.into())
    }

    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let (wanted, mut at, mut rest) = (out.len() as u64, offset, out);
        while !rest.is_empty() {
            match super::file::read_some(&self.0, at, rest) {
                Ok(0) => return Err(past_end(offset, wanted, self.len()?)),
                Ok(n) => {
                    at = at.saturating_add(n as u64);
                    rest = rest.get_mut(n..).unwrap_or_default();
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok(())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        read_each(self, ranges)
    }

    fn is_far(&self) -> bool {
        false
    }

    fn siblings(&self) -> Option<Arc<dyn Siblings>> {
        None
    }
}

impl WriteAt for WritableFile {
    fn write_some(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        loop {
            match write_some(&self.0, offset, bytes) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                written => return Ok(written?),
            }
        }
    }

    fn set_len(&self, len: u64) -> Result<()> {
        Ok(self.0.set_len(len)?)
    }

    fn allocate(&self, range: Range<u64>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        if !reserve(&self.0, &range)? && self.len()? < range.end {
            self.0.set_len(range.end)?;
        }
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(self.0.sync_all()?)
    }
}

/// Reserves space. Returns false if the system or the file system does not support it.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn reserve(file: &File, range: &Range<u64>) -> Result<bool> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    let len = range.end - range.start;
    match fallocate(file, FallocateFlags::empty(), range.start, len) {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(false),
        Err(e) => Err(io::Error::from(e).into()),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn reserve(_: &File, _: &Range<u64>) -> Result<bool> {
    Ok(false)
}

#[cfg(unix)]
fn write_some(file: &File, offset: u64, bytes: &[u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_some(file: &File, offset: u64, bytes: &[u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, offset)
}

/// A file in memory.
#[derive(Debug, Default)]
pub struct WritableMemory(RwLock<Vec<u8>>);

impl WritableMemory {
    /// A file of these bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> WritableMemory {
        WritableMemory(RwLock::new(bytes.into()))
    }

    /// A copy of all bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        self.shared().clone()
    }

    fn shared(&self) -> RwLockReadGuard<'_, Vec<u8>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn exclusive(&self) -> RwLockWriteGuard<'_, Vec<u8>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReadAt for WritableMemory {
    fn len(&self) -> Result<u64> {
        Ok(self.shared().len() as u64)
    }

    fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        let bytes = self.shared();
        let found = match (usize::try_from(range.start), usize::try_from(range.end)) {
            (Ok(start), Ok(end)) => bytes.get(start..end),
            _ => None,
        };
        let wanted = range.end.saturating_sub(range.start);
        let found = found.ok_or_else(|| past_end(range.start, wanted, bytes.len() as u64))?;
        Ok(Bytes::copy_from_slice(found))
    }

    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let found = self.read_at(offset..offset.saturating_add(out.len() as u64))?;
        match found.len() == out.len() {
            true => out.copy_from_slice(&found),
            false => return Err(past_end(offset, out.len() as u64, self.len()?)),
        }
        Ok(())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        read_each(self, ranges)
    }

    fn is_far(&self) -> bool {
        false
    }

    fn siblings(&self) -> Option<Arc<dyn Siblings>> {
        None
    }
}

impl WriteAt for WritableMemory {
    fn write_some(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        put(&mut self.exclusive(), offset, bytes)?;
        Ok(bytes.len())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        let len = usize::try_from(len).map_err(|_| too_large(len))?;
        self.exclusive().resize(len, 0);
        Ok(())
    }

    fn allocate(&self, range: Range<u64>) -> Result<()> {
        match !range.is_empty() && self.len()? < range.end {
            true => self.set_len(range.end),
            false => Ok(()),
        }
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

/// Writes `bytes` at `offset` into a file in memory, which grows as needed.
pub(super) fn put(file: &mut Vec<u8>, offset: u64, bytes: &[u8]) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let start = usize::try_from(offset).map_err(|_| too_large(offset))?;
    let end = start.checked_add(bytes.len()).ok_or_else(|| too_large(offset))?;
    if file.len() < end {
        file.resize(end, 0);
    }
    if let Some(place) = file.get_mut(start..end) {
        place.copy_from_slice(bytes);
    }
    Ok(())
}

fn too_large(len: u64) -> Error {
    Error::new(ErrorKind::LimitExceeded, format!("{len} bytes exceed the address space"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the contract of every implementation of [`WriteAt`].
    fn contract(storage: &dyn WriteAt) {
        storage.write_at(3, b"abc").unwrap();
        assert_eq!(storage.read_at(0..6).unwrap(), &b"\0\0\0abc"[..]);
        storage.write_at(4, b"xyz").unwrap();
        assert_eq!(storage.read_at(2..7).unwrap(), &b"\0axyz"[..]);
        storage.write_at(100, b"").unwrap();
        assert_eq!(storage.len().unwrap(), 7);
        storage.set_len(5).unwrap();
        storage.set_len(6).unwrap();
        assert_eq!(storage.read_at(3..6).unwrap(), &b"ax\0"[..]);
        storage.allocate(4..10).unwrap();
        assert_eq!(storage.read_at(0..10).unwrap(), &b"\0\0\0ax\0\0\0\0\0"[..]);
        storage.allocate(2..4).unwrap();
        storage.allocate(20..20).unwrap();
        assert_eq!(storage.len().unwrap(), 10);
        storage.sync().unwrap();
        let mut out = [0; 2];
        storage.read_into(3, &mut out).unwrap();
        assert_eq!(&out, b"ax");
        for range in [9..11, 11..11, u64::MAX..u64::MAX] {
            assert_eq!(storage.read_at(range.clone()).unwrap_err().kind(), ErrorKind::Malformed, "{range:?}");
        }
        assert_eq!(storage.read_into(9, &mut out).unwrap_err().kind(), ErrorKind::Malformed);
    }

    #[test]
    fn files_and_memory_read_back_written_bytes_with_zeros_between() {
        contract(&WritableMemory::default());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        contract(&WritableFile::create(&path).unwrap());
        let again = WritableFile::open(&path).unwrap();
        assert_eq!(again.read_at(3..5).unwrap(), &b"ax"[..]);
        assert_eq!(WritableFile::create(&path).unwrap().len().unwrap(), 0);
        let missing = WritableFile::open(folder.path().join("no")).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::FileNotFound);
    }

    #[test]
    fn threads_write_different_bytes_of_a_file_at_the_same_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = WritableFile::create(folder.path().join("f")).unwrap();
        std::thread::scope(|scope| {
            for part in 0..8_u8 {
                let file = &file;
                scope.spawn(move || {
                    for at in 0..100 {
                        file.write_at(at * 8 + u64::from(part), &[part]).unwrap();
                    }
                });
            }
        });
        let expected: Vec<u8> = (0..100).flat_map(|_| 0..8).collect();
        assert_eq!(file.read_at(0..800).unwrap(), expected);
    }
}
