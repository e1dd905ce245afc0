//! Dimensions.

use super::super::current_domain::integer;
use super::super::datatype::stored;
use super::super::dimensions::{FILTERS, TILE_EXTENT};
use super::super::directives::Directives;
use super::super::filter::{self, MAX_CHUNK};
use super::{Members, name};
use hyperslab_core::{Error, Result};
use hyperslab_model::{DimCoord, Directive, Extent, NodePath};
use hyperslab_tiledb::format::array_schema::Dimension;
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::filter_pipeline::FilterPipeline;
use hyperslab_tiledb::format::layout::ArrayType;

impl Members {
    pub(super) fn dimensions(&self, array_type: ArrayType, version: u32) -> Result<Vec<Dimension>> {
        let tiles = match array_type {
            ArrayType::Dense => self.tile_shape()?,
            ArrayType::Sparse => None,
        };
        let one = |(position, (path, own)): (usize, &(NodePath, DimCoord))| {
            let tile = tiles.and_then(|tiles| tiles.get(position)).copied();
            dimension(path.name(), own, tile, version).map_err(|error| error.in_object(path))
        };
        self.dimensions.iter().enumerate().map(one).collect()
    }

    /// The chunk shape of the attributes of a dense array, which is the tile shape of all of them. `None` if no
    /// attribute has chunks.
    fn tile_shape(&self) -> Result<Option<&[u64]>> {
        let mut found: Option<(&NodePath, &[u64])> = None;
        for (path, attribute) in &self.attributes {
            let along = attribute.shape.dims().iter().map(|dimension| dimension.coordinate.as_ref());
            if !along.eq(self.dimensions.iter().map(|(path, _)| Some(path))) {
                let names: Vec<&str> = self.dimensions.iter().map(|(path, _)| path.name()).collect();
                let detail = format!("shape {}, expected [{}]", attribute.shape, names.join(", "));
                return Err(Error::invalid(detail).in_object(path));
            }
            let Some(chunk) = &attribute.storage.chunk else { continue };
            match found {
                Some((other, tiles)) if tiles != chunk => {
                    let detail = format!("chunks of {chunk:?}, expected {tiles:?} as those of {other}");
                    return Err(Error::invalid(detail).in_object(path));
                }
                _ => found = Some((path, chunk)),
            }
        }
        Ok(found.map(|(_, tiles)| tiles))
    }
}

fn dimension(shown: &str, own: &DimCoord, chunk: Option<u64>, version: u32) -> Result<Dimension> {
    let storage = &own.storage;
    let mut said = Directives::of(storage);
    let named = said.word("datatype", DataType::ALL, DataType::name)?;
    // A dimension of which only the length is known counts from 0.
    let (data_type, cell_val_num) = match own.datatype.as_deref() {
        Some(datatype) => stored(datatype, &storage.element, named)?,
        None => (DataType::UInt64, CellValNum::ONE),
    };
    let max_chunk = said.int(MAX_CHUNK)?;
    let filters = match version < FILTERS && storage.filters.is_empty() && max_chunk.is_none() {
        true => FilterPipeline::default(),
        false => filter::pipeline(&storage.filters, max_chunk)?,
    };
    let domain = match &storage.domain {
        _ if cell_val_num.is_var() => Vec::new(),
        Some(domain) => domain.rows.to_vec(),
        None if own.datatype.is_none() => {
            let last = own.size.max().unwrap_or(1 << 63).max(1) - 1;
            [0_u64.to_le_bytes(), last.to_le_bytes()].concat()
        }
        None => widest(data_type, own.size).ok_or_else(|| {
            Error::invalid("no storage.domain, expected the least and the greatest coordinate")
        })?,
    };
    let has_none = match said.take(TILE_EXTENT) {
        None => false,
        Some(Directive::Null) => true,
        Some(other) => return Err(said.wrong(TILE_EXTENT, other, "null, or storage.tile in its place")),
    };
    let tile_extent = match (&storage.tile, chunk) {
        _ if has_none => None,
        (Some(tile), _) => Some(tile.rows.to_vec()),
        (None, Some(chunk)) => {
            // Extents are unsigned, even if coordinates are signed.
            let bytes = chunk.to_le_bytes().get(..data_type.size()).map(<[u8]>::to_vec);
            let fits =
                chunk.checked_shr(u32::try_from(8 * data_type.size()).unwrap_or(u32::MAX)).unwrap_or(0) == 0;
            Some(bytes.filter(|_| fits).ok_or_else(|| {
                Error::invalid(format!("chunks of {chunk}, which {} does not hold", data_type.name()))
            })?)
        }
        (None, None) => None,
    };
    let dimension = Dimension {
        name: name(&mut said, "name", shown)?,
        data_type,
        cell_val_num,
        filters,
        domain,
        tile_extent,
    };
    said.finish()?;
    Ok(dimension)
}

/// The domain of a dimension that does not state one: its length starting at 0, or otherwise all coordinates except for
/// the greatest integer, since TileDB cannot count all of them.
fn widest(data_type: DataType, size: Extent) -> Option<Vec<u8>> {
    let ends = |low: i128, high: i128| Some([integer(data_type, low)?, integer(data_type, high)?].concat());
    match (data_type, size) {
        (DataType::Float32, _) => Some([f32::MIN.to_le_bytes(), f32::MAX.to_le_bytes()].concat()),
        (DataType::Float64, _) => Some([f64::MIN.to_le_bytes(), f64::MAX.to_le_bytes()].concat()),
        (_, Extent::Fixed(length) | Extent::Limited { max: length, .. }) if length > 0 => {
            ends(0, i128::from(length) - 1)
        }
        _ => (1..=64).rev().find_map(|bits| {
            let greatest = (1_i128 << bits) - 1;
            ends(0, greatest - 1)
                .and_then(|_| ends(-greatest - 1, greatest - 1).or_else(|| ends(0, greatest - 1)))
        }),
    }
}
