//! Blosc 2: chunks in a frame, plain or divided into blocks of several dimensions; filter id 32026 in the HDF5
//! registry.
//!
//! Spec: Blosc2 Contiguous Frame Format, B2ND Metalayer Format

mod array;
mod frame;

use crate::blosc::chunk::{Chunk, repeat};
use crate::blosc::write::Writer;
use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int, named};
use crate::{BloscCodec, BloscShuffle};
use array::Array;
use frame::{Frame, FrameChunk};
use hyperslab_core::{Error, Result};

/// A Blosc 2 frame of chunks, plain or divided into blocks of several dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Blosc2 {
    /// The compressor, for encoding only: a chunk names its own.
    pub codec: BloscCodec,
    /// The compression level, 0 (copy) to 9, for encoding only.
    pub level: u8,
    /// The shuffle of blocks before compression, for encoding only.
    pub shuffle: BloscShuffle,
    /// The size of an element in bytes, for encoding only.
    pub element: usize,
    /// The size of a block in bytes, for encoding only. 0 chooses a size.
    pub block: u32,
    /// The shape of a chunk in elements, for encoding only. With two or more dimensions, blocks divide the chunk
    /// along all of them.
    pub shape: Vec<u32>,
}

impl Transform for Blosc2 {
    /// The size of a chunk of one repeated value does not depend on the number of elements.
    fn decoded_sizes(&self, _: usize, _: usize) -> Option<(usize, usize)> {
        Some((0, usize::MAX))
    }

    fn declared_size(&self, stored: &[u8]) -> Result<Option<usize>> {
        let size = match Frame::open(stored)? {
            None => Chunk::open(stored)?.size,
            Some(frame) => match Array::open(&frame)? {
                None => frame.size,
                Some(array) => array.size,
            },
        };
        Ok(Some(size))
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        // Blocks at the edges are filled up, along each dimension to less than twice their extent.
        let dimensions = u32::try_from(self.shape.len()).unwrap_or(u32::MAX);
        let filled = match self.shape.len() {
            0 | 1 => raw,
            _ => raw.saturating_mul(2_usize.checked_pow(dimensions).unwrap_or(usize::MAX)),
        };
        filled.saturating_add(1024)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], coders: &mut Coders) -> Result<usize> {
        let Some(frame) = Frame::open(stored)? else {
            let chunk = Chunk::open(stored)?;
            chunk.decode(room(out, chunk.size)?, coders)?;
            return Ok(chunk.size);
        };
        let Some(array) = Array::open(&frame)? else {
            let out = room(out, frame.size)?;
            let places = frame.places(out.len(), coders)?;
            for (piece, place) in out.chunks_mut(frame.chunk.max(1)).zip(places) {
                match frame.chunk_at(place)? {
                    FrameChunk::Repeated(value) => repeat(value, piece),
                    FrameChunk::Stored(chunk) if chunk.size == piece.len() => chunk.decode(piece, coders)?,
                    FrameChunk::Stored(chunk) => {
                        return Err(Error::malformed(format!(
                            "Blosc chunk of {} bytes in a frame, expected {}",
                            chunk.size,
                            piece.len()
                        )));
                    }
                }
            }
            return Ok(frame.size);
        };
        array.decode(&frame, room(out, array.size)?, coders)?;
        Ok(array.size)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, coders: &mut Coders) -> Result<()> {
        out.clear();
        let Blosc2 { codec, level, shuffle, element, block, ref shape } = *self;
        let mut writer = Writer { second: true, codec, level, shuffle, element, block };
        let layout = match shape.len() {
            0 | 1 => None,
            _ => Some(Array::for_chunk(shape, element, raw.len())?),
        };
        let cut = layout.as_ref().map(|array| array.cut(raw)).transpose()?;
        if let Some(array) = &layout {
            writer.block = u32::try_from(array.block_size()).unwrap_or(u32::MAX);
        }
        frame::append(cut.as_deref().unwrap_or(raw), &writer, layout.as_ref(), out, coders)
    }
}

/// The shape of a chunk is not a parameter: it is the shape of the array's chunks.
impl Vocabulary for Blosc2 {
    const NAMES: &'static [&'static str] = &["blosc2"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        let element = given.value("bytes").map_or(Ok(1), |_| given.int("bytes"))?;
        Ok(Blosc2 {
            codec: BloscCodec::of_name(given.word("codec")?)?,
            level: given.int("level")?,
            shuffle: BloscShuffle::of_name(given.word("shuffle")?, element)?,
            element,
            block: given.int("block")?,
            shape: Vec::new(),
        })
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named(
            "blosc2",
            [
                ("codec", self.codec.name().into()),
                ("level", int(self.level)),
                ("shuffle", self.shuffle.name().into()),
                ("block", int(self.block)),
                ("bytes", int(self.element)),
            ],
        )
    }
}
