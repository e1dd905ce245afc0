//! Real paths on systems where the standard library has no handles of folders: paths are opened, then resolved again.

use super::{Kind, Moving, link};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

pub(super) fn open(path: &Path) -> io::Result<File> {
    let file = without_following(OpenOptions::new().read(true)).open(path)?;
    check_same(&file.metadata()?, path)?;
    Ok(file)
}

pub(super) fn status(path: &Path) -> io::Result<Metadata> {
    let found = fs::symlink_metadata(path)?;
    check_same(&found, path)?;
    Ok(found)
}

pub(super) fn list(path: &Path, at_most: usize) -> io::Result<Vec<(OsString, Kind)>> {
    let found = entries(fs::read_dir(path)?, at_most)?;
    check_real(path)?;
    Ok(found)
}

/// The path of a folder, which was its real path when it was opened.
#[derive(Debug)]
pub struct RealFolder(PathBuf);

impl RealFolder {
    /// Opens the folder at a real path.
    ///
    /// # Errors
    /// If the path is not real, and errors of the system.
    pub fn open(path: &Path) -> io::Result<RealFolder> {
        check_real(path)?;
        match fs::symlink_metadata(path)?.is_dir() {
            true => Ok(RealFolder(path.to_owned())),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
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
        OpenOptions::new().read(true).write(true).create_new(true).open(self.0.join(name))
    }

    /// Opens a file for reading and writing, or creates it. An existing entry may be something other than a regular
    /// file.
    ///
    /// # Errors
    /// Errors of the system, including the case that it is a link.
    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        let path = self.0.join(name);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = without_following(&mut options).open(&path)?;
        check_same(&file.metadata()?, &path)?;
        Ok(file)
    }

    /// Creates a folder. No entry of this name may exist.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    /// Opens a folder in this one.
    ///
    /// # Errors
    /// Errors of the system, including the case that it is a link.
    pub fn folder(&self, name: &OsStr) -> io::Result<RealFolder> {
        RealFolder::open(&self.0.join(name))
    }

    /// The kind of an entry.
    ///
    /// # Errors
    /// Errors of the system, including the case that it does not exist.
    pub fn kind(&self, name: &OsStr) -> io::Result<Kind> {
        Ok(kind(fs::symlink_metadata(self.0.join(name))?.file_type()))
    }

    /// The entries in arbitrary order.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn list(&self) -> io::Result<Vec<(OsString, Kind)>> {
        list(&self.0, usize::MAX)
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
        moved(&self.0.join(from), &to.0.join(name), how)
    }

    /// Removes a file or a link.
    ///
    /// # Errors
    /// Errors of the system, including the case that it is a folder.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// Removes an entry. If it is a folder, all its contents are removed.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        match self.kind(name)? {
            Kind::Folder => fs::remove_dir_all(self.0.join(name)),
            _ => self.remove_file(name),
        }
    }

    /// Waits until the names in the folder are stored on disk.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn sync(&self) -> io::Result<()> {
        // Only Unix can open a folder.
        if cfg!(unix) { File::open(&self.0)?.sync_all() } else { Ok(()) }
    }
}

#[cfg(target_vendor = "apple")]
fn moved(from: &Path, to: &Path, how: Moving) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    let flags = match how {
        Moving::Replacing => return fs::rename(from, to).map(|()| true),
        Moving::New => RenameFlags::NOREPLACE,
        Moving::Exchanging => RenameFlags::EXCHANGE,
    };
    match renameat_with(CWD, from, CWD, to, flags) {
        // Some file systems do not support the flags.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        done => Ok(done.map(|()| true)?),
    }
}

#[cfg(not(target_vendor = "apple"))]
fn moved(from: &Path, to: &Path, how: Moving) -> io::Result<bool> {
    match how {
        Moving::Replacing => fs::rename(from, to).map(|()| true),
        Moving::New | Moving::Exchanging => Ok(false),
    }
}

fn check_real(path: &Path) -> io::Result<()> {
    if path.canonicalize()? == path { Ok(()) } else { Err(link()) }
}

/// Fails if the path leads elsewhere, or no longer leads to what was opened.
fn check_same(opened: &Metadata, path: &Path) -> io::Result<()> {
    check_real(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |found: &Metadata| (found.dev(), found.ino());
        if identity(opened) != identity(&fs::symlink_metadata(path)?) {
            return Err(link());
        }
    }
    #[cfg(not(unix))]
    let _ = opened;
    Ok(())
}

/// Flags that avoid waiting for the writer of a pipe and refuse links.
#[cfg(target_os = "macos")]
fn without_following(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    // O_NONBLOCK and O_NOFOLLOW_ANY, which refuses a link in any part of the path.
    options.custom_flags(0x4 | 0x2000_0000)
}

#[cfg(not(target_os = "macos"))]
fn without_following(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

fn entries(listed: fs::ReadDir, at_most: usize) -> io::Result<Vec<(OsString, Kind)>> {
    let entry = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.file_name(), kind(entry.file_type()?)))
    };
    listed.take(at_most).map(entry).collect()
}

fn kind(found: FileType) -> Kind {
    match (found.is_file(), found.is_dir(), found.is_symlink()) {
        (true, ..) => Kind::File,
        (_, true, _) => Kind::Folder,
        (.., true) => Kind::Link,
        _ => Kind::Other,
    }
}
