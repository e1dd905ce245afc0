//! Cached findings about groups.

use hyperslab_core::Result;
use hyperslab_model::NodePath;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Findings about groups, by their paths. They are kept as long as the store is open, since an open store does not
/// change.
pub(crate) struct ByGroup<T> {
    known: Mutex<FxHashMap<NodePath, T>>,
}

impl<T> Default for ByGroup<T> {
    fn default() -> Self {
        ByGroup { known: Mutex::default() }
    }
}

impl<T: Clone> ByGroup<T> {
    /// What is known about a group.
    pub(crate) fn known(&self, group: &NodePath) -> Option<T> {
        self.lock().get(group).cloned()
    }

    /// What is known about a group, or else what `find` returns. Several threads may run `find` at the same time.
    ///
    /// # Errors
    /// Those of `find`, which is called again the next time.
    pub(crate) fn get(&self, group: &NodePath, find: impl FnOnce() -> Result<T>) -> Result<T> {
        if let Some(known) = self.known(group) {
            return Ok(known);
        }
        let found = find()?;
        self.note(group, found.clone());
        Ok(found)
    }

    /// Records a finding without calling `find`.
    pub(crate) fn note(&self, group: &NodePath, found: T) {
        self.lock().insert(group.clone(), found);
    }

    /// All groups that were looked up.
    pub(crate) fn all(&self) -> Vec<(NodePath, T)> {
        self.lock().iter().map(|(group, found)| (group.clone(), found.clone())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<NodePath, T>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
