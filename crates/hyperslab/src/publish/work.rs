//! The work folder beside a target, in which the new store is written, and its lock.

use super::{in_use, named, rename, unwritable};
use hyperslab_core::real_path::{Kind, RealFolder};
use hyperslab_core::{Error, Result};
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The work folder of one run. Its lock excludes other runs.
#[derive(Debug)]
pub(super) struct Work {
    folder: PathBuf,
    /// The folder itself: if another one is put at its path meanwhile, nothing is renamed or removed in that one.
    opened: RealFolder,
    /// The lock file, locked while it is open.
    lock: File,
}

impl Work {
    /// Creates and locks the folder. If an earlier run left its folder, uses that one, and completes or undoes the
    /// renames that the earlier run did not finish.
    pub(super) fn begin(folder: PathBuf, target: &Path) -> Result<Work> {
        let (opened, lock) = lock(&folder)?;
        let work = Work { folder, opened, lock };
        work.recover(target)?;
        Ok(work)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of a file in the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The size of the files in the folder in bytes, and whether all of them were counted. The count is limited,
    /// because a user who stops a run must not have to wait.
    pub(super) fn size(&self) -> (u64, bool) {
        let (mut bytes, mut left, mut counted) = (0_u64, vec![self.folder.clone()], 0);
        while let Some(folder) = left.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                counted += 1;
                if counted > MAX_COUNTED {
                    return (bytes, false);
                }
                match entry.metadata() {
                    Ok(found) if found.is_dir() => left.push(entry.path()),
                    Ok(found) => bytes = bytes.saturating_add(found.len()),
                    Err(_) => {}
                }
            }
        }
        (bytes, true)
    }

    /// Completes or undoes the renames that a killed run did not finish.
    fn recover(&self, target: &Path) -> Result<()> {
        let (replaced, closing) = (self.path(REPLACED), self.path(CLOSING));
        if is_there(&replaced) && is_there(&self.path(STORE)) && !is_there(target) {
            // The run was killed between the two renames. The new store is complete, but this run decides whether to
            // use it.
            rename::to_new(&replaced, target)?;
            self.rename(CLOSING, JOURNAL)?;
        }
        if is_there(&closing) {
            // `store` is the old target, or cannot be distinguished from it.
            self.clear()?;
        }
        Ok(())
    }

    /// Removes everything except the lock file.
    pub(super) fn clear(&self) -> Result<()> {
        // The journal is removed first: no later run may resume a store with missing parts. `closing` is removed
        // last: it shows that `store` may be the old target.
        self.remove(JOURNAL.as_ref())?;
        for (name, _) in self.opened.list().map_err(|e| named(e, &self.folder))? {
            if name != LOCK && name != CLOSING {
                self.remove(&name)?;
            }
        }
        self.remove(CLOSING.as_ref())
    }

    fn remove(&self, name: &OsStr) -> Result<()> {
        match self.opened.remove(name) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(named(e, &self.folder.join(name))),
            _ => Ok(()),
        }
    }

    /// Gives a file in the folder another name.
    pub(super) fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.opened.rename(from.as_ref(), to.as_ref()).map_err(|e| named(e, &self.path(from)))
    }

    /// Creates a folder in the folder.
    pub(super) fn create_folder(&self, name: &str) -> Result<()> {
        self.opened.create_folder(name.as_ref()).map_err(|e| named(e, &self.path(name)))
    }

    /// Removes the folder. A run that waits for the lock then detects that the lock file was replaced.
    pub(super) fn end(&self) -> Result<()> {
        self.clear()?;
        self.opened.remove_file(LOCK.as_ref()).map_err(|e| named(e, &self.path(LOCK)))?;
        // This fails if another run already uses the folder.
        let _ = fs::remove_dir(&self.folder);
        let _ = self.lock.unlock();
        Ok(())
    }

    /// Unlocks the folder, as the end of the process would.
    #[cfg(test)]
    pub(super) fn unlock(&self) {
        self.lock.unlock().unwrap();
    }

    /// Removes the folder unless a later run can resume from it.
    pub(super) fn end_unless_resumable(&self) {
        if !is_there(&self.path(JOURNAL)) {
            // If this fails, the next run removes the rest.
            let _ = self.end();
        }
    }
}

/// The ID of the process that locked the folder, as written in the lock file.
pub(super) fn holder(folder: &Path) -> Option<u32> {
    let path = folder.join(LOCK);
    fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn lock(folder: &Path) -> Result<(RealFolder, File)> {
    let path = folder.join(LOCK);
    for _ in 0..ATTEMPTS {
        match fs::create_dir(folder) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
                return Err(unwritable(e, folder.parent().unwrap_or(folder)));
            }
            _ => {}
        }
        let opened = match RealFolder::open(folder) {
            // Another run has ended and removed the folder since.
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            // If a symbolic link were followed, files elsewhere would be removed.
            Err(_) if fs::symlink_metadata(folder).is_ok_and(|found| !found.is_dir()) => {
                return Err(Error::invalid(format!(
                    "{} is not a folder, expected the work folder of a run",
                    folder.display()
                )));
            }
            opened => opened.map_err(|e| named(e, folder))?,
        };
        let mut file = match open_lock(&opened) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            file => file.map_err(|e| named(e, &path))?,
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(folder)),
            // Some network file systems have no locks. Without this exception, nothing could be written there.
            Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(e)) => return Err(named(e, &path)),
        }
        if is_at(&file, &path) {
            // The ID is only for messages.
            let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
            return Ok((opened, file));
        }
    }
    Err(in_use(folder))
}

/// Opens or creates the lock file. No link is followed and opening never blocks, since somebody else may have put a
/// link or a pipe in its place.
fn open_lock(folder: &RealFolder) -> io::Result<File> {
    let not_a_file =
        || io::Error::new(io::ErrorKind::InvalidInput, "is not a regular file, expected a lock file");
    match folder.kind(LOCK.as_ref()) {
        Ok(found) if found != Kind::File => return Err(not_a_file()),
        _ => {}
    }
    let file = folder.open_file(LOCK.as_ref())?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(not_a_file()),
    }
}

/// Whether the open file is still the file at `path`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(ours), Ok(found)) => identity(ours) == identity(found),
        _ => false,
    }
}

/// Whether the open file is still the file at `path`, in which case it cannot be locked a second time.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    let again = File::options().write(true).open(path);
    again.is_ok_and(|again| !matches!(again.try_lock(), Ok(())))
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

pub(super) const STORE: &str = "store";
pub(super) const JOURNAL: &str = "journal";
pub(super) const CLOSING: &str = "closing";
pub(super) const SCRATCH: &str = "scratch";
pub(super) const REPLACED: &str = "replaced";
const LOCK: &str = "lock";

/// The maximum number of files whose sizes are added.
const MAX_COUNTED: u32 = 20_000;

/// The maximum number of attempts to lock. An attempt fails if another run ends at the same time.
const ATTEMPTS: u32 = 100;
