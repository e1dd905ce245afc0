//! Checks the coordinates of sparse fragments: their order, and whether rectangles contain all of them.

use super::fragment::Checked;
use super::{Checker, rule};
use crate::format::fragment_metadata::mbr::Mbr;
use crate::read::compare::compare;
use crate::read::coordinates::{Cells, Fields, FragmentKeys, Wanted, cell_count};
use crate::read::global_order::GlobalOrder;
use hyperslab_core::{Result, valid};
use std::cmp::Ordering;

impl Checker<'_> {
    pub(super) fn order(&mut self, checked: &Checked<'_>) -> Result<()> {
        let (fragment, array) = (checked.fragment, checked.array);
        // Faults in files, tiles and extents were already found.
        let (Ok(keys), Ok(order)) = (FragmentKeys::of(fragment), GlobalOrder::of(array.schema())) else {
            return Ok(());
        };
        let all = vec![true; array.dimensions().len()];
        let wanted = Wanted { dimensions: &all, times: false };
        let Some(fields) = valid(Fields::open(array, fragment, &keys, wanted))? else { return Ok(()) };
        let tree = valid(fragment.r_tree(&self.generic_tiles()))?;
        let sizes = checked.schema().domain.coordinate_sizes();
        let allows_equal = array.schema().allows_dups || fragment.footer.has_timestamps;
        let (mut cells, mut before) = (Cells::default(), Vec::new());
        // Distinguishes the cells that have the key of the previous one: the signs of zeros.
        let mut zeros: Vec<Vec<usize>> = Vec::new();
        let (mut is_ordered, mut is_distinct, mut is_covered) = (true, true, true);
        for tile in 0..checked.tiles {
            if valid(fields.read(tile, &mut cells))?.is_none() {
                return Ok(());
            }
            let count = usize::try_from(cell_count(fragment, tile)).unwrap_or(usize::MAX);
            let keys = order.keys(&cells.dimensions, 0..count);
            for cell in 0..keys.len() {
                let key = keys.get(cell);
                let standing = before.as_slice().cmp(key);
                if standing != Ordering::Equal {
                    zeros.clear();
                }
                let own = keys.negative_zeros_of(cell);
                let is_known = zeros.iter().any(|known| known == own);
                match standing {
                    Ordering::Greater if is_ordered => {
                        is_ordered = false;
                        let message =
                            format!("cell {cell} of tile {tile} comes after a cell that it should precede");
                        self.findings.add(&rule::GLOBAL_ORDER, checked.place(), message);
                    }
                    Ordering::Equal if is_known && is_distinct && !allows_equal => {
                        is_distinct = false;
                        let message = format!("cell {cell} of tile {tile} and one before it");
                        self.findings.add(&rule::DUPLICATE_CELL, checked.place(), message);
                    }
                    _ => {}
                }
                if !is_known {
                    zeros.push(own.to_vec());
                }
                before.clear();
                before.extend_from_slice(key);
            }
            let position = usize::try_from(tile).unwrap_or(usize::MAX);
            let leaves = tree.and_then(|tree| tree.leaves());
            let rectangle = leaves.map(|leaves| leaves.get(position, &sizes)).transpose()?.flatten();
            if let Some(rectangle) = rectangle.filter(|_| is_covered)
                && let Some((cell, dimension)) = outside(checked, &rectangle, &cells, count)
            {
                is_covered = false;
                let name = String::from_utf8_lossy(dimension);
                let message = format!("cell {cell} of tile {tile} along dimension {name:?}");
                self.findings.add(&rule::RECTANGLE, checked.place(), message);
            }
        }
        Ok(())
    }
}

/// The first cell outside of a rectangle, and the dimension along which it is outside.
fn outside<'c>(
    checked: &Checked<'c>,
    rectangle: &Mbr,
    cells: &Cells,
    count: usize,
) -> Option<(usize, &'c [u8])> {
    let dimensions = checked.schema().domain.dimensions.iter().zip(&rectangle.ranges).enumerate();
    dimensions.into_iter().find_map(|(position, (dimension, range))| {
        let order = |a: &[u8], b: &[u8]| compare(dimension.data_type, a, b);
        let cell = (0..count).find(|cell| {
            let coordinate = cells.coordinate(position, *cell);
            order(coordinate, &range.min) == Some(Ordering::Less)
                || order(coordinate, &range.max) == Some(Ordering::Greater)
        })?;
        Some((cell, dimension.name.as_slice()))
    })
}
