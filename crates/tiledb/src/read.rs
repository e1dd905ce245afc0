//! Reading of cells, from any number of threads: nothing here has threads or locks.

mod compare;
mod coordinates;
pub mod dense;
mod fragment_grid;
pub(crate) mod generic_tile;
mod left;
pub mod sparse;
mod strided;
pub(crate) mod tile;

pub use dense::VarCells;
pub use fragment_grid::{DenseDomain, IndexBox};
