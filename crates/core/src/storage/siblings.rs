//! Opens other files that an opened file names, and decides which of them are allowed.

use super::{FileStorage, ReadAt};
use crate::real_path::{self, Kind, is_link};
use crate::{Error, ErrorKind, Remedy, Result};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opens files that an opened file names. Only this type decides where to look for them and which are allowed.
pub trait Siblings: Send + Sync {
    /// The identity of the opened file. `None` if it has no name.
    fn identity(&self) -> Option<&Path>;

    /// The name of the opened file, without folders.
    fn own_name(&self) -> Option<&str>;

    /// Opens the file with this name in the opened file. `None` if it does not exist.
    ///
    /// # Errors
    /// If the file is not allowed, or exists and cannot be read.
    fn open(&self, name: &str) -> Result<Option<Box<dyn ReadAt>>>;

    /// The sorted names of files beside the opened one that begin with `prefix`. Their number is limited.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    fn beginning_with(&self, prefix: &str) -> Result<Vec<String>>;
}

/// For bytes that are not from a file: no other file can be opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lonely;

impl Siblings for Lonely {
    fn identity(&self) -> Option<&Path> {
        None
    }

    fn own_name(&self) -> Option<&str> {
        None
    }

    fn open(&self, name: &str) -> Result<Option<Box<dyn ReadAt>>> {
        Err(Error::unsupported(format!("needs the file {name}, and was not itself opened by a path")))
    }

    fn beginning_with(&self, _: &str) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// For a file whose folder cannot be found: no other file can be opened.
#[derive(Debug)]
pub(super) struct Unreachable {
    kind: ErrorKind,
    reason: String,
}

impl Unreachable {
    pub(super) fn because(reason: &Error) -> Unreachable {
        // A missing folder must not look like a missing file, which some readers go on without.
        let kind = if reason.kind() == ErrorKind::Io { ErrorKind::Io } else { ErrorKind::Unsupported };
        Unreachable { kind, reason: reason.to_string() }
    }
}

impl Siblings for Unreachable {
    fn identity(&self) -> Option<&Path> {
        None
    }

    fn own_name(&self) -> Option<&str> {
        None
    }

    fn open(&self, name: &str) -> Result<Option<Box<dyn ReadAt>>> {
        let detail =
            format!("needs the file {name}, and the folder of the opened file is not found: {}", self.reason);
        Err(Error::new(self.kind, detail))
    }

    fn beginning_with(&self, _: &str) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// Opens regular files in the folder of the opened file and below, and in folders that the caller allows. What counts
/// is the real path, after symbolic links are resolved.
///
/// The search order is that of the HDF5 library. An absolute name is tried unchanged, then by its last component. A
/// relative name is tried in the folder in the path of the opened file, in the working folder, and in the real folder of
/// the opened file. The first existing file is used, and it is an error if it is not allowed.
#[derive(Clone, Debug)]
pub struct Directory {
    /// The folder in the path of the opened file.
    named: PathBuf,
    /// The file itself, without symbolic links.
    real: PathBuf,
    own_name: Option<String>,
    /// The real paths of the allowed folders.
    roots: Arc<[PathBuf]>,
}

impl Directory {
    /// The siblings of the file at `path`. `allowed` are additional folders.
    ///
    /// # Errors
    /// If the file or a folder does not exist.
    pub fn of(path: &Path, allowed: &[PathBuf]) -> Result<Directory> {
        // The folder in the path: a symbolic link to one file does not allow the folder of its target.
        let folder = folder_of(path).canonicalize()?;
        // Looked up in the real folder, so that the file is known to be there even if the path leads elsewhere by now.
        let real =
            path.file_name().map_or_else(|| path.to_owned(), |name| folder.join(name)).canonicalize()?;
        let mut roots = vec![folder];
        for folder in allowed {
            roots.push(folder.canonicalize().map_err(|e| Error::from(e).in_file(folder.display()))?);
        }
        Ok(Directory::at(path, real, roots.into()))
    }

    fn at(path: &Path, real: PathBuf, roots: Arc<[PathBuf]>) -> Directory {
        let own_name = path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        Directory { named: folder_of(path), real, own_name, roots }
    }

    /// The real path of the opened file.
    pub(super) fn real(&self) -> &Path {
        &self.real
    }

    fn candidates(&self, name: &Path) -> Vec<PathBuf> {
        let mut candidates = Vec::new();
        let mut relative = name;
        if name.is_absolute() {
            candidates.push(name.to_owned());
            relative = name.file_name().map_or(name, Path::new);
        }
        candidates.push(self.named.join(relative));
        candidates.push(relative.to_owned());
        candidates.push(folder_of(&self.real).join(relative));
        candidates
    }

    /// The file at `candidate`. `None` if it does not exist. `between` is called after deciding whether the file is
    /// allowed and before opening it.
    fn open_candidate(&self, candidate: &Path, between: &mut dyn FnMut()) -> Result<Option<Box<dyn ReadAt>>> {
        let named = |e: Error| e.of_another(candidate.display());
        for _ in 0..real_path::ATTEMPTS {
            let real = match candidate.canonicalize() {
                Ok(real) => real,
                Err(e) if is_missing(&e) => return Ok(None),
                Err(e) => return Err(named(e.into())),
            };
            self.check(&real)?;
            between();
            let siblings = Directory::at(candidate, real.clone(), Arc::clone(&self.roots));
            if let Some(storage) = FileStorage::open_real(&real, Arc::new(siblings)).map_err(named)? {
                return Ok(Some(Box::new(storage)));
            }
            // Another process has changed the path in the meantime: resolve it and check it again.
        }
        Err(named(unsteady()))
    }

    /// The names in the folder in the path of the opened file. This path may have changed since the file was opened.
    fn entries(&self) -> Result<Vec<(OsString, Kind)>> {
        for _ in 0..real_path::ATTEMPTS {
            let real = self.named.canonicalize()?;
            self.check(&real)?;
            match real_path::list(&real, MAX_ENTRIES) {
                Err(e) if is_link(&e) || is_missing(&e) => {}
                listed => return Ok(listed?),
            }
        }
        Err(unsteady())
    }

    fn check(&self, found: &Path) -> Result<()> {
        if self.roots.iter().any(|root| found.starts_with(root)) {
            return Ok(());
        }
        let folder = folder_of(found);
        let detail = format!("{} lies outside of the folder of the opened file", found.display());
        let remedy = Remedy::AllowExternal(folder.to_path_buf());
        Err(Error::new(ErrorKind::LimitExceeded, detail).with_remedy(remedy))
    }
}

impl Siblings for Directory {
    fn identity(&self) -> Option<&Path> {
        Some(&self.real)
    }

    fn own_name(&self) -> Option<&str> {
        self.own_name.as_deref()
    }

    fn open(&self, name: &str) -> Result<Option<Box<dyn ReadAt>>> {
        if name.is_empty() || name.len() > LONGEST {
            return Ok(None);
        }
        for candidate in self.candidates(Path::new(name)) {
            if let Some(found) = self.open_candidate(&candidate, &mut || {})? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn beginning_with(&self, prefix: &str) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for (name, _) in self.entries().map_err(|e| e.of_another(self.named.display()))? {
            // Names that are not Unicode cannot match.
            if let Ok(name) = name.into_string()
                && name.starts_with(prefix)
            {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }
}

/// The error for a path that leads elsewhere at each attempt.
pub(super) fn unsteady() -> Error {
    Error::new(
        ErrorKind::Io,
        "points to a different file each time it is opened: symbolic links in its path keep changing",
    )
}

/// Whether an error means that the file does not exist, not that it cannot be opened.
pub(super) fn is_missing(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidFilename
    )
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The maximum length of a name, longer than all systems allow.
const LONGEST: usize = 1 << 16;
/// The maximum number of entries of a folder that are read.
const MAX_ENTRIES: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(found: Result<Option<Box<dyn ReadAt>>>) -> Option<Vec<u8>> {
        let found = found.unwrap()?;
        let len = found.len().unwrap();
        Some(found.read_at(0..len).unwrap().to_vec())
    }

    /// A folder with `in/own.h5`, `in/below/b`, `in/s` and `out/s`, `out/o`.
    fn folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["in/below", "out"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        for file in ["in/own.h5", "in/below/b", "in/s", "out/s", "out/o"] {
            std::fs::write(dir.path().join(file), file).unwrap();
        }
        dir
    }

    #[test]
    fn opens_files_in_the_folder_and_below() {
        let dir = folder();
        let siblings = Directory::of(&dir.path().join("in/own.h5"), &[]).unwrap();
        assert_eq!(siblings.own_name(), Some("own.h5"));
        assert_eq!(contents(siblings.open("s")).unwrap(), b"in/s");
        assert_eq!(contents(siblings.open("below/b")).unwrap(), b"in/below/b");
        assert_eq!(siblings.beginning_with("o").unwrap(), ["own.h5"]);
        assert_eq!(contents(siblings.open("below/../s")).unwrap(), b"in/s");
        assert_eq!(contents(siblings.open("no")), None);
        assert_eq!(contents(siblings.open("s/no")), None);
        assert_eq!(contents(siblings.open("")), None);
        assert_eq!(contents(siblings.open("a\0b")), None);
        assert_eq!(contents(siblings.open(&"x".repeat(5000))), None);
        let absolute = dir.path().join("in/s").to_str().unwrap().to_owned();
        assert_eq!(contents(siblings.open(&absolute)).unwrap(), b"in/s");
        // If the file of an absolute name does not exist, its last component is looked for beside the opened file.
        assert_eq!(contents(siblings.open("/no/such/folder/s")).unwrap(), b"in/s");
        let below = siblings.open("below/b").unwrap().unwrap();
        assert_eq!(contents(below.siblings().unwrap().open("../s")).unwrap(), b"in/s");
    }

    #[test]
    fn rejects_files_elsewhere_by_name_unless_allowed() {
        let dir = folder();
        let own = dir.path().join("in/own.h5");
        let siblings = Directory::of(&own, &[]).unwrap();
        let outside = dir.path().join("out/o").canonicalize().unwrap();
        for name in ["../out/o", outside.to_str().unwrap()] {
            let e = siblings.open(name).err().unwrap();
            assert_eq!(e.kind(), ErrorKind::LimitExceeded);
            let allow = Remedy::AllowExternal(outside.parent().unwrap().to_path_buf());
            assert!(e.remedies() == [allow] && e.detail().contains(outside.to_str().unwrap()), "{e}");
        }
        let siblings = Directory::of(&own, &[dir.path().join("out")]).unwrap();
        assert_eq!(contents(siblings.open("../out/o")).unwrap(), b"out/o");
        assert!(Directory::of(&own, &[dir.path().join("no")]).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_are_followed_to_their_target() {
        let dir = folder();
        std::os::unix::fs::symlink("below/b", dir.path().join("in/inside")).unwrap();
        std::os::unix::fs::symlink("../out/o", dir.path().join("in/outside")).unwrap();
        std::os::unix::fs::symlink("../in/own.h5", dir.path().join("out/linked.h5")).unwrap();
        let siblings = Directory::of(&dir.path().join("in/own.h5"), &[]).unwrap();
        assert_eq!(contents(siblings.open("inside")).unwrap(), b"in/below/b");
        assert_eq!(siblings.open("outside").err().unwrap().kind(), ErrorKind::LimitExceeded);
        // There is a file of this name beside the link, and another one beside its target.
        let siblings = Directory::of(&dir.path().join("out/linked.h5"), &[]).unwrap();
        assert_eq!(contents(siblings.open("s")).unwrap(), b"out/s");
        assert_eq!(siblings.open("below/b").err().unwrap().kind(), ErrorKind::LimitExceeded);
        assert_eq!(siblings.identity(), Some(&*dir.path().join("in/own.h5").canonicalize().unwrap()));
    }

    /// Swaps the contents of `here` and `there`, a link, each time it is called.
    #[cfg(unix)]
    fn swapped(dir: &Path, here: &str, there: &str) {
        std::fs::rename(dir.join(here), dir.join("swapping")).unwrap();
        std::fs::rename(dir.join(there), dir.join(here)).unwrap();
        std::fs::rename(dir.join("swapping"), dir.join(there)).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_put_in_the_place_of_a_folder_or_file_leads_nowhere() {
        let dir = folder();
        std::fs::write(dir.path().join("out/b"), "out/b").unwrap();
        std::os::unix::fs::symlink("../out", dir.path().join("in/folder")).unwrap();
        std::os::unix::fs::symlink("../out/s", dir.path().join("in/file")).unwrap();
        let siblings = Directory::of(&dir.path().join("in/own.h5"), &[]).unwrap();
        for (name, here, there) in [("below/b", "in/below", "in/folder"), ("s", "in/s", "in/file")] {
            let candidate = dir.path().join("in").join(name);
            // After one swap, the path leads outside when it is resolved again.
            let mut times = 0;
            let once = siblings.open_candidate(&candidate, &mut || {
                times += 1;
                swapped(dir.path(), here, there);
            });
            assert_eq!((once.err().unwrap().kind(), times), (ErrorKind::LimitExceeded, 1), "{name}");
            assert_eq!(siblings.open(name).err().unwrap().kind(), ErrorKind::LimitExceeded, "{name}");
            swapped(dir.path(), here, there);
            // Swapped there and back, it is the file inside.
            let mut times = 0;
            let back = siblings.open_candidate(&candidate, &mut || {
                swapped(dir.path(), here, there);
                swapped(dir.path(), here, there);
                times += 1;
            });
            assert_eq!((contents(back).unwrap(), times), (format!("in/{name}").into_bytes(), 1));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_leads_elsewhere_at_each_attempt_is_given_up() {
        let dir = folder();
        std::os::unix::fs::symlink("below", dir.path().join("in/folder")).unwrap();
        let siblings = Directory::of(&dir.path().join("in/own.h5"), &[]).unwrap();
        let candidate = dir.path().join("in/folder/b");
        let never = siblings.open_candidate(&candidate, &mut || {
            // Where the link led is now a link itself.
            swapped(dir.path(), "in/below", "in/folder");
        });
        // After an even number of swaps everything is unchanged, so each attempt resolved a link again.
        let e = never.err().unwrap();
        assert!(
            e.kind() == ErrorKind::Io && e.to_string().contains("symbolic links in its path keep changing")
        );
        assert!(e.to_string().contains("folder/b"), "{e}");
    }

    #[cfg(unix)]
    #[test]
    fn names_beside_a_file_are_not_those_of_another_folder() {
        let dir = folder();
        std::os::unix::fs::symlink("../out", dir.path().join("in/folder")).unwrap();
        let siblings = Directory::of(&dir.path().join("in/own.h5"), &[]).unwrap();
        let below = siblings.open("below/b").unwrap().unwrap().siblings().unwrap();
        assert_eq!(below.beginning_with("").unwrap(), ["b"]);
        swapped(dir.path(), "in/below", "in/folder");
        assert_eq!(below.beginning_with("").unwrap_err().kind(), ErrorKind::LimitExceeded);
    }

    #[cfg(unix)]
    #[test]
    fn rejects_files_that_are_not_regular_without_waiting() {
        let dir = folder();
        let fifo = dir.path().join("in/fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
        assert!(made.success());
        let socket = std::os::unix::net::UnixListener::bind(dir.path().join("in/socket")).unwrap();
        let siblings = Directory::of(&dir.path().join("in/own.h5"), &[PathBuf::from("/dev")]).unwrap();
        for name in ["fifo", "socket", "/dev/zero", "below"] {
            let e = siblings.open(name).err().unwrap();
            assert_eq!(e.kind(), ErrorKind::InvalidArgument, "{name}");
            assert!(e.detail().contains(name) && e.file().is_none(), "{e}");
        }
        drop(socket);
    }

    #[test]
    fn a_file_without_a_folder_says_why_it_has_no_siblings() {
        let denied = Error::from(io::Error::from(io::ErrorKind::PermissionDenied));
        let e = Unreachable::because(&denied).open("x").err().unwrap();
        assert!(
            e.kind() == ErrorKind::Io
                && e.to_string().contains("x")
                && e.to_string().contains("permission denied")
        );
        let missing = Error::from(io::Error::from(io::ErrorKind::NotFound));
        assert_eq!(Unreachable::because(&missing).open("x").err().unwrap().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn bytes_without_a_name_have_no_siblings() {
        assert_eq!(Lonely.open("x").err().unwrap().kind(), ErrorKind::Unsupported);
    }
}
