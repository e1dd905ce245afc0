//! The folder beside a target in which it is made, and its lock.

use super::{in_use, named};
use hyperslab_core::{Error, Result};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder that this run alone works in.
#[derive(Debug)]
pub(super) struct Work {
    folder: PathBuf,
    /// Locked as long as it is open.
    lock: File,
}

impl Work {
    /// Makes the folder or takes over what a run has left there, and repairs what that run was killed in.
    pub(super) fn begin(folder: PathBuf, target: &Path) -> Result<Work> {
        let lock = lock(&folder)?;
        let work = Work { folder, lock };
        work.recover(target)?;
        Ok(work)
    }

    /// The folder itself.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What has this name in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Puts the names in order that a run was about to change when it was killed.
    fn recover(&self, target: &Path) -> Result<()> {
        let (replaced, closing) = (self.path(REPLACED), self.path(CLOSING));
        if is_there(&replaced) && is_there(&self.path(STORE)) && !is_there(target) {
            // Killed between the two renames. The store is whole, but whoever comes now decides anew.
            fs::rename(&replaced, target).map_err(|e| named(e, target))?;
            fs::rename(&closing, self.path(JOURNAL)).map_err(|e| named(e, &closing))?;
        }
        if is_there(&closing) {
            // What is left is the old target, or a store that nobody can tell from it.
            self.clear()?;
        }
        Ok(())
    }

    /// Removes everything but the lock.
    pub(super) fn clear(&self) -> Result<()> {
        // The journal first, so that nothing goes on from half of what it tells; and what says that there is an old
        // target last.
        let remove = |path: &Path| remove(path).map_err(|e| named(e, path));
        remove(&self.path(JOURNAL))?;
        let entries = fs::read_dir(&self.folder).map_err(|e| named(e, &self.folder))?;
        for entry in entries {
            let entry = entry.map_err(|e| named(e, &self.folder))?;
            if entry.file_name() != LOCK && entry.file_name() != CLOSING {
                remove(&entry.path())?;
            }
        }
        remove(&self.path(CLOSING))
    }

    /// Removes everything. Who waits for the lock finds that the file is another one.
    pub(super) fn end(&self) -> Result<()> {
        self.clear()?;
        let lock = self.path(LOCK);
        fs::remove_file(&lock).map_err(|e| named(e, &lock))?;
        // Another run may be at work in it already.
        let _ = fs::remove_dir(&self.folder);
        let _ = self.lock.unlock();
        Ok(())
    }

    /// Lets go of the lock as the end of the process does.
    #[cfg(test)]
    pub(super) fn let_go(&self) {
        self.lock.unlock().unwrap();
    }

    /// Removes everything unless it is what a run can go on from.
    pub(super) fn end_unless_resumable(&self) {
        if !is_there(&self.path(JOURNAL)) {
            // The next run removes what cannot be removed now.
            let _ = self.end();
        }
    }
}

/// The process that works in a folder, as it says itself.
pub(super) fn holder(folder: &Path) -> Option<u32> {
    fs::read_to_string(folder.join(LOCK)).ok()?.trim().parse().ok()
}

fn lock(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    for _ in 0..ATTEMPTS {
        match fs::create_dir(folder) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
                return Err(named(e, folder.parent().unwrap_or(folder)));
            }
            // Through a link, what lies elsewhere would be removed.
            Err(_) if fs::symlink_metadata(folder).is_ok_and(|found| !found.is_dir()) => {
                return Err(Error::invalid(format!("{} stands where it is to be made", folder.display())));
            }
            _ => {}
        }
        let mut file = match OpenOptions::new().create(true).truncate(false).write(true).open(&path) {
            // Removed by a run that has ended meanwhile.
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            opened => opened.map_err(|e| named(e, &path))?,
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(folder)),
            // Some network file systems have no locks; nothing could ever be written there.
            Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(e)) => return Err(named(e, &path)),
        }
        if is_at(&file, &path) {
            // For people who wonder who it is.
            let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
            return Ok(file);
        }
    }
    Err(in_use(folder))
}

/// Whether the file has this name still.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(found)) => identity(ours) == identity(found),
        _ => false,
    }
}

/// Whether the file has this name still: then it cannot be locked a second time.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    let again = OpenOptions::new().write(true).open(path);
    again.is_ok_and(|again| !matches!(again.try_lock(), Ok(())))
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(e) => Err(e),
    };
    match removed {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

pub(super) const STORE: &str = "store";
pub(super) const JOURNAL: &str = "journal";
pub(super) const CLOSING: &str = "closing";
pub(super) const SCRATCH: &str = "scratch";
pub(super) const REPLACED: &str = "replaced";
const LOCK: &str = "lock";

/// Each one lost means that another run has ended just now.
const ATTEMPTS: u32 = 100;
