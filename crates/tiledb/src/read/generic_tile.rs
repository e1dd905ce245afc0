//! Generic tiles in files of a store.

use crate::array::within;
use crate::filter::{self, Pipeline, Scratch, TileType};
use crate::format::generic_tile::{Encryption, GenericTileHeader};
use crate::format::{Structure, decode_all};
use bytes::Bytes;
use hyperslab_core::store::{Key, Store};
use hyperslab_core::{Decoder, Error, Limit, Limits, Result};

/// Reads generic tiles.
#[derive(Clone, Copy)]
pub(crate) struct GenericTiles<'a> {
    pub(crate) store: &'a dyn Store,
    /// The key of encrypted arrays.
    pub(crate) key: Option<&'a filter::Key>,
    pub(crate) limits: &'a Limits,
}

impl GenericTiles<'_> {
    /// The structure in the generic tile at an offset in a file.
    pub(crate) fn structure<S: Structure>(&self, file: &Key, at: u64, context: &S::Context) -> Result<S> {
        let (_, body) = self.body(file, at)?;
        decode_all(Decoder::new(S::NAME, 0, &body), context).map_err(|e| e.in_object(file))
    }

    /// The header and the decoded body of the generic tile at an offset in a file.
    pub(crate) fn body(&self, file: &Key, at: u64) -> Result<(GenericTileHeader, Vec<u8>)> {
        self.read(file, at).map_err(|e| e.in_object(file))
    }

    /// The structure in a generic tile that is in memory.
    pub(crate) fn structure_in<S: Structure>(&self, tile: &[u8], context: &S::Context) -> Result<S> {
        let mut d = Decoder::new(GenericTileHeader::NAME, 0, tile);
        let header = GenericTileHeader::decode(&mut d, &())?;
        let body = self.unfiltered(&header, d.offset(), d.rest())?;
        decode_all(Decoder::new(S::NAME, 0, &body), context)
    }

    fn read(&self, file: &Key, at: u64) -> Result<(GenericTileHeader, Vec<u8>)> {
        let value = self.store.find(file)?.ok_or_else(absent)?;
        let size = value.size();
        if at >= size {
            return Err(Error::malformed(format!("a generic tile at byte {at} of a file of {size} bytes")));
        }
        // Most generic tiles are small, so one request is enough for them.
        let mut start: Bytes = value.part(at..size.min(at.saturating_add(AHEAD)))?;
        let beginning = Decoder::new(GenericTileHeader::NAME, at, &start);
        let header_len =
            GenericTileHeader::FIXED_LEN.saturating_add(GenericTileHeader::pipeline_len(beginning)?);
        if header_len > start.len() as u64 {
            self.check_len(header_len)?;
            start = value.part(at..size.min(at.saturating_add(header_len)))?;
        }
        let mut d = Decoder::new(GenericTileHeader::NAME, at, &start);
        let header = GenericTileHeader::decode(&mut d, &())?;
        let (begin, len) = (d.offset(), header.persisted_size);
        let end = begin.saturating_add(len);
        if end > size {
            return Err(Error::malformed(format!("a generic tile that ends at byte {end} of {size}"))
                .at(GenericTileHeader::NAME, at));
        }
        self.check_len(len)?;
        let rest = d.rest();
        let body = match usize::try_from(len).ok().and_then(|len| rest.get(..len)) {
            Some(stored) => self.unfiltered(&header, begin, stored)?,
            None => self.unfiltered(&header, begin, &value.part(begin..end)?)?,
        };
        Ok((header, body))
    }

    fn unfiltered(&self, header: &GenericTileHeader, at: u64, stored: &[u8]) -> Result<Vec<u8>> {
        let (found, expected) = (stored.len() as u64, header.persisted_size);
        if found != expected {
            return Err(Error::malformed(format!("a tile of {found} bytes, its header says {expected}"))
                .at(GenericTileHeader::NAME, at));
        }
        within("filters", header.filters.filters.len(), self.limits.filters)
            .map_err(|e| e.at(GenericTileHeader::NAME, at))?;
        let size = header.tile_size;
        self.check_len(size)?;
        self.limits.check_chunk(found, size)?;
        let tile_type = TileType {
            data_type: header.data_type,
            cell_size: header.cell_size,
            is_variable: false,
            version: header.version,
        };
        let mut pipeline = Pipeline::new(&header.filters, &tile_type)?;
        if header.encryption == Encryption::Aes256Gcm
            && let Some(key) = self.key
        {
            pipeline = pipeline.with_key(key);
        }
        let mut body = Vec::new();
        pipeline.decode(Decoder::new("Tile", at, stored), size, &mut body, &mut Scratch::new())?;
        match body.len() as u64 == size {
            true => Ok(body),
            false => Err(Error::malformed(format!(
                "a tile that decodes to {} bytes, its header says {size}",
                body.len()
            ))
            .at("Tile", at)),
        }
    }

    fn check_len(&self, len: u64) -> Result<()> {
        check_allocation(self.limits, len)
    }
}

/// Checks that a buffer may be allocated.
pub(crate) fn check_allocation(limits: &Limits, len: u64) -> Result<()> {
    match len <= limits.allocation {
        true => Ok(()),
        false => {
            let detail = format!("a tile of {len} bytes, at most {} are read", limits.allocation);
            Err(Error::limit_exceeded(Limit::Allocation, detail))
        }
    }
}

/// The error for a file that does not exist although others refer to it.
pub(crate) fn absent() -> Error {
    Error::malformed("the file is missing, although other files refer to it")
}

/// The number of bytes that are read of a file before the size of the tile is known.
const AHEAD: u64 = 16 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::data_type::DataType;
    use crate::format::delete_condition::DeleteCondition;
    use crate::format::filter_pipeline::{Filter, FilterPipeline};
    use hyperslab_core::Encoder;
    use hyperslab_core::store::MemoryStore;

    #[test]
    fn more_filters_than_limits_allow_are_refused_before_they_run() {
        let (store, limits) = (MemoryStore::new(), Limits::default());
        let tiles = GenericTiles { store: &store, key: None, limits: &limits };
        let refused = |count| {
            let header = GenericTileHeader {
                version: 22,
                persisted_size: 0,
                tile_size: 0,
                data_type: DataType::UInt8,
                cell_size: 1,
                encryption: Encryption::None,
                filters: FilterPipeline { max_chunk_size: 65_536, filters: vec![Filter::Xor; count] },
            };
            let mut e = Encoder::new();
            header.encode(&mut e, &()).unwrap();
            tiles.structure_in::<DeleteCondition>(&e.into_bytes(), &()).unwrap_err().to_string()
        };
        assert!(refused(1000).contains("1000 filters, expected at most 32"), "{}", refused(1000));
        assert!(!refused(32).contains("filters, expected at most"), "{}", refused(32));
    }
}
