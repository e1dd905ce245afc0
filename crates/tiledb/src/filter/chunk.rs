//! Tiles that are cut into chunks.
//!
//! A filtered tile consists of the number of chunks in 64 bits, followed by the chunks. Each has the original size of
//! the chunk, the size of its data and the size of its metadata, in 32 bits each, then the metadata and the data.
//!
//! Spec: TileDB format_spec, tile.md

use super::part::{Part, len32};
use hyperslab_core::{Decoder, Error, ErrorKind, Limit, Place, Result};

/// A chunk of a filtered tile.
pub(crate) struct Chunk<'a> {
    /// The size in bytes after decoding. It may be 0: TileDB ends some tiles of strings with such a chunk.
    pub(crate) len: usize,
    pub(crate) part: Part<'a>,
    pub(crate) place: Place,
}

/// The chunks of a filtered tile.
pub(crate) struct Chunks<'a> {
    d: Decoder<'a>,
    count: usize,
    /// The size in bytes of all chunks after decoding.
    pub(crate) len: u64,
}

impl<'a> Chunks<'a> {
    /// The chunks of a tile that ends where the bytes end.
    ///
    /// # Errors
    /// If they do not fill the bytes.
    pub(crate) fn of(mut d: Decoder<'a>) -> Result<Chunks<'a>> {
        let count = d.u64()?;
        let count = d.count(count, HEADER)?;
        let mut all = d.clone();
        let mut len = 0_u64;
        for _ in 0..count {
            len = len.saturating_add(Chunk::decode(&mut all)?.len as u64);
        }
        all.finish()?;
        Ok(Chunks { d, count, len })
    }

    /// The number of chunks.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The chunks.
    pub(crate) fn iter(&self) -> ChunkIter<'a> {
        ChunkIter { d: self.d.clone(), left: self.count }
    }

    /// The decoded size in bytes, which must be at most `limit`.
    pub(crate) fn len_within(&self, limit: u64) -> Result<usize> {
        match usize::try_from(self.len) {
            Ok(len) if self.len <= limit => Ok(len),
            _ => {
                let detail = format!("a tile of {} bytes, expected at most {limit}", self.len);
                Err(Error::limit_exceeded(Limit::Allocation, detail).at_place(self.d.place()))
            }
        }
    }
}

/// Iterates over chunks.
pub(crate) struct ChunkIter<'a> {
    d: Decoder<'a>,
    left: usize,
}

impl<'a> Iterator for ChunkIter<'a> {
    type Item = Result<Chunk<'a>>;

    fn next(&mut self) -> Option<Result<Chunk<'a>>> {
        self.left = self.left.checked_sub(1)?;
        Some(Chunk::decode(&mut self.d))
    }
}

impl<'a> Chunk<'a> {
    fn decode(d: &mut Decoder<'a>) -> Result<Chunk<'a>> {
        let place = d.place();
        let [len, data, metadata] = [d.u32()?, d.u32()?, d.u32()?].map(usize::try_from);
        let too_long = |_| Error::new(ErrorKind::LimitExceeded, "a chunk that exceeds the address space");
        let metadata = d.take(metadata.map_err(too_long)?)?;
        let data = d.take(data.map_err(too_long)?)?;
        let part = Part { metadata, data, stored_at: place.offset };
        Ok(Chunk { len: len.map_err(too_long)?, part, place })
    }
}

/// Appends a chunk that was `len` bytes long.
pub(crate) fn put(len: usize, metadata: &[u8], data: &[u8], out: &mut Vec<u8>) -> Result<()> {
    for len in [len, data.len(), metadata.len()] {
        out.extend_from_slice(&len32(len)?);
    }
    out.extend_from_slice(metadata);
    out.extend_from_slice(data);
    Ok(())
}

/// The size of the chunks of a tile with cells of `cell` bytes: as many cells as fit in 64 KiB, but at least one.
pub(crate) fn size(tile: usize, cell: usize) -> usize {
    let cell = cell.max(1);
    (tile.min(MAX_CHUNK) / cell * cell).max(cell)
}

/// Cuts the bytes of cells of different lengths into chunks of whole cells, about `size` bytes long. A cell that does
/// not fit in a chunk begins a new one, unless the chunk is less than half full, or becomes too long by at most half.
pub(crate) fn cut<'a>(tile: &'a [u8], offsets: &[u64], size: usize) -> Result<Vec<&'a [u8]>> {
    let wrong = || Error::invalid(format!("offsets that do not ascend to at most {}", tile.len()));
    let mut chunks = Vec::new();
    let (mut left, mut current) = (tile, 0_usize);
    let ends = offsets.iter().skip(1).copied().chain([tile.len() as u64]);
    let mut cut = |current: usize| -> Result<()> {
        let (chunk, rest) = left.split_at_checked(current).ok_or_else(wrong)?;
        if !chunk.is_empty() {
            chunks.push(chunk);
        }
        left = rest;
        Ok(())
    };
    for (start, end) in offsets.iter().zip(ends) {
        let cell = end.checked_sub(*start).and_then(|cell| usize::try_from(cell).ok()).ok_or_else(wrong)?;
        let new = current.checked_add(cell).ok_or_else(wrong)?;
        if new <= size {
            current = new;
        } else if current <= size / 2 || new <= size.saturating_add(size / 2) {
            cut(new)?;
            current = 0;
        } else {
            cut(current)?;
            current = cell;
            if cell > size {
                cut(cell)?;
                current = 0;
            }
        }
    }
    cut(current)?;
    match left.is_empty() && offsets.first().is_none_or(|first| *first == 0) {
        true => Ok(chunks),
        false => Err(wrong()),
    }
}

/// The size in bytes of the sizes before a chunk.
const HEADER: usize = 12;
/// The size at which TileDB cuts, regardless of the pipeline.
const MAX_CHUNK: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    fn lens(cells: &[usize], size: usize) -> Vec<usize> {
        let ends = cells.iter().scan(0, |end, len| {
            *end += len;
            Some(*end as u64)
        });
        let mut offsets = vec![0];
        offsets.extend(ends);
        let total = offsets.pop().unwrap();
        let tile = vec![7; usize::try_from(total).unwrap()];
        cut(&tile, &offsets, size).unwrap().iter().map(|chunk| chunk.len()).collect()
    }

    #[test]
    fn chunks_hold_whole_cells() {
        assert_eq!(size(1_000_000, 24), 65_520);
        assert_eq!(size(1000, 24), 984);
        assert_eq!(size(10, 100_000), 100_000);
        assert_eq!(size(0, 4), 4);
    }

    #[test]
    fn long_cells_end_a_chunk_or_begin_one() {
        assert_eq!(lens(&[40, 40, 40, 40], 100), [120, 40]);
        assert_eq!(lens(&[80, 80, 10], 100), [80, 90]);
        assert_eq!(lens(&[50, 500, 10], 100), [550, 10]);
        assert_eq!(lens(&[60, 500, 10], 100), [60, 500, 10]);
        assert_eq!(lens(&[90, 60], 100), [150]);
        assert_eq!(lens(&[], 100), []);
        assert!(cut(&[0; 4], &[0, 3, 2], 100).is_err());
        assert!(cut(&[0; 4], &[1, 2], 100).is_err());
    }
}
