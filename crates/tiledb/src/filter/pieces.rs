//! The chunks of a tile, decoded one by one.
//!
//! A chunk has 64 KiB in most tiles, so its cells are still in the CPU cache when they are copied to their destination.
//! Chunks that are not needed are not decoded.

use super::chunk::{Chunk, ChunkIter, Chunks};
use super::pipeline::{Pipeline, Scratch};
use hyperslab_core::Result;
use hyperslab_core::memory::room;
use std::ops::Range;

/// The chunks of a tile, one after another.
pub(crate) struct Pieces<'a> {
    pipeline: &'a Pipeline,
    chunks: Chunks<'a>,
    left: ChunkIter<'a>,
    /// Whether chunks end within cells. Then the whole tile is the only piece.
    is_cut: bool,
    current: Option<Chunk<'a>>,
    start: usize,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(pipeline: &'a Pipeline, chunks: Chunks<'a>, is_cut: bool) -> Pieces<'a> {
        Pieces { pipeline, left: chunks.iter(), chunks, is_cut, current: None, start: 0 }
    }

    /// The byte range of the next piece in the tile. `None` at the end.
    ///
    /// # Errors
    /// If chunks are malformed, which was already checked.
    pub(crate) fn next_piece(&mut self) -> Result<Option<Range<usize>>> {
        if self.is_cut {
            let all = usize::try_from(self.chunks.len).unwrap_or(usize::MAX);
            return Ok((std::mem::replace(&mut self.start, all) == 0).then_some(0..all));
        }
        self.current = self.left.next().transpose()?;
        let Some(chunk) = &self.current else { return Ok(None) };
        let start = self.start;
        self.start = start.saturating_add(chunk.len);
        Ok(Some(start..self.start))
    }

    /// Decodes the piece that [`next_piece`](Self::next_piece) returned, into `buffer` unless it is stored unchanged.
    ///
    /// # Errors
    /// As [`Pipeline::decode`].
    pub(crate) fn decode<'b>(&self, buffer: &'b mut Vec<u8>, scratch: &mut Scratch) -> Result<&'b [u8]>
    where
        'a: 'b,
    {
        let Some(chunk) = &self.current else {
            let all = room(buffer, usize::try_from(self.chunks.len).unwrap_or(usize::MAX));
            self.pipeline.decode_chunks(&self.chunks, all, scratch)?;
            return Ok(all);
        };
        if chunk.len == 0 {
            return Ok(&[]);
        }
        let place = room(buffer, chunk.len);
        match self.pipeline.placed(chunk, place, scratch) {
            Ok(true) => Ok(place),
            Ok(false) => Ok(chunk.part.data),
            Err(e) => Err(e.at_place(chunk.place.clone())),
        }
    }
}
