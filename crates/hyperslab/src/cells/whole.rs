//! All cells of a query in one piece.

use super::CellBatches;
use hyperslab_core::Result;
use hyperslab_core::rows::Heap;
use hyperslab_model::rows::place_rows;
use hyperslab_model::{Cells, Column, Values};

/// All cells of these batches, for a caller that knows that there are few. `None` if there are none.
///
/// # Errors
/// The first error of a batch.
pub(crate) fn whole(batches: CellBatches<'_>) -> Result<Option<Cells>> {
    let batches = batches.collect::<Result<Vec<Cells>>>()?;
    if batches.len() < 2 {
        return Ok(batches.into_iter().next());
    }
    let mut columns: Vec<(Column, Vec<u8>, Heap<_>)> = Vec::new();
    for batch in batches {
        if columns.is_empty() {
            let empty = |column: &Column| Column { values: Values::default(), ..column.clone() };
            columns.extend(batch.columns.iter().map(|column| (empty(column), Vec::new(), Heap::default())));
        }
        for ((column, rows, heap), found) in columns.iter_mut().zip(batch.columns) {
            let start = rows.len();
            rows.resize(start.saturating_add(found.values.rows.len()), 0);
            place_rows(found.values, &column.datatype, rows.get_mut(start..).unwrap_or_default(), heap)?;
        }
    }
    let column = |(column, rows, heap): (Column, Vec<u8>, Heap<_>)| Column {
        values: Values { rows: rows.into(), heap },
        ..column
    };
    Ok(Some(Cells { columns: columns.into_iter().map(column).collect() }))
}
