//! The tiles of a field of a fragment: bytes of up to three files, decoded to cells.
//!
//! Spec: TileDB format_spec, fragment.md "Data File" and tile.md

use crate::array::Array;
use crate::array::fragment::{FragmentField, OpenedFragment};
use crate::filter::{Pieces, Pipeline, Scratch, TileType};
use crate::format::data_type::CellValNum;
use crate::format::filter_pipeline::FilterPipeline;
use crate::read::generic_tile::{absent, check_allocation};
use hyperslab_core::memory::{check_memory, room};
use hyperslab_core::store::{Key, Value};
use hyperslab_core::{Decoder, Error, Limits, Result};
use std::ops::Range;

/// The keys of the files of a field, which its handles borrow.
pub(crate) struct FieldFiles([Key; 3]);

/// The tiles of a field of a fragment, with open handles to its files.
pub(crate) struct FieldTiles<'a> {
    limits: &'a Limits,
    fixed: DataFile<'a>,
    var: Option<DataFile<'a>>,
    validity: Option<DataFile<'a>>,
    /// The decoded sizes of tiles with values of variable size.
    var_sizes: &'a [u64],
    /// The size of a cell, or of an offset.
    cell_size: u64,
    /// The size of a value of the datatype.
    value_size: u64,
}

/// A file of tiles, with the filters of its content.
struct DataFile<'a> {
    key: &'a Key,
    value: Box<dyn Value + 'a>,
    pipeline: Pipeline,
    /// The start of each tile.
    offsets: &'a [u64],
    /// The size of the file, according to the footer.
    size: u64,
}

/// A decoded tile. Its buffers are reused for the next one.
#[derive(Default)]
pub(crate) struct Tile {
    /// The cells, if they have one size.
    pub(crate) cells: Vec<u8>,
    /// The start of each cell of variable size in [`var`](Self::var), and the end of the last.
    pub(crate) offsets: Vec<u64>,
    /// The values of cells of variable size.
    pub(crate) var: Vec<u8>,
    /// A byte for each cell, 0 if it is null; empty for fields that cannot be null.
    pub(crate) validity: Vec<u8>,
    /// The size of a cell, 0 if cells differ in size.
    size: usize,
    work: Work,
}

/// What decoding needs in addition to its result.
#[derive(Default)]
struct Work {
    stored: Vec<u8>,
    scratch: Scratch,
}

impl Tile {
    /// A tile of cells of `size` bytes.
    pub(crate) fn of_cells(cells: Vec<u8>, size: usize) -> Tile {
        Tile { cells, size, ..Tile::default() }
    }

    /// A tile of cells of variable size, which begin at these offsets. The last one is the end.
    pub(crate) fn of_texts(var: Vec<u8>, offsets: Vec<u64>) -> Tile {
        Tile { offsets, var, ..Tile::default() }
    }

    /// A tile of one cell of variable size.
    pub(crate) fn of_one(cell: Vec<u8>) -> Tile {
        Tile { offsets: vec![0, cell.len() as u64], var: cell, ..Tile::default() }
    }

    /// The size of all cells, if they have one.
    pub(crate) fn fixed_size(&self) -> Option<usize> {
        (self.size > 0).then_some(self.size)
    }

    /// The tile without the memory that was needed to decode it.
    pub(crate) fn without_work(self) -> Tile {
        Tile { work: Work::default(), ..self }
    }

    /// Removes all cells.
    pub(crate) fn clear(&mut self) {
        self.cells.clear();
        self.offsets.clear();
        self.var.clear();
        self.validity.clear();
    }

    /// The number of bytes in memory, without those that were needed for decoding.
    pub(crate) fn held(&self) -> usize {
        let bytes = self.cells.len().saturating_add(self.var.len()).saturating_add(self.validity.len());
        bytes.saturating_add(self.offsets.len().saturating_mul(size_of::<u64>()))
    }

    /// The bytes of a cell.
    pub(crate) fn cell(&self, cell: usize) -> Option<&[u8]> {
        if self.size > 0 {
            let start = cell.checked_mul(self.size)?;
            return self.cells.get(start..start.checked_add(self.size)?);
        }
        let (start, end) = (*self.offsets.get(cell)?, *self.offsets.get(cell.checked_add(1)?)?);
        self.var.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }
}

impl FieldFiles {
    pub(crate) fn of(fragment: &OpenedFragment, field: FragmentField) -> Result<FieldFiles> {
        fragment.file(field).map(FieldFiles)
    }
}

impl<'a> FieldTiles<'a> {
    pub(crate) fn open(
        array: &'a Array,
        fragment: &'a OpenedFragment,
        field: FragmentField,
        files: &'a FieldFiles,
    ) -> Result<FieldTiles<'a>> {
        let FieldFiles([fixed, var, validity]) = files;
        let (of, version) = (fragment.field_type(field)?, fragment.version());
        let lists = fragment.tile_lists(&array.generic_tiles(), field)?;
        let (sizes, schema) = (fragment.file_sizes(field)?, &fragment.schema);
        let open = |key, stored: &FilterPipeline, tile_type: TileType, offsets, size| {
            DataFile::open(array, key, stored, &tile_type, offsets, size).map_err(|e| e.in_object(key))
        };
        let (fixed, var, cell_size) = match of.cell_val_num {
            CellValNum::Fixed(values) => {
                let tile_type = TileType::fixed(of.data_type, values, version);
                let fixed = open(fixed, of.filters, tile_type, &lists.fixed, sizes.fixed)?;
                (fixed, None, tile_type.cell_size)
            }
            CellValNum::Var => {
                let tile_type = TileType::variable(of.data_type, version);
                let var = open(var, of.filters, tile_type, &lists.var, sizes.var)?;
                let (filters, tile_type) = (&schema.offsets_filters, TileType::offsets(version));
                (open(fixed, filters, tile_type, &lists.fixed, sizes.fixed)?, Some(var), OFFSET)
            }
        };
        let validity = match of.nullable {
            true => {
                let (filters, tile_type) = (&schema.validity_filters, TileType::validity(version));
                Some(open(validity, filters, tile_type, &lists.validity, sizes.validity)?)
            }
            false => None,
        };
        let value_size = of.data_type.size() as u64;
        let (limits, var_sizes) = (&array.options.limits, &lists.var_sizes);
        Ok(FieldTiles { limits, fixed, var, validity, var_sizes, cell_size, value_size })
    }

    /// Decodes a tile with this number of cells.
    pub(crate) fn read(&self, tile: u64, cells: u64, to: &mut Tile) -> Result<()> {
        let Tile { cells: fixed, offsets, var, validity, size: cell_size, work } = to;
        *cell_size =
            if self.var.is_some() { 0 } else { usize::try_from(self.cell_size).unwrap_or(usize::MAX) };
        let size = cells.saturating_mul(self.cell_size);
        let rebuilds = self.var.as_ref().is_some_and(|file| file.pipeline.rebuilds_offsets());
        if !rebuilds {
            self.fixed.decode(tile, size, self.limits, fixed, work)?;
        }
        if let Some(file) = &self.var {
            let len = *at(self.var_sizes, tile).map_err(|e| file.named(tile, e))?;
            if rebuilds {
                file.decode_strings(tile, cells, len, self.limits, (var, offsets), work)?;
            } else {
                file.decode(tile, len, self.limits, var, work)?;
                offsets.clear();
                offsets.extend(fixed.as_chunks().0.iter().map(|offset| u64::from_le_bytes(*offset)));
            }
            let checked = check_offsets(offsets, cells, var.len() as u64, self.value_size);
            checked.map_err(|e| self.fixed.named(tile, e))?;
        }
        match &self.validity {
            None => validity.clear(),
            Some(file) => file.decode(tile, cells, self.limits, validity, work)?,
        }
        Ok(())
    }
}

/// A file of a field whose cells have a fixed size.
#[derive(Clone, Copy)]
pub(crate) enum CellFile {
    /// The values.
    Values,
    /// A byte for each cell, 0 if it is null.
    Validity,
}

/// The pieces of a tile whose cells have a fixed size, to be decoded one by one or skipped.
pub(crate) struct TilePieces<'t> {
    file: &'t DataFile<'t>,
    tile: u64,
    cell: u64,
    pieces: Pieces<'t>,
    buffer: &'t mut Vec<u8>,
    scratch: &'t mut Scratch,
}

impl TilePieces<'_> {
    /// The cells of the next piece, counted in the tile. `None` at the end.
    pub(crate) fn next_piece(&mut self) -> Result<Option<Range<u64>>> {
        let piece = self.pieces.next_piece().map_err(|e| self.file.named(self.tile, e))?;
        let cell = |byte: usize| byte as u64 / self.cell.max(1);
        Ok(piece.map(|bytes| cell(bytes.start)..cell(bytes.end)))
    }

    /// The bytes of that piece.
    pub(crate) fn decode(&mut self) -> Result<&[u8]> {
        let (file, tile) = (self.file, self.tile);
        self.pieces.decode(self.buffer, self.scratch).map_err(|e| file.named(tile, e))
    }
}

impl FieldTiles<'_> {
    /// The pieces of a tile with this number of cells. `None` if there is no such file.
    pub(crate) fn pieces<'t>(
        &'t self,
        of: CellFile,
        tile: u64,
        cells: u64,
        to: &'t mut Tile,
    ) -> Result<Option<TilePieces<'t>>> {
        let (file, cell) = match (of, &self.validity) {
            (CellFile::Values, _) => (&self.fixed, self.cell_size),
            (CellFile::Validity, Some(file)) => (file, 1),
            (CellFile::Validity, None) => return Ok(None),
        };
        let Work { stored, scratch } = &mut to.work;
        let named = |e| file.named(tile, e);
        let (d, size) = (file.stored(tile, self.limits, stored).map_err(named)?, cells.saturating_mul(cell));
        check_size(d.remaining(), size, self.limits).map_err(named)?;
        let cell_len = usize::try_from(cell).unwrap_or(usize::MAX);
        let pieces = file.pipeline.pieces(d, size, cell_len).map_err(named)?;
        Ok(Some(TilePieces { file, tile, cell, pieces, buffer: &mut to.cells, scratch }))
    }
}

impl<'a> DataFile<'a> {
    fn open(
        array: &'a Array,
        key: &'a Key,
        stored: &FilterPipeline,
        tile_type: &TileType,
        offsets: &'a [u64],
        size: u64,
    ) -> Result<DataFile<'a>> {
        let value = array.store.find(key)?.ok_or_else(absent)?;
        let pipeline = match array.is_encrypted {
            true => Pipeline::new(&stored.encrypted(), tile_type)?,
            false => Pipeline::new(stored, tile_type)?,
        };
        let pipeline = match &array.options.key {
            Some(secret) => pipeline.with_key(secret),
            None => pipeline,
        };
        let found = value.size();
        match found < size {
            true => Err(Error::malformed(format!("a file of {found} bytes, the footer says {size}"))),
            false => Ok(DataFile { key, value, pipeline, offsets, size }),
        }
    }

    /// Decodes a tile that has `size` bytes.
    fn decode(
        &self,
        tile: u64,
        size: u64,
        limits: &Limits,
        out: &mut Vec<u8>,
        work: &mut Work,
    ) -> Result<()> {
        let mut decode = || {
            let d = self.stored(tile, limits, &mut work.stored)?;
            let len = check_size(d.remaining(), size, limits)?;
            out.truncate(len);
            out.resize(len, 0);
            self.pipeline.decode_to(d, out, &mut work.scratch)
        };
        decode().map_err(|e| self.named(tile, e))
    }

    /// Decodes a tile of strings of `len` bytes whose offsets are not stored.
    fn decode_strings(
        &self,
        tile: u64,
        cells: u64,
        len: u64,
        limits: &Limits,
        (out, offsets): (&mut Vec<u8>, &mut Vec<u64>),
        work: &mut Work,
    ) -> Result<()> {
        let mut decode = || {
            let d = self.stored(tile, limits, &mut work.stored)?;
            let size = cells.saturating_mul(OFFSET).saturating_add(len);
            check_size(d.remaining(), size, limits)?;
            self.pipeline.decode_strings(d, size, out, offsets, &mut work.scratch)?;
            match out.len() as u64 == len {
                true => Ok(()),
                false => Err(Error::malformed(format!("strings of {} bytes, expected {len}", out.len()))),
            }
        };
        decode().map_err(|e| self.named(tile, e))
    }

    /// The stored bytes of a tile: up to the next one, or to the end of the file according to the footer.
    fn stored<'s>(&self, tile: u64, limits: &Limits, buffer: &'s mut Vec<u8>) -> Result<Decoder<'s>> {
        let start = *at(self.offsets, tile)?;
        let end = at(self.offsets, tile.saturating_add(1)).copied().unwrap_or(self.size);
        let len = end.checked_sub(start).filter(|_| end <= self.size);
        let len = len.ok_or_else(|| {
            Error::malformed(format!("bytes {start} to {end} of a file of {} bytes", self.size))
        })?;
        check_allocation(limits, len)?;
        let bytes = room(buffer, usize::try_from(len).unwrap_or(usize::MAX));
        self.value.read(start, bytes)?;
        Ok(Decoder::new("Tile", start, bytes))
    }

    fn named(&self, tile: u64, e: Error) -> Error {
        e.map_detail(|detail| format!("tile {tile}: {detail}")).in_object(self.key)
    }
}

fn at(list: &[u64], tile: u64) -> Result<&u64> {
    let found = usize::try_from(tile).ok().and_then(|tile| list.get(tile));
    found.ok_or_else(|| Error::malformed(format!("the metadata of the fragment has {} tiles", list.len())))
}

/// The decoded size of a tile, which must be in proportion to its stored bytes.
fn check_size(stored: usize, size: u64, limits: &Limits) -> Result<usize> {
    check_allocation(limits, size)?;
    limits.check_chunk(stored as u64, size)?;
    let len = usize::try_from(size).unwrap_or(usize::MAX);
    check_memory(len)?;
    Ok(len)
}

/// Checks that offsets ascend to the end of the values, and appends that end to them.
fn check_offsets(offsets: &mut Vec<u64>, cells: u64, end: u64, value_size: u64) -> Result<()> {
    if offsets.len() as u64 != cells {
        return Err(Error::malformed(format!("{} offsets, expected {cells}", offsets.len())));
    }
    offsets.push(end);
    let pairs = offsets.iter().zip(offsets.iter().skip(1));
    for (cell, (start, end)) in pairs.enumerate() {
        if end.checked_sub(*start).is_none_or(|len| !len.is_multiple_of(value_size)) {
            return Err(Error::malformed(format!(
                "cell {cell} goes from byte {start} to {end} of values of {value_size} bytes"
            )));
        }
    }
    Ok(())
}

const OFFSET: u64 = 8;
