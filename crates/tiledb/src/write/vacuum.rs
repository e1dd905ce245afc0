//! Vacuum: removes what consolidation replaced, and what interrupted writers left behind.
//!
//! Spec: TileDB format_spec, vacuum_file.md and ignore_file.md, which do not define the order in which files are
//! removed; the order decides whether an interrupted vacuum leaves a readable array.
//!
//! First, an ignore file excludes the commits of replaced fragments from files of consolidated commits. Then their own
//! commits are removed, the newest first, so that no moment sees the middle of a history without its beginning. Now
//! only vacuum files refer to the fragments, and their folders are removed, then the vacuum files. So no commit ever
//! refers to an incomplete fragment, and after an interruption, the vacuum files list what remains to be done.

mod fragments;
mod unfinished;

use super::array::ArrayWriter;
use super::commit_files::{CommitFiles, last_name};
use super::group::GroupWriter;
use crate::directory::{ArrayDirectory, COMMITS, METADATA, NamedFile, Vacuum};
use crate::format::encode_all;
use crate::format::ignore_file::IgnoreFile;
use crate::format::layout::ArrayType;
use crate::format::timestamped_name::{CommitKind, CommitName, TimestampedName};
use hyperslab_core::store::{EntryKind, Key, Store, WritableStore};
use hyperslab_core::{Limits, Result};
use std::collections::BTreeSet;

/// What is vacuumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VacuumOptions {
    /// Fragments that consolidated ones replace.
    pub fragments: bool,
    /// Commits that are also in files of consolidated commits, and those of such files that others replace.
    pub commits: bool,
    /// Consolidated fragment metadata, except the newest.
    pub footers: bool,
    /// Metadata files that consolidated ones replace.
    pub metadata: bool,
    /// What interrupted writers left behind: fragments without a commit, and temporary files. No writer may be active.
    pub unfinished: bool,
}

/// What a vacuum removes, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VacuumPlan {
    /// The lines of the ignore file that is written first; no file is written if there are none.
    pub ignored: Vec<Vec<u8>>,
    /// The files and folders that are removed.
    pub removals: Vec<Removal>,
    /// What is not removed, although something indicates that it could be, and the reason.
    pub kept: Vec<(Key, String)>,
    /// What is no longer visible.
    pub lost: Vec<LostTimes>,
    /// The files and folders of [`removals`](Self::removals).
    known: BTreeSet<Key>,
}

/// A file or a folder that is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// The file or the folder.
    pub key: Key,
    /// Whether it is a folder, with everything in it.
    pub is_folder: bool,
    /// The size of its files in bytes.
    pub bytes: u64,
    /// The reason why it can be removed.
    pub reason: String,
}

/// Moments that no longer see the same data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostTimes {
    /// What they no longer see.
    pub of: Lost,
    /// The time when the first of the removed data was written, in milliseconds since 1970: moments that end before it
    /// are unchanged.
    pub from: u64,
    /// The time when the last of it was written: moments that begin no later than [`from`](Self::from) and end at this
    /// time or later are unchanged.
    pub until: u64,
}

/// The kind of data that is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Cells.
    Cells,
    /// Metadata.
    Metadata,
}

impl VacuumOptions {
    /// Everything except what interrupted writers left behind.
    pub const ALL: VacuumOptions =
        VacuumOptions { fragments: true, commits: true, footers: true, metadata: true, unfinished: false };
}

impl VacuumPlan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.ignored.is_empty() && self.removals.is_empty()
    }

    /// The size in bytes of all files that are removed.
    pub fn bytes(&self) -> u64 {
        self.removals.iter().fold(0, |sum, removal| sum.saturating_add(removal.bytes))
    }
}

impl ArrayWriter {
    /// Plans what a vacuum would remove.
    ///
    /// # Errors
    /// If the array cannot be read, or a commit file is malformed.
    pub fn plan_vacuum(&self, options: &VacuumOptions, limits: &Limits) -> Result<VacuumPlan> {
        let mut planning = Planning {
            store: self.store(),
            array: self.array(),
            directory: ArrayDirectory::read(self.store(), self.array(), limits)?,
            files: CommitFiles::read(self.store(), self.array(), limits)?,
            plan: VacuumPlan::default(),
        };
        if options.fragments {
            planning.fragments(self.schema().array_type)?;
        }
        if options.commits {
            planning.commits()?;
        }
        if options.footers {
            planning.footers()?;
        }
        if options.metadata {
            let found = std::mem::take(&mut planning.directory.metadata_vacuums);
            planning.plan.metadata(self.store(), self.array(), &planning.directory.metadata, &found)?;
        }
        if options.unfinished {
            planning.unfinished()?;
        }
        Ok(planning.plan)
    }

    /// Removes what a [plan](Self::plan_vacuum) lists. `progress` receives the number of bytes that were removed since
    /// its last call.
    ///
    /// An interrupted vacuum can be repeated, with a new plan.
    ///
    /// # Errors
    /// The first error of `progress`; if the store cannot be written.
    pub fn vacuum(&self, plan: &VacuumPlan, progress: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        if !plan.ignored.is_empty() {
            let key = self.array().join(COMMITS)?.join(&self.ignore_file(&plan.ignored)?)?;
            self.put(&key, &encode_all(&IgnoreFile { uris: plan.ignored.clone() }, &())?)?;
        }
        plan.remove(self.store(), progress)
    }

    /// The name of a new ignore file, with the times when the first and the last of the fragments were written.
    fn ignore_file(&self, lines: &[Vec<u8>]) -> Result<String> {
        let of = |uri: &Vec<u8>| CommitName::parse(&last_name(uri)).ok().flatten();
        let all: Vec<TimestampedName> = lines.iter().filter_map(of).map(|commit| commit.name).collect();
        let (start, end) = TimestampedName::span(all.iter());
        let name = self.names().versioned(start, end, self.version())?;
        Ok(CommitName { name, kind: CommitKind::Ignore }.to_string())
    }
}

impl GroupWriter {
    /// Plans what a vacuum would remove: for a group, metadata and temporary files.
    ///
    /// # Errors
    /// If the group cannot be read.
    pub fn plan_vacuum(&self, options: &VacuumOptions, limits: &Limits) -> Result<VacuumPlan> {
        let (mut plan, group) = (VacuumPlan::default(), self.present(limits)?);
        let directory = group.directory();
        if options.metadata {
            plan.metadata(self.store(), self.group(), &directory.metadata, &directory.metadata_vacuums)?;
        }
        if options.unfinished {
            // Members may lie in the folder of the group, and are vacuumed separately.
            for key in &directory.ignored {
                plan.temporary(self.store(), key)?;
            }
        }
        Ok(plan)
    }

    /// Removes what a [plan](Self::plan_vacuum) lists, as [`ArrayWriter::vacuum`] does.
    ///
    /// # Errors
    /// The first error of `progress`; if the store cannot be written.
    pub fn vacuum(&self, plan: &VacuumPlan, progress: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        plan.remove(self.store(), progress)
    }
}

impl VacuumPlan {
    fn remove(&self, store: &dyn WritableStore, progress: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        for Removal { key, is_folder, bytes, .. } in &self.removals {
            match is_folder {
                true => store.delete_below(key)?,
                false => drop(store.delete(key)?),
            }
            progress(*bytes)?;
        }
        Ok(())
    }

    /// Plans the removal of a file.
    fn file(&mut self, store: &dyn Store, key: Key, reason: String) -> Result<()> {
        if !self.known.contains(&key)
            && let Some(bytes) = store.size(&key)?
        {
            self.known.insert(key.clone());
            self.removals.push(Removal { key, is_folder: false, bytes, reason });
        }
        Ok(())
    }

    /// Plans the removal of a folder, with the files in it.
    fn folder(&mut self, store: &dyn Store, key: Key, reason: String) -> Result<()> {
        let mut bytes = 0_u64;
        for entry in store.list(&key)? {
            if entry.kind == EntryKind::Value {
                bytes = bytes.saturating_add(store.size(&key.join(&entry.name)?)?.unwrap_or(0));
            }
        }
        self.known.insert(key.clone());
        self.removals.push(Removal { key, is_folder: true, bytes, reason });
        Ok(())
    }

    /// Plans the removal of metadata files that others replace, and of their vacuum files.
    fn metadata(
        &mut self,
        store: &dyn Store,
        at: &Key,
        files: &[NamedFile],
        vacuums: &[Vacuum],
    ) -> Result<()> {
        let there: BTreeSet<String> = files.iter().map(|file| file.name.to_string()).collect();
        let standing = Standing { vacuums, stands: &|name| there.contains(name) };
        let folder = at.join(METADATA)?;
        for vacuum in standing.ordered() {
            let replaced: Vec<&String> =
                vacuum.replaced.iter().filter(|name| there.contains(*name)).collect();
            if !replaced.is_empty() && !standing.is_replaced_by(vacuum) {
                self.kept.push((vacuum.key.clone(), format!("nothing has the name {}", vacuum.name)));
                continue;
            }
            for name in replaced.into_iter().rev() {
                self.file(store, folder.join(name)?, format!("{} replaces it", vacuum.name))?;
            }
            if there.contains(&vacuum.name.to_string()) {
                self.lost.push(LostTimes::of(Lost::Metadata, &vacuum.name));
            }
            self.file(store, vacuum.key.clone(), "all that it names is gone".to_owned())?;
        }
        Ok(())
    }
}

impl LostTimes {
    fn of(of: Lost, replacing: &TimestampedName) -> LostTimes {
        LostTimes { of, from: replacing.start, until: replacing.end }
    }
}

/// The content of an array, and the plan.
struct Planning<'a> {
    store: &'a dyn WritableStore,
    array: &'a Key,
    directory: ArrayDirectory,
    files: CommitFiles,
    plan: VacuumPlan,
}

impl Planning<'_> {
    /// Plans the removal of commits that are in files with many commits, and of those of these files that others
    /// replace.
    fn commits(&mut self) -> Result<()> {
        for own in &self.files.own {
            if self.files.line_of(&own.name.to_string()).is_some() {
                let reason = "a file of consolidated commits has it".to_owned();
                self.plan.file(self.store, own.key.clone(), reason)?;
            }
        }
        let superseded = self.files.superseded();
        for file in &superseded {
            let reason = "another file of consolidated commits has all of it that counts".to_owned();
            self.plan.file(self.store, file.key.clone(), reason)?;
        }
        let all = self.files.consolidated.iter();
        let left: Vec<_> = all.filter(|file| superseded.iter().all(|gone| gone.key != file.key)).collect();
        // What they ignore would become valid again if they were removed before the files that contain it.
        for ignored in self.files.ignored.iter().filter(|ignored| !self.files.is_needed(ignored, &left)) {
            let reason = "no file of consolidated commits has what it ignores".to_owned();
            self.plan.file(self.store, ignored.key.clone(), reason)?;
        }
        Ok(())
    }

    /// Plans the removal of all consolidated fragment metadata except the newest.
    fn footers(&mut self) -> Result<()> {
        let mut files = self.directory.consolidated_footers.clone();
        files.sort_by_key(|file| (file.name.end, file.name.to_string()));
        let Some(newest) = files.pop() else { return Ok(()) };
        for file in files {
            self.plan.file(self.store, file.key, format!("{} is newer", newest.name))?;
        }
        Ok(())
    }

    /// Whether consolidated fragments of this kind of array store the time of each cell.
    fn keeps_times(&self, array_type: ArrayType, name: &TimestampedName) -> bool {
        array_type == ArrayType::Sparse && name.fragment_version() >= super::consolidate::TIMESTAMPS
    }
}

/// Which of the replacing files or fragments exist.
struct Standing<'a> {
    vacuums: &'a [Vacuum],
    /// Whether something with a name exists, and is complete.
    stands: &'a dyn Fn(&str) -> bool,
}

impl<'a> Standing<'a> {
    /// Whether the replacement for the lines of a vacuum file exists, or is itself replaced by something that exists.
    fn is_replaced_by(&self, vacuum: &Vacuum) -> bool {
        let (mut left, mut known) = (vec![vacuum.name.to_string()], BTreeSet::new());
        while let Some(name) = left.pop() {
            if !known.insert(name.clone()) {
                continue;
            }
            if (self.stands)(&name) {
                return true;
            }
            let above = self.vacuums.iter().filter(|other| other.replaced.contains(&name));
            left.extend(above.map(|other| other.name.to_string()));
        }
        false
    }

    /// The vacuum files, each before that of its replacement: so the last one that can prove that another is replaced
    /// is removed last.
    fn ordered(&self) -> Vec<&'a Vacuum> {
        let mut ordered: Vec<(usize, &Vacuum)> = self.vacuums.iter().map(|of| (self.depth(of), of)).collect();
        ordered.sort_by_key(|(depth, of)| (std::cmp::Reverse(*depth), of.name.to_string()));
        ordered.into_iter().map(|(_, of)| of).collect()
    }

    /// The length of the chain of vacuum files that replace one another, starting with this one.
    fn depth(&self, vacuum: &Vacuum) -> usize {
        let (mut level, mut known) = (BTreeSet::from([vacuum.name.to_string()]), BTreeSet::new());
        let mut depth = 0_usize;
        while !level.is_empty() && depth <= self.vacuums.len() {
            depth = depth.saturating_add(1);
            known.extend(level.iter().cloned());
            let above =
                self.vacuums.iter().filter(|other| level.iter().any(|name| other.replaced.contains(name)));
            level = above.map(|other| other.name.to_string()).filter(|name| !known.contains(name)).collect();
        }
        depth
    }
}
