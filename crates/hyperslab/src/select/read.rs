//! Reads selections, decoding each chunk as few times as possible.

use super::{Axis, Picks, Selected};
use crate::source::ArraySource;
use crate::source::engine::{MAX_HULL, cuts, row_size, stream};
use hyperslab_core::memory::Memory;
use hyperslab_core::nd::{Planes, Region, advance, element_bytes, element_count, scatter};
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::NEAR;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Reference, Values};

impl Selected {
    /// Reads the selected elements in row-major order.
    ///
    /// # Errors
    /// If they cannot be read, or exceed the memory.
    pub fn read(&self, array: &dyn ArraySource) -> Result<Values> {
        if let Some(region) = self.as_region() {
            return array.values(&region);
        }
        let (mut rows, mut heap) = (zeroed(&self.counts(), row_size(array)?)?, Heap::default());
        self.read_into(array, &mut rows, &mut heap)?;
        Ok(Values { rows: rows.into(), heap })
    }

    /// Reads the selected elements in row-major order into the caller's memory. `heap` must be empty, or filled by
    /// reading from this array.
    ///
    /// # Errors
    /// If `rows` does not have the size of the selection, or an element cannot be read; `rows` is then unspecified.
    pub fn read_into(
        &self,
        array: &dyn ArraySource,
        rows: &mut [u8],
        heap: &mut Heap<Reference>,
    ) -> Result<()> {
        let (counts, row) = (self.counts(), row_size(array)?);
        let expected = element_bytes(&counts, row)?;
        if rows.len() != expected {
            let found = rows.len();
            return Err(Error::invalid(format!("memory of {found} bytes for elements of {expected} bytes")));
        }
        let (ascending, reversed) = self.ascending();
        match ascending.as_region() {
            Some(region) => array.read(&region, rows, heap)?,
            None => {
                let picks: Vec<_> = ascending.picks().collect();
                let read = &mut |region: &Region, rows: &mut [u8], heap: &mut Heap<Reference>| {
                    array.read(region, rows, heap)
                };
                gather(&picks, array.chunk(), row, &mut Planes::whole(rows), heap, read)?;
            }
        }
        reversed.into_iter().for_each(|dimension| reverse(rows, &counts, row, dimension));
        Ok(())
    }

    /// The same elements with descending ranges reversed, and the reversed dimensions.
    fn ascending(&self) -> (Selected, Vec<usize>) {
        let (mut ascending, mut reversed) = (self.clone(), Vec::new());
        for (dimension, axis) in ascending.axes.iter_mut().enumerate() {
            if let Some(range) = axis.picks.turned_round() {
                axis.picks = range;
                reversed.push(dimension);
            }
        }
        (ascending, reversed)
    }
}

/// Reverses the order of elements along one dimension, in place.
fn reverse(rows: &mut [u8], counts: &[u64], row: usize, dimension: usize) {
    let (_, inner) = counts.split_at_checked(dimension + 1).unwrap_or_default();
    let (Some(count), Ok(inner)) = (counts.get(dimension), element_bytes(inner, row)) else { return };
    let Some(outer) = usize::try_from(*count).ok().and_then(|count| count.checked_mul(inner)) else { return };
    if inner == 0 || outer == 0 {
        return;
    }
    for block in rows.chunks_exact_mut(outer) {
        let (front, back) = block.split_at_mut(outer / inner / 2 * inner);
        for (one, other) in front.chunks_exact_mut(inner).zip(back.rchunks_exact_mut(inner)) {
            one.swap_with_slice(other);
        }
    }
}

impl Selected {
    /// The selection as a region, if it is one.
    pub(crate) fn as_region(&self) -> Option<Region> {
        let ranges: Option<Vec<_>> = self.picks().map(Picks::as_range).collect();
        ranges.map(|ranges| region_of(&ranges))
    }
}

/// Reads the elements at these positions of an array with this chunk shape to `rows`, using a function that reads
/// regions.
///
/// # Errors
/// Any error of that function.
pub(super) fn gather(
    picks: &[&Picks],
    chunk: &[u64],
    row: usize,
    rows: &mut Planes<'_>,
    heap: &mut Heap<Reference>,
    read: &mut Read<'_>,
) -> Result<()> {
    let counts: Vec<_> = picks.iter().map(|picks| picks.count()).collect();
    if counts.contains(&0) {
        return Ok(());
    }
    // For each position of a dimension, all selected elements along the later dimensions.
    let mut bytes = row as u64;
    let mut tiles: Vec<Vec<Tile>> = Vec::with_capacity(counts.len());
    for (dimension, picks) in picks.iter().enumerate().rev() {
        tiles.push(picks.tiles(chunk.get(dimension).copied().unwrap_or(1), bytes));
        bytes = bytes.saturating_mul(picks.count());
    }
    tiles.reverse();
    divide(&mut tiles, chunk, row, MAX_HULL);
    let mut reading = Reading { read, row, rows, out: Region::all(&counts), heap };
    each_combination(&tiles, &mut |tiles| reading.tile(tiles))
}

/// Reads a region of an array.
type Read<'a> = dyn FnMut(&Region, &mut [u8], &mut Heap<Reference>) -> Result<()> + 'a;

impl Selected {
    /// Reads the selected elements in parts that fit into the memory of the pool, each element once.
    ///
    /// # Errors
    /// As [`Selected::read`]; the first error of `take`.
    pub(crate) fn stream(
        &self,
        array: &dyn ArraySource,
        take: &mut dyn FnMut(&Values) -> Result<()>,
    ) -> Result<()> {
        let ranges: Option<Vec<_>> = self.picks().map(Picks::as_range).collect();
        if let Some(ranges) = ranges {
            return stream(array, &region_of(&ranges), &mut |_, values| take(values));
        }
        let row = row_size(array)?;
        let mut parts = vec![(0, self.clone())];
        while let Some((dimension, part)) = parts.pop() {
            let bytes = element_count(&part.counts()).and_then(|count| count.checked_mul(row as u64));
            let fits = bytes.is_some_and(|bytes| bytes <= MAX_PART.min(array.pool().memory() / 3));
            match part.axes.get(dimension).map(Axis::count) {
                Some(count) if !fits => {
                    let fitting = |bytes: u64| MAX_PART.checked_div((bytes / count.max(1)).max(1));
                    let steps = bytes.and_then(fitting).unwrap_or(0).max(1);
                    // Parts are removed from the end, so the first part is added last.
                    for start in (0..count.div_ceil(steps)).rev().map(|part| part * steps) {
                        let mut part = part.clone();
                        if let Some(axis) = part.axes.get_mut(dimension) {
                            axis.picks = axis.picks.part(start, steps.min(count - start), 1);
                        }
                        parts.push((dimension + 1, part));
                    }
                }
                _ => take(&part.read(array)?)?,
            }
        }
        Ok(())
    }
}

/// The number of bytes of scattered elements that are read at a time.
const MAX_PART: u64 = 64 << 20;

/// Positions along a dimension at a constant distance, and their place in the selection.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    start: u64,
    count: u64,
    step: u64,
    to: u64,
}

/// Positions of one chunk along a dimension, or all of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tile {
    /// The range of positions to read.
    hull: Run,
    /// The requested positions within the range, whose first position is 0.
    runs: Vec<Run>,
}

impl Picks {
    /// A descending list of positions with a constant distance, as an ascending range.
    fn turned_round(&self) -> Option<Picks> {
        let Picks::List(list) = self else { return None };
        let (Some(last), [first, second, ..]) = (list.last(), list.as_slice()) else { return None };
        let step = first.checked_sub(*second).filter(|step| *step > 0)?;
        let is_range = list.windows(2).all(|pair| matches!(pair, [a, b] if a.checked_sub(*b) == Some(step)));
        is_range.then_some(Picks::Range { start: *last, count: list.len() as u64, step })
    }

    fn as_range(&self) -> Option<Run> {
        match self {
            Picks::Range { start, count, step } => {
                Some(Run { start: *start, count: *count, step: *step, to: 0 })
            }
            Picks::List(_) => None,
        }
    }

    /// Groups positions by chunks of `chunk` positions, each of which takes this number of bytes.
    fn tiles(&self, chunk: u64, bytes: u64) -> Vec<Tile> {
        let list = match self {
            Picks::Range { start, count, step } => {
                let hull = Run { start: *start, count: *count, step: *step, to: 0 };
                return vec![Tile { runs: vec![Run { start: 0, step: 1, ..hull.clone() }], hull }];
            }
            Picks::List(list) => list,
        };
        // In contiguous arrays, positions are read together if there is little between them.
        let near = (NEAR / bytes.max(1)).max(1).next_multiple_of(chunk.max(1));
        let mut sorted: Vec<(u64, u64)> = list.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        let mut tiles: Vec<Tile> = Vec::new();
        for (position, to) in sorted {
            match tiles.last_mut() {
                Some(tile) if tile.hull.start / near == position / near => tile.add(position, to),
                _ => tiles.push(Tile {
                    hull: Run { start: position, count: 1, step: 1, to: 0 },
                    runs: vec![Run { start: 0, count: 1, step: 1, to }],
                }),
            }
        }
        tiles.iter_mut().for_each(Tile::tighten);
        tiles
    }
}

impl Tile {
    /// Adds a position, which is not before the last one.
    fn add(&mut self, position: u64, to: u64) {
        let at = position - self.hull.start;
        self.hull.count = at + 1;
        if let Some(Run { start, count, step, to: first }) = self.runs.last_mut() {
            let next = if *count == 1 { at - *start } else { *step };
            let follows = count.checked_mul(next).and_then(|ahead| start.checked_add(ahead)) == Some(at);
            if next > 0 && follows && *first + *count == to {
                (*count, *step) = (*count + 1, next);
                return;
            }
        }
        self.runs.push(Run { start: at, count: 1, step: 1, to });
    }

    /// Narrows the range to the requested positions if they have a constant distance.
    fn tighten(&mut self) {
        if let [only] = self.runs.as_mut_slice() {
            self.hull = Run { start: self.hull.start, count: only.count, step: only.step, to: 0 };
            *only = Run { start: 0, count: only.count, step: 1, to: only.to };
        }
    }

    /// The part of `count` positions, starting at `first`.
    fn part(&self, first: u64, count: u64) -> Tile {
        let Run { start, step, .. } = self.hull;
        Tile {
            hull: Run { start: start + first * step, count, step, to: 0 },
            runs: vec![Run { start: 0, count, step: 1, to: first }],
        }
    }
}

/// Divides ranges at chunk borders if reading them would take more than `max_bytes` bytes.
fn divide(tiles: &mut [Vec<Tile>], chunk: &[u64], row: usize, max_bytes: u64) {
    let longest = |tiles: &[Tile]| tiles.iter().map(|tile| tile.hull.count).max().unwrap_or(0);
    for (dimension, chunk) in (0..tiles.len()).zip(chunk.iter().copied().chain(std::iter::repeat(1))) {
        let counts: Vec<_> = tiles.iter().map(|tiles| longest(tiles)).collect();
        let bytes = element_count(&counts).unwrap_or(u64::MAX).saturating_mul(row as u64);
        let Some(own) = tiles.get_mut(dimension) else { return };
        let [range] = own.as_slice() else { continue };
        let is_range = range.runs.len() == 1 && range.runs.iter().all(|run| run.count == range.hull.count);
        if bytes <= max_bytes || !is_range {
            continue;
        }
        let Run { start, count, step, .. } = range.hull;
        let each = (bytes / count.max(1)).max(1);
        let cuts = cuts((start, count, step), chunk, (max_bytes / each).max(1));
        let begins = std::iter::once(0).chain(cuts.iter().copied());
        let ends = cuts.iter().copied().chain([count]);
        *own = begins.zip(ends).map(|(begin, end)| range.part(begin, end - begin)).collect();
    }
}

struct Reading<'a, 'r, 'p> {
    read: &'a mut Read<'r>,
    row: usize,
    rows: &'a mut Planes<'p>,
    /// The whole selection.
    out: Region,
    heap: &'a mut Heap<Reference>,
}

impl Reading<'_, '_, '_> {
    /// Reads the elements of one tile in each dimension and moves them to their place.
    fn tile(&mut self, tiles: &[&Tile]) -> Result<()> {
        let hull: Vec<_> = tiles.iter().map(|tile| tile.hull.clone()).collect();
        let counts: Vec<_> = hull.iter().map(|run| run.count).collect();
        let runs: Vec<Vec<Run>> = tiles.iter().map(|tile| tile.runs.clone()).collect();
        let bytes = element_count(&counts).and_then(|count| count.checked_mul(self.row as u64));
        if runs.iter().any(|runs| runs.len() > 1) && bytes.is_none_or(|bytes| bytes > MAX_HULL) {
            return each_combination(&runs, &mut |runs| self.run(&hull, runs));
        }
        let mut whole = zeroed(&counts, self.row)?;
        let read = (self.read)(&region_of(&hull), &mut whole, self.heap);
        if read.is_err() && runs.iter().any(|runs| runs.len() > 1) {
            // Elements that are not requested may be unreadable.
            return each_combination(&runs, &mut |runs| self.run(&hull, runs));
        }
        read?;
        let Reading { row, rows, out, .. } = self;
        each_combination(&runs, &mut |runs| {
            let part = region_of(runs);
            let place: Vec<_> = runs.iter().map(|run| run.to).collect();
            let Some(mut overlap) = rows.overlap(&place, &part.count, out, *row)? else { return Ok(()) };
            if part.count == counts {
                return overlap.scatter(&whole);
            }
            let mut picked = zeroed(&part.count, *row)?;
            scatter(&whole, &vec![0; counts.len()], &counts, &part, &mut picked, *row)?;
            overlap.scatter(&picked)
        })
    }

    /// Reads one run of each dimension separately.
    fn run(&mut self, hull: &[Run], runs: &[&Run]) -> Result<()> {
        let part: Vec<_> = hull
            .iter()
            .zip(runs)
            .map(|(hull, run)| Run {
                start: hull.start + run.start * hull.step,
                count: run.count,
                step: run.step.saturating_mul(hull.step),
                to: run.to,
            })
            .collect();
        let counts: Vec<_> = part.iter().map(|run| run.count).collect();
        let mut own = zeroed(&counts, self.row)?;
        (self.read)(&region_of(&part), &mut own, self.heap)?;
        let place: Vec<_> = part.iter().map(|run| run.to).collect();
        match self.rows.overlap(&place, &counts, &self.out, self.row)? {
            Some(mut overlap) => overlap.scatter(&own),
            None => Ok(()),
        }
    }
}

/// Calls `visit` with every combination of one item from each list, in row-major order.
fn each_combination<T>(lists: &[Vec<T>], visit: &mut dyn FnMut(&[&T]) -> Result<()>) -> Result<()> {
    let counts: Vec<usize> = lists.iter().map(Vec::len).collect();
    let mut at = vec![0; lists.len()];
    loop {
        let picked: Vec<&T> = lists.iter().zip(&at).filter_map(|(list, at)| list.get(*at)).collect();
        visit(&picked)?;
        if !advance(&mut at, &counts) {
            return Ok(());
        }
    }
}

fn region_of<R: std::borrow::Borrow<Run>>(runs: &[R]) -> Region {
    let of = |what: fn(&Run) -> u64| runs.iter().map(|run| what(run.borrow())).collect();
    Region { start: of(|run| run.start), count: of(|run| run.count), step: of(|run| run.step) }
}

fn zeroed(counts: &[u64], row: usize) -> Result<Memory> {
    Memory::zeroed(element_bytes(counts, row)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(start: u64, count: u64, step: u64, to: u64) -> Run {
        Run { start, count, step, to }
    }

    #[test]
    fn positions_of_one_chunk_are_read_together() {
        let tiles = Picks::List(vec![5, 7, 9, 1002, 1000, 2500]).tiles(1000, 8);
        assert_eq!(tiles[0], Tile { hull: run(5, 3, 2, 0), runs: vec![run(0, 3, 1, 0)] });
        assert_eq!(tiles[1], Tile { hull: run(1000, 3, 1, 0), runs: vec![run(0, 1, 1, 4), run(2, 1, 1, 3)] });
        assert_eq!(tiles[2], Tile { hull: run(2500, 1, 1, 0), runs: vec![run(0, 1, 1, 5)] });
        assert_eq!(tiles.len(), 3);
    }

    #[test]
    fn one_position_can_be_selected_twice() {
        let tiles = Picks::List(vec![3, 3]).tiles(10, 1 << 20);
        assert_eq!(tiles, [Tile { hull: run(3, 1, 1, 0), runs: vec![run(0, 1, 1, 0), run(0, 1, 1, 1)] }]);
    }

    #[test]
    fn ranges_beside_lists_are_divided_where_their_hulls_would_be_too_large() {
        let range = Picks::Range { start: 0, count: 100, step: 1 };
        let mut tiles = vec![Picks::List(vec![0, 5, 9]).tiles(10, 1 << 20), range.tiles(30, 1 << 20)];
        divide(&mut tiles, &[10, 30], 1, 400);
        assert_eq!(tiles[0].len(), 1);
        let parts: Vec<_> = tiles[1].iter().map(|tile| (tile.hull.start, tile.hull.count)).collect();
        assert_eq!(parts, [(0, 60), (60, 40)]);
        assert_eq!(tiles[1][1].runs, [run(0, 40, 1, 60)]);
    }
}
