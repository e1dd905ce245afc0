//! Several stores given at once: by a pattern, or by the folder that contains them.

use crate::formats::recognize;
use crate::location::{Locator, is_pattern, name_matches};
use hyperslab_core::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// The locations that match a location whose store is a pattern, sorted: `day*.nc:/t2m` is `/t2m` in each file. A
/// location whose store exists, has no wildcards, or matches nothing is returned unchanged.
///
/// `*`, `?` and `[…]` match within the name of one file or folder. Names that begin with a dot are matched only by
/// patterns that begin with one, as in shells.
///
/// # Errors
/// If a folder cannot be listed.
pub fn matching(text: &str) -> Result<Vec<String>> {
    let Locator { store, path } = Locator::parse(text);
    if !is_pattern(&store) || Path::new(&store).exists() {
        return Ok(vec![text.to_owned()]);
    }
    let mut found = vec![PathBuf::new()];
    for part in Path::new(&store).components() {
        let name = part.as_os_str();
        let pattern = name.to_str().filter(|name| is_pattern(name));
        let mut next = Vec::new();
        for folder in found {
            match pattern {
                None => next.push(folder.join(name)),
                Some(pattern) => next.extend(matching_in(&folder, pattern)?),
            }
        }
        found = next;
    }
    found.retain(|path| path.exists());
    found.sort();
    let location = |store: &PathBuf| match &path {
        Some(path) => format!("{}:{path}", store.display()),
        None => store.display().to_string(),
    };
    Ok(if found.is_empty() { vec![text.to_owned()] } else { found.iter().map(location).collect() })
}

/// The entries of a folder whose names match.
fn matching_in(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if !listed.is_dir() {
        return Ok(Vec::new());
    }
    let is_meant = |name: &OsStr| {
        name.to_str().is_some_and(|name| {
            name_matches(pattern, name) && (!name.starts_with('.') || pattern.starts_with('.'))
        })
    };
    let names = names(listed)?.into_iter().filter(|name| is_meant(name));
    Ok(names.map(|name| folder.join(name)).collect())
}

/// Whether a path is a folder that is not a store itself.
pub fn is_plain_folder(path: &Path) -> bool {
    path.is_dir() && matches!(recognize(path), Ok(None))
}

/// The stores in a folder and its subfolders, sorted, without those whose names begin with a dot. Symbolic links to
/// folders count only if they are stores; they are not searched.
///
/// # Errors
/// If a folder cannot be listed, or the first bytes of a file cannot be read.
pub fn stores_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut stores = Vec::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(folder) = pending.pop() {
        for name in names(&folder)? {
            if name.to_string_lossy().starts_with('.') {
                continue;
            }
            let path = folder.join(name);
            // Pipes and devices are not opened, since they may block.
            let is_folder = path.is_dir();
            if !is_folder && !path.is_file() {
                continue;
            }
            match recognize(&path)? {
                Some(_) => stores.push(path),
                None if is_folder && !path.is_symlink() => pending.push(path),
                None => {}
            }
        }
    }
    stores.sort();
    Ok(stores)
}

fn names(folder: &Path) -> Result<Vec<OsString>> {
    let in_folder = |error: io::Error| Error::from(error).in_file(folder.display());
    let entries = std::fs::read_dir(folder).map_err(in_folder)?;
    entries.map(|entry| entry.map(|entry| entry.file_name()).map_err(in_folder)).collect()
}
