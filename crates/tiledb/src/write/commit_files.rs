//! The files that determine which fragments and deletes are valid, one by one: what consolidating and vacuuming commits
//! change.
//!
//! Spec: TileDB format_spec, consolidated_commits_file.md and ignore_file.md

use crate::directory::{COMMITS, decode, lossy};
use crate::format::consolidated_commits::{ConsolidatedCommit, ConsolidatedCommits};
use crate::format::ignore_file::IgnoreFile;
use crate::format::timestamped_name::{CommitKind, CommitName};
use crate::format::uri_lines;
use hyperslab_core::store::{Key, Store};
use hyperslab_core::{Limits, Result};
use std::collections::{BTreeMap, BTreeSet};

/// The commit files of an array.
pub(super) struct CommitFiles {
    /// Commits in files of their own, in the order of their names.
    pub(super) own: Vec<OwnCommit>,
    /// The files with many commits.
    pub(super) consolidated: Vec<ConsolidatedFile>,
    /// The ignore files.
    pub(super) ignored: Vec<IgnoredFile>,
    /// For each name that is not ignored, the first line with it in the files with many commits: the index of the file,
    /// and of the line in it.
    lines: BTreeMap<String, (usize, usize)>,
}

/// A commit in a file of its own: a fragment or a delete.
pub(super) struct OwnCommit {
    pub(super) name: CommitName,
    pub(super) key: Key,
}

/// A file with many commits.
pub(super) struct ConsolidatedFile {
    pub(super) key: Key,
    pub(super) commits: Vec<ConsolidatedCommit>,
}

/// An ignore file.
pub(super) struct IgnoredFile {
    pub(super) key: Key,
    /// The last names of its lines.
    names: BTreeSet<String>,
}

impl CommitFiles {
    /// Lists the commit files, and reads those with many commits.
    ///
    /// # Errors
    /// If the store cannot be read, or one of them is malformed.
    pub(super) fn read(store: &dyn Store, array: &Key, limits: &Limits) -> Result<CommitFiles> {
        let mut files = CommitFiles {
            own: Vec::new(),
            consolidated: Vec::new(),
            ignored: Vec::new(),
            lines: BTreeMap::new(),
        };
        let commits = array.join(COMMITS)?;
        for folder in [array, &commits] {
            for entry in store.list(folder)? {
                let Ok(Some(name)) = CommitName::parse(&entry.name) else { continue };
                let (key, is_root) = (folder.join(&entry.name)?, folder == array);
                match (name.kind, is_root) {
                    (CommitKind::Ok, true) | (CommitKind::Write | CommitKind::Delete, false) => {
                        files.own.push(OwnCommit { name, key });
                    }
                    (CommitKind::Consolidated, false) => {
                        let commits = decode::<ConsolidatedCommits>(store, &key, limits)?.commits;
                        files.consolidated.push(ConsolidatedFile { key, commits });
                    }
                    (CommitKind::Ignore, false) => {
                        let uris = decode::<IgnoreFile>(store, &key, limits)?.uris;
                        let names = uris.iter().map(|uri| last_name(uri)).collect();
                        files.ignored.push(IgnoredFile { key, names });
                    }
                    _ => {}
                }
            }
        }
        files.own.sort_by_cached_key(|commit| commit.name.to_string());
        files.lines = files.lines();
        Ok(files)
    }

    /// Whether this commit is ignored in files with many commits. Deletes are never ignored.
    pub(super) fn is_ignored(&self, commit: &ConsolidatedCommit) -> bool {
        let name = last_name(&commit.uri);
        commit.delete.is_none() && self.ignored.iter().any(|file| file.names.contains(&name))
    }

    /// The valid commits in files with many commits, each once.
    pub(super) fn counting(&self) -> Vec<&ConsolidatedCommit> {
        let mut known = BTreeSet::new();
        let all = self.consolidated.iter().flat_map(|file| &file.commits);
        all.filter(|commit| !self.is_ignored(commit) && known.insert(last_name(&commit.uri))).collect()
    }

    /// The commits that are not in any file with many commits.
    pub(super) fn not_consolidated(&self) -> Vec<&OwnCommit> {
        let all = self.consolidated.iter().flat_map(|file| &file.commits);
        let named: BTreeSet<String> = all.map(|commit| last_name(&commit.uri)).collect();
        self.own.iter().filter(|own| !named.contains(&own.name.to_string())).collect()
    }

    /// The line in a file with many commits that has this name, unless it is ignored.
    pub(super) fn line_of(&self, name: &str) -> Option<&[u8]> {
        let (file, line) = *self.lines.get(name)?;
        self.consolidated.get(file)?.commits.get(line).map(|commit| commit.uri.as_slice())
    }

    fn lines(&self) -> BTreeMap<String, (usize, usize)> {
        let mut lines = BTreeMap::new();
        for (place, file) in self.consolidated.iter().enumerate() {
            for (line, commit) in file.commits.iter().enumerate().filter(|(_, of)| !self.is_ignored(of)) {
                lines.entry(last_name(&commit.uri)).or_insert((place, line));
            }
        }
        lines
    }

    /// The files with many commits that can be removed: all but the one that has exactly the valid commits, and no
    /// ignored ones.
    pub(super) fn superseded(&self) -> Vec<&ConsolidatedFile> {
        let names = |commits: &mut dyn Iterator<Item = &ConsolidatedCommit>| -> BTreeSet<String> {
            commits.map(|commit| last_name(&commit.uri)).collect()
        };
        let all = names(&mut self.counting().into_iter());
        let complete = self.consolidated.iter().rev().find(|file| names(&mut file.commits.iter()) == all);
        match complete {
            // None of them has a valid commit.
            None if all.is_empty() => self.consolidated.iter().collect(),
            None => Vec::new(),
            Some(complete) => self.consolidated.iter().filter(|file| file.key != complete.key).collect(),
        }
    }

    /// Whether one of these files with many commits has a line that is also in an ignore file.
    pub(super) fn is_needed(&self, ignored: &IgnoredFile, left: &[&ConsolidatedFile]) -> bool {
        let mut all = left.iter().flat_map(|file| &file.commits);
        all.any(|commit| ignored.names.contains(&last_name(&commit.uri)))
    }
}

pub(super) fn last_name(uri: &[u8]) -> String {
    lossy(uri_lines::last_name(uri))
}
