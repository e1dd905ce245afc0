//! Commits: what makes fragments seen.
//!
//! Spec: TileDB format_spec, array_file_hierarchy.md, consolidated_commits_file.md and
//! consolidated_fragment_metadata_file.md

use super::array::ArrayWriter;
use super::fragment::WrittenFragment;
use crate::directory::{COMMITS, FOOTERS};
use crate::format::consolidated_commits::{ConsolidatedCommit, ConsolidatedCommits};
use crate::format::consolidated_fragment_metadata::{ConsolidatedFooter, ConsolidatedFragmentMetadata};
use crate::format::encode_all;
use crate::format::timestamped_name::{CommitKind, CommitName};
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Result};

impl ArrayWriter {
    /// Makes fragments seen: all of them at once, however many there are.
    ///
    /// One fragment gets a commit file of its own; several share a file of consolidated commits, and have their footers in
    /// one file too, so that they are opened by two requests.
    ///
    /// # Errors
    /// If the store cannot be written; [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for several fragments before
    /// version 12, which cannot be committed at once.
    pub fn commit(&self, fragments: &[WrittenFragment]) -> Result<()> {
        match fragments {
            [] => Ok(()),
            [one] => self.put(&self.commit_file(one)?, &[]),
            several => self.commit_all(several),
        }
    }

    /// The commit file of a fragment.
    fn commit_file(&self, fragment: &WrittenFragment) -> Result<Key> {
        let is_old = fragment.name.fragment_version() < FOLDERS;
        let kind = if is_old { CommitKind::Ok } else { CommitKind::Write };
        let name = CommitName { name: fragment.name.clone(), kind }.to_string();
        match is_old {
            true => self.array().join(&name),
            false => self.array().join(COMMITS)?.join(&name),
        }
    }

    fn commit_all(&self, fragments: &[WrittenFragment]) -> Result<()> {
        let version = self.version();
        if version < FOLDERS {
            let detail = format!("{} fragments of version {version} at once, expected one", fragments.len());
            return Err(Error::unsupported(detail).with_hint("write one fragment after another"));
        }
        let start = fragments.iter().map(|fragment| fragment.name.start).min().unwrap_or(0);
        let end = fragments.iter().map(|fragment| fragment.name.end).max().unwrap_or(0);
        let name = self.names().versioned(start, end, version)?;
        let footer = |fragment: &WrittenFragment| ConsolidatedFooter {
            uri: fragment.name.to_string().into_bytes(),
            footer: fragment.footer.clone(),
        };
        let footers = ConsolidatedFragmentMetadata { fragments: fragments.iter().map(footer).collect() };
        let file = CommitName { name: name.clone(), kind: CommitKind::FragmentMetadata }.to_string();
        let tile = self.generic_tiles().encode(&footers, &())?;
        self.put(&self.array().join(FOOTERS)?.join(&file)?, &tile)?;
        let commit = |fragment: &WrittenFragment| {
            let name = CommitName { name: fragment.name.clone(), kind: CommitKind::Write };
            ConsolidatedCommit { uri: format!("{COMMITS}/{name}").into_bytes(), delete: None }
        };
        let commits = ConsolidatedCommits { commits: fragments.iter().map(commit).collect() };
        let file = CommitName { name, kind: CommitKind::Consolidated }.to_string();
        self.put(&self.array().join(COMMITS)?.join(&file)?, &encode_all(&commits, &())?)
    }
}

/// The version since which fragments and commits have folders of their own.
pub(crate) const FOLDERS: u32 = 12;
