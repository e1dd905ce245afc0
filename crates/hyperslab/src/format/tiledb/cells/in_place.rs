//! Reads all cells of a query in one piece, which threads fill concurrently.

use super::{Chosen, PART_MEMORY, Scratches, SparseArray};
use crate::cells::{CellColumn, CellQuery};
use bytes::Bytes;
use hyperslab_core::memory::Memory;
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::rows::put_nullable;
use hyperslab_model::{Cells, Column, Datatype, Values};
use hyperslab_tiledb::read::sparse::SparseColumn;

/// The space of a part: the rest of its rows in each column, and the number of cells already in place.
struct Place<'a> {
    part: usize,
    rows: Vec<&'a mut [u8]>,
    cells: usize,
}

/// All cells in stored order. `None` if the columns have values of variable size, or if so many cells may be left out
/// that reserving space for them is not worthwhile.
pub(super) fn read(array: &SparseArray, query: &CellQuery) -> Result<Option<Cells>> {
    let Chosen { columns, request, open, .. } = array.chosen(query)?;
    let sizes: Option<Vec<usize>> = columns
        .iter()
        .map(|column| column.datatype.row_size().filter(|_| !column.datatype.has_slots()))
        .collect();
    let Some(sizes) = sizes.filter(|_| open.is_empty()) else { return Ok(None) };
    let plan = array.array.plan_sparse(&request)?;
    let Some(most) = usize::try_from(plan.most_cells()).ok().filter(|_| !plan.merges()) else {
        return Ok(None);
    };
    let allocate = |size: &usize| most.checked_mul(*size).and_then(|len| Memory::zeroed(len).ok());
    let Some(mut memory) = sizes.iter().map(allocate).collect::<Option<Vec<Memory>>>() else {
        return Ok(None);
    };
    let mut left: Vec<&mut [u8]> = memory.iter_mut().map(|memory| &mut **memory).collect();
    let mut places = Vec::with_capacity(plan.len());
    for part in 0..plan.len() {
        let most = usize::try_from(plan.most_cells_of(part)).unwrap_or(usize::MAX);
        let rows: Option<Vec<&mut [u8]>> = left
            .iter_mut()
            .zip(&sizes)
            .map(|(left, size)| left.split_off_mut(..most.checked_mul(*size)?))
            .collect();
        let rows = rows.ok_or_else(|| Error::invalid("parts of more cells than all"))?;
        places.push(Place { part, rows, cells: 0 });
    }
    let scratches = Scratches::default();
    array.pool.each(places.iter_mut(), PART_MEMORY, |Place { part, rows, cells }, _| {
        scratches.read(&plan, *part, &mut |found| {
            for ((to, stored), (column, size)) in
                rows.iter_mut().zip(&found.columns).zip(columns.iter().zip(&sizes))
            {
                put(to, stored, column, found.count.saturating_mul(*size))?;
            }
            *cells = cells.saturating_add(found.count);
            Ok(())
        })
    })?;
    let counts: Vec<(usize, usize)> = places
        .iter()
        .map(|place| (usize::try_from(plan.most_cells_of(place.part)).unwrap_or(usize::MAX), place.cells))
        .collect();
    drop(places);
    let columns = columns.into_iter().zip(memory).zip(&sizes).map(|((column, memory), size)| Column {
        name: column.name.clone(),
        datatype: column.datatype.clone(),
        values: Values { rows: joined(memory, &counts, *size), heap: Heap::default() },
    });
    Ok(Some(Cells { columns: columns.collect() }))
}

/// Copies the rows of a batch to the front of `to`, which keeps the rest.
fn put(to: &mut &mut [u8], stored: &SparseColumn, column: &CellColumn, len: usize) -> Result<()> {
    let more = || Error::invalid("more cells than a part can have");
    let place = to.split_off_mut(..len).ok_or_else(more)?;
    let nullable = matches!(&*column.datatype, Datatype::Nullable(_)).then_some(stored.validity.as_slice());
    let masks = nullable.map_or(0, <[u8]>::len);
    if stored.bytes.len().checked_add(masks) != Some(len) {
        let found = stored.bytes.len();
        return Err(Error::invalid(format!(
            "{found} bytes of cells with {masks} masks, expected {len} in all"
        )));
    }
    match nullable {
        Some(validity) => {
            let row = column.datatype.non_null().row_size().unwrap_or(1);
            put_nullable(&stored.bytes, validity, row, place);
        }
        None => place.copy_from_slice(&stored.bytes),
    }
    Ok(())
}

/// The rows of all parts, moved together. Each part has room for a given number of cells and contains some.
fn joined(mut memory: Memory, parts: &[(usize, usize)], size: usize) -> Bytes {
    let (mut from, mut to) = (0_usize, 0_usize);
    for (room, cells) in parts {
        let len = cells.saturating_mul(size);
        if from != to && len > 0 {
            memory.copy_within(from..from.saturating_add(len), to);
        }
        from = from.saturating_add(room.saturating_mul(size));
        to = to.saturating_add(len);
    }
    Bytes::from(memory).slice(..to)
}
