//! Checks commits and what they refer to, other files that determine which files are valid, metadata and deletes.

use super::findings::Place;
use super::schema::Known;
use super::{Checker, rule};
use crate::array::Array;
use crate::directory::{ArrayDirectory, DeletePlace, Fragment, NamedFile, Vacuum};
use crate::format::consolidated_commits::ConsolidatedCommits;
use crate::format::consolidated_fragment_metadata::ConsolidatedFragmentMetadata;
use crate::format::data_type::CellValNum;
use crate::format::delete_condition::{Comparison, DeleteCondition, Node, Operator};
use crate::format::ignore_file::IgnoreFile;
use crate::format::metadata::Metadata;
use crate::format::timestamped_name::{CommitKind, CommitName, TimestampedName};
use crate::format::{Structure, decode_all, uri_lines};
use hyperslab_core::store::{EntryKind, Key, is_unfinished};
use hyperslab_core::{Decoder, Result};
use std::collections::{BTreeMap, BTreeSet};

/// The copies of footers by fragment name, with the file that contains each.
pub(super) type Copies = BTreeMap<String, (Key, Vec<u8>)>;

impl Checker<'_> {
    /// Checks what commits and other files with lines refer to, and what exists without a commit.
    pub(super) fn commits(&mut self, at: &Key, directory: &ArrayDirectory) -> Result<()> {
        let complete: BTreeSet<String> =
            directory.fragments.iter().map(|fragment| fragment.name.to_string()).collect();
        for fragment in &directory.fragments {
            let metadata = fragment.key.join(FRAGMENT_METADATA)?;
            if self.store.size(&metadata)?.is_none() {
                let message = format!("{}, which has no {FRAGMENT_METADATA}", fragment.key);
                self.findings.add(&rule::COMMIT_ALONE, Place::of(at), message);
            }
        }
        let fragments = self.fragment_folders(at, directory, &complete)?;
        let names = |fragment: &str| complete.contains(fragment) || fragments.contains(fragment);
        self.vacuums(at, &directory.fragment_vacuums, &names);
        let metadata: BTreeSet<String> =
            directory.metadata.iter().map(|file| file.name.to_string()).collect();
        self.vacuums(at, &directory.metadata_vacuums, &|name| metadata.contains(name));
        self.lines(at)?;
        for key in &directory.ignored {
            self.ignored(at, key);
        }
        Ok(())
    }

    /// The folders with names of fragments, including those without a commit.
    fn fragment_folders(
        &mut self,
        at: &Key,
        directory: &ArrayDirectory,
        complete: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>> {
        let folder = at.join("__fragments")?;
        let mut found = BTreeSet::new();
        for entry in self.store.list(&folder)? {
            let key = folder.join(&entry.name)?;
            match TimestampedName::parse(&entry.name) {
                Ok(_) if entry.kind == EntryKind::Prefix => {
                    if !complete.contains(&entry.name) {
                        let message = format!("{}, which no commit names", entry.name);
                        self.findings.add(&rule::INCOMPLETE, Place::of(at).file(&key), message);
                    }
                    found.insert(entry.name);
                }
                _ => self.ignored(at, &key),
            }
        }
        let old = directory.ignored.iter().filter_map(|key| TimestampedName::parse(key.name()).ok());
        found.extend(old.map(|name| name.to_string()));
        Ok(found)
    }

    fn vacuums(&mut self, at: &Key, vacuums: &[Vacuum], names: &dyn Fn(&str) -> bool) {
        for vacuum in vacuums {
            // All are gone if a vacuum was interrupted before it removed the file itself.
            let gone: Vec<&String> = vacuum.replaced.iter().filter(|name| !names(name)).collect();
            if let Some(first) = gone.first() {
                let message = format!("{} of {} lines, {first} is one", gone.len(), vacuum.replaced.len());
                self.findings.add(&rule::DEAD_LINE, Place::of(at).file(&vacuum.key), message);
            }
            if !names(&vacuum.name.to_string()) {
                let message = format!("nothing has the name {}, which replaces others", vacuum.name);
                self.findings.add(&rule::DEAD_LINE, Place::of(at).file(&vacuum.key), message);
            }
        }
    }

    /// Checks that the lines of ignore files refer to consolidated commits.
    fn lines(&mut self, at: &Key) -> Result<()> {
        let folder = at.join("__commits")?;
        let (mut consolidated, mut ignored) = (BTreeSet::new(), Vec::new());
        for entry in self.store.list(&folder)? {
            let key = folder.join(&entry.name)?;
            let kind = CommitName::parse(&entry.name).ok().flatten().map(|name| name.kind);
            let wanted = matches!(kind, Some(CommitKind::Consolidated | CommitKind::Ignore));
            let Some(bytes) =
                (if wanted { self.store.read(&key, self.open.limits.allocation)? } else { None })
            else {
                continue;
            };
            let place = Place::of(at).file(&key);
            match kind {
                Some(CommitKind::Consolidated) => {
                    let d = Decoder::new(ConsolidatedCommits::NAME, 0, &bytes);
                    let read = decode_all::<ConsolidatedCommits>(d, &());
                    let Some(read) = self.findings.valid(read, &rule::STRUCTURE, place)? else { continue };
                    consolidated.extend(read.commits.iter().map(|commit| last_name(&commit.uri)));
                }
                _ => {
                    let d = Decoder::new(IgnoreFile::NAME, 0, &bytes);
                    let read = decode_all::<IgnoreFile>(d, &());
                    let Some(read) = self.findings.valid(read, &rule::STRUCTURE, place)? else { continue };
                    ignored.push((key, read.uris));
                }
            }
        }
        for (key, uris) in ignored {
            let dead: Vec<String> =
                uris.iter().map(|uri| last_name(uri)).filter(|name| !consolidated.contains(name)).collect();
            if let Some(first) = dead.first() {
                let message = format!("{} of {} lines, {first} is one", dead.len(), uris.len());
                self.findings.add(&rule::DEAD_LINE, Place::of(at).file(&key), message);
            }
        }
        Ok(())
    }

    /// Reports an entry that is not read.
    fn ignored(&mut self, at: &Key, key: &Key) {
        let place = Place::of(at).file(key);
        let is_left = key.name().ends_with(".tmp")
            || is_unfinished(key.name())
            || TimestampedName::parse(key.name()).is_ok();
        let folder = key.as_str().rsplit('/').nth(1).unwrap_or_default();
        if is_left {
            self.findings.add(&rule::INCOMPLETE, place, "no commit names it");
        } else if CLOSED.contains(&folder) {
            self.findings.add(
                &rule::NAME,
                place,
                format!("{:?}, expected __t1_t2_uuid and a suffix", key.name()),
            );
        }
    }

    /// Checks that metadata files can be decoded.
    pub(super) fn metadata(&mut self, at: &Key, files: &[NamedFile]) -> Result<()> {
        for file in files {
            let read = self.generic_tiles().structure::<Metadata>(&file.key, 0, &());
            self.findings.valid(read, &rule::STRUCTURE, Place::of(at).file(&file.key))?;
        }
        Ok(())
    }

    /// Checks the conditions of deletes.
    pub(super) fn deletes(&mut self, at: &Key, array: &Array, schemas: &[Known]) -> Result<()> {
        for delete in &array.directory().deletes {
            let own = at.join("__commits")?.join(&format!("{}.del", delete.name))?;
            let place = Place::of(at).file(&own);
            let tiles = self.generic_tiles();
            let read = match &delete.place {
                DeletePlace::File(file) => tiles.structure::<DeleteCondition>(file, 0, &()),
                DeletePlace::Consolidated(bytes) => tiles.structure_in(bytes, &()),
            };
            let Some(condition) = self.findings.valid(read, &rule::STRUCTURE, place)? else { continue };
            for node in condition.nodes() {
                let Node::Value(comparison) = node else { continue };
                let fault = schemas.iter().rev().map(|known| fault_of(known, comparison)).reduce(Option::and);
                if let Some(Some(fault)) = fault {
                    let name = String::from_utf8_lossy(&comparison.field);
                    self.findings.add(&rule::DELETE_FIELD, place, format!("{name:?}: {fault}"));
                }
            }
        }
        Ok(())
    }

    /// The copies of footers. Fragments that were vacuumed may still have one.
    pub(super) fn consolidated_footers(&mut self, at: &Key, directory: &ArrayDirectory) -> Result<Copies> {
        let mut copies = Copies::new();
        for file in &directory.consolidated_footers {
            let read = self.generic_tiles().structure::<ConsolidatedFragmentMetadata>(&file.key, 0, &());
            let place = Place::of(at).file(&file.key);
            let Some(read) = self.findings.valid(read, &rule::STRUCTURE, place)? else { continue };
            for footer in read.fragments {
                copies.insert(last_name(&footer.uri), (file.key.clone(), footer.footer));
            }
        }
        Ok(copies)
    }

    /// Compares the footer of a fragment with its copy.
    pub(super) fn footer_copy(&mut self, at: &Key, fragment: &Fragment, copies: &Copies) -> Result<()> {
        let Some((key, copy)) = copies.get(&fragment.name.to_string()) else { return Ok(()) };
        let metadata = fragment.key.join(FRAGMENT_METADATA)?;
        let Some(bytes) = self.store.read(&metadata, self.open.limits.allocation)? else { return Ok(()) };
        // The footer is followed by its length, if its version has one.
        let ends = [bytes.len(), bytes.len().saturating_sub(8)];
        let is_same = ends.iter().any(|end| {
            let start = end.checked_sub(copy.len());
            start.and_then(|start| bytes.get(start..*end)).is_some_and(|footer| footer == copy)
        });
        if !is_same {
            let message =
                format!("the footer of {} in {} bytes, which are not its own", fragment.name, copy.len());
            self.findings.add(&rule::CONSOLIDATED_FOOTER, Place::of(at).file(key), message);
        }
        Ok(())
    }
}

/// What is wrong with a comparison, for arrays with this schema.
fn fault_of(of: &Known, comparison: &Comparison) -> Option<String> {
    let Comparison { operator, field, value, .. } = comparison;
    if matches!(operator, Operator::AlwaysTrue | Operator::AlwaysFalse) {
        return None;
    }
    let attribute = of.schema.attributes.iter().find(|attribute| attribute.name == *field);
    let dimension = of.schema.domain.dimensions.iter().find(|dimension| dimension.name == *field);
    let (data_type, cell_val_num) = match (attribute, dimension) {
        (Some(attribute), _) => (attribute.data_type, attribute.cell_val_num),
        (_, Some(dimension)) => (dimension.data_type, dimension.cell_val_num),
        _ => return Some("the schema has no such field".to_owned()),
    };
    let is_set = matches!(operator, Operator::In | Operator::NotIn);
    let is_null = value.is_empty() && attribute.is_some_and(|attribute| attribute.nullable);
    match cell_val_num {
        CellValNum::Fixed(values) if !is_set && !is_null => {
            let expected = data_type.size() as u64 * u64::from(values);
            let found = value.len() as u64;
            (found != expected).then(|| format!("a value of {found} bytes, expected {expected}"))
        }
        _ => None,
    }
}

fn last_name(uri: &[u8]) -> String {
    String::from_utf8_lossy(uri_lines::last_name(uri)).into_owned()
}

const FRAGMENT_METADATA: &str = "__fragment_metadata.tdb";

/// Folders that contain only files that readers know.
const CLOSED: [&str; 5] = ["__schema", "__commits", "__fragments", "__fragment_meta", "__meta"];
