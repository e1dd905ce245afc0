//! Cells of sparse arrays: of all positions in the space of the dimensions, only those that have values.
//!
//! A sparse array is a group whose dimensions and attributes are its members. Its cells are read together, as columns
//! of equal length, in batches of bounded memory: a column by itself would say values without their coordinates.
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

mod cursor;
mod order;
mod table;

pub(crate) use cursor::Cursor;
pub(crate) use order::by_value;
pub use table::CellTable;

use hyperslab_core::Result;
use hyperslab_model::{Cells, Datatype, Values};
use std::sync::Arc;

/// The cells of one sparse array.
pub trait CellSource: Send + Sync {
    /// The columns of a cell: the coordinates along each dimension, in the order of the dimensions, then the
    /// attributes.
    fn columns(&self) -> &[CellColumn];

    /// How many cells a query finds, exactly. Its columns, order and batch size do not matter.
    ///
    /// # Errors
    /// If the cells cannot be read, as far as counting needs it.
    fn count(&self, query: &CellQuery) -> Result<u64>;

    /// Reads the cells that a query finds, batch by batch. A batch is full unless it is the last, and none is empty.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a column or dimension that is not there;
    /// if the cells cannot be located. Each batch can fail as well, and is then the last.
    fn batches(&self, query: &CellQuery) -> Result<CellBatches<'_>>;
}

/// Cells that are being read. Only one batch is in memory, unless the caller keeps more.
pub type CellBatches<'a> = Box<dyn Iterator<Item = Result<Cells>> + Send + 'a>;

/// One column of the cells of a sparse array.
#[derive(Clone, Debug)]
pub struct CellColumn {
    /// The name of the member of the group: a dimension, or an array that is an attribute.
    pub name: String,
    /// The type of its values.
    pub datatype: Arc<Datatype>,
    /// Whether it holds the coordinates along a dimension.
    pub is_dimension: bool,
}

/// Which cells are read, and how.
#[derive(Clone, Debug)]
pub struct CellQuery {
    /// The columns that batches have, as indexes into [`CellSource::columns`]; all if `None`.
    pub columns: Option<Vec<usize>>,
    /// Bounds of coordinates. A cell is found if it lies in all of them.
    pub ranges: Vec<CellRange>,
    /// The order of cells.
    pub order: CellOrder,
    /// Bytes that the rows of a batch take at most. A batch has at least one cell.
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
    /// The lowest coordinate, one element of the type of the dimension; no bound if `None`.
    pub low: Option<Values>,
    /// The highest coordinate.
    pub high: Option<Values>,
}

/// The order in which cells are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellOrder {
    /// By the coordinates along the first dimension, then the second, and so on; cells at the same coordinates by
    /// the bytes of their attributes, as [digests](crate::digest) hash them. Equal contents come in one order.
    #[default]
    Sorted,
    /// As they are stored, which is the fastest.
    Stored,
}

/// Bytes of the rows of a batch where nobody asks for another size.
const DEFAULT_BATCH: u64 = 4 << 20;
