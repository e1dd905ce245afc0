//! Other files that an opened store consists of, or that objects in it name.

use hyperslab_core::Error;
use hyperslab_model::NodePath;
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::fmt;
use std::hash::BuildHasher;
use std::path::PathBuf;
use std::sync::Arc;

/// The other files of a store.
#[derive(Debug, Default)]
pub struct NamedFiles {
    /// The files; each name is listed once per role.
    pub files: Vec<NamedFile>,
    /// The errors of objects that could not be read and that may name more files.
    pub errors: Vec<Error>,
}

/// Another file that belongs to an opened store.
#[derive(Debug)]
pub struct NamedFile {
    /// The role of the file in the store.
    pub role: FileRole,
    /// The stored name.
    pub name: String,
    /// The first object that names it; `None` for the store as a whole.
    pub object: Option<NodePath>,
    /// The file found under this name.
    pub found: FoundFile,
}

/// The role of another file in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileRole {
    /// A part of a store that is split over several files.
    Member,
    /// The raw bytes of the elements of an array.
    RawData,
    /// A file with source arrays of a virtual array.
    Source,
    /// The target of an external link.
    Link,
}

impl FileRole {
    /// Whether the file is a store of its own, which may name further files.
    pub fn is_store(self) -> bool {
        matches!(self, FileRole::Source | FileRole::Link)
    }

    /// Whether elements of the store are read from the file.
    pub fn is_part(self) -> bool {
        !matches!(self, FileRole::Link)
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

/// The result of looking for a named file.
#[derive(Debug)]
pub enum FoundFile {
    /// The file exists.
    There {
        /// The path without symbolic links; `None` if it was not opened by a path.
        path: Option<PathBuf>,
        /// The size in bytes.
        size: u64,
    },
    /// There is no file of this name.
    Missing,
    /// The file cannot be read, or must not be followed.
    Refused(Error),
}

/// Sources of an array that do not exist, or files of its elements that end too early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingSources {
    /// The first ones: each source as `FILE:PATH`, or as a path if it would be in the same file, and each file with its
    /// length.
    pub names: Vec<String>,
    /// The total number.
    pub count: u64,
    /// What the elements contain instead: `the fill value`, or `zeros`.
    pub instead: &'static str,
}

impl Default for MissingSources {
    fn default() -> Self {
        MissingSources { names: Vec::new(), count: 0, instead: "the fill value" }
    }
}

impl MissingSources {
    /// Whether all sources exist.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a source.
    pub(crate) fn add(&mut self, name: String) {
        self.count = self.count.saturating_add(1);
        if self.names.len() < MAX_NAMED {
            self.names.push(name);
        }
    }
}

/// Links that could not be followed.
#[derive(Clone, Debug, Default)]
pub struct UnfollowedLinks {
    /// The reasons for the first 1,000 links, each with the path of the link.
    pub reasons: Vec<Arc<Error>>,
    /// The total number.
    pub count: u64,
    /// Hashes of the paths.
    known: FxHashSet<u64>,
}

impl UnfollowedLinks {
    /// Whether all links were followed.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The reason why the link at `path` was not followed.
    pub fn reason(&self, path: &NodePath) -> Option<&Error> {
        self.reasons.iter().find(|error| error.object() == Some(path.as_str())).map(|error| &**error)
    }

    /// Adds a link once, however often it is listed.
    pub(crate) fn add(&mut self, path: &NodePath, error: Error) {
        if !self.known.insert(FxBuildHasher.hash_one(path.as_str())) {
            return;
        }
        self.count = self.count.saturating_add(1);
        if self.reasons.len() < MAX_REASONS {
            // An error in another file has the path of an object there.
            let error = if error.object().is_some() { error.of_another_object() } else { error };
            self.reasons.push(Arc::new(error.in_object(path)));
        }
    }
}

/// `2 missing sources (a.h5:/x, b.h5:/x)`.
impl fmt::Display for MissingSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources = if self.count == 1 { "source" } else { "sources" };
        let more = if self.count > self.names.len() as u64 { ", …" } else { "" };
        write!(f, "{} missing {sources} ({}{more})", self.count, self.names.join(", "))
    }
}

/// The number of links with a reason.
const MAX_REASONS: usize = 1000;

/// The number of missing sources that are named.
const MAX_NAMED: usize = 5;
