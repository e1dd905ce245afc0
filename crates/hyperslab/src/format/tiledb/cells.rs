//! Cells of sparse arrays.

use super::array::{name_content, nullable};
use super::objects::{ArrayObject, Field};
use crate::cells::{CellBatches, CellColumn, CellQuery, CellRange, CellSource, CellTable};
use crate::pool::Pool;
use crate::source::ArraySource;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{Cells, Column, Datatype, Elements, Reference, Shape, Values};
use hyperslab_tiledb::array::Array;
use hyperslab_tiledb::format::fragment_metadata::mbr::Range;
use hyperslab_tiledb::read::sparse::{SparseCells, SparseColumn, SparseField, SparseRequest};
use std::sync::Arc;

/// The cells of a sparse array.
pub(super) struct SparseArray {
    array: Arc<Array>,
    columns: Vec<CellColumn>,
    fields: Vec<SparseField>,
}

impl SparseArray {
    pub(super) fn open(object: &ArrayObject) -> Result<SparseArray> {
        let (mut columns, mut fields) = (Vec::new(), Vec::new());
        for (name, field) in &object.fields {
            let (datatype, field, is_dimension) = match *field {
                Field::Dimension(position) => {
                    let dimension = object.dimension(position)?;
                    let (datatype, _) =
                        super::datatype::data_type(dimension.data_type, dimension.cell_val_num);
                    (datatype, SparseField::Dimension(position), true)
                }
                Field::Attribute(position) => {
                    let (datatype, _) = object.datatype(object.attribute(position)?)?;
                    (datatype, SparseField::Attribute(position), false)
                }
                Field::Label(_) => continue,
            };
            columns.push(CellColumn { name: name.clone(), datatype: Arc::new(datatype), is_dimension });
            fields.push(field);
        }
        Ok(SparseArray { array: Arc::clone(&object.array), columns, fields })
    }

    fn dimensions(&self) -> usize {
        self.array.dimensions().len()
    }

    fn table(&self, query: &CellQuery) -> Result<CellTable> {
        let request = SparseRequest { ranges: self.ranges(query)?, columns: self.fields.clone() };
        let mut batches = Vec::new();
        self.array.read_sparse(&request, &mut |cells| {
            batches.push(self.cells(cells)?);
            Ok(())
        })?;
        let columns = self.columns.iter().enumerate().map(|(position, column)| {
            let parts = batches.iter().filter_map(|cells: &Cells| cells.columns.get(position));
            let values = join(&column.datatype, parts)?;
            Ok(Column { name: column.name.clone(), datatype: Arc::clone(&column.datatype), values })
        });
        CellTable::new(Cells { columns: columns.collect::<Result<_>>()? }, self.dimensions())
    }

    /// The ranges of coordinates of which both ends are known. The others are looked at later.
    fn ranges(&self, query: &CellQuery) -> Result<Vec<Option<Range>>> {
        let mut ranges = vec![None; self.dimensions()];
        for CellRange { dimension, low, high } in &query.ranges {
            let column = self.columns.get(*dimension).filter(|column| column.is_dimension);
            let (Some(column), Some(range)) = (column, ranges.get_mut(*dimension)) else {
                let count = self.dimensions();
                return Err(Error::invalid(format!("dimension {dimension} of cells that have {count}")));
            };
            if let (Some(low), Some(high)) = (low, high) {
                *range =
                    Some(Range { min: bytes(&column.datatype, low)?, max: bytes(&column.datatype, high)? });
            }
        }
        Ok(ranges)
    }

    fn cells(&self, cells: &SparseCells) -> Result<Cells> {
        let columns = cells.columns.iter().zip(&self.columns).map(|(stored, column)| {
            let values = values(stored, &column.datatype)?;
            Ok(Column { name: column.name.clone(), datatype: Arc::clone(&column.datatype), values })
        });
        Ok(Cells { columns: columns.collect::<Result<_>>()? })
    }
}

impl CellSource for SparseArray {
    fn columns(&self) -> &[CellColumn] {
        &self.columns
    }

    fn count(&self, query: &CellQuery) -> Result<u64> {
        self.table(query)?.count(query)
    }

    fn batches(&self, query: &CellQuery) -> Result<CellBatches<'_>> {
        let table = self.table(query)?;
        let batches: Vec<Result<Cells>> = table.batches(query)?.collect();
        Ok(Box::new(batches.into_iter()))
    }
}

/// A column as an array, whose values are in cells only.
pub(super) struct ColumnArray {
    array: Arc<Array>,
    field: SparseField,
    datatype: Arc<Datatype>,
    extents: Vec<u64>,
    chunk: Vec<u64>,
    pool: Pool,
}

impl ColumnArray {
    pub(super) fn new(
        array: Arc<Array>,
        field: SparseField,
        datatype: Arc<Datatype>,
        shape: &Shape,
        pool: Pool,
    ) -> ColumnArray {
        let extents = shape.current().unwrap_or_default();
        ColumnArray { array, field, datatype, chunk: vec![1; extents.len()], extents, pool }
    }
}

impl ArraySource for ColumnArray {
    fn extents(&self) -> Option<&[u64]> {
        Some(&self.extents)
    }

    fn datatype(&self) -> &Arc<Datatype> {
        &self.datatype
    }

    fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn read_part(
        &self,
        _: &Region,
        _: &mut Planes<'_>,
        _: &mut Heap<Reference>,
        _: &mut Scratch,
    ) -> Result<()> {
        let what = "a column of a sparse array, which has values in its cells only";
        Err(Error::unsupported(what).with_remedy(Remedy::ReadCells))
    }

    fn stored(&self) -> Result<u64> {
        self.array.stored_size(self.field)
    }

    fn is_unwritten(&self) -> Result<bool> {
        Ok(true)
    }
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

/// A column in the model.
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

/// Columns one behind the other.
fn join<'a>(datatype: &Datatype, parts: impl Iterator<Item = &'a Column>) -> Result<Values> {
    let (mut rows, mut heap) = (Vec::new(), Heap::default());
    for part in parts {
        let start = rows.len();
        rows.resize(start + part.values.rows.len(), 0);
        let out = rows.get_mut(start..).unwrap_or_default();
        hyperslab_model::rows::place_rows(part.values.clone(), datatype, out, &mut heap)?;
    }
    Ok(Values { rows: rows.into(), heap })
}
