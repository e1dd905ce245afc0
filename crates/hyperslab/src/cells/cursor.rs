//! Reads cells one after another, across batches.

use super::{CellBatches, CellQuery, CellSource};
use hyperslab_core::Result;
use hyperslab_model::Cells;

/// The position of a reader of cells: a batch and the next cell in it.
pub(crate) struct Cursor<'a> {
    batches: CellBatches<'a>,
    batch: Cells,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor before the first cell that matches a query.
    pub(crate) fn new(source: &'a dyn CellSource, query: &CellQuery) -> Result<Self> {
        Ok(Cursor { batches: source.batches(query)?, batch: Cells::default(), at: 0 })
    }

    /// The batch, the index of its next cell, and the number of its remaining cells. `None` after the last cell.
    pub(crate) fn rest(&mut self) -> Result<Option<(&Cells, usize, usize)>> {
        while self.at >= self.batch.len() {
            match self.batches.next().transpose()? {
                Some(batch) => (self.batch, self.at) = (batch, 0),
                None => return Ok(None),
            }
        }
        Ok(Some((&self.batch, self.at, self.batch.len() - self.at)))
    }

    /// Advances by `count` cells, at most those that remain in the batch.
    pub(crate) fn skip(&mut self, count: usize) {
        self.at = self.at.saturating_add(count);
    }
}
