//! Vacuums fragments that consolidated ones replace.

use super::{Lost, LostTimes, Planning, Standing};
use crate::array::fragment::METADATA;
use crate::directory::{FRAGMENTS, Vacuum};
use crate::format::layout::ArrayType;
use crate::format::timestamped_name::TimestampedName;
use crate::write::commit::{commit_key, commit_name, fragment_key};
use hyperslab_core::Result;
use hyperslab_core::store::{EntryKind, Key};
use std::collections::{BTreeMap, BTreeSet};

/// A fragment of which at least a part may exist.
pub(super) struct Found {
    pub(super) name: TimestampedName,
    /// The folder, whether it exists or not.
    pub(super) folder: Key,
    /// Its commit file.
    pub(super) commit: Key,
    /// The reason why it can be removed.
    pub(super) reason: String,
}

impl Planning<'_> {
    /// Plans the removal of replaced fragments.
    pub(super) fn fragments(&mut self, array_type: ArrayType) -> Result<()> {
        let vacuums = std::mem::take(&mut self.directory.fragment_vacuums);
        let (folders, whole) = (self.folders()?, self.whole()?);
        let standing = Standing { vacuums: &vacuums, stands: &|name| whole.contains(name) };
        let (mut found, mut done): (BTreeMap<String, Found>, Vec<&Vacuum>) = (BTreeMap::new(), Vec::new());
        for vacuum in standing.ordered() {
            if is_unfinished(vacuum) {
                let reason = "an interrupted or running consolidation".to_owned();
                self.plan.kept.push((vacuum.key.clone(), reason));
                continue;
            }
            let mut own = Vec::new();
            for name in &vacuum.replaced {
                let Ok(name) = TimestampedName::parse(name) else { continue };
                let fragment = self.found(name, format!("{} replaces it", vacuum.name))?;
                if self.is_there(&fragment, &folders)? {
                    own.push(fragment);
                }
            }
            if !own.is_empty() && !standing.is_replaced_by(vacuum) {
                let reason = format!("fragment {}, which replaces others, is not there", vacuum.name);
                self.plan.kept.push((vacuum.key.clone(), reason));
                continue;
            }
            found.extend(own.into_iter().map(|fragment| (fragment.name.to_string(), fragment)));
            done.push(vacuum);
            if !self.keeps_times(array_type, &vacuum.name) && whole.contains(&vacuum.name.to_string()) {
                self.plan.lost.push(LostTimes::of(Lost::Cells, &vacuum.name));
            }
        }
        let mut found: Vec<Found> = found.into_values().collect();
        found.sort_by_key(|fragment| (fragment.name.start, fragment.name.to_string()));
        self.remove(found, &folders)?;
        for vacuum in done {
            self.plan.file(self.store, vacuum.key.clone(), "all that it names is gone".to_owned())?;
        }
        self.directory.fragment_vacuums = vacuums;
        Ok(())
    }

    /// Plans the removal of fragments: their commits, the newest first, then their folders.
    pub(super) fn remove(&mut self, found: Vec<Found>, folders: &BTreeSet<Key>) -> Result<()> {
        for fragment in &found {
            if let Some(line) = self.files.line_of(&commit_name(&fragment.name).to_string()) {
                self.plan.ignored.push(line.to_vec());
            }
        }
        for fragment in found.iter().rev() {
            self.plan.file(self.store, fragment.commit.clone(), fragment.reason.clone())?;
        }
        for fragment in found {
            if folders.contains(&fragment.folder) {
                self.plan.folder(self.store, fragment.folder, fragment.reason)?;
            }
        }
        Ok(())
    }

    /// The locations of a fragment with a name and of its commit.
    pub(super) fn found(&self, name: TimestampedName, reason: String) -> Result<Found> {
        let folder = fragment_key(self.array, &name)?;
        let commit = match name.fragment_version() {
            // Its metadata completes it, and is therefore removed first.
            0..5 => folder.join(METADATA)?,
            _ => commit_key(self.array, &name)?,
        };
        Ok(Found { name, folder, commit, reason })
    }

    /// Whether anything of a fragment remains.
    fn is_there(&self, fragment: &Found, folders: &BTreeSet<Key>) -> Result<bool> {
        let commit = commit_name(&fragment.name);
        Ok(folders.contains(&fragment.folder)
            || self.store.size(&fragment.commit)?.is_some()
            || self.files.line_of(&commit.to_string()).is_some())
    }

    /// The folders with names of fragments.
    pub(super) fn folders(&self) -> Result<BTreeSet<Key>> {
        let mut found = BTreeSet::new();
        for folder in [self.array.clone(), self.array.join(FRAGMENTS)?] {
            for entry in self.store.list(&folder)? {
                if entry.kind == EntryKind::Prefix && TimestampedName::parse(&entry.name).is_ok() {
                    found.insert(folder.join(&entry.name)?);
                }
            }
        }
        Ok(found)
    }

    /// The names of committed fragments whose metadata exists.
    fn whole(&self) -> Result<BTreeSet<String>> {
        let mut whole = BTreeSet::new();
        for fragment in &self.directory.fragments {
            if self.store.size(&fragment.key.join(METADATA)?)?.is_some() {
                whole.insert(fragment.name.to_string());
            }
        }
        Ok(whole)
    }
}

/// Whether a vacuum file hides the fragment that is to replace others, until that fragment is committed.
pub(super) fn is_unfinished(vacuum: &Vacuum) -> bool {
    vacuum.replaced.contains(&vacuum.name.to_string())
}
