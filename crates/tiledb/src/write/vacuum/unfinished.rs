//! What interrupted writers left behind.

use super::fragments::is_unfinished;
use super::{Planning, VacuumPlan};
use crate::format::timestamped_name::TimestampedName;
use hyperslab_core::Result;
use hyperslab_core::store::{self, EntryKind, Key, Store};
use std::collections::BTreeSet;

impl Planning<'_> {
    /// Plans the removal of what interrupted writers left behind.
    pub(super) fn unfinished(&mut self) -> Result<()> {
        let folders = self.folders()?;
        let hidden: Vec<_> =
            self.directory.fragment_vacuums.iter().filter(|vacuum| is_unfinished(vacuum)).cloned().collect();
        let mut found = Vec::new();
        for vacuum in &hidden {
            found.push(self.found(vacuum.name.clone(), "an interrupted consolidation".to_owned())?);
        }
        self.remove(found, &folders)?;
        for vacuum in hidden {
            self.plan.file(self.store, vacuum.key, "an interrupted consolidation".to_owned())?;
        }
        let complete: BTreeSet<&Key> =
            self.directory.fragments.iter().map(|fragment| &fragment.key).collect();
        for folder in folders.into_iter().filter(|folder| !complete.contains(folder)) {
            if !self.plan.known.contains(&folder) {
                self.plan.folder(self.store, folder, "no commit names it".to_owned())?;
            }
        }
        self.temporary_below(self.array)
    }

    /// Plans the removal of temporary files below a folder, except those in folders that are removed as a whole.
    fn temporary_below(&mut self, folder: &Key) -> Result<()> {
        let mut left = vec![folder.clone()];
        while let Some(folder) = left.pop() {
            if self.plan.known.contains(&folder) {
                continue;
            }
            for entry in self.store.list(&folder)? {
                let key = folder.join(&entry.name)?;
                match entry.kind {
                    EntryKind::Prefix => left.push(key),
                    EntryKind::Value => self.plan.temporary(self.store, &key)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

impl VacuumPlan {
    /// Plans the removal of a file, if its name says that it is temporary.
    pub(super) fn temporary(&mut self, store: &dyn Store, key: &Key) -> Result<()> {
        let name = key.name();
        // The library writes metadata to `NAME.tmp` before renaming it.
        let is_of_library =
            name.strip_suffix(".tmp").is_some_and(|name| TimestampedName::parse(name).is_ok());
        match store::is_unfinished(name) || is_of_library {
            true => self.file(store, key.clone(), "a temporary file".to_owned()),
            false => Ok(()),
        }
    }
}
