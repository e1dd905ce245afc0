//! Columns of sparse arrays as arrays.

use super::ArraySource;
use crate::pool::Pool;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{Datatype, Reference};
use std::sync::Arc;

/// A column of a sparse array, which has values only at the positions of its cells.
pub(crate) struct ColumnOfCells {
    pub(crate) extents: Vec<u64>,
    pub(crate) datatype: Arc<Datatype>,
    pub(crate) chunk: Vec<u64>,
    pub(crate) pool: Pool,
    pub(crate) stored: Box<dyn Fn() -> Result<u64> + Send + Sync>,
}

/// The error for reading such a column by position.
pub(crate) fn has_cells_only() -> Error {
    let what = "a column of a sparse array, which has values in its cells only";
    Error::unsupported(what).with_remedy(Remedy::ReadCells)
}

impl ArraySource for ColumnOfCells {
    fn extents(&self) -> Option<&[u64]> {
        Some(&self.extents)
    }

    fn datatype(&self) -> &Arc<Datatype> {
        &self.datatype
    }

    fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn read_part(
        &self,
        _: &Region,
        _: &mut Planes<'_>,
        _: &mut Heap<Reference>,
        _: &mut Scratch,
    ) -> Result<()> {
        Err(has_cells_only())
    }

    fn stored(&self) -> Result<u64> {
        (self.stored)()
    }

    fn is_of_cells(&self) -> bool {
        true
    }

    fn is_unwritten(&self) -> Result<bool> {
        // Without cells, nothing is stored.
        Ok(true)
    }
}
