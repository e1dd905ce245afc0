//! Sparse arrays as tables of cells, for formats without sparse arrays: one-dimensional arrays along a common
//! dimension.
//!
//! A table is a group that has an array for the coordinates along each dimension of the sparse array, and one for each
//! attribute, all along a dimension `cell` and in [sorted order](crate::cells::CellOrder::Sorted). This is the usual
//! layout where there are no sparse arrays, and other programs can read it. An attribute of the group, the [`Mark`],
//! describes the original sparse array, so a store with this attribute is opened as a sparse array again.

mod cells;
mod mark;
mod restored;

pub(crate) use mark::{Mark, text_attribute, text_of_attribute};
pub(crate) use restored::Restored;

/// The name of the attribute of the group.
pub(crate) const MARK: &str = "hyperslab_cells";
/// The beginning of the name of the dimension.
pub(crate) const CELL: &str = "cell";
