//! Fragments of sparse arrays: cells in global order, cut into tiles of as many cells as the schema says.

use super::array::ArrayWriter;
use super::field::{EncodedTile, FieldEncoder, TileCells};
use super::fragment::{FragmentWriter, Kind, WrittenFragment};
use crate::array::fragment::FragmentField;
use crate::filter::Scratch;
use crate::format::array_schema::{ArraySchema, Dimension};
use crate::format::data_type::{CellValNum, DataType};
use crate::format::fragment_metadata::mbr::{Mbr, Range};
use crate::format::timestamped_name::TimestampedName;
use crate::history::value_text;
use crate::read::compare::compare;
use crate::read::global_order::GlobalOrder;
use crate::read::tile::Tile;
use hyperslab_core::{Error, Result};
use std::cmp::Ordering;
use std::sync::{Mutex, PoisonError};

/// The cells of one field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// The values of all cells, one behind the other, as they are stored.
    pub values: Vec<u8>,
    /// Where each cell begins in the values, if cells differ in their number of values; empty otherwise.
    pub offsets: Vec<u64>,
    /// A byte for each cell, 0 if it is null. Empty for fields that cannot be null.
    pub validity: Vec<u8>,
}

/// A fragment of a sparse array that is being written. Threads can share it.
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
    /// The bytes of a cell; 0 if cells differ in size.
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
    /// Begins a fragment that is seen at a time.
    ///
    /// # Errors
    /// If the store cannot be written, or the order of cells is none of sparse arrays.
    pub fn new(array: &ArrayWriter, time: (u64, u64)) -> Result<SparseFragment> {
        SparseFragment::with(array, time, false, false)
    }

    /// Begins a consolidated fragment, whose last columns are the time of each cell, and the time and the condition of its
    /// deletion.
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

    /// Writes cells as a fragment that is seen from a time on: sorted in global order, and cut into tiles. Columns are those
    /// of dimensions, then attributes.
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

    /// The name, under which it will be seen.
    pub fn name(&self) -> &TimestampedName {
        self.writer.name()
    }

    /// The number of cells of a tile.
    pub fn capacity(&self) -> usize {
        usize::try_from(self.array.schema().capacity).unwrap_or(usize::MAX).max(1)
    }

    /// States the deletes whose cells the fragment no longer has, or marks as deleted.
    pub(crate) fn set_processed_conditions(&mut self, files: Vec<Vec<u8>>) {
        self.writer.set_processed_conditions(files);
    }

    /// Encodes a tile of these cells, which are in global order. Columns are those of dimensions, then attributes.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for coordinates outside of the domain, other columns,
    /// and values that a filter cannot encode.
    pub fn encode(
        &self,
        columns: &[Column],
        cells: &[usize],
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
            own.gather(column, cells, &mut buffers.column)?;
            let Column { values, offsets, validity } = &buffers.column;
            let tile = TileCells { values, offsets, validity };
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

    /// Writes the next tile. All but the last have [as many cells](Self::capacity) as the schema says.
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

/// The rectangle around cells, of which `columns` begin with those of the dimensions. The current domain may be smaller.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for coordinates outside of the domain, and if there are no
/// cells.
pub fn rectangle(schema: &ArraySchema, columns: &[Column]) -> Result<Mbr> {
    let sides = schema.domain.dimensions.iter().zip(columns).map(|(dimension, column)| {
        let cell_size = match dimension.cell_val_num {
            CellValNum::Fixed(_) => dimension.data_type.size(),
            CellValNum::Var => 0,
        };
        let Column { values, offsets, validity } = column;
        range(dimension, cell_size, &TileCells { values, offsets, validity })
    });
    Ok(Mbr { ranges: sides.collect::<Result<_>>()? })
}

/// The positions of cells in global order. `columns` begin with those of the dimensions.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if two cells have the same coordinates in an array that
/// does not allow it; [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for an order that sparse arrays do not have.
pub fn global_order(schema: &ArraySchema, columns: &[Column], count: usize) -> Result<Vec<usize>> {
    let order = GlobalOrder::of(schema)?;
    let dimensions: Vec<Tile> = schema
        .domain
        .dimensions
        .iter()
        .zip(columns)
        .map(|(dimension, column)| match dimension.cell_val_num {
            CellValNum::Fixed(_) => Tile::of_cells(column.values.clone(), dimension.data_type.size()),
            CellValNum::Var => {
                let end = column.values.len() as u64;
                Tile::of_texts(column.values.clone(), column.offsets.iter().copied().chain([end]).collect())
            }
        })
        .collect();
    let keys = order.keys(&dimensions, 0..count);
    let mut cells: Vec<usize> = (0..count).collect();
    if !cells.is_sorted_by(|one, other| keys.get(*one) <= keys.get(*other)) {
        cells.sort_by(|one, other| keys.get(*one).cmp(keys.get(*other)));
    }
    if !schema.allows_dups
        && let Some(same) = cells.windows(2).find(|pair| match pair {
            [one, other] => keys.get(*one) == keys.get(*other),
            _ => false,
        })
    {
        let at = same.first().copied().unwrap_or(0);
        let coordinates: Vec<String> = schema
            .domain
            .dimensions
            .iter()
            .zip(&dimensions)
            .map(|(dimension, tile)| value_text(dimension.data_type, tile.cell(at).unwrap_or_default()))
            .collect();
        let detail = format!("two cells at ({}), and the array allows one", coordinates.join(", "));
        return Err(Error::invalid(detail));
    }
    Ok(cells)
}

impl Field {
    /// Gathers cells of a column.
    fn gather(&self, column: &Column, cells: &[usize], to: &mut Column) -> Result<()> {
        to.values.clear();
        to.offsets.clear();
        to.validity.clear();
        let missing = || Error::invalid("a column with fewer cells than others");
        if !column.validity.is_empty() {
            for cell in cells {
                to.validity.push(*column.validity.get(*cell).ok_or_else(missing)?);
            }
        }
        let contiguous = match (cells.first(), cells.last()) {
            (Some(first), Some(last)) if cells.is_sorted() => {
                let end = last.saturating_add(1);
                (end.saturating_sub(*first) == cells.len()).then_some(*first..end)
            }
            _ => None,
        };
        match (self.cell_size, contiguous) {
            (0, _) => {
                for cell in cells {
                    let start = *column.offsets.get(*cell).ok_or_else(missing)?;
                    let end = column.offsets.get(cell.saturating_add(1)).copied();
                    let range = usize::try_from(start).ok().zip(match end {
                        Some(end) => usize::try_from(end).ok(),
                        None => Some(column.values.len()),
                    });
                    let value = range.and_then(|(start, end)| column.values.get(start..end));
                    to.offsets.push(to.values.len() as u64);
                    to.values.extend_from_slice(value.ok_or_else(missing)?);
                }
            }
            (size, Some(range)) => {
                let bytes = column.values.get(range.start * size..range.end * size);
                to.values.extend_from_slice(bytes.ok_or_else(missing)?);
            }
            (size, None) => {
                to.values.reserve(cells.len().saturating_mul(size));
                for cell in cells {
                    let value =
                        cell.checked_mul(size).and_then(|start| column.values.get(start..start + size));
                    to.values.extend_from_slice(value.ok_or_else(missing)?);
                }
            }
        }
        Ok(())
    }
}

/// The least and the greatest coordinate of a tile, which must be in the domain.
fn range(dimension: &Dimension, cell_size: usize, cells: &TileCells<'_>) -> Result<Range> {
    let data_type = dimension.data_type;
    let mut ends: Option<(&[u8], &[u8])> = None;
    let mut is_ordered = true;
    let mut add = |value| match ends {
        None => {
            is_ordered &= compare(data_type, value, value).is_some();
            ends = Some((value, value));
        }
        Some((min, max)) => {
            let (below, above) = (compare(data_type, value, min), compare(data_type, value, max));
            is_ordered &= below.is_some() && above.is_some();
            ends = Some((
                if below == Some(Ordering::Less) { value } else { min },
                if above == Some(Ordering::Greater) { value } else { max },
            ));
        }
    };
    match cell_size {
        0 => {
            let end = [cells.values.len() as u64];
            let bounds = cells.offsets.iter().zip(cells.offsets.iter().skip(1).chain(&end));
            for (start, end) in bounds {
                let range = usize::try_from(*start).ok().zip(usize::try_from(*end).ok());
                add(range.and_then(|(start, end)| cells.values.get(start..end)).unwrap_or_default());
            }
        }
        size => cells.values.chunks_exact(size).for_each(add),
    }
    let name = || String::from_utf8_lossy(&dimension.name).into_owned();
    let (min, max) = ends.ok_or_else(|| Error::invalid("a tile without cells"))?;
    if !is_ordered {
        return Err(Error::invalid(format!("a coordinate of dimension {:?} that is no number", name())));
    }
    let halves = dimension.domain.split_at_checked(cell_size).filter(|_| cell_size > 0);
    if let Some((low, high)) = halves {
        check_within(&name(), data_type, (min, max), (low, high), "the domain")?;
    }
    Ok(Range { min: min.to_vec(), max: max.to_vec() })
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
        // A text dimension that may have any text has an empty range.
        if dimension.cell_val_num.is_var() && current.min.is_empty() && current.max.is_empty() {
            continue;
        }
        let name = String::from_utf8_lossy(&dimension.name);
        let (own, all) = ((&*own.min, &*own.max), (&*current.min, &*current.max));
        check_within(&name, dimension.data_type, own, all, "the current domain")?;
    }
    Ok(())
}
