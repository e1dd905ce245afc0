//! Sorts cells that a source stores in another order, in bounded memory.
//!
//! Cells become records whose bytes compare in the order of the cells ([`form`]). Cells that fit in memory are sorted
//! there. Otherwise they are sorted piece by piece, each piece becomes a run in one scratch file, and the runs are
//! merged.

mod form;
mod merge;
mod records;
mod runs;
#[cfg(test)]
mod tests;

use super::scratch::{self, Create};
use super::{CellBatches, CellColumn, CellQuery, bounds};
use crate::pool::Pool;
use form::Form;
use hyperslab_core::Result;
use hyperslab_model::Cells;
use merge::Merge;
use records::Records;
use runs::Runs;
use std::sync::Arc;

/// The next item of a source, in the order in which it stores its cells.
#[derive(Clone, Debug)]
pub enum StoredCells {
    /// Cells in any order.
    Cells(Cells),
    /// All following cells sort after all previous ones, so the previous ones can be passed on before the others are
    /// read. A source that marks all such boundaries needs no scratch file for cells that are nearly sorted.
    Boundary,
}

/// The cells of `stored` that match a query, sorted by their coordinates and then by the canonical bytes of their
/// attributes, as in [digests](crate::digest). Their columns are `columns`, dimensions first; the query selects among
/// these.
///
/// Needs about three quarters of the memory of `pool`, in addition to one piece of `stored` and one batch. Cells that
/// do not fit and are not already sorted are written to an unnamed file in the folder for temporary files
/// ([`std::env::temp_dir`]). The file is at most as large as their columns in memory, and larger only for
/// variable-length elements. Nothing is read before the first batch is requested.
///
/// ```
/// use hyperslab::cells::{CellQuery, CellSource, CellOrder, CellTable, StoredCells, sorted};
/// use hyperslab::model::{Cells, Column, Datatype, Values};
/// use hyperslab::Pool;
/// use std::sync::Arc;
///
/// let rows: Vec<u8> = [7_i32, 1, 4].iter().flat_map(|n| n.to_ne_bytes()).collect();
/// let values = Values { rows: rows.into(), ..Values::default() };
/// let x = Column { name: "x".into(), datatype: Arc::new(Datatype::int(32, true)), values };
/// let source = CellTable::new(Cells { columns: vec![x] }, 1)?;
/// let stored = source.batches(&CellQuery { order: CellOrder::Stored, ..CellQuery::default() })?;
/// let stored = stored.map(|cells| cells.map(StoredCells::Cells));
/// let mut batches = sorted(stored, source.columns(), &CellQuery::default(), Pool::shared())?;
/// let batch = batches.next().unwrap()?;
/// assert_eq!(batch.columns[0].values.rows, [1_i32, 4, 7].map(i32::to_ne_bytes).concat());
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for an unknown column or dimension;
/// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for columns of references. A batch fails as `stored` does,
/// if the operation is cancelled, or if the scratch file cannot be written; it is then the last.
pub fn sorted<'a>(
    stored: impl Iterator<Item = Result<StoredCells>> + Send + 'a,
    columns: &[CellColumn],
    query: &CellQuery,
    pool: &Pool,
) -> Result<CellBatches<'a>> {
    sorted_with(stored, columns, query, pool, scratch::create)
}

fn sorted_with<'a>(
    stored: impl Iterator<Item = Result<StoredCells>> + Send + 'a,
    columns: &[CellColumn],
    query: &CellQuery,
    pool: &Pool,
    create: Create,
) -> Result<CellBatches<'a>> {
    let wanted = match &query.columns {
        None => (0..columns.len()).collect(),
        Some(indexes) => indexes.clone(),
    };
    let form = Form::new(columns, wanted)?;
    bounds::check(columns, &query.ranges)?;
    let row = form.row_size().max(1);
    Ok(Box::new(Sorted {
        stored,
        query: query.clone(),
        per_batch: usize::try_from(query.batch / row as u64).unwrap_or(usize::MAX).max(1),
        content: usize::try_from(query.batch).unwrap_or(usize::MAX).max(MIN_CONTENT),
        records: Records::new(form.fixed()),
        gathered: Gathered::default(),
        runs: Runs::new(create),
        form: Arc::new(form),
        merge: None,
        is_last: false,
        has_ended: false,
        pool: pool.clone(),
    }))
}

/// The state of a sort: cells are collected until there are no more before a boundary, and then merged.
struct Sorted<I> {
    stored: I,
    form: Arc<Form>,
    query: CellQuery,
    /// The number of cells of a full batch.
    per_batch: usize,
    /// The size of records that also fill a batch.
    content: usize,
    records: Records,
    runs: Runs,
    /// The merge of all cells before the last boundary.
    merge: Option<Merge>,
    gathered: Gathered,
    /// Whether there are no more cells in `stored`.
    is_last: bool,
    has_ended: bool,
    pool: Pool,
}

/// The records of the next batch.
#[derive(Default)]
struct Gathered {
    bytes: Vec<u8>,
    count: usize,
}

impl<I: Iterator<Item = Result<StoredCells>>> Iterator for Sorted<I> {
    type Item = Result<Cells>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let batch = self.batch();
        if !matches!(batch, Ok(Some(_))) {
            self.has_ended = true;
            self.merge = None;
            self.runs.clear();
            self.records.clear();
        }
        batch.transpose()
    }
}

impl<I: Iterator<Item = Result<StoredCells>>> Sorted<I> {
    fn batch(&mut self) -> Result<Option<Cells>> {
        loop {
            self.pool.check()?;
            let Some(merge) = &mut self.merge else {
                if self.is_last {
                    break;
                }
                self.collect()?;
                self.merge = Some(self.merged()?);
                continue;
            };
            while self.gathered.count < self.per_batch && self.gathered.bytes.len() < self.content {
                if !merge.next(&self.records, &self.runs, &mut self.gathered.bytes)? {
                    self.merge = None;
                    self.records.clear();
                    self.runs.clear();
                    break;
                }
                self.gathered.count += 1;
            }
            if self.merge.is_some() {
                break;
            }
        }
        if self.gathered.count == 0 {
            return Ok(None);
        }
        let cells = self.form.decode(&self.gathered.bytes, self.gathered.count)?;
        self.gathered.bytes.clear();
        self.gathered.count = 0;
        Ok(Some(cells))
    }

    /// Reads up to the next boundary, or to the end. Cells that do not fit in memory are then in runs of the scratch
    /// file.
    fn collect(&mut self) -> Result<()> {
        let room = usize::try_from(self.pool.memory() / 2).unwrap_or(usize::MAX);
        loop {
            self.pool.check()?;
            let cells = match self.stored.next().transpose()? {
                Some(StoredCells::Cells(cells)) => cells,
                Some(StoredCells::Boundary) if self.records.is_empty() && self.runs.is_empty() => continue,
                Some(StoredCells::Boundary) => return Ok(()),
                None => {
                    self.is_last = true;
                    return Ok(());
                }
            };
            let cells = bounds::within(cells, &self.query.ranges)?;
            let (mut at, count) = (0, cells.len());
            self.form.check(&cells)?;
            while at < count {
                at = self.records.add(&self.form, &cells, at, room)?;
                if at < count {
                    self.spill()?;
                }
            }
        }
    }

    /// Writes all records in memory to the scratch file.
    fn spill(&mut self) -> Result<()> {
        for slice in self.records.sort(&self.pool)? {
            self.pool.check()?;
            self.runs.add(&self.records, slice)?;
        }
        self.records.clear();
        Ok(())
    }

    /// All cells that were collected, in order.
    fn merged(&mut self) -> Result<Merge> {
        if self.runs.is_empty() {
            let slices = self.records.sort(&self.pool)?;
            return Ok(Merge::of_memory(&self.records, slices));
        }
        self.spill()?;
        self.records.release();
        merge::of_runs(&mut self.runs, self.form.fixed(), &self.pool)
    }
}

/// Variable-length elements fill a batch as soon as their records reach this size, or that of a batch.
const MIN_CONTENT: usize = 64 << 10;
