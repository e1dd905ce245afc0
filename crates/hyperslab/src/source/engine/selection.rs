//! Reads elements that do not form a region: points, unions of regions, masks.

use super::{memory_for, row_size};
use crate::source::ArraySource;
use hyperslab_codec::Scratch;
use hyperslab_core::memory::Memory;
use hyperslab_core::nd::{ChunkGrid, Planes, Region, Selection, scatter};
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::NEAR;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Reference, Values};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Reads the selected elements in the order of the selection. A chunk with several of them is decoded once, whatever
/// their order.
pub(crate) fn values<A: ArraySource + ?Sized>(array: &A, selection: &Selection) -> Result<Values> {
    let extents = array.extents().ok_or_else(|| Error::invalid("a null dataspace has no elements"))?;
    selection.check(extents)?;
    match selection {
        Selection::All => return super::values(array, &Region::all(extents)),
        Selection::Region(region) => return super::values(array, region),
        _ => {}
    }
    let mut rows = Memory::zeroed(bytes(selection, extents, row_size(array)?)?)?;
    let mut heap = Heap::default();
    read_into(array, selection, &mut rows, &mut heap)?;
    Ok(Values { rows: rows.into(), heap })
}

/// As [`values`], into the caller's memory.
///
/// # Errors
/// If `rows` does not have the size of the selection, the selection exceeds the extents, or a chunk cannot be read;
/// `rows` is then unspecified.
pub(crate) fn read_into<A: ArraySource + ?Sized>(
    array: &A,
    selection: &Selection,
    rows: &mut [u8],
    heap: &mut Heap<Reference>,
) -> Result<()> {
    let extents = array.extents().ok_or_else(|| Error::invalid("a null dataspace has no elements"))?;
    selection.check(extents)?;
    let row = row_size(array)?;
    let expected = bytes(selection, extents, row)?;
    if rows.len() != expected {
        let found = rows.len();
        return Err(Error::invalid(format!("memory of {found} bytes for elements of {expected} bytes")));
    }
    let boxes = match selection {
        Selection::All => return array.read(&Region::all(extents), rows, heap),
        Selection::Region(region) => return array.read(region, rows, heap),
        Selection::None => Boxes::new(&[], row)?,
        Selection::Blocks(blocks) => Boxes::new(blocks, row)?,
        Selection::Points { coordinates, .. } => Boxes::Points { coordinates, rank: extents.len(), row },
    };
    if rows.is_empty() {
        return Ok(());
    }
    let scattered = read_large(array, &boxes, rows, heap)?;
    Tiles::new(array, extents, &boxes, scattered, row)?.read(array, rows, heap)
}

/// The size of the selected elements in bytes.
fn bytes(selection: &Selection, extents: &[u64], row: usize) -> Result<usize> {
    let count = selection.count(extents).and_then(|count| usize::try_from(count).ok());
    count.and_then(|count| count.checked_mul(row)).ok_or_else(too_large)
}

/// The selection, region by region.
enum Boxes<'a> {
    Blocks {
        blocks: &'a [Region],
        /// The end of the rows of each region.
        ends: Vec<usize>,
    },
    Points {
        coordinates: &'a [u64],
        rank: usize,
        row: usize,
    },
}

impl<'a> Boxes<'a> {
    fn new(blocks: &'a [Region], row: usize) -> Result<Self> {
        let mut ends = Vec::with_capacity(blocks.len());
        let mut end = 0_usize;
        for block in blocks {
            end = end.checked_add(block.bytes(row)?).ok_or_else(too_large)?;
            ends.push(end);
        }
        Ok(Boxes::Blocks { blocks, ends })
    }

    fn len(&self) -> usize {
        match self {
            Boxes::Blocks { blocks, .. } => blocks.len(),
            Boxes::Points { coordinates, rank, .. } => coordinates.len() / (*rank).max(1),
        }
    }

    /// A region, and the place of its rows.
    fn get(&self, number: usize) -> Option<(Region, Range<usize>)> {
        match self {
            Boxes::Blocks { blocks, ends } => {
                let begin = number.checked_sub(1).map_or(Some(&0), |before| ends.get(before))?;
                Some((blocks.get(number)?.clone(), *begin..*ends.get(number)?))
            }
            Boxes::Points { coordinates, rank, row } => {
                let point = coordinates.get(number * rank..(number + 1) * rank)?;
                Some((Region::new(point.to_vec(), vec![1; *rank]), number * row..(number + 1) * row))
            }
        }
    }
}

/// Reads regions that are large enough to be read separately. Returns the numbers of the others. Without chunks,
/// reading regions together is faster only if they are close.
fn read_large<A: ArraySource + ?Sized>(
    array: &A,
    boxes: &Boxes<'_>,
    rows: &mut [u8],
    heap: &mut Heap<Reference>,
) -> Result<Vec<usize>> {
    let Boxes::Blocks { blocks, .. } = boxes else { return Ok((0..boxes.len()).collect()) };
    let chunked = array.chunk().iter().any(|extent| *extent > 1);
    let min = if chunked && array.is_divisible() { LARGE } else { NEAR };
    let mut scattered = Vec::new();
    for number in 0..blocks.len() {
        let Some((region, range)) = boxes.get(number) else { continue };
        match (range.len() as u64) < min {
            true => scattered.push(number),
            false => array.read(&region, rows.get_mut(range).ok_or_else(too_large)?, heap)?,
        }
    }
    Ok(scattered)
}

/// Groups regions by the chunks with their elements.
struct Tiles<'a> {
    boxes: &'a Boxes<'a>,
    grid: ChunkGrid,
    extents: &'a [u64],
    /// The number of tiles along each dimension.
    along: Vec<u64>,
    /// Pairs of a tile number and the number of a region with elements in that tile, sorted by tile.
    pairs: Vec<(u64, usize)>,
    row: usize,
}

impl<'a> Tiles<'a> {
    fn new<A: ArraySource + ?Sized>(
        array: &A,
        extents: &'a [u64],
        boxes: &'a Boxes<'a>,
        numbers: Vec<usize>,
        row: usize,
    ) -> Result<Self> {
        let mut shape = array.chunk().to_vec();
        if let Some(last) = shape.last_mut() {
            // In contiguous arrays, elements are read together if there is little between them.
            *last = (NEAR / (row as u64).max(1)).max(1).next_multiple_of((*last).max(1));
        }
        let grid = ChunkGrid::regular(&shape)?;
        let along = grid.chunks_along(extents)?;
        let mut pairs = Vec::with_capacity(numbers.len());
        for number in numbers {
            let Some((region, _)) = boxes.get(number) else { continue };
            let mut chunks = grid.chunks_in(&region)?;
            while let Some(chunk) = chunks.next_chunk() {
                let tile =
                    chunk.index.iter().zip(&along).try_fold(0_u64, |tile, (index, count)| {
                        tile.checked_mul(*count)?.checked_add(*index)
                    });
                pairs.push((tile.ok_or_else(too_large)?, number));
            }
        }
        pairs.sort_unstable();
        Ok(Tiles { boxes, grid, extents, along, pairs, row })
    }

    fn read<A: ArraySource + ?Sized>(
        &self,
        array: &A,
        rows: &mut [u8],
        heap: &mut Heap<Reference>,
    ) -> Result<()> {
        let rows = Mutex::new(rows);
        let tiles: Vec<&[(u64, usize)]> = self.pairs.chunk_by(|a, b| a.0 == b.0).collect();
        if array.datatype().has_slots() || !array.is_divisible() {
            // The targets of slots are in the order of the tiles.
            let mut tiles = tiles.into_iter();
            return array.pool().alone(|scratch| {
                tiles.try_for_each(|pairs| self.read_tile(array, pairs, &rows, heap, scratch))
            });
        }
        let bytes = memory_for(array.chunk(), self.row).saturating_add(MAX_HULL);
        array.pool().each(tiles, bytes, |pairs, scratch| {
            self.read_tile(array, pairs, &rows, &mut Heap::default(), scratch)
        })
    }

    /// Reads the elements of all regions in one tile.
    fn read_tile<A: ArraySource + ?Sized>(
        &self,
        array: &A,
        pairs: &[(u64, usize)],
        rows: &Mutex<&mut [u8]>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Some((tile, _)) = pairs.first() else { return Ok(()) };
        let tile = self.tile(*tile)?;
        let mut parts = Vec::with_capacity(pairs.len());
        for (_, number) in pairs {
            let Some((region, range)) = self.boxes.get(*number) else { continue };
            let part = region.intersect(&tile.start, &tile.count)?;
            parts.extend(part.map(|part| Part { part, region, range }));
        }
        let hull = hull_of(&parts);
        if let Some(bytes) = hull.bytes(self.row).ok().filter(|bytes| *bytes as u64 <= MAX_HULL) {
            let mut own = Memory::zeroed(bytes)?;
            if array.read_part(&hull, &mut Planes::whole(&mut own), heap, scratch).is_ok() {
                // Several tiles may contain elements of one region. Placing them is cheap compared with decoding.
                let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
                for Part { region, range, .. } in &parts {
                    let rows = rows.get_mut(range.clone()).ok_or_else(too_large)?;
                    scatter(&own, &hull.start, &hull.count, region, rows, self.row)?;
                }
                return Ok(());
            }
        }
        // There may be far more other elements than requested ones, or they may be unreadable.
        for Part { part, region, range } in &parts {
            let mut own = Memory::zeroed(part.bytes(self.row)?)?;
            array.read_part(part, &mut Planes::whole(&mut own), heap, scratch)?;
            let steps = part.start.iter().zip(region.start.iter().zip(&region.step));
            let place: Vec<_> = steps.map(|(own, (first, step))| (own - first) / step).collect();
            let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
            let mut rows = Planes::whole(rows.get_mut(range.clone()).ok_or_else(too_large)?);
            if let Some(mut overlap) =
                rows.overlap(&place, &part.count, &Region::all(&region.count), self.row)?
            {
                overlap.scatter(&own)?;
            }
        }
        Ok(())
    }

    /// The tile with this number, limited to the array.
    fn tile(&self, number: u64) -> Result<Region> {
        let mut rest = number;
        let mut index = vec![0; self.along.len()];
        for (index, count) in index.iter_mut().zip(&self.along).rev() {
            *index = rest % (*count).max(1);
            rest /= (*count).max(1);
        }
        let chunk = self.grid.chunk(&index)?;
        Region::all(self.extents).intersect(&chunk.start, &chunk.shape)?.ok_or_else(too_large)
    }
}

/// The part of a region in a tile.
struct Part {
    part: Region,
    /// The whole region, and the place of its rows.
    region: Region,
    range: Range<usize>,
}

/// The smallest region without gaps that contains all parts.
fn hull_of(parts: &[Part]) -> Region {
    let mut hull: Option<(Vec<u64>, Vec<u64>)> = None;
    for Part { part, .. } in parts {
        let spans = part.start.iter().zip(&part.count).zip(&part.step);
        let ends: Vec<u64> =
            spans.map(|((start, count), step)| start + count.saturating_sub(1) * step + 1).collect();
        match &mut hull {
            None => hull = Some((part.start.clone(), ends)),
            Some((first, last)) => {
                first.iter_mut().zip(&part.start).for_each(|(first, start)| *first = (*first).min(*start));
                last.iter_mut().zip(&ends).for_each(|(last, end)| *last = (*last).max(*end));
            }
        }
    }
    let (start, ends) = hull.unwrap_or_default();
    let count = start.iter().zip(&ends).map(|(start, end)| end - start).collect();
    Region::new(start, count)
}

fn too_large() -> Error {
    Error::new(ErrorKind::LimitExceeded, "more elements than memory holds")
}

/// The minimum size in bytes of a region that is read separately.
const LARGE: u64 = 4 << 20;
/// The maximum size in bytes of a read that contains several requested elements.
pub(crate) const MAX_HULL: u64 = 16 << 20;
