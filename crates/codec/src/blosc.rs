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
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int, named};
use crate::zstd;
use chunk::Chunk;
use hyperslab_core::{Error, Result};
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

impl Vocabulary for Blosc {
    const NAMES: &'static [&'static str] = &["blosc"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        let size = given.value("bytes").map_or(Ok(1), |_| given.int("bytes"))?;
        // The format has one byte for it, and Blosc itself takes larger elements for bytes.
        let element = if size > MAX_ELEMENT { 1 } else { size };
        Ok(Blosc {
            codec: BloscCodec::of_name(given.word("codec")?)?,
            level: given.int("level")?,
            shuffle: BloscShuffle::of_name(given.word("shuffle")?, element)?,
            element,
            block: given.int("block")?,
        })
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named(
            "blosc",
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

impl BloscCodec {
    const NAMES: [(BloscCodec, &'static str); 6] = [
        (BloscCodec::BloscLz, "blosclz"),
        (BloscCodec::Lz4, "lz4"),
        (BloscCodec::Lz4Hc, "lz4hc"),
        (BloscCodec::Snappy, "snappy"),
        (BloscCodec::Zlib, "zlib"),
        (BloscCodec::Zstd, "zstd"),
    ];

    /// The name in Blosc, which formats use too.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(codec, _)| *codec == self).map_or("", |(_, name)| name)
    }

    /// The compressor of a name.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if Blosc has none of this name.
    pub fn of_name(name: &str) -> Result<BloscCodec> {
        let found = Self::NAMES.iter().find(|(_, known)| *known == name).map(|(codec, _)| *codec);
        found.ok_or_else(|| Error::invalid(format!("{name:?}, expected a compressor of Blosc")))
    }
}

impl BloscShuffle {
    /// The word of the vocabulary.
    pub(crate) fn name(self) -> &'static str {
        match self {
            BloscShuffle::None => "none",
            BloscShuffle::Byte => "byte",
            BloscShuffle::Bit => "bit",
        }
    }

    /// The shuffle of a word for elements of so many bytes.
    pub(crate) fn of_name(name: &str, element: usize) -> Result<BloscShuffle> {
        match name {
            "none" => Ok(BloscShuffle::None),
            "byte" => Ok(BloscShuffle::Byte),
            "bit" => Ok(BloscShuffle::Bit),
            "auto" if element == 1 => Ok(BloscShuffle::Bit),
            "auto" => Ok(BloscShuffle::Byte),
            _ => Err(Error::invalid(format!("{name:?}, expected a shuffle of Blosc"))),
        }
    }
}

/// The largest size of an element that a chunk can state.
const MAX_ELEMENT: usize = 255;
