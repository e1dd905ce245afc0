//! Consolidates fragments of sparse arrays: their cells in global order, each with its time.

use super::merge::{Batch, Merge, Run, Taken};
use super::{ConsolidateScratch, DELETES, FragmentSet, TIMESTAMPS};
use crate::array::Array;
use crate::array::fragment::FragmentField;
use crate::format::array_schema::Attribute;
use crate::format::data_type::CellValNum;
use crate::format::delete_condition::DeleteCondition;
use crate::format::timestamped_name::TimestampedName;
use crate::read::columns::check_fill;
use crate::read::compare::{Compared, holds};
use crate::read::coordinates::{Cells, Fields, FragmentKeys, Wanted, cell_count};
use crate::read::tile::{FieldFiles, FieldTiles, Tile};
use crate::write::array::ArrayWriter;
use crate::write::fragment::WrittenFragment;
use crate::write::sparse::{Column, EncodedCells, SparseFragment};
use hyperslab_core::{Error, Limits, Result};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Fragments of a sparse array that are being merged into one.
pub(super) struct SparseConsolidation {
    /// The array with only these fragments.
    array: Array,
    fragment: SparseFragment,
    sources: Vec<SourceFields>,
    has_times: bool,
    has_deletes: bool,
    merge: Mutex<(Merge, u64)>,
    /// The number of pieces that were taken, and the number of their cells.
    taken: Mutex<(u64, u64)>,
}

/// Cells of some tiles.
pub(super) struct SparsePiece {
    number: u64,
    batch: Batch,
}

/// Tiles that were built.
pub(super) struct MadeSparse {
    number: u64,
    tiles: Vec<EncodedCells>,
}

/// The fields of a tile that was read.
pub(super) struct Rows {
    pub(super) count: usize,
    pub(super) dimensions: Vec<Tile>,
    /// `None` for attributes that are newer than the fragment.
    attributes: Vec<Option<Tile>>,
    /// The time at which each cell was written; empty if all were written at once.
    times: Vec<u64>,
    /// The time at which all cells were written.
    time: u64,
    /// The time at which each cell was deleted, and by which of the processed conditions; empty if none was.
    deleted: Vec<(u64, u64)>,
}

/// What is read of a fragment.
struct SourceFields {
    keys: FragmentKeys,
    attributes: Vec<Option<(FragmentField, FieldFiles)>>,
    deletes: Vec<Delete>,
    /// The files with the conditions that deleted cells, and the positions of these conditions in the new fragment.
    conditions: Option<(FieldFiles, Vec<u64>)>,
}

/// A delete that is applied to a fragment.
#[derive(Clone)]
struct Delete {
    time: u64,
    /// Its position among the processed conditions.
    position: u64,
    condition: DeleteCondition,
}

impl SparseConsolidation {
    pub(super) fn new(
        writer: &ArrayWriter,
        array: Array,
        set: &FragmentSet,
        is_purged: bool,
    ) -> Result<SparseConsolidation> {
        let tiles = array.generic_tiles();
        let deletes: Vec<_> = array
            .deletes()?
            .into_iter()
            .map(|(commit, condition)| (commit.name.start, commit.marker().into_bytes(), condition))
            .collect();
        let fragments = array.fragments()?;
        let processed: Vec<Vec<Vec<u8>>> =
            fragments.iter().map(|fragment| fragment.processed_conditions(&tiles)).collect::<Result<_>>()?;
        let all: BTreeSet<Vec<u8>> = deletes.iter().map(|(_, marker, _)| marker.clone()).collect();
        let all: BTreeSet<Vec<u8>> = all.into_iter().chain(processed.iter().flatten().cloned()).collect();
        let all: Vec<Vec<u8>> = all.into_iter().collect();
        let position = |marker: &Vec<u8>| all.binary_search(marker).map_or(NEVER, |position| position as u64);
        let mut sources = Vec::with_capacity(fragments.len());
        for (fragment, processed) in fragments.iter().zip(&processed) {
            let own = deletes
                .iter()
                .filter(|(time, marker, _)| *time >= fragment.name.start && !processed.contains(marker))
                .map(|(time, marker, condition)| Delete {
                    time: *time,
                    position: position(marker),
                    condition: condition.clone(),
                });
            let attribute = |of: &Attribute| {
                let field = fragment.attribute(of)?;
                field.map(|field| Ok((field, FieldFiles::of(fragment, field)?))).transpose()
            };
            let conditions = fragment.footer.has_delete_metadata.then(|| {
                let files = FieldFiles::of(fragment, FragmentField::DeleteConditions)?;
                Ok::<_, Error>((files, processed.iter().map(position).collect()))
            });
            sources.push(SourceFields {
                keys: FragmentKeys::of(fragment)?,
                attributes: array.attributes().iter().map(attribute).collect::<Result<_>>()?,
                deletes: own.collect(),
                conditions: conditions.transpose()?,
            });
        }
        let version = writer.version();
        let has_times = version >= TIMESTAMPS;
        let are_deleted = sources.iter().any(|of| !of.deletes.is_empty() || of.conditions.is_some());
        let has_deletes = are_deleted && !is_purged && version >= DELETES;
        let taken = match (array.schema().allows_dups, is_purged, has_times) {
            (true, false, _) => Taken::All,
            (true, true, _) => Taken::Alive,
            (false, false, true) => Taken::OfEachTime,
            (false, false, false) => Taken::Newest,
            (false, true, _) => Taken::NewestAlive,
        };
        let mut fragment = SparseFragment::with(writer, (set.start, set.end), has_times, has_deletes)?;
        if version >= DELETES {
            fragment.set_processed_conditions(all);
        }
        let merge = Mutex::new((Merge::new(&array, taken)?, 0));
        Ok(SparseConsolidation {
            array,
            fragment,
            sources,
            has_times,
            has_deletes,
            merge,
            taken: Mutex::default(),
        })
    }

    pub(super) fn name(&self) -> &TimestampedName {
        self.fragment.name()
    }

    pub(super) fn next_piece(&self) -> Result<Option<SparsePiece>> {
        let capacity = self.fragment.capacity();
        let wanted = capacity.saturating_mul((CELLS / capacity).max(1));
        let mut merge = lock(&self.merge);
        let (merge, number) = &mut *merge;
        let batch = merge.batch(&self.array, wanted, &|fragment, tile| self.rows(fragment, tile))?;
        if batch.cells == 0 {
            return Ok(None);
        }
        let piece = SparsePiece { number: *number, batch };
        *number = number.saturating_add(1);
        Ok(Some(piece))
    }

    /// Reads a tile of a fragment.
    fn rows(&self, ordinal: usize, tile: u64) -> Result<Rows> {
        let fragments = self.array.fragments()?;
        let (Some(fragment), Some(source)) = (fragments.get(ordinal), self.sources.get(ordinal)) else {
            return Err(Error::invalid(format!("fragment {ordinal} of {}", fragments.len())));
        };
        let cells = cell_count(fragment, tile);
        let all = vec![true; self.array.dimensions().len()];
        let wanted = Wanted { dimensions: &all, times: true };
        // Files are opened for one tile at a time: there may be more fragments than files that can be open.
        let fields = Fields::open(&self.array, fragment, &source.keys, wanted)?;
        let mut coordinates = Cells::default();
        fields.read(tile, &mut coordinates)?;
        let mut attributes = Vec::with_capacity(source.attributes.len());
        for attribute in &source.attributes {
            attributes.push(match attribute {
                Some((field, files)) => {
                    let mut read = Tile::default();
                    FieldTiles::open(&self.array, fragment, *field, files)?.read(tile, cells, &mut read)?;
                    Some(read.without_work())
                }
                None => None,
            });
        }
        let mut rows = Rows {
            // This number of cells was decoded, so it is in proportion to memory.
            count: usize::try_from(cells).unwrap_or(usize::MAX),
            dimensions: coordinates.dimensions.into_iter().map(Tile::without_work).collect(),
            attributes,
            times: coordinates.times,
            time: fragment.name.start,
            deleted: Vec::new(),
        };
        if let Some((files, positions)) = &source.conditions {
            let mut read = Tile::default();
            let field = FragmentField::DeleteConditions;
            FieldTiles::open(&self.array, fragment, field, files)?.read(tile, cells, &mut read)?;
            let conditions = read.cells.as_chunks().0.iter().map(|of| u64::from_le_bytes(*of));
            let position = |of: u64| usize::try_from(of).ok().and_then(|of| positions.get(of)).copied();
            let conditions = conditions.map(|of| position(of).unwrap_or(NEVER));
            rows.deleted = fields.deleted(tile)?.into_iter().zip(conditions).collect();
        }
        self.delete(&source.deletes, &mut rows);
        Ok(rows)
    }

    /// Records the first of the deletes that removes each cell.
    fn delete(&self, deletes: &[Delete], rows: &mut Rows) {
        if deletes.is_empty() {
            return;
        }
        let mut deleted = std::mem::take(&mut rows.deleted);
        deleted.resize(rows.count, (NEVER, NEVER));
        for (cell, first) in deleted.iter_mut().enumerate() {
            for Delete { time, position, condition } in deletes {
                let counts = *time >= rows.time(cell) && *time < first.0;
                if counts && !holds(condition, |name| self.value(name, cell, rows)) {
                    *first = (*time, *position);
                }
            }
        }
        rows.deleted = deleted;
    }

    /// A field of a cell. `None` if it does not exist, as with attributes that are newer than the fragment.
    fn value<'r>(&self, name: &[u8], cell: usize, rows: &'r Rows) -> Option<Compared<'r>> {
        let mut dimensions = self.array.dimensions().iter().zip(&rows.dimensions);
        if let Some((of, tile)) = dimensions.find(|(of, _)| of.name == name) {
            let bytes = Some(tile.cell(cell).unwrap_or_default());
            return Some(Compared { data_type: of.data_type, cell_val_num: of.cell_val_num, bytes });
        }
        let mut attributes = self.array.attributes().iter().zip(&rows.attributes);
        let (of, tile) = attributes.find(|(of, _)| of.name == name)?;
        let tile = tile.as_ref()?;
        let bytes = tile.cell(cell).filter(|_| tile.validity.get(cell) != Some(&0));
        Some(Compared { data_type: of.data_type, cell_val_num: of.cell_val_num, bytes })
    }

    /// Gathers the cells of a piece, and encodes them.
    pub(super) fn make(&self, piece: &SparsePiece, scratch: &mut ConsolidateScratch) -> Result<MadeSparse> {
        let batch = &piece.batch;
        let mut columns = Vec::new();
        for (position, dimension) in self.array.dimensions().iter().enumerate() {
            let mut column = Column::default();
            batch.each(&mut |rows, run| match rows.dimensions.get(position) {
                Some(tile) => put(tile, dimension.cell_val_num, run, &mut column),
                None => Err(missing()),
            })?;
            columns.push(column);
        }
        for (position, attribute) in self.array.attributes().iter().enumerate() {
            let mut column = Column::default();
            batch.each(&mut |rows, run| match rows.attributes.get(position) {
                Some(Some(tile)) => {
                    put(tile, attribute.cell_val_num, run, &mut column)?;
                    if attribute.nullable {
                        let cells = run.first..run.first.saturating_add(run.count);
                        let validity = |cell| tile.validity.get(cell).copied().unwrap_or(1);
                        column.validity.extend(cells.map(validity));
                    }
                    Ok(())
                }
                Some(None) => put_fill(attribute, run.count, &self.array.options.limits, &mut column),
                None => Err(missing()),
            })?;
            columns.push(column);
        }
        let mut numbers = |of: &dyn Fn(&Rows, usize) -> u64| -> Result<()> {
            let mut column = Column::default();
            batch.each(&mut |rows, run| {
                for cell in run.first..run.first.saturating_add(run.count) {
                    column.values.extend_from_slice(&of(rows, cell).to_le_bytes());
                }
                Ok(())
            })?;
            columns.push(column);
            Ok(())
        };
        if self.has_times {
            numbers(&|rows, cell| rows.time(cell))?;
        }
        if self.has_deletes {
            numbers(&|rows, cell| rows.deleted.get(cell).map_or(NEVER, |of| of.0))?;
            numbers(&|rows, cell| rows.deleted.get(cell).map_or(NEVER, |of| of.1))?;
        }
        let end = u32::try_from(batch.cells).map_err(|_| missing())?;
        let cells: Vec<u32> = (0..end).collect();
        let (own, filters) = (&mut scratch.cells, &mut scratch.filters);
        let tiles = cells
            .chunks(self.fragment.capacity())
            .map(|tile| self.fragment.encode(&columns, tile, own, filters))
            .collect::<Result<_>>()?;
        Ok(MadeSparse { number: piece.number, tiles })
    }

    pub(super) fn take(&self, made: MadeSparse) -> Result<u64> {
        let mut taken = lock(&self.taken);
        let (pieces, cells) = &mut *taken;
        if made.number != *pieces {
            return Err(Error::invalid(format!("piece {}, expected {pieces}", made.number)));
        }
        *pieces = pieces.saturating_add(1);
        let mut bytes = 0_u64;
        for tile in made.tiles {
            *cells = cells.saturating_add(tile.cells);
            bytes = bytes.saturating_add(tile.bytes());
            self.fragment.put(tile)?;
        }
        Ok(bytes)
    }

    /// `None` if there are no cells.
    pub(super) fn finish(self) -> Result<Option<WrittenFragment>> {
        let (made, (taken, cells)) = (lock(&self.merge).1, *lock(&self.taken));
        if made != taken {
            return Err(Error::invalid(format!("{taken} pieces, expected {made}")));
        }
        match cells {
            0 => Ok(None),
            _ => self.fragment.finish().map(Some),
        }
    }
}

impl Rows {
    pub(super) fn time(&self, cell: usize) -> u64 {
        self.times.get(cell).copied().unwrap_or(self.time)
    }

    pub(super) fn are_of_one_time(&self) -> bool {
        self.times.is_empty()
    }

    pub(super) fn is_deleted(&self, cell: usize) -> bool {
        self.deleted.get(cell).is_some_and(|(time, _)| *time != NEVER)
    }
}

impl Batch {
    /// Calls `put` for each run of cells of a tile.
    fn each(&self, put: &mut dyn FnMut(&Rows, &Run) -> Result<()>) -> Result<()> {
        self.runs.iter().try_for_each(|run| match self.tiles.get(run.tile) {
            Some(tile) => put(&tile.rows, run),
            None => Err(missing()),
        })
    }
}

/// Appends a run of cells of a tile.
fn put(tile: &Tile, of: CellValNum, run: &Run, to: &mut Column) -> Result<()> {
    let end = run.first.saturating_add(run.count);
    match (of, tile.fixed_size()) {
        (CellValNum::Fixed(_), Some(size)) => {
            let bytes = tile.cells.get(run.first.saturating_mul(size)..end.saturating_mul(size));
            to.values.extend_from_slice(bytes.ok_or_else(missing)?);
        }
        (CellValNum::Var, None) => {
            for cell in run.first..end {
                to.offsets.push(to.values.len() as u64);
                to.values.extend_from_slice(tile.cell(cell).ok_or_else(missing)?);
            }
        }
        _ => return Err(missing()),
    }
    Ok(())
}

/// Appends cells that were never written.
fn put_fill(attribute: &Attribute, count: usize, limits: &Limits, to: &mut Column) -> Result<()> {
    let cell = attribute.fill_cell()?;
    let all = to.values.len().saturating_add(cell.len().saturating_mul(count));
    check_fill(attribute, all, limits)?;
    for _ in 0..count {
        if attribute.cell_val_num.is_var() {
            to.offsets.push(to.values.len() as u64);
        }
        to.values.extend_from_slice(&cell);
    }
    if attribute.nullable {
        let end = to.validity.len().saturating_add(count);
        to.validity.resize(end, u8::from(attribute.fill_value_validity != 0));
    }
    Ok(())
}

fn missing() -> Error {
    Error::malformed("a tile with other cells than its fragment says")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The approximate number of cells in a piece.
const CELLS: usize = 1 << 16;

/// The deletion time of a cell that was not deleted, and its condition.
const NEVER: u64 = u64::MAX;
