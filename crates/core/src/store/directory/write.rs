//! Writes a store in a directory. Each value is written to a temporary file in the same folder, then renamed.
//!
//! Spec: Zarr v3 "File system store"

use super::{DirectoryStore, is_nothing};
use crate::store::{Durability, EntryKind, Key, Store, WritableStore};
use crate::wrapper::Wrapper;
use crate::{Error, ErrorKind, Result};
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

/// A writable directory of files. Nothing outside of it is written: symbolic links are followed only to folders inside,
/// and a link in the place of a value is replaced.
#[derive(Debug)]
pub struct DirectoryWriter {
    store: DirectoryStore,
    durability: Durability,
    /// Prefixes whose folders are known to exist inside the store.
    known: RwLock<HashSet<String>>,
    next: AtomicU64,
}

impl DirectoryWriter {
    /// Creates the directory `path` for a new store.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] if `path` exists; [`ErrorKind::FileNotFound`] if its parent folder does not.
    pub fn create(path: impl AsRef<Path>, durability: Durability) -> Result<DirectoryWriter> {
        fs::create_dir(&path)?;
        let writer = DirectoryWriter::open(path, durability)?;
        if let Some(folder) = writer.store.root.parent() {
            writer.sync_folder(folder)?;
        }
        Ok(writer)
    }

    /// Opens the existing directory `path` for writing. It may have any content.
    ///
    /// # Errors
    /// As [`DirectoryStore::open`].
    pub fn open(path: impl AsRef<Path>, durability: Durability) -> Result<DirectoryWriter> {
        let store = DirectoryStore::open(path)?;
        Ok(DirectoryWriter { store, durability, known: RwLock::default(), next: AtomicU64::new(0) })
    }

    /// Removes temporary files of killed writers. Returns their number. No other writer may be active.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn remove_unfinished(&self) -> Result<u64> {
        let mut removed = 0;
        let mut left = vec![Key::root()];
        while let Some(prefix) = left.pop() {
            for entry in self.list(&prefix)? {
                match entry.kind {
                    EntryKind::Prefix => left.push(prefix.join(&entry.name)?),
                    EntryKind::Value if is_unfinished(&entry.name) => {
                        removed += u64::from(self.delete(&prefix.join(&entry.name)?)?);
                    }
                    EntryKind::Value | EntryKind::Alias | EntryKind::Refused(_) => {}
                }
            }
        }
        Ok(removed)
    }

    /// The folder of `prefix`, created if it does not exist. Checks that all folders in its path are inside the store.
    fn folder(&self, prefix: &str) -> Result<PathBuf> {
        let path = self.store.root.join(prefix);
        if self.is_known(prefix) {
            return Ok(path);
        }
        let ends = prefix.match_indices('/').map(|(at, _)| at).chain([prefix.len()]);
        for outer in ends.filter_map(|end| prefix.get(..end)).filter(|outer| !self.is_known(outer)) {
            let path = self.store.root.join(outer);
            // A new folder inside a folder of the store is inside the store, too.
            match fs::create_dir(&path) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => self.check_folder(outer, &path)?,
                Err(e) => return Err(e.into()),
                Ok(()) => self.sync_folder(path.parent().unwrap_or(&self.store.root))?,
            }
            self.remember(outer);
        }
        Ok(path)
    }

    /// Whether an existing entry, in a folder of the store, is a folder inside the store.
    fn check_folder(&self, prefix: &str, path: &Path) -> Result<()> {
        if fs::symlink_metadata(path)?.is_dir() {
            return Ok(());
        }
        match path.canonicalize() {
            Ok(real) if !real.starts_with(&self.store.root) => {
                Err(Error::malformed(format!("{prefix} leads out of the store")))
            }
            Ok(real) if real.is_dir() => Ok(()),
            Ok(_) => Err(below_value(prefix)),
            Err(e) if is_nothing(&e) => Err(Error::malformed(format!("{prefix} leads to nothing"))),
            Err(e) => Err(e.into()),
        }
    }

    fn is_known(&self, prefix: &str) -> bool {
        prefix.is_empty() || self.known.read().unwrap_or_else(PoisonError::into_inner).contains(prefix)
    }

    fn remember(&self, prefix: &str) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(prefix.to_owned());
    }

    fn forget(&self) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Creates a temporary file with a unique name in `folder`.
    fn temporary(&self, folder: &Path) -> io::Result<(File, PathBuf)> {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("{BEGINNING}{}-{number}{END}", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
                Ok(file) => return Ok((file, path)),
            }
        }
    }

    fn fill(&self, mut file: File, value: &[u8]) -> io::Result<()> {
        file.write_all(value)?;
        match self.durability {
            Durability::Process => Ok(()),
            Durability::Power => file.sync_all(),
        }
    }

    /// Syncs a folder, so that its names survive a power failure.
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        match self.durability {
            // On other systems, folders cannot be opened.
            Durability::Power if cfg!(unix) => File::open(folder)?.sync_all(),
            _ => Ok(()),
        }
    }
}

impl WritableStore for DirectoryWriter {
    fn put(&self, key: &Key, value: &[u8]) -> Result<()> {
        let (prefix, name) = split(key)?;
        let begin = || -> Result<_> {
            let folder = self.folder(prefix)?;
            let (file, temporary) = self.temporary(&folder)?;
            Ok((folder, file, temporary))
        };
        let (folder, file, temporary) = match begin() {
            Err(e) if e.kind() == ErrorKind::FileNotFound => {
                // Another process removed a folder meanwhile.
                self.forget();
                begin()?
            }
            begun => begun?,
        };
        let target = folder.join(name);
        let written = self.fill(file, value).and_then(|()| fs::rename(&temporary, &target));
        if let Err(e) = written {
            // Keep the first error; errors of the cleanup are ignored.
            let _ = fs::remove_file(&temporary);
            return Err(match target.is_dir() {
                true => Error::invalid(format!("{key} has values below it")),
                false => e.into(),
            });
        }
        Ok(self.sync_folder(&folder)?)
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        let (prefix, name) = split(key)?;
        let Some((folder, _)) = self.store.locate(&Key::new(prefix)?)? else { return Ok(false) };
        let path = folder.join(name);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => return Ok(false),
            Err(e) if is_nothing(&e) => return Ok(false),
            found => found?,
        };
        fs::remove_file(&path)?;
        self.sync_folder(&folder)?;
        Ok(true)
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }
}

impl Wrapper for DirectoryWriter {
    type Inner = DirectoryStore;

    fn wrapped(&self) -> &DirectoryStore {
        &self.store
    }
}

/// Whether this is the name of a temporary file.
pub(crate) fn is_unfinished(name: &str) -> bool {
    name.starts_with(BEGINNING) && name.ends_with(END)
}

fn split(key: &Key) -> Result<(&str, &str)> {
    match key.as_str().rsplit_once('/') {
        Some(parts) => Ok(parts),
        None if key.is_root() => Err(Error::new(ErrorKind::InvalidArgument, "the root, which has no value")),
        None => Ok(("", key.as_str())),
    }
}

fn below_value(prefix: &str) -> Error {
    Error::invalid(format!("{prefix} is a value, and has nothing below it"))
}

const BEGINNING: &str = ".hyperslab-";
const END: &str = ".partial";

/// The maximum number of prefixes in memory. Checking a folder again costs less than keeping millions of names.
const MAX_KNOWN: usize = 1 << 14;
