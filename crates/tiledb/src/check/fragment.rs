//! Checks fragments: their footers, the files that they consist of, the offsets of tiles and the rectangles.

use super::commits::Copies;
use super::findings::Place;
use super::schema::Known;
use super::{Checker, rule};
use crate::array::Array;
use crate::array::fragment::{FragmentField, METADATA, OpenedFragment};
use crate::directory::Fragment;
use crate::format::array_schema::{ArraySchema, Dimension};
use crate::format::filter_pipeline::FilterPipeline;
use crate::format::fragment_metadata::mbr::{Mbr, Mbrs};
use crate::format::layout::ArrayType;
use crate::format::timestamped_name::Form;
use crate::read::compare::compare;
use crate::read::{DenseDomain, IndexBox};
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Result};
use std::cmp::Ordering;
use std::sync::Arc;

/// A fragment that is being checked.
pub(super) struct Checked<'c> {
    /// The folder of the array.
    pub(super) at: &'c Key,
    pub(super) array: &'c Array,
    pub(super) fragment: &'c OpenedFragment,
    /// The file with the metadata.
    pub(super) metadata: &'c Key,
    /// All schemas of the array.
    pub(super) schemas: &'c [Known],
    /// The number of tiles.
    pub(super) tiles: u64,
    /// The domain of a dense array, and the part of it that the fragment covers.
    pub(super) dense: Option<(DenseDomain, IndexBox)>,
}

impl<'c> Checked<'c> {
    pub(super) fn place(&self) -> Place<'c> {
        Place::of(self.at).file(self.metadata)
    }

    pub(super) fn schema(&self) -> &'c ArraySchema {
        &self.fragment.schema
    }
}

impl Checker<'_> {
    pub(super) fn fragment(
        &mut self,
        at: &Key,
        array: &Array,
        fragment: &Fragment,
        schemas: &[Known],
        copies: &Copies,
    ) -> Result<()> {
        let metadata = fragment.key.join(METADATA)?;
        if self.store.size(&metadata)?.is_none() {
            return Ok(());
        }
        let place = Place::of(at).file(&metadata);
        let mut lacks_schema = false;
        let opened = OpenedFragment::read(&self.generic_tiles(), fragment, None, &mut |name| {
            let mut all = schemas.iter();
            let found = all.find(|known| match name {
                Some(name) => known.key.name().as_bytes() == name,
                None => known.is_old,
            });
            lacks_schema = found.is_none();
            let schema = found.map(|known| Arc::clone(&known.schema));
            schema.ok_or_else(|| {
                let name = name.map_or("__array_schema.tdb".into(), String::from_utf8_lossy);
                Error::malformed(format!(
                    "schema {name:?}, which the array does not have or which cannot be read"
                ))
            })
        });
        let rule = if lacks_schema { &rule::FRAGMENT_SCHEMA } else { &rule::FOOTER };
        let Some(opened) = self.findings.valid(opened, rule, place)? else { return Ok(()) };
        self.footer_copy(at, fragment, copies)?;
        let Some((tiles, dense)) = self.tile_count(place, &opened) else { return Ok(()) };
        let checked = Checked { at, array, fragment: &opened, metadata: &metadata, schemas, tiles, dense };
        self.footer(&checked);
        self.rectangles(&checked)?;
        self.summaries(&checked)?;
        let conditions = opened.processed_conditions(&self.generic_tiles());
        self.findings.valid(conditions, &rule::STRUCTURE, place)?;
        if tiles > 0 {
            for field in fields_of(&opened) {
                let is_sound = self.files(&checked, field)?;
                if is_sound && self.options.values {
                    self.field(&checked, field)?;
                }
            }
            if self.options.values && !opened.footer.dense {
                self.order(&checked)?;
            }
        }
        Ok(())
    }

    /// The number of tiles, and for a dense fragment the location of its cells.
    fn tile_count(
        &mut self,
        place: Place<'_>,
        fragment: &OpenedFragment,
    ) -> Option<(u64, Option<(DenseDomain, IndexBox)>)> {
        let footer = &fragment.footer;
        if !footer.dense {
            return Some((footer.sparse_tile_num, None));
        }
        let Some(rectangle) = &footer.non_empty_domain else { return Some((0, None)) };
        let counted = DenseDomain::of(&fragment.schema).and_then(|domain| {
            let within = domain.indexes(&fragment.schema, rectangle)?;
            domain.tile_cells()?;
            let sides = within.first.iter().zip(&within.last).zip(&domain.tile);
            let count = sides.fold(1_u64, |count, ((first, last), tile)| {
                let tiles = (last / tile).saturating_sub(first / tile).saturating_add(1);
                count.saturating_mul(tiles)
            });
            Ok((count, Some((domain, within))))
        });
        match counted {
            Ok(counted) => Some(counted),
            Err(e) => {
                self.findings.add(&rule::FOOTER, place, e.detail().to_owned());
                None
            }
        }
    }

    fn footer(&mut self, checked: &Checked<'_>) {
        let Checked { fragment, array, .. } = checked;
        let (footer, place) = (&fragment.footer, checked.place());
        let is_right = match fragment.name.form {
            Form::UuidStart | Form::UuidStartEnd => footer.version <= 2,
            Form::Unversioned => matches!(footer.version, 3 | 4),
            Form::Versioned(version) => footer.version == version,
        };
        if !is_right {
            let message = format!(
                "version {}, the name of the fragment says {}",
                footer.version,
                fragment.name.fragment_version()
            );
            self.findings.add(&rule::FOOTER, place, message);
        }
        let (own, newest) = (checked.schema(), array.schema());
        let dimensions = |of: &ArraySchema| {
            let all = of.domain.dimensions.iter();
            let kept = |of: &Dimension| Dimension { filters: FilterPipeline::default(), ..of.clone() };
            all.map(kept).collect::<Vec<_>>()
        };
        let orders = |of: &ArraySchema| (of.array_type, of.tile_order, of.cell_order);
        if dimensions(own) != dimensions(newest) || orders(own) != orders(newest) {
            let message = "the schema of the fragment has other dimensions or orders than the array";
            self.findings.add(&rule::FRAGMENT_SCHEMA, place, message);
        }
        if footer.dense && own.array_type == ArrayType::Sparse {
            self.findings.add(&rule::FOOTER, place, "a dense fragment in a sparse array");
        }
        if !footer.dense && checked.tiles > 0 {
            let (last, capacity) = (footer.last_tile_cell_num, own.capacity);
            if last == 0 || last > capacity {
                let message = format!("{last} cells in the last tile, expected 1 to {capacity}");
                self.findings.add(&rule::FOOTER, place, message);
            }
            if footer.non_empty_domain.is_none() {
                let message = format!("{} tiles, but no non-empty domain", checked.tiles);
                self.findings.add(&rule::FOOTER, place, message);
            }
        }
        let Some(rectangle) = &footer.non_empty_domain else { return };
        for (dimension, range) in own.domain.dimensions.iter().zip(&rectangle.ranges) {
            let order = |a: &[u8], b: &[u8]| compare(dimension.data_type, a, b);
            let ends =
                dimension.domain.split_at_checked(range.min.len()).filter(|_| !dimension.domain.is_empty());
            let is_outside = ends.is_some_and(|(low, high)| {
                order(&range.min, low) == Some(Ordering::Less)
                    // The tiles of dense fragments may extend past the domain.
                    || (!footer.dense && order(high, &range.max) == Some(Ordering::Less))
            });
            if is_outside || order(&range.min, &range.max) == Some(Ordering::Greater) {
                let name = String::from_utf8_lossy(&dimension.name);
                let message = format!(
                    "the non-empty domain leaves the domain of dimension {name:?}, or ends before it begins"
                );
                self.findings.add(&rule::FOOTER, place, message);
            }
        }
    }

    /// Checks that each rectangle of the R-tree contains those below it, and that the non-empty domain contains all of
    /// them.
    fn rectangles(&mut self, checked: &Checked<'_>) -> Result<()> {
        let fragment = checked.fragment;
        let read = fragment.r_tree(&self.generic_tiles());
        let Some(tree) = self.findings.valid(read, &rule::R_TREE, checked.place())? else { return Ok(()) };
        let found = tree.leaves().map_or(0, Mbrs::len) as u64;
        let expected = if fragment.footer.dense { 0 } else { checked.tiles };
        if found != expected {
            let message = format!("{found} rectangles, expected one for each of {expected} tiles");
            self.findings.add(&rule::R_TREE, checked.place(), message);
            return Ok(());
        }
        let sizes = checked.schema().domain.coordinate_sizes();
        let fanout = usize::try_from(tree.fanout.max(1)).unwrap_or(usize::MAX);
        let root = fragment.footer.non_empty_domain.as_ref();
        for (depth, level) in tree.levels.iter().enumerate() {
            let above = depth.checked_sub(1).and_then(|above| tree.levels.get(above));
            for position in 0..level.len() {
                let outer = match above {
                    Some(above) => above.get(position / fanout, &sizes)?,
                    None => root.cloned(),
                };
                let (Some(outer), Some(inner)) = (outer, level.get(position, &sizes)?) else { continue };
                if let Some(dimension) = uncovered(checked.schema(), &outer, &inner) {
                    let name = String::from_utf8_lossy(dimension);
                    let what =
                        if above.is_some() { "the rectangle above it" } else { "the non-empty domain" };
                    let message = format!(
                        "rectangle {position} of level {depth} leaves {what} along dimension {name:?}"
                    );
                    self.findings.add(&rule::R_TREE, checked.place(), message);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Checks the files of a field and the offsets of its tiles. Returns whether its tiles can be read.
    fn files(&mut self, checked: &Checked<'_>, field: FragmentField) -> Result<bool> {
        let Checked { at, fragment, tiles, .. } = checked;
        let (at, tiles) = (*at, *tiles);
        let lists = fragment.tile_lists(&self.generic_tiles(), field);
        let Some(lists) = self.findings.valid(lists, &rule::TILE_OFFSETS, checked.place())? else {
            return Ok(false);
        };
        let keys = self.findings.valid(fragment.file(field), &rule::FOOTER, checked.place())?;
        let (Some(keys), Ok(sizes), Ok(of)) = (keys, fragment.file_sizes(field), fragment.field_type(field))
        else {
            return Ok(false);
        };
        let is_var = of.cell_val_num.is_var();
        let files = [
            (true, sizes.fixed, &lists.fixed),
            (is_var, sizes.var, &lists.var),
            (of.nullable, sizes.validity, &lists.validity),
        ];
        let mut is_sound = true;
        for (key, (is_there, size, offsets)) in keys.iter().zip(files) {
            if !is_there {
                continue;
            }
            let place = Place::of(at).file(key);
            match self.store.size(key)? {
                None => {
                    self.findings.add(&rule::FILE_MISSING, place, format!("{size} bytes by the footer"));
                    is_sound = false;
                }
                Some(found) if found != size => {
                    let rule = if found < size { &rule::FILE_SIZE } else { &rule::TRAILING_BYTES };
                    self.findings.add(rule, place, format!("{found} bytes, the footer says {size}"));
                    is_sound &= found > size;
                }
                Some(_) => {}
            }
            if let Some(message) = fault_of_offsets(offsets, tiles, size) {
                self.findings.add(&rule::TILE_OFFSETS, place, message);
                is_sound = false;
            }
        }
        if is_var && lists.var_sizes.len() as u64 != tiles {
            let message = format!("{} sizes of tiles, expected {tiles}", lists.var_sizes.len());
            self.findings.add(&rule::TILE_OFFSETS, checked.place(), message);
            is_sound = false;
        }
        Ok(is_sound)
    }
}

/// What is wrong with the offsets of tiles in a file of this size.
fn fault_of_offsets(offsets: &[u64], tiles: u64, size: u64) -> Option<String> {
    if offsets.len() as u64 != tiles {
        return Some(format!("{} offsets, expected one for each of {tiles} tiles", offsets.len()));
    }
    if let Some(first) = offsets.first().filter(|first| **first != 0) {
        return Some(format!("the first tile begins at byte {first}, expected 0"));
    }
    let pairs = offsets.iter().zip(offsets.iter().skip(1).chain([&size]));
    let (tile, (start, end)) = pairs.enumerate().find(|(_, (start, end))| start >= end)?;
    let what = if tile.saturating_add(1) == offsets.len() { "the file ends" } else { "the next begins" };
    Some(format!("tile {tile} begins at byte {start}, {what} at {end}"))
}

/// The name of a dimension along which a rectangle extends past another one.
fn uncovered<'s>(schema: &'s ArraySchema, outer: &Mbr, inner: &Mbr) -> Option<&'s [u8]> {
    let dimensions = schema.domain.dimensions.iter().zip(outer.ranges.iter().zip(&inner.ranges));
    dimensions.into_iter().find_map(|(dimension, (outer, inner))| {
        let is_before = |a: &[u8], b: &[u8]| compare(dimension.data_type, a, b) == Some(Ordering::Less);
        let leaves = is_before(&inner.min, &outer.min) || is_before(&outer.max, &inner.max);
        leaves.then_some(dimension.name.as_slice())
    })
}

/// The fields of a fragment that have files.
fn fields_of(fragment: &OpenedFragment) -> Vec<FragmentField> {
    let footer = &fragment.footer;
    let mut fields: Vec<FragmentField> =
        (0..fragment.schema.attributes.len()).map(FragmentField::Attribute).collect();
    match (footer.dense, fragment.version() < 5) {
        (true, _) => {}
        (false, true) => fields.push(FragmentField::Coordinates),
        (false, false) => {
            fields.extend((0..fragment.schema.domain.dimensions.len()).map(FragmentField::Dimension));
        }
    }
    fields.extend(footer.has_timestamps.then_some(FragmentField::Timestamps));
    fields.extend(footer.has_delete_metadata.then_some(FragmentField::DeleteTimestamps));
    fields
}
