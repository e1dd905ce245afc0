//! Reads regions of dense arrays.
//!
//! A cell has the value from the newest fragment whose non-empty domain contains it, and the fill value if none does.
//! Each space tile is decoded from the newest fragment that contains cells of it. Older fragments are read only for the
//! remaining cells.

use super::fragment_grid::{DenseDomain, IndexBox};
use super::left::Left;
use super::slots::{marks, slot, slots};
use super::strided::{box_rows, cell_boxes};
use super::tile::{CellFile, FieldFiles, FieldTiles, Tile, TilePieces};
use crate::array::Array;
use crate::array::fragment::{FragmentField, OpenedFragment};
use crate::format::array_schema::Attribute;
use crate::format::layout::{ArrayType, Layout};
use bytes::Bytes;
use hyperslab_core::nd::{Planes, Region, advance, element_bytes};
use hyperslab_core::rows::Slot;
use hyperslab_core::{Error, Result};
use std::ops::Range;

/// Cells that differ in their number of values.
#[derive(Clone, Debug, Default)]
pub struct VarCells {
    /// A [`Slot`] for each cell, in row-major order. Its count is a number of values of the datatype.
    pub rows: Vec<u8>,
    /// The buffers that slots point into: one for each tile, which may contain only what was read of it.
    pub buffers: Vec<Bytes>,
}

impl Array {
    /// The domain of a dense array. Regions are given in its indexes.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) for dimensions that dense arrays do not have.
    pub fn dense_domain(&self) -> Result<DenseDomain> {
        DenseDomain::of(self.schema())
    }

    /// The part of the domain that may be written, if not all of it may.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) if it is not within the domain of a dense array.
    pub fn dense_current_domain(&self) -> Result<Option<IndexBox>> {
        let current = self.schema().current_domain.as_ref().and_then(|current| current.rectangle.as_ref());
        current.map(|rectangle| self.dense_domain()?.indexes(self.schema(), rectangle)).transpose()
    }

    /// The smallest box around all cells in the fragments of a dense array. `None` if there are none.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) if a fragment is not within the domain.
    pub fn dense_non_empty_domain(&self) -> Result<Option<IndexBox>> {
        let domain = self.dense_domain()?;
        let mut all: Option<IndexBox> = None;
        for fragment in self.fragments()? {
            let Some(written) = written(&domain, fragment)? else { continue };
            let all = all.get_or_insert_with(|| written.clone());
            all.first.iter_mut().zip(&written.first).for_each(|(all, own)| *all = *own.min(all));
            all.last.iter_mut().zip(&written.last).for_each(|(all, own)| *all = *own.max(all));
        }
        Ok(all)
    }

    /// The number of space tiles from which the fragments of a dense array contain cells.
    ///
    /// # Errors
    /// As [`Array::dense_non_empty_domain`].
    pub fn written_tiles(&self) -> Result<u64> {
        let domain = self.dense_domain()?;
        let (mut known, mut count): (Vec<IndexBox>, u64) = (Vec::new(), 0);
        for fragment in self.fragments()? {
            let Some(written) = written(&domain, fragment)? else { continue };
            let tiles =
                |of: &[u64]| of.iter().zip(&domain.tile).map(|(at, tile)| at / tile.max(&1)).collect();
            let own = IndexBox { first: tiles(&written.first), last: tiles(&written.last) };
            let mut left = Left::all(own.clone());
            known.iter().for_each(|before| drop(left.take(before)));
            let cells = |of: &IndexBox| of.shape().into_iter().fold(1, u64::saturating_mul);
            count = left.boxes().iter().map(cells).fold(count, u64::saturating_add);
            known.push(own);
        }
        Ok(count)
    }

    /// Reads the cells of an attribute with a fixed size, in their stored form, into the rows of the region. `validity`
    /// receives a byte for each cell in row-major order, 0 if the cell is null; without nulls, all are 1.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for sparse arrays, for attributes that do not
    /// exist or have cells of variable size, for regions outside of the domain and for buffers of the wrong size;
    /// otherwise if a file cannot be read or is malformed.
    pub fn read_dense(
        &self,
        attribute: usize,
        region: &Region,
        rows: &mut Planes<'_>,
        validity: Option<&mut [u8]>,
    ) -> Result<()> {
        let attribute = self.dense_attribute(attribute)?;
        let Some(row) = attribute.cell_size()? else {
            return Err(Error::invalid("cells of variable size, expected cells of one size"));
        };
        Reading::of(self, attribute, region, row)?.read(rows, validity, None)
    }

    /// Reads the cells of an attribute with variable size. `validity` is as in [`Array::read_dense`].
    ///
    /// # Errors
    /// As [`Array::read_dense`]; [`LimitExceeded`](hyperslab_core::ErrorKind::LimitExceeded) for cells of more than
    /// 2^32 - 1 values.
    pub fn read_dense_var(
        &self,
        attribute: usize,
        region: &Region,
        validity: Option<&mut [u8]>,
    ) -> Result<VarCells> {
        let attribute = self.dense_attribute(attribute)?;
        if !attribute.cell_val_num.is_var() {
            return Err(Error::invalid("cells of one size, expected cells of variable size"));
        }
        let reading = Reading::of(self, attribute, region, Slot::SIZE)?;
        let mut cells = VarCells { rows: vec![0; region.bytes(Slot::SIZE)?], buffers: Vec::new() };
        reading.read(&mut Planes::whole(&mut cells.rows), validity, Some(&mut cells.buffers))?;
        Ok(cells)
    }

    fn dense_attribute(&self, position: usize) -> Result<&Attribute> {
        if self.schema().array_type != ArrayType::Dense {
            return Err(Error::invalid("a sparse array, expected a dense one"));
        }
        let count = self.attributes().len();
        let none = || Error::invalid(format!("attribute {position} of an array of {count}"));
        self.attributes().get(position).ok_or_else(none)
    }
}

/// A region of an attribute that is being read.
struct Reading<'a> {
    array: &'a Array,
    attribute: &'a Attribute,
    region: &'a Region,
    domain: DenseDomain,
    row: usize,
    /// The fragments, newest first.
    parts: Vec<Part<'a>>,
}

/// A fragment that contains cells of the region.
struct Part<'a> {
    fragment: &'a OpenedFragment,
    written: IndexBox,
    /// The field and its files. `None` if the attribute is newer than the fragment.
    field: Option<(FragmentField, FieldFiles)>,
}

/// The destination of cells.
struct Target<'o, 'p> {
    rows: &'o mut Planes<'p>,
    validity: Option<Planes<'o>>,
    buffers: Option<&'o mut Vec<Bytes>>,
}

impl<'a> Reading<'a> {
    fn of(array: &'a Array, attribute: &'a Attribute, region: &'a Region, row: usize) -> Result<Reading<'a>> {
        let domain = array.dense_domain()?;
        region.check(&domain.shape)?;
        let mut parts = Vec::new();
        for fragment in array.fragments()?.iter().rev() {
            let Some(written) = written(&domain, fragment)? else { continue };
            if region.intersect(&written.first, &written.shape())?.is_some() {
                let field = match fragment.attribute(attribute)? {
                    Some(field) => Some((field, FieldFiles::of(fragment, field)?)),
                    None => None,
                };
                parts.push(Part { fragment, written, field });
            }
        }
        Ok(Reading { array, attribute, region, domain, row, parts })
    }

    fn read(
        &self,
        rows: &mut Planes<'_>,
        validity: Option<&mut [u8]>,
        buffers: Option<&mut Vec<Bytes>>,
    ) -> Result<()> {
        let (found, expected) = (rows.len(), self.region.bytes(self.row)?);
        let cells = self.region.bytes(1)?;
        if found != expected || validity.as_ref().is_some_and(|validity| validity.len() != cells) {
            return Err(Error::invalid(format!(
                "buffers for other than {cells} cells of {} bytes",
                self.row
            )));
        }
        if self.region.is_empty() {
            return Ok(());
        }
        let validity = validity.map(Planes::whole);
        let mut target = Target { rows, validity, buffers };
        let (fill, fill_validity) = self.fill(&mut target)?;
        let mut open: Vec<Option<FieldTiles<'_>>> = self.parts.iter().map(|_| None).collect();
        let mut open_count = 0;
        let (mut tile, mut rows_of_box) = (Tile::default(), Vec::new());
        let tiles = self.tiles()?;
        let counts: Vec<usize> = tiles.iter().map(Vec::len).collect();
        let mut at = vec![0_usize; counts.len()];
        loop {
            let coordinates: Vec<u64> = at
                .iter()
                .zip(&tiles)
                .map(|(at, tiles)| tiles.get(*at).copied().unwrap_or_default())
                .collect();
            if let Some((start, mut left)) = self.left(&coordinates)? {
                for (part, open) in self.parts.iter().zip(&mut open) {
                    if left.is_empty() {
                        break;
                    }
                    let Some(position) = self.domain.position(&part.written, &coordinates) else { continue };
                    let taken = self.taken(&mut left, &part.written)?;
                    if taken.is_empty() {
                        continue;
                    }
                    let Some((field, files)) = &part.field else {
                        taken
                            .iter()
                            .try_for_each(|of| self.put_fill(of, &fill, fill_validity, &mut target))?;
                        continue;
                    };
                    let tiles = match open {
                        Some(tiles) => tiles,
                        None => {
                            open_count += 1;
                            open.insert(FieldTiles::open(self.array, part.fragment, *field, files)?)
                        }
                    };
                    let is_whole = left.is_empty() && self.is_whole(&start, &taken);
                    let part = TilePart { start: &start, taken: &taken, is_whole };
                    self.put(tiles, position, &part, (&mut tile, &mut rows_of_box), &mut target)?;
                }
                left.boxes()
                    .iter()
                    .try_for_each(|of| self.put_fill(of, &fill, fill_validity, &mut target))?;
            }
            if open_count > MAX_OPEN {
                open.iter_mut().for_each(|open| *open = None);
                open_count = 0;
            }
            if !advance(&mut at, &counts) {
                return Ok(());
            }
        }
    }

    /// The row and the validity of cells that were never written.
    fn fill(&self, target: &mut Target<'_, '_>) -> Result<(Vec<u8>, u8)> {
        let Attribute { data_type, nullable, fill_value_validity, .. } = self.attribute;
        let value = self.attribute.fill_cell()?;
        let validity = if *nullable { u8::from(*fill_value_validity != 0) } else { 1 };
        let Some(buffers) = &mut target.buffers else { return Ok((value, validity)) };
        let slot = slot(buffers.len(), 0, value.len() as u64, data_type.size() as u64)?;
        buffers.push(value.into());
        Ok((slot.to_bytes().to_vec(), validity))
    }

    /// The coordinates of the space tiles that contain cells of the region, along each dimension.
    fn tiles(&self) -> Result<Vec<Vec<u64>>> {
        let Region { start, count, step } = self.region;
        let along = |(((start, count), step), tile): (((&u64, &u64), &u64), &u64)| {
            let (mut tiles, mut done) = (Vec::new(), 0);
            while done < *count {
                let at = start.saturating_add(done.saturating_mul(*step)) / tile;
                tiles.push(at);
                // The first step into another tile.
                let end = at.saturating_add(1).saturating_mul(*tile);
                done = end.saturating_sub(*start).div_ceil(*step).max(done.saturating_add(1));
            }
            tiles
        };
        Ok(start.iter().zip(count).zip(step).zip(&self.domain.tile).map(along).collect())
    }

    /// The first cell of a space tile, and the box around the cells of the region in it.
    fn left(&self, coordinates: &[u64]) -> Result<Option<(Vec<u64>, Left)>> {
        let start: Vec<u64> =
            coordinates.iter().zip(&self.domain.tile).map(|(at, tile)| at.saturating_mul(*tile)).collect();
        let Some(part) = self.region.intersect(&start, &self.domain.tile)? else { return Ok(None) };
        Ok(Some((start, Left::all(around(part)))))
    }

    /// The remaining cells that a fragment contains, without boxes between the steps of the region.
    fn taken(&self, left: &mut Left, written: &IndexBox) -> Result<Vec<IndexBox>> {
        let mut taken = left.take(written);
        if !self.region.is_box() {
            let mut kept = Vec::with_capacity(taken.len());
            for of in taken {
                if self.region.intersect(&of.first, &of.shape())?.is_some() {
                    kept.push(of);
                }
            }
            taken = kept;
        }
        Ok(taken)
    }

    fn put_fill(&self, of: &IndexBox, row: &[u8], validity: u8, target: &mut Target<'_, '_>) -> Result<()> {
        let (start, shape, region) = (&of.first, &of.shape(), self.region);
        if let Some(mut overlap) = target.rows.overlap(start, shape, region, self.row)? {
            overlap.fill(row)?;
        }
        if let Some(out) = &mut target.validity
            && let Some(mut overlap) = out.overlap(start, shape, region, 1)?
        {
            overlap.fill(&[validity])?;
        }
        Ok(())
    }

    /// Decodes the taken cells of a tile, and copies them to their destination. Chunks without taken cells are skipped.
    fn put(
        &self,
        tiles: &FieldTiles<'_>,
        position: u64,
        part: &TilePart<'_>,
        (tile, rows): (&mut Tile, &mut Vec<u8>),
        target: &mut Target<'_, '_>,
    ) -> Result<()> {
        let cells = self.domain.tile_cells()?;
        if let Some(buffers) = &mut target.buffers {
            tiles.read(position, cells, tile)?;
            let (tile_shape, order) = (&self.domain.tile, self.domain.cell_order);
            let of_tile = |of: &IndexBox| IndexBox {
                first: minus(&of.first, part.start),
                last: minus(&of.last, part.start),
            };
            let taken: Vec<IndexBox> = part.taken.iter().map(of_tile).collect();
            let marks = marks(&taken, order, tile_shape)?;
            slots(buffers, tile, marks.as_deref(), self.attribute.data_type.size() as u64)?;
            let whole = self.boxes(0..cells);
            self.copy(&whole, &tile.cells, part, self.row, rows, target.rows)?;
            if let Some(out) = target.validity.as_mut().filter(|_| !tile.validity.is_empty()) {
                return self.copy(&whole, &tile.validity, part, 1, rows, out);
            }
        } else {
            let values = tiles.pieces(CellFile::Values, position, cells, tile)?;
            if let Some(values) = values {
                self.copy_pieces(values, part, self.row, rows, target.rows)?;
            }
            if let Some(out) = &mut target.validity
                && let Some(validity) = tiles.pieces(CellFile::Validity, position, cells, tile)?
            {
                return self.copy_pieces(validity, part, 1, rows, out);
            }
        }
        let Some(validity) = &mut target.validity else { return Ok(()) };
        for of in part.taken {
            if let Some(mut overlap) = validity.overlap(&of.first, &of.shape(), self.region, 1)? {
                overlap.fill(&[1])?;
            }
        }
        Ok(())
    }

    /// Decodes the pieces of a tile that contain taken cells, and copies these.
    fn copy_pieces(
        &self,
        mut pieces: TilePieces<'_>,
        part: &TilePart<'_>,
        row: usize,
        rows: &mut Vec<u8>,
        out: &mut Planes<'_>,
    ) -> Result<()> {
        while let Some(cells) = pieces.next_piece()? {
            let boxes = self.boxes(cells);
            let mut is_wanted = false;
            for common in boxes.iter().flat_map(|of| part.common(of)) {
                is_wanted |= self.region.intersect(&common.first, &common.shape())?.is_some();
            }
            if is_wanted {
                self.copy(&boxes, pieces.decode()?, part, row, rows, out)?;
            }
        }
        Ok(())
    }

    /// The boxes of cells that are consecutive in a tile, counted from its first cell.
    fn boxes(&self, cells: Range<u64>) -> Vec<IndexBox> {
        cell_boxes(cells, self.domain.cell_order, &self.domain.tile)
    }

    /// Copies the taken cells of boxes, whose cells are consecutive in `cells`.
    fn copy(
        &self,
        boxes: &[IndexBox],
        mut cells: &[u8],
        part: &TilePart<'_>,
        row: usize,
        rows: &mut Vec<u8>,
        out: &mut Planes<'_>,
    ) -> Result<()> {
        for of in boxes {
            let shape = of.shape();
            let len = element_bytes(&shape, row)?;
            let of_box = cells.split_off(..len).ok_or_else(|| Error::invalid("a box outside its tile"))?;
            if part.is_whole {
                if let Some(mut overlap) = out.overlap(&part.place(&of.first), &shape, self.region, row)? {
                    overlap.scatter(of_box)?;
                }
                continue;
            }
            for common in part.common(of) {
                let common_shape = common.shape();
                let overlap = out.overlap(&common.first, &common_shape, self.region, row)?;
                let Some(mut overlap) = overlap else { continue };
                let first = part.place(&of.first);
                let within =
                    IndexBox { first: minus(&common.first, &first), last: minus(&common.last, &first) };
                box_rows(of_box, self.domain.cell_order, &shape, &within, row, rows)?;
                overlap.scatter(rows)?;
            }
        }
        Ok(())
    }

    /// Whether the only box contains all cells of the region in a tile, and the tile is in the order of the region.
    fn is_whole(&self, start: &[u64], taken: &[IndexBox]) -> bool {
        let is_ordered = self.domain.cell_order == Layout::RowMajor || self.domain.shape.len() == 1;
        let Ok(Some(all)) = self.region.intersect(start, &self.domain.tile) else { return false };
        is_ordered && *taken == [around(all)]
    }
}

/// The part of a tile that is read.
struct TilePart<'a> {
    /// The first cell of the tile.
    start: &'a [u64],
    taken: &'a [IndexBox],
    /// Whether all cells of the region in the tile are taken, and the tile is in the order of the region.
    is_whole: bool,
}

impl TilePart<'_> {
    /// The indexes of a cell of the tile.
    fn place(&self, within: &[u64]) -> Vec<u64> {
        self.start.iter().zip(within).map(|(start, within)| start.saturating_add(*within)).collect()
    }

    /// The taken cells in a box of the tile.
    fn common(&self, of: &IndexBox) -> impl Iterator<Item = IndexBox> {
        let of = IndexBox { first: self.place(&of.first), last: self.place(&of.last) };
        self.taken.iter().filter_map(move |taken| taken.intersect(&of))
    }
}

/// The box around the cells of a region, which has at least one.
fn around(region: Region) -> IndexBox {
    let spans = (0..region.rank()).filter_map(|dimension| region.span(dimension));
    let last = spans.map(|span| span.end.saturating_sub(1)).collect();
    IndexBox { first: region.start, last }
}

/// The indexes of the cells of a fragment.
fn written(domain: &DenseDomain, fragment: &OpenedFragment) -> Result<Option<IndexBox>> {
    if !fragment.footer.dense {
        return Err(Error::unsupported("a sparse fragment in a dense array").in_object(&fragment.folder));
    }
    let of = fragment.footer.non_empty_domain.as_ref();
    of.map(|of| domain.indexes(&fragment.schema, of).map_err(|e| e.in_object(&fragment.folder))).transpose()
}

fn minus(a: &[u64], b: &[u64]) -> Vec<u64> {
    a.iter().zip(b).map(|(a, b)| a.saturating_sub(*b)).collect()
}

/// The maximum number of fragments with open files at a time, at most three files each. Systems allow a process about
/// 1000 open files.
const MAX_OPEN: usize = 64;
