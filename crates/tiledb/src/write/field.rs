//! Encodes the cells of a field to the bytes of a tile.

use crate::array::fragment::{FieldType, FragmentField, field_type};
use crate::filter::{self, Pipeline, Scratch, StoredTiles, TileType};
use crate::format::array_schema::ArraySchema;
use crate::format::data_type::{CellValNum, DataType};
use crate::format::filter_pipeline::FilterPipeline;
use crate::summary::Noting;
pub use crate::summary::{TileCells, TileSummary};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// Encodes the tiles of a field. It can be shared between threads.
pub struct FieldEncoder {
    fixed: Pipeline,
    var: Option<Pipeline>,
    validity: Option<Pipeline>,
    noting: Noting,
    data_type: DataType,
}

/// What is known about an encoded tile, whose bytes are those of up to three files one after another: values or
/// offsets, values of variable size, validities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedTile {
    /// The sizes in bytes of the three parts.
    pub sizes: [u64; 3],
    /// The size in bytes of decoded values of variable size.
    pub var_size: u64,
    /// The summary of the cells.
    pub summary: TileSummary,
}

impl FieldEncoder {
    /// The encoder of a field of a schema, for fragments of a format version.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if there is no such field;
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) if its filters do not fit its datatype.
    pub fn new(
        schema: &ArraySchema,
        field: FragmentField,
        version: u32,
        key: Option<&filter::Key>,
    ) -> Result<FieldEncoder> {
        let FieldType { data_type, cell_val_num, nullable, filters } = field_type(schema, field)?;
        let pipeline = |stored: &FilterPipeline, tile: TileType| match key {
            Some(key) => Pipeline::new(&stored.encrypted(), &tile).map(|pipeline| pipeline.with_key(key)),
            None => Pipeline::new(stored, &tile),
        };
        let (fixed, var) = match cell_val_num {
            CellValNum::Fixed(count) => {
                (pipeline(filters, TileType::fixed(data_type, count, version))?, None)
            }
            CellValNum::Var => (
                pipeline(&schema.offsets_filters, TileType::offsets(version))?,
                Some(pipeline(filters, TileType::variable(data_type, version))?),
            ),
        };
        let validity = nullable.then(|| pipeline(&schema.validity_filters, TileType::validity(version)));
        let noting = Noting::of(schema, field);
        Ok(FieldEncoder { fixed, var, validity: validity.transpose()?, noting, data_type })
    }

    /// The summary of cells.
    pub fn summary(&self, cells: &TileCells<'_>) -> TileSummary {
        self.noting.summary(cells)
    }

    /// The framing of tiles that another format has compressed in the same way as this field. `None` if there is none.
    ///
    /// # Errors
    /// As [`FieldEncoder::new`].
    pub fn stored_tiles(
        schema: &ArraySchema,
        field: FragmentField,
        version: u32,
    ) -> Result<Option<StoredTiles>> {
        let FieldType { data_type, cell_val_num, nullable, filters } = field_type(schema, field)?;
        match cell_val_num {
            CellValNum::Fixed(count) if !nullable => {
                StoredTiles::of(filters, &TileType::fixed(data_type, count, version))
            }
            _ => Ok(None),
        }
    }

    /// Appends the encoded tile to `out`. `summary` is that of the cells that were written, without those that only pad
    /// the tile.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for values that a filter cannot encode, and for
    /// cells that do not fit the field.
    pub fn encode(
        &self,
        cells: &TileCells<'_>,
        summary: TileSummary,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<EncodedTile> {
        let start = out.len();
        let len = |out: &Vec<u8>, start: usize| out.len().saturating_sub(start) as u64;
        let mut tile = EncodedTile { summary, ..EncodedTile::default() };
        match &self.var {
            None => self.fixed.encode(cells.values, out, scratch)?,
            Some(var) => {
                match var.rebuilds_offsets() {
                    // A tile without chunks.
                    true => out.extend_from_slice(&0_u64.to_le_bytes()),
                    false => {
                        let offsets: Vec<u8> =
                            cells.offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
                        self.fixed.encode(&offsets, out, scratch)?;
                    }
                }
                tile.var_size = cells.values.len() as u64;
            }
        }
        tile.sizes[0] = len(out, start);
        if let Some(var) = &self.var {
            let start = out.len();
            let size = self.data_type.size() as u64;
            if cells.offsets.iter().chain([&tile.var_size]).any(|offset| !offset.is_multiple_of(size)) {
                return Err(Error::invalid(format!("cells that are not of whole values of {size} bytes")));
            }
            var.encode_variable(cells.values, cells.offsets, out, scratch)?;
            tile.sizes[1] = len(out, start);
        }
        if let Some(validity) = &self.validity {
            let start = out.len();
            validity.encode(cells.validity, out, scratch)?;
            tile.sizes[2] = len(out, start);
        }
        Ok(tile)
    }
}

impl EncodedTile {
    /// Appends what is known about the tile to its bytes, so that both are passed on together.
    pub fn put_behind(&self, bytes: &mut Vec<u8>) {
        let mut e = Encoder::new();
        self.sizes.iter().chain([&self.var_size]).for_each(|size| e.u64(*size));
        self.summary.put(&mut e);
        let behind = e.into_bytes();
        bytes.extend_from_slice(&behind);
        bytes.extend_from_slice(&(behind.len() as u64).to_le_bytes());
    }

    /// The bytes of a tile, and what [was appended](Self::put_behind) to them.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if nothing was.
    pub fn apart(bytes: &[u8]) -> Result<(&[u8], EncodedTile)> {
        let none = || Error::invalid("a tile without what is known about it");
        let (before, len) = bytes.split_last_chunk::<8>().ok_or_else(none)?;
        let len = usize::try_from(u64::from_le_bytes(*len)).ok();
        let at = len.and_then(|len| before.len().checked_sub(len)).ok_or_else(none)?;
        let (tile, behind) = before.split_at_checked(at).ok_or_else(none)?;
        let mut d = Decoder::new("Tile", 0, behind);
        let sizes = [d.u64()?, d.u64()?, d.u64()?];
        let var_size = d.u64()?;
        let summary = TileSummary::take(&mut d)?;
        d.finish()?;
        match sizes.iter().try_fold(0_u64, |sum, size| sum.checked_add(*size)) {
            Some(size) if size == tile.len() as u64 => Ok((tile, EncodedTile { sizes, var_size, summary })),
            _ => Err(none()),
        }
    }
}
