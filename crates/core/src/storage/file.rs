//! A local file with positional reads.

use super::siblings::{Unreachable, is_missing, unsteady};
use super::{Directory, ReadAt, Siblings, past_end, read_each};
use crate::real_path::{self, is_link};
use crate::{Error, ErrorKind, Result};
use bytes::Bytes;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A regular file opened for reading. It is not memory-mapped: if another process truncates a mapped file, the access
/// raises a signal that no check can prevent.
#[derive(Debug)]
pub struct FileStorage {
    file: File,
    len: u64,
    siblings: Beside,
}

/// The files beside an opened one, or why there are none.
#[derive(Clone, Debug)]
enum Beside {
    Folder(Arc<Directory>),
    Unreachable(Arc<Unreachable>),
}

impl FileStorage {
    /// Opens a regular file. Files in its folder and below that it names may also be opened.
    ///
    /// # Errors
    /// [`ErrorKind::FileNotFound`], [`ErrorKind::Io`], or [`ErrorKind::InvalidArgument`] for a directory or a device.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        FileStorage::open_allowing(path, &[])
    }

    /// Opens a regular file, with additional folders in which files that it names may be opened.
    ///
    /// # Errors
    /// As [`FileStorage::open`], and if one of the folders does not exist.
    pub fn open_allowing(path: impl AsRef<Path>, folders: &[PathBuf]) -> Result<Self> {
        let path = path.as_ref();
        // If this is not a regular file, report that first.
        check_regular(&std::fs::metadata(path)?)?;
        for _ in 0..real_path::ATTEMPTS {
            let siblings = match Directory::of(path, folders) {
                Ok(siblings) => siblings,
                // A file can be readable although its folder is not, or open although it no longer has a name.
                Err(e) if folders.is_empty() => return FileStorage::open_alone(path, &e),
                Err(e) => return Err(e),
            };
            let real = siblings.real().to_owned();
            if let Some(storage) = FileStorage::open_real(&real, Arc::new(siblings))? {
                return Ok(storage);
            }
        }
        Err(unsteady())
    }

    /// Opens the regular file at a real path. `None` if the path now contains a link, or nothing exists there.
    pub(super) fn open_real(real: &Path, siblings: Arc<Directory>) -> Result<Option<Self>> {
        let open = || {
            // Checked before opening, because opening a device can have side effects.
            let found = real_path::status(real)?;
            if !found.is_file() {
                return Ok((None, found));
            }
            let file = real_path::open(real)?;
            // Another file may have replaced it since the check.
            let found = file.metadata()?;
            Ok((Some(file), found))
        };
        let (file, found) = match open() {
            Err(e) if is_link(&e) || is_missing(&e) => return Ok(None),
            opened => opened?,
        };
        check_regular(&found)?;
        Ok(file.map(|file| FileStorage { file, len: found.len(), siblings: Beside::Folder(siblings) }))
    }

    /// Opens a regular file whose folder was not found because of `reason`.
    fn open_alone(path: &Path, reason: &Error) -> Result<Self> {
        let file = without_waiting(OpenOptions::new().read(true)).open(path)?;
        let found = file.metadata()?;
        check_regular(&found)?;
        let siblings = Beside::Unreachable(Arc::new(Unreachable::because(reason)));
        Ok(FileStorage { file, len: found.len(), siblings })
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

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        read_each(self, ranges)
    }

    fn is_far(&self) -> bool {
        false
    }

    fn siblings(&self) -> Option<Arc<dyn Siblings>> {
        Some(match &self.siblings {
            Beside::Folder(folder) => Arc::clone(folder) as Arc<dyn Siblings>,
            Beside::Unreachable(reason) => Arc::clone(reason) as Arc<dyn Siblings>,
        })
    }
}

fn check_regular(found: &std::fs::Metadata) -> Result<()> {
    if found.is_dir() {
        return Err(Error::new(ErrorKind::InvalidArgument, "is a directory, not a file"));
    }
    match found.is_file() {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::InvalidArgument, "is not a regular file")),
    }
}

/// The flag for non-blocking open. Without it, opening a FIFO waits for a writer.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let on_linux = if cfg!(any(target_arch = "mips", target_arch = "mips64")) { 0x80 } else { 0x800 };
    options.custom_flags(if cfg!(target_os = "linux") { on_linux } else { 4 })
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(unix)]
pub(super) fn read_some(file: &File, offset: u64, out: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, offset)
}

#[cfg(windows)]
pub(super) fn read_some(file: &File, offset: u64, out: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_existing_bytes_and_rejects_ranges_past_the_end() {
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
        assert_eq!(FileStorage::open(dir.path().join("no")).unwrap_err().kind(), ErrorKind::FileNotFound);
    }
}
