//! Opens the file or folder at a real path, without following any link.
//!
//! Whether a file may be opened is decided by its real path: the absolute path without symbolic links. Between that
//! decision and the opening, another process can replace a folder with a link, so that the same path leads elsewhere.
//! The functions here follow no link: if one has appeared in the meantime, they return the error [`is_link`]. The
//! caller then resolves the real path again and decides again.
//!
//! Linux can refuse links while opening (`openat2`), and so can macOS (`O_NOFOLLOW_ANY`). Where Linux cannot, the path
//! is walked folder by folder. Elsewhere a path is opened and then resolved again.

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

/// How often a real path is resolved again if it has changed each time it is opened. A legitimate change of a folder
/// happens only once.
pub(crate) const ATTEMPTS: u32 = 16;

/// The kind of an entry of a folder. The target of a link is not examined.
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

/// What happens if an entry with the new name already exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moving {
    /// The existing entry is replaced.
    Replacing,
    /// No entry may have the new name.
    New,
    /// The two entries swap places atomically.
    Exchanging,
}

/// Opens a file for reading. Opening a pipe does not wait for a writer.
///
/// The caller must check whether it is a regular file, both before opening (by the path, because opening a device can
/// have side effects) and after (by the file, because it may have been replaced in the meantime).
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

/// The entries of a folder in arbitrary order, at most `at_most` of them.
///
/// # Errors
/// As [`open`].
pub(crate) fn list(path: &Path, at_most: usize) -> io::Result<Vec<(OsString, Kind)>> {
    system::list(path, at_most)
}

/// Whether an error means that a part of a path is a symbolic link that is not followed: for the functions here any
/// link, elsewhere one that is part of a cycle.
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

/// The path of a file now leads elsewhere.
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
