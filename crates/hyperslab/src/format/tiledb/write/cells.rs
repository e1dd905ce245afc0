//! Cells of sparse arrays, sorted in memory run by run. A run that begins after the end of the preceding one continues
//! its fragment; otherwise the fragments are merged at the end.

use super::names::StoredNames;
use crate::cells::{CellColumn, CellOrder};
use crate::format::tiledb::consolidate::consolidate;
use crate::format::tiledb::elements::{StoredCells, StoredElements};
use crate::pool::Pool;
use crate::target::{CellTarget, Facts};
use hyperslab_core::{Error, Limits, Result};
use hyperslab_model::{Cells, ElementStorage};
use hyperslab_tiledb::filter::Scratch;
use hyperslab_tiledb::write::array::ArrayWriter;
use hyperslab_tiledb::write::consolidate::{ConsolidateOptions, Deleted};
use hyperslab_tiledb::write::fragment::WrittenFragment;
use hyperslab_tiledb::write::order::CellSorter;
use hyperslab_tiledb::write::sparse::{CellBuffers, Column, SparseFragment};
use hyperslab_tiledb::write::vacuum::VacuumOptions;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The cells of a sparse array that is being written.
pub(super) struct TileDbCellTarget {
    writer: Arc<ArrayWriter>,
    time: u64,
    pool: Pool,
    /// For each field of the schema, the column with its values and how they are stored.
    fields: Vec<(usize, StoredElements)>,
    run: Mutex<Run>,
    /// Buffers that no thread is using.
    idle: Mutex<Vec<(CellBuffers, Scratch)>>,
}

/// Cells that have not been written yet, and the fragments of those that have.
#[derive(Default)]
struct Run {
    columns: Vec<Column>,
    cells: usize,
    open: Option<OpenFragment>,
    fragments: Vec<WrittenFragment>,
    /// The total number of cells.
    all: u64,
}

/// A fragment that the next run continues if it begins after the last cell of the fragment.
struct OpenFragment {
    fragment: SparseFragment,
    last: Vec<u8>,
    /// Whether its last tile has the maximum number of cells.
    is_full: bool,
}

impl Run {
    /// The size of the cells in bytes, including the memory needed for sorting them.
    fn bytes(&self) -> usize {
        let columns =
            self.columns.iter().map(|own| own.values.len() + 8 * own.offsets.len() + own.validity.len());
        columns.sum::<usize>().saturating_add(self.cells.saturating_mul(SORTED))
    }

    /// Completes the open fragment.
    fn close(&mut self) -> Result<()> {
        if let Some(open) = self.open.take() {
            self.fragments.push(open.fragment.finish()?);
        }
        Ok(())
    }
}

impl TileDbCellTarget {
    /// `names` are the stored names of columns.
    pub(super) fn new(
        writer: Arc<ArrayWriter>,
        columns: &[CellColumn],
        names: &StoredNames,
        (time, pool): (u64, &Pool),
    ) -> Result<TileDbCellTarget> {
        let schema = writer.schema();
        let dimensions =
            schema.domain.dimensions.iter().map(|own| (&own.name, own.data_type, own.cell_val_num));
        let attributes = schema.attributes.iter().map(|own| (&own.name, own.data_type, own.cell_val_num));
        let field = |(name, data_type, values): (&Vec<u8>, _, _)| {
            let position = columns.iter().position(|column| names.of(&column.name) == *name);
            let column = position.and_then(|at| Some((at, columns.get(at)?)));
            let (at, column) = column.ok_or_else(|| {
                Error::unsupported(format!("no values of {:?}", String::from_utf8_lossy(name)))
            })?;
            let element = ElementStorage::default();
            let stored = StoredElements::new(&column.datatype, &element, Some(data_type), Facts::default())?;
            match stored.cell_val_num == values {
                true => Ok((at, stored)),
                false => Err(Error::invalid(format!("cells of {:?} of another size", column.name))),
            }
        };
        let fields = dimensions.chain(attributes).map(field).collect::<Result<Vec<_>>>()?;
        let columns = vec![Column::default(); fields.len()];
        let run = Mutex::new(Run { columns, ..Run::default() });
        Ok(TileDbCellTarget { writer, time, pool: pool.clone(), fields, run, idle: Mutex::default() })
    }

    /// Merges the fragments of all runs and then removes them.
    fn merge(&self, cells: u64) -> Result<()> {
        let limits = Limits { allocation: u64::MAX, ..Limits::default() };
        let options = ConsolidateOptions { deleted: Deleted::Purged, ..ConsolidateOptions::default() };
        consolidate(&self.writer, options, &limits, &self.pool)?;
        let vacuum = self.writer.plan_vacuum(&VacuumOptions::ALL, &limits)?;
        self.writer.vacuum(&vacuum, &mut |_| Ok(()))?;
        // Within a run, cells with equal coordinates have already caused an error.
        let found = self.writer.stored_cells(&limits)?;
        match found == cells {
            true => Ok(()),
            false => Err(Error::invalid(format!(
                "{} cells with the coordinates of others, but the array allows no duplicates",
                cells.saturating_sub(found)
            ))),
        }
    }

    /// Writes the cells of a run. Unless it is the last run, cells that do not fill a tile are kept.
    fn flush(&self, run: &mut Run, is_last: bool) -> Result<()> {
        if run.cells == 0 {
            return Ok(());
        }
        let schema = self.writer.schema();
        let sorter = CellSorter::new(schema, &run.columns, run.cells)?;
        let cells = self.sorted(&sorter)?;
        let capacity = usize::try_from(schema.capacity).unwrap_or(usize::MAX).max(1);
        let whole = match cells.len() - cells.len() % capacity {
            whole if whole > 0 && !is_last => whole,
            _ => cells.len(),
        };
        let (put, rest) = cells.split_at(whole);
        let (Some(first), Some(last)) = (put.first(), put.last()) else { return Ok(()) };
        let (first, last) = (sorter.key(*first)?, sorter.key(*last)?);
        let follows = |open: &OpenFragment| {
            open.is_full && (open.last < first || schema.allows_dups && open.last == first)
        };
        let is_next = run.open.as_ref().is_some_and(follows);
        let kept: Vec<Column> = run
            .columns
            .iter()
            .zip(&self.fields)
            .map(|(column, (_, stored))| {
                let mut kept = Column::default();
                column.gather(stored.cell_size().unwrap_or(0), rest, &mut kept).map(|()| kept)
            })
            .collect::<Result<_>>()?;
        let rest = rest.len();
        let mut columns = std::mem::take(&mut run.columns);
        if !is_next {
            run.close()?;
        }
        let fragment = match run.open.take() {
            Some(open) => open.fragment,
            None => SparseFragment::new(&self.writer, (self.time, self.time))?,
        };
        self.put(&fragment, &columns, put)?;
        // The memory of the columns is reused.
        for (column, kept) in columns.iter_mut().zip(&kept) {
            column.values.clone_from(&kept.values);
            column.offsets.clone_from(&kept.offsets);
            column.validity.clone_from(&kept.validity);
        }
        (run.columns, run.cells) = (columns, rest);
        run.all = run.all.saturating_add(whole as u64);
        run.open = Some(OpenFragment { fragment, last, is_full: whole.is_multiple_of(capacity) });
        Ok(())
    }

    /// Encodes and writes the tiles of sorted cells.
    fn put(&self, fragment: &SparseFragment, columns: &[Column], cells: &[u32]) -> Result<()> {
        let (bytes, capacity) =
            (columns.iter().map(|own| own.values.len()).sum::<usize>(), fragment.capacity());
        let tile_bytes = (bytes / cells.len().max(1)).saturating_mul(capacity.min(cells.len()));
        self.pool.in_order(
            cells.chunks(capacity),
            (tile_bytes as u64).saturating_mul(2),
            |tile, _| {
                let (mut buffers, mut scratch) = lock(&self.idle).pop().unwrap_or_default();
                let encoded = fragment.encode(columns, tile, &mut buffers, &mut scratch);
                lock(&self.idle).push((buffers, scratch));
                encoded
            },
            |tile, _| fragment.put(tile),
        )
    }

    /// The positions of the cells of a run in global order.
    fn sorted(&self, sorter: &CellSorter<'_>) -> Result<Vec<u32>> {
        let parts = Mutex::new(Vec::new());
        self.pool.in_order(
            sorter.parts(self.pool.threads()),
            0,
            |part, _| sorter.sorted(part),
            |part, _| {
                lock(&parts).push(part);
                Ok(())
            },
        )?;
        sorter.merged(&parts.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CellTarget for TileDbCellTarget {
    fn order(&self) -> CellOrder {
        CellOrder::Stored
    }

    fn write(&self, batch: &Cells) -> Result<()> {
        let mut run = lock(&self.run);
        for ((at, stored), to) in self.fields.iter().zip(&mut run.columns) {
            let column = batch.columns.get(*at);
            let column = column.ok_or_else(|| Error::invalid("a batch without one of its columns"))?;
            let StoredCells { values, offsets, validity } = stored.cells(&column.values)?;
            let before = to.values.len() as u64;
            to.offsets.extend(offsets.iter().map(|offset| offset.saturating_add(before)));
            to.values.extend_from_slice(&values);
            to.validity.extend_from_slice(&validity);
        }
        run.cells = run.cells.saturating_add(batch.len());
        if run.bytes() as u64 >= self.pool.memory() / RUNS {
            self.flush(&mut run, false)?;
        }
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        let mut run = lock(&self.run);
        self.flush(&mut run, true)?;
        run.close()?;
        self.writer.commit(&run.fragments)?;
        if run.fragments.len() > 1 {
            self.merge(run.all)?;
        }
        Ok(())
    }

    fn abandon(&self) -> Result<()> {
        *lock(&self.run) = Run { columns: vec![Column::default(); self.fields.len()], ..Run::default() };
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The share of the memory for a run, as a divisor.
const RUNS: u64 = 3;

/// The number of bytes that sorting needs for each cell: its key with its position, and its rank among the others.
const SORTED: usize = size_of::<u128>() + size_of::<u32>();
