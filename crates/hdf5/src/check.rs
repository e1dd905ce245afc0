//! Checks whether a file is valid: every structure that can be reached, against the specification and against other
//! structures.
//!
//! [`check`] walks the file once, from the superblock to the last heap, and reports each fault as a [`Finding`] of a
//! [`Rule`]. A broken structure does not hide the others: if only its checksum is wrong it is used, otherwise the
//! walk continues without it. Every structure claims its bytes, so that in the end the whole file is accounted for.
//!
//! ```
//! use hyperslab_core::{Limits, Severity, storage::FileStorage};
//! use hyperslab_hdf5::check::{Options, check};
//!
//! let storage = Box::new(FileStorage::open("../../examples/ocean.nc")?);
//! let summary = check(storage, Limits::default(), &Options::default(), &mut |finding| {
//!     println!("{} {}", finding.rule, finding.message);
//! })?;
//! assert_eq!(summary.count(Severity::Error), 0);
//! # Ok::<(), hyperslab_core::Error>(())
//! ```

mod attributes;
mod btree_v1;
mod btree_v2;
mod chunk_arrays;
mod chunks;
mod dataset;
mod dimension_scales;
mod elements;
mod extents;
mod file_space;
mod findings;
mod fractal_heap;
mod free_space;
mod global_heap;
mod links;
mod local_heap;
mod message;
mod object;
mod object_header;
mod objects;
mod reading;
mod rule;
mod semantics;
mod shared_messages;
mod superblock;
mod virtual_dataset;

pub use findings::{Extent, Finding, Summary};
pub use hyperslab_core::check::{Options, Rule};
pub use rule::RULES;

use crate::format::message::btree_k_values::BtreeKValues;
use crate::format::message::datatype::Datatype;
use crate::navigate::Reader;
use dimension_scales::DimensionScales;
use extents::Extents;
use global_heap::Collections;
use hyperslab_core::check::Findings;
use hyperslab_core::storage::{ReadAt, Siblings};
use hyperslab_core::{Limits, Result};
use objects::Objects;
use rustc_hash::{FxHashMap, FxHashSet};
use shared_messages::SharedMessages;
use std::rc::Rc;
use std::sync::Arc;

/// Checks the file in `storage`, and calls `found` with each finding. For a file that is split over several, any
/// member can be given if it was opened by its path. Offsets then count from the beginning of the whole.
///
/// Memory is bounded by 64 MiB plus four times the size of the file, plus one chunk if [`Options::values`] is set.
///
/// # Errors
/// If reading fails, or other members of a split file are missing. Faults in the bytes are findings, not errors.
pub fn check(
    storage: Box<dyn ReadAt>,
    limits: Limits,
    options: &Options,
    found: &mut dyn FnMut(Finding),
) -> Result<Summary> {
    check_and_map(storage, limits, options, found, &mut |_| {})
}

/// As [`check`]. Also calls `extent` with each range of the file when it is reached, and with its parts that have
/// names of their own, such as messages in object headers.
///
/// # Errors
/// As [`check`].
pub fn check_and_map(
    storage: Box<dyn ReadAt>,
    limits: Limits,
    options: &Options,
    found: &mut dyn FnMut(Finding),
    extent: &mut dyn FnMut(Extent),
) -> Result<Summary> {
    let siblings = storage.siblings();
    let (storage, mut holes) = crate::file::whole(storage, limits)?;
    let mut len = storage.len()?;
    if let Some(cut) = holes.pop_if(|hole| hole.end == len) {
        len = cut.start;
    }
    let mut findings = Findings::new(options, found);
    let Some(start) = superblock::start(&storage, len, limits, !holes.is_empty(), &mut findings)? else {
        return Ok(Summary { by_rule: findings.by_rule(RULES), objects: 0, unaccounted: None });
    };
    let in_holes = holes.iter().fold(0_u64, |sum, hole| sum.saturating_add(hole.end - hole.start));
    let stored = len.saturating_sub(in_holes);
    let mut checker = Checker {
        base: start.base,
        end: start.end,
        len,
        stored,
        reader: start.reader,
        storage,
        options,
        findings,
        trace: extent,
        extents: Extents::new(max(stored, EXTENT_SIZE)),
        objects: Objects::new(max(stored, OBJECT_SIZE)),
        visited: FxHashSet::default(),
        bytes_left: stored.saturating_mul(METADATA_READS).saturating_add(MIN_ALLOWANCE),
        raw_left: stored.saturating_mul(RAW_READS).saturating_add(MIN_RAW),
        decoded: FxHashSet::default(),
        tired: false,
        complete: true,
        current: objects::FILE,
        k: start.k,
        shared: SharedMessages::default(),
        collections: Collections::default(),
        types: FxHashMap::default(),
        siblings,
        asked: FxHashMap::default(),
        asked_enough: false,
        scales: DimensionScales::default(),
        sources: Vec::new(),
        file_space: None,
        page_size: None,
    };
    for hole in holes {
        checker.claim("no member", hole.start, hole.end - hole.start);
    }
    checker.superblock(&start.superblock)?;
    checker.root(&start.superblock)?;
    let mut next = objects::FILE + 1;
    while checker.objects.exists(next) {
        checker.object(next)?;
        next += 1;
    }
    checker.finish()
}

/// The state of a check.
struct Checker<'a> {
    reader: Reader,
    storage: Arc<dyn ReadAt>,
    /// The file offset that addresses count from.
    base: u64,
    /// The end-of-file address, as a file offset.
    end: u64,
    /// The size of the file, or of all members of a split file, between which there are holes.
    len: u64,
    stored: u64,
    options: &'a Options,
    findings: Findings<'a, Finding>,
    trace: &'a mut dyn FnMut(Extent),
    extents: Extents,
    objects: Objects,
    /// Addresses of structures that must have one owner only.
    visited: FxHashSet<u64>,
    /// The bytes of metadata that may still be read. Structures do not share bytes, so a valid file needs less.
    bytes_left: u64,
    /// The same for raw data.
    raw_left: u64,
    /// Addresses of chunks that were decoded.
    decoded: FxHashSet<u64>,
    /// Whether it was reported that one of these budgets is used up.
    tired: bool,
    /// Whether all links could be read. Only then an object that was not reached is known to have no link.
    complete: bool,
    /// The object that findings refer to.
    current: u32,
    /// The sizes of nodes of version 1 B-trees.
    k: BtreeKValues,
    shared: SharedMessages,
    collections: Collections,
    /// Committed datatypes by address. Only kept while they are few.
    types: FxHashMap<u64, Option<Rc<Datatype>>>,
    /// The directory of the file, if it was opened by a path.
    siblings: Option<Arc<dyn Siblings>>,
    /// The lengths of the files in it that were looked for; `None` for a missing one.
    asked: FxHashMap<String, Option<u64>>,
    /// Whether it was reported that more files are not looked for.
    asked_enough: bool,
    scales: DimensionScales,
    /// Sources of virtual datasets within this file, with the dataset and the place of its mappings.
    sources: Vec<(u32, Vec<u8>, u64)>,
    file_space: Option<file_space::Known>,
    /// The size of the pages of file space whose unused ends nothing manages.
    page_size: Option<u64>,
}

impl Checker<'_> {
    /// Checks that need the whole file to be walked.
    fn finish(mut self) -> Result<Summary> {
        self.current = objects::FILE;
        self.check_shared_messages()?;
        self.check_collections();
        self.check_reference_counts();
        self.check_references();
        self.check_soft_links();
        self.check_virtual_sources();
        self.check_dimension_scales();
        self.check_file_space()?;
        let unaccounted = self.account()?;
        let by_rule = self.findings.by_rule(RULES);
        Ok(Summary { by_rule, objects: self.objects.len(), unaccounted })
    }
}

/// The number of items of `size` bytes that may be kept for a file of `len` bytes.
fn max(len: u64, size: u64) -> usize {
    usize::try_from(len.saturating_add(MIN_ALLOWANCE) / size).unwrap_or(usize::MAX)
}

const MIN_ALLOWANCE: u64 = 16 << 20;
const MIN_RAW: u64 = 1 << 20;
/// Bytes per range while the map of the file is merged.
const EXTENT_SIZE: u64 = 48;
/// Bytes per object in all tables.
const OBJECT_SIZE: u64 = 192;
/// The number of times that a valid file needs its bytes as metadata, with some reserve: objects of a heap are read
/// with their block, and once for each index.
const METADATA_READS: u64 = 8;
const RAW_READS: u64 = 4;
