//! What makes a store the target: one change of names where the system has it.

use super::named;
use hyperslab_core::{Error, ErrorKind, Result};
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Gives `from` a name that nothing has.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if something has it by now.
pub(super) fn to_new(from: &Path, to: &Path) -> Result<()> {
    match without_replacing(from, to) {
        Some(done) => done.map_err(|e| named(e, to)),
        // Two steps where one is not to be had: a file that comes between them is lost.
        None if fs::symlink_metadata(to).is_ok() => {
            Err(Error::new(ErrorKind::AlreadyExists, "exists by now"))
        }
        None => fs::rename(from, to).map_err(|e| named(e, to)),
    }
}

/// Gives `from` the name `to`, which something has; that is then called `from` or `beside`.
///
/// # Errors
/// What the system says; everything has its old name then.
pub(super) fn over(from: &Path, to: &Path, beside: &Path) -> Result<()> {
    match exchanged(from, to) {
        Some(done) => done.map_err(|e| named(e, to)),
        None => over_in_two_steps(from, to, beside, || {}),
    }
}

/// The same where the system cannot exchange names. Whoever is killed `between` leaves nothing at `to`, and the
/// next run puts `beside` back.
pub(super) fn over_in_two_steps(from: &Path, to: &Path, beside: &Path, between: impl FnOnce()) -> Result<()> {
    // One file takes the place of another in one step everywhere.
    if from.is_file() && to.is_file() {
        return fs::rename(from, to).map_err(|e| named(e, to));
    }
    fs::rename(to, beside).map_err(|e| named(e, to))?;
    between();
    fs::rename(from, to).map_err(|e| {
        let _ = fs::rename(beside, to);
        named(e, to)
    })
}

/// Waits until a file, or a directory with all files in it, is on the disk.
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
            // Systems that have no other way want it opened for writing.
            let file = File::options().write(true).open(&path);
            file.and_then(|file| file.sync_all()).map_err(|e| named(e, &path))?;
        }
    }
    Ok(())
}

/// Waits until the names in a folder are on the disk.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    // Elsewhere folders cannot be opened.
    match cfg!(unix) {
        true => File::open(folder).and_then(|file| file.sync_all()).map_err(|e| named(e, folder)),
        false => Ok(()),
    }
}

/// Waits until the file system that `path` is on is on the disk; none if that cannot be had here.
#[cfg(target_os = "linux")]
pub(super) fn sync_file_system(path: &Path) -> Option<io::Result<()>> {
    Some(File::open(path).and_then(|file| Ok(rustix::fs::syncfs(file)?)))
}

/// As there is nothing to ask for.
#[cfg(not(target_os = "linux"))]
pub(super) fn sync_file_system(_: &Path) -> Option<io::Result<()>> {
    None
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn without_replacing(from: &Path, to: &Path) -> Option<io::Result<()>> {
    flagged(from, to, rustix::fs::RenameFlags::NOREPLACE)
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchanged(from: &Path, to: &Path) -> Option<io::Result<()>> {
    flagged(from, to, rustix::fs::RenameFlags::EXCHANGE)
}

/// None where the system or the file system does not know the flag.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn flagged(from: &Path, to: &Path, flag: rustix::fs::RenameFlags) -> Option<io::Result<()>> {
    use rustix::{fs::CWD, io::Errno};
    match rustix::fs::renameat_with(CWD, from, CWD, to, flag) {
        Ok(()) => Some(Ok(())),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => None,
        Err(e) => Some(Err(e.into())),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn without_replacing(_: &Path, _: &Path) -> Option<io::Result<()>> {
    None
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchanged(_: &Path, _: &Path) -> Option<io::Result<()>> {
    None
}
