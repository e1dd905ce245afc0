//! Merges fragments whose cells can have the same coordinates.
//!
//! Tiles of all fragments are walked in the global order, one tile of each at a time: a heap finds the fragment with
//! the next cell. A tile is read only when it is needed: in row-major and column-major order, none of its cells
//! precedes the smallest corner of its rectangle. After the last cell of a tile was processed, its valid cells are
//! output, and the tile is dropped. Of the cells with the same coordinates, the one that was written last is valid; of
//! those written at the same time, the one in the later fragment, and within one fragment the first.
//!
//! The order of the cells of a file is checked, since merging cells in another order would leave duplicates.

use super::columns::Kept;
use super::coordinates::{Cells, Fields, FragmentKeys, Wanted};
use super::global_order::{GlobalOrder, Keys, out_of_order};
use super::heap::SourceHeap;
use super::plan::Stream;
use super::sparse::{Needed, Output, Reading, SparseCells, SparseScratch};
use crate::array::fragment::OpenedFragment;
use crate::format::fragment_metadata::mbr::CoordinateSize;
use hyperslab_core::{Budget, Charge, Result};
use std::cmp::Ordering;
use std::ops::Range;

/// A fragment that is being merged.
struct Source<'a> {
    ordinal: usize,
    fragment: &'a OpenedFragment,
    keys: FragmentKeys,
    needed: Needed<'a>,
    sizes: Vec<CoordinateSize>,
    /// The tiles that were not read yet, the next one last.
    left: Vec<Range<u64>>,
    /// A lower bound of the keys of the remaining cells.
    bound: Vec<u8>,
    /// The tile whose cells are being processed.
    tile: Option<HeldTile>,
}

/// A tile in memory.
struct HeldTile {
    number: u64,
    cells: Cells,
    kept: Kept,
    keys: Keys,
    /// Whether two cells have the same coordinates.
    has_equal: bool,
    /// The next cell, by its ordinal among the cells that are kept.
    next: usize,
    /// The valid cells.
    picked: Vec<usize>,
    _charge: Charge,
}

/// The cell that is valid, as far as is known, among those with its coordinates.
struct Newest {
    source: usize,
    ordinal: usize,
    time: u64,
    /// Distinguishes its coordinates from others with the same key.
    negative_zeros: Vec<usize>,
    /// The index of its tile among the retired ones, if all other cells of the tile were processed.
    retired: Option<usize>,
}

struct Merge<'a, 'r> {
    reading: &'r Reading<'a>,
    order: GlobalOrder,
    budget: Budget,
    sources: Vec<Source<'r>>,
    /// The sources that have remaining cells.
    heap: SourceHeap,
    /// The newest cells of the same key: one, unless zeros have different signs.
    newest: Vec<Newest>,
    /// The tiles of the newest cells whose other cells were all processed, with their sources.
    retired: Vec<Option<(usize, HeldTile)>>,
    /// The key of the newest cells.
    key: Vec<u8>,
}

impl Reading<'_> {
    /// Outputs the valid cells of fragments.
    pub(super) fn merge(
        &self,
        streams: &[Stream],
        scratch: &mut SparseScratch,
        take: &mut dyn FnMut(&SparseCells) -> Result<()>,
    ) -> Result<()> {
        let mut sources = Vec::with_capacity(streams.len());
        for Stream { fragment: ordinal, tiles } in streams {
            let Some(fragment) = self.fragments.get(*ordinal) else { continue };
            sources.push(Source {
                ordinal: *ordinal,
                fragment,
                keys: FragmentKeys::of(fragment)?,
                needed: self.needed(fragment)?,
                sizes: fragment.schema.domain.coordinate_sizes(),
                left: tiles.iter().rev().cloned().collect(),
                bound: Vec::new(),
                tile: None,
            });
        }
        let mut merge = Merge {
            reading: self,
            order: GlobalOrder::of(self.array.schema())?,
            budget: Budget::new(&self.array.options.limits),
            sources,
            heap: SourceHeap::default(),
            newest: Vec::new(),
            retired: Vec::new(),
            key: Vec::new(),
        };
        merge.run(&mut scratch.output, take)
    }
}

impl Merge<'_, '_> {
    fn run(&mut self, output: &mut Output, take: &mut dyn FnMut(&SparseCells) -> Result<()>) -> Result<()> {
        for source in 0..self.sources.len() {
            self.bound(source)?;
        }
        let sources = &self.sources;
        self.heap = SourceHeap::of(sources.len(), |a, b| is_before(sources, a, b));
        while let Some(first) = self.heap.first() {
            let Some(source) = self.sources.get(first) else { break };
            match (&source.tile, source.left.is_empty()) {
                (Some(_), _) => self.step(first, output, take)?,
                (None, false) => self.load(first)?,
                (None, true) => self.heap.remove_first(),
            }
            let sources = &self.sources;
            self.heap.settle(|a, b| is_before(sources, a, b));
        }
        self.settle(output, take)
    }

    /// Takes cells of the source with the next cell, until another source has the next one.
    fn step(
        &mut self,
        first: usize,
        output: &mut Output,
        take: &mut dyn FnMut(&SparseCells) -> Result<()>,
    ) -> Result<()> {
        let Some(tile) = self.sources.get(first).and_then(|source| source.tile.as_ref()) else {
            return Ok(());
        };
        let next = tile.next;
        let end = match (self.limit(), tile.has_equal) {
            (_, true) => next.saturating_add(1),
            (Some(limit), false) => tile.keys.end_below(next, limit).max(next.saturating_add(1)),
            (None, false) => tile.keys.len(),
        };
        self.contest(first, next, output, take)?;
        // The cells in between have unique coordinates.
        let last = end.saturating_sub(1);
        if last > next {
            self.settle(output, take)?;
            if let Some(tile) = self.tile(first) {
                let HeldTile { picked, kept, .. } = tile;
                picked.extend((next.saturating_add(1)..last).map(|ordinal| kept.get(ordinal)));
            }
            self.contest(first, last, output, take)?;
        }
        let Some(source) = self.sources.get_mut(first) else { return Ok(()) };
        let Some(tile) = source.tile.as_mut() else { return Ok(()) };
        tile.next = end;
        if end < tile.keys.len() {
            return Ok(());
        }
        source.bound = tile.keys.get(last).to_vec();
        if let Some(tile) = source.tile.take() {
            let is_of = |newest: &&mut Newest| newest.source == first && newest.retired.is_none();
            let slot = self.retired.len();
            let mut waiting = self.newest.iter_mut().filter(is_of).peekable();
            match waiting.peek() {
                Some(_) => {
                    waiting.for_each(|newest| newest.retired = Some(slot));
                    self.retired.push(Some((first, tile)));
                }
                None => self.give(first, tile, output, take)?,
            }
        }
        self.bound(first)
    }

    /// Compares a cell with the newest one at its coordinates, and keeps the newer one.
    fn contest(
        &mut self,
        source: usize,
        ordinal: usize,
        output: &mut Output,
        take: &mut dyn FnMut(&SparseCells) -> Result<()>,
    ) -> Result<()> {
        let Some((of, tile)) = self.sources.get(source).and_then(|of| Some((of, of.tile.as_ref()?))) else {
            return Ok(());
        };
        let time = tile.cells.times.get(tile.kept.get(ordinal)).copied().unwrap_or(of.fragment.name.start);
        let (key, place) = (tile.keys.get(ordinal), (time, of.ordinal));
        let negative_zeros = tile.keys.negative_zeros_of(ordinal).to_vec();
        let is_same = !self.newest.is_empty() && self.key == key;
        if !is_same {
            self.key.clear();
            self.key.extend_from_slice(key);
            self.settle(output, take)?;
        }
        let of_place = self.newest.iter().position(|newest| newest.negative_zeros == negative_zeros);
        if let Some(newest) = of_place.and_then(|known| self.newest.get(known)) {
            let other = self.sources.get(newest.source).map_or(0, |other| other.ordinal);
            if (newest.time, other) >= place {
                return Ok(());
            }
        }
        let loser = of_place.map(|known| self.newest.swap_remove(known));
        self.newest.push(Newest { source, ordinal, time, negative_zeros, retired: None });
        // The tile of the replaced cell no longer waits, unless for a cell with another zero.
        let Some(slot) = loser.and_then(|loser| loser.retired) else { return Ok(()) };
        if self.newest.iter().any(|newest| newest.retired == Some(slot)) {
            return Ok(());
        }
        match self.retired.get_mut(slot).and_then(Option::take) {
            Some((source, tile)) => self.give(source, tile, output, take),
            None => Ok(()),
        }
    }

    /// Picks the newest cells: no other cells have their coordinates.
    fn settle(
        &mut self,
        output: &mut Output,
        take: &mut dyn FnMut(&SparseCells) -> Result<()>,
    ) -> Result<()> {
        // Cells of a tile are picked in the order of the tile.
        self.newest.sort_by_key(|newest| newest.ordinal);
        for Newest { source, ordinal, retired, .. } in std::mem::take(&mut self.newest) {
            let tile = match retired {
                Some(slot) => self.retired.get_mut(slot).and_then(Option::as_mut).map(|(_, tile)| tile),
                None => self.tile(source),
            };
            if let Some(HeldTile { picked, kept, .. }) = tile {
                picked.push(kept.get(ordinal));
            }
        }
        for (source, tile) in std::mem::take(&mut self.retired).into_iter().flatten() {
            self.give(source, tile, output, take)?;
        }
        Ok(())
    }

    /// Outputs the picked cells of a tile.
    fn give(
        &self,
        source: usize,
        tile: HeldTile,
        output: &mut Output,
        take: &mut dyn FnMut(&SparseCells) -> Result<()>,
    ) -> Result<()> {
        let Some(source) = self.sources.get(source).filter(|_| !tile.picked.is_empty()) else {
            return Ok(());
        };
        let HeldTile { number, mut cells, kept, picked, .. } = tile;
        let picked = if picked.len() == kept.len() { kept } else { Kept::These(picked) };
        // Files are opened for one tile at a time: there may be more fragments than files that can be open.
        let none = vec![false; self.reading.array.dimensions().len()];
        let wanted = Wanted { dimensions: &none, times: false };
        let fields = Fields::open(self.reading.array, source.fragment, &source.keys, wanted)?;
        let open = self.reading.open(source.fragment, &source.needed)?;
        self.reading.give(&fields, number, &mut cells, picked, (&source.needed, &open), output, take)
    }

    /// Reads the next tile of a source.
    fn load(&mut self, first: usize) -> Result<()> {
        let Some(source) = self.sources.get_mut(first) else { return Ok(()) };
        let Some(tiles) = source.left.last_mut() else { return Ok(()) };
        let Some(number) = tiles.next() else {
            source.left.pop();
            return Ok(());
        };
        if tiles.is_empty() {
            source.left.pop();
        }
        let all = vec![true; self.reading.array.dimensions().len()];
        let wanted = Wanted { dimensions: &all, times: true };
        let mut cells = Cells::default();
        Fields::open(self.reading.array, source.fragment, &source.keys, wanted)?.read(number, &mut cells)?;
        let kept = self.reading.within(source.fragment, number, &cells)?;
        let keys = self.order.keys(&cells.dimensions, (0..kept.len()).map(|ordinal| kept.get(ordinal)));
        let mut has_equal = false;
        let mut before = source.bound.as_slice();
        for ordinal in 0..keys.len() {
            let key = keys.get(ordinal);
            match before.cmp(key) {
                Ordering::Less => {}
                // With one dimension, the rectangle of a tile begins at its first cell.
                Ordering::Equal => has_equal |= ordinal > 0,
                Ordering::Greater => {
                    let cell = kept.get(ordinal);
                    return Err(out_of_order(number, cell).in_object(&source.fragment.folder));
                }
            }
            before = key;
        }
        let held = cells.held().saturating_add(keys.held());
        let charge = self.budget.charge(held as u64)?;
        if keys.len() > 0 {
            let picked = Vec::new();
            source.tile =
                Some(HeldTile { number, cells, kept, keys, has_equal, next: 0, picked, _charge: charge });
            return Ok(());
        }
        self.bound(first)
    }

    /// Raises the bound of a source according to the rectangle of its next tile.
    fn bound(&mut self, source: usize) -> Result<()> {
        let Some(source) = self.sources.get_mut(source).filter(|_| self.order.has_bounds()) else {
            return Ok(());
        };
        let Some(next) = source.left.last().map(|tiles| tiles.start) else { return Ok(()) };
        let tree = source.fragment.r_tree(&self.reading.array.generic_tiles())?;
        self.order.raise(&mut source.bound, tree, next, &source.sizes)
    }

    fn tile(&mut self, source: usize) -> Option<&mut HeldTile> {
        self.sources.get_mut(source)?.tile.as_mut()
    }

    /// The key of the next cell of the other sources. `None` if there is no other.
    fn limit(&self) -> Option<&[u8]> {
        self.heap.limit(|source| Some(self.sources.get(source)?.key()))
    }
}

/// Whether a source comes before another. Tiles are read before cells with the same coordinates are processed.
fn is_before(sources: &[Source<'_>], a: usize, b: usize) -> bool {
    match (sources.get(a), sources.get(b)) {
        (Some(a), Some(b)) => {
            let order = a.key().cmp(b.key()).then(a.tile.is_some().cmp(&b.tile.is_some()));
            order.then(a.ordinal.cmp(&b.ordinal)) == Ordering::Less
        }
        _ => false,
    }
}

impl Source<'_> {
    /// The key of the next cell, or a lower bound of it.
    fn key(&self) -> &[u8] {
        match &self.tile {
            Some(tile) => tile.keys.get(tile.next),
            None => &self.bound,
        }
    }
}
