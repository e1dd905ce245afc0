//! Renames a store to the target, in one step if the system supports it, and syncs files to the disk.

use super::named;
use hyperslab_core::real_path::{Moving, RealFolder};
use hyperslab_core::{Error, ErrorKind, Result};
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Renames `from` to `to`, where nothing may exist.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if `to` exists now.
pub(super) fn to_new(from: &Path, to: &Path) -> Result<()> {
    match moved(from, to, Moving::New) {
        Ok(true) => Ok(()),
        // The system needs two steps here. A file that is created between them is lost.
        Ok(false) if fs::symlink_metadata(to).is_ok() => {
            Err(Error::new(ErrorKind::AlreadyExists, "was created in the meantime"))
        }
        Ok(false) => moved(from, to, Moving::Replacing).map(drop).map_err(|e| named(e, to)),
        Err(e) => Err(named(e, to)),
    }
}

/// Renames `from` to `to`, which exists. The old `to` is then at `from` or at `beside`.
///
/// # Errors
/// A system error; both then have their old names.
pub(super) fn over(from: &Path, to: &Path, beside: &Path) -> Result<()> {
    match moved(from, to, Moving::Exchanging).map_err(|e| named(e, to))? {
        true => Ok(()),
        false => over_in_two_steps(from, to, beside, || {}),
    }
}

/// As [`over`], for systems that cannot exchange two names. If the process is killed at `between`, nothing is at `to`,
/// and the next run renames `beside` back.
pub(super) fn over_in_two_steps(from: &Path, to: &Path, beside: &Path, between: impl FnOnce()) -> Result<()> {
    let replace = |from: &Path, to: &Path| moved(from, to, Moving::Replacing).map(drop);
    // Every system can replace a file with a file in one step.
    if from.is_file() && to.is_file() {
        return replace(from, to).map_err(|e| named(e, to));
    }
    replace(to, beside).map_err(|e| named(e, to))?;
    between();
    replace(from, to).map_err(|e| {
        let _ = replace(beside, to);
        named(e, to)
    })
}

/// Moves the file or folder at one real path to another one. Returns whether the system supports this way of moving.
fn moved(from: &Path, to: &Path, how: Moving) -> io::Result<bool> {
    let ((from, name), (to, new)) = (RealFolder::around(from)?, RealFolder::around(to)?);
    from.move_to(name, &to, new, how)
}

/// Waits until a file, or a directory with all files in it, is on disk.
pub(super) fn sync_all(path: &Path) -> Result<()> {
    if let Some(done) = sync_file_system(path) {
        return done.map_err(|e| named(e, path));
    }
    let mut left = vec![path.to_path_buf()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
            left.extend(entries.map_err(|e| named(e, &path))?.iter().map(fs::DirEntry::path));
            sync_folder(&path)?;
        } else {
            // Some systems can sync a file only if it was opened for writing.
            let file = File::options().write(true).open(&path);
            file.and_then(|file| file.sync_all()).map_err(|e| named(e, &path))?;
        }
    }
    Ok(())
}

/// Waits until the names in a folder are on disk.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    // Only Unix can open a folder.
    match cfg!(unix) {
        true => File::open(folder).and_then(|file| file.sync_all()).map_err(|e| named(e, folder)),
        false => Ok(()),
    }
}

/// Syncs the whole file system of `path`; `None` if the system cannot do this.
#[cfg(target_os = "linux")]
pub(super) fn sync_file_system(path: &Path) -> Option<io::Result<()>> {
    Some(File::open(path).and_then(|file| Ok(rustix::fs::syncfs(file)?)))
}

/// `None`: only Linux can sync one file system.
#[cfg(not(target_os = "linux"))]
pub(super) fn sync_file_system(_: &Path) -> Option<io::Result<()>> {
    None
}
