//! Opens what lies at a real path, and nothing else.
//!
//! Whether a file may be opened is decided by its real path: the absolute one without symbolic links. Between that
//! decision and the opening, another process can put a link in the place of a folder, and the same path leads elsewhere.
//! What is opened here is reached without following any link: if there is one meanwhile, the error [`is_link`]. The caller
//! then finds the real path again and decides again.
//!
//! Linux refuses links at the opening itself (`openat2`); where it cannot, the path is walked from folder to folder, and so
//! it does on macOS (`O_NOFOLLOW_ANY`). Elsewhere a path is opened and afterwards resolved again.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(test)]
mod tests;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use other as system;

pub use system::RealFolder;

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// How often a real path is looked for again if it is another one whenever it is opened. Who changes a folder in earnest
/// does it once.
pub(crate) const ATTEMPTS: u32 = 16;

/// What an entry of a folder is; the target of a link is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A device, a pipe or a socket.
    Other,
}

/// What becomes of an entry that has the name which another one gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moving {
    /// It is replaced.
    Replacing,
    /// There may be none.
    New,
    /// It gets the place of the other one, in the same step.
    Exchanging,
}

/// Opens a file for reading. Opening a pipe does not wait for a writer.
///
/// Whether it is a regular file is the caller's to ask, before (of the path, because opening a device can have side
/// effects) and after (of the file, because another one may be there meanwhile).
///
/// # Errors
/// [`is_link`], and errors of the system.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    system::open(path)
}

/// What is at the path, without opening it.
///
/// # Errors
/// As [`open`].
pub(crate) fn status(path: &Path) -> io::Result<Metadata> {
    system::status(path)
}

/// The entries of a folder in no order, at most so many of them.
///
/// # Errors
/// As [`open`].
pub(crate) fn list(path: &Path, at_most: usize) -> io::Result<Vec<(OsString, Kind)>> {
    system::list(path, at_most)
}

/// Whether an error says that a part of a path is a symbolic link that is not followed: here any one, elsewhere one of a
/// circle.
pub fn is_link(e: &io::Error) -> bool {
    #[cfg(unix)]
    let is_named = e.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    #[cfg(not(unix))]
    let is_named = e.get_ref().is_some_and(|e| e.is::<Moved>());
    is_named
}

/// The error [`is_link`].
pub(crate) fn link() -> io::Error {
    #[cfg(unix)]
    return rustix::io::Errno::LOOP.into();
    #[cfg(not(unix))]
    io::Error::other(Moved)
}

/// The path of a file leads elsewhere than before.
#[cfg(not(unix))]
#[derive(Debug)]
struct Moved;

#[cfg(not(unix))]
impl std::fmt::Display for Moved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a part of the path is a symbolic link")
    }
}

#[cfg(not(unix))]
impl std::error::Error for Moved {}
