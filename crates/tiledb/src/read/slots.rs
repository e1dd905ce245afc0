//! Cells of variable size in dense arrays: slots, which point into buffers of values.

use super::fragment_grid::IndexBox;
use super::strided::{outside, strides};
use super::tile::Tile;
use crate::format::layout::Layout;
use bytes::Bytes;
use hyperslab_core::nd::advance;
use hyperslab_core::rows::Slot;
use hyperslab_core::{Error, ErrorKind, Result};

/// Puts the values of a tile into a buffer, and replaces its cells with slots. Buffers are held as long as slots exist,
/// so if little of a tile is taken, only that part is put there.
pub(super) fn slots(
    buffers: &mut Vec<Bytes>,
    tile: &mut Tile,
    taken: Option<&[bool]>,
    value_size: u64,
) -> Result<()> {
    tile.cells.clear();
    if let Some(taken) = taken {
        let cells = (0..).zip(taken).filter(|(_, is_taken)| **is_taken);
        let values = |cell| tile.cell(cell).unwrap_or_default();
        let len = cells.clone().fold(0_usize, |len, (cell, _)| len.saturating_add(values(cell).len()));
        if len.saturating_mul(SHARE) <= tile.var.len() {
            let (mut own, mut rows) = (Vec::with_capacity(len), Vec::new());
            for (cell, is_taken) in (0..).zip(taken) {
                let of = if *is_taken { values(cell) } else { &[] };
                let slot = slot(buffers.len(), own.len() as u64, of.len() as u64, value_size)?;
                rows.extend_from_slice(&slot.to_bytes());
                own.extend_from_slice(of);
            }
            tile.cells = rows;
            buffers.push(own.into());
            return Ok(());
        }
    }
    for (start, end) in tile.offsets.iter().zip(tile.offsets.iter().skip(1)) {
        let slot = slot(buffers.len(), *start, end.saturating_sub(*start), value_size)?;
        tile.cells.extend_from_slice(&slot.to_bytes());
    }
    buffers.push(std::mem::take(&mut tile.var).into());
    Ok(())
}

/// A slot for a cell of this number of bytes.
pub(super) fn slot(buffer: usize, start: u64, len: u64, value_size: u64) -> Result<Slot> {
    let count = u32::try_from(len / value_size.max(1)).ok();
    let buffer = u32::try_from(buffer).ok().filter(|buffer| *buffer < u32::MAX);
    match (buffer, count) {
        (Some(buffer), Some(count)) => Ok(Slot::at(buffer, count, start)),
        _ => Err(Error::new(ErrorKind::LimitExceeded, format!("{len} bytes in a cell of buffer {buffer:?}"))),
    }
}

/// Marks the cells of a tile that are in boxes, which are counted from its first cell. `None` if there are not few of
/// them.
pub(super) fn marks(boxes: &[IndexBox], order: Layout, shape: &[u64]) -> Result<Option<Vec<bool>>> {
    let cells = |shape: &[u64]| shape.iter().fold(1_u64, |cells, len| cells.saturating_mul(*len));
    let taken = boxes.iter().fold(0_u64, |sum, of| sum.saturating_add(cells(&of.shape())));
    let Some(all) = usize::try_from(cells(shape)).ok().filter(|_| taken <= cells(shape) / SHARE as u64)
    else {
        return Ok(None);
    };
    let strides = strides(order, shape, 1)?;
    let mut marks = vec![false; all];
    for of in boxes {
        let narrow = |of: &[u64]| of.iter().map(|n| usize::try_from(*n).unwrap_or(usize::MAX)).collect();
        let (first, counts): (Vec<usize>, Vec<usize>) = (narrow(&of.first), narrow(&of.shape()));
        let mut at = vec![0_usize; counts.len()];
        loop {
            let indexes = first.iter().zip(&at).map(|(first, at)| first.saturating_add(*at));
            let place = indexes
                .zip(&strides)
                .fold(0_usize, |sum, (index, stride)| sum.saturating_add(index.saturating_mul(*stride)));
            *marks.get_mut(place).ok_or_else(outside)? = true;
            if !advance(&mut at, &counts) {
                break;
            }
        }
    }
    Ok(Some(marks))
}

/// A part of a tile is copied if it is at most this fraction of the tile.
const SHARE: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn tile() -> Tile {
        Tile::of_texts(b"abbcccdddd".to_vec(), vec![0, 1, 3, 6, 10, 10, 10])
    }

    #[test]
    fn of_few_cells_only_their_values_are_held() {
        let shape = [2, 3];
        let of = |first: [u64; 2], last: [u64; 2]| IndexBox { first: first.to_vec(), last: last.to_vec() };
        let marked = marks(&[of([0, 1], [1, 1])], Layout::RowMajor, &shape).unwrap().unwrap();
        assert_eq!(marked, [false, true, false, false, true, false]);
        let in_columns = marks(&[of([0, 1], [1, 1])], Layout::ColMajor, &shape).unwrap().unwrap();
        assert_eq!(in_columns, [false, false, true, true, false, false]);
        assert_eq!(marks(&[of([0, 0], [1, 1])], Layout::RowMajor, &shape).unwrap(), None);
        let (mut buffers, mut tile) = (Vec::new(), tile());
        slots(&mut buffers, &mut tile, Some(&marked), 1).unwrap();
        assert_eq!(buffers, [&b"bb"[..]]);
        let slots: Vec<Slot> = Slot::each(&tile.cells).collect();
        assert_eq!((slots.len(), slots[1].offset, slots[1].count, slots[4].count), (6, 0, 2, 0));
    }

    #[test]
    fn of_many_bytes_the_whole_tile_is_held() {
        let (mut buffers, mut tile) = (Vec::new(), tile());
        let few = [false, false, true, true, false, false];
        slots(&mut buffers, &mut tile, Some(&few), 1).unwrap();
        assert_eq!(buffers, [&b"abbcccdddd"[..]]);
    }
}
