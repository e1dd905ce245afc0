//! Reads cells of sparse arrays.
//!
//! A [plan](SparsePlan) determines which tiles are read, in parts that threads can read at the same time. Tiles whose
//! rectangle lies outside of the ranges are not read. If coordinates may be written only once, overlapping fragments
//! are merged in the global order, and the newest cell with equal coordinates is valid. A delete removes cells that are
//! older than it.

use super::columns::{Kept, Shape};
use super::compare::{Compared, compare, holds, mask};
use super::coordinates::{Cells, Fields, FragmentKeys, Wanted, cell_count, is_gone};
use super::plan::{Run, clipped, tiles_near};
use super::tile::{FieldFiles, FieldTiles, Tile};
use crate::array::Array;
use crate::array::fragment::{FragmentField, OpenedFragment};
use crate::format::array_schema::{Attribute, Dimension};
use crate::format::data_type::DataType;
use crate::format::delete_condition::{DeleteCondition, Node};
use crate::format::fragment_metadata::mbr::{CoordinateSize, Mbr, Range};
use crate::format::layout::ArrayType;
use hyperslab_core::{Error, Result};
use std::cmp::Ordering;
use std::collections::BTreeSet;

pub use super::plan::SparsePlan;

/// Which cells are read, and which of their fields.
#[derive(Clone, Debug, Default)]
pub struct SparseRequest {
    /// The range of each dimension, with both ends inclusive. Dimensions without a range, and those missing at the end,
    /// are read completely.
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

/// A batch of cells: the requested ones of a tile.
#[derive(Clone, Debug, Default)]
pub struct SparseCells {
    /// The number of cells.
    pub count: usize,
    /// A column for each requested field.
    pub columns: Vec<SparseColumn>,
}

/// One field of a batch of cells.
#[derive(Clone, Debug, Default)]
pub struct SparseColumn {
    /// The bytes of the cells in their stored form; those of null cells have no meaning.
    pub bytes: Vec<u8>,
    /// The end of each cell in [`bytes`](Self::bytes).
    pub ends: Vec<usize>,
    /// A byte for each cell, 0 if it is null.
    pub validity: Vec<u8>,
}

/// Buffers that are reused from tile to tile. Each thread needs its own.
#[derive(Default)]
pub struct SparseScratch {
    pub(super) cells: Cells,
    pub(super) output: Output,
}

/// The attributes of a tile, and the columns that are built from them.
#[derive(Default)]
pub(super) struct Output {
    attributes: Vec<Tile>,
    batch: SparseCells,
    shapes: Vec<Shape>,
}

impl Array {
    /// Passes the cells of a sparse array to `take`, in batches: those of all parts of a [plan](Self::plan_sparse).
    ///
    /// # Errors
    /// As [`plan_sparse`](Self::plan_sparse) and [`SparsePlan::read`].
    pub fn read_sparse(
        &self,
        request: &SparseRequest,
        take: &mut dyn FnMut(&SparseCells) -> Result<()>,
    ) -> Result<()> {
        let (plan, mut scratch) = (self.plan_sparse(request)?, SparseScratch::default());
        (0..plan.len()).try_for_each(|part| plan.read(part, &mut scratch, take))
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

/// A request for cells of an array.
pub(super) struct Reading<'a> {
    pub(super) array: &'a Array,
    pub(super) fragments: &'a [OpenedFragment],
    request: SparseRequest,
    deletes: Vec<Delete>,
    /// The dimensions whose coordinates are needed.
    wanted: Vec<bool>,
}

struct Delete {
    time: u64,
    marker: String,
    condition: DeleteCondition,
}

/// What is read of a fragment in addition to its coordinates.
pub(super) struct Needed<'a> {
    deletes: Vec<&'a Delete>,
    attributes: Vec<NeededAttribute<'a>>,
}

struct NeededAttribute<'a> {
    position: usize,
    attribute: &'a Attribute,
    /// The field and its files. `None` if the attribute is newer than the fragment.
    files: Option<(FragmentField, FieldFiles)>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(array: &'a Array, request: &SparseRequest) -> Result<Reading<'a>> {
        if array.schema().array_type != ArrayType::Sparse {
            return Err(Error::invalid("a dense array, expected a sparse one"));
        }
        check_ranges(array.dimensions(), &request.ranges)?;
        let deletes = array.deletes()?.into_iter().map(|(commit, condition)| Delete {
            time: commit.name.start,
            marker: commit.marker(),
            condition,
        });
        let (request, deletes) = (request.clone(), deletes.collect());
        let fragments = array.fragments()?;
        let mut reading = Reading { array, fragments, request, deletes, wanted: Vec::new() };
        let has_range = |position: &usize| reading.request.ranges.get(*position).is_some_and(Option::is_some);
        let mut wanted: Vec<bool> = (0..array.dimensions().len()).map(|n| has_range(&n)).collect();
        let conditions = reading.deletes.iter().flat_map(|delete| reading.fields_of(&delete.condition));
        for field in reading.request.columns.iter().copied().chain(conditions) {
            match field {
                SparseField::Dimension(position) => match wanted.get_mut(position) {
                    Some(wanted) => *wanted = true,
                    None => {
                        let detail = format!("dimension {position}, which the array does not have");
                        return Err(Error::invalid(detail));
                    }
                },
                SparseField::Attribute(position) if position < array.attributes().len() => {}
                SparseField::Attribute(position) => {
                    let detail = format!("attribute {position}, which the array does not have");
                    return Err(Error::invalid(detail));
                }
            }
        }
        reading.wanted = wanted;
        Ok(reading)
    }

    /// Whether no delete or time excludes any cell of a tile that is completely within the ranges.
    pub(super) fn keeps_all(&self) -> bool {
        self.deletes.is_empty()
    }

    /// Whether a fragment may have cells within the ranges.
    pub(super) fn is_near(&self, ordinal: usize) -> bool {
        let fragment = self.fragments.get(ordinal);
        let domain = fragment.and_then(|fragment| fragment.footer.non_empty_domain.as_ref());
        domain.is_none_or(|domain| self.meets(domain))
    }

    /// The part of the domain of a fragment that is within the ranges, if the fragment stores its domain.
    pub(super) fn domain_within(&self, ordinal: usize) -> Option<Mbr> {
        let mut domain = self.fragments.get(ordinal)?.footer.non_empty_domain.clone()?;
        for (position, dimension, range) in self.ranges() {
            if let Some(own) = domain.ranges.get_mut(position) {
                *own = clipped(dimension.data_type, own, range);
            }
        }
        Some(domain)
    }

    /// The tiles of a fragment within the ranges, and whether all their cells are.
    pub(super) fn tiles_of(&self, fragment: &OpenedFragment) -> Result<(Vec<std::ops::Range<u64>>, bool)> {
        let count = fragment.footer.sparse_tile_num;
        let domain = fragment.footer.non_empty_domain.as_ref();
        if count == 0 {
            return Ok((Vec::new(), true));
        }
        if count > MANY_TILES {
            let field =
                if fragment.version() < 5 { FragmentField::Coordinates } else { FragmentField::Dimension(0) };
            let found = fragment.tile_lists(&self.array.generic_tiles(), field)?.fixed.len();
            if found as u64 != count {
                let detail = format!("offsets of {found} tiles, the footer says {count}");
                return Err(Error::malformed(detail).in_object(&fragment.folder));
            }
        }
        if self.ranges().next().is_none() || domain.is_some_and(|domain| self.encloses(domain)) {
            return Ok((std::iter::once(0..count).collect(), true));
        }
        let tree = fragment.r_tree(&self.array.generic_tiles())?;
        let found = tree.leaves().map_or(0, |leaves| leaves.len() as u64);
        if found != count {
            let detail = format!("an R-tree of {found} tiles, the footer says {count}");
            return Err(Error::malformed(detail).in_object(&fragment.folder));
        }
        let sizes = fragment.schema.domain.coordinate_sizes();
        Ok((tiles_near(tree, &sizes, &|rectangle| self.meets(rectangle))?, false))
    }

    /// Outputs the cells of tiles, all of which are valid.
    pub(super) fn read_runs(
        &self,
        runs: &[Run],
        scratch: &mut SparseScratch,
        take: &mut dyn FnMut(&SparseCells) -> Result<()>,
    ) -> Result<()> {
        for runs in runs.chunk_by(|a, b| a.fragment == b.fragment) {
            let ordinal = runs.first().map_or(0, |run| run.fragment);
            let Some(fragment) = self.fragments.get(ordinal) else { continue };
            let (keys, needed) = (FragmentKeys::of(fragment)?, self.needed(fragment)?);
            let times = !needed.deletes.is_empty() || !self.sees_all_of(fragment);
            // Decoded tiles confirm the number of their cells, which otherwise only the footer states.
            let mut dimensions = self.wanted.clone();
            let is_proven =
                dimensions.contains(&true) || needed.attributes.iter().any(|of| of.files.is_some());
            if let Some(first) = dimensions.first_mut() {
                *first |= !is_proven;
            }
            let fields =
                Fields::open(self.array, fragment, &keys, Wanted { dimensions: &dimensions, times })?;
            let attributes = self.open(fragment, &needed)?;
            for tile in runs.iter().flat_map(|run| run.tiles.clone()) {
                let SparseScratch { cells, output } = &mut *scratch;
                fields.read(tile, cells)?;
                let kept = self.within(fragment, tile, cells)?;
                self.give(&fields, tile, cells, kept, (&needed, &attributes), output, take)?;
            }
        }
        Ok(())
    }

    /// What is needed of a fragment in addition to its coordinates.
    pub(super) fn needed(&self, fragment: &OpenedFragment) -> Result<Needed<'_>> {
        let deletes = self.deletes_of(fragment)?;
        // The fields that conditions compare are read in addition to the requested ones.
        let mut fields: BTreeSet<SparseField> = self.request.columns.iter().copied().collect();
        fields.extend(deletes.iter().flat_map(|delete| self.fields_of(&delete.condition)));
        let mut attributes = Vec::new();
        for field in fields {
            let SparseField::Attribute(position) = field else { continue };
            let Some(attribute) = self.array.attributes().get(position) else { continue };
            let own = fragment.attribute(attribute)?;
            let files = own.map(|own| Ok::<_, Error>((own, FieldFiles::of(fragment, own)?))).transpose()?;
            attributes.push(NeededAttribute { position, attribute, files });
        }
        Ok(Needed { deletes, attributes })
    }

    /// Opens the files of the attributes.
    pub(super) fn open<'n>(
        &'n self,
        fragment: &'n OpenedFragment,
        needed: &'n Needed<'_>,
    ) -> Result<Vec<Option<FieldTiles<'n>>>> {
        let open = |of: &'n NeededAttribute<'_>| match &of.files {
            Some((own, files)) => FieldTiles::open(self.array, fragment, *own, files).map(Some),
            None => Ok(None),
        };
        needed.attributes.iter().map(open).collect()
    }

    /// Outputs those cells of a tile that no delete removes.
    #[expect(clippy::too_many_arguments, reason = "a tile with all that is known about it")]
    pub(super) fn give(
        &self,
        fields: &Fields<'_>,
        tile: u64,
        cells: &mut Cells,
        mut kept: Kept,
        (needed, open): (&Needed<'_>, &[Option<FieldTiles<'_>>]),
        output: &mut Output,
        take: &mut dyn FnMut(&SparseCells) -> Result<()>,
    ) -> Result<()> {
        if kept.len() == 0 {
            return Ok(());
        }
        let (fragment, Output { attributes, batch, shapes }) = (fields.fragment, output);
        attributes.resize_with(open.len().max(attributes.len()), Tile::default);
        for (field, to) in open.iter().zip(attributes.iter_mut()) {
            if let Some(field) = field {
                field.read(tile, cell_count(fragment, tile), to)?;
            }
        }
        let deleted = fields.deleted(tile)?;
        if !deleted.is_empty() || !needed.deletes.is_empty() {
            let end = self.array.options.at.end;
            let is_kept = |cell: usize| {
                let time = cells.times.get(cell).copied().unwrap_or(fragment.name.start);
                let value =
                    |name: &[u8]| value(self.field(name)?, cell, cells, (self.array, needed, attributes));
                deleted.get(cell).is_none_or(|time| !is_gone(*time, end))
                    && needed
                        .deletes
                        .iter()
                        .filter(|delete| delete.time >= time)
                        .all(|delete| holds(&delete.condition, value))
            };
            kept = kept.filtered(is_kept);
        }
        if kept.len() == 0 {
            return Ok(());
        }
        let columns = &self.request.columns;
        batch.count = kept.len();
        batch.columns.resize_with(columns.len(), SparseColumn::default);
        shapes.resize_with(columns.len(), Shape::default);
        let outputs = batch.columns.iter_mut().zip(shapes);
        for (number, (field, (column, shape))) in columns.iter().zip(outputs).enumerate() {
            let is_last = columns.iter().skip(number).skip(1).all(|other| other != field);
            match *field {
                SparseField::Dimension(position) => {
                    if let Some(tile) = cells.dimensions.get_mut(position) {
                        column.fill(tile, &kept, is_last, shape);
                    }
                }
                SparseField::Attribute(position) => {
                    let found = needed.attributes.iter().position(|of| of.position == position);
                    let of = found.and_then(|at| {
                        Some((needed.attributes.get(at)?, open.get(at)?, attributes.get_mut(at)?))
                    });
                    match of {
                        Some((_, Some(_), tile)) => column.fill(tile, &kept, is_last, shape),
                        Some((of, None, _)) => {
                            column.fill_missing(
                                of.attribute,
                                kept.len(),
                                shape,
                                &self.array.options.limits,
                            )?;
                        }
                        None => {}
                    }
                }
            }
        }
        take(batch)
    }

    /// The cells of a tile within the ranges and the moment.
    pub(super) fn within(&self, fragment: &OpenedFragment, tile: u64, cells: &Cells) -> Result<Kept> {
        // This number of cells was decoded, so it is in proportion to memory.
        let count = usize::try_from(cell_count(fragment, tile)).unwrap_or(usize::MAX);
        let is_inside = match self.ranges().next() {
            None => true,
            Some(_) => {
                let sizes = fragment.schema.domain.coordinate_sizes();
                let tree = fragment.r_tree(&self.array.generic_tiles())?;
                let position = usize::try_from(tile).unwrap_or(usize::MAX);
                let rectangle =
                    tree.leaves().map(|leaves| leaves.get(position, &sizes)).transpose()?.flatten();
                rectangle.is_some_and(|rectangle| self.encloses(&rectangle))
            }
        };
        if is_inside && (cells.times.is_empty() || self.sees_all_of(fragment)) {
            return Ok(Kept::All(count));
        }
        let mut kept = vec![true; count];
        let at = self.array.options.at;
        for (kept, time) in kept.iter_mut().zip(&cells.times) {
            *kept = (at.start..=at.end).contains(time);
        }
        if !is_inside {
            for (position, dimension, range) in self.ranges() {
                if let Some(tile) = cells.dimensions.get(position) {
                    mask(dimension.data_type, tile, range, &mut kept);
                }
            }
        }
        Ok(Kept::of(&kept))
    }

    /// Whether all cells of a fragment are visible at the moment.
    fn sees_all_of(&self, fragment: &OpenedFragment) -> bool {
        let (at, name) = (self.array.options.at, &fragment.name);
        at.start <= name.start && name.end <= at.end
    }

    fn field(&self, name: &[u8]) -> Option<SparseField> {
        let dimension = self.array.dimensions().iter().position(|dimension| dimension.name == name);
        let attribute = || self.array.attribute(name).map(SparseField::Attribute);
        dimension.map(SparseField::Dimension).or_else(attribute)
    }

    /// The fields that a condition compares.
    fn fields_of(&self, condition: &DeleteCondition) -> impl Iterator<Item = SparseField> {
        condition.nodes().iter().filter_map(|node| match node {
            Node::Value(comparison) => self.field(&comparison.field),
            Node::Expression { .. } => None,
        })
    }

    /// The deletes that must be applied to a fragment.
    fn deletes_of(&self, fragment: &OpenedFragment) -> Result<Vec<&Delete>> {
        let mut deletes: Vec<&Delete> =
            self.deletes.iter().filter(|delete| delete.time >= fragment.name.start).collect();
        if !deletes.is_empty() {
            let processed = fragment.processed_conditions(&self.array.generic_tiles())?;
            deletes.retain(|delete| processed.iter().all(|file| file != delete.marker.as_bytes()));
        }
        Ok(deletes)
    }

    fn ranges(&self) -> impl Iterator<Item = (usize, &Dimension, &Range)> {
        let dimensions = self.array.dimensions().iter().enumerate().zip(&self.request.ranges);
        dimensions.filter_map(|((position, dimension), range)| Some((position, dimension, range.as_ref()?)))
    }

    /// Whether part of a rectangle is within the ranges.
    fn meets(&self, rectangle: &Mbr) -> bool {
        self.ranges().all(|(position, dimension, range)| {
            rectangle.ranges.get(position).is_none_or(|own| is_shared(dimension.data_type, own, range))
        })
    }

    /// Whether a rectangle is within the ranges.
    fn encloses(&self, rectangle: &Mbr) -> bool {
        self.ranges().all(|(position, dimension, range)| {
            let is_not_before = |a: &[u8], b: &[u8]| {
                matches!(compare(dimension.data_type, a, b), Some(Ordering::Greater | Ordering::Equal))
            };
            rectangle
                .ranges
                .get(position)
                .is_some_and(|own| is_not_before(&own.min, &range.min) && is_not_before(&range.max, &own.max))
        })
    }

    /// Whether two rectangles overlap.
    pub(super) fn overlap(&self, a: &Mbr, b: &Mbr) -> bool {
        let dimensions = self.array.dimensions().iter();
        dimensions.zip(a.ranges.iter().zip(&b.ranges)).all(|(of, (a, b))| is_shared(of.data_type, a, b))
    }
}

/// The datatype and the bytes of a field of a cell; the bytes are `None` if it is null. `None` if the field does not
/// exist.
fn value<'c>(
    field: SparseField,
    cell: usize,
    cells: &'c Cells,
    (array, needed, attributes): (&Array, &'c Needed<'_>, &'c [Tile]),
) -> Option<Compared<'c>> {
    match field {
        SparseField::Dimension(position) => {
            let dimension = array.dimensions().get(position)?;
            let bytes = Some(cells.coordinate(position, cell));
            let (data_type, cell_val_num) = (dimension.data_type, dimension.cell_val_num);
            Some(Compared { data_type, cell_val_num, bytes })
        }
        SparseField::Attribute(position) => {
            let mut all = needed.attributes.iter().zip(attributes);
            let (of, tile) = all.find(|(of, _)| of.position == position)?;
            // TileDB does not compare the fill value of an attribute that is newer than the fragment.
            of.files.as_ref()?;
            let Attribute { data_type, cell_val_num, .. } = *of.attribute;
            let bytes = tile.cell(cell).filter(|_| tile.validity.get(cell) != Some(&0));
            Some(Compared { data_type, cell_val_num, bytes })
        }
    }
}

fn is_shared(data_type: DataType, a: &Range, b: &Range) -> bool {
    compare(data_type, &a.min, &b.max) != Some(Ordering::Greater)
        && compare(data_type, &b.min, &a.max) != Some(Ordering::Greater)
}

/// The maximum number of tiles of a fragment that is trusted before the metadata with a number for each tile is read.
const MANY_TILES: u64 = 1 << 16;
