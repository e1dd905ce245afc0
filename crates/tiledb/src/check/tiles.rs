//! Checks the tiles of a field: whether they can be decoded, and whether the recorded summaries match their cells.

use super::fragment::Checked;
use super::{Checker, rule};
use crate::array::fragment::FragmentField;
use crate::format::array_schema::Attribute;
use crate::format::data_type::CellValNum;
use crate::format::filter_pipeline::Filter;
use crate::format::fragment_metadata::fragment_summary::{FragmentSummary, SlotSummary};
use crate::format::fragment_metadata::tile_min_max::TileMinMax;
use crate::format::fragment_metadata::tile_offsets::TileOffsets;
use crate::format::fragment_metadata::tile_sums::TileSums;
use crate::history::value_text;
use crate::read::compare::compare;
use crate::read::coordinates::cell_count;
use crate::read::tile::{FieldFiles, FieldTiles, Tile};
use crate::summary::{CellSummary, Sum, has_ends, has_null_count, no_sum};
use hyperslab_core::Result;
use std::cmp::Ordering;

/// The recorded summaries of the tiles of an attribute; empty lists where there are none.
#[derive(Default)]
pub(super) struct Noted {
    mins: TileMinMax,
    maxes: TileMinMax,
    sums: Vec<u64>,
    null_counts: Vec<u64>,
}

impl Checker<'_> {
    /// Decodes all tiles of a field.
    pub(super) fn field(&mut self, checked: &Checked<'_>, field: FragmentField) -> Result<()> {
        let (fragment, array) = (checked.fragment, checked.array);
        let files = FieldFiles::of(fragment, field)?;
        let opened = FieldTiles::open(array, fragment, field, &files);
        let Some(opened) = self.findings.valid(opened, &rule::TILE, checked.place())? else { return Ok(()) };
        let attribute = match field {
            FragmentField::Attribute(position) => checked.schema().attributes.get(position),
            _ => None,
        };
        let mut noted = match (field, attribute) {
            (FragmentField::Attribute(position), Some(attribute)) => {
                self.noted(checked, position, attribute)?
            }
            _ => None,
        };
        let (mut to, mut is_counted) = (Tile::default(), true);
        let keys = fragment.file(field)?;
        let place = super::Place::of(checked.at).file(keys.first().unwrap_or(checked.metadata));
        let dense_cells = checked.dense.as_ref().map(|(domain, _)| domain.tile_cells()).transpose()?;
        for tile in 0..checked.tiles {
            let count = dense_cells.unwrap_or_else(|| cell_count(fragment, tile));
            if let Err(e) = opened.read(tile, count, &mut to) {
                self.findings.add_error(&e, &rule::TILE, place).ok_or(e)?;
                continue;
            }
            if let Some(attribute) = attribute {
                // The first tile with a fault represents all tiles of the fragment.
                if self.cell_summary(checked, attribute, tile, &to, noted.as_ref()) {
                    noted = None;
                }
                is_counted = is_counted && self.indexes(checked, place, attribute, tile, &to);
            }
        }
        Ok(())
    }

    /// The recorded summaries of the tiles of an attribute. `None` before version 11 and if they cannot be read.
    fn noted(&mut self, checked: &Checked<'_>, slot: usize, attribute: &Attribute) -> Result<Option<Noted>> {
        let places = &checked.fragment.footer.generic_tiles;
        // Summaries describe the values before a filter changed them.
        let is_changed = attribute
            .filters
            .filters
            .iter()
            .any(|filter| matches!(filter, Filter::ScaleFloat(_) | Filter::Webp(_)));
        if checked.fragment.version() < 11 || is_changed {
            return Ok(None);
        }
        let (file, tiles) = (checked.metadata, self.generic_tiles());
        let at = |list: &[u64]| list.get(slot).copied().unwrap_or(u64::MAX);
        let mut noted = Noted::default();
        let rule = &rule::TILE_SUMMARY;
        if has_ends(attribute) {
            for (list, to) in [(&places.tile_mins, &mut noted.mins), (&places.tile_maxes, &mut noted.maxes)] {
                let read = tiles.structure::<TileMinMax>(file, at(list), &());
                let Some(read) = self.findings.valid(read, rule, checked.place())? else { return Ok(None) };
                *to = read;
            }
        }
        if no_sum(attribute).is_some() {
            let read = tiles.structure::<TileSums>(file, at(&places.tile_sums), &());
            let Some(read) = self.findings.valid(read, rule, checked.place())? else { return Ok(None) };
            noted.sums = read.sums;
        }
        if has_null_count(attribute) {
            let read = tiles.structure::<TileOffsets>(file, at(&places.tile_null_counts), &());
            let Some(read) = self.findings.valid(read, rule, checked.place())? else { return Ok(None) };
            noted.null_counts = read.offsets;
        }
        Ok(Some(noted))
    }

    /// Checks that the summary of a fragment follows from the summaries of its tiles.
    pub(super) fn summaries(&mut self, checked: &Checked<'_>) -> Result<()> {
        let footer = &checked.fragment.footer;
        let Some(at) = footer.generic_tiles.fragment_summary else { return Ok(()) };
        let slots = footer.file_sizes.len();
        let read = self.generic_tiles().structure::<FragmentSummary>(checked.metadata, at, &slots);
        let Some(found) = self.findings.valid(read, &rule::FRAGMENT_SUMMARY, checked.place())? else {
            return Ok(());
        };
        for (position, attribute) in checked.schema().attributes.iter().enumerate() {
            let Some(slot) = found.slots.get(position) else { continue };
            let Some(noted) = self.noted(checked, position, attribute)? else { continue };
            if let Some(message) = fault_of_summary(checked.tiles, attribute, slot, &noted) {
                let name = String::from_utf8_lossy(&attribute.name);
                let message = format!("attribute {name:?}: {message}");
                self.findings.add(&rule::FRAGMENT_SUMMARY, checked.place(), message);
            }
        }
        Ok(())
    }
}

impl Noted {
    /// What is wrong with the summary of a tile.
    pub(super) fn fault(&self, attribute: &Attribute, tile: u64, found: &CellSummary) -> Option<String> {
        let position = usize::try_from(tile).ok()?;
        if has_ends(attribute) {
            for (what, noted, is_min) in [("minimum", &self.mins, true), ("maximum", &self.maxes, false)] {
                let Some(noted) = value(attribute, noted, position) else {
                    return Some(format!("no {what} of tile {tile}"));
                };
                if let Some((min, max)) = &found.ends {
                    let expected: &[u8] = if is_min { min } else { max };
                    if compare(attribute.data_type, noted, expected) != Some(Ordering::Equal) {
                        let [noted, own] =
                            [noted, expected].map(|value| value_text(attribute.data_type, value));
                        return Some(format!("{what} {noted} of tile {tile}, its cells have {own}"));
                    }
                }
            }
        }
        if let (Some(none), Some(sum)) = (no_sum(attribute), found.sum) {
            match self.sums.get(position) {
                None => return Some(format!("no sum of tile {tile}")),
                Some(noted) if !none.with_bits(*noted).is_near(sum, found.rounding) => {
                    return Some(format!(
                        "sum {} of tile {tile}, its cells have {sum}",
                        none.with_bits(*noted)
                    ));
                }
                Some(_) => {}
            }
        }
        if has_null_count(attribute) && self.null_counts.get(position) != Some(&found.null_count) {
            let noted = self.null_counts.get(position).map_or("no".to_owned(), u64::to_string);
            return Some(format!("{noted} null cells of tile {tile}, it has {}", found.null_count));
        }
        None
    }
}

/// The recorded minimum or maximum of a tile.
fn value<'n>(attribute: &Attribute, noted: &'n TileMinMax, tile: usize) -> Option<&'n [u8]> {
    let CellValNum::Fixed(values) = attribute.cell_val_num else { return None };
    let size = attribute.data_type.size().checked_mul(usize::try_from(values).ok()?)?;
    let start = tile.checked_mul(size)?;
    noted.fixed.get(start..start.checked_add(size)?)
}

/// What is wrong with the summary of an attribute.
fn fault_of_summary(tiles: u64, attribute: &Attribute, slot: &SlotSummary, noted: &Noted) -> Option<String> {
    let nulls = noted.null_counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
    if has_null_count(attribute) && slot.null_count != nulls {
        return Some(format!("{} null cells, its tiles have {nulls}", slot.null_count));
    }
    if let Some(none) = no_sum(attribute) {
        let sums = noted.sums.iter().map(|bits| none.with_bits(*bits));
        let size = sums.clone().fold(0.0, |size, sum| match sum {
            Sum::Float(sum) => size + sum.abs(),
            _ => size,
        });
        let (found, expected) = (none.with_bits(slot.sum), sums.fold(none, Sum::and));
        if expected.is_near(expected, 0.0) && !found.is_near(expected, size * 1e-9) {
            return Some(format!("sum {found}, its tiles have {expected}"));
        }
    }
    // Tiles whose cells are all null have a meaningless value.
    if !has_ends(attribute) || attribute.nullable {
        return None;
    }
    for (what, noted, own, worse) in [
        ("minimum", &noted.mins, slot.min.as_slice(), Ordering::Less),
        ("maximum", &noted.maxes, slot.max.as_slice(), Ordering::Greater),
    ] {
        let count = usize::try_from(tiles).unwrap_or(usize::MAX);
        let values = (0..count).map_while(|tile| value(attribute, noted, tile));
        let is_number = |value: &[u8]| compare(attribute.data_type, value, value).is_some();
        if !is_number(own) || !values.clone().all(is_number) {
            continue;
        }
        let of_tiles = values.reduce(|best, other| {
            if compare(attribute.data_type, other, best) == Some(worse) { other } else { best }
        });
        if let Some(of_tiles) = of_tiles
            && compare(attribute.data_type, of_tiles, own) != Some(Ordering::Equal)
        {
            let [own, of_tiles] = [own, of_tiles].map(|value| value_text(attribute.data_type, value));
            return Some(format!("{what} {own}, its tiles have {of_tiles}"));
        }
    }
    None
}
