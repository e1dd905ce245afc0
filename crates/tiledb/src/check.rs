//! Checks whether an array or a group is valid: whether its files agree with each other, and with the cells.
//!
//! [`check`] begins with the files that determine which other files are valid, and continues with all fragments,
//! whether they are visible at present or not. A group is checked together with its members, and an array together with
//! the arrays of its dimension labels.
//!
//! ```
//! use hyperslab_core::Severity;
//! use hyperslab_core::store::{Key, MemoryStore, Store};
//! use hyperslab_tiledb::array::OpenOptions;
//! use hyperslab_tiledb::check::{Options, check};
//! use std::sync::Arc;
//!
//! let mut store = MemoryStore::new();
//! store.insert(&Key::new("__array_schema.tdb")?, "no schema");
//! let store: Arc<dyn Store> = Arc::new(store);
//! let mut findings = Vec::new();
//! let options = Options::default();
//! let summary = check(&store, &Key::root(), &OpenOptions::default(), &options, &mut |found| findings.push(found))?;
//! assert_eq!(summary.count(Severity::Error), 1);
//! assert_eq!(findings[0].rule, "tiledb/structure");
//! # Ok::<(), hyperslab_core::Error>(())
//! ```

mod cells;
mod commits;
mod findings;
mod fragment;
mod group;
mod order;
mod rule;
mod schema;
mod tiles;

pub use findings::{Finding, Summary};
pub use hyperslab_core::check::{Options, Rule};
pub use rule::RULES;
pub(crate) use schema::{faults, most_values};

use crate::array::OpenOptions;
use crate::directory::{ArrayDirectory, is_array};
use crate::group_directory::is_group;
use crate::read::generic_tile::GenericTiles;
use findings::{Findings, Place};
use hyperslab_core::Result;
use hyperslab_core::store::{Key, Store};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Checks the array or the group at a key of a store, and calls `found` with each finding.
///
/// The moment in `open` is ignored. Besides metadata, one tile of each field of a fragment is in memory at a time.
///
/// # Errors
/// If reading fails. Faults in the bytes are findings, not errors.
pub fn check(
    store: &Arc<dyn Store>,
    at: &Key,
    open: &OpenOptions,
    options: &Options,
    found: &mut dyn FnMut(Finding),
) -> Result<Summary> {
    let mut checker = Checker {
        store,
        open,
        options,
        findings: Findings::new(options, found),
        known: BTreeSet::new(),
        above: Vec::new(),
    };
    if checker.object(at)?.is_none() {
        let message = "no array schema and no __group, expected one of them";
        checker.findings.add(&rule::NO_OBJECT, Place::of(at), message);
    }
    Ok(checker.findings.finish())
}

/// The state of a check.
struct Checker<'a> {
    store: &'a Arc<dyn Store>,
    open: &'a OpenOptions,
    options: &'a Options,
    findings: Findings<'a>,
    /// The arrays and groups that were checked.
    known: BTreeSet<Key>,
    /// The groups that contain the current object, the outermost first.
    above: Vec<Key>,
}

/// The kind of a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Array,
    Group,
}

impl<'a> Checker<'a> {
    /// Checks the object at a key, if it is an array or a group.
    fn object(&mut self, at: &Key) -> Result<Option<Kind>> {
        let kind = match (is_array(&**self.store, at)?, is_group(&**self.store, at)?) {
            (true, _) => Kind::Array,
            (false, true) => Kind::Group,
            (false, false) => return Ok(None),
        };
        if self.known.insert(at.clone()) {
            match kind {
                Kind::Array => self.array(at)?,
                Kind::Group => self.group(at)?,
            }
        }
        Ok(Some(kind))
    }

    fn array(&mut self, at: &Key) -> Result<()> {
        self.findings.summary.arrays = self.findings.summary.arrays.saturating_add(1);
        let directory = ArrayDirectory::read(&**self.store, at, &self.open.limits);
        let Some(directory) = self.findings.valid(directory, &rule::STRUCTURE, Place::of(at))? else {
            return Ok(());
        };
        let schemas = self.schemas(at, &directory)?;
        self.commits(at, &directory)?;
        let Some(array) = self.opened(at, directory, &schemas) else { return Ok(()) };
        self.deletes(at, &array, &schemas)?;
        self.metadata(at, &array.directory().metadata)?;
        self.labels(at, &array)?;
        let copies = self.consolidated_footers(at, array.directory())?;
        for fragment in &array.directory().fragments {
            self.findings.summary.fragments = self.findings.summary.fragments.saturating_add(1);
            self.fragment(at, &array, fragment, &schemas, &copies)?;
        }
        Ok(())
    }

    fn generic_tiles(&self) -> GenericTiles<'a> {
        GenericTiles { store: &**self.store, key: self.open.key.as_ref(), limits: &self.open.limits }
    }
}
