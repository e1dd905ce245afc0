//! Locates the files that a file names.

use super::{File, Others};
use hyperslab_core::Result;
use std::path::{Path, PathBuf};

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The path without symbolic links. `None` if the file was not opened by a path.
    pub path: Option<PathBuf>,
    /// Its size in bytes.
    pub size: u64,
}

impl File {
    /// The names of the files that a driver split this one into, in the order of addresses. None for a single file.
    pub fn member_names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().filter_map(|member| member.name.as_deref())
    }

    /// Opens the HDF5 file that a name in this one refers to, with the same limits. `None` if there is no such file.
    ///
    /// # Errors
    /// If the name must not be followed, or the file exists but is not an HDF5 file.
    pub fn open_named(&self, name: &str) -> Result<Option<File>> {
        let Some(storage) = self.siblings.open(name)? else { return Ok(None) };
        let (limits, budget) = (*self.reader.limits(), self.reader.budget().clone());
        File::open_among(storage, limits, budget, Others::default()).map(Some).map_err(|e| e.of_another(name))
    }

    /// The path of this file without symbolic links. `None` if it was not opened by a path.
    pub fn path(&self) -> Option<&Path> {
        self.identity()
    }

    /// The file that a name in this one refers to. `None` if there is no such file.
    ///
    /// # Errors
    /// If the name must not be followed, or the file exists but cannot be read.
    pub fn locate(&self, name: &str) -> Result<Option<Located>> {
        let Some(storage) = self.siblings.open(name)? else { return Ok(None) };
        let path = storage.siblings().and_then(|siblings| Some(siblings.identity()?.to_owned()));
        Ok(Some(Located { path, size: storage.len()? }))
    }
}
