//! Blosc 2 arrays: chunks divided into blocks of several dimensions. The elements of a block are stored together.
//!
//! Chunks and blocks at an edge are padded: a chunk to whole blocks, the array to whole chunks.
//!
//! Spec: B2ND Metalayer Format

use super::frame::{ARRAY, Frame, FrameChunk, put_u32, put_u64, size};
use crate::blosc::chunk::repeat;
use crate::coders::Coders;
use hyperslab_core::nd::{ChunkGrid, Region, gather, scatter};
use hyperslab_core::{Error, Result};

/// The shapes of an array, its chunks and its blocks.
pub(super) struct Array {
    /// The decoded size in bytes.
    pub(super) size: usize,
    shape: Vec<u64>,
    chunk: Vec<u64>,
    block: Vec<u64>,
    element: usize,
}

impl Array {
    /// Reads the metalayer of a frame. Returns `None` if the frame holds no array.
    pub(super) fn open(frame: &Frame<'_>) -> Result<Option<Array>> {
        let metalayer = match frame.metalayer(ARRAY)? {
            None => frame.metalayer(b"caterva")?,
            found => found,
        };
        let Some(metalayer) = metalayer else { return Ok(None) };
        let broken = || Error::malformed("invalid dimensions in the b2nd metalayer of a Blosc frame");
        let rank = usize::from(*metalayer.get(2).ok_or_else(broken)?);
        if rank > MAX_DIMENSIONS {
            return Err(Error::malformed(format!(
                "Blosc array of {rank} dimensions, expected at most {MAX_DIMENSIONS}"
            )));
        }
        // Each list begins with a byte for its length, each number with a byte for its type.
        let list = |at: usize, width: usize| -> Option<Vec<u64>> {
            let numbers = (0..rank).map(|i| {
                let at = at + 1 + i * width + 1;
                let number = if width == 9 { size::<8>(metalayer, at) } else { size::<4>(metalayer, at) };
                number.map(|number| number as u64)
            });
            numbers.collect()
        };
        let shape = list(3, 9).ok_or_else(broken)?;
        let chunk = list(4 + rank * 9, 5).ok_or_else(broken)?;
        let block = list(5 + rank * 14, 5).ok_or_else(broken)?;
        if chunk.iter().zip(&block).any(|(chunk, block)| *block == 0 || block > chunk) {
            return Err(Error::malformed(format!(
                "Blosc block shape {block:?}, expected at most the chunk shape {chunk:?}"
            )));
        }
        let size = product(&shape, frame.element).ok_or_else(broken)?;
        Ok(Some(Array { size, shape, chunk, block, element: frame.element }))
    }

    /// An array of one chunk. All elements together have `size` bytes.
    pub(super) fn for_chunk(shape: &[u32], element: usize, size: usize) -> Result<Array> {
        let shape: Vec<u64> = shape.iter().copied().map(u64::from).collect();
        if shape.len() > MAX_DIMENSIONS || product(&shape, element) != Some(size) {
            return Err(Error::invalid(format!(
                "{size} bytes for a Blosc array of shape {shape:?} with elements of {element} bytes, expected as many and at most {MAX_DIMENSIONS} dimensions"
            )));
        }
        let max = (TARGET_BLOCK / element.max(1)).max(1) as u64;
        let mut block: Vec<u64> = shape.iter().map(|len| (*len).clamp(1, 2)).collect();
        let mut elements = block.iter().product::<u64>();
        // Doubles the extents in turn, from the last dimension on, while the block stays within its bounds.
        let mut grown = true;
        while std::mem::take(&mut grown) {
            for (block, len) in block.iter_mut().zip(&shape).rev() {
                let longer = (*block * 2).min(*len);
                let more = elements / *block * longer;
                if longer > *block && more <= max {
                    (*block, elements, grown) = (longer, more, true);
                }
            }
        }
        Ok(Array { size, chunk: shape.clone(), shape, block, element })
    }

    /// The size of a block in bytes.
    pub(super) fn block_size(&self) -> usize {
        product(&self.block, self.element).unwrap_or(usize::MAX)
    }

    /// The bytes of the metalayer.
    pub(super) fn metalayer(&self) -> Vec<u8> {
        let rank = u8::try_from(self.shape.len()).unwrap_or(u8::MAX);
        let number = |value: &u64| usize::try_from(*value).unwrap_or(usize::MAX);
        let mut out = vec![0x97, 0, rank, 0x90 | rank];
        self.shape.iter().for_each(|len| put_u64(0xd3, number(len), &mut out));
        for lengths in [&self.chunk, &self.block] {
            out.push(0x90 | rank);
            lengths.iter().for_each(|len| put_u32(0xd2, number(len), &mut out));
        }
        // The datatype as a NumPy string: bytes without meaning.
        out.push(0);
        let kind = format!("|V{}", self.element);
        put_u32(0xdb, kind.len(), &mut out);
        out.extend_from_slice(kind.as_bytes());
        out
    }

    /// Rearranges the elements of a one-chunk array into blocks, one after another.
    pub(super) fn cut(&self, raw: &[u8]) -> Result<Vec<u8>> {
        let all = Region::all(&self.shape);
        let grid = ChunkGrid::regular(&self.block)?;
        let block_size = self.block_size();
        let mut cut = Vec::new();
        let mut blocks = grid.chunks_in(&all)?;
        while let Some(block) = blocks.next_chunk() {
            let at = cut.len();
            cut.resize(at + block_size, 0);
            gather(
                raw,
                &all,
                cut.get_mut(at..).unwrap_or_default(),
                &block.start,
                &block.shape,
                self.element,
            )?;
        }
        Ok(cut)
    }

    /// Decodes all elements to `out`, which has the decoded size.
    pub(super) fn decode(&self, frame: &Frame<'_>, out: &mut [u8], coders: &mut Coders) -> Result<()> {
        if self.size == 0 {
            return Ok(());
        }
        let block_size = self.block_size();
        // No writer has blocks larger than the array; such blocks could have any size.
        if block_size > out.len().saturating_mul(2).saturating_add(MIN_BOUND) {
            return Err(Error::malformed(format!(
                "Blosc block size {block_size} in an array of {} bytes",
                out.len()
            )));
        }
        let all = Region::all(&self.shape);
        let grid = ChunkGrid::regular(&self.chunk)?;
        let chunks_along = grid.chunks_along(&self.shape)?;
        let block_grid = ChunkGrid::regular(&self.block)?;
        let blocks_along: Vec<u64> =
            self.chunk.iter().zip(&self.block).map(|(n, block)| n.div_ceil(*block)).collect();
        let places = frame.places(out.len(), coders)?;
        let (mut decoded, mut first) = (vec![0; block_size], Vec::new());
        let mut chunks = grid.chunks_in(&all)?;
        while let Some(chunk) = chunks.next_chunk() {
            let place = position(&chunk.index, &chunks_along).and_then(|index| places.get(index));
            let Some(place) = place else {
                return Err(Error::malformed(format!(
                    "Blosc frame of {} chunks, too few for its array",
                    places.len()
                )));
            };
            let content = frame.chunk_at(*place)?;
            let ends = chunk.start.iter().zip(&self.shape).zip(&self.chunk);
            let within: Vec<u64> =
                ends.map(|((start, len), chunk)| (*chunk).min(len.saturating_sub(*start))).collect();
            let within = Region::all(&within);
            let mut blocks = block_grid.chunks_in(&within)?;
            let mut is_first = true;
            while let Some(block) = blocks.next_chunk() {
                match &content {
                    FrameChunk::Repeated(value) => repeat(value, &mut decoded),
                    FrameChunk::Stored(stored) => {
                        let index = position(&block.index, &blocks_along).unwrap_or(usize::MAX);
                        let end = index.saturating_add(1).saturating_mul(block_size);
                        if stored.block != block_size || end > stored.size {
                            return Err(Error::malformed(format!(
                                "Blosc chunk of {} bytes with a block size of {}, expected {block_size}",
                                stored.size, stored.block
                            )));
                        }
                        stored.decode_block(index, &first, &mut decoded, coders)?;
                        if is_first && stored.refers_to_first() {
                            first.clone_from(&decoded);
                        }
                        is_first = false;
                    }
                }
                let start: Vec<u64> =
                    chunk.start.iter().zip(&block.start).map(|(chunk, block)| chunk + block).collect();
                scatter(&decoded, &start, &block.shape, &all, out, self.element)?;
            }
            first.clear();
        }
        Ok(())
    }
}

/// The row-major position of the element at `index`, in a grid with `along` elements along each dimension.
fn position(index: &[u64], along: &[u64]) -> Option<usize> {
    let mut position = 0_u64;
    for (index, along) in index.iter().zip(along) {
        position = position.checked_mul(*along)?.checked_add(*index)?;
    }
    usize::try_from(position).ok()
}

fn product(lengths: &[u64], element: usize) -> Option<usize> {
    let elements = lengths.iter().try_fold(1_u64, |product, len| product.checked_mul(*len))?;
    usize::try_from(elements).ok()?.checked_mul(element)
}

const MAX_DIMENSIONS: usize = 16;
const TARGET_BLOCK: usize = 1 << 16;
const MIN_BOUND: usize = 1 << 16;
