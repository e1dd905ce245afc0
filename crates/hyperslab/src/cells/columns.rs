//! The columns of sorted cells, each readable from any position.
//!
//! A target writes arrays one after another, whereas cells arrive with all columns at once. The cells are therefore
//! sorted once and kept, in memory or in a scratch file.

use super::part::{Part, Unpacked, has_references};
use super::scratch::{self, Scratch, broken};
use super::{CellColumn, CellQuery, CellSource};
use crate::canonical::canonical;
use crate::pool::Pool;
use hyperslab_core::storage::WritableMemory;
use hyperslab_core::{Error, Result};
use hyperslab_model::rows::place_rows;
use hyperslab_model::{Column, Datatype, Values};
use std::ops::Range;
use std::sync::Arc;

/// The columns of the cells of one source, in sorted order.
pub(crate) struct Columns {
    columns: Vec<Kept>,
    bytes: Scratch,
}

/// One column.
enum Kept {
    /// Pieces of `bytes`, with the first cell of each.
    Blocks { datatype: Arc<Datatype>, row: usize, blocks: Vec<Block> },
    /// The values of a column with references, which no format with large sparse arrays has.
    Values { datatype: Arc<Datatype>, row: usize, values: Values },
}

/// Consecutive cells of one column: their rows; or, if these have slots, where the bytes of each cell end, and the
/// canonical bytes of all cells.
struct Block {
    cells: Range<u64>,
    offset: u64,
}

impl Columns {
    /// Sorts and keeps the cells of a source.
    ///
    /// # Errors
    /// If the cells cannot be read, or the scratch file cannot be written.
    pub(crate) fn of(source: &dyn CellSource, pool: &Pool) -> Result<Columns> {
        let kept = |column: &CellColumn| {
            let (datatype, row) = (Arc::clone(&column.datatype), column.datatype.row_size().unwrap_or(0));
            match has_references(&datatype) {
                true => Kept::Values { datatype, row, values: Values::default() },
                false => Kept::Blocks { datatype, row, blocks: Vec::new() },
            }
        };
        let mut columns: Vec<Kept> = source.columns().iter().map(kept).collect();
        let mut bytes = Scratch::of(Box::new(WritableMemory::default()));
        let (mut end, mut is_in_memory, mut first) = (0, true, 0);
        for batch in source.batches(&CellQuery::default())? {
            let batch = batch?;
            pool.check()?;
            let cells = first..u64::saturating_add(first, batch.len() as u64);
            first = cells.end;
            for (kept, column) in columns.iter_mut().zip(&batch.columns) {
                kept.add(column, cells.clone(), &bytes, &mut end)?;
            }
            if is_in_memory && end > pool.memory() / MEMORY_SHARE {
                let file = scratch::create()?;
                file.copy(&bytes, end)?;
                (bytes, is_in_memory) = (file, false);
            }
        }
        Ok(Columns { columns, bytes })
    }

    /// The values of some cells in the column with this index.
    ///
    /// # Errors
    /// If there are fewer cells, or the scratch file cannot be read.
    pub(crate) fn read(&self, column: usize, cells: Range<u64>) -> Result<Values> {
        match self.columns.get(column).ok_or_else(broken)? {
            Kept::Values { row, values, .. } => {
                let at = |cell: u64| usize::try_from(cell).map_err(|_| broken());
                values.slice(at(cells.start)?..at(cells.end)?, *row).ok_or_else(broken)
            }
            Kept::Blocks { datatype, row, blocks } => {
                let mut found = Unpacked::default();
                let from = blocks.partition_point(|block| block.cells.end <= cells.start);
                let mut at = cells.start;
                for block in blocks.get(from..).unwrap_or_default() {
                    let part = at..cells.end.min(block.cells.end);
                    if part.is_empty() {
                        break;
                    }
                    at = part.end;
                    block.read(part, datatype, *row, &self.bytes, &mut found)?;
                }
                if at < cells.end { Err(broken()) } else { Ok(found.values()) }
            }
        }
    }
}

impl Kept {
    /// Adds the values of the next cells. Data written to `bytes` goes after `end`.
    fn add(&mut self, column: &Column, cells: Range<u64>, bytes: &Scratch, end: &mut u64) -> Result<()> {
        match self {
            Kept::Values { datatype, values, .. } => {
                let Values { rows, mut heap } = std::mem::take(values);
                let mut rows = rows.to_vec();
                let start = rows.len();
                rows.resize(start.saturating_add(column.values.rows.len()), 0);
                let place = rows.get_mut(start..).unwrap_or_default();
                place_rows(column.values.clone(), datatype, place, &mut heap)?;
                *values = Values { rows: rows.into(), heap };
            }
            Kept::Blocks { datatype, blocks, .. } => {
                blocks.push(Block { cells, offset: *end });
                let mut write = |of: &[u8]| {
                    bytes.write(*end, of)?;
                    *end = end.saturating_add(of.len() as u64);
                    Ok::<(), Error>(())
                };
                if !datatype.has_slots() {
                    return write(&column.values.rows);
                }
                let (mut ends, mut content) = (Vec::new(), Vec::new());
                for element in column.elements() {
                    canonical(&|_| 0, element, &mut content)?;
                    ends.extend((content.len() as u64).to_ne_bytes());
                }
                write(&ends)?;
                write(&content)?;
            }
        }
        Ok(())
    }
}

impl Block {
    /// Appends the values of some cells of the block.
    fn read(
        &self,
        cells: Range<u64>,
        datatype: &Datatype,
        row: usize,
        bytes: &Scratch,
        out: &mut Unpacked,
    ) -> Result<()> {
        let from = cells.start.saturating_sub(self.cells.start);
        let count = cells.end.saturating_sub(cells.start);
        if !datatype.has_slots() {
            let start = out.rows.len();
            let len =
                usize::try_from(count).ok().and_then(|count| count.checked_mul(row)).ok_or_else(broken)?;
            out.rows.resize(start.saturating_add(len), 0);
            let place = out.rows.get_mut(start..).unwrap_or_default();
            return bytes.read(self.offset.saturating_add(from.saturating_mul(row as u64)), place);
        }
        // The first cell begins where the previous one ends.
        let before = from.min(1);
        let len = usize::try_from(count.saturating_add(before).saturating_mul(8)).map_err(|_| broken())?;
        let mut ends = vec![0; len];
        bytes.read(self.offset.saturating_add((from - before).saturating_mul(8)), &mut ends)?;
        let mut ends = ends.as_chunks::<8>().0.iter().map(|end| u64::from_ne_bytes(*end));
        let start = if before == 1 { ends.next().unwrap_or(0) } else { 0 };
        let end = ends.next_back().unwrap_or(start);
        let mut content = vec![0; usize::try_from(end.saturating_sub(start)).map_err(|_| broken())?];
        let all = self.cells.end.saturating_sub(self.cells.start).saturating_mul(8);
        bytes.read(self.offset.saturating_add(all).saturating_add(start), &mut content)?;
        let (part, mut rest) = (Part::canonical(datatype), &content[..]);
        for _ in 0..count {
            part.decode(&mut rest, out)?;
        }
        Ok(())
    }
}

/// Cells need no scratch file if they take at most the memory divided by this number.
const MEMORY_SHARE: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::CellTable;
    use crate::cells::testing::{Random, datatypes};
    use hyperslab_core::rows::Slot;
    use hyperslab_model::{Cells, Elements, NodePath, Reference};

    fn canonical_of(datatype: &Datatype, values: &Values) -> Vec<Vec<u8>> {
        let one = |element| {
            let mut bytes = Vec::new();
            canonical(&|_| 0, element, &mut bytes).unwrap();
            bytes
        };
        Elements::new(datatype, values).map(one).collect()
    }

    #[test]
    fn any_part_of_a_column_is_read_from_memory_and_from_a_file() {
        let mut random = Random(7);
        let columns = datatypes().iter().enumerate().map(|(name, of)| random.column(name, of, 200)).collect();
        let table = CellTable::new(Cells { columns }, 2).unwrap();
        let all = table.batches(&CellQuery::default()).unwrap().next().unwrap().unwrap();
        for memory in [0, 1 << 14, 1 << 30] {
            let small = InBatches(&table);
            let kept = Columns::of(&small, &Pool::new(1, memory)).unwrap();
            for (index, column) in all.columns.iter().enumerate() {
                let expected = canonical_of(&column.datatype, &column.values);
                for _ in 0..20 {
                    let (from, count) = (random.below(200), random.below(100));
                    let cells = from..(from + count).min(200);
                    let found = kept.read(index, cells.clone()).unwrap();
                    let [from, to] = [cells.start, cells.end].map(|cell| usize::try_from(cell).unwrap());
                    assert_eq!(canonical_of(&column.datatype, &found), expected[from..to]);
                }
                assert!(kept.read(index, 150..201).is_err());
            }
        }
    }

    #[test]
    fn references_are_kept_in_memory() {
        let mut heap = hyperslab_core::rows::Heap::default();
        let paths = ["/a", "/b", "/c"].map(|path| Reference::Object(NodePath::new(path).unwrap()));
        let rows: Vec<u8> =
            paths.into_iter().flat_map(|path| heap.push_reference(path).unwrap().to_bytes()).collect();
        let (datatype, values) = (Arc::new(Datatype::ObjRef), Values { rows: rows.into(), heap });
        let column = Column { name: "to".into(), datatype, values };
        let table = CellTable::new(Cells { columns: vec![column] }, 0).unwrap();
        let kept = Columns::of(&InBatches(&table), &Pool::new(1, 0)).unwrap();
        let found = kept.read(0, 1..3).unwrap();
        assert_eq!(found.rows.len(), 2 * Slot::SIZE);
        assert_eq!(canonical_of(&Datatype::ObjRef, &found)[0][8..], *b"/b");
    }

    /// A table that is read in batches of a few cells.
    struct InBatches<'a>(&'a CellTable);

    impl CellSource for InBatches<'_> {
        fn columns(&self) -> &[CellColumn] {
            self.0.columns()
        }
        fn count(&self, query: &CellQuery) -> Result<u64> {
            self.0.count(query)
        }
        fn batches(&self, query: &CellQuery) -> Result<crate::cells::CellBatches<'_>> {
            self.0.batches(&CellQuery { batch: 2000, ..query.clone() })
        }
    }
}
