//! Copies the cells of sparse arrays batch by batch.

use super::Plan;
use super::copy::CopyError;
use crate::cells::{CellQuery, CellSource};
use crate::pool::Pool;
use crate::source::{Handle, Source};
use crate::target::Target;
use std::sync::Arc;

/// Writes the planned columns of the cells of a sparse array. Calls `done` with the number of bytes written by each
/// step. If the cells cannot be read, the target keeps none of them.
pub(super) fn write(
    source: &dyn Source,
    group: &Handle,
    plan: &Plan,
    (target, pool): (&dyn Target, &Pool),
    done: &mut dyn FnMut(u64),
) -> Result<(), CopyError> {
    let Some(cells) = source.cells(group).map_err(CopyError::Read)? else { return Ok(()) };
    let planned = cells.columns().iter().enumerate();
    let planned = planned.filter(|(_, column)| plan.columns.contains(&group.path.child(&column.name)));
    let (indexes, columns): (Vec<usize>, Vec<_>) =
        planned.map(|(index, column)| (index, column.clone())).unzip();
    let writer = target.cells(&group.path, &columns, pool).map_err(CopyError::Write)?;
    let query = CellQuery { columns: Some(indexes), order: writer.order(), ..CellQuery::default() };
    let mut copy = |cells: Arc<dyn CellSource>| {
        for batch in cells.batches(&query).map_err(CopyError::Read)? {
            let batch = batch.map_err(CopyError::Read)?;
            writer.write(&batch).map_err(CopyError::Write)?;
            done(batch.columns.iter().map(|column| column.values.rows.len() as u64).sum());
        }
        Ok(())
    };
    match copy(cells) {
        Ok(()) => writer.finish().map_err(CopyError::Write),
        Err(CopyError::Read(error)) => {
            writer.abandon().map_err(CopyError::Write)?;
            Err(CopyError::Read(error))
        }
        Err(error) => Err(error),
    }
}
