//! A directory as a store: keys are paths of files.
//!
//! Spec: Zarr v3 "File system store"

mod write;

pub use write::DirectoryWriter;

use super::{Entry, EntryKind, Key, Store, Value, check_size, past_end, read_each};
use crate::{Error, Result};
use bytes::Bytes;
use std::collections::HashSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// A directory of files.
///
/// Symbolic links are followed if their target is inside the directory. Only regular files are opened.
#[derive(Clone, Debug)]
pub struct DirectoryStore {
    /// The real path, without symbolic links, so that it is a prefix of all paths inside.
    root: PathBuf,
    /// Prefixes that are known to be directories without symbolic links in their path. Resolving the path for every value
    /// would take longer than reading the value.
    plain: Arc<RwLock<HashSet<String>>>,
}

impl DirectoryStore {
    /// The store in the directory at `path`.
    ///
    /// # Errors
    /// [`ErrorKind::FileNotFound`](crate::ErrorKind::FileNotFound), or
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if `path` is not a directory.
    pub fn open(path: impl AsRef<Path>) -> Result<DirectoryStore> {
        let root = path.as_ref().canonicalize()?;
        match root.is_dir() {
            true => Ok(DirectoryStore { root, plain: Arc::default() }),
            false => Err(Error::invalid("is not a directory")),
        }
    }

    /// The real path of `key` and its metadata. `None` if it does not exist.
    fn locate(&self, key: &Key) -> Result<Option<(PathBuf, Metadata)>> {
        let path = self.root.join(key.as_str());
        let (parent, _) = key.as_str().rsplit_once('/').unwrap_or_default();
        if self.is_plain(parent) {
            match fs::symlink_metadata(&path) {
                Ok(found) if !found.is_symlink() => return Ok(Some((path, found))),
                Ok(_) => {}
                Err(e) if is_nothing(&e) => return Ok(None),
                Err(e) => return Err(e.into()),
            }
        }
        match path.canonicalize() {
            Ok(path) if path.starts_with(&self.root) => {
                let found = fs::metadata(&path)?;
                Ok(Some((path, found)))
            }
            Ok(_) => Err(Error::malformed(format!("{key} leads out of the store"))),
            Err(e) if is_nothing(&e) => Ok(None),
            Err(e) => Err(Error::from(e)),
        }
    }

    /// Whether `prefix` is a directory without symbolic links in its path.
    fn is_plain(&self, prefix: &str) -> bool {
        let is_known = |prefix: &str| {
            prefix.is_empty() || self.plain.read().unwrap_or_else(PoisonError::into_inner).contains(prefix)
        };
        if is_known(prefix) {
            return true;
        }
        let ends = prefix.match_indices('/').map(|(at, _)| at).chain([prefix.len()]);
        for part in ends.filter_map(|end| prefix.get(..end)) {
            if is_known(part) {
                continue;
            }
            if !fs::symlink_metadata(self.root.join(part)).is_ok_and(|found| found.is_dir()) {
                return false;
            }
            self.note_plain(part.to_owned());
        }
        true
    }

    fn note_plain(&self, prefix: String) {
        let mut plain = self.plain.write().unwrap_or_else(PoisonError::into_inner);
        if plain.len() >= MAX_PLAIN {
            plain.clear();
        }
        plain.insert(prefix);
    }

    fn open_value(&self, key: &Key) -> Result<Option<(File, Metadata)>> {
        // Checked before opening, because opening a device can have side effects.
        let Some((path, found)) = self.locate(key)? else { return Ok(None) };
        if found.is_dir() {
            return Ok(None);
        }
        check_regular(&found, key)?;
        let file = without_waiting(OpenOptions::new().read(true)).open(&path)?;
        // Another file may have replaced it since the check.
        let found = file.metadata()?;
        check_regular(&found, key)?;
        Ok(Some((file, found)))
    }

    fn kind(&self, prefix: &Key, entry: &fs::DirEntry) -> Result<EntryKind> {
        let found = entry.file_type()?;
        if found.is_file() {
            return Ok(EntryKind::Value);
        }
        if found.is_dir() {
            return Ok(EntryKind::Prefix);
        }
        if !found.is_symlink() {
            return Ok(EntryKind::Refused("is not a regular file"));
        }
        let name = entry.file_name();
        let Some(name) = name.to_str() else { return Ok(EntryKind::Refused(NOT_UNICODE)) };
        let found = match self.locate(&prefix.join(name)?) {
            Ok(Some((_, found))) => found,
            Ok(None) => return Ok(EntryKind::Refused("leads to nothing")),
            Err(_) => return Ok(EntryKind::Refused("leads out of the store or in a circle")),
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

    fn list(&self, prefix: &Key) -> Result<Vec<Entry>> {
        let Some((path, _)) = self.locate(prefix)? else { return Ok(Vec::new()) };
        let items = match fs::read_dir(path) {
            Ok(items) => items,
            Err(e) if is_nothing(&e) => return Ok(Vec::new()),
            Err(e) => return Err(e.into()),
        };
        let is_plain = self.is_plain(prefix.as_str());
        let mut entries = Vec::new();
        for item in items {
            let item = item?;
            let (name, kind) = match item.file_name().into_string() {
                Ok(name) => (name, self.kind(prefix, &item)?),
                Err(name) => (name.to_string_lossy().into_owned(), EntryKind::Refused(NOT_UNICODE)),
            };
            if is_plain && kind == EntryKind::Prefix {
                self.note_plain(prefix.join(&name)?.as_str().to_owned());
            }
            entries.push(Entry { name, kind });
        }
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

fn is_nothing(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
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

/// The maximum number of prefixes in memory.
const MAX_PLAIN: usize = 1 << 16;

const NOT_UNICODE: &str = "has a name that is not Unicode";
