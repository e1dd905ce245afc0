//! Builds columns from the cells of a tile, in buffers that are reused from tile to tile.

use super::sparse::SparseColumn;
use super::tile::Tile;
use crate::format::array_schema::Attribute;
use hyperslab_core::{Error, Limit, Limits, Result};

/// The cells of a tile that are kept.
pub(super) enum Kept {
    /// All cells; this is their number.
    All(usize),
    /// The cells at these positions, which ascend.
    These(Vec<usize>),
}

/// Known properties of the content of a column, so that it is not written again.
#[derive(Default)]
pub(super) struct Shape {
    /// Cells end at multiples of this.
    size: Option<usize>,
    /// No cell is null.
    is_valid: bool,
}

impl Kept {
    /// The cells that are marked.
    pub(super) fn of(marks: &[bool]) -> Kept {
        match marks.iter().all(|mark| *mark) {
            true => Kept::All(marks.len()),
            false => Kept::These(
                (0..marks.len()).zip(marks).filter_map(|(cell, mark)| mark.then_some(cell)).collect(),
            ),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Kept::All(count) => *count,
            Kept::These(cells) => cells.len(),
        }
    }

    /// The cell with an ordinal.
    pub(super) fn get(&self, ordinal: usize) -> usize {
        match self {
            Kept::All(_) => ordinal,
            Kept::These(cells) => cells.get(ordinal).copied().unwrap_or(usize::MAX),
        }
    }

    /// Those of the cells that fulfil a condition.
    pub(super) fn filtered(self, is_kept: impl Fn(usize) -> bool) -> Kept {
        let before = self.len();
        let cells: Vec<usize> =
            (0..before).map(|ordinal| self.get(ordinal)).filter(|cell| is_kept(*cell)).collect();
        match cells.len() == before {
            true => self,
            false => Kept::These(cells),
        }
    }
}

impl SparseColumn {
    /// Fills the column with these cells of a tile. If the tile is not needed again, its bytes are moved.
    pub(super) fn fill(&mut self, tile: &mut Tile, kept: &Kept, is_last: bool, shape: &mut Shape) {
        match (tile.fixed_size(), kept) {
            (Some(size), Kept::All(count)) if count.checked_mul(size) == Some(tile.cells.len()) => {
                match is_last {
                    true => std::mem::swap(&mut self.bytes, &mut tile.cells),
                    false => self.bytes.clone_from(&tile.cells),
                }
                self.end_at_multiples(size, *count, shape);
            }
            (Some(size), kept) => {
                self.bytes.clear();
                gather(&tile.cells, size, kept, &mut self.bytes);
                self.end_at_multiples(size, kept.len(), shape);
            }
            (None, kept) => {
                shape.size = None;
                self.bytes.clear();
                self.ends.clear();
                for ordinal in 0..kept.len() {
                    self.bytes.extend_from_slice(tile.cell(kept.get(ordinal)).unwrap_or_default());
                    self.ends.push(self.bytes.len());
                }
            }
        }
        match (tile.validity.is_empty(), kept) {
            (true, kept) => self.make_valid(kept.len(), shape),
            (false, kept) => {
                shape.is_valid = false;
                self.validity.clear();
                let validity = |ordinal| tile.validity.get(kept.get(ordinal)).copied().unwrap_or(1);
                self.validity.extend((0..kept.len()).map(validity));
            }
        }
    }

    /// Fills the column with cells of an attribute that the fragment does not have.
    ///
    /// # Errors
    /// [`LimitExceeded`](hyperslab_core::ErrorKind::LimitExceeded) if this many fill values may not be allocated.
    pub(super) fn fill_missing(
        &mut self,
        attribute: &Attribute,
        count: usize,
        shape: &mut Shape,
        limits: &Limits,
    ) -> Result<()> {
        let value = attribute.fill_cell()?;
        check_fill(attribute, value.len().saturating_mul(count), limits)?;
        self.bytes = value.repeat(count);
        *shape = Shape::default();
        self.ends.clear();
        self.ends.extend((1..=count).map(|count| count.saturating_mul(value.len())));
        let is_valid = !attribute.nullable || attribute.fill_value_validity != 0;
        self.validity.clear();
        self.validity.resize(count, u8::from(is_valid));
        Ok(())
    }

    fn end_at_multiples(&mut self, size: usize, count: usize, shape: &mut Shape) {
        if shape.size != Some(size) {
            self.ends.clear();
            shape.size = Some(size);
        }
        self.ends.truncate(count);
        let known = self.ends.len();
        self.ends.extend((known..count).map(|before| before.saturating_add(1).saturating_mul(size)));
    }

    fn make_valid(&mut self, count: usize, shape: &mut Shape) {
        if !shape.is_valid {
            self.validity.clear();
            shape.is_valid = true;
        }
        self.validity.resize(count, 1);
    }
}

/// Checks that the fill values of cells, which are not stored in any file, may be allocated.
pub(crate) fn check_fill(attribute: &Attribute, len: usize, limits: &Limits) -> Result<()> {
    match len as u64 <= limits.allocation {
        true => Ok(()),
        false => {
            let (name, most) = (String::from_utf8_lossy(&attribute.name), limits.allocation);
            let detail =
                format!("fill values of {name:?} take {len} bytes at a time, at most {most} are made");
            Err(Error::limit_exceeded(Limit::Allocation, detail))
        }
    }
}

/// Appends cells of one size.
fn gather(cells: &[u8], size: usize, kept: &Kept, to: &mut Vec<u8>) {
    fn gather_of<const SIZE: usize>(cells: &[u8], kept: &Kept, to: &mut Vec<u8>) {
        let cells = cells.as_chunks::<SIZE>().0;
        for ordinal in 0..kept.len() {
            to.extend_from_slice(cells.get(kept.get(ordinal)).map_or(&[0; SIZE], |cell| cell));
        }
    }
    to.reserve(kept.len().saturating_mul(size));
    match size {
        1 => gather_of::<1>(cells, kept, to),
        2 => gather_of::<2>(cells, kept, to),
        4 => gather_of::<4>(cells, kept, to),
        8 => gather_of::<8>(cells, kept, to),
        _ => {
            for ordinal in 0..kept.len() {
                let start = kept.get(ordinal).saturating_mul(size);
                match cells.get(start..start.saturating_add(size)) {
                    Some(cell) => to.extend_from_slice(cell),
                    None => to.resize(to.len().saturating_add(size), 0),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::array_schema::attribute::tests::numbers;

    #[test]
    fn fill_values_of_a_tile_are_within_limits() {
        let attribute = Attribute { fill_value: Some(vec![7, 0]), ..numbers(22) };
        let (mut column, mut shape) = (SparseColumn::default(), Shape::default());
        let limits = Limits { allocation: 12, ..Limits::default() };
        column.fill_missing(&attribute, 3, &mut shape, &limits).unwrap();
        assert_eq!(
            (column.bytes.as_slice(), column.ends.as_slice()),
            (&[7, 0, 7, 0, 7, 0, 7, 0, 7, 0, 7, 0][..], &[4, 8, 12][..])
        );
        let error = column.fill_missing(&attribute, 4, &mut shape, &limits).unwrap_err();
        assert_eq!(error.detail(), "fill values of \"a\" take 16 bytes at a time, at most 12 are made");
    }
}
