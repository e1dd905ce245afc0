//! A directory that values are put into: each is written under a temporary name beside its own, then renamed.
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

/// A directory of files that is written to, and nothing outside it: symbolic links are followed as long as they
/// lead to folders within, and those that stand where a value goes are replaced.
#[derive(Debug)]
pub struct DirectoryWriter {
    store: DirectoryStore,
    durability: Durability,
    /// Prefixes whose folders were found to be there and within.
    known: RwLock<HashSet<String>>,
    next: AtomicU64,
}

impl DirectoryWriter {
    /// Makes the directory `path`, in which the store will be.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] if anything is there; [`ErrorKind::FileNotFound`] if its folder is not.
    pub fn create(path: impl AsRef<Path>, durability: Durability) -> Result<DirectoryWriter> {
        fs::create_dir(&path)?;
        let writer = DirectoryWriter::open(path, durability)?;
        if let Some(folder) = writer.store.root.parent() {
            writer.sync_folder(folder)?;
        }
        Ok(writer)
    }

    /// Writes to the directory `path`, whatever is in it.
    ///
    /// # Errors
    /// As [`DirectoryStore::open`].
    pub fn open(path: impl AsRef<Path>, durability: Durability) -> Result<DirectoryWriter> {
        let store = DirectoryStore::open(path)?;
        Ok(DirectoryWriter { store, durability, known: RwLock::default(), next: AtomicU64::new(0) })
    }

    /// Removes what writers that were killed have left under temporary names, and tells how much. Nobody else may
    /// be writing.
    ///
    /// # Errors
    /// What the system says.
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

    /// The folder of `prefix`, made if it is not there, each on the way found to lie within the store.
    fn folder(&self, prefix: &str) -> Result<PathBuf> {
        let path = self.store.root.join(prefix);
        if self.is_known(prefix) {
            return Ok(path);
        }
        let ends = prefix.match_indices('/').map(|(at, _)| at).chain([prefix.len()]);
        for outer in ends.filter_map(|end| prefix.get(..end)).filter(|outer| !self.is_known(outer)) {
            let path = self.store.root.join(outer);
            // What is made where a folder is known to lie within the store does so too.
            match fs::create_dir(&path) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => self.check_folder(outer, &path)?,
                Err(e) => return Err(e.into()),
                Ok(()) => self.sync_folder(path.parent().unwrap_or(&self.store.root))?,
            }
            self.remember(outer);
        }
        Ok(path)
    }

    /// Whether what is there, in a folder that is known to lie within the store, is a folder within the store.
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

    /// A file in `folder` that nobody else has.
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

    /// Sees to it that names in a folder outlive the end of power.
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        match self.durability {
            // Elsewhere folders cannot be opened.
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
                // Somebody has removed a folder since.
                self.forget();
                begin()?
            }
            begun => begun?,
        };
        let target = folder.join(name);
        let written = self.fill(file, value).and_then(|()| fs::rename(&temporary, &target));
        if let Err(e) = written {
            // What matters is why it failed.
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

/// Whether a file of this name is what a writer has not finished.
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

/// Prefixes kept in memory; looking at a folder again costs less than keeping millions of names.
const MAX_KNOWN: usize = 1 << 14;
