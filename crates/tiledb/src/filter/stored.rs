//! Tiles that another format has already compressed, put into the framing of TileDB without encoding them again.
//!
//! With byteshuffle and a compressor, alone or together, the bytes of a whole tile are the same as in other formats.
//! Only what precedes them differs: the lengths of chunk and parts, and the metadata of the shuffle, which the
//! compressor treats as data.

use super::compression::Compression;
use super::part::{Filtered, Work, len32};
use super::tile_type::TileType;
use crate::format::filter_pipeline::{Filter, FilterPipeline};
use hyperslab_codec::{Codec, Shuffle};
use hyperslab_core::Result;

/// The framing of tiles whose bytes are already compressed.
pub struct StoredTiles {
    codecs: Vec<Codec>,
    compression: Compression,
    shuffles: bool,
}

impl StoredTiles {
    /// The framing of tiles of one pipeline. `None` for pipelines with other filters.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) for options that a filter does not have.
    pub fn of(stored: &FilterPipeline, tile: &TileType) -> Result<Option<StoredTiles>> {
        let (shuffles, compressor) = match stored.filters.as_slice() {
            [Filter::Byteshuffle, compressor] => (true, compressor),
            [compressor] => (false, compressor),
            _ => return Ok(None),
        };
        let compression = Compression::new(compressor, tile.data_type, tile.cell_size)?;
        let Some((compression, codec)) =
            compression.and_then(|of| of.codec().cloned().map(|codec| (of, codec)))
        else {
            return Ok(None);
        };
        let shuffle: Codec = Shuffle { element: tile.data_type.size() }.into();
        let codecs = shuffles.then_some(shuffle).into_iter().chain([codec]).collect();
        Ok(Some(StoredTiles { codecs, compression, shuffles }))
    }

    /// The codecs of the bytes of a whole tile, in the order of writing.
    pub fn codecs(&self) -> &[Codec] {
        &self.codecs
    }

    /// Appends a tile of one chunk with these bytes, which decode to `len` bytes.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for tiles of 4 GiB and more.
    pub fn put(&self, stored: &[u8], len: usize, out: &mut Vec<u8>) -> Result<()> {
        let mut frame = Filtered::default();
        let parts = [u32::from(self.shuffles), 1].map(u32::to_le_bytes).concat();
        frame.metadata.extend_from_slice(&parts);
        if self.shuffles {
            // One part, with the length of the tile.
            let metadata = [1_u32.to_le_bytes(), len32(len)?].concat();
            self.compression.encode_part(&metadata, &mut frame, &mut Work::default())?;
        }
        frame.metadata.extend_from_slice(&len32(len)?);
        frame.metadata.extend_from_slice(&len32(stored.len())?);
        let data = frame.data.len().saturating_add(stored.len());
        out.extend_from_slice(&1_u64.to_le_bytes());
        for size in [len, data, frame.metadata.len()] {
            out.extend_from_slice(&len32(size)?);
        }
        out.extend_from_slice(&frame.metadata);
        out.extend_from_slice(&frame.data);
        out.extend_from_slice(stored);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Pipeline, Scratch};
    use super::*;
    use crate::format::data_type::DataType;
    use hyperslab_core::Decoder;

    #[test]
    fn stored_bytes_are_tiles_that_decode() {
        let tile: Vec<u8> = (0..100_000_u32).flat_map(|number| (number / 7).to_le_bytes()).collect();
        let tile_type = TileType::fixed(DataType::UInt32, 1, 22);
        for filters in [
            vec![Filter::Byteshuffle, Filter::Gzip { level: 4 }],
            vec![Filter::Gzip { level: -1 }],
            vec![Filter::Byteshuffle, Filter::Zstd { level: 3 }],
            vec![Filter::Lz4 { level: -1 }],
        ] {
            let pipeline = FilterPipeline { max_chunk_size: 65_536, filters };
            let stored = StoredTiles::of(&pipeline, &tile_type).unwrap().unwrap();
            let bytes = hyperslab_codec::encode(stored.codecs(), &tile, &mut hyperslab_codec::Scratch::new())
                .unwrap();
            let mut out = Vec::new();
            stored.put(&bytes, tile.len(), &mut out).unwrap();
            let mut back = vec![0; tile.len()];
            let pipeline = Pipeline::new(&pipeline, &tile_type).unwrap();
            pipeline.decode_to(Decoder::new("Tile", 0, &out), &mut back, &mut Scratch::new()).unwrap();
            assert!(back == tile);
        }
        for filters in [vec![], vec![Filter::ChecksumMd5], vec![Filter::Rle { level: -1 }]] {
            let pipeline = FilterPipeline { max_chunk_size: 65_536, filters };
            assert!(StoredTiles::of(&pipeline, &tile_type).unwrap().is_none());
        }
    }
}
