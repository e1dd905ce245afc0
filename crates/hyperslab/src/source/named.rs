//! Other files that an opened store consists of, or that objects in it name.

use hyperslab_core::Error;
use hyperslab_model::NodePath;
use std::fmt;
use std::path::PathBuf;

/// All of them, as far as they can be told.
#[derive(Debug, Default)]
pub struct NamedFiles {
    /// Each name once for each role.
    pub files: Vec<NamedFile>,
    /// What could not be read, and may name more.
    pub errors: Vec<Error>,
}

/// Another file that belongs to an opened store.
#[derive(Debug)]
pub struct NamedFile {
    /// What it is to the store.
    pub role: FileRole,
    /// Its name as it is stored.
    pub name: String,
    /// The first object that names it; `None` for the store as a whole.
    pub object: Option<NodePath>,
    /// What was found under this name.
    pub found: FoundFile,
}

/// What another file is to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileRole {
    /// A part of the store, which is split over several files.
    Member,
    /// Bytes of the elements of an array.
    RawData,
    /// A file with arrays that a virtual array shows.
    Source,
    /// A file that a link leads to.
    Link,
}

impl FileRole {
    /// Whether the file is a store of its own, which may name further files.
    pub fn is_store(self) -> bool {
        matches!(self, FileRole::Source | FileRole::Link)
    }
}

impl fmt::Display for FileRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileRole::Member => "member",
            FileRole::RawData => "raw data",
            FileRole::Source => "source",
            FileRole::Link => "link",
        })
    }
}

/// What was found under the name of a file.
#[derive(Debug)]
pub enum FoundFile {
    /// The file.
    There {
        /// Its path without symbolic links; `None` if it was not opened by a path.
        path: Option<PathBuf>,
        /// Its size in bytes.
        size: u64,
    },
    /// Nothing.
    Missing,
    /// Something that cannot be read or must not be followed.
    Refused(Error),
}
