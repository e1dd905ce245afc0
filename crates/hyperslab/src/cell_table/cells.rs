//! The cells of a table, read from its arrays.

use crate::cells::{
    CellBatches, CellColumn, CellOrder, CellQuery, CellSource, by_value, check_ranges, within,
};
use crate::source::ArraySource;
use hyperslab_core::nd::Region;
use hyperslab_core::{Error, Result};
use hyperslab_model::rows::{clear_nulls, put_nullable};
use hyperslab_model::{Cells, Column, Datatype, ElementRef, Elements, Values};
use std::cmp::Ordering;
use std::sync::Arc;

/// The cells of a table. They are stored in sorted order.
pub(super) struct TableCells {
    columns: Vec<CellColumn>,
    stored: Vec<StoredColumn>,
    count: u64,
    dimensions: usize,
}

/// A column as it is stored.
pub(super) struct StoredColumn {
    pub(super) values: Arc<dyn ArraySource>,
    /// The array that states which values are not null.
    pub(super) valid: Option<Arc<dyn ArraySource>>,
}

impl TableCells {
    pub(super) fn new(columns: Vec<CellColumn>, stored: Vec<StoredColumn>, count: u64) -> TableCells {
        let dimensions = columns.iter().filter(|column| column.is_dimension).count();
        TableCells { columns, stored, count, dimensions }
    }

    /// The cells that can be within the ranges: those between the bounds of the first dimension, found by bisection.
    fn window(&self, query: &CellQuery) -> Result<(u64, u64)> {
        let (mut from, mut to) = (0, self.count);
        for range in query.ranges.iter().filter(|range| range.dimension == 0) {
            if let Some(low) = &range.low {
                from = from.max(self.first(low, Ordering::is_ge)?);
            }
            if let Some(high) = &range.high {
                to = to.min(self.first(high, Ordering::is_gt)?);
            }
        }
        Ok((from, to.max(from)))
    }

    /// The first cell whose first coordinate compares with a bound as `is_past` requires.
    fn first(&self, bound: &Values, is_past: fn(Ordering) -> bool) -> Result<u64> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            let column = self.read(0, middle, 1)?;
            let bound = Elements::new(&column.datatype, bound).next();
            match (column.get(0), bound) {
                (Some(at), Some(bound)) if !is_past(by_value(at, bound)) => low = middle.saturating_add(1),
                _ => high = middle,
            }
        }
        Ok(low)
    }

    /// Some cells of a column.
    fn read(&self, column: usize, start: u64, count: u64) -> Result<Column> {
        let missing = || Error::invalid(format!("column {column} of {}", self.columns.len()));
        let (of, stored) = self.columns.get(column).zip(self.stored.get(column)).ok_or_else(missing)?;
        let values = region(&*stored.values, start, count)?;
        let values = match &stored.valid {
            Some(valid) => with_nulls(&of.datatype, values, &region(&**valid, start, count)?.rows)?,
            None => values,
        };
        Ok(Column { name: of.name.clone(), datatype: Arc::clone(&of.datatype), values })
    }

    /// The number of cells of a batch: whole chunks of the arrays, if chunks are smaller.
    fn per_batch(&self, columns: &[usize], bytes: u64) -> u64 {
        let sizes = columns.iter().filter_map(|column| self.columns.get(*column));
        let row = sizes.fold(0_u64, |sum, column| {
            sum.saturating_add(column.datatype.row_size().unwrap_or(usize::MAX) as u64)
        });
        let count = (bytes / row.max(1)).max(1);
        let chunks =
            columns.iter().filter_map(|column| self.stored.get(*column)?.values.chunk().first().copied());
        match chunks.max().filter(|chunk| *chunk > 0 && *chunk <= count) {
            Some(chunk) => count - count % chunk,
            None => count,
        }
    }
}

impl CellSource for TableCells {
    fn columns(&self) -> &[CellColumn] {
        &self.columns
    }

    fn count(&self, query: &CellQuery) -> Result<u64> {
        check_ranges(&self.columns, &query.ranges)?;
        if query.ranges.iter().all(|range| range.dimension == 0) {
            let (from, to) = self.window(query)?;
            return Ok(to - from);
        }
        let columns = Some((0..self.dimensions).collect());
        let mut batches = self.batches(&CellQuery { columns, ..query.clone() })?;
        batches.try_fold(0_u64, |sum, batch| Ok(sum.saturating_add(batch?.len() as u64)))
    }

    fn batches(&self, query: &CellQuery) -> Result<CellBatches<'_>> {
        check_ranges(&self.columns, &query.ranges)?;
        let wanted = match &query.columns {
            None => (0..self.columns.len()).collect(),
            Some(indexes) => indexes.clone(),
        };
        if let Some(index) = wanted.iter().find(|index| **index >= self.columns.len()) {
            return Err(Error::invalid(format!("column {index} of {}", self.columns.len())));
        }
        // Coordinates are read for the bounds, and to verify that no other program has changed their order.
        let read: Vec<usize> =
            (0..self.dimensions).chain(wanted.iter().copied().filter(|of| *of >= self.dimensions)).collect();
        let per_batch = self.per_batch(&read, query.batch);
        let (at, end) = self.window(query)?;
        let last = Vec::new();
        Ok(Box::new(TableBatches {
            table: self,
            query: query.clone(),
            wanted,
            read,
            per_batch,
            at,
            end,
            last,
        }))
    }
}

struct TableBatches<'a> {
    table: &'a TableCells,
    query: CellQuery,
    wanted: Vec<usize>,
    /// The columns that are read: all dimensions, then others.
    read: Vec<usize>,
    per_batch: u64,
    at: u64,
    end: u64,
    /// The coordinates of the last cell of the previous batch.
    last: Vec<Column>,
}

impl TableBatches<'_> {
    fn batch(&mut self) -> Result<Option<Cells>> {
        while self.at < self.end {
            let count = self.per_batch.min(self.end - self.at);
            let read = self.read.iter().map(|column| self.table.read(*column, self.at, count));
            let cells = Cells { columns: read.collect::<Result<_>>()? };
            if self.query.order == CellOrder::Sorted {
                self.check_order(&cells)?;
            }
            self.at = self.at.saturating_add(count);
            let cells = within(cells, &self.query.ranges)?;
            if cells.is_empty() {
                continue;
            }
            let column = |of: &usize| {
                let place = self.read.iter().position(|read| read == of)?;
                cells.columns.get(place).cloned()
            };
            let columns: Option<Vec<Column>> = self.wanted.iter().map(column).collect();
            return Ok(columns.map(|columns| Cells { columns }));
        }
        Ok(None)
    }

    /// Checks that no cell sorts before its predecessor.
    fn check_order(&mut self, cells: &Cells) -> Result<()> {
        let dimensions = cells.columns.get(..self.table.dimensions).unwrap_or_default();
        let order = |a: &[ElementRef<'_>], b: &[ElementRef<'_>]| {
            let each = a.iter().zip(b).map(|(a, b)| by_value(*a, *b));
            each.fold(Ordering::Equal, Ordering::then)
        };
        let mut before: Vec<ElementRef<'_>> = self.last.iter().filter_map(|column| column.get(0)).collect();
        let mut elements: Vec<Elements<'_>> = dimensions.iter().map(Column::elements).collect();
        let mut next = Vec::new();
        for cell in 0..cells.len() {
            next.clear();
            next.extend(elements.iter_mut().filter_map(Iterator::next));
            if !before.is_empty() && order(&before, &next).is_gt() {
                let number = self.at.saturating_add(cell as u64);
                return Err(Error::malformed(format!("cell {number} sorts before the preceding cell"))
                    .with_hint(
                        "another program changed the table; without its mark it is read as plain arrays",
                    ));
            }
            std::mem::swap(&mut before, &mut next);
        }
        let last = cells.len().saturating_sub(1);
        let one = |column: &Column| {
            let values = column.values.pick(&[last], column.datatype.row_size()?)?;
            Some(Column { values, ..column.clone() })
        };
        self.last = dimensions.iter().filter_map(one).collect();
        Ok(())
    }
}

impl Iterator for TableBatches<'_> {
    type Item = Result<Cells>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batch();
        if !matches!(batch, Ok(Some(_))) {
            self.at = self.end;
        }
        batch.transpose()
    }
}

/// Some elements of an array along its first dimension. The other dimensions hold the characters or elements of one
/// cell.
fn region(array: &dyn ArraySource, start: u64, count: u64) -> Result<Values> {
    let extents = array.extents().unwrap_or_default();
    let (mut starts, mut counts) = (vec![0; extents.len()], extents.to_vec());
    if let (Some(first), Some(length)) = (starts.first_mut(), counts.first_mut()) {
        (*first, *length) = (start, count);
    }
    array.values(&Region::new(starts, counts))
}

/// Values with marks for those that are not null.
fn with_nulls(datatype: &Datatype, values: Values, valid: &[u8]) -> Result<Values> {
    let size = datatype.row_size().unwrap_or(0).saturating_sub(1).max(1);
    if values.rows.len() / size < valid.len() {
        return Err(Error::malformed("fewer values than marks of values that are not null"));
    }
    let mut rows = vec![0; size.saturating_add(1).saturating_mul(valid.len())];
    put_nullable(&values.rows, valid, size, &mut rows);
    clear_nulls(size, &mut rows);
    Ok(Values { rows: rows.into(), heap: values.heap })
}
