//! Fragments of sparse arrays: cells in global order, cut into tiles with as many cells as the schema states.

use super::array::ArrayWriter;
use super::field::{EncodedTile, FieldEncoder, TileCells};
use super::fragment::{FragmentWriter, Kind, WrittenFragment};
use super::order::CellSorter;
use crate::array::fragment::FragmentField;
use crate::filter::Scratch;
use crate::format::array_schema::{ArraySchema, Dimension};
use crate::format::data_type::{CellValNum, DataType};
use crate::format::fragment_metadata::mbr::{Mbr, Range};
use crate::format::timestamped_name::TimestampedName;
use crate::history::value_text;
use crate::read::compare::compare;
use crate::summary::{Noting, TileSummary};
use hyperslab_core::{Error, Result};
use std::cmp::Ordering;
use std::sync::{Mutex, PoisonError};

/// The cells of one field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// The values of all cells in their stored form, one after another.
    pub values: Vec<u8>,
    /// The start of each cell in the values, if cells differ in their number of values; empty otherwise.
    pub offsets: Vec<u64>,
    /// A byte for each cell, 0 if it is null. Empty for fields that cannot be null.
    pub validity: Vec<u8>,
}

/// A fragment of a sparse array that is being written. It can be shared between threads.
pub struct SparseFragment {
    array: ArrayWriter,
    writer: FragmentWriter,
    fields: Vec<Field>,
    last: Mutex<u64>,
}

/// A field of the fragment: dimensions first, then attributes, then what consolidation knows about cells.
struct Field {
    field: FragmentField,
    encoder: FieldEncoder,
    /// The size of a cell in bytes; 0 if cells differ in size.
    cell_size: usize,
}

/// An encoded tile of all fields.
pub struct EncodedCells {
    /// The number of cells.
    pub cells: u64,
    rectangle: Mbr,
    fields: Vec<(Vec<u8>, EncodedTile)>,
}

/// Buffers for the cells of a tile. Each thread needs its own.
#[derive(Default)]
pub struct CellBuffers {
    column: Column,
}

impl EncodedCells {
    /// The number of bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.fields.iter().map(|(bytes, _)| bytes.len() as u64).sum()
    }
}

impl SparseFragment {
    /// Begins a fragment that is visible at a time.
    ///
    /// # Errors
    /// If the store cannot be written, or the cell order is not possible for sparse arrays.
    pub fn new(array: &ArrayWriter, time: (u64, u64)) -> Result<SparseFragment> {
        SparseFragment::with(array, time, false, false)
    }

    /// Begins a consolidated fragment, whose last columns are the time of each cell, and the time and the condition of
    /// its deletion.
    pub(crate) fn with(
        array: &ArrayWriter,
        time: (u64, u64),
        has_timestamps: bool,
        has_delete_metadata: bool,
    ) -> Result<SparseFragment> {
        let schema = array.schema();
        let writer = FragmentWriter::new(array, time, Kind::Sparse { has_timestamps, has_delete_metadata })?;
        let dimensions = (0..schema.domain.dimensions.len()).map(FragmentField::Dimension);
        let attributes = (0..schema.attributes.len()).map(FragmentField::Attribute);
        let times = has_timestamps.then_some(FragmentField::Timestamps);
        let deletes = [FragmentField::DeleteTimestamps, FragmentField::DeleteConditions];
        let deletes = deletes.into_iter().filter(|_| has_delete_metadata);
        let field = |field| {
            let of = crate::array::fragment::field_type(schema, field)?;
            let cell_size = match of.cell_val_num {
                CellValNum::Fixed(count) => {
                    usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(of.data_type.size())
                }
                CellValNum::Var => 0,
            };
            Ok(Field { field, encoder: writer.encoder(field)?, cell_size })
        };
        let fields =
            dimensions.chain(attributes).chain(times).chain(deletes).map(field).collect::<Result<_>>()?;
        Ok(SparseFragment { array: array.clone(), writer, fields, last: Mutex::default() })
    }

    /// Writes cells as a fragment that is visible from a time on: sorted in global order, and cut into tiles. The
    /// columns are those of the dimensions, followed by the attributes.
    ///
    /// # Errors
    /// As [`global_order`], [`encode`](Self::encode) and [`put`](Self::put).
    pub fn of_cells(
        array: &ArrayWriter,
        time: u64,
        columns: &[Column],
        count: usize,
    ) -> Result<WrittenFragment> {
        let order = global_order(array.schema(), columns, count)?;
        let fragment = SparseFragment::new(array, (time, time))?;
        let (mut buffers, mut scratch) = (CellBuffers::default(), Scratch::new());
        for tile in order.chunks(fragment.capacity()) {
            fragment.put(fragment.encode(columns, tile, &mut buffers, &mut scratch)?)?;
        }
        fragment.finish()
    }

    /// The name under which it will be visible.
    pub fn name(&self) -> &TimestampedName {
        self.writer.name()
    }

    /// The number of cells of a tile.
    pub fn capacity(&self) -> usize {
        usize::try_from(self.array.schema().capacity).unwrap_or(usize::MAX).max(1)
    }

    /// Sets the deletes whose cells the fragment no longer has, or marks as deleted.
    pub(crate) fn set_processed_conditions(&mut self, files: Vec<Vec<u8>>) {
        self.writer.set_processed_conditions(files);
    }

    /// Encodes a tile of these cells, which are in global order. The columns are those of the dimensions, followed by
    /// the attributes.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for coordinates outside of the domain, wrong
    /// columns, and values that a filter cannot encode.
    pub fn encode(
        &self,
        columns: &[Column],
        cells: &[u32],
        buffers: &mut CellBuffers,
        scratch: &mut Scratch,
    ) -> Result<EncodedCells> {
        if columns.len() != self.fields.len() {
            let (found, expected) = (columns.len(), self.fields.len());
            return Err(Error::invalid(format!("{found} columns of cells, expected {expected}")));
        }
        let mut fields = Vec::with_capacity(columns.len());
        let mut ranges = Vec::new();
        let schema = self.array.schema();
        for (own, column) in self.fields.iter().zip(columns) {
            let together = column.together(own.cell_size, cells);
            let tile = match together {
                Some(tile) => tile,
                None => {
                    column.gather(own.cell_size, cells, &mut buffers.column)?;
                    let Column { values, offsets, validity } = &buffers.column;
                    TileCells { values, offsets, validity }
                }
            };
            if let FragmentField::Dimension(position) = own.field
                && let Some(dimension) = schema.domain.dimensions.get(position)
            {
                ranges.push(range(dimension, own.cell_size, &tile)?);
            }
            let mut bytes = Vec::new();
            let encoded = own.encoder.encode(&tile, own.encoder.summary(&tile), &mut bytes, scratch)?;
            fields.push((bytes, encoded));
        }
        let rectangle = Mbr { ranges };
        check_current(schema, &rectangle)?;
        Ok(EncodedCells { cells: cells.len() as u64, rectangle, fields })
    }

    /// Writes the next tile. All but the last have [as many cells](Self::capacity) as the schema states.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn put(&self, tile: EncodedCells) -> Result<()> {
        for (own, (bytes, encoded)) in self.fields.iter().zip(&tile.fields) {
            self.writer.put(own.field, bytes, encoded)?;
        }
        self.writer.put_rectangle(tile.rectangle);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = tile.cells;
        Ok(())
    }

    /// Completes the files of the fragment.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn finish(self) -> Result<WrittenFragment> {
        let last = self.last.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.writer.finish(last)
    }
}

/// The rectangle around cells, whose `columns` begin with those of the dimensions. The current domain may be smaller.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for coordinates outside of the domain, and if there
/// are no cells.
pub fn rectangle(schema: &ArraySchema, columns: &[Column]) -> Result<Mbr> {
    let sides = schema.domain.dimensions.iter().zip(columns).map(|(dimension, column)| {
        let Column { values, offsets, validity } = column;
        range(dimension, coordinate_size(dimension), &TileCells { values, offsets, validity })
    });
    Ok(Mbr { ranges: sides.collect::<Result<_>>()? })
}

/// The positions of cells in global order. `columns` begin with those of the dimensions.
///
/// # Errors
/// As [`CellSorter`].
pub fn global_order(schema: &ArraySchema, columns: &[Column], count: usize) -> Result<Vec<u32>> {
    let sorter = CellSorter::new(schema, columns, count)?;
    let parts: Vec<_> = sorter.parts(1).into_iter().map(|part| sorter.sorted(part)).collect::<Result<_>>()?;
    sorter.merged(&parts)
}

impl Column {
    /// Cells of one size that are consecutive in the column, without copying them.
    fn together(&self, size: usize, cells: &[u32]) -> Option<TileCells<'_>> {
        let (first, last) = (*cells.first()?, *cells.last()?);
        let follow = |pair: &[u32]| matches!(pair, [one, other] if one.checked_add(1) == Some(*other));
        (size > 0 && cells.windows(2).all(follow)).then_some(())?;
        let (first, end) = (first as usize, (last as usize).checked_add(1)?);
        let values = self.values.get(first.checked_mul(size)?..end.checked_mul(size)?)?;
        let validity = if self.validity.is_empty() { &[] } else { self.validity.get(first..end)? };
        Some(TileCells { values, offsets: &[], validity })
    }

    /// Replaces the content of `to` with some cells. `size` is the size of a cell, 0 if cells differ in size.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if there is no such cell.
    pub fn gather(&self, size: usize, cells: &[u32], to: &mut Column) -> Result<()> {
        to.values.clear();
        to.offsets.clear();
        to.validity.clear();
        let missing = || Error::invalid("a column with fewer cells than others");
        if !self.validity.is_empty() {
            for cell in cells {
                to.validity.push(*self.validity.get(*cell as usize).ok_or_else(missing)?);
            }
        }
        match size {
            0 => {
                for cell in cells {
                    let cell = *cell as usize;
                    let start = *self.offsets.get(cell).ok_or_else(missing)?;
                    let end = self.offsets.get(cell.saturating_add(1)).copied();
                    let range = usize::try_from(start).ok().zip(match end {
                        Some(end) => usize::try_from(end).ok(),
                        None => Some(self.values.len()),
                    });
                    let value = range.and_then(|(start, end)| self.values.get(start..end));
                    to.offsets.push(to.values.len() as u64);
                    to.values.extend_from_slice(value.ok_or_else(missing)?);
                }
            }
            1 => gather_sized::<1>(&self.values, cells, &mut to.values).ok_or_else(missing)?,
            2 => gather_sized::<2>(&self.values, cells, &mut to.values).ok_or_else(missing)?,
            4 => gather_sized::<4>(&self.values, cells, &mut to.values).ok_or_else(missing)?,
            8 => gather_sized::<8>(&self.values, cells, &mut to.values).ok_or_else(missing)?,
            size => {
                to.values.reserve(cells.len().saturating_mul(size));
                for cell in cells {
                    let start = (*cell as usize).checked_mul(size);
                    let value = start.and_then(|start| self.values.get(start..start.checked_add(size)?));
                    to.values.extend_from_slice(value.ok_or_else(missing)?);
                }
            }
        }
        Ok(())
    }
}

/// Appends some cells of `N` bytes.
fn gather_sized<const N: usize>(values: &[u8], cells: &[u32], to: &mut Vec<u8>) -> Option<()> {
    let values = values.as_chunks::<N>().0;
    to.reserve(cells.len().saturating_mul(N));
    cells.iter().try_for_each(|cell| values.get(*cell as usize).map(|value| to.extend_from_slice(value)))
}

/// The size of a coordinate in bytes; 0 for strings.
pub(super) fn coordinate_size(dimension: &Dimension) -> usize {
    match dimension.cell_val_num {
        CellValNum::Fixed(_) => dimension.data_type.size(),
        CellValNum::Var => 0,
    }
}

/// The smallest and the largest coordinate of a tile, which must be in the domain.
pub(super) fn range<'c>(dimension: &Dimension, cell_size: usize, cells: &TileCells<'c>) -> Result<Range> {
    let data_type = dimension.data_type;
    let name = || String::from_utf8_lossy(&dimension.name).into_owned();
    let ends = match cell_size {
        0 => {
            let end = [cells.values.len() as u64];
            let bounds = cells.offsets.iter().zip(cells.offsets.iter().skip(1).chain(&end));
            let texts = bounds.map(|(start, end)| {
                let range = usize::try_from(*start).ok().zip(usize::try_from(*end).ok());
                range.and_then(|(start, end)| cells.values.get(start..end)).unwrap_or_default()
            });
            let wider = |ends: Option<(&'c [u8], &'c [u8])>, text: &'c [u8]| {
                let (min, max) = ends.unwrap_or((text, text));
                Some((text.min(min), text.max(max)))
            };
            texts.fold(None, wider).map(|(min, max)| (min.to_vec(), max.to_vec()))
        }
        size => {
            let is_real = matches!(data_type, DataType::Float32 | DataType::Float64);
            let mut values = cells.values.chunks_exact(size);
            if is_real && values.any(|value| compare(data_type, value, value).is_none()) {
                let detail = format!("a coordinate of dimension {:?} that is not a number", name());
                return Err(Error::invalid(detail));
            }
            let TileSummary { min, max, has_value, .. } = Noting::of_numbers(data_type).summary(cells);
            has_value.then_some((min, max))
        }
    };
    let (min, max) = ends.ok_or_else(|| Error::invalid("a tile without cells"))?;
    let halves = dimension.domain.split_at_checked(cell_size).filter(|_| cell_size > 0);
    if let Some((low, high)) = halves {
        check_within(&name(), data_type, (&min, &max), (low, high), "the domain")?;
    }
    Ok(Range { min, max })
}

fn check_within(
    name: &str,
    data_type: DataType,
    (min, max): (&[u8], &[u8]),
    (low, high): (&[u8], &[u8]),
    what: &str,
) -> Result<()> {
    for (value, is_outside) in [
        (min, compare(data_type, min, low) == Some(Ordering::Less)),
        (max, compare(data_type, max, high) == Some(Ordering::Greater)),
    ] {
        if is_outside {
            let [value, low, high] = [value, low, high].map(|value| value_text(data_type, value));
            let detail = format!("coordinate {value} of dimension {name:?}, {what} is from {low} to {high}");
            return Err(Error::invalid(detail));
        }
    }
    Ok(())
}

/// Checks that a rectangle is in the part of the domain that may be written.
fn check_current(schema: &ArraySchema, rectangle: &Mbr) -> Result<()> {
    let current = schema.current_domain.as_ref().and_then(|current| current.rectangle.as_ref());
    let Some(current) = current else { return Ok(()) };
    let sides = schema.domain.dimensions.iter().zip(&rectangle.ranges).zip(&current.ranges);
    for ((dimension, own), current) in sides {
        // The range of a string dimension that may contain any string is empty.
        if dimension.cell_val_num.is_var() && current.min.is_empty() && current.max.is_empty() {
            continue;
        }
        let name = String::from_utf8_lossy(&dimension.name);
        let (own, all) = ((&*own.min, &*own.max), (&*current.min, &*current.max));
        check_within(&name, dimension.data_type, own, all, "the current domain")?;
    }
    Ok(())
}
