//! The interface of a sparse array that is being written.

use crate::cells::CellOrder;
use hyperslab_core::Result;
use hyperslab_model::Cells;

/// The cells of a sparse array that is being written.
pub trait CellTarget: Send + Sync {
    /// The order in which [`CellTarget::write`] must receive the cells.
    fn order(&self) -> CellOrder {
        CellOrder::Sorted
    }

    /// Writes the next cells. `batch` has the columns that were given to [`Target::cells`](super::Target::cells).
    ///
    /// # Errors
    /// If a value cannot be stored, or the store cannot be written.
    fn write(&self, batch: &Cells) -> Result<()>;

    /// Completes the array after the last cell.
    ///
    /// # Errors
    /// If the store cannot be written.
    fn finish(&self) -> Result<()>;

    /// Removes the cells that were written, as far as the store can.
    ///
    /// # Errors
    /// If the store cannot be written.
    fn abandon(&self) -> Result<()>;
}
