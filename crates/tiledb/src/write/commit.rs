//! Commits, which make fragments visible.
//!
//! Spec: TileDB format_spec, array_file_hierarchy.md, consolidated_commits_file.md and
//! consolidated_fragment_metadata_file.md

use super::array::ArrayWriter;
use super::fragment::WrittenFragment;
use crate::directory::{COMMITS, FOOTERS, FRAGMENTS};
use crate::format::consolidated_commits::{ConsolidatedCommit, ConsolidatedCommits};
use crate::format::consolidated_fragment_metadata::{ConsolidatedFooter, ConsolidatedFragmentMetadata};
use crate::format::encode_all;
use crate::format::timestamped_name::{CommitKind, CommitName, TimestampedName};
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Result};

impl ArrayWriter {
    /// Makes fragments visible: all of them at once, however many there are.
    ///
    /// A single fragment gets a commit file of its own. Several fragments share a file of consolidated commits, and
    /// their footers are also in one file, so that two requests are enough to open them.
    ///
    /// # Errors
    /// If the store cannot be written; [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for several fragments
    /// before version 12, which cannot be committed at once.
    pub fn commit(&self, fragments: &[WrittenFragment]) -> Result<()> {
        match fragments {
            [] => Ok(()),
            [one] => self.put(&commit_key(self.array(), &one.name)?, &[]),
            several => self.commit_all(several),
        }
    }

    fn commit_all(&self, fragments: &[WrittenFragment]) -> Result<()> {
        let version = self.version();
        if version < FOLDERS {
            let detail = format!("{} fragments of version {version} at once, expected one", fragments.len());
            return Err(Error::unsupported(detail).with_hint("write one fragment after another"));
        }
        let (start, end) = TimestampedName::span(fragments.iter().map(|fragment| &fragment.name));
        let name = self.names().versioned(start, end, version)?;
        let footer = |fragment: &WrittenFragment| ConsolidatedFooter {
            uri: fragment.name.to_string().into_bytes(),
            footer: fragment.footer.clone(),
        };
        self.put_footers(&name, fragments.iter().map(footer).collect())?;
        let commit = |fragment: &WrittenFragment| {
            let uri = format!("{COMMITS}/{}", commit_name(&fragment.name));
            ConsolidatedCommit { uri: uri.into_bytes(), delete: None }
        };
        self.put_commits(&name, fragments.iter().map(commit).collect())
    }

    /// Writes a file of consolidated fragment metadata.
    pub(super) fn put_footers(&self, name: &TimestampedName, footers: Vec<ConsolidatedFooter>) -> Result<()> {
        let file = CommitName { name: name.clone(), kind: CommitKind::FragmentMetadata }.to_string();
        let key = folder(self.array(), name, FOOTERS)?.join(&file)?;
        let footers = ConsolidatedFragmentMetadata { fragments: footers };
        self.put(&key, &self.generic_tiles().encode(&footers, &())?)
    }

    /// Writes a file of consolidated commits, which exist since version 12.
    pub(super) fn put_commits(&self, name: &TimestampedName, commits: Vec<ConsolidatedCommit>) -> Result<()> {
        let file = CommitName { name: name.clone(), kind: CommitKind::Consolidated }.to_string();
        let key = self.array().join(COMMITS)?.join(&file)?;
        self.put(&key, &encode_all(&ConsolidatedCommits { commits }, &())?)
    }
}

/// The name of the commit file of a fragment.
pub(super) fn commit_name(fragment: &TimestampedName) -> CommitName {
    let is_old = fragment.fragment_version() < FOLDERS;
    let kind = if is_old { CommitKind::Ok } else { CommitKind::Write };
    CommitName { name: fragment.clone(), kind }
}

/// The commit file of a fragment.
pub(super) fn commit_key(array: &Key, fragment: &TimestampedName) -> Result<Key> {
    folder(array, fragment, COMMITS)?.join(&commit_name(fragment).to_string())
}

/// The folder of a fragment.
pub(super) fn fragment_key(array: &Key, fragment: &TimestampedName) -> Result<Key> {
    folder(array, fragment, FRAGMENTS)?.join(&fragment.to_string())
}

/// The folder for files of a kind in the version of this name: the folder of the array, before they had one of their
/// own.
pub(super) fn folder(array: &Key, name: &TimestampedName, own: &str) -> Result<Key> {
    match name.fragment_version() < FOLDERS {
        true => Ok(array.clone()),
        false => array.join(own),
    }
}

/// The version since which fragments and commits have their own folders.
pub(crate) const FOLDERS: u32 = 12;
