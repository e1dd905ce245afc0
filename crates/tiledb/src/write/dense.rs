//! Fragments of dense arrays: whole space tiles, one after another in tile order.

use super::array::ArrayWriter;
use super::field::{EncodedTile, FieldEncoder, TileCells};
use super::fragment::{FragmentWriter, Kind, WrittenFragment};
use super::sparse::Column;
use crate::array::Array;
use crate::array::fragment::FragmentField;
use crate::filter::scale_float::ScaleFloat;
use crate::filter::{Scratch, StoredTiles};
use crate::format::array_schema::{ArraySchema, Attribute};
use crate::format::data_type::DataType;
use crate::format::filter_pipeline::Filter;
use crate::format::fragment_metadata::mbr::{Mbr, Range};
use crate::format::layout::Layout;
use crate::format::timestamped_name::TimestampedName;
use crate::read::{DenseDomain, IndexBox, VarCells};
use hyperslab_core::memory::check_memory;
use hyperslab_core::nd::{Planes, Region, advance, element_count};
use hyperslab_core::rows::Slot;
use hyperslab_core::{Error, Result};
use std::sync::{Mutex, PoisonError};

/// A fragment of a dense array that is being written. It can be shared between threads.
pub struct DenseFragment {
    writer: FragmentWriter,
    domain: DenseDomain,
    written: IndexBox,
    attributes: Vec<DenseEncoder>,
    /// The number of tiles of each attribute that are written.
    placed: Vec<Mutex<u64>>,
}

/// Encodes the tiles of an attribute of a dense array. It can be shared between threads.
pub struct DenseEncoder {
    encoder: FieldEncoder,
    /// The number of cells of a tile along each dimension.
    tile: Vec<u64>,
    cell_order: Layout,
    /// The size of a cell in bytes; 0 if cells differ in size.
    cell_size: usize,
    fill: Vec<u8>,
    /// The value of cells that only pad a tile: the fill value, or if the filters cannot encode it, a number that they
    /// can.
    padding: Vec<u8>,
    fill_validity: u8,
    nullable: bool,
    stored: Option<StoredTiles>,
}

/// Buffers for tiles that are assembled from cells and fill values. Each thread needs its own.
#[derive(Default)]
pub struct TileBuffers {
    values: Vec<u8>,
    offsets: Vec<u64>,
    validity: Vec<u8>,
}

impl DenseFragment {
    /// Begins a fragment with the cells of a box, in indexes of the domain, that is visible at a time.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a sparse array, and for cells outside of its
    /// domain; if the store cannot be written.
    pub fn new(array: &ArrayWriter, time: (u64, u64), written: IndexBox) -> Result<DenseFragment> {
        let schema = array.schema();
        let domain = DenseDomain::of(schema)?;
        let within = written.first.iter().zip(&written.last).zip(&domain.shape);
        let is_within = written.first.len() == domain.shape.len()
            && within.clone().all(|((first, last), len)| first <= last && last < len);
        if !is_within {
            let IndexBox { first, last } = &written;
            return Err(Error::invalid(format!(
                "cells {first:?} to {last:?} of a domain of {:?} cells",
                domain.shape
            )));
        }
        let rectangle = rectangle(schema, &written)?;
        let kind = Kind::Dense { domain: rectangle, tile_cells: domain.tile_cells()? };
        let writer = FragmentWriter::new(array, time, kind)?;
        let encoder = |position| DenseEncoder::new(array, position);
        let attributes: Vec<_> = (0..schema.attributes.len()).map(encoder).collect::<Result<_>>()?;
        let placed = attributes.iter().map(|_| Mutex::new(0)).collect();
        Ok(DenseFragment { writer, domain, written, attributes, placed })
    }

    /// The name under which it will be visible.
    pub fn name(&self) -> &TimestampedName {
        self.writer.name()
    }

    /// The encoder of the tiles of an attribute.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if there is no such attribute.
    pub fn encoder(&self, attribute: usize) -> Result<&DenseEncoder> {
        self.attributes.get(attribute).ok_or_else(|| no_attribute(attribute))
    }

    /// Writes the tile at these coordinates of the grid of tiles. The tiles of an attribute must come in tile order.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for another tile than the next one; if the store
    /// cannot be written.
    pub fn put(&self, attribute: usize, at: &[u64], bytes: &[u8], tile: &EncodedTile) -> Result<()> {
        let placed = self.placed.get(attribute).ok_or_else(|| no_attribute(attribute))?;
        let mut placed = placed.lock().unwrap_or_else(PoisonError::into_inner);
        if self.domain.position(&self.written, at) != Some(*placed) {
            return Err(Error::invalid(format!("tile {at:?}, expected the one behind {placed} others")));
        }
        self.writer.put(FragmentField::Attribute(attribute), bytes, tile)?;
        *placed = placed.saturating_add(1);
        Ok(())
    }

    /// Completes the files of the fragment.
    ///
    /// # Errors
    /// If the store cannot be written; [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if tiles are
    /// missing.
    pub fn finish(self) -> Result<WrittenFragment> {
        let tiles = self.written.first.iter().zip(&self.written.last).zip(&self.domain.tile);
        let expected = tiles.fold(1, |count: u64, ((first, last), tile)| {
            count.saturating_mul((last / tile).saturating_sub(first / tile).saturating_add(1))
        });
        for placed in self.placed {
            let found = placed.into_inner().unwrap_or_else(PoisonError::into_inner);
            if found != expected {
                return Err(Error::invalid(format!("{found} tiles of an attribute, expected {expected}")));
            }
        }
        self.writer.finish(0)
    }
}

impl DenseEncoder {
    /// The encoder of an attribute.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if there is no such attribute.
    pub fn new(array: &ArrayWriter, position: usize) -> Result<DenseEncoder> {
        let (schema, key) = (array.schema(), array.key());
        let domain = DenseDomain::of(schema)?;
        let attribute = schema.attributes.get(position).ok_or_else(|| no_attribute(position))?;
        let (field, version) = (FragmentField::Attribute(position), schema.version);
        let encoder = FieldEncoder::new(schema, field, version, key)?;
        // Bytes of other formats are in row-major order, and not encrypted.
        let is_plain = domain.cell_order == Layout::RowMajor && key.is_none();
        let stored = if is_plain { FieldEncoder::stored_tiles(schema, field, version)? } else { None };
        Ok(DenseEncoder {
            encoder,
            tile: domain.tile,
            cell_order: domain.cell_order,
            cell_size: attribute.cell_size()?.unwrap_or(0),
            padding: padding(attribute)?,
            fill: attribute.fill_cell()?,
            fill_validity: attribute.fill_value_validity,
            nullable: attribute.nullable,
            stored,
        })
    }

    /// The number of cells of a tile along each dimension.
    pub fn tile(&self) -> &[u64] {
        &self.tile
    }

    /// Appends an encoded tile to `out`. `cells` are those of a box of the tile in row-major order: `count` cells along
    /// each dimension, the first of which is at `first` in the tile. All other cells of the tile get the fill value, or
    /// another value if the filters cannot encode it: nobody reads them.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the number of cells is wrong, or a filter
    /// cannot encode a value.
    pub fn encode(
        &self,
        (first, count): (&[u64], &[u64]),
        cells: &TileCells<'_>,
        out: &mut Vec<u8>,
        (buffers, scratch): (&mut TileBuffers, &mut Scratch),
    ) -> Result<EncodedTile> {
        self.encode_noting((first, count), cells, out, (buffers, scratch), false)
    }

    /// As [`encode`](Self::encode), but with a summary of all cells of the tile, including those with the fill value.
    pub(crate) fn encode_noting_all(
        &self,
        (first, count): (&[u64], &[u64]),
        cells: &TileCells<'_>,
        out: &mut Vec<u8>,
        (buffers, scratch): (&mut TileBuffers, &mut Scratch),
    ) -> Result<EncodedTile> {
        self.encode_noting((first, count), cells, out, (buffers, scratch), true)
    }

    fn encode_noting(
        &self,
        (first, count): (&[u64], &[u64]),
        cells: &TileCells<'_>,
        out: &mut Vec<u8>,
        (buffers, scratch): (&mut TileBuffers, &mut Scratch),
        notes_all: bool,
    ) -> Result<EncodedTile> {
        self.check(count, cells)?;
        if self.is_whole(count) {
            return self.encoder.encode(cells, self.encoder.summary(cells), out, scratch);
        }
        self.fill_up((first, count), cells, buffers)?;
        let TileBuffers { values, offsets, validity } = buffers;
        let all = TileCells { values, offsets, validity };
        let summary = self.encoder.summary(if notes_all && self.encodes_fill() { &all } else { cells });
        self.encoder.encode(&all, summary, out, scratch)
    }

    /// Checks that the number of cells is that of the box.
    fn check(&self, count: &[u64], cells: &TileCells<'_>) -> Result<()> {
        let wanted = element_count(count).and_then(|count| usize::try_from(count).ok());
        let found = match self.cell_size {
            0 => cells.offsets.len(),
            size => cells.values.len() / size,
        };
        let is_right = wanted == Some(found) && cells.validity.len() == if self.nullable { found } else { 0 };
        match is_right {
            true => Ok(()),
            false => Err(Error::invalid(format!("{found} cells of a tile, expected {count:?}"))),
        }
    }

    /// Whether a box is a whole tile, whose cells are in the order of the box.
    fn is_whole(&self, count: &[u64]) -> bool {
        count == self.tile && (self.cell_order == Layout::RowMajor || count.len() == 1)
    }

    /// The framing of tiles that another format has compressed in the same way as this attribute. `None` if there is
    /// none.
    pub fn stored_tiles(&self) -> Option<&StoredTiles> {
        self.stored.as_ref()
    }

    /// Appends a tile that is already compressed. `values` are the cells of the box of the tile that was written.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if tiles of this attribute are compressed
    /// differently.
    pub fn put_stored(&self, stored: &[u8], values: &[u8], out: &mut Vec<u8>) -> Result<EncodedTile> {
        let frame = self.stored.as_ref().ok_or_else(|| Error::invalid("a tile that must be encoded"))?;
        let cells = element_count(&self.tile).and_then(|cells| usize::try_from(cells).ok());
        let len = cells.and_then(|cells| cells.checked_mul(self.cell_size));
        let len = len.ok_or_else(|| Error::invalid(format!("tiles of {:?} cells", self.tile)))?;
        let before = out.len();
        frame.put(stored, len, out)?;
        let summary = self.encoder.summary(&TileCells { values, ..TileCells::default() });
        let size = out.len().saturating_sub(before) as u64;
        Ok(EncodedTile { sizes: [size, 0, 0], var_size: 0, summary })
    }

    /// Whether the filters can encode the fill value. Only then can tiles of it be written.
    pub fn encodes_fill(&self) -> bool {
        self.padding == self.fill
    }

    /// Calls `with` with this number of cells with the fill value.
    ///
    /// # Errors
    /// The errors of `with`.
    pub fn with_fill<T>(&self, count: usize, with: &mut dyn FnMut(&TileCells<'_>) -> Result<T>) -> Result<T> {
        let values = self.fill.repeat(count);
        let offsets = match self.cell_size {
            0 => (0..count).map(|cell| (cell * self.fill.len()) as u64).collect(),
            _ => Vec::new(),
        };
        let validity = vec![self.fill_validity; if self.nullable { count } else { 0 }];
        with(&TileCells { values: &values, offsets: &offsets, validity: &validity })
    }

    /// Assembles a whole tile.
    fn fill_up(
        &self,
        (first, count): (&[u64], &[u64]),
        cells: &TileCells<'_>,
        to: &mut TileBuffers,
    ) -> Result<()> {
        let too_large = || Error::invalid(format!("tiles of {:?} cells", self.tile));
        let all =
            element_count(&self.tile).and_then(|all| usize::try_from(all).ok()).ok_or_else(too_large)?;
        to.validity.clear();
        if self.nullable {
            to.validity.resize(all, self.fill_validity);
        }
        to.values.clear();
        to.offsets.clear();
        if self.cell_size > 0 {
            let bytes = all.checked_mul(self.cell_size).ok_or_else(too_large)?;
            check_memory(bytes)?;
            to.values.reserve(bytes);
            match self.padding.iter().all(|byte| *byte == 0) {
                true => to.values.resize(bytes, 0),
                false => (0..all).for_each(|_| to.values.extend_from_slice(&self.padding)),
            }
        }
        let mut places = vec![usize::MAX; if self.cell_size > 0 { 0 } else { all }];
        let TileBuffers { values, validity, .. } = &mut *to;
        self.each_run((first, count), &mut |from, at, step, len| {
            if self.cell_size > 0 {
                copy_cells(cells.values, from, (values, at, step), len, self.cell_size);
            } else {
                for cell in 0..len {
                    if let Some(place) = places.get_mut(at + cell * step) {
                        *place = from + cell;
                    }
                }
            }
            if self.nullable {
                copy_cells(cells.validity, from, (validity, at, step), len, 1);
            }
        });
        for place in places {
            to.offsets.push(to.values.len() as u64);
            let cell = match place {
                usize::MAX => &self.padding[..],
                place => {
                    let offset = |at: usize| cells.offsets.get(at).and_then(|at| usize::try_from(*at).ok());
                    let end = offset(place.saturating_add(1)).unwrap_or(cells.values.len());
                    cells.values.get(offset(place).unwrap_or(end)..end).unwrap_or_default()
                }
            };
            to.values.extend_from_slice(cell);
        }
        Ok(())
    }

    /// Calls `run` for each run of cells along the last dimension, with the number of its first cell in the box and in
    /// the tile, the step of cells in the tile, and their number.
    fn each_run(&self, (first, count): (&[u64], &[u64]), run: &mut dyn FnMut(usize, usize, usize, usize)) {
        let mut steps = vec![1_u64; self.tile.len()];
        let (mut step, last) = (1_u64, self.tile.len().saturating_sub(1));
        let order: Vec<usize> = match self.cell_order {
            Layout::ColMajor => (0..=last).collect(),
            _ => (0..=last).rev().collect(),
        };
        for dimension in order {
            if let (Some(place), Some(len)) = (steps.get_mut(dimension), self.tile.get(dimension)) {
                *place = step;
                step = step.saturating_mul(*len);
            }
        }
        let Some((len, outer)) = count.split_last() else { return };
        if *len == 0 {
            return;
        }
        let len = usize::try_from(*len).unwrap_or(usize::MAX);
        let step_of_run = usize::try_from(steps.last().copied().unwrap_or(1)).unwrap_or(usize::MAX);
        let (mut at, mut from) = (vec![0; outer.len()], 0_usize);
        loop {
            let coordinates = at.iter().chain([&0]);
            let place = coordinates.zip(first).zip(&steps).map(|((at, first), step)| (at + first) * step);
            run(from, usize::try_from(place.sum::<u64>()).unwrap_or(usize::MAX), step_of_run, len);
            from = from.saturating_add(len);
            if !advance(&mut at, outer) {
                return;
            }
        }
    }
}

/// The value of cells that only pad a tile.
fn padding(attribute: &Attribute) -> Result<Vec<u8>> {
    let fill = attribute.fill_cell()?;
    for filter in &attribute.filters.filters {
        let Filter::ScaleFloat(options) = filter else { continue };
        let filter = ScaleFloat::new(options, attribute.data_type.size())?;
        if !filter.encodes(&fill) {
            return Ok(filter.zero());
        }
    }
    Ok(fill)
}

/// Copies a run of cells of `size` bytes to every `step`th place of a tile.
fn copy_cells(from: &[u8], first: usize, (to, at, step): (&mut [u8], usize, usize), len: usize, size: usize) {
    let Some(from) = from.get(first * size..(first + len) * size) else { return };
    if step == 1 {
        if let Some(to) = to.get_mut(at * size..(at + len) * size) {
            to.copy_from_slice(from);
        }
        return;
    }
    for (number, cell) in from.chunks_exact(size).enumerate() {
        let start = (at + number * step) * size;
        if let Some(to) = to.get_mut(start..start + size) {
            to.copy_from_slice(cell);
        }
    }
}

/// The cells of an attribute of a dense array in a region, in row-major order, in the form in which they can be written
/// again.
///
/// # Errors
/// As [`Array::read_dense`]; [`LimitExceeded`](hyperslab_core::ErrorKind::LimitExceeded) if they do not fit in memory.
pub fn stored_cells(array: &Array, attribute: usize, region: &Region) -> Result<Column> {
    let of = array.attributes().get(attribute).ok_or_else(|| no_attribute(attribute))?;
    let mut column =
        Column { validity: vec![0; if of.nullable { region.bytes(1)? } else { 0 }], ..Column::default() };
    let noted = of.nullable.then_some(column.validity.as_mut_slice());
    if let Some(size) = of.cell_size()? {
        let len = region.bytes(size)?;
        check_memory(len)?;
        column.values = vec![0; len];
        array.read_dense(attribute, region, &mut Planes::whole(&mut column.values), noted)?;
        return Ok(column);
    }
    let VarCells { rows, buffers } = array.read_dense_var(attribute, region, noted)?;
    for Slot { buffer, count, offset } in Slot::each(&rows) {
        column.offsets.push(column.values.len() as u64);
        let len = usize::try_from(count).ok().and_then(|count| count.checked_mul(of.data_type.size()));
        let held = usize::try_from(buffer).ok().and_then(|buffer| buffers.get(buffer));
        let value = match len {
            Some(0) => Some(&[][..]),
            len => held
                .zip(usize::try_from(offset).ok())
                .zip(len)
                .and_then(|((held, start), len)| held.get(start..start.checked_add(len)?)),
        };
        column.values.extend_from_slice(value.ok_or_else(|| Error::malformed("a cell outside of its tile"))?);
    }
    Ok(column)
}

/// The rectangle of a box of indexes of a dense array.
///
/// # Errors
/// If the array has no dense domain, or the box exceeds the range of its datatypes.
pub fn rectangle(schema: &ArraySchema, of: &IndexBox) -> Result<Mbr> {
    let domain = DenseDomain::of(schema)?;
    let sides = schema.domain.dimensions.iter().zip(&domain.origin).zip(of.first.iter().zip(&of.last));
    let range = |((dimension, origin), (first, last)): ((_, &i128), (&u64, &u64))| {
        let dimension: &crate::format::array_schema::Dimension = dimension;
        let bytes = |index: u64| integer(dimension.data_type, origin.saturating_add(i128::from(index)));
        Ok(Range { min: bytes(*first)?, max: bytes(*last)? })
    };
    Ok(Mbr { ranges: sides.map(range).collect::<Result<_>>()? })
}

/// The bytes of an integer in a datatype.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the datatype cannot represent it.
pub fn integer(data_type: DataType, number: i128) -> Result<Vec<u8>> {
    let size = data_type.size();
    let bytes = number.to_le_bytes();
    let (low, high) = bytes.split_at_checked(size).unwrap_or_default();
    let is_unsigned =
        matches!(data_type, DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64);
    let is_negative = !is_unsigned && low.last().is_some_and(|byte| *byte >= 0x80);
    let filling = if is_negative { 0xff } else { 0 };
    match high.iter().all(|byte| *byte == filling) {
        true => Ok(low.to_vec()),
        false => Err(Error::invalid(format!("{number}, which {} does not hold", data_type.name()))),
    }
}

fn no_attribute(position: usize) -> Error {
    Error::invalid(format!("attribute {position}, which the array does not have"))
}
