//! Cells of a sparse array.

use crate::cells::{CellBatches, CellColumn, CellQuery, CellSource};
use crate::location::LocatedObject;
use crate::select::{self, Select};
use crate::source::{Item, Source};
use hyperslab_core::Result;
use std::sync::Arc;

/// Cells of a sparse array, sorted by their coordinates.
#[allow(missing_debug_implementations, reason = "cells are read from a source, which has no text form")]
pub struct ShownCells {
    /// The path of the group, or of the requested column.
    pub name: String,
    /// The number of cells.
    pub count: u64,
    cells: Arc<dyn CellSource>,
    query: CellQuery,
}

impl ShownCells {
    /// The columns, in the order of the columns of a batch.
    pub fn columns(&self) -> Vec<&CellColumn> {
        let all = self.cells.columns();
        match &self.query.columns {
            None => all.iter().collect(),
            Some(indexes) => indexes.iter().filter_map(|index| all.get(*index)).collect(),
        }
    }

    /// Reads the cells. It can be called several times.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn batches(&self) -> Result<CellBatches<'_>> {
        self.cells.batches(&self.query)
    }
}

/// The cells of a sparse array, or one column with the coordinates of its cells; `None` if the target has no cells.
/// Selections give bounds of coordinates. Batches are read on demand.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if positions are selected, or no dimension; if the
/// cells cannot be located.
pub fn show_cells(
    source: &dyn Source,
    target: &LocatedObject,
    selections: &[Select],
) -> Result<Option<ShownCells>> {
    let handle = &target.entry.handle;
    if target.attribute.is_some() {
        return Ok(None);
    }
    let group = match &target.entry.item {
        Item::Group => handle.clone(),
        Item::Array { .. } => match handle.path.parent() {
            Some(group) => source.find(&group)?.handle,
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    let Some(cells) = source.cells(&group)? else { return Ok(None) };
    let columns = match group.path == handle.path {
        true => None,
        false => match columns(&*cells, handle.path.name()) {
            None => return Ok(None),
            columns => columns,
        },
    };
    let ranges = select::ranges(source, &group, cells.columns(), selections);
    let ranges = ranges.map_err(|error| error.in_object(&handle.path))?;
    let query = CellQuery { columns, ranges, ..CellQuery::default() };
    let count = cells.count(&query).map_err(|error| error.in_object(&handle.path))?;
    Ok(Some(ShownCells { name: handle.path.to_string(), count, cells, query }))
}

/// The indexes of the columns with coordinates and of the column `name`; `None` if there is no such column.
fn columns(cells: &dyn CellSource, name: &str) -> Option<Vec<usize>> {
    let columns = cells.columns();
    columns.iter().find(|column| column.name == name)?;
    let shown = columns.iter().enumerate().filter(|(_, column)| column.is_dimension || column.name == name);
    Some(shown.map(|(index, _)| index).collect())
}
