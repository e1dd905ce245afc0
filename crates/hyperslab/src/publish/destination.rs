//! The destination of a store, and checks on whether the store can be written there.

use super::work::{JOURNAL, Work};
use super::{Fingerprint, PublishOptions, named};
use crate::format::{Location, OpenOptions, Probe, Recognition};
use crate::formats::{locate, open, recognize};
use hyperslab_core::real_path::is_link;
use hyperslab_core::{Error, ErrorKind, Remedy, Result};
use rustc_hash::FxHashSet;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// The destination of a store.
#[derive(Debug)]
pub(super) struct Destination {
    /// The path without symbolic links: the target of a link is replaced, not the link.
    pub(super) path: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) name: String,
    /// The path for messages, as the user wrote it.
    pub(super) shown: String,
}

/// The content of the destination before publishing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occupied {
    Nothing,
    EmptyFolder,
    /// A store or file that may be replaced.
    Store,
}

impl Destination {
    pub(super) fn at(path: &Path) -> Result<Destination> {
        let shown = path.display().to_string();
        let path = match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => path.canonicalize().map_err(|e| match e.kind() {
                std::io::ErrorKind::NotFound => {
                    Error::invalid("is a symbolic link to a target that does not exist")
                }
                _ => e.into(),
            })?,
            _ => path.to_path_buf(),
        };
        let Some(name) = path.file_name() else {
            return Err(Error::invalid("has no file name"));
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let folder = folder.canonicalize().map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => {
                named(e, folder).with_remedy(Remedy::MakeFolder(folder.to_path_buf()))
            }
            _ => named(e, folder),
        })?;
        if !fs::metadata(&folder).map_err(|e| named(e, &folder))?.is_dir() {
            return Err(Error::invalid(format!("{} is not a folder", folder.display())));
        }
        Ok(Destination { path: folder.join(name), name: name.to_string_lossy().into_owned(), folder, shown })
    }

    /// The path of the work folder.
    pub(super) fn work(&self) -> PathBuf {
        self.folder.join(self.hidden(".hyperslab-partial"))
    }

    /// A hidden name made of the target's name and `end`, which file systems accept however long the target's name is.
    pub(super) fn hidden(&self, end: &str) -> String {
        let name = match self.name.len().saturating_add(".".len()).saturating_add(end.len()) <= MAX_NAME {
            true => self.name.clone(),
            // A hash replaces the end of the name.
            false => {
                let begin: String = self.name.chars().take(KEPT_OF_NAME).collect();
                format!("{begin}-{:.16}", blake3::hash(self.name.as_bytes()).to_hex())
            }
        };
        format!(".{name}{end}")
    }

    /// Removes the remains of a run that was killed after its last step.
    pub(super) fn tidy(&self) {
        // The folder is removed last.
        if self.work().is_dir()
            && !self.work().join(JOURNAL).exists()
            && let Ok(work) = Work::begin(self.work(), &self.path)
        {
            work.end_unless_resumable();
        }
    }

    /// Fails if the target cannot be written or must not be replaced.
    pub(super) fn check(&self, made_from: &Fingerprint, options: &PublishOptions) -> Result<()> {
        // Checked first: for a target that is a source, "exists" would be the wrong message.
        made_from.sources().try_for_each(|source| self.check_apart(source))?;
        made_from.parts().try_for_each(|part| self.check_no_part(part))?;
        if self.occupied(options)? == Occupied::Store {
            self.check_nothing_shared(made_from)?;
            self.check_nothing_foreign()?;
        }
        Ok(())
    }

    /// The content of the destination.
    ///
    /// # Errors
    /// If it must not be replaced.
    pub(super) fn occupied(&self, options: &PublishOptions) -> Result<Occupied> {
        let found = match fs::symlink_metadata(&self.path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Occupied::Nothing),
            found => found?,
        };
        if found.is_dir() && fs::read_dir(&self.path)?.next().is_none() {
            return Ok(Occupied::EmptyFolder);
        }
        let exists = |what: &'static str| Error::new(ErrorKind::AlreadyExists, what);
        match (is_store(&self.path), options.overwrite) {
            (Ok(false), _) => {
                Err(exists("exists and is not a store; only stores of known formats are overwritten"))
            }
            (found, true) => found.map(|_| Occupied::Store),
            (_, false) if options.resume && !self.work().join(JOURNAL).exists() => {
                let whole = exists("exists, and there is no interrupted run to resume");
                Err(whole.with_remedy(Remedy::Overwrite))
            }
            (_, false) => Err(exists("exists").with_remedy(Remedy::Overwrite)),
        }
    }

    /// Fails if the folder of the old store contains files that do not belong to the store: they would be removed.
    fn check_nothing_foreign(&self) -> Result<()> {
        let foreign = match recognize(&self.path)? {
            Some(format) => match locate(&self.path, &OpenOptions::default())? {
                Location::Store(store) => format.foreign(&store)?,
                Location::Object(_) => Vec::new(),
            },
            None => Vec::new(),
        };
        // File managers create these files in every folder that they display.
        let is_of_file_manager = |name: &str| {
            [".DS_Store", ".directory", "Thumbs.db", "desktop.ini"].contains(&name) || name.starts_with("._")
        };
        let foreign: Vec<_> = foreign
            .into_iter()
            .filter(|key| !is_of_file_manager(key.rsplit('/').next().unwrap_or_default()))
            .collect();
        let Some(first) = foreign.get(..foreign.len().min(MAX_NAMED)).filter(|first| !first.is_empty())
        else {
            return Ok(());
        };
        let more = match foreign.len().saturating_sub(first.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let them = format!("{}{more}", first.join(", "));
        let detail = format!("contains files that are not part of the store: {them}");
        Err(Error::new(ErrorKind::AlreadyExists, detail).with_remedy(Remedy::KeepForeignFiles))
    }

    /// Fails if `source` is the target, is inside the target, or contains the target.
    pub(super) fn check_apart(&self, source: &Path) -> Result<()> {
        let shown = source.display();
        let real = source.canonicalize().map_err(|e| named(e, source))?;
        let identity = Identity::of(&real)?
            .ok_or_else(|| Error::new(ErrorKind::FileNotFound, format!("{shown}: is gone")))?;
        let itself = Identity::of(&self.path)?;
        if itself.as_ref() == Some(&identity) {
            return Err(Error::invalid("is the source itself").with_hint("choose another name"));
        }
        for folder in self.folder.ancestors() {
            if Identity::of(folder)?.as_ref() == Some(&identity) {
                return Err(Error::invalid(format!("lies in the source {shown}")));
            }
        }
        // Checks both the folders of the source without symbolic links and the folders of its path as given.
        let named_in = source.parent().filter(|folder| !folder.as_os_str().is_empty());
        let named_in = named_in.unwrap_or(Path::new(".")).canonicalize().map_err(|e| named(e, source))?;
        let work = Identity::of(&self.work())?;
        for folder in real.ancestors().skip(1).chain(named_in.ancestors()) {
            let folder = Identity::of(folder)?;
            if folder.is_some() && folder == itself {
                return Err(Error::invalid(format!("contains the source {shown}")));
            }
            if folder.is_some() && folder == work {
                return Err(Error::invalid(format!("is the target of the unfinished store {shown}")));
            }
        }
        Ok(())
    }

    /// Fails if `part`, another file that a source reads, is the target or is inside the target.
    pub(super) fn check_no_part(&self, part: &Path) -> Result<()> {
        let Some(itself) = Identity::of(&self.path)? else { return Ok(()) };
        if Identity::of(part)?.as_ref() == Some(&itself) {
            return Err(Error::invalid("is a file that the source reads"));
        }
        let real = part.canonicalize().map_err(|e| named(e, part))?;
        for folder in real.ancestors().skip(1) {
            if Identity::of(folder)?.as_ref() == Some(&itself) {
                return Err(Error::invalid(format!("contains {}, which the source reads", part.display())));
            }
        }
        Ok(())
    }

    /// Fails if the old target and a source share a file.
    fn check_nothing_shared(&self, made_from: &Fingerprint) -> Result<()> {
        let mut theirs = FxHashSet::default();
        for source in made_from.sources().chain(made_from.parts()) {
            each_file(source, &mut |path, found| {
                let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
                if is_link && path.canonicalize().is_ok_and(|real| real.starts_with(&self.path)) {
                    let (source, link) = (source.display(), path.display());
                    return Err(Error::invalid(format!(
                        "contains a part of the source {source}: {link} leads there"
                    )));
                }
                // Only links, and files with several names, can be shared with the target.
                if is_link || has_several_names(found) {
                    theirs.extend(Identity::of(path)?);
                }
                Ok(())
            })?;
        }
        if theirs.is_empty() {
            return Ok(());
        }
        each_file(&self.path, &mut |path, _| match Identity::of(path)? {
            Some(file) if theirs.contains(&file) => {
                Err(Error::invalid(format!("shares {} with the source", path.display())))
            }
            _ => Ok(()),
        })
    }
}

/// The maximum length of a name in bytes that all common file systems allow.
const MAX_NAME: usize = 255;

/// The number of characters kept of a longer name; each has at most four bytes.
const KEPT_OF_NAME: usize = 50;

/// The maximum number of foreign files that a message names.
const MAX_NAMED: usize = 3;

/// Whether this is certainly a store. A text file may begin like an NDL document, so it is opened.
fn is_store(path: &Path) -> Result<bool> {
    let Some(format) = recognize(path)? else { return Ok(false) };
    if path.is_dir() {
        return Ok(true);
    }
    let location = locate(path, &OpenOptions::default())?;
    let probe = Probe::read(&location)?;
    let options = || OpenOptions { format: Some(format.name().to_owned()), ..OpenOptions::default() };
    Ok(format.recognizes(&probe) != Recognition::Possible || open(path, &options()).is_ok())
}

/// Calls `seen` with a file, or with all files in a directory and below. Symbolic links to directories are not
/// followed.
fn each_file(path: &Path, seen: &mut dyn FnMut(&Path, &Metadata) -> Result<()>) -> Result<()> {
    let mut left = vec![path.to_path_buf()];
    while let Some(path) = left.pop() {
        let found = match fs::symlink_metadata(&path) {
            // Removed since it was listed.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            found => found.map_err(|e| named(e, &path))?,
        };
        if found.is_dir() {
            for entry in fs::read_dir(&path).map_err(|e| named(e, &path))? {
                left.push(entry.map_err(|e| named(e, &path))?.path());
            }
        } else {
            seen(&path, &found)?;
        }
    }
    Ok(())
}

/// Identifies a file or directory independent of its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Identity {
    #[cfg(unix)]
    number: (u64, u64),
    /// The path without symbolic links. Hard links are not detected on this system.
    #[cfg(not(unix))]
    real: PathBuf,
}

impl Identity {
    /// `None` if there is nothing, or a link that leads to nothing or in a circle.
    ///
    /// # Errors
    /// If the system cannot determine the identity: two names of one file would then look like two files.
    fn of(path: &Path) -> Result<Option<Identity>> {
        match Identity::asked(path) {
            Ok(found) => Ok(Some(found)),
            Err(e) if is_absent(&e) => Ok(None),
            Err(e) => Err(named(e, path)),
        }
    }

    #[cfg(unix)]
    fn asked(path: &Path) -> std::io::Result<Identity> {
        use std::os::unix::fs::MetadataExt;
        let found = fs::metadata(path)?;
        Ok(Identity { number: (found.dev(), found.ino()) })
    }

    #[cfg(not(unix))]
    fn asked(path: &Path) -> std::io::Result<Identity> {
        Ok(Identity { real: path.canonicalize()? })
    }
}

fn is_absent(e: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    is_link(e) || matches!(e.kind(), NotFound | NotADirectory)
}

#[cfg(unix)]
fn has_several_names(found: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(found) > 1
}

#[cfg(not(unix))]
fn has_several_names(_: &Metadata) -> bool {
    false
}
