//! Consolidates commits: into one file instead of one for each fragment and delete.
//!
//! Spec: TileDB format_spec, consolidated_commits_file.md

use crate::directory::COMMITS;
use crate::format::consolidated_commits::ConsolidatedCommit;
use crate::format::timestamped_name::{CommitKind, CommitName, TimestampedName};
use crate::write::array::ArrayWriter;
use crate::write::commit::FOLDERS;
use crate::write::commit_files::{CommitFiles, OwnCommit, last_name};
use hyperslab_core::{Error, Limits, Result};

/// What a consolidation of commits does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitsPlan {
    /// The number of commits that are merged into one file.
    pub commits: u64,
    /// The number of files that contain them.
    pub files: u64,
}

impl ArrayWriter {
    /// What [consolidation of commits](Self::consolidate_commits) would do; `None` if there is nothing to do.
    ///
    /// # Errors
    /// If the store cannot be read or a commit file is malformed;
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) before version 12, which has no such files.
    pub fn plan_commits(&self, limits: &Limits) -> Result<Option<CommitsPlan>> {
        let files = self.commit_files(limits)?;
        Ok(lines(&files).map(|lines| plan(&files, &lines)))
    }

    /// Writes one file with all valid commits, including deletes with their conditions. No file is removed: those that
    /// it replaces are [vacuumed](crate::write::vacuum).
    ///
    /// # Errors
    /// As [`plan_commits`](Self::plan_commits); if the store cannot be written.
    pub fn consolidate_commits(&self, limits: &Limits) -> Result<Option<CommitsPlan>> {
        let files = self.commit_files(limits)?;
        let Some(lines) = lines(&files) else { return Ok(None) };
        let plan = plan(&files, &lines);
        let (mut names, mut commits) = (Vec::new(), Vec::with_capacity(lines.len()));
        for line in lines {
            let (name, commit) = match line {
                Line::Known(commit) => (CommitName::parse(&last_name(&commit.uri))?, commit.clone()),
                Line::Own(own) => {
                    let uri = match own.name.kind {
                        CommitKind::Ok => own.name.to_string(),
                        _ => format!("{COMMITS}/{}", own.name),
                    };
                    let delete = match own.name.kind {
                        CommitKind::Delete => {
                            let bytes = self.store().read(&own.key, limits.allocation)?;
                            let gone =
                                || Error::malformed("is listed, but cannot be read").in_object(&own.key);
                            Some(bytes.ok_or_else(gone)?.to_vec())
                        }
                        _ => None,
                    };
                    (Some(own.name.clone()), ConsolidatedCommit { uri: uri.into_bytes(), delete })
                }
            };
            names.extend(name.map(|commit| commit.name));
            commits.push(commit);
        }
        let (start, end) = TimestampedName::span(names.iter());
        self.put_commits(&self.names().versioned(start, end, self.version())?, commits)?;
        Ok(Some(plan))
    }

    fn commit_files(&self, limits: &Limits) -> Result<CommitFiles> {
        let version = self.version();
        match version < FOLDERS {
            true => {
                let detail = format!("files of many commits in an array of version {version}");
                Err(Error::unsupported(detail).with_hint("they are there since version 12"))
            }
            false => CommitFiles::read(self.store(), self.array(), limits),
        }
    }
}

/// A commit of the new file.
enum Line<'a> {
    /// It is already in a file with many commits.
    Known(&'a ConsolidatedCommit),
    /// It has a file of its own.
    Own(&'a OwnCommit),
}

/// The commits of the new file. `None` if a file with all of them exists.
fn lines(files: &CommitFiles) -> Option<Vec<Line<'_>>> {
    let known = files.counting();
    let own: Vec<Line<'_>> = files.not_consolidated().into_iter().map(Line::Own).collect();
    let is_done = own.is_empty() && files.consolidated.len() <= 1 && files.ignored.is_empty();
    let lines: Vec<Line<'_>> = known.into_iter().map(Line::Known).chain(own).collect();
    (!is_done && !lines.is_empty()).then_some(lines)
}

fn plan(files: &CommitFiles, lines: &[Line<'_>]) -> CommitsPlan {
    let own = lines.iter().filter(|line| matches!(line, Line::Own(_))).count();
    let files = own.saturating_add(files.consolidated.len());
    CommitsPlan { commits: lines.len() as u64, files: files as u64 }
}
