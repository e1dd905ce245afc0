//! Elements that are no box: points, unions of boxes, masks.

use super::{bytes_of, too_large};
use crate::source::ArraySource;
use hyperslab_core::memory::Memory;
use hyperslab_core::nd::{ChunkGrid, Planes, Region, Selection, scatter};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Reference, Values};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The selected elements in the order of the selection. Chunks are decoded once, whatever the order.
pub(crate) fn values<A: ArraySource + ?Sized>(array: &A, selection: &Selection) -> Result<Values> {
    let extents = array.extents().ok_or_else(|| Error::invalid("a null dataspace has no elements"))?;
    selection.check(extents)?;
    let boxes = match selection {
        Selection::All => return super::values(array, &Region::all(extents)),
        Selection::Region(region) => return super::values(array, region),
        Selection::None => Vec::new(),
        Selection::Blocks(blocks) => blocks.clone(),
        Selection::Points { coordinates, .. } => {
            let points = coordinates.chunks_exact(extents.len().max(1));
            points.map(|point| Region::new(point.to_vec(), vec![1; point.len()])).collect()
        }
    };
    let row = array.datatype().row_size().ok_or_else(too_large)?;
    let count = selection.count(extents).and_then(|count| usize::try_from(count).ok());
    let mut rows = Memory::zeroed(count.and_then(|count| count.checked_mul(row)).ok_or_else(too_large)?)?;
    let mut heap = Heap::default();
    if !rows.is_empty() {
        let tiles = Tiles::new(array, extents, boxes, row)?;
        match array.datatype().has_slots() {
            true => tiles.read_in_order(array, &mut rows, &mut heap)?,
            false => tiles.read_at_once(array, &mut rows)?,
        }
    }
    Ok(Values { rows: rows.into(), heap })
}

/// Boxes by the chunks that they have elements in.
struct Tiles {
    /// With the bytes of the rows that each is.
    boxes: Vec<(Region, Range<usize>)>,
    /// Each with the boxes that have elements in it.
    tiles: Vec<(Region, Vec<usize>)>,
    row: usize,
}

impl Tiles {
    fn new<A: ArraySource + ?Sized>(
        array: &A,
        extents: &[u64],
        boxes: Vec<Region>,
        row: usize,
    ) -> Result<Tiles> {
        let mut shape = array.chunk().to_vec();
        shape.resize(extents.len(), 1);
        if let Some(last) = shape.last_mut() {
            // In one piece, elements are read together if little lies between them.
            *last = (NEAR / row.max(1) as u64).max(1).next_multiple_of((*last).max(1));
        }
        let grid = ChunkGrid::regular(&shape)?;
        let mut found: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
        let mut end = 0;
        let mut placed = Vec::with_capacity(boxes.len());
        for (number, region) in boxes.into_iter().enumerate() {
            let mut chunks = grid.chunks_in(&region)?;
            while let Some(chunk) = chunks.next_chunk() {
                match found.get_mut(&chunk.index) {
                    Some(numbers) => numbers.push(number),
                    None => drop(found.insert(chunk.index.clone(), vec![number])),
                }
            }
            let begin = end;
            end += bytes_of(&region, row).ok_or_else(too_large)?;
            placed.push((region, begin..end));
        }
        let mut tiles = Vec::with_capacity(found.len());
        for (index, numbers) in found {
            let chunk = grid.chunk(&index)?;
            let hull = Region::all(extents).intersect(&chunk.start, &chunk.shape)?;
            tiles.extend(hull.map(|hull| (hull, numbers)));
        }
        Ok(Tiles { boxes: placed, tiles, row })
    }

    fn read_in_order<A: ArraySource + ?Sized>(
        &self,
        array: &A,
        rows: &mut [u8],
        heap: &mut Heap<Reference>,
    ) -> Result<()> {
        for (hull, numbers) in &self.tiles {
            let mut own = vec![0; bytes_of(hull, self.row).ok_or_else(too_large)?];
            array.read(hull, &mut own, heap)?;
            self.place(hull, numbers, &own, rows)?;
        }
        Ok(())
    }

    fn read_at_once<A: ArraySource + ?Sized>(&self, array: &A, rows: &mut [u8]) -> Result<()> {
        let rows = Mutex::new(rows);
        let tiles = self.tiles.iter().collect();
        array.pool().each(tiles, |(hull, numbers): &(Region, Vec<usize>), scratch| {
            let mut own = vec![0; bytes_of(hull, self.row).ok_or_else(too_large)?];
            array.read_part(hull, &mut Planes::whole(&mut own), &mut Heap::default(), scratch)?;
            // Several chunks may have elements of one box. To place them is little beside decoding them.
            let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
            self.place(hull, numbers, &own, &mut rows)
        })
    }

    /// Puts what the boxes want of a tile in its place.
    fn place(&self, hull: &Region, numbers: &[usize], own: &[u8], rows: &mut [u8]) -> Result<()> {
        for number in numbers {
            let Some((region, range)) = self.boxes.get(*number) else { continue };
            let rows = rows.get_mut(range.clone()).ok_or_else(too_large)?;
            scatter(own, &hull.start, &hull.count, region, rows, self.row)?;
        }
        Ok(())
    }
}

/// Bytes between elements that are cheaper read than skipped.
const NEAR: u64 = 4096;
