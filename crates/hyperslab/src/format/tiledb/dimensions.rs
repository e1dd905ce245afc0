//! Dimensions: their lengths, domains and coordinates.

use super::array::Positions;
use super::datatype::{data_type, directive};
use super::objects::{ArrayObject, Field};
use super::storage::untold_name;
use super::{TILEDB, filter};
use crate::source::Counted;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::{Error, Result};
use hyperslab_model::{
    Attributes, Datatype, DimCoord, Dimension, Directive, Extent, NodePath, Shape, Storage, Values,
};
use hyperslab_tiledb::format::array_schema::Dimension as StoredDimension;
use hyperslab_tiledb::format::data_type::CellValNum;
use hyperslab_tiledb::format::layout::ArrayType;
use std::sync::Arc;

impl ArrayObject {
    pub(super) fn is_sparse(&self) -> bool {
        self.array.schema().array_type == ArrayType::Sparse
    }

    /// The dimension at a position of the schema.
    pub(super) fn dimension(&self, position: usize) -> Result<&StoredDimension> {
        let found = self.array.dimensions().get(position);
        found.ok_or_else(|| Error::invalid(format!("dimension {position}, which the array does not have")))
    }

    /// The length of a dimension: in a dense array that of the shown part, in a sparse array that of the domain.
    pub(super) fn extent(&self, position: usize) -> Result<Extent> {
        if !self.is_sparse() {
            let positions = self.positions()?;
            return Ok(positions.extents.get(position).copied().unwrap_or(Extent::Uncounted));
        }
        let dimension = self.dimension(position)?;
        let (datatype, _) = data_type(dimension.data_type, dimension.cell_val_num);
        let ends = match datatype {
            Datatype::Int { .. } | Datatype::Datetime(_) => Counted::ends(&datatype, &domain(dimension)),
            _ => None,
        };
        let length = ends.and_then(|(low, high)| u64::try_from(high.checked_sub(low)?.checked_add(1)?).ok());
        Ok(length.map_or(Extent::Uncounted, Extent::Fixed))
    }

    /// The shape of attributes: all dimensions, with their paths.
    pub(super) fn shape(&self, path: &NodePath) -> Result<Shape> {
        let along = |position: usize| {
            let coordinate = self.name(Field::Dimension(position)).map(|name| path.child(name));
            Ok(Dimension { extent: self.extent(position)?, coordinate })
        };
        Ok(Shape::Dims((0..self.array.dimensions().len()).map(along).collect::<Result<_>>()?))
    }

    /// A dimension without its coordinates.
    pub(super) fn dimcoord(&self, position: usize, attributes: Attributes) -> Result<DimCoord> {
        let dimension = self.dimension(position)?;
        let (datatype, element) = data_type(dimension.data_type, dimension.cell_val_num);
        let mut storage = Storage { element, ..Storage::default() };
        if !dimension.domain.is_empty() {
            storage.domain = Some(domain(dimension));
        }
        storage.filters = filter::filters(&dimension.filters);
        let mut native = Vec::new();
        if self.array.schema().version >= FILTERS {
            native.extend(filter::max_chunk(&dimension.filters));
        }
        if let Some(name) = directive(dimension.data_type) {
            native.push(("datatype".to_owned(), Directive::Text(name.to_owned())));
        }
        match &dimension.tile_extent {
            // The chunks of attributes have the shape of tiles.
            Some(tile) if !self.is_sparse() && self.has_whole_chunks(position, tile)? => {}
            Some(tile) => storage.tile = Some(Values { rows: tile.clone().into(), heap: Heap::default() }),
            None if self.is_sparse() => {}
            None => native.push((TILE_EXTENT.to_owned(), Directive::Null)),
        }
        native.extend(untold_name("name", self.name(Field::Dimension(position)), &dimension.name));
        if !native.is_empty() {
            storage.native.push((TILEDB, native));
        }
        Ok(DimCoord {
            size: self.extent(position)?,
            datatype: Some(Arc::new(datatype)),
            attributes,
            storage: storage.into(),
            value: None,
        })
    }

    /// Whether chunks of attributes are as long as a tile: no chunk of an array is longer than the array.
    fn has_whole_chunks(&self, position: usize, tile: &[u8]) -> Result<bool> {
        let Extent::Fixed(length) = self.extent(position)? else { return Ok(true) };
        Ok(integer(tile).is_some_and(|tile| tile <= length.max(1)))
    }

    /// The coordinates of a dimension of a dense array, which its domain determines.
    pub(super) fn coordinates(&self, position: usize) -> Result<(Arc<Datatype>, Counted, u64)> {
        let dimension = self.dimension(position)?;
        let (datatype, _) = data_type(dimension.data_type, dimension.cell_val_num);
        let positions: Arc<Positions> = self.positions()?;
        let (first, count) = (positions.first.get(position), positions.counts.get(position));
        let (Some(first), Some(count), Some((low, _))) =
            (first, count, Counted::ends(&datatype, &domain(dimension)))
        else {
            return Err(Error::malformed("a dimension of a dense array without a domain of whole numbers"));
        };
        let counted = Counted::new(low.saturating_add((*first).into()), &datatype);
        Ok((Arc::new(datatype), counted, *count))
    }
}

/// A tile extent of a dense array.
fn integer(tile: &[u8]) -> Option<u64> {
    let mut bytes = [0; 8];
    bytes.get_mut(..tile.len())?.copy_from_slice(tile);
    Some(u64::from_le_bytes(bytes))
}

/// The first version in which dimensions have filters.
pub(super) const FILTERS: u32 = 5;

/// The directive of a dimension of a dense array that has a single tile, since no tile extent was requested.
pub(super) const TILE_EXTENT: &str = "tile_extent";

/// The lowest and the highest coordinate.
pub(super) fn domain(dimension: &StoredDimension) -> Values {
    match dimension.cell_val_num {
        CellValNum::Fixed(_) => Values { rows: dimension.domain.clone().into(), heap: Heap::default() },
        CellValNum::Var => Values { rows: vec![0; 2 * Slot::SIZE].into(), heap: Heap::default() },
    }
}
