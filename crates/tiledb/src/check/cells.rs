//! Checks the cells of an attribute in a tile.

use super::findings::Place;
use super::fragment::Checked;
use super::tiles::Noted;
use super::{Checker, rule};
use crate::format::array_schema::Attribute;
use crate::read::tile::Tile;
use crate::summary;

impl Checker<'_> {
    /// Compares the cells of a tile with their recorded summary. Returns whether there is a fault.
    pub(super) fn cell_summary(
        &mut self,
        checked: &Checked<'_>,
        attribute: &Attribute,
        number: u64,
        tile: &Tile,
        noted: Option<&Noted>,
    ) -> bool {
        let Some(noted) = noted else { return false };
        let cells = 0..count(tile);
        let mut fault = noted.fault(attribute, number, &summary::of_cells(attribute, tile, cells.clone()));
        if fault.is_some()
            && let Some((domain, written)) = &checked.dense
            && let Some(inside) = domain.written_cells(written, number)
        {
            // Old versions also count the cells that only pad the tile.
            let written = summary::of_cells(attribute, tile, cells.filter(|cell| inside.has(*cell)));
            fault = noted.fault(attribute, number, &written);
        }
        let Some(fault) = fault else { return false };
        let message = format!("attribute {:?}: {fault}", String::from_utf8_lossy(&attribute.name));
        self.findings.add(&rule::TILE_SUMMARY, checked.place(), message);
        true
    }

    /// Whether all cells of a tile are indexes of existing values of their enumeration, if there is one.
    pub(super) fn indexes(
        &mut self,
        checked: &Checked<'_>,
        place: Place<'_>,
        attribute: &Attribute,
        number: u64,
        tile: &Tile,
    ) -> bool {
        // Enumerations only grow, and cells may refer to values that only a later schema has.
        let counts =
            |name| checked.schemas.iter().filter_map(move |known| known.enumerations.get(name)).max();
        let Some(values) = attribute.enumeration.as_ref().and_then(counts) else { return true };
        let fill = attribute.fill_value.as_deref().unwrap_or_default();
        let beyond = (0..count(tile)).find_map(|cell| {
            let value = tile.cell(cell).filter(|_| tile.validity.get(cell) != Some(&0))?;
            let mut bytes = [0; 8];
            bytes.get_mut(..value.len())?.copy_from_slice(value);
            let index = u64::from_le_bytes(bytes);
            // Cells that were never written have the fill value.
            (index >= *values && value != fill).then_some((cell, index))
        });
        let Some((cell, index)) = beyond else { return true };
        let name = String::from_utf8_lossy(&attribute.name);
        let message =
            format!("value {index} of {values} in cell {cell} of tile {number}, attribute {name:?}");
        self.findings.add(&rule::ENUMERATION_INDEX, place, message);
        false
    }
}

fn count(tile: &Tile) -> usize {
    match tile.fixed_size() {
        Some(size) => tile.cells.len() / size,
        None => tile.offsets.len().saturating_sub(1),
    }
}
