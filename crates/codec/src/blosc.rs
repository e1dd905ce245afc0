//! Blosc 1: shuffled blocks of compressed streams; filter id 32001 in the HDF5 registry.
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

/// A Blosc 1 chunk: shuffled blocks of compressed streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Blosc {
    /// The compressor, for encoding only: a chunk names its own.
    pub codec: BloscCodec,
    /// The compression level, 0 (copy) to 9, for encoding only.
    pub level: u8,
    /// The shuffle of blocks before compression, for encoding only.
    pub shuffle: BloscShuffle,
    /// The size of an element in bytes, for encoding only. Above 255 it counts as 1.
    pub element: usize,
    /// The size of a block in bytes, for encoding only. 0 chooses a size as Blosc does.
    pub block: u32,
}

/// The compressor of the streams of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BloscCodec {
    /// Blosc's own LZ77.
    BloscLz,
    /// LZ4 blocks.
    Lz4,
    /// LZ4 blocks, with a longer search for matches. Encoded as [`Lz4`](BloscCodec::Lz4), which has the same format.
    Lz4Hc,
    /// Snappy blocks, in Blosc 1 only.
    Snappy,
    /// Zlib streams.
    Zlib,
    /// Zstandard frames.
    Zstd,
}

/// The shuffle of a block before compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BloscShuffle {
    /// No shuffle.
    None,
    /// Byte shuffle: groups the bytes of equal significance.
    Byte,
    /// Bit shuffle: groups the bits of equal significance.
    Bit,
}

impl Transform for Blosc {
    fn decoded_sizes(&self, _: usize, max: usize) -> Option<(usize, usize)> {
        Some((0, max.checked_sub(chunk::HEADER)?.saturating_mul(zstd::MAX_RATIO)))
    }

    fn declared_size(&self, stored: &[u8]) -> Result<Option<usize>> {
        Chunk::open(stored).map(|chunk| Some(chunk.size))
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
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
        // The header has one byte for the size; Blosc itself treats larger elements as bytes.
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

    /// The name in Blosc, which file formats use too.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(codec, _)| *codec == self).map_or("", |(_, name)| name)
    }

    /// The compressor with this name.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if Blosc has no compressor with
    /// this name.
    pub fn of_name(name: &str) -> Result<BloscCodec> {
        let found = Self::NAMES.iter().find(|(_, known)| *known == name).map(|(codec, _)| *codec);
        found.ok_or_else(|| {
            Error::invalid(format!(
                "Blosc compressor {name:?}, expected blosclz, lz4, lz4hc, snappy, zlib or zstd"
            ))
        })
    }
}

impl BloscShuffle {
    /// The name in the vocabulary.
    pub(crate) fn name(self) -> &'static str {
        match self {
            BloscShuffle::None => "none",
            BloscShuffle::Byte => "byte",
            BloscShuffle::Bit => "bit",
        }
    }

    /// The shuffle with this name, for elements of `element` bytes.
    pub(crate) fn of_name(name: &str, element: usize) -> Result<BloscShuffle> {
        match name {
            "none" => Ok(BloscShuffle::None),
            "byte" => Ok(BloscShuffle::Byte),
            "bit" => Ok(BloscShuffle::Bit),
            "auto" if element == 1 => Ok(BloscShuffle::Bit),
            "auto" => Ok(BloscShuffle::Byte),
            _ => Err(Error::invalid(format!("Blosc shuffle {name:?}, expected none, byte, bit or auto"))),
        }
    }
}

/// The largest size of an element that the header of a chunk can hold.
const MAX_ELEMENT: usize = 255;
