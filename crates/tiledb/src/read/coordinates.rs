//! The coordinates and times of the cells of a sparse fragment.

use super::tile::{FieldFiles, FieldTiles, Tile};
use crate::array::Array;
use crate::array::fragment::{FragmentField, OpenedFragment};
use crate::format::data_type::CellValNum;
use hyperslab_core::{Error, Result};

/// The tiles of a fragment that are read.
pub(crate) struct Fields<'a> {
    pub(crate) fragment: &'a OpenedFragment,
    pub(crate) dimensions: Vec<FieldTiles<'a>>,
    pub(crate) timestamps: Option<FieldTiles<'a>>,
    pub(crate) delete_timestamps: Option<FieldTiles<'a>>,
}

/// The coordinates of a tile, and which cells are within the ranges and the moment.
pub(crate) struct Cells {
    pub(crate) dimensions: Vec<Tile>,
    pub(crate) times: Vec<u64>,
    pub(crate) kept: Vec<usize>,
}

/// The files of the coordinates and times of a fragment.
pub(crate) struct FragmentKeys {
    dimensions: Vec<(FragmentField, FieldFiles)>,
    timestamps: FieldFiles,
    delete_timestamps: FieldFiles,
}

impl FragmentKeys {
    pub(crate) fn of(fragment: &OpenedFragment) -> Result<FragmentKeys> {
        if fragment.footer.dense {
            return Err(Error::malformed("a dense fragment in a sparse array").in_object(&fragment.folder));
        }
        let fields: Vec<FragmentField> = match fragment.version() < 5 {
            true => vec![FragmentField::Coordinates],
            false => (0..fragment.schema.domain.dimensions.len()).map(FragmentField::Dimension).collect(),
        };
        let dimensions = fields.into_iter().map(|field| Ok((field, FieldFiles::of(fragment, field)?)));
        Ok(FragmentKeys {
            dimensions: dimensions.collect::<Result<_>>()?,
            timestamps: FieldFiles::of(fragment, FragmentField::Timestamps)?,
            delete_timestamps: FieldFiles::of(fragment, FragmentField::DeleteTimestamps)?,
        })
    }
}

impl<'a> Fields<'a> {
    pub(crate) fn open(
        array: &'a Array,
        fragment: &'a OpenedFragment,
        keys: &'a FragmentKeys,
    ) -> Result<Fields<'a>> {
        let open = |field, keys: &'a FieldFiles| FieldTiles::open(array, fragment, field, keys);
        let footer = &fragment.footer;
        let timestamps = footer.has_timestamps.then(|| open(FragmentField::Timestamps, &keys.timestamps));
        let delete_timestamps = footer
            .has_delete_metadata
            .then(|| open(FragmentField::DeleteTimestamps, &keys.delete_timestamps));
        let dimensions = keys.dimensions.iter().map(|(field, keys)| open(*field, keys));
        Ok(Fields {
            fragment,
            dimensions: dimensions.collect::<Result<_>>()?,
            timestamps: timestamps.transpose()?,
            delete_timestamps: delete_timestamps.transpose()?,
        })
    }
}

impl Fields<'_> {
    /// The coordinates and times of a tile; no cell is kept yet.
    pub(crate) fn read(&self, tile: u64) -> Result<Cells> {
        let count = cell_count(self.fragment, tile);
        let mut dimensions = Vec::with_capacity(self.dimensions.len());
        for field in &self.dimensions {
            let mut to = Tile::default();
            field.read(tile, count, &mut to)?;
            dimensions.push(to);
        }
        if self.fragment.version() < 5 {
            dimensions = apart(self.fragment, dimensions.pop().unwrap_or_default(), count)?;
        }
        let times = match &self.timestamps {
            Some(field) => times(field, tile, count)?,
            None => Vec::new(),
        };
        Ok(Cells { dimensions, times, kept: Vec::new() })
    }
}

impl Cells {
    pub(crate) fn coordinate(&self, dimension: usize, cell: usize) -> &[u8] {
        self.dimensions.get(dimension).and_then(|tile| tile.cell(cell)).unwrap_or_default()
    }

    /// All coordinates of a cell as bytes that no other coordinates have.
    pub(crate) fn key(&self, cell: usize) -> Vec<u8> {
        let mut key = Vec::new();
        for dimension in 0..self.dimensions.len() {
            let coordinate = self.coordinate(dimension, cell);
            key.extend_from_slice(&(coordinate.len() as u64).to_le_bytes());
            key.extend_from_slice(coordinate);
        }
        key
    }
}

/// The number of cells of a tile: all but the last are full.
pub(crate) fn cell_count(fragment: &OpenedFragment, tile: u64) -> u64 {
    match tile.saturating_add(1) == fragment.footer.sparse_tile_num {
        true => fragment.footer.last_tile_cell_num,
        false => fragment.schema.capacity,
    }
}

/// The coordinates of each dimension, of a tile of all of them. Each dimension stands apart there, except in version 1
/// without compression, where those of a cell stand together.
fn apart(fragment: &OpenedFragment, tile: Tile, count: u64) -> Result<Vec<Tile>> {
    let of = fragment.field_type(FragmentField::Coordinates)?;
    let CellValNum::Fixed(dimensions) = of.cell_val_num else { return Ok(vec![tile]) };
    let (size, count) = (of.data_type.size(), usize::try_from(count).unwrap_or(usize::MAX));
    let dimensions = usize::try_from(dimensions).unwrap_or(usize::MAX);
    let together = fragment.version() == 1 && of.filters.filters.is_empty();
    let values: Vec<&[u8]> = tile.cells.chunks(size).collect();
    let part = |dimension: usize| {
        let cells = (0..count).filter_map(|cell| {
            let at = if together {
                cell.checked_mul(dimensions)?.checked_add(dimension)?
            } else {
                dimension.checked_mul(count)?.checked_add(cell)?
            };
            values.get(at).copied()
        });
        Tile::of_cells(cells.flatten().copied().collect(), size)
    };
    Ok((0..dimensions).map(part).collect())
}

pub(crate) fn times(field: &FieldTiles<'_>, tile: u64, count: u64) -> Result<Vec<u64>> {
    let mut to = Tile::default();
    field.read(tile, count, &mut to)?;
    Ok(to.cells.as_chunks().0.iter().map(|time| u64::from_le_bytes(*time)).collect())
}
