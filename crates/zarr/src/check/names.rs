//! Checks the entries at a path and the names of nodes.
//!
//! Spec: Zarr v3 "Node names", "File system store"

use super::findings::Found;
use super::{Checker, rule};
use crate::metadata::DOCUMENTS;
use crate::name::{self, Reason};
use crate::write::Version;
use hyperslab_core::ErrorKind;
use hyperslab_core::store::{EntryKind, Key};
use std::collections::HashMap;

/// The entries directly below a path, sorted by name, without links that are not followed.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) values: Vec<String>,
    pub(super) prefixes: Vec<String>,
}

impl Listing {
    pub(super) fn has(&self, name: &str) -> bool {
        self.values.binary_search_by(|found| found.as_str().cmp(name)).is_ok()
    }
}

/// Whether this is the name of a document.
pub(super) fn is_document(name: &str) -> bool {
    DOCUMENTS.contains(&name)
}

impl Checker<'_> {
    /// Lists a path. `None` after an error.
    pub(super) fn list(&mut self, path: &Key) -> Option<Listing> {
        let entries = match self.store.list(path) {
            Ok(entries) => entries,
            Err(e) => {
                let message = format!("the entries cannot be listed: {}", e.reason());
                self.tell(&rule::VALUE, path, message);
                return None;
            }
        };
        let mut listing = Listing::default();
        let mut folded: HashMap<String, &str> = HashMap::new();
        for entry in &entries {
            if let Some(other) = folded.insert(entry.name.to_lowercase(), &entry.name) {
                let message = format!("{other:?} and {:?} are the same name if case is ignored", entry.name);
                self.tell(&rule::CASE_CLASH, path, message);
            }
        }
        for entry in entries {
            let Ok(key) = path.join(&entry.name) else {
                self.tell(
                    &rule::VALUE,
                    path,
                    format!("the name {:?}, which is not allowed in a key", entry.name),
                );
                continue;
            };
            match entry.kind {
                EntryKind::Value => listing.values.push(entry.name),
                EntryKind::Prefix => listing.prefixes.push(entry.name),
                EntryKind::Alias => {
                    self.tell(
                        &rule::ALIAS,
                        &key,
                        "a symbolic link to another folder of the store".to_owned(),
                    );
                }
                EntryKind::Refused(why) | EntryKind::Unfollowed(why) => {
                    let message = format!("{why}, which is not followed");
                    let found = Found { object: Some(path), key: Some(&key), message, ..Found::default() };
                    self.findings.add(&rule::LINK, found);
                }
            }
        }
        Some(listing)
    }

    pub(super) fn stray(&mut self, path: &Key, name: &str) {
        if let Ok(key) = path.join(name) {
            let message = "a value that does not belong to a node".to_owned();
            let found = Found { object: Some(path), key: Some(&key), message, ..Found::default() };
            self.findings.add(&rule::STRAY, found);
        }
    }

    /// Reports a value that cannot be read.
    pub(super) fn tell_unreadable(&mut self, path: &Key, key: &Key, e: &hyperslab_core::Error) {
        let rule = if e.kind() == ErrorKind::LimitExceeded { &rule::LIMIT } else { &rule::VALUE };
        let message = e.reason().to_string();
        self.findings.add(rule, Found { object: Some(path), key: Some(key), message, ..Found::default() });
    }

    pub(super) fn check_node_name(&mut self, path: &Key, version: Version) {
        let name = path.name();
        if path.is_root() {
            return;
        }
        let reason = name::forbids(name, version);
        let rule = match reason {
            Some(Reason::OnlyDots | Reason::Reserved) => &rule::RESERVED_NAME,
            Some(Reason::Document) if is_document(name) => &rule::RESERVED_NAME,
            // Names that look encoded are allowed, so they are not reported.
            None | Some(Reason::Percent) => {
                let forbidden = |c: &char| r#":*?"<>|"#.contains(*c);
                let what = match name.chars().find(forbidden) {
                    Some(c) => format!("a name with {c:?}"),
                    None if name.ends_with(['.', ' ']) => {
                        "a name that ends with a period or a space".to_owned()
                    }
                    None => return,
                };
                self.tell(&rule::UNPORTABLE_NAME, path, format!("{what}, which not all file systems allow"));
                return;
            }
            Some(_) => &rule::UNPORTABLE_NAME,
        };
        let what = reason.map(|reason| reason.to_string()).unwrap_or_default();
        self.tell(rule, path, format!("a name that {what}"));
    }
}
