//! What was found out about groups, kept for the next time.

use hyperslab_core::Result;
use hyperslab_model::NodePath;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was found out about groups, by their paths. It stays as long as the store is open, as a store does not change.
pub(crate) struct ByGroup<T> {
    known: Mutex<FxHashMap<NodePath, T>>,
}

impl<T> Default for ByGroup<T> {
    fn default() -> Self {
        ByGroup { known: Mutex::default() }
    }
}

impl<T: Clone> ByGroup<T> {
    /// What is known of a group.
    pub(crate) fn known(&self, group: &NodePath) -> Option<T> {
        self.lock().get(group).cloned()
    }

    /// What is known of a group, or what `find` finds out. Threads may look at the same time.
    ///
    /// # Errors
    /// Those of `find`, which is asked again the next time.
    pub(crate) fn get(&self, group: &NodePath, find: impl FnOnce() -> Result<T>) -> Result<T> {
        if let Some(known) = self.known(group) {
            return Ok(known);
        }
        let found = find()?;
        self.note(group, found.clone());
        Ok(found)
    }

    /// Keeps what is known without looking.
    pub(crate) fn note(&self, group: &NodePath, found: T) {
        self.lock().insert(group.clone(), found);
    }

    /// All groups that were asked for.
    pub(crate) fn all(&self) -> Vec<(NodePath, T)> {
        self.lock().iter().map(|(group, found)| (group.clone(), found.clone())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<NodePath, T>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
