//! The joined stores: their paths, their lengths, and the few that are open.

use super::opening::Opening;
use super::recounted::{NewCounts, Recounted};
use crate::source::{ArraySource, Source};
use hyperslab_core::{Error, Result};
use hyperslab_model::NodePath;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::fs;
use std::ops::Range;
use std::path::{self, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// How time counts in arrays of a store are converted to those of the first store.
pub(super) type Recounts = FxHashMap<NodePath, NewCounts>;

/// Stores in the order in which they are joined.
pub(super) struct Stores {
    /// The paths as they were given, and as absolute paths that stay valid if the working directory changes.
    paths: Vec<PathBuf>,
    absolute: Vec<PathBuf>,
    opening: Opening,
    first: Arc<dyn Source>,
    /// The position at which each store begins, and the length of all.
    starts: Vec<u64>,
    recounts: Vec<Option<Arc<Recounts>>>,
    /// Stamps that show whether a store is still the one that was compared.
    stamps: Vec<Option<Stamp>>,
    /// The most recently used of the other stores, the latest one at the end.
    open: Mutex<VecDeque<(usize, Arc<Opened>)>>,
}

/// An open store with the arrays that were read.
struct Opened {
    source: Arc<dyn Source>,
    arrays: Mutex<FxHashMap<NodePath, Arc<dyn ArraySource>>>,
}

/// The size and modification time of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    /// The stamp of the file that is now at a path; `None` for a folder, whose files can change without any trace in
    /// the folder itself.
    pub(super) fn of(path: &Path) -> Option<Stamp> {
        let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(Stamp { bytes: found.len(), modified: found.modified().ok() })
    }
}

impl Stores {
    pub(super) fn new(paths: Vec<PathBuf>, first: Arc<dyn Source>, opening: Opening) -> Stores {
        let absolute = |path: &PathBuf| path::absolute(path).unwrap_or_else(|_| path.clone());
        let absolute = paths.iter().map(absolute).collect();
        let (recounts, stamps, open) = (Vec::new(), Vec::new(), Mutex::default());
        Stores { paths, absolute, opening, first, starts: vec![0], recounts, stamps, open }
    }

    /// Adds the length of the next store. `stamp` is that of its file before it was opened.
    pub(super) fn push(&mut self, length: u64, recounts: Recounts, stamp: Option<Stamp>) {
        self.starts.push(self.length().saturating_add(length));
        self.stamps.push(stamp);
        self.recounts.push((!recounts.is_empty()).then(|| Arc::new(recounts)));
    }

    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The path of a store from the root.
    pub(super) fn absolute(&self, store: usize) -> &Path {
        self.absolute.get(store).map_or(Path::new(""), PathBuf::as_path)
    }

    pub(super) fn first(&self) -> &Arc<dyn Source> {
        &self.first
    }

    /// The length of all stores together.
    pub(super) fn length(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The number of stores.
    pub(super) fn count(&self) -> usize {
        self.paths.len()
    }

    /// The store that contains a position; empty stores contain none.
    pub(super) fn at(&self, position: u64) -> usize {
        self.starts.partition_point(|start| *start <= position).saturating_sub(1)
    }

    /// The range of positions in a store.
    pub(super) fn span(&self, store: usize) -> Range<u64> {
        let at = |number: usize| self.starts.get(number).copied().unwrap_or(self.length());
        at(store)..at(store.saturating_add(1))
    }

    /// The elements of an array in one store, with time counts converted to those of the first store.
    pub(super) fn array(&self, store: usize, path: &NodePath) -> Result<Arc<dyn ArraySource>> {
        let name = || self.paths.get(store).map(|path| path.display().to_string()).unwrap_or_default();
        let found = || {
            let opened = self.opened(store)?;
            if let Some(known) = lock(&opened.arrays).get(path) {
                return Ok(Arc::clone(known));
            }
            let source = &opened.source;
            let handle = source.find(path)?.handle;
            let mut array = source.array(&handle)?;
            let recounts = self.recounts.get(store).and_then(Option::as_ref);
            if let Some(counts) = recounts.and_then(|recounts| recounts.get(path)) {
                let node = source.load(&handle)?;
                array = Recounted::shared(array, (&**source, &node), counts.clone());
            }
            lock(&opened.arrays).insert(path.clone(), Arc::clone(&array));
            Ok(array)
        };
        found().map_err(|error: Error| error.in_object(path).in_file(name()))
    }

    fn opened(&self, store: usize) -> Result<Arc<Opened>> {
        let mut open = lock(&self.open);
        if let Some(at) = open.iter().position(|(number, _)| *number == store) {
            let known = open.remove(at);
            open.extend(known.clone());
            return known.map(|(_, opened)| opened).ok_or_else(|| Error::invalid("no such store"));
        }
        // Other threads can go on with open stores meanwhile.
        drop(open);
        let source = match (store, self.absolute.get(store)) {
            (0, _) => Arc::clone(&self.first),
            (_, Some(path)) => {
                let before = self.stamps.get(store).copied().flatten();
                if Stamp::of(path).zip(before).is_some_and(|(now, before)| now != before) {
                    return Err(Error::malformed("the file was changed since it was joined with others"));
                }
                self.opening.open(path)?
            }
            (_, None) => return Err(Error::invalid("no such store")),
        };
        let opened = Arc::new(Opened { source, arrays: Mutex::default() });
        let mut open = lock(&self.open);
        open.push_back((store, Arc::clone(&opened)));
        let closed = if open.len() > MAX_OPEN { open.pop_front() } else { None };
        drop(open);
        drop(closed);
        Ok(opened)
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of stores that stay open: each thread reads one or two, and a process may open few files on some systems.
const MAX_OPEN: usize = 16;
