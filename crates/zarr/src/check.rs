//! Checks whether a store conforms to the specification: all its documents and chunks, and their relations.
//!
//! [`check`] visits all names in a store, not only those of nodes, and reports each error as a [`Finding`] of a [`Rule`].
//! An error does not hide others: if a member of a document is invalid, it is reported and replaced by a valid one, so
//! that the check continues.
//!
//! ```
//! use hyperslab_core::{Limits, Severity};
//! use hyperslab_zarr::check::{Options, check};
//! use hyperslab_core::store::{Key, MemoryStore};
//!
//! let mut store = MemoryStore::new();
//! store.insert(&Key::new("zarr.json")?, r#"{"zarr_format": 3, "node_type": "group", "attributes": 7}"#);
//! let mut findings = Vec::new();
//! let summary = check(&store, Limits::default(), &Options::default(), &mut |finding| findings.push(finding));
//! assert_eq!(summary.count(Severity::Error), 1);
//! assert_eq!(findings[0].rule, "zarr/attributes");
//! assert_eq!(findings[0].message, "a number, expected an object");
//! # Ok::<(), hyperslab_core::Error>(())
//! ```

mod array;
mod chunk;
mod consolidated;
mod dimensions;
mod document;
mod findings;
mod mend;
mod names;
mod rule;
mod shard;
mod text;

pub use findings::{Finding, Summary, ValuePlace};
pub use hyperslab_core::check::{Options, Rule};
pub use rule::RULES;

use crate::hierarchy::{Metadata, Node};
use crate::metadata::{v2, v3};
use crate::write::Version;
use consolidated::Copies;
use dimensions::Lengths;
use document::Document;
use findings::{Findings, Found};
use hyperslab_codec::Scratch;
use hyperslab_core::storage::ReadAt;
use hyperslab_core::store::{Key, Store, ZipStore};
use hyperslab_core::{ErrorKind, Limits, Result};
use names::Listing;

/// Checks the whole content of a store, and calls `found` with each finding.
///
/// At most one chunk or shard is in memory at a time, besides documents, whose size `limits` restrict.
pub fn check(
    store: &dyn Store,
    limits: Limits,
    options: &Options,
    found: &mut dyn FnMut(Finding),
) -> Summary {
    let mut checker = Checker {
        store,
        limits,
        options,
        findings: Findings::new(options, found),
        copies: Vec::new(),
        scratch: Scratch::new(),
        rows: Vec::new(),
        nodes: 0,
        chunks: 0,
    };
    checker.walk();
    checker.findings.summary(checker.nodes, checker.chunks)
}

/// Checks a zip file, which may not contain a store.
///
/// # Errors
/// If reading fails. Errors in the content are findings.
pub fn check_zip(
    file: Box<dyn ReadAt>,
    limits: Limits,
    options: &Options,
    found: &mut dyn FnMut(Finding),
) -> Result<Summary> {
    match ZipStore::open(file, &limits) {
        Ok(store) => Ok(check(&store, limits, options, found)),
        Err(e) if e.kind() == ErrorKind::Io => Err(e),
        Err(e) => {
            let mut findings = Findings::new(options, found);
            let rule = if e.kind() == ErrorKind::LimitExceeded { &rule::LIMIT } else { &rule::ZIP };
            let place = e.place().map(|place| ValuePlace::Bytes { byte: place.offset, len: 1 });
            findings.add(rule, Found { place, message: e.reason().to_string(), ..Found::default() });
            Ok(findings.summary(0, 0))
        }
    }
}

/// The state of a check.
struct Checker<'a> {
    store: &'a dyn Store,
    limits: Limits,
    options: &'a Options,
    findings: Findings<'a>,
    /// The consolidated metadata of the current group and its parents, outermost first.
    copies: Vec<Copies>,
    scratch: Scratch,
    /// The rows of a chunk.
    rows: Vec<u8>,
    nodes: u64,
    chunks: u64,
}

/// The kind of a path outside of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A group of this version.
    Group(u8),
    /// A folder without documents.
    Folder,
    /// A node whose document does not give its kind.
    Unknown,
}

/// The kind of node of a document.
enum Visited {
    /// An array, which is checked completely.
    Array,
    Group,
    Unknown,
}

/// A path whose entries are not all visited.
struct Frame {
    path: Key,
    kind: Kind,
    /// The names that are still to be visited, the next one last.
    left: Vec<String>,
    /// The lengths of the dimensions in its arrays.
    lengths: Lengths,
    has_copies: bool,
    has_nodes: bool,
    /// Values in folders without nodes.
    strays: u64,
}

impl Checker<'_> {
    fn walk(&mut self) {
        let mut frames = Vec::new();
        frames.extend(self.visit(Key::root(), None));
        while let Some(frame) = frames.last_mut() {
            let Some(name) = frame.left.pop() else {
                if let Some(done) = frames.pop() {
                    self.leave(done, frames.last_mut());
                }
                continue;
            };
            let Ok(path) = frame.path.join(&name) else { continue };
            if path.as_str().split('/').count() >= MAX_DEPTH {
                let message = format!("folders nested more than {MAX_DEPTH} levels deep");
                self.findings.add(&rule::LIMIT, Found { object: Some(&path), message, ..Found::default() });
                continue;
            }
            let nodes = self.nodes;
            let inner = self.visit(path, Some(frame));
            frame.has_nodes |= self.nodes > nodes;
            frames.extend(inner);
        }
        if self.nodes == 0 {
            let message = "no zarr.json, .zgroup or .zarray, expected one at the root".to_owned();
            self.findings.add(&rule::NO_NODE, Found { message, ..Found::default() });
        }
    }

    /// Checks a path. Arrays are checked with everything below them.
    fn visit(&mut self, path: Key, parent: Option<&mut Frame>) -> Option<Frame> {
        let mut listing = self.list(&path)?;
        let is_3 = listing.has(v3::DOCUMENT);
        let (is_array, is_group) = (listing.has(v2::ARRAY), listing.has(v2::GROUP));
        let copies = self.copies.len();
        let mut kind = match (is_3, is_array || is_group) {
            (true, _) => Kind::Group(3),
            (_, true) => Kind::Group(2),
            _ => Kind::Folder,
        };
        if kind != Kind::Folder {
            self.nodes += 1;
            self.check_node_name(&path, if is_3 { Version::V3 } else { Version::V2 });
        }
        if is_3 && (is_array || is_group) {
            let other = if is_array { v2::ARRAY } else { v2::GROUP };
            self.tell(&rule::TWO_VERSIONS, &path, format!("zarr.json and {other}, expected one of them"));
        }
        if let (Kind::Group(version), Some(Kind::Group(outer))) =
            (kind, parent.as_ref().map(|frame| frame.kind))
            && version != outer
        {
            let message = format!("a node of version {version} in a group of version {outer}");
            self.tell(&rule::MIXED_VERSIONS, &path, message);
        }
        match (is_3, is_array, is_group) {
            (true, ..) => match self.node_3(&path, &listing, parent) {
                Visited::Array => return None,
                Visited::Group => {}
                Visited::Unknown => kind = Kind::Unknown,
            },
            (_, true, _) => match self.array_2(&path, &listing) {
                Visited::Unknown => kind = Kind::Unknown,
                _ => return None,
            },
            (_, _, true) => self.group_2(&path, &listing),
            _ if listing.has(v2::ATTRIBUTES) => {
                let message = "attributes without a node, expected .zgroup or .zarray beside them".to_owned();
                self.tell(&rule::ATTRIBUTES_ALONE, &path, message);
            }
            _ => {}
        }
        let mut strays = 0_u64;
        for name in listing.values.iter().filter(|name| !names::is_document(name)) {
            match kind {
                Kind::Group(_) => self.stray(&path, name),
                Kind::Folder => strays += 1,
                Kind::Unknown => {}
            }
        }
        listing.prefixes.reverse();
        let left = listing.prefixes;
        let has_copies = self.copies.len() > copies;
        let lengths = Lengths::default();
        Some(Frame { path, kind, left, lengths, has_copies, has_nodes: false, strays })
    }

    /// Checks that are possible only when everything below a group or folder was visited.
    fn leave(&mut self, done: Frame, parent: Option<&mut Frame>) {
        if done.has_copies
            && let Some(copies) = self.copies.pop()
        {
            self.check_rest(copies);
        }
        let Frame { path, kind, has_nodes, strays, .. } = done;
        let Some(parent) = parent else {
            match (kind, has_nodes) {
                (Kind::Folder, true) => {
                    let message = "no document of a group at the root, expected zarr.json".to_owned();
                    self.tell(&rule::IMPLICIT_GROUP, &path, message);
                }
                (Kind::Folder, false) => self.findings.count_more(&rule::STRAY, strays),
                _ => {}
            }
            return;
        };
        parent.has_nodes |= has_nodes;
        match (kind, has_nodes, parent.kind) {
            (Kind::Folder, true, _) => {
                let message = "nodes in a folder without a document, expected the document of a group";
                self.tell(&rule::IMPLICIT_GROUP, &path, message.to_owned());
            }
            (Kind::Folder, false, Kind::Folder) => parent.strays = parent.strays.saturating_add(strays),
            (Kind::Folder, false, Kind::Group(_)) if strays > 0 => {
                let message = format!("a folder without a group or an array, with {strays} values");
                self.tell(&rule::STRAY, &path, message);
            }
            _ => {}
        }
    }

    fn node_3(&mut self, path: &Key, listing: &Listing, parent: Option<&mut Frame>) -> Visited {
        let Some(document) = self.document(path, v3::DOCUMENT) else { return Visited::Unknown };
        self.compare(path, &document);
        let Some((metadata, is_sound)) = self.parse_3(path, &document) else { return Visited::Unknown };
        match metadata {
            v3::NodeMetadata::Group(group) => {
                if let Some(copies) = &group.consolidated_metadata {
                    self.copies.push(Copies::of_v3(path, &copies.metadata, document));
                }
                Visited::Group
            }
            v3::NodeMetadata::Array(array) => {
                if let Some(frame) = parent
                    && is_sound
                {
                    self.check_lengths(path, &array, &document, &mut frame.lengths);
                }
                let array = v3::NodeMetadata::Array(array);
                let node = Node { path: path.clone(), metadata: Metadata::V3(array) };
                self.array(&node, is_sound, &document, listing);
                Visited::Array
            }
        }
    }

    fn array_2(&mut self, path: &Key, listing: &Listing) -> Visited {
        if listing.has(v2::GROUP) {
            let message = ".zarray and .zgroup, expected one of them".to_owned();
            self.tell(&rule::TWO_KINDS, path, message);
            if let Some(document) = self.document(path, v2::GROUP) {
                self.compare(path, &document);
            }
        }
        self.attributes_2(path, listing);
        let Some(document) = self.document(path, v2::ARRAY) else { return Visited::Unknown };
        self.compare(path, &document);
        let Some((array, is_sound)) = self.parse_array_2(path, &document) else { return Visited::Unknown };
        let metadata = Metadata::V2Array { array: Box::new(array), attributes: None };
        self.array(&Node { path: path.clone(), metadata }, is_sound, &document, listing);
        Visited::Array
    }

    fn group_2(&mut self, path: &Key, listing: &Listing) {
        if listing.has(v2::CONSOLIDATED)
            && let Some(document) = self.document(path, v2::CONSOLIDATED)
            && let Some(copies) = self.parse_consolidated_2(path, &document)
        {
            self.copies.push(Copies::of_v2(path, &copies.metadata, document));
        }
        self.attributes_2(path, listing);
        if let Some(document) = self.document(path, v2::GROUP) {
            self.compare(path, &document);
            self.check_group_2(path, &document);
        }
    }

    fn attributes_2(&mut self, path: &Key, listing: &Listing) {
        if listing.has(v2::ATTRIBUTES)
            && let Some(document) = self.document(path, v2::ATTRIBUTES)
        {
            self.compare(path, &document);
            if document.json.as_object().is_none() {
                let message = format!("{}, expected an object", document.json.kind());
                self.tell_at(&rule::ATTRIBUTES, path, &document, "", message);
            }
        }
    }

    /// Adds a finding about a node or folder.
    fn tell(&mut self, rule: &'static Rule, path: &Key, message: String) {
        self.findings.add(rule, Found { object: Some(path), message, ..Found::default() });
    }

    /// Adds a finding at a place in a document.
    fn tell_at(
        &mut self,
        rule: &'static Rule,
        path: &Key,
        document: &Document,
        pointer: &str,
        message: String,
    ) {
        // Finding the line of a place scans the whole document. Findings that are only counted do not need it.
        if self.findings.wants(rule) {
            let (object, key) = (Some(path), Some(&document.key));
            let place = Some(document.place(pointer));
            self.findings.give(rule, Found { object, key, place, message, hint: None });
        }
    }
}

/// The maximum nesting of folders. Paths in file systems are rarely longer, and no array has as many dimensions.
const MAX_DEPTH: usize = 256;
