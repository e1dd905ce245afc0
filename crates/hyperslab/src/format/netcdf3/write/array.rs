//! The elements of a variable that is being written.

use super::definition::FoundVariable;
use crate::format::hdf5::write::MIN_RECORDED;
use crate::target::{ArrayTarget, ChunkBytes, Encoded, Encoder};
use bytes::Bytes;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{ChunkGrid, Region, element_bytes, element_count, fill_rows};
use hyperslab_core::{Error, Result};
use hyperslab_model::Values;
use hyperslab_netcdf3::Writer;
use std::sync::Arc;

/// A variable. Elements can be stored at their positions in the file in any order.
pub(super) struct Netcdf3ArrayTarget {
    writer: Arc<Writer>,
    number: usize,
    /// The size of an element in bytes.
    element: usize,
    pieces: Pieces,
    /// The extents of the array. The variable may be longer.
    extents: Vec<u64>,
    /// The fill value as a row, if it differs from that of the file.
    fill: Option<Bytes>,
    /// Whether the array takes longer to store than to record.
    is_recorded: bool,
}

/// Elements are encoded in pieces that are contiguous in the file.
struct Pieces {
    shape: Vec<u64>,
}

impl Netcdf3ArrayTarget {
    pub(super) fn new(
        writer: Arc<Writer>,
        number: usize,
        found: &FoundVariable,
    ) -> Result<Netcdf3ArrayTarget> {
        let element = writer.definition().layout(number)?.element;
        let FoundVariable { extents, inner, fill, .. } = found;
        let shape = piece(extents, inner.len(), element);
        let bytes = element_count(extents).and_then(|count| count.checked_mul(element as u64));
        Ok(Netcdf3ArrayTarget {
            writer,
            number,
            element,
            pieces: Pieces { shape },
            extents: extents.clone(),
            fill: fill.clone(),
            is_recorded: bytes.is_none_or(|bytes| bytes >= MIN_RECORDED),
        })
    }

    /// Fills the part of the variable beyond the array, piece by piece.
    fn fill_beyond(&self) -> Result<()> {
        let shape = &self.writer.definition().layout(self.number)?.shape;
        let grid = ChunkGrid::regular(&self.pieces.shape)?;
        for region in beyond(&self.extents, shape) {
            let Some(fill) = &self.fill else {
                self.writer.fill_part(self.number, &region)?;
                continue;
            };
            let mut chunks = grid.chunks_in(&region)?;
            while let Some(chunk) = chunks.next_chunk() {
                let Some(part) = region.intersect(&chunk.start, &chunk.shape)? else { continue };
                let mut rows = vec![0; element_bytes(&part.count, self.element)?];
                fill_rows(fill, &mut rows)?;
                self.writer.write_part(self.number, &part, &rows)?;
            }
        }
        Ok(())
    }
}

impl ArrayTarget for Netcdf3ArrayTarget {
    fn encoder(&self) -> &dyn Encoder {
        &self.pieces
    }

    fn store(&self, index: &[u64], chunk: Option<&ChunkBytes>) -> Result<()> {
        let Some(ChunkBytes { bytes, .. }) = chunk else { return Ok(()) };
        let start: Vec<u64> = index.iter().zip(&self.pieces.shape).map(|(at, size)| at * size).collect();
        let within = start.iter().zip(&self.pieces.shape).zip(&self.extents);
        let count = within.map(|((start, size), extent)| extent.saturating_sub(*start).min(*size)).collect();
        self.writer.write_part(self.number, &Region::new(start, count), bytes)
    }

    fn is_recorded(&self) -> bool {
        self.is_recorded
    }

    fn finish(&self) -> Result<()> {
        self.fill_beyond()
    }

    fn abandon(&self) -> Result<()> {
        Err(Error::unsupported("a NetCDF file without a variable that was declared"))
    }
}

impl Encoder for Pieces {
    fn chunk(&self) -> &[u64] {
        &self.shape
    }

    fn encode(&self, _: &[u64], values: &Values, _: Vec<u8>, _: &mut Scratch) -> Result<Encoded> {
        // The writer stores them as big-endian numbers.
        Ok(Encoded::of(Some(values.rows.clone())))
    }

    fn needs_unwritten(&self) -> bool {
        true
    }
}

/// An array that is not stored because it has no elements.
pub(super) struct Unstored(Pieces);

impl Unstored {
    pub(super) fn new(extents: &[u64], further: usize) -> Unstored {
        Unstored(Pieces { shape: piece(extents, further, 1) })
    }
}

impl ArrayTarget for Unstored {
    fn encoder(&self) -> &dyn Encoder {
        &self.0
    }

    fn has_elements(&self) -> bool {
        false
    }

    fn store(&self, _: &[u64], _: Option<&ChunkBytes>) -> Result<()> {
        Ok(())
    }

    fn is_recorded(&self) -> bool {
        false
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }

    fn abandon(&self) -> Result<()> {
        Ok(())
    }
}

/// The shape of a piece of about [`PIECE`] bytes that spans the last `further` dimensions completely.
fn piece(extents: &[u64], further: usize, element: usize) -> Vec<u64> {
    let mut piece = vec![1; extents.len()];
    let mut bytes = element as u64;
    for (from_last, (size, extent)) in piece.iter_mut().zip(extents).rev().enumerate() {
        let whole = (*extent).max(1);
        *size = if from_last < further { whole } else { (PIECE / bytes.max(1)).clamp(1, whole) };
        bytes = bytes.saturating_mul(*size);
    }
    piece
}

/// The regions of an array of this `shape` that lie beyond these `extents`.
fn beyond(extents: &[u64], shape: &[u64]) -> Vec<Region> {
    let mut regions = Vec::new();
    let mut count = extents.to_vec();
    // Starts at the last dimension, so that most regions are contiguous.
    for (dimension, (own, full)) in extents.iter().zip(shape).enumerate().rev() {
        if own < full {
            let mut start = vec![0; extents.len()];
            let mut counts = count.clone();
            start.iter_mut().skip(dimension).take(1).for_each(|start| *start = *own);
            counts.iter_mut().skip(dimension).take(1).for_each(|count| *count = full - own);
            regions.push(Region::new(start, counts));
        }
        count.iter_mut().skip(dimension).take(1).for_each(|count| *count = *full);
    }
    regions.retain(|region| !region.is_empty());
    regions
}

/// The size of a piece in bytes.
const PIECE: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_lie_together() {
        assert_eq!(piece(&[], 0, 4), [0; 0]);
        assert_eq!(piece(&[3, 5], 0, 4), [3, 5]);
        assert_eq!(piece(&[1000, 1000], 0, 4), [262, 1000]);
        assert_eq!(piece(&[10, 1 << 20], 0, 8), [1, 1 << 17]);
        assert_eq!(piece(&[10, 1 << 20], 1, 8), [1, 1 << 20]);
        assert_eq!(piece(&[0, 4], 0, 8), [1, 4]);
    }

    #[test]
    fn what_is_beyond_is_filled_once() {
        let regions = beyond(&[2, 3], &[4, 5]);
        let expected = [(vec![0, 3], vec![2, 2]), (vec![2, 0], vec![2, 5])];
        assert_eq!(regions, expected.map(|(start, count)| Region::new(start, count)));
        assert!(beyond(&[2], &[2]).is_empty());
        assert!(beyond(&[], &[]).is_empty());
        assert_eq!(beyond(&[0, 0], &[2, 0]), []);
    }
}
