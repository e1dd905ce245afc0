//! The coordinates and times of the cells of a sparse fragment.

use super::tile::{FieldFiles, FieldTiles, Tile};
use crate::array::Array;
use crate::array::fragment::{FragmentField, OpenedFragment};
use crate::format::data_type::CellValNum;
use hyperslab_core::{Error, Result};

/// The coordinates and times of a fragment that is being read.
pub(crate) struct Fields<'a> {
    pub(crate) fragment: &'a OpenedFragment,
    /// `None` for dimensions that were not requested.
    dimensions: Vec<Option<FieldTiles<'a>>>,
    timestamps: Option<FieldTiles<'a>>,
    delete_timestamps: Option<FieldTiles<'a>>,
}

/// The coordinates and times of a tile. The buffers are reused for the next tile.
#[derive(Default)]
pub(crate) struct Cells {
    /// The coordinates of each dimension; empty for dimensions that were not requested.
    pub(crate) dimensions: Vec<Tile>,
    /// The time at which each cell was written, if the fragment stores it.
    pub(crate) times: Vec<u64>,
    /// The coordinates of all dimensions, before version 5.
    together: Tile,
    of_times: Tile,
}

/// The files of the coordinates and times of a fragment.
pub(crate) struct FragmentKeys {
    dimensions: Vec<(FragmentField, FieldFiles)>,
    timestamps: FieldFiles,
    delete_timestamps: FieldFiles,
}

/// Which coordinates and times are read.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'w> {
    /// Whether each dimension is read.
    pub(crate) dimensions: &'w [bool],
    /// Whether the times of cells are read.
    pub(crate) times: bool,
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
        wanted: Wanted<'_>,
    ) -> Result<Fields<'a>> {
        let open = |field, keys: &'a FieldFiles| FieldTiles::open(array, fragment, field, keys);
        let footer = &fragment.footer;
        let timestamps = (footer.has_timestamps && wanted.times)
            .then(|| open(FragmentField::Timestamps, &keys.timestamps));
        let delete_timestamps = footer
            .has_delete_metadata
            .then(|| open(FragmentField::DeleteTimestamps, &keys.delete_timestamps));
        let is_wanted = |field: FragmentField| match field {
            FragmentField::Dimension(position) => {
                wanted.dimensions.get(position).is_none_or(|wanted| *wanted)
            }
            _ => wanted.dimensions.contains(&true),
        };
        let dimensions = keys
            .dimensions
            .iter()
            .map(|(field, keys)| is_wanted(*field).then(|| open(*field, keys)).transpose());
        Ok(Fields {
            fragment,
            dimensions: dimensions.collect::<Result<_>>()?,
            timestamps: timestamps.transpose()?,
            delete_timestamps: delete_timestamps.transpose()?,
        })
    }

    /// Reads the coordinates and times of a tile.
    pub(crate) fn read(&self, tile: u64, to: &mut Cells) -> Result<()> {
        let count = cell_count(self.fragment, tile);
        let Cells { dimensions, times, together, of_times } = to;
        if self.fragment.version() < 5 {
            match self.dimensions.first() {
                Some(Some(field)) => {
                    field.read(tile, count, together)?;
                    *dimensions = apart(self.fragment, together, count)?;
                }
                _ => dimensions.clear(),
            }
        } else {
            dimensions.resize_with(self.dimensions.len(), Tile::default);
            for (field, to) in self.dimensions.iter().zip(dimensions) {
                match field {
                    Some(field) => field.read(tile, count, to)?,
                    None => to.clear(),
                }
            }
        }
        times.clear();
        if let Some(field) = &self.timestamps {
            read_times(field, tile, count, of_times, times)?;
        }
        Ok(())
    }

    /// Reads the time at which each cell of a tile was deleted; empty if the fragment does not store it.
    pub(crate) fn deleted(&self, tile: u64) -> Result<Vec<u64>> {
        let mut times = Vec::new();
        if let Some(field) = &self.delete_timestamps {
            read_times(field, tile, cell_count(self.fragment, tile), &mut Tile::default(), &mut times)?;
        }
        Ok(times)
    }
}

impl Cells {
    pub(crate) fn coordinate(&self, dimension: usize, cell: usize) -> &[u8] {
        self.dimensions.get(dimension).and_then(|tile| tile.cell(cell)).unwrap_or_default()
    }

    /// The number of bytes in memory.
    pub(crate) fn held(&self) -> usize {
        let dimensions = self.dimensions.iter().map(Tile::held);
        dimensions.sum::<usize>().saturating_add(self.times.len().saturating_mul(size_of::<u64>()))
    }
}

/// The number of cells of a tile: all tiles but the last are full.
pub(crate) fn cell_count(fragment: &OpenedFragment, tile: u64) -> u64 {
    match tile.saturating_add(1) == fragment.footer.sparse_tile_num {
        true => fragment.footer.last_tile_cell_num,
        false => fragment.schema.capacity,
    }
}

/// Whether a cell with a deletion time is deleted at the end of a moment.
pub(crate) fn is_gone(deleted: u64, end: u64) -> bool {
    deleted <= end && deleted != NEVER
}

/// The coordinates of each dimension, from a tile with those of all dimensions. The dimensions are stored separately
/// there, except in version 1 without compression, where the coordinates of a cell are together.
fn apart(fragment: &OpenedFragment, tile: &Tile, count: u64) -> Result<Vec<Tile>> {
    let of = fragment.field_type(FragmentField::Coordinates)?;
    let CellValNum::Fixed(dimensions) = of.cell_val_num else { return Ok(Vec::new()) };
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

fn read_times(field: &FieldTiles<'_>, tile: u64, count: u64, by: &mut Tile, to: &mut Vec<u64>) -> Result<()> {
    field.read(tile, count, by)?;
    to.extend(by.cells.as_chunks().0.iter().map(|time| u64::from_le_bytes(*time)));
    Ok(())
}

/// The deletion time of a cell that was not deleted.
const NEVER: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_were_not_deleted_are_there_in_a_moment_without_end() {
        assert!(!is_gone(NEVER, u64::MAX) && !is_gone(NEVER, 30));
        assert!(is_gone(30, u64::MAX) && is_gone(30, 30) && !is_gone(30, 29));
    }
}
