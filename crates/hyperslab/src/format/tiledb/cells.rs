//! Cells of sparse arrays.
//!
//! Cells are read in parts by all threads and sorted by [`sorted`]. For this purpose, a query is divided along the
//! first dimension as long as its cells need more than their share of memory, and the cells are sorted box by box.
//! Where tiles would be read more than twice, the cells are written to a scratch file instead.

mod divided;
mod in_place;

use super::array::name_content;
use super::datatype::is_ordered;
use super::objects::{ArrayObject, Field};
use crate::cells::{
    CellBatches, CellColumn, CellOrder, CellQuery, CellRange, CellSource, StoredCells, check_ranges, sorted,
    whole, within,
};
use crate::pool::Pool;
use divided::Boxes;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::{Error, Result};
use hyperslab_model::rows::nullable;
use hyperslab_model::{Cells, Column, Datatype, Elements, Values};
use hyperslab_tiledb::array::Array;
use hyperslab_tiledb::format::fragment_metadata::mbr::Range;
use hyperslab_tiledb::read::sparse::{
    SparseCells, SparseColumn, SparseField, SparsePlan, SparseRequest, SparseScratch,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The cells of a sparse array.
pub(super) struct SparseArray {
    array: Arc<Array>,
    columns: Vec<CellColumn>,
    fields: Vec<SparseField>,
    pool: Pool,
}

impl SparseArray {
    pub(super) fn open(object: &ArrayObject, pool: Pool) -> Result<SparseArray> {
        let (mut columns, mut fields) = (Vec::new(), Vec::new());
        for (name, field) in &object.fields {
            let (datatype, field, is_dimension, is_ordered) = match *field {
                Field::Dimension(position) => {
                    let dimension = object.dimension(position)?;
                    let (datatype, _) =
                        super::datatype::data_type(dimension.data_type, dimension.cell_val_num);
                    (datatype, SparseField::Dimension(position), true, false)
                }
                Field::Attribute(position) => {
                    let attribute = object.attribute(position)?;
                    let (datatype, _) = object.datatype(attribute)?;
                    let is_ordered = is_ordered(&object.array, attribute);
                    (datatype, SparseField::Attribute(position), false, is_ordered)
                }
                Field::Label(_) => continue,
            };
            let (name, datatype) = (name.clone(), Arc::new(datatype));
            columns.push(CellColumn { name, datatype, is_dimension, is_ordered });
            fields.push(field);
        }
        Ok(SparseArray { array: Arc::clone(&object.array), columns, fields, pool })
    }

    /// The ranges of coordinates that a query names. An open bound is that of the domain; a range of strings that lacks
    /// one end is checked cell by cell.
    fn ranges(&self, query: &CellQuery) -> Result<Vec<Option<Range>>> {
        check_ranges(&self.columns, &query.ranges)?;
        let mut ranges = vec![None; self.array.dimensions().len()];
        for CellRange { dimension, low, high } in &query.ranges {
            let (Some(column), Some(range), Some(of)) = (
                self.columns.get(*dimension),
                ranges.get_mut(*dimension),
                self.array.dimensions().get(*dimension),
            ) else {
                continue;
            };
            let (least, greatest) = of.domain.split_at_checked(of.domain.len() / 2).unwrap_or_default();
            let end = |bound: &Option<Values>, of_domain: &[u8]| match bound {
                Some(bound) => bytes(&column.datatype, bound).map(Some),
                None if of_domain.is_empty() => Ok(None),
                None => Ok(Some(of_domain.to_vec())),
            };
            if let (Some(min), Some(max)) = (end(low, least)?, end(high, greatest)?) {
                *range = Some(Range { min, max });
            }
        }
        Ok(ranges)
    }

    /// The columns of a query, as indices. Sorting needs all of them.
    fn wanted(&self, query: &CellQuery) -> Result<Vec<usize>> {
        let wanted = match (query.order, &query.columns) {
            (CellOrder::Stored, Some(indexes)) => indexes.clone(),
            _ => (0..self.columns.len()).collect(),
        };
        match wanted.iter().find(|index| **index >= self.columns.len()) {
            Some(index) => Err(Error::invalid(format!("column {index} of {}", self.columns.len()))),
            None => Ok(wanted),
        }
    }

    /// What is read for a query.
    fn chosen(&self, query: &CellQuery) -> Result<Chosen<'_>> {
        let (mut wanted, ranges) = (self.wanted(query)?, self.ranges(query)?);
        let is_open = |range: &&CellRange| ranges.get(range.dimension).is_none_or(Option::is_none);
        let given = wanted.len();
        let open = query.ranges.iter().filter(is_open).map(|range| {
            let position = wanted.iter().position(|index| *index == range.dimension).unwrap_or_else(|| {
                wanted.push(range.dimension);
                wanted.len() - 1
            });
            CellRange { dimension: position, ..range.clone() }
        });
        let open = open.collect();
        let columns = wanted.iter().filter_map(|index| self.columns.get(*index)).collect();
        let fields = wanted.iter().filter_map(|index| self.fields.get(*index).copied()).collect();
        Ok(Chosen { columns, given, request: SparseRequest { ranges, columns: fields }, open })
    }

    fn stored<'a>(&'a self, chosen: Chosen<'a>, order: CellOrder) -> Stored<'a> {
        let Chosen { columns, given, request, .. } = chosen;
        let row = |column: &&CellColumn| match column.datatype.has_slots() {
            true => USUAL_CONTENT,
            false => column.datatype.row_size().unwrap_or(usize::MAX) as u64,
        };
        let row = columns.iter().map(row).fold(1, u64::saturating_add);
        let most = (self.pool.memory() / MEMORY_SHARE / row).max(1);
        Stored {
            array: &self.array,
            columns,
            given,
            boxes: Boxes::new(&self.array, request, most),
            open: None,
            ready: VecDeque::new(),
            scratches: Scratches::default(),
            has_boundaries: order == CellOrder::Sorted,
            pool: &self.pool,
        }
    }
}

/// What is read for a query.
struct Chosen<'a> {
    /// The columns: first those that are returned, then those that open ranges need.
    columns: Vec<&'a CellColumn>,
    given: usize,
    request: SparseRequest,
    /// The ranges that are checked cell by cell. They refer to columns among those that are read.
    open: Vec<CellRange>,
}

impl CellSource for SparseArray {
    fn columns(&self) -> &[CellColumn] {
        &self.columns
    }

    fn count(&self, query: &CellQuery) -> Result<u64> {
        let request = SparseRequest { ranges: self.ranges(query)?, columns: Vec::new() };
        let is_exact =
            query.ranges.iter().all(|range| request.ranges.get(range.dimension).is_some_and(Option::is_some));
        if let Some(count) = self.array.plan_sparse(&request)?.exact_cells().filter(|_| is_exact) {
            return Ok(count);
        }
        let dimensions = (0..self.array.dimensions().len()).take(1).collect();
        let query = CellQuery { columns: Some(dimensions), order: CellOrder::Stored, ..query.clone() };
        self.batches(&query)?.try_fold(0, |count: u64, cells| Ok(count.saturating_add(cells?.len() as u64)))
    }

    fn batches(&self, query: &CellQuery) -> Result<CellBatches<'_>> {
        let chosen = self.chosen(query)?;
        let ranges = chosen.open.clone();
        let stored = self.stored(chosen, query.order);
        if query.order == CellOrder::Sorted {
            // All columns are read, in their order.
            return sorted(stored, &self.columns, &CellQuery { ranges, ..query.clone() }, &self.pool);
        }
        let given = stored.given;
        Ok(Box::new(stored.filter_map(move |cells| {
            let cells = match cells {
                Ok(StoredCells::Cells(cells)) => cells,
                Ok(StoredCells::Boundary) => return None,
                Err(error) => return Some(Err(error)),
            };
            let found = within(cells, &ranges).map(|mut cells| {
                cells.columns.truncate(given);
                cells
            });
            Some(found).filter(|cells| cells.as_ref().map_or(true, |cells| !cells.is_empty()))
        })))
    }

    fn read(&self, query: &CellQuery) -> Result<Option<Cells>> {
        if query.order == CellOrder::Stored
            && let Some(all) = in_place::read(self, query)?
        {
            return Ok(Some(all).filter(|all| !all.is_empty()));
        }
        whole(self.batches(query)?)
    }
}

/// Cells in the order in which they are stored, part by part.
struct Stored<'a> {
    array: &'a Array,
    /// The columns that are read: first those that are returned, then those that ranges need.
    columns: Vec<&'a CellColumn>,
    given: usize,
    boxes: Boxes<'a>,
    open: Option<(SparsePlan<'a>, usize)>,
    ready: VecDeque<StoredCells>,
    scratches: Scratches,
    /// Whether boxes follow one another along the first dimension.
    has_boundaries: bool,
    pool: &'a Pool,
}

impl Stored<'_> {
    /// Reads the next parts of the open box, or opens the next box. Returns whether there was one.
    fn read_more(&mut self) -> Result<bool> {
        let Some((plan, next)) = &mut self.open else {
            let Some(request) = self.boxes.next()? else { return Ok(false) };
            self.open = Some((self.array.plan_sparse(&request)?, 0));
            return Ok(true);
        };
        let end = next.saturating_add(self.pool.threads().max(1)).min(plan.len());
        let mut parts: Vec<(usize, Vec<Cells>)> = (*next..end).map(|part| (part, Vec::new())).collect();
        let (plan, columns, scratches) = (&*plan, &self.columns, &self.scratches);
        self.pool.each(parts.iter_mut(), PART_MEMORY, |(part, batches), _| {
            scratches.read(plan, *part, &mut |found| {
                batches.push(cells(found, columns)?);
                Ok(())
            })
        })?;
        self.ready.extend(parts.into_iter().flat_map(|(_, batches)| batches).map(StoredCells::Cells));
        match end == plan.len() {
            true => {
                self.open = None;
                self.ready.extend(self.has_boundaries.then_some(StoredCells::Boundary));
            }
            false => *next = end,
        }
        Ok(true)
    }
}

/// The buffers of threads that read parts, which are reused for the next parts.
#[derive(Default)]
struct Scratches(Mutex<Vec<SparseScratch>>);

impl Scratches {
    /// Passes the cells of a part to `take`, in batches.
    fn read(
        &self,
        plan: &SparsePlan<'_>,
        part: usize,
        take: &mut dyn FnMut(&SparseCells) -> Result<()>,
    ) -> Result<()> {
        let unpoisoned = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = unpoisoned().pop().unwrap_or_default();
        let read = plan.read(part, &mut scratch, take);
        unpoisoned().push(scratch);
        read
    }
}

impl Iterator for Stored<'_> {
    type Item = Result<StoredCells>;

    fn next(&mut self) -> Option<Result<StoredCells>> {
        loop {
            if let Some(cells) = self.ready.pop_front() {
                return Some(Ok(cells));
            }
            match self.read_more() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.boxes = Boxes::none(self.array);
                    self.open = None;
                    return Some(Err(error));
                }
            }
        }
    }
}

fn cells(found: &SparseCells, columns: &[&CellColumn]) -> Result<Cells> {
    let columns = found.columns.iter().zip(columns).map(|(stored, column)| {
        let values = values(stored, &column.datatype)?;
        Ok(Column { name: column.name.clone(), datatype: Arc::clone(&column.datatype), values })
    });
    Ok(Cells { columns: columns.collect::<Result<_>>()? })
}

/// The bytes of a coordinate.
fn bytes(datatype: &Datatype, value: &Values) -> Result<Vec<u8>> {
    let mut elements = Elements::new(datatype, value);
    let one = elements.next().filter(|_| elements.next().is_none());
    let one = one.ok_or_else(|| Error::invalid("a bound that is not one element"))?;
    Ok(match datatype.has_slots() {
        true => Slot::get(one.row()).and_then(|slot| value.heap.content(slot)).unwrap_or_default().to_vec(),
        false => one.row().to_vec(),
    })
}

/// A stored column as a column of the model.
fn values(stored: &SparseColumn, datatype: &Datatype) -> Result<Values> {
    let inner = datatype.non_null();
    let mut heap = Heap::default();
    let rows = if inner.has_slots() {
        let size = match inner {
            Datatype::Vlen(base) => base.row_size().unwrap_or(1).max(1),
            _ => 1,
        };
        let buffer = heap.push(stored.bytes.clone().into())?;
        let mut rows = Vec::with_capacity(stored.ends.len().saturating_mul(Slot::SIZE));
        let mut start = 0;
        for end in &stored.ends {
            let count = end.saturating_sub(start) / size;
            let count =
                u32::try_from(count).map_err(|_| Error::unsupported("a cell of 2^32 values or more"))?;
            rows.extend_from_slice(&Slot::at(buffer, count, start as u64).to_bytes());
            start = *end;
        }
        name_content(&rows, inner, &mut heap)?;
        rows
    } else {
        stored.bytes.clone()
    };
    let rows = match datatype {
        Datatype::Nullable(_) => nullable(&rows, &stored.validity, inner.row_size().unwrap_or(1)),
        _ => rows,
    };
    Ok(Values { rows: rows.into(), heap })
}

/// The share of the memory for the cells of a box, as a divisor. Sorting them needs the same amount again.
const MEMORY_SHARE: u64 = 6;

/// The assumed size of a string or a sequence before it is read.
const USUAL_CONTENT: u64 = 48;

/// The memory of a thread that reads a part.
const PART_MEMORY: u64 = 16 << 20;
