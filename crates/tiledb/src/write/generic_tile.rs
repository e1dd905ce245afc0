//! Structures as generic tiles.

use crate::filter::{self, Pipeline, Scratch, TileType};
use crate::format::data_type::DataType;
use crate::format::filter_pipeline::{Filter, FilterPipeline};
use crate::format::generic_tile::{Encryption, GenericTileHeader};
use crate::format::{Structure, encode_all};
use hyperslab_core::Result;

/// Encodes generic tiles, of a format version and encrypted if there is a key.
#[derive(Clone, Copy)]
pub(crate) struct GenericTileEncoder<'a> {
    pub(crate) version: u32,
    pub(crate) key: Option<&'a filter::Key>,
}

impl GenericTileEncoder<'_> {
    /// The generic tile with a structure, as the library writes it: compressed by zlib at level 1.
    pub(crate) fn encode<S: Structure>(&self, structure: &S, context: &S::Context) -> Result<Vec<u8>> {
        self.of_body(&encode_all(structure, context)?)
    }

    fn of_body(&self, body: &[u8]) -> Result<Vec<u8>> {
        let plain = FilterPipeline { max_chunk_size: 65_536, filters: vec![Filter::Gzip { level: 1 }] };
        let (filters, encryption) = match self.key {
            Some(_) => (plain.encrypted(), Encryption::Aes256Gcm),
            None => (plain, Encryption::None),
        };
        let (data_type, cell_size) = (DataType::Char, 1);
        let tile_type = TileType { data_type, cell_size, is_variable: false, version: self.version };
        let mut pipeline = Pipeline::new(&filters, &tile_type)?;
        if let Some(key) = self.key {
            pipeline = pipeline.with_key(key);
        }
        let mut tile = Vec::new();
        pipeline.encode(body, &mut tile, &mut Scratch::new())?;
        let header = GenericTileHeader {
            version: self.version,
            persisted_size: tile.len() as u64,
            tile_size: body.len() as u64,
            data_type,
            cell_size,
            encryption,
            filters,
        };
        let mut bytes = encode_all(&header, &())?;
        bytes.append(&mut tile);
        Ok(bytes)
    }
}
