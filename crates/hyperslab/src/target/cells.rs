//! Sparse arrays being written.

use crate::cells::CellOrder;
use hyperslab_core::Result;
use hyperslab_model::Cells;

/// The cells of a sparse array being written.
pub trait CellTarget: Send + Sync {
    /// The order in which cells have to come.
    fn order(&self) -> CellOrder {
        CellOrder::Sorted
    }

    /// Writes the next cells. Their columns are those that the cells were begun with.
    ///
    /// # Errors
    /// If a value cannot be stored, or the store cannot be written.
    fn write(&self, batch: &Cells) -> Result<()>;

    /// Ends the array after the last cell.
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
