//! Cells of sparse arrays.
//!
//! Cells come fragment by fragment, the newest first, and in each in the order in which they are stored. Tiles whose
//! rectangle lies outside of the ranges are not read.
//!
//! Where coordinates may be written once only, the newest cell counts: the coordinates of fragments that overlap, or that
//! have timestamps, are read once before, and held in memory. A delete removes cells that are older than it.

use super::compare::{compare, holds};
use super::coordinates::{Cells, Fields, FragmentKeys, cell_count, times};
use super::tile::{FieldFiles, FieldTiles, Tile};
use crate::array::Array;
use crate::array::fragment::{FragmentField, OpenedFragment};
use crate::format::array_schema::{Attribute, Dimension};
use crate::format::data_type::DataType;
use crate::format::delete_condition::{DeleteCondition, Node};
use crate::format::fragment_metadata::mbr::{CoordinateSize, Mbr, Range};
use crate::format::layout::ArrayType;
use hyperslab_core::{Budget, Charge, Error, Result};
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

/// Which cells are read, and what of them.
#[derive(Clone, Debug, Default)]
pub struct SparseRequest {
    /// The range of each dimension, both ends inside. Dimensions without a range, and those missing at the end, are read
    /// whole.
    pub ranges: Vec<Option<Range>>,
    /// The columns of batches.
    pub columns: Vec<SparseField>,
}

/// A dimension or an attribute, by its position in the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SparseField {
    /// The coordinates of a dimension.
    Dimension(usize),
    /// The values of an attribute.
    Attribute(usize),
}

/// Some cells: those of a tile that are asked for.
#[derive(Clone, Debug, Default)]
pub struct SparseCells {
    /// The number of cells.
    pub count: usize,
    /// A column for each field that was asked for.
    pub columns: Vec<SparseColumn>,
}

/// A field of cells.
#[derive(Clone, Debug, Default)]
pub struct SparseColumn {
    /// The bytes of the cells, as they are stored; those of null cells mean nothing.
    pub bytes: Vec<u8>,
    /// Where each cell ends in [`bytes`](Self::bytes).
    pub ends: Vec<usize>,
    /// A byte for each cell, 0 if it is null.
    pub validity: Vec<u8>,
}

impl Array {
    /// Gives the cells of a sparse array to `take`, in batches.
    ///
    /// # Errors
    /// The first of `take`; [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for dense arrays and fields
    /// that do not exist; [`LimitExceeded`](hyperslab_core::ErrorKind::LimitExceeded) if the coordinates of fragments that
    /// overlap need more memory than is allowed; otherwise if a file cannot be read or is malformed.
    pub fn read_sparse(
        &self,
        request: &SparseRequest,
        take: &mut dyn FnMut(&SparseCells) -> Result<()>,
    ) -> Result<()> {
        if self.schema().array_type != ArrayType::Sparse {
            return Err(Error::invalid("a dense array, expected a sparse one"));
        }
        check_ranges(self.dimensions(), &request.ranges)?;
        let deletes = self.deletes()?;
        let deletes = deletes.into_iter().map(|(commit, condition)| Delete {
            time: commit.name.start,
            marker: commit.marker(),
            condition,
        });
        let reading = Reading { array: self, request, deletes: deletes.collect() };
        let newest = reading.newest()?;
        for (ordinal, fragment) in self.fragments()?.iter().enumerate().rev() {
            reading.give(ordinal, fragment, &newest, take)?;
        }
        Ok(())
    }
}

fn check_ranges(dimensions: &[Dimension], ranges: &[Option<Range>]) -> Result<()> {
    let (found, most) = (ranges.len(), dimensions.len());
    if found > most {
        return Err(Error::invalid(format!("ranges of {found} dimensions, the array has {most}")));
    }
    for (dimension, range) in dimensions.iter().zip(ranges) {
        let (Some(Range { min, max }), CoordinateSize::Fixed(size)) = (range, dimension.coordinate_size())
        else {
            continue;
        };
        if min.len() != size || max.len() != size {
            let (min, max) = (min.len(), max.len());
            return Err(Error::invalid(format!("a range of {min} and {max} bytes, expected {size}")));
        }
    }
    Ok(())
}

struct Reading<'a> {
    array: &'a Array,
    request: &'a SparseRequest,
    deletes: Vec<Delete>,
}

struct Delete {
    time: u64,
    marker: String,
    condition: DeleteCondition,
}

/// The newest cell of coordinates: its time, its fragment, its tile and its position there.
type Place = (u64, usize, u64, usize);

/// The newest cells of coordinates that may have been written more than once.
#[derive(Default)]
struct Newest {
    contested: BTreeSet<usize>,
    places: HashMap<Vec<u8>, Place>,
    charges: Vec<Charge>,
}

impl<'a> Reading<'a> {
    /// Reads the coordinates of fragments that may hold the same ones.
    fn newest(&self) -> Result<Newest> {
        let mut newest = Newest::default();
        if self.array.schema().allows_dups {
            return Ok(newest);
        }
        let fragments = self.array.fragments()?;
        let budget = Budget::new(&self.array.options.limits);
        for (ordinal, fragment) in fragments.iter().enumerate() {
            let others = fragments.iter().enumerate().filter(|(other, _)| *other != ordinal);
            let mut domains = others.filter_map(|(_, other)| other.footer.non_empty_domain.as_ref());
            let own = fragment.footer.non_empty_domain.as_ref();
            let overlaps = own.is_some_and(|own| domains.any(|other| self.overlap(own, other)));
            if overlaps || fragment.footer.has_timestamps {
                newest.contested.insert(ordinal);
            }
        }
        for ordinal in newest.contested.clone() {
            let Some(fragment) = fragments.get(ordinal) else { continue };
            let keys = FragmentKeys::of(fragment)?;
            let fields = Fields::open(self.array, fragment, &keys)?;
            for tile in 0..fragment.footer.sparse_tile_num {
                let Some(cells) = self.cells(&fields, tile)? else { continue };
                for cell in &cells.kept {
                    let time = cells.times.get(*cell).copied().unwrap_or(fragment.name.start);
                    let (key, place) = (cells.key(*cell), (time, ordinal, tile, *cell));
                    match newest.places.get_mut(&key) {
                        Some(found) if (found.0, found.1) >= (time, ordinal) => {}
                        Some(found) => *found = place,
                        None => {
                            newest.charges.push(budget.charge((key.len() + ENTRY) as u64)?);
                            newest.places.insert(key, place);
                        }
                    }
                }
            }
        }
        Ok(newest)
    }

    /// Gives the cells of a fragment that count.
    fn give(
        &self,
        ordinal: usize,
        fragment: &OpenedFragment,
        newest: &Newest,
        take: &mut dyn FnMut(&SparseCells) -> Result<()>,
    ) -> Result<()> {
        let deletes = self.deletes_of(fragment)?;
        // What conditions compare is read as well as what is asked for.
        let mut needed: BTreeSet<SparseField> = self.request.columns.iter().copied().collect();
        for delete in &deletes {
            for node in delete.condition.nodes() {
                if let Node::Value(comparison) = node {
                    needed.extend(self.field(&comparison.field));
                }
            }
        }
        let attributes = self.attributes(fragment, &needed)?;
        let attribute_keys: Vec<Option<FieldFiles>> = attributes
            .iter()
            .map(|(_, _, own)| own.map(|own| FieldFiles::of(fragment, own)).transpose())
            .collect::<Result<_>>()?;
        let keys = FragmentKeys::of(fragment)?;
        let fields = Fields::open(self.array, fragment, &keys)?;
        let mut tiles = Vec::with_capacity(attributes.len());
        for ((position, attribute, own), keys) in attributes.iter().zip(&attribute_keys) {
            let open = match (own, keys) {
                (Some(own), Some(keys)) => Some(FieldTiles::open(self.array, fragment, *own, keys)?),
                _ => None,
            };
            tiles.push((*position, *attribute, open, Tile::default()));
        }
        for tile in 0..fragment.footer.sparse_tile_num {
            let Some(mut cells) = self.cells(&fields, tile)? else { continue };
            if newest.contested.contains(&ordinal) {
                let mut kept = std::mem::take(&mut cells.kept);
                kept.retain(|cell| {
                    let place = newest.places.get(&cells.key(*cell));
                    place.is_some_and(|(_, of, at, position)| (*of, *at, *position) == (ordinal, tile, *cell))
                });
                cells.kept = kept;
            }
            if cells.kept.is_empty() {
                continue;
            }
            for (_, _, open, to) in &mut tiles {
                if let Some(open) = open {
                    open.read(tile, cell_count(fragment, tile), to)?;
                }
            }
            let bytes = |field: SparseField, cell: usize| match field {
                SparseField::Dimension(position) => {
                    let dimension = self.array.dimensions().get(position)?;
                    Some((dimension.data_type, Some(cells.coordinate(position, cell))))
                }
                SparseField::Attribute(position) => {
                    let (_, attribute, open, tile) = tiles.iter().find(|(own, ..)| *own == position)?;
                    let value = match open {
                        Some(_) => tile.cell(cell).filter(|_| tile.validity.get(cell) != Some(&0)),
                        None if attribute.nullable && attribute.fill_value_validity == 0 => None,
                        None => attribute.fill_value.as_deref(),
                    };
                    Some((attribute.data_type, value))
                }
            };
            let deleted = self.deleted(&fields, tile)?;
            let end = self.array.options.at.end;
            let is_kept = |cell: usize| {
                let time = cells.times.get(cell).copied().unwrap_or(fragment.name.start);
                deleted.get(cell).is_none_or(|time| *time > end)
                    && deletes
                        .iter()
                        .filter(|delete| delete.time >= time)
                        .all(|delete| holds(&delete.condition, |name| bytes(self.field(name)?, cell)))
            };
            let kept: Vec<usize> = cells.kept.iter().copied().filter(|cell| is_kept(*cell)).collect();
            let column = |field: &SparseField| match *field {
                SparseField::Dimension(position) => {
                    cells.dimensions.get(position).map(|tile| SparseColumn::of(tile, &kept))
                }
                SparseField::Attribute(position) => {
                    let (_, attribute, open, tile) = tiles.iter().find(|(own, ..)| *own == position)?;
                    Some(match open {
                        Some(_) => SparseColumn::of(tile, &kept),
                        None => SparseColumn::filled(attribute, kept.len()),
                    })
                }
            };
            let columns = self.request.columns.iter().filter_map(column).collect();
            let batch = SparseCells { count: kept.len(), columns };
            if batch.count > 0 {
                take(&batch)?;
            }
        }
        Ok(())
    }

    /// The attributes that are needed, each with its field in the fragment. `None` if it is newer than the fragment.
    fn attributes(
        &self,
        fragment: &OpenedFragment,
        needed: &BTreeSet<SparseField>,
    ) -> Result<Vec<(usize, &'a Attribute, Option<FragmentField>)>> {
        let mut attributes = Vec::new();
        for field in needed {
            match *field {
                SparseField::Dimension(position) if position < self.array.dimensions().len() => {}
                SparseField::Dimension(position) => {
                    return Err(Error::invalid(format!(
                        "dimension {position}, which the array does not have"
                    )));
                }
                SparseField::Attribute(position) => {
                    let attribute = self.array.attributes().get(position).ok_or_else(|| {
                        Error::invalid(format!("attribute {position}, which the array does not have"))
                    })?;
                    let own = fragment.attribute(attribute)?;
                    attributes.push((position, attribute, own));
                }
            }
        }
        Ok(attributes)
    }

    fn field(&self, name: &[u8]) -> Option<SparseField> {
        let dimension = self.array.dimensions().iter().position(|dimension| dimension.name == name);
        let attribute = || self.array.attribute(name).map(SparseField::Attribute);
        dimension.map(SparseField::Dimension).or_else(attribute)
    }

    /// The deletes that are to be applied to a fragment.
    fn deletes_of(&self, fragment: &OpenedFragment) -> Result<Vec<&Delete>> {
        let mut deletes: Vec<&Delete> =
            self.deletes.iter().filter(|delete| delete.time >= fragment.name.start).collect();
        if !deletes.is_empty() {
            let processed = fragment.processed_conditions(&self.array.generic_tiles())?;
            deletes.retain(|delete| processed.iter().all(|file| file != delete.marker.as_bytes()));
        }
        Ok(deletes)
    }

    fn deleted(&self, fields: &Fields<'_>, tile: u64) -> Result<Vec<u64>> {
        let Some(field) = &fields.delete_timestamps else { return Ok(Vec::new()) };
        times(field, tile, cell_count(fields.fragment, tile))
    }

    /// The coordinates of a tile. `None` if its rectangle is outside of the ranges.
    fn cells(&self, fields: &Fields<'_>, tile: u64) -> Result<Option<Cells>> {
        let fragment = fields.fragment;
        let sizes = fragment.schema.domain.coordinate_sizes();
        let tree = fragment.r_tree(&self.array.generic_tiles())?;
        let position = usize::try_from(tile).unwrap_or(usize::MAX);
        let rectangle = match tree.leaves() {
            Some(leaves) => leaves.get(position, &sizes)?,
            None => None,
        };
        if rectangle.is_some_and(|rectangle| !self.is_near(&rectangle)) {
            return Ok(None);
        }
        let count = cell_count(fragment, tile);
        let mut cells = fields.read(tile)?;
        let at = self.array.options.at;
        let is_kept = |cell: usize| {
            cells.times.get(cell).is_none_or(|time| (at.start..=at.end).contains(time))
                && self.ranges().all(|(position, dimension, range)| {
                    is_within(dimension.data_type, cells.coordinate(position, cell), range)
                })
        };
        // Coordinates of so many cells were decoded, so the number is in proportion to memory.
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        cells.kept = (0..count).filter(|cell| is_kept(*cell)).collect();
        Ok(Some(cells))
    }

    fn ranges(&self) -> impl Iterator<Item = (usize, &Dimension, &Range)> {
        let dimensions = self.array.dimensions().iter().enumerate().zip(&self.request.ranges);
        dimensions.filter_map(|((position, dimension), range)| Some((position, dimension, range.as_ref()?)))
    }

    fn is_near(&self, rectangle: &Mbr) -> bool {
        self.ranges().all(|(position, dimension, range)| {
            rectangle.ranges.get(position).is_none_or(|own| is_shared(dimension.data_type, own, range))
        })
    }

    fn overlap(&self, a: &Mbr, b: &Mbr) -> bool {
        let dimensions = self.array.dimensions().iter();
        dimensions.zip(a.ranges.iter().zip(&b.ranges)).all(|(of, (a, b))| is_shared(of.data_type, a, b))
    }
}

impl SparseColumn {
    /// These cells of a tile.
    fn of(tile: &Tile, kept: &[usize]) -> SparseColumn {
        let mut column = SparseColumn::default();
        match tile.fixed_cells(kept.len()) {
            // All cells of the tile.
            Some((cells, size)) => {
                column.bytes.extend_from_slice(cells);
                column.ends.extend((1..=kept.len()).map(|count| count.saturating_mul(size)));
            }
            None => {
                for cell in kept {
                    column.bytes.extend_from_slice(tile.cell(*cell).unwrap_or_default());
                    column.ends.push(column.bytes.len());
                }
            }
        }
        column.validity = match tile.validity.is_empty() {
            true => vec![1; kept.len()],
            false => kept.iter().map(|cell| tile.validity.get(*cell).copied().unwrap_or(1)).collect(),
        };
        column
    }

    /// Cells of an attribute that the fragment does not have.
    fn filled(attribute: &Attribute, count: usize) -> SparseColumn {
        let value = attribute.fill_value.as_deref().unwrap_or_default();
        let is_valid = !attribute.nullable || attribute.fill_value_validity != 0;
        SparseColumn {
            bytes: value.repeat(count),
            ends: (1..=count).map(|count| count.saturating_mul(value.len())).collect(),
            validity: vec![u8::from(is_valid); count],
        }
    }
}

fn is_within(data_type: DataType, coordinate: &[u8], range: &Range) -> bool {
    compare(data_type, coordinate, &range.min) != Some(Ordering::Less)
        && compare(data_type, coordinate, &range.max) != Some(Ordering::Greater)
}

fn is_shared(data_type: DataType, a: &Range, b: &Range) -> bool {
    compare(data_type, &a.min, &b.max) != Some(Ordering::Greater)
        && compare(data_type, &b.min, &a.max) != Some(Ordering::Greater)
}

/// What an entry of the newest cells takes besides its key.
const ENTRY: usize = 96;
