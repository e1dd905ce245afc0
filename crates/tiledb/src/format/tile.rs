//! Tile: the framing of filtered chunks.
//!
//! Spec: TileDB format_spec, tile.md "Main Structure" and "Chunk Format"

use super::Structure;
use hyperslab_core::{Decoder, Encoder, Result};

/// The header of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHeader {
    /// The size in bytes of the chunk before all filters. It may be 0.
    pub original_len: u32,
    /// The size in bytes of the filtered chunk, without the metadata.
    pub filtered_len: u32,
    /// The size in bytes of the metadata of filters.
    pub metadata_len: u32,
}

/// A filtered chunk within the bytes of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// The size in bytes of the chunk before all filters.
    pub original_len: u32,
    /// The metadata of filters; its content follows from the pipeline.
    pub metadata: &'a [u8],
    /// The filtered bytes.
    pub data: &'a [u8],
}

impl Structure for ChunkHeader {
    type Context = ();
    const NAME: &'static str = "Chunk";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let original_len = d.u32()?;
        let filtered_len = d.u32()?;
        let metadata_len = d.u32()?;
        Ok(ChunkHeader { original_len, filtered_len, metadata_len })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        e.u32(self.original_len);
        e.u32(self.filtered_len);
        e.u32(self.metadata_len);
        Ok(())
    }
}

impl<'a> Chunk<'a> {
    /// Takes a chunk.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) if it ends after the end of the bytes.
    pub fn decode(d: &mut Decoder<'a>) -> Result<Self> {
        let ChunkHeader { original_len, filtered_len, metadata_len } = ChunkHeader::decode(d, &())?;
        let len = d.len_of(metadata_len.into())?;
        let metadata = d.take(len)?;
        let len = d.len_of(filtered_len.into())?;
        let data = d.take(len)?;
        Ok(Chunk { original_len, metadata, data })
    }

    /// Appends the chunk.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if a part has more than `u32::MAX` bytes.
    pub fn encode(&self, e: &mut Encoder) -> Result<()> {
        e.u32(self.original_len);
        e.len_as(4, self.data.len())?;
        e.len_as(4, self.metadata.len())?;
        e.bytes(self.metadata);
        e.bytes(self.data);
        Ok(())
    }
}

/// Takes the chunks of a tile. There may be none, as in the tile of offsets of strings whose filter stores the lengths.
///
/// # Errors
/// [`Malformed`](hyperslab_core::ErrorKind::Malformed) if a chunk ends after the end of the bytes.
pub fn decode<'a>(d: &mut Decoder<'a>) -> Result<Vec<Chunk<'a>>> {
    let count = d.u64()?;
    let count = d.count(count, CHUNK_HEADER_LEN)?;
    (0..count).map(|_| Chunk::decode(d)).collect()
}

/// Appends a tile of these chunks.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if a part of a chunk has more than `u32::MAX` bytes.
pub fn encode(chunks: &[Chunk<'_>], e: &mut Encoder) -> Result<()> {
    e.u64(chunks.len() as u64);
    chunks.iter().try_for_each(|chunk| chunk.encode(e))
}

const CHUNK_HEADER_LEN: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};

    structure_tests!(ChunkHeader, context: (),
        golden: ["28000000 1d000000 10000000"],
        values: [ChunkHeader { original_len: 0, filtered_len: 0, metadata_len: 0 }]);

    #[test]
    fn tiles_round_trip_and_every_truncation_fails() {
        for golden in [
            include_str!("../../tests/golden/tile_gzip.hex"),
            include_str!("../../tests/golden/tile_plain.hex"),
            "0000000000000000 # without chunks",
            "0200000000000000 02000000 02000000 00000000 abcd 00000000 00000000 00000000 # the last chunk is empty",
        ] {
            let bytes = hex(golden);
            let mut d = Decoder::new("Tile", 0, &bytes);
            let chunks = decode(&mut d).unwrap();
            d.finish().unwrap();
            let mut e = Encoder::new();
            encode(&chunks, &mut e).unwrap();
            assert_eq!(e.as_slice(), bytes);
            for end in 0..bytes.len() {
                assert!(decode(&mut Decoder::new("Tile", 0, &bytes[..end])).is_err(), "{end}");
            }
        }
    }

    #[test]
    fn rejects_more_chunks_than_fit_before_it_allocates() {
        let bytes = hex("ffffffffffffffff 00000000 00000000 00000000");
        let e = decode(&mut Decoder::new("Tile", 0, &bytes)).unwrap_err();
        assert_eq!(e.detail(), "18446744073709551615 items do not fit in 12 bytes");
    }
}
