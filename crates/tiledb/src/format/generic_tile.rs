//! Generic tile: a tile preceded by a header with everything that is needed to decode it.
//!
//! Spec: TileDB format_spec, generic_tile.md

use super::data_type::DataType;
use super::filter_pipeline::FilterPipeline;
use super::{Structure, version};
use hyperslab_core::{Decoder, Encoder, Result};

/// The header of a generic tile. [`persisted_size`](Self::persisted_size) bytes of a [tile](super::tile) follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenericTileHeader {
    /// The format version of the writer. The content of the tile may have an older version.
    pub version: u32,
    /// The size in bytes of the stored tile.
    pub persisted_size: u64,
    /// The size in bytes of the decoded tile.
    pub tile_size: u64,
    /// The datatype that filters see: [`DataType::Char`], regardless of the content of the tile.
    pub data_type: DataType,
    /// The size in bytes of a cell: 1.
    pub cell_size: u64,
    /// How the tile is encrypted.
    pub encryption: Encryption,
    /// The filters. Those of an encrypted tile end with the encryption filter, contrary to the specification.
    pub filters: FilterPipeline,
}

/// How a tile is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encryption {
    /// Not encrypted.
    None = 0,
    /// AES with a key of 256 bits, in Galois/Counter Mode.
    Aes256Gcm = 1,
}

impl GenericTileHeader {
    /// The size in bytes of a header without its pipeline.
    pub const FIXED_LEN: u64 = 34;

    /// The size in bytes of the pipeline in a header, of which `d` has at least [`FIXED_LEN`](Self::FIXED_LEN) bytes.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) if bytes are missing.
    pub fn pipeline_len(mut d: Decoder<'_>) -> Result<u64> {
        d.reserved(30)?;
        d.u32().map(u64::from)
    }
}

impl Structure for GenericTileHeader {
    type Context = ();
    const NAME: &'static str = "Generic Tile";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let version = version::decode(d)?;
        let persisted_size = d.u64()?;
        let tile_size = d.u64()?;
        let data_type = DataType::decode(d, &())?;
        let cell_size = d.u64()?;
        let encryption = Encryption::decode(d)?;
        let pipeline_size = u64::from(d.u32()?);
        let pipeline_size = d.len_of(pipeline_size)?;
        let mut pipeline = d.sub(FilterPipeline::NAME, pipeline_size)?;
        let filters = FilterPipeline::decode(&mut pipeline, &version)?;
        pipeline.finish()?;
        Ok(GenericTileHeader {
            version,
            persisted_size,
            tile_size,
            data_type,
            cell_size,
            encryption,
            filters,
        })
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        version::check(self.version)?;
        e.u32(self.version);
        e.u64(self.persisted_size);
        e.u64(self.tile_size);
        self.data_type.encode(e, &())?;
        e.u64(self.cell_size);
        e.u8(self.encryption as u8);
        let pipeline_size = e.reserve(4);
        let start = e.len();
        self.filters.encode(e, &self.version)?;
        let size = (e.len() - start) as u64;
        e.patch(pipeline_size, size)
    }
}

impl Encryption {
    fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let at = d.clone();
        match d.u8()? {
            0 => Ok(Encryption::None),
            1 => Ok(Encryption::Aes256Gcm),
            other => Err(at.unsupported(format!("encryption type {other}, expected 0 or 1"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};

    const GOLDEN: &str = include_str!("../../tests/golden/generic_tile_header.hex");

    structure_tests!(GenericTileHeader, context: (),
    golden: [GOLDEN],
    values: [GenericTileHeader {
        version: 1,
        persisted_size: 20,
        tile_size: 8,
        data_type: DataType::Char,
        cell_size: 1,
        encryption: Encryption::Aes256Gcm,
        filters: FilterPipeline::default(),
    }]);

    #[test]
    fn the_length_of_the_pipeline_is_known_before_the_whole_header() {
        let bytes = hex(GOLDEN);
        let fixed = usize::try_from(GenericTileHeader::FIXED_LEN).unwrap();
        let len = GenericTileHeader::pipeline_len(Decoder::new("t", 0, &bytes[..fixed])).unwrap();
        assert_eq!(GenericTileHeader::FIXED_LEN + len, bytes.len() as u64);
    }

    #[test]
    fn rejects_versions_of_the_future_and_bytes_behind_the_pipeline() {
        let mut bytes = hex(GOLDEN);
        bytes[0] = 24;
        let e = GenericTileHeader::decode(&mut Decoder::new("Generic Tile", 0, &bytes), &()).unwrap_err();
        assert_eq!(e.to_string(), "unsupported Generic Tile at byte 0x0: version 24, expected 1 to 23");
        let mut bytes = hex(GOLDEN);
        bytes[30] += 1;
        bytes.push(0);
        let e = GenericTileHeader::decode(&mut Decoder::new("Generic Tile", 0, &bytes), &()).unwrap_err();
        assert!(e.to_string().contains("1 bytes after the end"), "{e}");
    }
}
