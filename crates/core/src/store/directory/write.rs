//! Writes a store in a directory. Each value is written to a temporary file in the same folder, then renamed.
//!
//! Spec: Zarr v3 "File system store"

use super::{DirectoryStore, is_nothing};
use crate::real_path::{Kind, RealFolder};
use crate::storage::{WritableFile, WriteAt};
use crate::store::{Durability, EntryKind, Key, Store, ValueWriter, WritableStore};
use crate::wrapper::Wrapper;
use crate::{Error, ErrorKind, Result};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A writable directory of files. Nothing outside of it is written: symbolic links are followed only to folders inside,
/// and a link in place of a value is replaced.
#[derive(Debug)]
pub struct DirectoryWriter {
    store: DirectoryStore,
    durability: Durability,
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
            writer.sync_folder(&RealFolder::open(folder)?)?;
        }
        Ok(writer)
    }

    /// Opens the existing directory `path` for writing. It may have any content.
    ///
    /// # Errors
    /// As [`DirectoryStore::open`].
    pub fn open(path: impl AsRef<Path>, durability: Durability) -> Result<DirectoryWriter> {
        let store = DirectoryStore::open(path)?;
        Ok(DirectoryWriter { store, durability, next: AtomicU64::new(0) })
    }

    /// Opens the existing directory at a real path for writing, without following any link to it.
    ///
    /// # Errors
    /// As [`DirectoryStore::open`], and if a part of the path is a symbolic link.
    pub fn open_real(path: impl Into<PathBuf>, durability: Durability) -> Result<DirectoryWriter> {
        let root = path.into();
        RealFolder::open(&root)?;
        Ok(DirectoryWriter { store: DirectoryStore { root }, durability, next: AtomicU64::new(0) })
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
                    EntryKind::Value
                    | EntryKind::Alias
                    | EntryKind::Refused(_)
                    | EntryKind::Unfollowed(_) => {}
                }
            }
        }
        Ok(removed)
    }

    /// The folder of `prefix`, created if it does not exist. All folders in its path are inside the store.
    fn folder(&self, prefix: &str) -> Result<RealFolder> {
        let open = |prefix: &str| self.store.at_real_path(&Key::new(prefix)?, RealFolder::open);
        if let Some((_, folder)) = open(prefix)? {
            return Ok(folder);
        }
        let mut folder = RealFolder::open(&self.store.root)?;
        let ends = prefix.match_indices('/').map(|(at, _)| at).chain([prefix.len()]);
        for outer in ends.filter_map(|end| prefix.get(..end)) {
            let (_, name) = outer.rsplit_once('/').unwrap_or(("", outer));
            folder = match open(outer)? {
                Some((_, found)) => found,
                None => self.new_folder(&folder, name, outer)?,
            };
        }
        Ok(folder)
    }

    /// The folder `name` in a folder of the store, in which no folder of this name was found.
    fn new_folder(&self, folder: &RealFolder, name: &str, prefix: &str) -> Result<RealFolder> {
        match folder.create_folder(name.as_ref()) {
            Ok(()) => self.sync_folder(folder)?,
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => match folder.kind(name.as_ref())? {
                // Another thread was faster.
                Kind::Folder => {}
                Kind::Link => return Err(Error::malformed(format!("{prefix} leads to nothing"))),
                Kind::File | Kind::Other => return Err(below_value(prefix)),
            },
            Err(e) => return Err(e.into()),
        }
        Ok(folder.folder(name.as_ref())?)
    }

    /// Creates a temporary file with a unique name in `folder`.
    fn temporary(&self, folder: &RealFolder) -> io::Result<(File, String)> {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let name = format!("{BEGINNING}{}-{number}{END}", std::process::id());
            match folder.create_file(name.as_ref()) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                created => return Ok((created?, name)),
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
    fn sync_folder(&self, folder: &RealFolder) -> io::Result<()> {
        match self.durability {
            Durability::Power => folder.sync(),
            Durability::Process => Ok(()),
        }
    }
}

impl WritableStore for DirectoryWriter {
    fn distinguishes_case(&self) -> bool {
        // If case makes no difference, the store's own folder also exists under a name in the other case.
        let named = self.store.root.ancestors().find_map(|folder| {
            let name = folder.file_name()?.to_str()?;
            let (lower, upper) = (name.to_lowercase(), name.to_uppercase());
            Some(folder.with_file_name(if lower == name { upper } else { lower }))
                .filter(|other| other != folder)
        });
        named.is_none_or(|other| fs::symlink_metadata(other).is_err())
    }

    fn put(&self, key: &Key, value: &[u8]) -> Result<()> {
        let (prefix, name) = split(key)?;
        let begin = || -> Result<_> {
            let folder = self.folder(prefix)?;
            let (file, temporary) = self.temporary(&folder)?;
            Ok((folder, file, temporary))
        };
        let (folder, file, temporary) = match begin() {
            // Another process removed a folder in the meantime.
            Err(e) if e.kind() == ErrorKind::FileNotFound => begin()?,
            begun => begun?,
        };
        let renamed = || folder.rename(temporary.as_ref(), name.as_ref());
        if let Err(e) = self.fill(file, value).and_then(|()| renamed()) {
            // Keep the first error; errors of the cleanup are ignored.
            let _ = folder.remove_file(temporary.as_ref());
            return Err(match folder.kind(name.as_ref()) {
                Ok(Kind::Folder) => Error::invalid(format!("{key} has values below it")),
                _ => e.into(),
            });
        }
        Ok(self.sync_folder(&folder)?)
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        let (prefix, name) = split(key)?;
        let found = self.store.at_real_path(&Key::new(prefix)?, RealFolder::open)?;
        let Some((_, folder)) = found else { return Ok(false) };
        match folder.kind(name.as_ref()) {
            Ok(Kind::Folder) => return Ok(false),
            Err(e) if is_nothing(&e) => return Ok(false),
            found => found?,
        };
        folder.remove_file(name.as_ref())?;
        self.sync_folder(&folder)?;
        Ok(true)
    }

    fn delete_below(&self, prefix: &Key) -> Result<()> {
        let (outer, name) = split(prefix)?;
        let found = self.store.at_real_path(&Key::new(outer)?, RealFolder::open)?;
        let Some((_, folder)) = found else { return Ok(()) };
        match folder.kind(name.as_ref()) {
            Ok(Kind::Folder) => {}
            Err(e) if !is_nothing(&e) => return Err(e.into()),
            _ => return Ok(()),
        }
        // Links in the folder are removed, never followed.
        folder.remove(name.as_ref())?;
        Ok(self.sync_folder(&folder)?)
    }

    fn writer(self: Arc<Self>, key: &Key) -> Result<Box<dyn ValueWriter>> {
        let (prefix, name) = split(key)?;
        let folder = self.folder(prefix)?;
        let file = folder.open_file(name.as_ref())?;
        if !file.metadata()?.is_file() {
            return Err(Error::invalid(format!("{key} is not a regular file")));
        }
        self.sync_folder(&folder)?;
        Ok(Box::new(FileInParts { file: file.into(), durability: self.durability }))
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }
}

/// A file that is written in parts.
struct FileInParts {
    file: WritableFile,
    durability: Durability,
}

impl ValueWriter for FileInParts {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.file.write_at(offset, bytes)
    }

    fn finish(&self, len: u64) -> Result<()> {
        self.file.set_len(len)?;
        match self.durability {
            Durability::Process => Ok(()),
            Durability::Power => self.file.sync(),
        }
    }
}

impl Wrapper for DirectoryWriter {
    type Inner = DirectoryStore;

    fn wrapped(&self) -> &DirectoryStore {
        &self.store
    }
}

/// Whether this is the name of a temporary file that a killed writer leaves behind.
pub fn is_unfinished(name: &str) -> bool {
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
