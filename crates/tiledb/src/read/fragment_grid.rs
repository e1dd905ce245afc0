//! The grid of space tiles of a dense array, and the grid of a fragment within it.

use crate::format::array_schema::{ArraySchema, Dimension};
use crate::format::data_type::DataType;
use crate::format::fragment_metadata::mbr::{Mbr, Range};
use crate::format::layout::Layout;
use hyperslab_core::{Error, Result};

/// The domain of a dense array. Its first cell has index 0 in each dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenseDomain {
    /// The coordinates of the first cell.
    pub origin: Vec<i128>,
    /// The number of cells along each dimension.
    pub shape: Vec<u64>,
    /// The number of cells of a space tile along each dimension.
    pub tile: Vec<u64>,
    /// The order of tiles: [`Layout::RowMajor`] or [`Layout::ColMajor`].
    pub tile_order: Layout,
    /// The order of cells within a tile: one of the same two.
    pub cell_order: Layout,
}

/// The first and the last index of each dimension, both inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexBox {
    /// The first.
    pub first: Vec<u64>,
    /// The last.
    pub last: Vec<u64>,
}

/// The cells of a box in a tile, along each dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TilePart {
    /// The index of the first of them, in the tile.
    pub within: Vec<u64>,
    /// The index of the first of them, in the domain.
    pub start: Vec<u64>,
    /// Their number.
    pub count: Vec<u64>,
}

impl DenseDomain {
    /// The domain of a schema.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) for dimensions or orders that dense arrays do not have.
    pub fn of(schema: &ArraySchema) -> Result<DenseDomain> {
        let order = |order, what: &str| match order {
            Layout::RowMajor | Layout::ColMajor => Ok(order),
            other => Err(Error::malformed(format!("{what} {other:?} of a dense array"))),
        };
        let mut domain = DenseDomain {
            origin: Vec::new(),
            shape: Vec::new(),
            tile: Vec::new(),
            tile_order: order(schema.tile_order, "tile order")?,
            cell_order: order(schema.cell_order, "cell order")?,
        };
        for dimension in &schema.domain.dimensions {
            let named = |e: Error| {
                let name = String::from_utf8_lossy(&dimension.name).into_owned();
                e.map_detail(|detail| format!("dimension {name:?}: {detail}"))
            };
            let (first, size, tile) = extents(dimension).map_err(named)?;
            domain.origin.push(first);
            domain.shape.push(size);
            domain.tile.push(tile);
        }
        Ok(domain)
    }

    /// The indexes of a rectangle of coordinates. It may end past the domain, as tiles do.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) if it begins before the domain or ends before it begins.
    pub fn indexes(&self, schema: &ArraySchema, rectangle: &Mbr) -> Result<IndexBox> {
        let mut indexes = IndexBox { first: Vec::new(), last: Vec::new() };
        let dimensions = schema.domain.dimensions.iter().zip(&self.origin);
        for ((dimension, origin), Range { min, max }) in dimensions.zip(&rectangle.ranges) {
            let (min, max) = (coordinate(dimension.data_type, min)?, coordinate(dimension.data_type, max)?);
            let index =
                |coordinate: i128| coordinate.checked_sub(*origin).and_then(|at| u64::try_from(at).ok());
            match (index(min), index(max)) {
                (Some(first), Some(last)) if first <= last => {
                    indexes.first.push(first);
                    indexes.last.push(last);
                }
                _ => {
                    return Err(Error::malformed(format!(
                        "coordinates {min} to {max} in a domain that begins at {origin}"
                    )));
                }
            }
        }
        Ok(indexes)
    }

    /// The number of cells of a tile.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) if it exceeds 2^64.
    pub fn tile_cells(&self) -> Result<u64> {
        let cells = self.tile.iter().try_fold(1, |cells: u64, tile| cells.checked_mul(*tile));
        cells.ok_or_else(|| Error::malformed(format!("a space tile of {:?} cells", self.tile)))
    }

    /// The first tile that contains cells of a box, by its coordinates in the grid.
    pub fn first_tile(&self, of: &IndexBox) -> Vec<u64> {
        of.first.iter().zip(&self.tile).map(|(first, tile)| first / (*tile).max(1)).collect()
    }

    /// The next tile after another one, in tile order, that contains cells of a box. `None` after the last.
    pub fn next_tile(&self, of: &IndexBox, at: &[u64]) -> Option<Vec<u64>> {
        let mut at = at.to_vec();
        let slowest_last: Vec<usize> = match self.tile_order {
            Layout::ColMajor => (0..at.len()).collect(),
            _ => (0..at.len()).rev().collect(),
        };
        for dimension in slowest_last {
            let tile = (*self.tile.get(dimension)?).max(1);
            let (first, last) = (of.first.get(dimension)? / tile, of.last.get(dimension)? / tile);
            let place = at.get_mut(dimension)?;
            if *place < last {
                *place = place.saturating_add(1);
                return Some(at);
            }
            *place = first;
        }
        None
    }

    /// The cells of a box that a tile contains.
    pub fn part_in(&self, of: &IndexBox, at: &[u64]) -> TilePart {
        let mut part = TilePart { within: Vec::new(), start: Vec::new(), count: Vec::new() };
        let sides = of.first.iter().zip(&of.last).zip(at.iter().zip(&self.tile));
        for ((first, last), (at, tile)) in sides {
            let begin = at.saturating_mul(*tile);
            let (from, to) = (begin.max(*first), begin.saturating_add(tile.saturating_sub(1)).min(*last));
            part.within.push(from.saturating_sub(begin));
            part.start.push(from);
            part.count.push(to.saturating_sub(from).saturating_add(1));
        }
        part
    }

    /// The position of the tile at these grid coordinates in a fragment whose cells are in `written`. `None` if the
    /// fragment has no such tile.
    pub(crate) fn position(&self, written: &IndexBox, at: &[u64]) -> Option<u64> {
        let dimensions = at.iter().zip(&self.tile).zip(written.first.iter().zip(&written.last));
        let step = |position: u64, ((at, tile), (first, last)): ((&u64, &u64), (&u64, &u64))| {
            let (first, last) = (first / tile, last / tile);
            let count = (last - first).checked_add(1)?;
            let within = at.checked_sub(first).filter(|within| *within < count)?;
            position.checked_mul(count)?.checked_add(within)
        };
        match self.tile_order {
            Layout::ColMajor => dimensions.rev().try_fold(0, step),
            _ => { dimensions }.try_fold(0, step),
        }
    }
}

/// Which cells of a tile were written; the others only pad it.
pub(crate) struct WrittenCells {
    /// Along each dimension, the number of cells of the tile, and the first and the last one that was written. The
    /// dimension along which cells are consecutive is the last.
    sides: Vec<(u64, u64, u64)>,
}

impl DenseDomain {
    /// Which cells of the tile at a position of a fragment were written. `None` if the fragment has no such tile.
    pub(crate) fn written_cells(&self, written: &IndexBox, position: u64) -> Option<WrittenCells> {
        let all: Vec<(u64, u64, u64)> = self
            .tile
            .iter()
            .zip(written.first.iter().zip(&written.last))
            .map(|(tile, (first, last))| (*tile, *first, *last))
            .collect();
        let count =
            |(tile, first, last): (u64, u64, u64)| (last / tile).checked_sub(first / tile)?.checked_add(1);
        let (mut left, mut at) = (position, vec![0; all.len()]);
        let order: Vec<usize> = match self.tile_order {
            Layout::ColMajor => (0..all.len()).collect(),
            _ => (0..all.len()).rev().collect(),
        };
        for dimension in order {
            let side = *all.get(dimension)?;
            let tiles = count(side)?;
            *at.get_mut(dimension)? = (side.1 / side.0).checked_add(left % tiles)?;
            left /= tiles;
        }
        if left > 0 {
            return None;
        }
        let side = |((tile, first, last), at): ((u64, u64, u64), u64)| {
            let begin = at.saturating_mul(tile);
            let end = last.saturating_sub(begin).min(tile.saturating_sub(1));
            (tile, first.saturating_sub(begin), end)
        };
        let mut sides: Vec<(u64, u64, u64)> = all.into_iter().zip(at).map(side).collect();
        if self.cell_order == Layout::ColMajor {
            sides.reverse();
        }
        Some(WrittenCells { sides })
    }
}

impl WrittenCells {
    /// Whether the cell at a position in the tile was written.
    pub(crate) fn has(&self, cell: usize) -> bool {
        let mut left = cell as u64;
        self.sides.iter().rev().all(|(tile, first, last)| {
            let at = left.checked_rem(*tile).unwrap_or(0);
            left = left.checked_div(*tile).unwrap_or(0);
            (first..=last).contains(&&at)
        })
    }
}

/// The first coordinate, the number of cells and the size of a tile.
fn extents(dimension: &Dimension) -> Result<(i128, u64, u64)> {
    let data_type = dimension.data_type;
    let size = data_type.size();
    let halves = dimension.domain.split_at_checked(size).filter(|(_, last)| last.len() == size);
    let (first, last) = halves.ok_or_else(|| {
        Error::malformed(format!("a domain of {} bytes, expected twice {size}", dimension.domain.len()))
    })?;
    let (first, last) = (coordinate(data_type, first)?, coordinate(data_type, last)?);
    let count = last.checked_sub(first).and_then(|len| u64::try_from(len.checked_add(1)?).ok());
    let count = count.filter(|count| *count > 0);
    let count = count.ok_or_else(|| Error::malformed(format!("a domain from {first} to {last}")))?;
    let tile = match &dimension.tile_extent {
        None => count,
        // As an unsigned number: a tile of 200 cells is possible in a domain of signed 8-bit numbers.
        Some(extent) => unsigned(extent)?,
    };
    match tile {
        0 => Err(Error::malformed("a tile extent of 0")),
        tile => Ok((first, count, tile)),
    }
}

/// A coordinate of a dense dimension.
pub(crate) fn coordinate(data_type: DataType, bytes: &[u8]) -> Result<i128> {
    let value = unsigned(bytes)?;
    let (is_signed, bits) = match data_type {
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => (false, 0),
        DataType::Int8 => (true, 8),
        DataType::Int16 => (true, 16),
        DataType::Int32 => (true, 32),
        DataType::Int64 => (true, 64),
        other if other.is_datetime() || other.is_time() => (true, 64),
        other => {
            return Err(Error::malformed(format!(
                "a dense dimension of {}, expected integers",
                other.name()
            )));
        }
    };
    let value = i128::from(value);
    Ok(match is_signed && value >= 1 << (bits - 1) {
        true => value - (1 << bits),
        false => value,
    })
}

fn unsigned(bytes: &[u8]) -> Result<u64> {
    let mut all = [0; 8];
    match all.get_mut(..bytes.len()) {
        Some(low) => low.copy_from_slice(bytes),
        None => return Err(Error::malformed(format!("an integer of {} bytes", bytes.len()))),
    }
    Ok(u64::from_le_bytes(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_have_the_sign_of_their_datatype() {
        assert_eq!(coordinate(DataType::Int8, &[0x80]).unwrap(), -128);
        assert_eq!(coordinate(DataType::UInt8, &[0x80]).unwrap(), 128);
        assert_eq!(coordinate(DataType::DatetimeDay, &[0xff; 8]).unwrap(), -1);
        assert_eq!(coordinate(DataType::UInt64, &[0xff; 8]).unwrap(), i128::from(u64::MAX));
        assert!(coordinate(DataType::Float32, &[0; 4]).is_err());
    }

    #[test]
    fn tiles_of_a_fragment_count_from_its_first_one() {
        let mut domain = DenseDomain {
            origin: vec![0, 0],
            shape: vec![100, 100],
            tile: vec![10, 5],
            tile_order: Layout::RowMajor,
            cell_order: Layout::RowMajor,
        };
        let written = IndexBox { first: vec![12, 7], last: vec![39, 20] };
        let positions = |domain: &DenseDomain| {
            [[1, 1], [1, 4], [2, 1], [3, 4], [0, 1], [4, 1], [1, 5]].map(|at| domain.position(&written, &at))
        };
        assert_eq!(positions(&domain), [Some(0), Some(3), Some(4), Some(11), None, None, None]);
        domain.tile_order = Layout::ColMajor;
        assert_eq!(positions(&domain), [Some(0), Some(9), Some(1), Some(11), None, None, None]);
    }

    #[test]
    fn cells_before_and_behind_what_was_written_fill_a_tile() {
        let mut domain = DenseDomain {
            origin: vec![0, 0],
            shape: vec![100, 100],
            tile: vec![2, 3],
            tile_order: Layout::RowMajor,
            cell_order: Layout::RowMajor,
        };
        let written = IndexBox { first: vec![1, 2], last: vec![2, 7] };
        let cells = |domain: &DenseDomain, position| {
            let written = domain.written_cells(&written, position).unwrap();
            (0..6).map(|cell| u8::from(written.has(cell))).collect::<Vec<_>>()
        };
        assert_eq!(cells(&domain, 0), [0, 0, 0, 0, 0, 1]);
        assert_eq!(cells(&domain, 2), [0, 0, 0, 1, 1, 0]);
        assert_eq!(cells(&domain, 5), [1, 1, 0, 0, 0, 0]);
        assert!(domain.written_cells(&written, 6).is_none());
        domain.cell_order = Layout::ColMajor;
        domain.tile_order = Layout::ColMajor;
        assert_eq!(cells(&domain, 1), [0, 0, 0, 0, 1, 0]);
    }
}
