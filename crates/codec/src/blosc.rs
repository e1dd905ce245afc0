//! Blosc 1: shuffled blocks of compressed streams; id 32001 in the HDF5 registry.
//!
//! Spec: Blosc Chunk Format

pub(crate) mod blosclz;
pub(crate) mod chunk;
mod filter;
mod stream;
pub(crate) mod write;

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::zstd;
use chunk::Chunk;
use hyperslab_core::Result;
use write::Writer;

/// Shuffled blocks of compressed streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Blosc {
    /// What compresses streams, only for encoding: chunks state theirs.
    pub codec: BloscCodec,
    /// 0, which copies, to 9, only for encoding.
    pub level: u8,
    /// What blocks pass before they are compressed, only for encoding.
    pub shuffle: BloscShuffle,
    /// Bytes of an element, only for encoding; above 255 they count as 1.
    pub element: usize,
    /// Bytes of a block, only for encoding; 0 for what Blosc finds best.
    pub block: u32,
}

/// What compresses the streams of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BloscCodec {
    /// Blosc's own LZ77.
    BloscLz,
    /// LZ4 blocks.
    Lz4,
    /// LZ4 blocks, searched for longer; encoded as [`Lz4`](BloscCodec::Lz4), which are of the same format.
    Lz4Hc,
    /// Snappy blocks, in Blosc 1 alone.
    Snappy,
    /// Zlib streams.
    Zlib,
    /// Zstandard frames.
    Zstd,
}

/// What the bytes of a block pass before they are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BloscShuffle {
    /// Nothing.
    None,
    /// Bytes of equal significance together.
    Byte,
    /// Bits of equal significance together.
    Bit,
}

impl Transform for Blosc {
    fn decoded_sizes(&self, _: usize, most: usize) -> Option<(usize, usize)> {
        Some((0, most.checked_sub(chunk::HEADER)?.saturating_mul(zstd::MAX_RATIO)))
    }

    fn declared_size(&self, stored: &[u8]) -> Result<Option<usize>> {
        Chunk::open(stored).map(|chunk| Some(chunk.size))
    }

    fn most_encoded(&self, raw: usize) -> usize {
        raw.saturating_add(chunk::HEADER)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], coders: &mut Coders) -> Result<usize> {
        let chunk = Chunk::open(stored)?;
        chunk.decode(room(out, chunk.size)?, coders)?;
        Ok(chunk.size)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, coders: &mut Coders) -> Result<()> {
        out.clear();
        let Blosc { codec, level, shuffle, element, block } = *self;
        let writer = Writer { second: false, codec, level, shuffle, element, block };
        writer.append(raw, out, coders)
    }
}
