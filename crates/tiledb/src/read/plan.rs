//! Plans which tiles of a sparse array are read, and which of them together.
//!
//! Fragments whose cells can have the same coordinates are merged, and form one part. The same applies to a fragment of
//! an array without duplicates whose cells have times, since it can contain coordinates twice. All other fragments are
//! chained: their tiles are cut into parts of a quarter of a million cells. Tiles outside of the ranges are not in any
//! part.

use super::sparse::{Reading, SparseCells, SparseRequest, SparseScratch};
use crate::array::Array;
use crate::array::fragment::OpenedFragment;
use crate::format::fragment_metadata::mbr::{CoordinateSize, Mbr, Range};
use crate::format::fragment_metadata::r_tree::RTree;
use crate::read::compare::compare;
use crate::read::coordinates::cell_count;
use hyperslab_core::{Error, Result};
use std::cmp::Ordering;

/// The cells of a request, in parts that can be read in any order and at the same time.
///
/// Each cell is in one part only, and no part depends on another. The caller owns the threads: each takes the next part
/// and reads it with its own [`SparseScratch`]. Within a part, cells come in batches of at most one tile each. A part
/// with chained fragments has about [`CELLS`](Self::CELLS) cells, or one tile if that has more. Where fragments
/// overlap, [`most_cells`](Self::most_cells) may be any number, but memory is still limited to one tile for each
/// fragment.
///
/// ```no_run
/// # use hyperslab_tiledb::array::Array;
/// # use hyperslab_tiledb::read::sparse::{SparseRequest, SparseScratch};
/// # fn count(array: &Array, request: &SparseRequest) -> hyperslab_core::Result<usize> {
/// let plan = array.plan_sparse(request)?;
/// let (mut scratch, mut count) = (SparseScratch::default(), 0);
/// for part in 0..plan.len() {
///     plan.read(part, &mut scratch, &mut |cells| {
///         count += cells.count;
///         Ok(())
///     })?;
/// }
/// # Ok(count)
/// # }
/// ```
pub struct SparsePlan<'a> {
    pub(super) reading: Reading<'a>,
    parts: Vec<Part>,
    most_cells: u64,
    is_exact: bool,
}

enum Part {
    Chained { runs: Vec<Run>, cells: u64 },
    Merged { fragments: Vec<Stream>, cells: u64 },
}

/// Consecutive tiles of a fragment.
pub(super) struct Run {
    pub(super) fragment: usize,
    pub(super) tiles: std::ops::Range<u64>,
}

/// A fragment that is merged with others, and its tiles.
pub(super) struct Stream {
    pub(super) fragment: usize,
    pub(super) tiles: Vec<std::ops::Range<u64>>,
}

impl Array {
    /// Plans the reading of a sparse array: finds the tiles within the ranges. Reads the R-trees of fragments that
    /// partly overlap the ranges, but no cells.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for dense arrays and fields that do not exist;
    /// otherwise if metadata cannot be read or is malformed.
    pub fn plan_sparse(&self, request: &SparseRequest) -> Result<SparsePlan<'_>> {
        let reading = Reading::new(self, request)?;
        let sparse: Vec<usize> = (0..reading.fragments.len()).filter(|n| reading.is_near(*n)).collect();
        let mut plan = SparsePlan { reading, parts: Vec::new(), most_cells: 0, is_exact: true };
        for cluster in clusters(&plan.reading, &sparse) {
            plan.add(&cluster)?;
        }
        plan.is_exact &= plan.reading.keeps_all();
        Ok(plan)
    }
}

impl SparsePlan<'_> {
    /// The approximate number of cells in a part with chained fragments.
    pub const CELLS: u64 = 1 << 18;

    /// The number of parts.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The maximum number of cells of all parts.
    pub fn most_cells(&self) -> u64 {
        self.most_cells
    }

    /// The number of cells, if it is known without reading them.
    pub fn exact_cells(&self) -> Option<u64> {
        self.is_exact.then_some(self.most_cells)
    }

    /// Whether fragments are merged: then there may be far fewer cells than [`most_cells`](Self::most_cells).
    pub fn merges(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Merged { .. }))
    }

    /// The maximum number of cells of a part; 0 if there is no such part.
    pub fn most_cells_of(&self, part: usize) -> u64 {
        match self.parts.get(part) {
            Some(Part::Chained { cells, .. } | Part::Merged { cells, .. }) => *cells,
            None => 0,
        }
    }

    /// Passes the cells of a part to `take`, in batches.
    ///
    /// Cells of one fragment come in the order in which they are stored. Where fragments overlap, a batch still has
    /// cells of only one tile, and batches come in the global order of their last cells.
    ///
    /// # Errors
    /// The first error of `take`; [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if there is no such
    /// part; [`LimitExceeded`](hyperslab_core::ErrorKind::LimitExceeded) if the coordinates of one tile of each
    /// overlapping fragment need more memory than is allowed; [`Malformed`](hyperslab_core::ErrorKind::Malformed) if
    /// cells of such fragments are not in the global order; otherwise if a file cannot be read or is malformed.
    pub fn read(
        &self,
        part: usize,
        scratch: &mut SparseScratch,
        take: &mut dyn FnMut(&SparseCells) -> Result<()>,
    ) -> Result<()> {
        match self.parts.get(part) {
            Some(Part::Chained { runs, .. }) => self.reading.read_runs(runs, scratch, take),
            Some(Part::Merged { fragments, .. }) => self.reading.merge(fragments, scratch, take),
            None => Err(Error::invalid(format!("part {part} of {}", self.parts.len()))),
        }
    }

    /// Adds the fragments of a cluster.
    fn add(&mut self, cluster: &[usize]) -> Result<()> {
        let (array, all) = (self.reading.array, self.reading.fragments);
        let mut streams = Vec::new();
        for ordinal in cluster {
            let Some(fragment) = all.get(*ordinal) else { continue };
            let (tiles, is_whole) = self.reading.tiles_of(fragment)?;
            self.is_exact &=
                is_whole && !fragment.footer.has_timestamps && !fragment.footer.has_delete_metadata;
            if !tiles.is_empty() {
                streams.push(Stream { fragment: *ordinal, tiles });
            }
        }
        let is_merged = !array.schema().allows_dups
            && (streams.len() > 1 || streams.iter().any(|stream| self.has_times(stream.fragment)));
        if is_merged {
            self.is_exact = false;
            let cells = streams.iter().flat_map(|stream| {
                let fragment = all.get(stream.fragment);
                stream.tiles.iter().filter_map(move |tiles| Some(cells_of(fragment?, tiles)))
            });
            let cells = cells.fold(0, u64::saturating_add);
            self.most_cells = self.most_cells.saturating_add(cells);
            self.parts.push(Part::Merged { fragments: streams, cells });
            return Ok(());
        }
        for Stream { fragment: ordinal, tiles } in streams {
            let Some(fragment) = all.get(ordinal) else { continue };
            for tiles in tiles {
                let mut start = tiles.start;
                while start < tiles.end {
                    let full = fragment.schema.capacity.max(1);
                    let end = start.saturating_add((Self::CELLS / full).max(1)).min(tiles.end);
                    self.chain(
                        Run { fragment: ordinal, tiles: start..end },
                        cells_of(fragment, &(start..end)),
                    );
                    start = end;
                }
            }
        }
        Ok(())
    }

    /// Adds tiles to the last part, or to a new one if that is full.
    fn chain(&mut self, run: Run, more: u64) {
        self.most_cells = self.most_cells.saturating_add(more);
        match self.parts.last_mut() {
            Some(Part::Chained { runs, cells }) if cells.saturating_add(more) <= Self::CELLS => {
                *cells = cells.saturating_add(more);
                runs.push(run);
            }
            _ => self.parts.push(Part::Chained { runs: vec![run], cells: more }),
        }
    }

    fn has_times(&self, fragment: usize) -> bool {
        self.reading.fragments.get(fragment).is_some_and(|fragment| fragment.footer.has_timestamps)
    }
}

/// The number of cells in consecutive tiles.
fn cells_of(fragment: &OpenedFragment, tiles: &std::ops::Range<u64>) -> u64 {
    let Some(last) = tiles.end.checked_sub(1).filter(|last| *last >= tiles.start) else { return 0 };
    (last - tiles.start).saturating_mul(fragment.schema.capacity).saturating_add(cell_count(fragment, last))
}

/// Groups fragments that may have cells with the same coordinates. If coordinates may be written twice, each is alone.
fn clusters(reading: &Reading<'_>, fragments: &[usize]) -> Vec<Vec<usize>> {
    if reading.array.schema().allows_dups {
        return fragments.iter().map(|fragment| vec![*fragment]).collect();
    }
    let Some(first) = reading.array.dimensions().first() else { return Vec::new() };
    let order = |a: &[u8], b: &[u8]| compare(first.data_type, a, b).unwrap_or(Ordering::Equal);
    // The requested part of each, ordered by its smallest coordinate of the first dimension.
    let mut boxes: Vec<(usize, Mbr)> = fragments
        .iter()
        .filter_map(|fragment| Some((*fragment, reading.domain_within(*fragment)?)))
        .collect();
    boxes.sort_by(|(_, a), (_, b)| match (a.ranges.first(), b.ranges.first()) {
        (Some(a), Some(b)) => order(&a.min, &b.min),
        _ => Ordering::Equal,
    });
    // Each points to an earlier one of the same cluster, or to itself.
    let mut before: Vec<usize> = (0..boxes.len()).collect();
    let mut active: Vec<usize> = Vec::new();
    for (number, (_, own)) in boxes.iter().enumerate() {
        let Some(range) = own.ranges.first() else { continue };
        active.retain(|other| {
            let range_of = boxes.get(*other).and_then(|(_, other)| other.ranges.first());
            range_of.is_some_and(|other| order(&other.max, &range.min) != Ordering::Less)
        });
        for other in &active {
            let (a, b) = (root(&mut before, number), root(&mut before, *other));
            if a != b && boxes.get(*other).is_some_and(|(_, other)| reading.overlap(own, other)) {
                let (early, late) = (a.min(b), a.max(b));
                if let Some(late) = before.get_mut(late) {
                    *late = early;
                }
            }
        }
        active.push(number);
    }
    let mut found: Vec<Vec<usize>> = vec![Vec::new(); boxes.len()];
    for (number, (fragment, _)) in boxes.iter().enumerate() {
        if let Some(cluster) = found.get_mut(root(&mut before, number)) {
            cluster.push(*fragment);
        }
    }
    let mut boxed: Vec<usize> = found.iter().flatten().copied().collect();
    boxed.sort_unstable();
    // Fragments whose domain is not stored.
    let rest = fragments.iter().filter(|fragment| boxed.binary_search(fragment).is_err());
    found.extend(rest.map(|fragment| vec![*fragment]));
    found.retain(|cluster| !cluster.is_empty());
    found.iter_mut().for_each(|cluster| cluster.sort_unstable());
    found.sort_unstable();
    found
}

/// The first fragment of a cluster. Shortens the way to it.
fn root(before: &mut [usize], mut number: usize) -> usize {
    while let Some(next) = before.get(number).copied().filter(|next| *next != number) {
        let after = before.get(next).copied().unwrap_or(next);
        if let Some(shortened) = before.get_mut(number) {
            *shortened = after;
        }
        number = after;
    }
    number
}

/// The tiles whose rectangles are near, found from the root of the tree downwards.
pub(super) fn tiles_near(
    tree: &RTree,
    sizes: &Vec<CoordinateSize>,
    is_near: &dyn Fn(&Mbr) -> bool,
) -> Result<Vec<std::ops::Range<u64>>> {
    let fanout = usize::try_from(tree.fanout).unwrap_or(usize::MAX);
    let mut found: Vec<usize> = match tree.levels.first() {
        Some(level) => (0..level.len()).collect(),
        None => return Ok(Vec::new()),
    };
    for (depth, level) in tree.levels.iter().enumerate() {
        if depth > 0 {
            let below = |above: usize| {
                let start = above.saturating_mul(fanout).min(level.len());
                start..start.saturating_add(fanout).min(level.len())
            };
            found = found.into_iter().flat_map(below).collect();
        }
        let mut near = Vec::with_capacity(found.len());
        for position in found {
            if level.get(position, sizes)?.is_some_and(|rectangle| is_near(&rectangle)) {
                near.push(position);
            }
        }
        found = near;
    }
    let mut runs: Vec<std::ops::Range<u64>> = Vec::new();
    for tile in found.into_iter().map(|tile| tile as u64) {
        match runs.last_mut() {
            Some(last) if last.end == tile => last.end = tile.saturating_add(1),
            _ => runs.push(tile..tile.saturating_add(1)),
        }
    }
    Ok(runs)
}

/// The part of a range that is within another one.
pub(super) fn clipped(data_type: crate::format::data_type::DataType, range: &Range, within: &Range) -> Range {
    let later = |a: &[u8], b: &[u8]| compare(data_type, a, b) == Some(Ordering::Less);
    let min = if later(&range.min, &within.min) { &within.min } else { &range.min };
    let max = if later(&within.max, &range.max) { &within.max } else { &range.max };
    Range { min: min.clone(), max: max.clone() }
}
