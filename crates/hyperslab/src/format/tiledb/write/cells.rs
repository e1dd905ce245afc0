//! Cells of sparse arrays: sorted in memory run by run, each a fragment.

use crate::cells::{CellColumn, CellOrder};
use crate::format::tiledb::elements::{StoredCells, StoredElements};
use crate::strings::name_bytes;
use crate::target::{CellTarget, Facts};
use hyperslab_core::{Error, Limits, Result};
use hyperslab_model::{Cells, ElementStorage};
use hyperslab_tiledb::filter::Scratch;
use hyperslab_tiledb::write::array::ArrayWriter;
use hyperslab_tiledb::write::consolidate::{ConsolidateOptions, Deleted};
use hyperslab_tiledb::write::fragment::WrittenFragment;
use hyperslab_tiledb::write::sparse::{CellBuffers, Column, SparseFragment, global_order};
use hyperslab_tiledb::write::vacuum::VacuumOptions;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The cells of a sparse array that is being written.
pub(super) struct TileDbCellTarget<'a> {
    writer: Arc<ArrayWriter>,
    time: u64,
    /// For each field of the schema, the column that has its values, and how these are stored.
    fields: Vec<(usize, StoredElements)>,
    run: Mutex<Run>,
    finished: Box<dyn Fn() -> Result<()> + Send + Sync + 'a>,
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

impl<'a> TileDbCellTarget<'a> {
    /// `names` are the stored names of the columns.
    pub(super) fn new(
        writer: Arc<ArrayWriter>,
        columns: &[CellColumn],
        names: &[Vec<u8>],
        time: u64,
        finished: Box<dyn Fn() -> Result<()> + Send + Sync + 'a>,
    ) -> Result<TileDbCellTarget<'a>> {
        let schema = writer.schema();
        let dimensions =
            schema.domain.dimensions.iter().map(|own| (&own.name, own.data_type, own.cell_val_num));
        let attributes = schema.attributes.iter().map(|own| (&own.name, own.data_type, own.cell_val_num));
        let field = |(name, data_type, values): (&Vec<u8>, _, _)| {
            let position = names.iter().position(|own| own == name);
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
        Ok(TileDbCellTarget { writer, time, fields, run, finished })
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
        let order = global_order(self.writer.schema(), &run.columns, run.cells)?;
        let fragment = SparseFragment::new(&self.writer, (self.time, self.time))?;
        let (mut buffers, mut scratch) = (CellBuffers::default(), Scratch::new());
        for tile in order.chunks(fragment.capacity()) {
            fragment.put(fragment.encode(&run.columns, tile, &mut buffers, &mut scratch)?)?;
        }
        run.fragments.push(fragment.finish()?);
        run.all = run.all.saturating_add(run.cells as u64);
        (run.cells, run.bytes) = (0, 0);
        run.columns.iter_mut().for_each(|column| *column = Column::default());
        Ok(())
    }
}

impl CellTarget for TileDbCellTarget<'_> {
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
        (self.finished)()
    }

    fn abandon(&self) -> Result<()> {
        *self.run() = Run { columns: vec![Column::default(); self.fields.len()], ..Run::default() };
        Ok(())
    }
}

/// The stored names of columns of cells, which have the names of members of a group.
pub(super) fn stored_names(columns: &[CellColumn], known: &[(String, Vec<u8>)]) -> Vec<Vec<u8>> {
    let name = |column: &CellColumn| {
        let found = known.iter().find(|(shown, _)| *shown == column.name);
        found.map_or_else(|| name_bytes(&column.name), |(_, stored)| stored.clone())
    };
    columns.iter().map(name).collect()
}

/// The bytes of cells that are sorted in memory.
const MAX_RUN: usize = 128 << 20;
