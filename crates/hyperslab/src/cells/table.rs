//! Cells in memory.

use super::order::Sorting;
use super::{CellBatches, CellColumn, CellOrder, CellQuery, CellSource, bounds};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Cells, Column};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

/// Cells in memory, readable in any order. Batches share data of variable length with the table.
#[derive(Debug)]
pub struct CellTable {
    columns: Vec<CellColumn>,
    cells: Cells,
    dimensions: usize,
    count: usize,
    /// The indexes of the cells in sorted order, computed on first use: 8 bytes for each cell.
    sorted: OnceLock<Vec<usize>>,
}

impl CellTable {
    /// A table of cells. The first `dimensions` columns are the coordinates.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if columns differ in length, or there are
    /// fewer columns than dimensions.
    pub fn new(cells: Cells, dimensions: usize) -> Result<CellTable> {
        let count = cells.len();
        for column in &cells.columns {
            let (found, name) = (column.len(), &column.name);
            if found != count {
                let message = format!("column {name:?} has {found} values, the first column has {count}");
                return Err(Error::invalid(message));
            }
        }
        if dimensions > cells.columns.len() {
            let found = cells.columns.len();
            return Err(Error::invalid(format!("{found} columns for {dimensions} dimensions")));
        }
        let column = |(index, column): (usize, &Column)| CellColumn {
            name: column.name.clone(),
            datatype: column.datatype.clone(),
            is_dimension: index < dimensions,
            is_ordered: false,
        };
        let columns = cells.columns.iter().enumerate().map(column).collect();
        Ok(CellTable { columns, cells, dimensions, count, sorted: OnceLock::new() })
    }

    fn sorted(&self) -> &[usize] {
        self.sorted.get_or_init(|| Sorting::new(&self.cells.columns, self.dimensions).sorted(self.count))
    }

    /// The indexes of the cells that match a query. `list` is `None` if all cells match and the order is that of the
    /// table.
    fn found(&self, query: &CellQuery) -> Result<Found<'_>> {
        bounds::check(&self.columns, &query.ranges)?;
        let all = match query.order {
            CellOrder::Sorted => Some(self.sorted()),
            CellOrder::Stored => None,
        };
        if query.ranges.is_empty() {
            return Ok(Found { list: all.map(Cow::Borrowed), count: self.count });
        }
        let fits = |index: &usize| bounds::contain(&query.ranges, &self.cells.columns, *index);
        let list: Vec<usize> = match all {
            Some(sorted) => sorted.iter().copied().filter(fits).collect(),
            None => (0..self.count).filter(fits).collect(),
        };
        Ok(Found { count: list.len(), list: Some(Cow::Owned(list)) })
    }
}

impl CellSource for CellTable {
    fn columns(&self) -> &[CellColumn] {
        &self.columns
    }

    fn count(&self, query: &CellQuery) -> Result<u64> {
        let unsorted = CellQuery { order: CellOrder::Stored, ..query.clone() };
        Ok(self.found(&unsorted)?.count as u64)
    }

    fn batches(&self, query: &CellQuery) -> Result<CellBatches<'_>> {
        let columns = match &query.columns {
            None => self.cells.columns.iter().collect(),
            Some(indexes) => indexes
                .iter()
                .map(|index| {
                    let missing = || Error::invalid(format!("column {index} of {}", self.columns.len()));
                    self.cells.columns.get(*index).ok_or_else(missing)
                })
                .collect::<Result<Vec<_>>>()?,
        };
        let sizes = columns.iter().map(|column| column.datatype.row_size().unwrap_or(usize::MAX) as u64);
        let size = sizes.fold(0, u64::saturating_add);
        let per_batch = usize::try_from(query.batch / size.max(1)).unwrap_or(usize::MAX).max(1);
        Ok(Box::new(Batches { columns, found: self.found(query)?, at: 0, per_batch }))
    }
}

/// The cells that match a query.
struct Found<'a> {
    list: Option<Cow<'a, [usize]>>,
    count: usize,
}

struct Batches<'a> {
    columns: Vec<&'a Column>,
    found: Found<'a>,
    at: usize,
    per_batch: usize,
}

impl Iterator for Batches<'_> {
    type Item = Result<Cells>;

    fn next(&mut self) -> Option<Self::Item> {
        let end = self.at.saturating_add(self.per_batch).min(self.found.count);
        let range: Range<usize> = self.at..end;
        if range.is_empty() {
            return None;
        }
        self.at = end;
        let columns = self.columns.iter().map(|column| {
            let size = column.datatype.row_size().unwrap_or(0);
            let values = match &self.found.list {
                None => column.values.slice(range.clone(), size),
                Some(list) => column.values.pick(list.get(range.clone())?, size),
            };
            Some(Column { name: column.name.clone(), datatype: column.datatype.clone(), values: values? })
        });
        let columns: Option<Vec<Column>> = columns.collect();
        let broken = || Error::invalid("columns of cells that are shorter than the first");
        Some(columns.map(|columns| Cells { columns }).ok_or_else(broken))
    }
}
