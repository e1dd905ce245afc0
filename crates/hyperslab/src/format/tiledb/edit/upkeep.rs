//! Consolidation and vacuum of an array, or of a group and everything below it.

use super::super::consolidate::consolidate;
use super::super::objects::{Member, Object};
use super::{TileDbEditor, What};
use crate::editor::{Change, ChangeKind, Consolidated, Vacuumed};
use crate::pool::Pool;
use crate::size::human_bytes;
use hyperslab_core::store::{DirectoryWriter, Durability, Key, Store, WritableStore};
use hyperslab_core::{Limits, Result};
use hyperslab_model::NodePath;
use hyperslab_tiledb::write::array::ArrayWriter;
use hyperslab_tiledb::write::consolidate::{ConsolidateOptions, Deleted, FragmentsPlan};
use hyperslab_tiledb::write::group::GroupWriter;
use hyperslab_tiledb::write::vacuum::{LostTimes, VacuumOptions};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Consolidation or vacuum of an array or group.
#[derive(Clone, Copy)]
pub(super) enum Upkeep {
    Consolidate(Consolidated),
    Vacuum(Vacuumed),
}

impl TileDbEditor {
    pub(super) fn consolidate(&mut self, path: &NodePath, what: Consolidated) -> Result<Change> {
        let (mut texts, mut notes) = (Vec::new(), Vec::new());
        let (mut joined, mut made, mut bytes) = (0, 0, 0_u64);
        for (key, is_array) in self.below(path)? {
            let step = What::Upkeep(Upkeep::Consolidate(what));
            if is_array {
                let writer = self.writer(&key)?;
                let limits = &self.objects.options.limits;
                match what {
                    Consolidated::Fragments | Consolidated::Purged => {
                        let plan = writer.consolidator(options(what), limits)?.plan()?;
                        for set in &plan.sets {
                            joined += set.fragments.len();
                            made += 1;
                            bytes = bytes.saturating_add(set.bytes);
                            notes.extend(set.lost.map(|lost| lost_text(&lost)));
                        }
                        notes.extend(reasons(&plan));
                    }
                    Consolidated::Commits => {
                        if let Some(plan) = writer.plan_commits(limits)? {
                            texts.push(format!(
                                "{} commits in {} files become one file",
                                plan.commits, plan.files
                            ));
                        }
                    }
                    Consolidated::Footers => {
                        let count = writer.plan_footers(limits)?;
                        texts.push(format!("the footers of {count} fragments become one file"));
                    }
                    Consolidated::Metadata => {
                        if let Some(plan) = writer.plan_metadata(limits)? {
                            texts.push(format!("{} files of metadata become one", plan.files));
                        }
                    }
                }
            } else if what != Consolidated::Metadata {
                continue;
            } else if let Some(plan) = self.group_writer(&key)?.plan_metadata(&self.objects.options.limits)? {
                texts.push(format!("{} files of metadata become one", plan.files));
            }
            self.push(&key, step);
        }
        if matches!(what, Consolidated::Fragments | Consolidated::Purged) {
            texts.push(format!("{joined} fragments, {}, become {made}", human_bytes(bytes)));
        }
        if texts.is_empty() {
            texts.push("nothing to consolidate".to_owned());
        }
        Ok(change(ChangeKind::Changed, path, &texts, notes))
    }

    pub(super) fn vacuum(&mut self, path: &NodePath, what: Vacuumed) -> Result<Change> {
        let (mut files, mut bytes, mut notes) = (0_usize, 0_u64, Vec::new());
        for (key, is_array) in self.below(path)? {
            let (options, limits) = (vacuum_options(what), &self.objects.options.limits);
            let plan = match is_array {
                true => self.writer(&key)?.plan_vacuum(&options, limits)?,
                false => self.group_writer(&key)?.plan_vacuum(&options, limits)?,
            };
            files = files.saturating_add(plan.removals.len());
            bytes = bytes.saturating_add(plan.bytes());
            notes.extend(plan.lost.iter().map(lost_text));
            notes.extend(plan.kept.iter().map(|(key, reason)| format!("{key} is kept: {reason}")));
            self.push(&key, What::Upkeep(Upkeep::Vacuum(what)));
        }
        let is_after =
            self.steps.iter().any(|step| matches!(step.what, What::Upkeep(Upkeep::Consolidate(_))));
        let mut text = format!("{files} files and folders, {}", human_bytes(bytes));
        if is_after {
            text.push_str(", and what this command consolidates before that");
        }
        Ok(change(ChangeKind::Removed, path, &[text], notes))
    }

    /// The arrays and groups at and below an object, each with a flag for whether it is an array.
    fn below(&self, path: &NodePath) -> Result<Vec<(Key, bool)>> {
        let (root, _) = self.object(path)?;
        let (mut found, mut left, mut known) = (Vec::new(), vec![root], BTreeSet::new());
        while let Some(key) = left.pop() {
            if !known.insert(key.clone()) {
                continue;
            }
            match &*self.objects.open(&key)? {
                Object::Array(_) => found.push((key, true)),
                Object::Group(group) => {
                    let within = group.members.values().filter_map(|member| match member {
                        Member::Within(key) | Member::Collected(key, _) => Some(key.clone()),
                        Member::Outside(_) | Member::Recorded(_) => None,
                    });
                    // Members that do not exist need no upkeep.
                    left.extend(within.filter(|key| self.objects.is_array(key).is_ok()));
                    found.push((key, false));
                }
            }
        }
        Ok(found)
    }

    fn writer(&self, key: &Key) -> Result<ArrayWriter> {
        let store = Arc::new(DirectoryWriter::open(&self.path, Durability::Process)?);
        let readable = Arc::clone(&store) as Arc<dyn Store>;
        let limits = self.objects.options.limits;
        ArrayWriter::open(store as Arc<dyn WritableStore>, readable, key, limits, self.write_options())
    }

    fn group_writer(&self, key: &Key) -> Result<GroupWriter> {
        let store = Arc::new(DirectoryWriter::open(&self.path, Durability::Process)?);
        Ok(GroupWriter::open(store as Arc<dyn WritableStore>, key, self.write_options()))
    }
}

impl Upkeep {
    /// Consolidates or vacuums an array in its present state.
    pub(super) fn of_array(self, writer: &ArrayWriter, limits: &Limits, pool: &Pool) -> Result<()> {
        match self {
            Upkeep::Consolidate(what @ (Consolidated::Fragments | Consolidated::Purged)) => {
                consolidate(writer, options(what), limits, pool)
            }
            Upkeep::Consolidate(Consolidated::Commits) => writer.consolidate_commits(limits).map(drop),
            Upkeep::Consolidate(Consolidated::Footers) => writer.consolidate_footers(limits).map(drop),
            Upkeep::Consolidate(Consolidated::Metadata) => writer.consolidate_metadata(limits).map(drop),
            Upkeep::Vacuum(what) => {
                let plan = writer.plan_vacuum(&vacuum_options(what), limits)?;
                writer.vacuum(&plan, &mut |_| pool.check())
            }
        }
    }

    /// Consolidates or vacuums a group in its present state.
    pub(super) fn of_group(self, writer: &GroupWriter, limits: &Limits, pool: &Pool) -> Result<()> {
        match self {
            Upkeep::Consolidate(Consolidated::Metadata) => writer.consolidate_metadata(limits).map(drop),
            Upkeep::Consolidate(_) => Ok(()),
            Upkeep::Vacuum(what) => {
                let plan = writer.plan_vacuum(&vacuum_options(what), limits)?;
                writer.vacuum(&plan, &mut |_| pool.check())
            }
        }
    }
}

fn options(what: Consolidated) -> ConsolidateOptions {
    let deleted = if what == Consolidated::Purged { Deleted::Purged } else { Deleted::Kept };
    ConsolidateOptions { deleted, ..ConsolidateOptions::default() }
}

fn vacuum_options(what: Vacuumed) -> VacuumOptions {
    VacuumOptions { unfinished: what == Vacuumed::All, ..VacuumOptions::ALL }
}

/// The reasons why fragments are left as they are, each reason once.
fn reasons(plan: &FragmentsPlan) -> Vec<String> {
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for left in &plan.left {
        match reasons.iter_mut().find(|(reason, _)| *reason == left.reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((left.reason.clone(), 1)),
        }
    }
    let text = |(reason, count): (String, usize)| match count {
        1 => format!("a fragment is kept: {reason}"),
        count => format!("{count} fragments are kept: {reason}"),
    };
    reasons.into_iter().map(text).collect()
}

fn lost_text(lost: &LostTimes) -> String {
    let LostTimes { from, until, .. } = lost;
    format!(
        "after vacuuming, the states from {from} to {until} (milliseconds since 1970) can no longer be read"
    )
}

fn change(kind: ChangeKind, path: &NodePath, texts: &[String], mut notes: Vec<String>) -> Change {
    notes.dedup();
    Change { notes, ..Change::new(kind, path, texts.join("; ")) }
}
