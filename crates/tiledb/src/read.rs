//! Reads cells, from any number of threads: nothing here has threads or locks.

pub(crate) mod columns;
pub(crate) mod compare;
pub(crate) mod coordinates;
pub mod dense;
mod fragment_grid;
pub(crate) mod generic_tile;
pub(crate) mod global_order;
pub(crate) mod heap;
mod hilbert;
mod left;
mod merge;
mod plan;
mod slots;
pub mod sparse;
mod strided;
pub(crate) mod tile;

pub use dense::VarCells;
pub(crate) use fragment_grid::coordinate;
pub use fragment_grid::{DenseDomain, IndexBox, TilePart};
