//! Cells read one after the other, whatever the batches.

use super::{CellBatches, CellQuery, CellSource};
use hyperslab_core::Result;
use hyperslab_model::Cells;

/// Where a reader of cells stands: in a batch, before one of its cells.
pub(crate) struct Cursor<'a> {
    batches: CellBatches<'a>,
    batch: Cells,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Before the first cell that a query finds.
    pub(crate) fn new(source: &'a dyn CellSource, query: &CellQuery) -> Result<Self> {
        Ok(Cursor { batches: source.batches(query)?, batch: Cells::default(), at: 0 })
    }

    /// The batch, the index of the next cell in it, and how many cells of the batch are left; `None` after the last
    /// cell of all.
    pub(crate) fn rest(&mut self) -> Result<Option<(&Cells, usize, usize)>> {
        while self.at >= self.batch.len() {
            match self.batches.next().transpose()? {
                Some(batch) => (self.batch, self.at) = (batch, 0),
                None => return Ok(None),
            }
        }
        Ok(Some((&self.batch, self.at, self.batch.len() - self.at)))
    }

    /// Goes on by so many cells, no more than are left in the batch.
    pub(crate) fn skip(&mut self, count: usize) {
        self.at = self.at.saturating_add(count);
    }
}
