//! Cells of sparse arrays: sorted in memory run by run, each a fragment.

use super::names::StoredNames;
use crate::cells::{CellColumn, CellOrder};
use crate::format::tiledb::elements::{StoredCells, StoredElements};
use crate::target::{CellTarget, Facts};
use hyperslab_core::{Error, Limits, Result};
use hyperslab_model::{Cells, ElementStorage};
use hyperslab_tiledb::write::array::ArrayWriter;
use hyperslab_tiledb::write::consolidate::{ConsolidateOptions, Deleted};
use hyperslab_tiledb::write::fragment::WrittenFragment;
use hyperslab_tiledb::write::sparse::{Column, SparseFragment};
use hyperslab_tiledb::write::vacuum::VacuumOptions;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The cells of a sparse array that is being written.
pub(super) struct TileDbCellTarget {
    writer: Arc<ArrayWriter>,
    time: u64,
    /// For each field of the schema, the column that has its values, and how these are stored.
    fields: Vec<(usize, StoredElements)>,
    run: Mutex<Run>,
}

/// Cells that are not written yet, and the fragments of those that are.
#[derive(Default)]
struct Run {
    columns: Vec<Column>,
    cells: usize,
    bytes: usize,
    fragments: Vec<WrittenFragment>,
    /// The number of all cells that were written.
    all: u64,
}

impl TileDbCellTarget {
    /// `names` are the stored names of columns.
    pub(super) fn new(
        writer: Arc<ArrayWriter>,
        columns: &[CellColumn],
        names: &StoredNames,
        time: u64,
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
        Ok(TileDbCellTarget { writer, time, fields, run })
    }

    fn run(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Merges the fragments of all runs, which then go.
    fn merge(&self, cells: u64) -> Result<()> {
        let limits = Limits { allocation: u64::MAX, ..Limits::default() };
        let options = ConsolidateOptions { deleted: Deleted::Purged, ..ConsolidateOptions::default() };
        let consolidator = self.writer.consolidator(options, &limits)?;
        consolidator.run(&consolidator.plan()?, &mut |_| Ok(()))?;
        let vacuum = self.writer.plan_vacuum(&VacuumOptions::ALL, &limits)?;
        self.writer.vacuum(&vacuum, &mut |_| Ok(()))?;
        // Within a run, cells of equal coordinates are an error already.
        let found = self.writer.stored_cells(&limits)?;
        match found == cells {
            true => Ok(()),
            false => Err(Error::invalid(format!(
                "{} cells with the coordinates of others, and the array allows one",
                cells.saturating_sub(found)
            ))),
        }
    }

    /// Writes the cells of a run as a fragment.
    fn flush(&self, run: &mut Run) -> Result<()> {
        if run.cells == 0 {
            return Ok(());
        }
        run.fragments.push(SparseFragment::of_cells(&self.writer, self.time, &run.columns, run.cells)?);
        run.all = run.all.saturating_add(run.cells as u64);
        (run.cells, run.bytes) = (0, 0);
        run.columns.iter_mut().for_each(|column| *column = Column::default());
        Ok(())
    }
}

impl CellTarget for TileDbCellTarget {
    fn order(&self) -> CellOrder {
        CellOrder::Stored
    }

    fn write(&self, batch: &Cells) -> Result<()> {
        let mut run = self.run();
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
        run.bytes = run.columns.iter().map(|own| own.values.len() + 8 * own.offsets.len()).sum();
        if run.bytes >= MAX_RUN {
            self.flush(&mut run)?;
        }
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        let mut run = self.run();
        self.flush(&mut run)?;
        self.writer.commit(&run.fragments)?;
        if run.fragments.len() > 1 {
            self.merge(run.all)?;
        }
        Ok(())
    }

    fn abandon(&self) -> Result<()> {
        *self.run() = Run { columns: vec![Column::default(); self.fields.len()], ..Run::default() };
        Ok(())
    }
}

/// The bytes of cells that are sorted in memory.
const MAX_RUN: usize = 128 << 20;
