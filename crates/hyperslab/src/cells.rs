//! Cells of sparse arrays: the positions that have values, among all positions in the space of the dimensions.
//!
//! A sparse array is a group whose members are its dimensions and attributes. Its cells are read as columns of equal
//! length, in batches of bounded memory, since a value is meaningless without its coordinates.
//!
//! ```
//! use hyperslab::cells::{CellQuery, CellSource, CellTable};
//! use hyperslab::model::{Cells, Column, Datatype, Values};
//! use std::sync::Arc;
//!
//! let column = |name: &str, numbers: [i32; 3]| Column {
//!     name: name.into(),
//!     datatype: Arc::new(Datatype::int(32, true)),
//!     values: Values { rows: numbers.iter().flat_map(|n| n.to_ne_bytes()).collect(), ..Values::default() },
//! };
//! let cells = Cells { columns: vec![column("x", [7, 1, 4]), column("height", [70, 10, 40])] };
//! let table = CellTable::new(cells, 1)?;
//! let mut heights = Vec::new();
//! for batch in table.batches(&CellQuery::default())? {
//!     let rows = &batch?.columns[1].values.rows;
//!     heights.extend(rows.chunks_exact(4).map(|row| i32::from_ne_bytes(row.try_into().unwrap())));
//! }
//! assert_eq!(heights, [10, 40, 70], "sorted by x");
//! # Ok::<(), hyperslab::Error>(())
//! ```

mod bounds;
mod columns;
mod cursor;
mod order;
mod part;
mod scratch;
mod sorted;
mod table;
#[cfg(test)]
mod testing;
mod whole;

pub(crate) use bounds::{check as check_ranges, within};
pub(crate) use columns::Columns;
pub(crate) use cursor::Cursor;
pub(crate) use order::by_value;
pub use sorted::{StoredCells, sorted};
pub use table::CellTable;
pub(crate) use whole::whole;

use hyperslab_core::Result;
use hyperslab_model::{Cells, Datatype, Values};
use std::sync::Arc;

/// The cells of one sparse array.
pub trait CellSource: Send + Sync {
    /// The columns of a cell: one for the coordinates along each dimension, in the order of the dimensions, then the
    /// attributes.
    fn columns(&self) -> &[CellColumn];

    /// The exact number of cells that match a query. Its columns, order and batch size have no effect.
    ///
    /// # Errors
    /// If the cells cannot be read to count them.
    fn count(&self, query: &CellQuery) -> Result<u64>;

    /// Reads the cells that match a query in batches. None is empty. Every batch except the last is full, unless
    /// elements of variable length need the memory.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for an unknown column or dimension; if the cells
    /// cannot be located. A batch can also fail; it is then the last.
    fn batches(&self, query: &CellQuery) -> Result<CellBatches<'_>>;

    /// Reads all cells that match a query in one piece, which must fit into memory. `None` if no cells match.
    ///
    /// # Errors
    /// As [`batches`](Self::batches) and their cells; [`LimitExceeded`](hyperslab_core::ErrorKind::LimitExceeded) if
    /// the system does not have enough memory.
    fn read(&self, query: &CellQuery) -> Result<Option<Cells>> {
        whole(self.batches(query)?)
    }
}

/// The batches of a query. Only one batch is in memory, unless the caller keeps more.
pub type CellBatches<'a> = Box<dyn Iterator<Item = Result<Cells>> + Send + 'a>;

/// One column of the cells of a sparse array.
#[derive(Clone, Debug)]
pub struct CellColumn {
    /// The name of the member of the group: a dimension, or an array that is an attribute.
    pub name: String,
    /// The datatype of its values.
    pub datatype: Arc<Datatype>,
    /// Whether it holds the coordinates along a dimension.
    pub is_dimension: bool,
    /// Whether the labels of its enumeration are ordered, so that values compare in that order.
    pub is_ordered: bool,
}

/// A query: which cells to read, and how.
#[derive(Clone, Debug)]
pub struct CellQuery {
    /// The columns of a batch, as indexes into [`CellSource::columns`]. `None` for all columns.
    pub columns: Option<Vec<usize>>,
    /// Bounds of coordinates. A cell matches if it is within all of them.
    pub ranges: Vec<CellRange>,
    /// The order of cells.
    pub order: CellOrder,
    /// The maximum size of the rows in a batch, in bytes. A batch has at least one cell.
    pub batch: u64,
}

impl Default for CellQuery {
    /// All columns of all cells, sorted, in batches of 4 MiB.
    fn default() -> Self {
        CellQuery { columns: None, ranges: Vec::new(), order: CellOrder::Sorted, batch: DEFAULT_BATCH }
    }
}

/// Bounds of the coordinates along one dimension, both inclusive.
#[derive(Clone, Debug)]
pub struct CellRange {
    /// The dimension, as an index into [`CellSource::columns`].
    pub dimension: usize,
    /// The lowest coordinate, one element of the datatype of the dimension. `None` for no bound.
    pub low: Option<Values>,
    /// The highest coordinate. `None` for no bound.
    pub high: Option<Values>,
}

/// The order in which cells are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellOrder {
    /// By the coordinates along the first dimension, then the second, and so on. Cells with equal coordinates are
    /// ordered by the canonical bytes of their attributes, as in [digests](crate::digest). Equal contents therefore
    /// have the same order.
    #[default]
    Sorted,
    /// The stored order, which is the fastest to read.
    Stored,
}

/// The default size of the rows in a batch, in bytes.
const DEFAULT_BATCH: u64 = 4 << 20;
