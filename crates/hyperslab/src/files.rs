//! Lists the files that a store consists of or names, which must be moved together.

mod several;

pub use self::several::{is_plain_folder, matching, stores_in};

use crate::format::OpenOptions;
use crate::formats;
use crate::source::{FileRole, FoundFile, NamedFile, NamedFiles, Source};
use hyperslab_core::{Error, ErrorKind, Result};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A store, and the other files that belong to it.
#[derive(Debug)]
pub struct StoreFiles {
    /// The path of the store: as given for the first store, without symbolic links for named stores.
    pub store: PathBuf,
    /// The title of its format, such as `HDF5`; `None` if it cannot be opened.
    pub format: Option<&'static str>,
    /// Its size in bytes, including all members if it is split; `None` if it cannot be opened.
    pub size: Option<u64>,
    /// The files that it consists of or names.
    pub named: NamedFiles,
}

/// Lists the files of `source`, the open store at `path`, and of all stores that it names, directly or through others.
/// Calls `visit` once for each store, starting with the first. Files are searched for as when reading; files that a
/// named store names may also be in the folder of the first store.
///
/// ```
/// use hyperslab::{OpenOptions, files, open};
///
/// let path = "../hdf5/tests/data/external/external.h5".as_ref();
/// let source = open(path, &OpenOptions::default())?;
/// files::files(path, source, &OpenOptions::default(), &mut |store| {
///     for file in &store.named.files {
///         println!("{} ({}): {:?}", file.name, file.role, file.found);
///     }
///     Ok(())
/// })?;
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// If the objects of the first store cannot be listed, or the work is cancelled; the errors of `visit`. The errors of
/// a named store are in its [`errors`](NamedFiles::errors).
pub fn files(
    path: &Path,
    source: Arc<dyn Source>,
    options: &OpenOptions,
    visit: &mut dyn FnMut(&StoreFiles) -> Result<()>,
) -> Result<()> {
    each(path, source, options, ALL, visit)
}

/// The other files that are read when reading `source`, the open store at `path`: the members of a split store, raw
/// data, sources of virtual arrays, and the files that those need in turn. Targets of external links are not included.
/// Missing files and files that may not be followed are left out.
///
/// Nothing may replace these files while the store is read; see
/// [`Fingerprint::with_parts`](crate::publish::Fingerprint::with_parts).
///
/// # Errors
/// If the work is cancelled, or the store names more than 10,000 others.
pub fn parts(path: &Path, source: Arc<dyn Source>, options: &OpenOptions) -> Result<Vec<PathBuf>> {
    files_of(path, source, options, READ, FileRole::is_part)
}

/// As [`parts`], with the targets of external links: the files that reading [`Followed`](crate::Followed) reads.
///
/// # Errors
/// As [`parts`].
pub fn parts_and_links(path: &Path, source: Arc<dyn Source>, options: &OpenOptions) -> Result<Vec<PathBuf>> {
    files_of(path, source, options, Visited { sized: false, ..ALL }, |_| true)
}

/// The existing files of these roles in all visited stores.
fn files_of(
    path: &Path,
    source: Arc<dyn Source>,
    options: &OpenOptions,
    visited: Visited,
    is_wanted: fn(FileRole) -> bool,
) -> Result<Vec<PathBuf>> {
    let itself = path.canonicalize().ok();
    let mut known = FxHashSet::default();
    let mut parts = Vec::new();
    each(path, source, options, visited, &mut |store| {
        for file in store.named.files.iter().filter(|file| is_wanted(file.role)) {
            if let FoundFile::There { path: Some(path), .. } = &file.found
                && itself.as_ref() != Some(path)
                && known.insert(path.clone())
            {
                parts.push(path.clone());
            }
        }
        Ok(())
    })?;
    Ok(parts)
}

/// The stores that are visited, and what is requested about them.
#[derive(Clone, Copy)]
struct Visited {
    /// Whether a file of this role is visited.
    follows: fn(FileRole) -> bool,
    /// Whether the size is requested: that of a store of many files requires a walk.
    sized: bool,
}

const ALL: Visited = Visited { follows: FileRole::is_store, sized: true };

const READ: Visited = Visited { follows: |role| role.is_store() && role.is_part(), sized: false };

/// Visits `source` and the stores that it names.
///
/// # Errors
/// [`LimitExceeded`](ErrorKind::LimitExceeded) if there are too many.
fn each(
    path: &Path,
    source: Arc<dyn Source>,
    options: &OpenOptions,
    visited: Visited,
    visit: &mut dyn FnMut(&StoreFiles) -> Result<()>,
) -> Result<()> {
    let mut options = options.clone();
    // The requested format is that of the first store only. The formats of the others are detected.
    options.format = None;
    options.allow_external.extend(path.parent().map(|folder| match folder.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => folder.to_owned(),
    }));
    let mut known: FxHashSet<PathBuf> = path.canonicalize().into_iter().collect();
    let mut pending = VecDeque::new();
    let mut found = StoreFiles::of(path.to_owned(), &*source, visited)?;
    drop(source);
    loop {
        let stores = stores(&found.named.files, visited.follows);
        let new = stores.into_iter().filter(|path| known.len() < MAX_STORES && known.insert(path.clone()));
        pending.extend(new);
        visit(&found)?;
        // Only one store is open at a time, since systems limit the number of open files.
        let Some(path) = pending.pop_front() else { return Ok(()) };
        let opened = formats::open(&path, &options);
        found = match opened.and_then(|source| StoreFiles::of(path.clone(), &*source, visited)) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
            Err(error) => {
                let named = NamedFiles { files: Vec::new(), errors: vec![error] };
                StoreFiles { store: path, format: None, size: None, named }
            }
        };
        if known.len() >= MAX_STORES {
            let detail = format!("more than {MAX_STORES} named stores; the others were not listed");
            return Err(Error::new(ErrorKind::LimitExceeded, detail));
        }
    }
}

impl StoreFiles {
    fn of(store: PathBuf, source: &dyn Source, visited: Visited) -> Result<StoreFiles> {
        let format = Some(source.format());
        let size = visited.sized.then(|| source.size()).transpose()?;
        Ok(StoreFiles { store, format, size, named: source.named_files()? })
    }
}

/// The paths of the files that are stores to follow.
fn stores(files: &[NamedFile], follows: fn(FileRole) -> bool) -> Vec<PathBuf> {
    let stores = files.iter().filter(|file| follows(file.role));
    let paths = stores.filter_map(|file| match &file.found {
        FoundFile::There { path, .. } => path.clone(),
        FoundFile::Missing | FoundFile::Refused(_) => None,
    });
    paths.collect()
}

/// The maximum number of stores whose files are listed.
const MAX_STORES: usize = 10_000;
