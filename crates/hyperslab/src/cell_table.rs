//! Sparse arrays as tables of cells: for formats that have none, arrays of one dimension each, along one dimension.
//!
//! A table is a group that has an array for the coordinates along each dimension of the sparse array, and one for each
//! attribute, all along a dimension `cell` and in [sorted order](crate::cells::CellOrder::Sorted). It is what people
//! write who have no sparse arrays, and other programs read it as such. An attribute of the group, the [`Mark`], says what
//! the sparse array was: a store with it is opened as a sparse array again.

mod cells;
mod mark;
mod restored;

pub(crate) use mark::{Mark, text_attribute, text_of_attribute};
pub(crate) use restored::Restored;

/// The attribute of the group.
pub(crate) const MARK: &str = "hyperslab_cells";
/// The beginning of the name of the dimension.
pub(crate) const CELL: &str = "cell";
