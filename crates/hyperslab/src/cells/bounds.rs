//! Determines which cells are within coordinate bounds.

use super::order::by_value;
use super::{CellColumn, CellRange};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Cells, Column, ElementRef, Elements, Values};
use std::cmp::Ordering;

/// Checks that ranges are bounds of dimensions among these columns, one element each.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if not.
pub(crate) fn check(columns: &[CellColumn], ranges: &[CellRange]) -> Result<()> {
    for range in ranges {
        let Some(column) = columns.get(range.dimension).filter(|column| column.is_dimension) else {
            let count = columns.iter().filter(|column| column.is_dimension).count();
            return Err(Error::invalid(format!("dimension {} of cells that have {count}", range.dimension)));
        };
        let has_one = |values: &Values| Elements::new(&column.datatype, values).len() == 1;
        if ![&range.low, &range.high].into_iter().flatten().all(has_one) {
            let (name, datatype) = (&column.name, &column.datatype);
            return Err(Error::invalid(format!("a bound of {name:?} is not one element of type {datatype}")));
        }
    }
    Ok(())
}

/// The cells of a batch that are within all ranges, in their order. The ranges were [checked](check).
///
/// # Errors
/// If a column is shorter than the first.
pub(crate) fn within(cells: Cells, ranges: &[CellRange]) -> Result<Cells> {
    if ranges.is_empty() {
        return Ok(cells);
    }
    let found: Vec<usize> = (0..cells.len()).filter(|cell| contain(ranges, &cells.columns, *cell)).collect();
    if found.len() == cells.len() {
        return Ok(cells);
    }
    let columns = cells.columns.into_iter().map(|column| {
        let values = column.values.pick(&found, column.datatype.row_size().unwrap_or(0));
        let values =
            values.ok_or_else(|| Error::invalid("columns of cells that are shorter than the first"))?;
        Ok(Column { values, ..column })
    });
    Ok(Cells { columns: columns.collect::<Result<_>>()? })
}

/// Whether the coordinates of a cell are within all ranges.
pub(super) fn contain(ranges: &[CellRange], columns: &[Column], cell: usize) -> bool {
    ranges.iter().all(|range| {
        let Some(column) = columns.get(range.dimension) else { return false };
        column.get(cell).is_some_and(|coordinate| contains(range, coordinate))
    })
}

fn contains(range: &CellRange, coordinate: ElementRef<'_>) -> bool {
    let order = |bound: &Option<Values>| {
        let bound = Elements::new(coordinate.datatype(), bound.as_ref()?).next()?;
        Some(by_value(coordinate, bound))
    };
    order(&range.low).is_none_or(Ordering::is_ge) && order(&range.high).is_none_or(Ordering::is_le)
}
