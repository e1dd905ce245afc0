//! Documents of a remote store, several of which were fetched in one request.

use super::Hierarchy;
use crate::metadata::{v2, v3};
use bytes::Bytes;
use hyperslab_core::store::Key;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The documents that are kept, and the keys without a document. If the store changes in the meantime, an old state of
/// some documents may be returned.
#[derive(Default)]
pub(super) struct Fetched(Mutex<Documents>);

#[derive(Default)]
struct Documents {
    found: HashMap<Key, Option<Bytes>>,
    /// The size in bytes of the documents and their keys.
    bytes: usize,
}

impl Fetched {
    /// The document of `key`, if it was fetched; the inner option is `None` if there is no document.
    pub(super) fn get(&self, key: &Key) -> Option<Option<Bytes>> {
        self.held().found.get(key).cloned()
    }

    /// Keeps a document, or the fact that there is none. All others are dropped if the cache would become too large.
    pub(super) fn keep(&self, key: Key, document: Option<Bytes>) {
        let mut held = self.held();
        let bytes = document.as_ref().map_or(0, Bytes::len).saturating_add(key.as_str().len() + KEPT);
        if held.bytes.saturating_add(bytes) > CAPACITY {
            *held = Documents::default();
        }
        held.bytes = held.bytes.saturating_add(bytes);
        held.found.insert(key, document);
    }

    fn held(&self) -> MutexGuard<'_, Documents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hierarchy {
    /// Fetches the documents of nodes that will be read soon, if the store is remote: in one request for the documents
    /// of version 3, and in another for nodes that have none. What cannot be fetched is read, and its error reported,
    /// when its node is read.
    pub fn fetch<'p>(&self, paths: impl Iterator<Item = &'p Key>) {
        let Some(fetched) = self.fetched.as_ref().filter(|_| self.consolidated.is_none()) else { return };
        let mut paths = paths.peekable();
        while paths.peek().is_some() {
            let mut part: Vec<&Key> = paths.by_ref().take(MAX_NODES).collect();
            self.fetch_documents(&part, &[v3::DOCUMENT]);
            let has_none = |path: &&Key| {
                path.join(v3::DOCUMENT).is_ok_and(|document| fetched.get(&document) == Some(None))
            };
            part.retain(has_none);
            self.fetch_documents(&part, &[v2::ARRAY, v2::GROUP, v2::ATTRIBUTES]);
        }
    }

    /// Fetches those documents with these names that have not been fetched yet.
    fn fetch_documents(&self, paths: &[&Key], names: &[&'static str]) {
        let Some(fetched) = &self.fetched else { return };
        // A path that cannot have a document has none to fetch.
        let keys = paths.iter().flat_map(|path| names.iter().filter_map(|name| path.join(name).ok()));
        let keys: Vec<_> = keys.filter(|key| fetched.get(key).is_none()).collect();
        if keys.is_empty() {
            return;
        }
        let read = self.store.read_many(&keys, MAX_DOCUMENT.min(self.limits.allocation));
        for (key, document) in keys.into_iter().zip(read) {
            if let Ok(document) = document {
                fetched.keep(key, document);
            }
        }
    }
}

/// The maximum number of nodes whose documents are requested together.
const MAX_NODES: usize = 256;
/// The maximum size in bytes of a document that is fetched with others.
const MAX_DOCUMENT: u64 = 256 << 10;
/// The maximum number of bytes of documents that are kept.
const CAPACITY: usize = 8 << 20;
/// The number of bytes that an entry takes in addition to its key and its document.
const KEPT: usize = 96;
