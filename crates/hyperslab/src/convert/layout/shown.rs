//! The names of dimensions for a store that is opened raw, without names.

use crate::source::{Entry, Item, Source};
use crate::walk::{Step, walk};
use hyperslab_model::{NodeKind, NodePath};
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};

/// Two views of one store, in which objects have the same identifiers.
#[derive(Clone)]
pub(super) struct Shown {
    stored: Arc<dyn Source>,
    shown: Arc<dyn Source>,
    arrays: Arc<OnceLock<FxHashMap<u64, Named>>>,
}

/// The names of the dimensions of an array, and whether the array holds the coordinates of a dimension.
pub(super) type Named = (Vec<Option<NodePath>>, bool);

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.shown.format())
    }
}

impl Shown {
    pub(super) fn new(stored: Arc<dyn Source>, shown: Arc<dyn Source>) -> Shown {
        Shown { stored, shown, arrays: Arc::default() }
    }

    /// The names of the dimensions of the array that is stored at `path`; `None` if it is not shown with that number of
    /// dimensions.
    pub(super) fn names(&self, path: &NodePath, rank: usize) -> Option<Named> {
        // A variable may be shown under another path than that of its dataset.
        let id = self.stored.find(path).ok()?.handle.id;
        let named = self.arrays.get_or_init(|| arrays(&*self.shown)).get(&id)?;
        (named.0.len() == rank).then(|| named.clone())
    }
}

/// The arrays of a store by their identifiers. Unreadable objects have no names.
fn arrays(shown: &dyn Source) -> FxHashMap<u64, Named> {
    let mut arrays = FxHashMap::default();
    let Ok(root) = shown.find(&NodePath::root()) else { return arrays };
    let mut note = |Entry { handle, item }: &Entry| {
        if let Item::Array { kind, shape, .. } = item {
            let is_dimcoord = *kind == NodeKind::DimCoord;
            let names = match is_dimcoord {
                true => vec![Some(handle.path.clone())],
                false => shape.dims().iter().map(|dimension| dimension.coordinate.clone()).collect(),
            };
            arrays.insert(handle.id, (names, is_dimcoord));
        }
    };
    // A group that cannot be listed is reported when it is converted.
    let _ = walk(shown, &root.handle, &mut |step| {
        if let Step::Member(entry) = step {
            note(entry);
        }
        Ok(())
    });
    arrays
}
