//! Which files a store is made of and which it names: what has to be moved together.

use crate::format::OpenOptions;
use crate::formats;
use crate::source::{FoundFile, NamedFile, NamedFiles, Source};
use hyperslab_core::{Error, ErrorKind, Result};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A store, and the other files that belong to it.
#[derive(Debug)]
pub struct StoreFiles {
    /// The path of the store: as it was given for the first, without symbolic links for those that others name.
    pub store: PathBuf,
    /// Its format in words, `HDF5`; `None` if it cannot be opened.
    pub format: Option<&'static str>,
    /// Its size in bytes, with all members if it is split; `None` if it cannot be opened.
    pub size: Option<u64>,
    /// The files that it consists of or names.
    pub named: NamedFiles,
}

/// Lists the files of the store at `path`, which `source` is, and of all stores that it names, also through others.
/// Calls `visit` with each store once, the first one first. Files are found and followed as reading does; those that a
/// store names may lie in the folder of the first one as well.
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
/// If the objects of the first store cannot be listed, if the work is cancelled; the errors of `visit`. What is wrong with
/// a named store is among its [`errors`](NamedFiles::errors).
pub fn files(
    path: &Path,
    source: Arc<dyn Source>,
    options: &OpenOptions,
    visit: &mut dyn FnMut(&StoreFiles) -> Result<()>,
) -> Result<()> {
    let mut options = options.clone();
    // Of the first store alone: others show theirs.
    options.format = None;
    options.allow_external.extend(path.parent().map(|folder| match folder.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => folder.to_owned(),
    }));
    let mut known: FxHashSet<PathBuf> = path.canonicalize().into_iter().collect();
    let mut pending = VecDeque::new();
    let mut found = StoreFiles::of(path.to_owned(), &*source)?;
    drop(source);
    loop {
        let stores = stores(&found.named.files);
        let new = stores.into_iter().filter(|path| known.len() < MAX_STORES && known.insert(path.clone()));
        pending.extend(new);
        visit(&found)?;
        // Opened one after the other, as a system allows few open files.
        let Some(path) = pending.pop_front() else { return Ok(()) };
        let opened = formats::open(&path, &options);
        found = match opened.and_then(|source| StoreFiles::of(path.clone(), &*source)) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
            Err(error) => {
                let named = NamedFiles { files: Vec::new(), errors: vec![error] };
                StoreFiles { store: path, format: None, size: None, named }
            }
        };
        if known.len() >= MAX_STORES {
            let detail = format!("more than {MAX_STORES} stores are named, and the others are not looked at");
            return Err(Error::new(ErrorKind::LimitExceeded, detail));
        }
    }
}

impl StoreFiles {
    fn of(store: PathBuf, source: &dyn Source) -> Result<StoreFiles> {
        let (format, size) = (Some(source.format()), Some(source.size()?));
        Ok(StoreFiles { store, format, size, named: source.named_files()? })
    }
}

/// The paths of those files that are stores themselves.
fn stores(files: &[NamedFile]) -> Vec<PathBuf> {
    let stores = files.iter().filter(|file| file.role.is_store());
    let paths = stores.filter_map(|file| match &file.found {
        FoundFile::There { path, .. } => path.clone(),
        FoundFile::Missing | FoundFile::Refused(_) => None,
    });
    paths.collect()
}

/// Stores that are opened to see what they name.
const MAX_STORES: usize = 10_000;
