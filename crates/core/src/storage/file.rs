//! A local file, read by position.

use super::{ReadAt, past_end};
use crate::{Error, ErrorKind, Result};
use bytes::Bytes;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

/// A regular file opened for reading. It is not mapped: a mapping of a file that another process cuts
/// short is a signal that no check can stop.
#[derive(Debug)]
pub struct FileStorage {
    file: File,
    len: u64,
}

impl FileStorage {
    /// Opens a regular file.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`], [`ErrorKind::Io`], or [`ErrorKind::InvalidArgument`] for a directory or a device.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        // Asked before opening: opening a FIFO would wait for a writer.
        let found = std::fs::metadata(path)?;
        if found.is_dir() {
            return Err(Error::new(ErrorKind::InvalidArgument, "is a directory, not a file"));
        }
        if !found.is_file() {
            return Err(Error::new(ErrorKind::InvalidArgument, "is not a regular file"));
        }
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        Ok(FileStorage { file, len })
    }
}

impl ReadAt for FileStorage {
    fn len(&self) -> Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        let len = range.end.saturating_sub(range.start);
        if range.end > self.len || range.start > range.end {
            return Err(past_end(range.start, len, self.len));
        }
        let len = usize::try_from(len).map_err(|_| past_end(range.start, len, self.len))?;
        let mut bytes = vec![0; len];
        self.read_into(range.start, &mut bytes)?;
        Ok(bytes.into())
    }

    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let (len, mut at, mut rest) = (out.len() as u64, offset, out);
        while !rest.is_empty() {
            match read_some(&self.file, at, rest) {
                Ok(0) => return Err(past_end(offset, len, self.len)),
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
}

#[cfg(unix)]
fn read_some(file: &File, offset: u64, out: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, offset)
}

#[cfg(windows)]
fn read_some(file: &File, offset: u64, out: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_there_and_names_what_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, b"hello").unwrap();
        let file = FileStorage::open(&path).unwrap();
        assert_eq!(file.read_at(1..4).unwrap(), &b"ell"[..]);
        assert_eq!(file.read_at(5..5).unwrap().len(), 0);
        for range in [3..6, 6..6, u64::MAX..u64::MAX, 0..u64::MAX] {
            assert_eq!(file.read_at(range.clone()).unwrap_err().kind(), ErrorKind::Malformed, "{range:?}");
        }
        assert_eq!(FileStorage::open(dir.path()).unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert_eq!(FileStorage::open(dir.path().join("no")).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
