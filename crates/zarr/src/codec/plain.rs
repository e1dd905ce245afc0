//! Chunks whose bytes, stored or decoded, are the rows, so that they can be read in parts.

use super::chunk::Undone;
use super::{Chain, Reader, room};
use hyperslab_codec::Blocks;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::store::Value;
use hyperslab_core::{Error, Result};
use std::ops::Range;

impl Chain {
    /// Reads a chunk whose stored bytes are its rows, in slabs that fit in a fast cache until they are copied to their
    /// place.
    pub(super) fn read_plain(
        &self,
        value: &dyn Value,
        (start, shape): (&[u64], &[u64]),
        region: &Region,
        out: &mut Planes<'_>,
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        let len = self.size(shape, self.row, reader.limits)?;
        if value.size() != len as u64 {
            return Err(Error::malformed(format!("a chunk of {} bytes, expected {len}", value.size())));
        }
        let Some(mut overlap) = out.overlap(start, shape, region, self.row)? else { return Ok(()) };
        if let Some(rows) = overlap.in_place() {
            return value.read(0, rows);
        }
        let mut buffer = std::mem::take(&mut reader.scratch.buffers.rows);
        let read = slabs(start, shape, len, SLAB).try_for_each(|(start, shape, range)| {
            let Some(mut overlap) = out.overlap(&start, &shape, region, self.row)? else { return Ok(()) };
            let rows = room(&mut buffer, range.end - range.start);
            value.read(range.start as u64, rows)?;
            overlap.scatter(rows)
        });
        reader.scratch.buffers.rows = buffer;
        read
    }

    /// The blocks of a chunk of `len` bytes, if they are rows, and a block is a multiple of a step of the first dimension
    /// or the reverse.
    pub(super) fn row_blocks<'c>(
        &self,
        stored: &'c Undone<'_>,
        shape: &[u64],
        len: usize,
    ) -> Result<Option<Blocks<'c>>> {
        if self.row_codecs().is_none() {
            return Ok(None);
        }
        let blocks = stored.blocks()?.filter(|blocks| blocks.size() == len);
        Ok(blocks.filter(|blocks| {
            let (step, block) = (step_len(shape, len), blocks.block());
            step.max(block) <= MAX_SLAB && (block.is_multiple_of(step) || step.is_multiple_of(block))
        }))
    }

    /// Reads a chunk block by block, so that decoded bytes stay in a fast cache until they are copied to their place.
    pub(super) fn read_blocks(
        &self,
        blocks: &Blocks<'_>,
        (start, shape): (&[u64], &[u64]),
        region: &Region,
        out: &mut Planes<'_>,
        reader: &mut Reader<'_>,
    ) -> Result<()> {
        let len = blocks.size();
        let mut buffer = std::mem::take(&mut reader.scratch.buffers.rows);
        let max = step_len(shape, len).max(blocks.block());
        let read = slabs(start, shape, len, max).try_for_each(|(start, shape, range)| {
            let Some(mut overlap) = out.overlap(&start, &shape, region, self.row)? else { return Ok(()) };
            if let Some(rows) = overlap.in_place() {
                return blocks.decode(range.start, rows, reader.scratch);
            }
            let rows = room(&mut buffer, range.end - range.start);
            blocks.decode(range.start, rows, reader.scratch)?;
            overlap.scatter(rows)
        });
        reader.scratch.buffers.rows = buffer;
        read
    }
}

/// The size in bytes of one step along the first dimension of a box of `len` bytes, at least 1.
fn step_len(shape: &[u64], len: usize) -> usize {
    let count = shape.first().copied().unwrap_or(1).max(1);
    usize::try_from(count).map_or(0, |count| len / count).max(1)
}

/// The slabs of a box of `len` bytes along its first dimension, of about `max` bytes each: their start, shape and size
/// in bytes.
fn slabs(
    start: &[u64],
    shape: &[u64],
    len: usize,
    max: usize,
) -> impl Iterator<Item = (Vec<u64>, Vec<u64>, Range<usize>)> {
    let count = shape.first().copied().unwrap_or(1).max(1);
    let step_len = step_len(shape, len);
    let steps = (max / step_len).max(1) as u64;
    let (start, shape) = (start.to_vec(), shape.to_vec());
    (0..count.div_ceil(steps)).map(move |piece| {
        let first = piece * steps;
        let size = steps.min(count - first);
        let (mut start, mut shape) = (start.clone(), shape.clone());
        if let (Some(start), Some(shape)) = (start.first_mut(), shape.first_mut()) {
            (*start, *shape) = (start.saturating_add(first), size);
        }
        let bytes = |steps: u64| usize::try_from(steps).map_or(len, |steps| steps.saturating_mul(step_len));
        (start, shape, bytes(first)..bytes(first + size))
    })
}

const SLAB: usize = 256 << 10;

/// The maximum size in bytes of slabs that are decoded separately. Larger ones do not fit in a fast cache.
const MAX_SLAB: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_cover_the_whole_box() {
        let of = |shape: &[u64], len, max| {
            slabs(&vec![5; shape.len()], shape, len, max)
                .map(|(start, shape, bytes)| (start[0], shape[0], bytes))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(&[5, 3], 60, 24), [(5, 2, 0..24), (7, 2, 24..48), (9, 1, 48..60)]);
        assert_eq!(of(&[2, 3], 24, 5), [(5, 1, 0..12), (6, 1, 12..24)]);
        assert_eq!(of(&[2, 3], 24, 99), [(5, 2, 0..24)]);
        assert_eq!(slabs(&[], &[], 4, 99).collect::<Vec<_>>(), [(vec![], vec![], 0..4)]);
    }
}
