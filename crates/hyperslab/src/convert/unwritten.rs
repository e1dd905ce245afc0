//! An array of a document without values, for a target that has the same fill value.

use crate::source::engine::row_size;
use crate::source::{ArraySource, ArrayView};
use hyperslab_codec::Scratch;
use hyperslab_core::Result;
use hyperslab_core::nd::{Planes, Region, fill_rows};
use hyperslab_core::rows::Heap;
use hyperslab_model::rows::place_rows;
use hyperslab_model::{Reference, Values};
use std::sync::Arc;

/// An array of which no element was ever written, so that all have this fill value.
pub(super) struct Unwritten {
    array: Arc<dyn ArraySource>,
    /// One element.
    fill: Values,
}

impl Unwritten {
    pub(super) fn shared(array: Arc<dyn ArraySource>, fill: Values) -> Arc<dyn ArraySource> {
        Arc::new(Unwritten { array, fill })
    }
}

impl ArrayView for Unwritten {
    fn viewed(&self) -> &dyn ArraySource {
        &*self.array
    }

    fn is_in_place(&self) -> bool {
        true
    }

    fn read_shown(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        _: &mut Scratch,
    ) -> Result<()> {
        let mut fill = vec![0; row_size(self)?];
        place_rows(self.fill.clone(), self.array.datatype(), &mut fill, heap)?;
        rows.slices(region).try_for_each(|(_, out)| fill_rows(&fill, out))
    }

    fn shown_fill(&self) -> Result<Option<Values>> {
        Ok(Some(self.fill.clone()))
    }
}
