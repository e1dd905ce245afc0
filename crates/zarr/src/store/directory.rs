//! A directory: keys are paths of files.
//!
//! Spec: Zarr v3 "File system store"

mod write;

pub use write::DirectoryWriter;

use super::{Entry, EntryKind, Key, Store, check_most, past_end};
use bytes::Bytes;
use hyperslab_core::{Error, Result};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A directory of files.
///
/// Symbolic links are followed as long as they end within the directory. Only regular files are opened.
#[derive(Clone, Debug)]
pub struct DirectoryStore {
    /// Without symbolic links, so that it is the beginning of all paths within.
    root: PathBuf,
}

impl DirectoryStore {
    /// The store in the directory at `path`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](hyperslab_core::ErrorKind::NotFound), or
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for what is no directory.
    pub fn open(path: impl AsRef<Path>) -> Result<DirectoryStore> {
        let root = path.as_ref().canonicalize()?;
        match root.is_dir() {
            true => Ok(DirectoryStore { root }),
            false => Err(Error::invalid("is not a directory")),
        }
    }

    /// The path of what is under `key`, without symbolic links; none if there is nothing.
    fn resolve(&self, key: &Key) -> Result<Option<PathBuf>> {
        match self.root.join(key.as_str()).canonicalize() {
            Ok(path) if path.starts_with(&self.root) => Ok(Some(path)),
            Ok(_) => Err(Error::malformed(format!("{key} leads out of the store"))),
            Err(e) if is_nothing(&e) => Ok(None),
            Err(e) => Err(Error::from(e)),
        }
    }

    fn open_value(&self, key: &Key) -> Result<Option<(File, Metadata)>> {
        let Some(path) = self.resolve(key)? else { return Ok(None) };
        // Asked before opening: opening a device can have effects.
        let found = fs::metadata(&path)?;
        if found.is_dir() {
            return Ok(None);
        }
        check_regular(&found, key)?;
        let file = without_waiting(OpenOptions::new().read(true)).open(&path)?;
        // Another file may have taken its place.
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
        let path = match self.resolve(&prefix.join(name)?) {
            Ok(Some(path)) => path,
            Ok(None) => return Ok(EntryKind::Refused("leads to nothing")),
            Err(_) => return Ok(EntryKind::Refused("leads out of the store or in a circle")),
        };
        let found = fs::metadata(path)?;
        Ok(match (found.is_dir(), found.is_file()) {
            (true, _) => EntryKind::Alias,
            (_, true) => EntryKind::Value,
            _ => EntryKind::Refused("is not a regular file"),
        })
    }
}

impl Store for DirectoryStore {
    fn size(&self, key: &Key) -> Result<Option<u64>> {
        let Some(path) = self.resolve(key)? else { return Ok(None) };
        let found = fs::metadata(path)?;
        Ok(found.is_file().then_some(found.len()))
    }

    fn read(&self, key: &Key, most: u64) -> Result<Option<Bytes>> {
        let Some((mut file, found)) = self.open_value(key)? else { return Ok(None) };
        check_most(found.len(), most, key)?;
        read_exactly(&mut file, found.len()).map(Some)
    }

    fn read_range(&self, key: &Key, range: Range<u64>) -> Result<Option<Bytes>> {
        let Some((mut file, found)) = self.open_value(key)? else { return Ok(None) };
        let Some(len) = range.end.checked_sub(range.start).filter(|_| range.end <= found.len()) else {
            return Err(past_end(&range, found.len(), key));
        };
        file.seek(SeekFrom::Start(range.start))?;
        read_exactly(&mut file, len).map(Some)
    }

    fn list(&self, prefix: &Key) -> Result<Vec<Entry>> {
        let Some(path) = self.resolve(prefix)? else { return Ok(Vec::new()) };
        let items = match fs::read_dir(path) {
            Ok(items) => items,
            Err(e) if is_nothing(&e) => return Ok(Vec::new()),
            Err(e) => return Err(e.into()),
        };
        let mut entries = Vec::new();
        for item in items {
            let item = item?;
            let (name, kind) = match item.file_name().into_string() {
                Ok(name) => (name, self.kind(prefix, &item)?),
                Err(name) => (name.to_string_lossy().into_owned(), EntryKind::Refused(NOT_UNICODE)),
            };
            entries.push(Entry { name, kind });
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }
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

fn read_exactly(file: &mut File, len: u64) -> Result<Bytes> {
    let len = usize::try_from(len).map_err(|_| Error::malformed(format!("a value of {len} bytes")))?;
    let mut bytes = vec![0; len];
    file.read_exact(&mut bytes)?;
    Ok(bytes.into())
}

/// Opening a FIFO waits for a writer unless told not to.
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

const NOT_UNICODE: &str = "has a name that is not Unicode";
