//! The files in the folder of an array, in all four generations of its layout.
//!
//! Spec: TileDB format_spec, array_file_hierarchy.md; array_format_history.md, versions 5, 10 and 12
//!
//! | versions | schema | fragments | a fragment is complete |
//! |---|---|---|---|
//! | 1 to 4 | `__array_schema.tdb` | `NAME/` | with its metadata file |
//! | 5 to 9 | the same | `NAME/` | with `NAME.ok` |
//! | 10, 11 | `__schema/NAME` | `NAME/` | with `NAME.ok` |
//! | since 12 | `__schema/NAME` | `__fragments/NAME/` | with `__commits/NAME.wrt` |
//!
//! An array has traces of several generations if it was written by several. Folders that do not exist count as empty:
//! object stores have no empty folders. Only the last names of URIs are used, since arrays can be moved.

use crate::format::consolidated_commits::ConsolidatedCommits;
use crate::format::ignore_file::IgnoreFile;
use crate::format::timestamped_name::{CommitKind, CommitName, TimestampedName};
use crate::format::vacuum_file::VacuumFile;
use crate::format::{Structure, decode_all, uri_lines};
use hyperslab_core::store::{Entry, EntryKind, Key, Store};
use hyperslab_core::{Decoder, Error, Limits, Result};
use std::collections::BTreeSet;

/// The files of an array, regardless of the moment.
#[derive(Clone, Debug, Default)]
pub struct ArrayDirectory {
    /// The schemas in the order that the library uses, which is the order of their names: the last one is the newest.
    pub schemas: Vec<SchemaFile>,
    /// The complete fragments, ordered by start time.
    pub fragments: Vec<Fragment>,
    /// The vacuum files of fragments, which list what consolidated fragments replace.
    pub fragment_vacuums: Vec<Vacuum>,
    /// The deletes, the oldest first.
    pub deletes: Vec<DeleteCommit>,
    /// The updates, which readers ignore.
    pub updates: Vec<Key>,
    /// The metadata files, ordered by start time.
    pub metadata: Vec<NamedFile>,
    /// The vacuum files of metadata, which list what consolidated metadata files replace.
    pub metadata_vacuums: Vec<Vacuum>,
    /// The files that contain the footers of many fragments.
    pub consolidated_footers: Vec<NamedFile>,
    /// All other entries: incomplete fragments, temporary files, files of other programs.
    pub ignored: Vec<Key>,
}

/// A schema file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFile {
    /// The name. `None` for the only schema before version 10, which is older than all others.
    pub name: Option<TimestampedName>,
    /// The file.
    pub key: Key,
}

/// A complete fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The name.
    pub name: TimestampedName,
    /// The folder.
    pub key: Key,
}

/// A file whose name contains the time when it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// The name, without suffix.
    pub name: TimestampedName,
    /// The file.
    pub key: Key,
}

/// A delete of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteCommit {
    /// The name, without suffix.
    pub name: TimestampedName,
    /// The location of the condition.
    pub place: DeletePlace,
}

/// The location of the generic tile of a delete condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeletePlace {
    /// In a file of its own.
    File(Key),
    /// In a file of consolidated commits; these are the bytes of the tile.
    Consolidated(Vec<u8>),
}

/// A vacuum file: what a consolidated fragment or metadata file replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vacuum {
    /// The name of the file, which is also the name of the consolidated fragment or metadata file.
    pub name: TimestampedName,
    /// The file.
    pub key: Key,
    /// The names of what is replaced.
    pub replaced: BTreeSet<String>,
}

impl DeleteCommit {
    /// The name by which [processed conditions](crate::format::fragment_metadata::processed_conditions) refer to the
    /// delete.
    pub fn marker(&self) -> String {
        format!("{COMMITS}/{}.{}", self.name, CommitKind::Delete.suffix())
    }
}

impl ArrayDirectory {
    /// Lists the folder `array` of a store, and reads the files that determine which other files are valid.
    ///
    /// # Errors
    /// If the store cannot be read, there is no schema, or a file of consolidated commits, a vacuum file or an ignore
    /// file is malformed.
    pub fn read(store: &dyn Store, array: &Key, limits: &Limits) -> Result<Self> {
        let mut listing = Listing { store, array, limits, found: ArrayDirectory::default() };
        let root = store.list(array)?;
        listing.schemas(&root)?;
        let consolidated = listing.commits()?;
        listing.root(&root, &consolidated)?;
        listing.footers()?;
        listing.metadata()?;
        let mut found = listing.found;
        if found.schemas.is_empty() {
            return Err(Error::malformed("no array schema").in_object(array));
        }
        // By the text of their names, as in the library: of two schemas with the times 100 and 20, the one with time 20
        // is the newest.
        found.schemas.sort_by_key(|schema| schema.name.as_ref().map(ToString::to_string));
        found.fragments.sort_by_key(|fragment| order(&fragment.name));
        found.deletes.sort_by_key(|delete| order(&delete.name));
        found.ignored.sort();
        Ok(found)
    }
}

impl ArrayDirectory {
    /// The last time at which anything was written, in milliseconds since 1970. Anything written later takes precedence
    /// over all that exists.
    pub fn newest(&self) -> u64 {
        let schemas = self.schemas.iter().filter_map(|file| file.name.as_ref());
        let fragments = self.fragments.iter().map(|of| &of.name);
        let deletes = self.deletes.iter().map(|of| &of.name);
        let metadata = self.metadata.iter().map(|of| &of.name);
        let names = schemas.chain(fragments).chain(deletes).chain(metadata);
        names.map(|name| name.end).max().unwrap_or(0)
    }
}

/// The order of writes. Of writes that begin at the same time, the library puts the one with the smaller name first.
fn order(name: &TimestampedName) -> (u64, String) {
    (name.start, name.to_string())
}

/// Whether a store has an array at a key.
///
/// # Errors
/// If the store cannot be read.
pub fn is_array(store: &dyn Store, key: &Key) -> Result<bool> {
    if store.size(&key.join(OLD_SCHEMA)?)?.is_some() {
        return Ok(true);
    }
    Ok(store.list(&key.join(SCHEMAS)?)?.iter().any(|entry| entry.kind == EntryKind::Value))
}

struct Listing<'a> {
    store: &'a dyn Store,
    array: &'a Key,
    limits: &'a Limits,
    found: ArrayDirectory,
}

/// The names in files of consolidated commits, except those to be ignored.
struct Consolidated {
    commits: BTreeSet<String>,
}

impl Consolidated {
    fn has(&self, name: &TimestampedName, kind: CommitKind) -> bool {
        self.commits.contains(&CommitName { name: name.clone(), kind }.to_string())
    }
}

impl Listing<'_> {
    fn schemas(&mut self, root: &[Entry]) -> Result<()> {
        if root.iter().any(|entry| entry.name == OLD_SCHEMA) {
            self.found.schemas.push(SchemaFile { name: None, key: self.array.join(OLD_SCHEMA)? });
        }
        let folder = self.array.join(SCHEMAS)?;
        for entry in self.store.list(&folder)? {
            let key = folder.join(&entry.name)?;
            match TimestampedName::parse(&entry.name) {
                Ok(name) if is_file(&entry) => self.found.schemas.push(SchemaFile { name: Some(name), key }),
                _ if entry.name == ENUMERATIONS => {}
                _ => self.found.ignored.push(key),
            }
        }
        Ok(())
    }

    fn commits(&mut self) -> Result<Consolidated> {
        let folder = self.array.join(COMMITS)?;
        let (mut consolidated, mut ignored, mut written) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        for entry in self.store.list(&folder)? {
            let key = folder.join(&entry.name)?;
            let Ok(Some(CommitName { name, kind })) = CommitName::parse(&entry.name) else {
                self.found.ignored.push(key);
                continue;
            };
            match kind {
                CommitKind::Write => {
                    written.insert(name.to_string());
                }
                CommitKind::Delete => {
                    self.found.deletes.push(DeleteCommit { name, place: DeletePlace::File(key) });
                }
                CommitKind::Update => self.found.updates.push(key),
                CommitKind::Vacuum => {
                    let vacuum = self.vacuum(name, key)?;
                    self.found.fragment_vacuums.push(vacuum);
                }
                CommitKind::Consolidated => consolidated.push(self.decode::<ConsolidatedCommits>(&key)?),
                CommitKind::Ignore => ignored.extend(names(&self.decode::<IgnoreFile>(&key)?.uris)),
                CommitKind::Ok | CommitKind::FragmentMetadata => self.found.ignored.push(key),
            }
        }
        let mut commits = BTreeSet::new();
        // Deletes have their own files, or are contained in several of these.
        let mut deletes: BTreeSet<String> =
            self.found.deletes.iter().map(|known| known.name.to_string()).collect();
        for commit in consolidated.into_iter().flat_map(|file| file.commits) {
            let name = lossy(uri_lines::last_name(&commit.uri));
            // Ignore files list commits of fragments that were vacuumed, never deletes.
            if let (Some(file), Ok(Some(commit))) = (commit.delete, CommitName::parse(&name)) {
                if deletes.insert(commit.name.to_string()) {
                    let place = DeletePlace::Consolidated(file);
                    self.found.deletes.push(DeleteCommit { name: commit.name, place });
                }
            } else if !ignored.contains(&name) {
                commits.insert(name);
            }
        }
        for name in &commits {
            match CommitName::parse(name) {
                Ok(Some(CommitName { name, kind: CommitKind::Write })) => {
                    written.insert(name.to_string());
                }
                // Fragments in the folder of the array are searched for there.
                Ok(Some(_)) => {}
                Ok(None) => return Err(Error::malformed(format!("{name:?} among consolidated commits"))),
                Err(e) => return Err(e),
            }
        }
        let folder = self.array.join(FRAGMENTS)?;
        for text in written {
            let fragment = Fragment { name: TimestampedName::parse(&text)?, key: folder.join(&text)? };
            self.found.fragments.push(fragment);
        }
        Ok(Consolidated { commits })
    }

    /// Reads what versions before 12 have in the folder of the array.
    fn root(&mut self, root: &[Entry], consolidated: &Consolidated) -> Result<()> {
        let complete: BTreeSet<&str> =
            root.iter().filter_map(|entry| entry.name.strip_suffix(".ok")).collect();
        for entry in root.iter().filter(|entry| !KNOWN.contains(&entry.name.as_str())) {
            let key = self.array.join(&entry.name)?;
            if let Ok(name) = TimestampedName::parse(&entry.name) {
                let is_complete = match name.fragment_version() < 5 {
                    _ if is_file(entry) => false,
                    true => self.store.size(&key.join(FRAGMENT_METADATA)?)?.is_some(),
                    false => {
                        complete.contains(entry.name.as_str()) || consolidated.has(&name, CommitKind::Ok)
                    }
                };
                match is_complete {
                    true => self.found.fragments.push(Fragment { name, key }),
                    false => self.found.ignored.push(key),
                }
                continue;
            }
            match CommitName::parse(&entry.name) {
                Ok(Some(CommitName { kind: CommitKind::Ok, .. })) => {}
                Ok(Some(CommitName { name, kind: CommitKind::Vacuum })) => {
                    let vacuum = self.vacuum(name, key)?;
                    self.found.fragment_vacuums.push(vacuum);
                }
                Ok(Some(CommitName { name, kind: CommitKind::FragmentMetadata })) => {
                    self.found.consolidated_footers.push(NamedFile { name, key });
                }
                _ => self.found.ignored.push(key),
            }
        }
        Ok(())
    }

    fn footers(&mut self) -> Result<()> {
        let folder = self.array.join(FOOTERS)?;
        for entry in self.store.list(&folder)? {
            let key = folder.join(&entry.name)?;
            match CommitName::parse(&entry.name) {
                Ok(Some(CommitName { name, kind: CommitKind::FragmentMetadata })) => {
                    self.found.consolidated_footers.push(NamedFile { name, key });
                }
                _ => self.found.ignored.push(key),
            }
        }
        Ok(())
    }

    fn metadata(&mut self) -> Result<()> {
        let folder = self.array.join(METADATA)?;
        let (files, vacuums) = named_files(self.store, &folder, self.limits, &mut self.found.ignored)?;
        self.found.metadata = files;
        self.found.metadata_vacuums = vacuums;
        Ok(())
    }

    fn vacuum(&self, name: TimestampedName, key: Key) -> Result<Vacuum> {
        vacuum(self.store, name, key, self.limits)
    }

    fn decode<S: Structure<Context = ()>>(&self, key: &Key) -> Result<S> {
        decode(self.store, key, self.limits)
    }
}

/// The files of a folder whose names contain the time when they were written, ordered by start time, and the vacuum
/// files.
pub(crate) fn named_files(
    store: &dyn Store,
    folder: &Key,
    limits: &Limits,
    ignored: &mut Vec<Key>,
) -> Result<(Vec<NamedFile>, Vec<Vacuum>)> {
    let (mut files, mut vacuums) = (Vec::new(), Vec::new());
    for entry in store.list(folder)? {
        let key = folder.join(&entry.name)?;
        match (TimestampedName::parse(&entry.name), CommitName::parse(&entry.name)) {
            (Ok(name), _) if is_file(&entry) => files.push(NamedFile { name, key }),
            (_, Ok(Some(CommitName { name, kind: CommitKind::Vacuum }))) => {
                vacuums.push(vacuum(store, name, key, limits)?);
            }
            _ => ignored.push(key),
        }
    }
    files.sort_by_key(|file| order(&file.name));
    Ok((files, vacuums))
}

fn vacuum(store: &dyn Store, name: TimestampedName, key: Key, limits: &Limits) -> Result<Vacuum> {
    let replaced = names(&decode::<VacuumFile>(store, &key, limits)?.uris).collect();
    Ok(Vacuum { name, key, replaced })
}

/// Reads a whole file that consists of one structure.
pub(crate) fn decode<S: Structure<Context = ()>>(store: &dyn Store, key: &Key, limits: &Limits) -> Result<S> {
    let Some(bytes) = store.read(key, limits.allocation)? else {
        return Err(Error::malformed("is listed, but cannot be read").in_object(key));
    };
    decode_all(Decoder::new(S::NAME, 0, &bytes), &()).map_err(|e| e.in_object(key))
}

fn is_file(entry: &Entry) -> bool {
    entry.kind == EntryKind::Value
}

fn names(uris: &[Vec<u8>]) -> impl Iterator<Item = String> + '_ {
    uris.iter().map(|uri| lossy(uri_lines::last_name(uri)))
}

/// Names in the format are ASCII; others match nothing.
pub(crate) fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

pub(crate) const COMMITS: &str = "__commits";
pub(crate) const SCHEMAS: &str = "__schema";
pub(crate) const ENUMERATIONS: &str = "__enumerations";
pub(crate) const FRAGMENTS: &str = "__fragments";
pub(crate) const FOOTERS: &str = "__fragment_meta";
pub(crate) const METADATA: &str = "__meta";
pub(crate) const OLD_SCHEMA: &str = "__array_schema.tdb";
const FRAGMENT_METADATA: &str = "__fragment_metadata.tdb";

/// Entries in the folder of an array that are read elsewhere or have no meaning.
const KNOWN: [&str; 8] =
    [SCHEMAS, FRAGMENTS, COMMITS, FOOTERS, METADATA, OLD_SCHEMA, "__labels", "__lock.tdb"];

#[cfg(test)]
pub(crate) mod tests;
