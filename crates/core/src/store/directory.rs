//! A directory as a store: keys are paths of files.
//!
//! Spec: Zarr v3 "File system store"

mod write;

pub use write::{DirectoryWriter, is_unfinished};

use super::{Entry, EntryKind, Key, Store, Value, check_size, past_end, read_each};
use crate::real_path::{self, Kind, is_link};
use crate::{Error, ErrorKind, Result};
use bytes::Bytes;
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A directory of files.
///
/// Symbolic links are followed if their target is inside the directory. Only regular files are opened.
#[derive(Clone, Debug)]
pub struct DirectoryStore {
    /// The real path, without symbolic links, so that it is a prefix of all real paths inside.
    root: PathBuf,
}

impl DirectoryStore {
    /// The store in the directory at `path`.
    ///
    /// # Errors
    /// [`ErrorKind::FileNotFound`](crate::ErrorKind::FileNotFound), or
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if `path` is not a directory.
    pub fn open(path: impl AsRef<Path>) -> Result<DirectoryStore> {
        let root = path.as_ref().canonicalize()?;
        match fs::metadata(&root)?.is_dir() {
            true => Ok(DirectoryStore { root }),
            false => Err(Error::invalid("is not a directory")),
        }
    }

    /// Calls `open` with the real path of `key`, and returns both. `None` if nothing exists there.
    ///
    /// The path of the key is nearly always real, and only `open` finds out: resolving it for every value would take
    /// longer than reading the value. `open` must therefore refuse links, as all functions of [`real_path`] do.
    fn at_real_path<T>(
        &self,
        key: &Key,
        open: impl Fn(&Path) -> io::Result<T>,
    ) -> Result<Option<(PathBuf, T)>> {
        let path = self.root.join(key.as_str());
        let mut real = path.clone();
        for attempt in 0..real_path::ATTEMPTS {
            match open(&real) {
                Ok(found) => return Ok(Some((real, found))),
                Err(e) if is_link(&e) => {}
                Err(e) if is_nothing(&e) && attempt == 0 => return Ok(None),
                // It existed when its path was resolved.
                Err(e) if is_nothing(&e) => {}
                Err(e) => return Err(e.into()),
            }
            real = match path.canonicalize() {
                Ok(real) if real.starts_with(&self.root) => real,
                Ok(_) => return Err(Error::malformed(format!("{key} leads out of the store"))),
                Err(e) if is_nothing(&e) => return Ok(None),
                Err(e) if is_link(&e) => {
                    return Err(Error::malformed(format!("{key} is part of a cycle of symbolic links")));
                }
                Err(e) => return Err(e.into()),
            };
        }
        let detail = format!(
            "{key} points to a different file each time it is opened: symbolic links in its path keep changing"
        );
        Err(Error::new(ErrorKind::Io, detail))
    }

    /// The real path of `key` and its metadata. `None` if it does not exist.
    fn locate(&self, key: &Key) -> Result<Option<(PathBuf, Metadata)>> {
        self.at_real_path(key, real_path::status)
    }

    fn open_value(&self, key: &Key) -> Result<Option<(File, Metadata)>> {
        let open = |path: &Path| {
            // Checked before opening, because opening a device can have side effects.
            if !fs::symlink_metadata(path)?.is_file() {
                let found = real_path::status(path)?;
                // It was a link a moment ago: the next attempt opens it.
                return if found.is_file() { Err(real_path::link()) } else { Ok((None, found)) };
            }
            let file = real_path::open(path)?;
            // Another file may have replaced it since the check.
            let found = file.metadata()?;
            Ok((Some(file), found))
        };
        let Some((_, (file, found))) = self.at_real_path(key, open)? else { return Ok(None) };
        if found.is_dir() {
            return Ok(None);
        }
        check_regular(&found, key)?;
        Ok(file.map(|file| (file, found)))
    }

    fn kind(&self, prefix: &Key, name: &str, kind: Kind) -> Result<EntryKind> {
        match kind {
            Kind::File => return Ok(EntryKind::Value),
            Kind::Folder => return Ok(EntryKind::Prefix),
            Kind::Other => return Ok(EntryKind::Refused("is not a regular file")),
            Kind::Link => {}
        }
        let found = match self.locate(&prefix.join(name)?) {
            Ok(Some((_, found))) => found,
            Ok(None) => return Ok(EntryKind::Unfollowed("leads to nothing")),
            Err(e) if e.kind() == ErrorKind::Malformed => {
                return Ok(EntryKind::Unfollowed("leads out of the store or in a circle"));
            }
            // Without permission nothing more can be found out, and the other entries can still be read.
            Err(e) if is_denied(&e) => return Ok(EntryKind::Unfollowed("leads where access is denied")),
            Err(e) => return Err(e),
        };
        Ok(match (found.is_dir(), found.is_file()) {
            (true, _) => EntryKind::Alias,
            (_, true) => EntryKind::Value,
            _ => EntryKind::Refused("is not a regular file"),
        })
    }
}

impl Store for DirectoryStore {
    fn size(&self, key: &Key) -> Result<Option<u64>> {
        let found = self.locate(key)?;
        Ok(found.filter(|(_, found)| found.is_file()).map(|(_, found)| found.len()))
    }

    fn read(&self, key: &Key, max_bytes: u64) -> Result<Option<Bytes>> {
        let Some((file, found)) = self.open_value(key)? else { return Ok(None) };
        check_size(found.len(), max_bytes, key)?;
        OpenFile { file, size: found.len(), key }.part(0..found.len()).map(Some)
    }

    fn read_ranges(&self, key: &Key, ranges: &[Range<u64>]) -> Result<Option<Vec<Bytes>>> {
        let Some((file, found)) = self.open_value(key)? else { return Ok(None) };
        OpenFile { file, size: found.len(), key }.parts(ranges).map(Some)
    }

    fn read_many(&self, keys: &[Key], max_bytes: u64) -> Vec<Result<Option<Bytes>>> {
        read_each(self, keys, max_bytes)
    }

    fn is_far(&self) -> bool {
        false
    }

    fn find<'a>(&'a self, key: &'a Key) -> Result<Option<Box<dyn Value + 'a>>> {
        let Some((file, found)) = self.open_value(key)? else { return Ok(None) };
        Ok(Some(Box::new(OpenFile { file, size: found.len(), key })))
    }

    fn resolve(&self, key: &Key) -> Result<Option<Key>> {
        let Some((path, _)) = self.locate(key)? else { return Ok(None) };
        let inner = path.strip_prefix(&self.root).ok().and_then(Path::to_str);
        let inner = inner.ok_or_else(|| Error::malformed(format!("{key} {NOT_UNICODE}")))?;
        Key::new(&inner.replace(std::path::MAIN_SEPARATOR, "/")).map(Some)
    }

    fn real_path(&self) -> Option<&Path> {
        Some(&self.root)
    }

    fn list(&self, prefix: &Key) -> Result<Vec<Entry>> {
        let list = |path: &Path| real_path::list(path, usize::MAX);
        let Some((_, items)) = self.at_real_path(prefix, list)? else { return Ok(Vec::new()) };
        let entry = |(name, kind): (OsString, Kind)| {
            Ok(match name.into_string() {
                Ok(name) => Entry { kind: self.kind(prefix, &name, kind)?, name },
                Err(name) => {
                    // A file with such a name is neither a document nor a chunk.
                    let kind = match kind {
                        Kind::File | Kind::Other => EntryKind::Refused(NOT_UNICODE),
                        Kind::Folder | Kind::Link => EntryKind::Unfollowed(NOT_UNICODE),
                    };
                    Entry { name: name.to_string_lossy().into_owned(), kind }
                }
            })
        };
        let mut entries = items.into_iter().map(entry).collect::<Result<Vec<_>>>()?;
        entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }
}

/// A value whose file is open.
struct OpenFile<'a> {
    file: File,
    size: u64,
    key: &'a Key,
}

impl Value for OpenFile<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn parts(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        ranges.iter().map(|range| self.part(range.clone())).collect()
    }

    fn part(&self, range: Range<u64>) -> Result<Bytes> {
        let len = range.end.checked_sub(range.start).filter(|_| range.end <= self.size);
        let len = len.ok_or_else(|| past_end(&range, self.size, self.key))?;
        let len = usize::try_from(len).map_err(|_| Error::malformed(format!("a value of {len} bytes")))?;
        let mut bytes = vec![0; len];
        self.read(range.start, &mut bytes)?;
        Ok(bytes.into())
    }

    fn read(&self, start: u64, out: &mut [u8]) -> Result<()> {
        let end = start.saturating_add(out.len() as u64);
        if end > self.size {
            return Err(past_end(&(start..end), self.size, self.key));
        }
        Ok(read_exact_at(&self.file, start, out)?)
    }

    fn has_cheap_parts(&self) -> bool {
        true
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, start: u64, out: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, start)
}

#[cfg(not(unix))]
fn read_exact_at(mut file: &File, start: u64, out: &mut [u8]) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(out)
}

fn check_regular(found: &Metadata, key: &Key) -> Result<()> {
    match found.is_file() {
        true => Ok(()),
        false => Err(Error::malformed(format!("{key} is not a regular file"))),
    }
}

fn is_denied(e: &Error) -> bool {
    let cause = std::error::Error::source(e).and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::PermissionDenied)
}

fn is_nothing(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

const NOT_UNICODE: &str = "has a name that is not Unicode";
