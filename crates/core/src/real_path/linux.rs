//! Real paths on Linux, by file handles.

use super::{Kind, Moving, link};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags, renameat, renameat_with,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

pub(super) fn open(path: &Path) -> io::Result<File> {
    Ok(File::from(handle(path, READING)?))
}

pub(super) fn status(path: &Path) -> io::Result<Metadata> {
    let found = File::from(handle(path, OFlags::PATH)?).metadata()?;
    if found.is_symlink() { Err(link()) } else { Ok(found) }
}

pub(super) fn list(path: &Path, at_most: usize) -> io::Result<Vec<(OsString, Kind)>> {
    entries(handle(path, READING | OFlags::DIRECTORY)?, at_most)
}

/// An opened folder. Its entries are created, renamed and removed in this folder, even if its path leads elsewhere by
/// now.
#[derive(Debug)]
pub struct RealFolder(OwnedFd);

impl RealFolder {
    /// Opens the folder at a real path.
    ///
    /// # Errors
    /// [`is_link`](super::is_link), and errors of the system.
    pub fn open(path: &Path) -> io::Result<RealFolder> {
        Ok(RealFolder(handle(path, OFlags::PATH | OFlags::DIRECTORY)?))
    }

    /// The folder of the entry at a real path, and the name of the entry.
    ///
    /// # Errors
    /// As [`RealFolder::open`].
    pub fn around(path: &Path) -> io::Result<(RealFolder, &OsStr)> {
        match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => Ok((RealFolder::open(folder)?, name)),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Creates a file for reading and writing. No entry of this name may exist.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn create_file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.0, name, flags, Mode::from_raw_mode(0o666))?))
    }

    /// Opens a file for reading and writing, or creates it. An existing entry may be something other than a regular
    /// file.
    ///
    /// # Errors
    /// Errors of the system, including the case that it is a link.
    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let mode = Mode::from_raw_mode(0o666);
        Ok(File::from(rustix::fs::openat(&self.0, name, flags | OFlags::CLOEXEC, mode)?))
    }

    /// Creates a folder. No entry of this name may exist.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777))?)
    }

    /// Opens a folder in this one.
    ///
    /// # Errors
    /// Errors of the system, including the case that it is a link.
    pub fn folder(&self, name: &OsStr) -> io::Result<RealFolder> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(RealFolder(rustix::fs::openat(&self.0, name, flags, Mode::empty())?))
    }

    /// The kind of an entry.
    ///
    /// # Errors
    /// Errors of the system, including the case that it does not exist.
    pub fn kind(&self, name: &OsStr) -> io::Result<Kind> {
        kind_in(self.0.as_fd(), name)
    }

    /// The entries in arbitrary order.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn list(&self) -> io::Result<Vec<(OsString, Kind)>> {
        let flags = READING | OFlags::DIRECTORY | OFlags::CLOEXEC;
        entries(rustix::fs::openat(&self.0, c".", flags, Mode::empty())?, usize::MAX)
    }

    /// Renames an entry. An existing entry with the new name is replaced.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.move_to(from, self, to, Moving::Replacing).map(drop)
    }

    /// Moves an entry to a folder under a name. Returns false if the system does not support this kind of move; it
    /// always supports [`Moving::Replacing`].
    ///
    /// # Errors
    /// Errors of the system.
    pub fn move_to(&self, from: &OsStr, to: &RealFolder, name: &OsStr, how: Moving) -> io::Result<bool> {
        let moved = match how {
            Moving::Replacing => renameat(&self.0, from, &to.0, name),
            Moving::New => renameat_with(&self.0, from, &to.0, name, RenameFlags::NOREPLACE),
            Moving::Exchanging => renameat_with(&self.0, from, &to.0, name, RenameFlags::EXCHANGE),
        };
        match moved {
            // Some file systems do not support the flags.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if how != Moving::Replacing => Ok(false),
            done => Ok(done.map(|()| true)?),
        }
    }

    /// Removes a file or a link.
    ///
    /// # Errors
    /// Errors of the system, including the case that it is a folder.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes an entry. If it is a folder, all its contents are removed.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        if self.kind(name)? != Kind::Folder {
            return self.remove_file(name);
        }
        // The folders from here to the one that is being emptied, each with its name and its remaining entries. Links
        // are removed, never followed.
        let opened = |folder: RealFolder, own| -> io::Result<_> { Ok((folder.list()?, folder, own)) };
        let mut way = vec![opened(self.folder(name)?, name.to_owned())?];
        while let Some((left, folder, own)) = way.last_mut() {
            match left.pop() {
                Some((name, Kind::Folder)) => {
                    let below = opened(folder.folder(&name)?, name)?;
                    way.push(below);
                }
                Some((name, _)) => folder.remove_file(&name)?,
                None => {
                    let own = std::mem::take(own);
                    way.pop();
                    let outer = way.last().map_or(self, |(_, outer, _)| outer);
                    rustix::fs::unlinkat(&outer.0, own, AtFlags::REMOVEDIR)?;
                }
            }
        }
        Ok(())
    }

    /// Waits until the names in the folder are stored on disk.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn sync(&self) -> io::Result<()> {
        let flags = READING | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(rustix::fs::fsync(rustix::fs::openat(&self.0, c".", flags, Mode::empty())?)?)
    }
}

/// A handle of the file or folder at a real path.
fn handle(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let how = flags | OFlags::CLOEXEC;
    match rustix::fs::openat2(CWD, path, how, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Kernels before 5.6 do not have this call, and sandboxes that do not know it deny it.
        Err(Errno::NOSYS | Errno::PERM) => walked(path, flags),
        opened => Ok(opened?),
    }
}

/// As [`handle`], folder by folder.
pub(super) fn walked(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = rustix::fs::open(c"/", folder, Mode::empty())?;
    let mut parts = path.components().filter(|part| *part != Component::RootDir).peekable();
    while let Some(part) = parts.next() {
        let how = if parts.peek().is_some() { folder } else { flags };
        let name = part.as_os_str();
        let how = how | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        at = match rustix::fs::openat(&at, name, how, Mode::empty()) {
            // For a link in place of a folder, Linux reports that it is not a directory.
            Err(Errno::NOTDIR) if kind_in(at.as_fd(), name).is_ok_and(|kind| kind == Kind::Link) => {
                return Err(link());
            }
            opened => opened?,
        };
    }
    Ok(at)
}

fn entries(folder: OwnedFd, at_most: usize) -> io::Result<Vec<(OsString, Kind)>> {
    let mut listed = Dir::new(folder)?;
    let mut found = Vec::new();
    while found.len() < at_most {
        let Some(entry) = listed.next() else { break };
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let name = OsStr::from_bytes(name);
        let kind = match kind(entry.file_type()) {
            Some(kind) => kind,
            // Some file systems do not include the kind in a listing.
            None => match kind_in(listed.fd()?, name) {
                // Removed since it was listed.
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                kind => kind?,
            },
        };
        found.push((name.to_owned(), kind));
    }
    Ok(found)
}

fn kind_in(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<Kind> {
    let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(kind(FileType::from_raw_mode(found.st_mode)).unwrap_or(Kind::Other))
}

/// The kind of an entry. `None` if it is unknown.
fn kind(found: FileType) -> Option<Kind> {
    match found {
        FileType::RegularFile => Some(Kind::File),
        FileType::Directory => Some(Kind::Folder),
        FileType::Symlink => Some(Kind::Link),
        FileType::Unknown => None,
        _ => Some(Kind::Other),
    }
}

/// Flags for reading that neither wait for the writer of a pipe nor take over a terminal.
const READING: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
