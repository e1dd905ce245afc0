//! Reading of cells, from any number of threads: nothing here has threads or locks.

pub mod dense;
mod fragment_grid;
pub(crate) mod generic_tile;
mod left;
mod strided;
pub(crate) mod tile;

pub use dense::VarCells;
pub use fragment_grid::{DenseDomain, IndexBox};
