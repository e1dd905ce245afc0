//! The cells of fragments of a sparse array in global order, with one tile of each in memory at a time.
//!
//! As when [cells are read](crate::read::sparse), a heap finds the fragment with the next cell, and a tile is read when
//! it is needed. Of the cells with the same coordinates, the newest comes first.

use super::sparse::Rows;
use crate::array::Array;
use crate::array::fragment::OpenedFragment;
use crate::read::global_order::{GlobalOrder, Keys, out_of_order};
use crate::read::heap::SourceHeap;
use hyperslab_core::Result;
use std::cmp::{Ordering, Reverse};
use std::ops::Range;
use std::sync::Arc;

/// Which of the cells with the same coordinates are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// All.
    All,
    /// All that were not deleted.
    Alive,
    /// The newest of each time.
    OfEachTime,
    /// The newest.
    Newest,
    /// The newest, if it was not deleted.
    NewestAlive,
}

/// A tile in memory.
pub(super) struct HeldTile {
    pub(super) rows: Rows,
    keys: Keys,
    /// The order of the cells, if equal keys make it different from that of the tile.
    order: Option<Vec<usize>>,
}

/// Consecutive cells in a tile.
#[derive(Clone, Copy)]
pub(super) struct Run {
    /// The index of the tile in the batch.
    pub(super) tile: usize,
    pub(super) first: usize,
    pub(super) count: usize,
}

/// Cells of several tiles, in global order.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) tiles: Vec<Arc<HeldTile>>,
    pub(super) runs: Vec<Run>,
    pub(super) cells: usize,
}

/// A fragment that is being merged.
struct Source {
    fragment: usize,
    /// The tiles that were not read yet.
    left: Range<u64>,
    /// A lower bound of the keys of the remaining cells.
    bound: Vec<u8>,
    /// The tile whose cells are being processed.
    tile: Option<Arc<HeldTile>>,
    /// The next cell, by its ordinal in the order of the tile.
    next: usize,
    /// The index of the tile in the batch.
    slot: Option<usize>,
}

/// The state of a merge.
pub(super) struct Merge {
    order: GlobalOrder,
    taken: Taken,
    sources: Vec<Source>,
    /// The sources that have remaining cells.
    heap: SourceHeap,
    /// The key of the last cell.
    key: Vec<u8>,
    /// The coordinates of the cells with this key, and the time of the last of each: one, unless zeros have different
    /// signs.
    known: Vec<Known>,
}

/// Coordinates that cells have.
struct Known {
    /// Distinguishes them from others with the same key.
    negative_zeros: Vec<usize>,
    time: u64,
}

/// Reads the fields of a tile of a fragment.
pub(super) type ReadRows<'r> = dyn Fn(usize, u64) -> Result<Rows> + 'r;

impl HeldTile {
    fn of(rows: Rows, order: &GlobalOrder) -> HeldTile {
        let keys = order.keys(&rows.dimensions, 0..rows.count);
        let mut tile = HeldTile { rows, keys, order: None };
        let count = tile.keys.len();
        let pairs = || (1..count).map(|cell| (cell.saturating_sub(1), cell));
        let is_older = |(a, b): (usize, usize)| {
            tile.keys.get(a) == tile.keys.get(b) && tile.rows.time(a) < tile.rows.time(b)
        };
        if !tile.rows.are_of_one_time() && pairs().any(is_older) {
            let mut cells: Vec<usize> = (0..count).collect();
            cells.sort_by_key(|cell| (tile.keys.get(*cell), Reverse(tile.rows.time(*cell))));
            tile.order = Some(cells);
        }
        tile
    }

    /// The cell with an ordinal.
    fn cell(&self, ordinal: usize) -> usize {
        match &self.order {
            Some(order) => order.get(ordinal).copied().unwrap_or(ordinal),
            None => ordinal,
        }
    }
}

impl Merge {
    pub(super) fn new(array: &Array, taken: Taken) -> Result<Merge> {
        let fragments = array.fragments()?;
        let source = |(fragment, of): (usize, &OpenedFragment)| Source {
            fragment,
            left: 0..of.footer.sparse_tile_num,
            bound: Vec::new(),
            tile: None,
            next: 0,
            slot: None,
        };
        let mut merge = Merge {
            order: GlobalOrder::of(array.schema())?,
            taken,
            sources: fragments.iter().enumerate().map(source).collect(),
            heap: SourceHeap::default(),
            key: Vec::new(),
            known: Vec::new(),
        };
        for source in 0..merge.sources.len() {
            merge.bound(array, source)?;
        }
        let sources = &merge.sources;
        merge.heap = SourceHeap::of(sources.len(), |a, b| is_before(sources, a, b));
        Ok(merge)
    }

    /// The next cells: as many as requested, or the remaining ones.
    pub(super) fn batch(&mut self, array: &Array, wanted: usize, read: &ReadRows<'_>) -> Result<Batch> {
        let mut batch = Batch::default();
        self.sources.iter_mut().for_each(|source| source.slot = None);
        while batch.cells < wanted
            && let Some(first) = self.heap.first()
        {
            let Some(source) = self.sources.get(first) else { break };
            match (source.tile.clone(), source.left.is_empty()) {
                (Some(tile), _) => self.step(array, (first, &tile), wanted, &mut batch)?,
                (None, false) => self.load(array, first, read)?,
                (None, true) => self.heap.remove_first(),
            }
            let sources = &self.sources;
            self.heap.settle(|a, b| is_before(sources, a, b));
        }
        Ok(batch)
    }

    /// Takes cells of the source with the next cell, until another source has the next one.
    fn step(
        &mut self,
        array: &Array,
        (first, tile): (usize, &Arc<HeldTile>),
        wanted: usize,
        batch: &mut Batch,
    ) -> Result<()> {
        let Some(next) = self.sources.get(first).map(|source| source.next) else { return Ok(()) };
        let one = next.saturating_add(1);
        let all = next.saturating_add(wanted.saturating_sub(batch.cells)).min(tile.keys.len());
        let end = match (self.limit(), &tile.order) {
            (Some(limit), None) => tile.keys.end_below(next, limit).clamp(one, all.max(one)),
            (None, None) => all.max(one),
            // Keys are searched for in the order of the tile.
            (_, Some(_)) => one,
        };
        for ordinal in next..end {
            let cell = tile.cell(ordinal);
            if self.counts(tile, cell) {
                self.put((first, tile), cell, batch);
            }
        }
        let Some(source) = self.sources.get_mut(first) else { return Ok(()) };
        source.next = end;
        if end >= tile.keys.len() {
            source.bound = tile.keys.get(tile.cell(end.saturating_sub(1))).to_vec();
            (source.tile, source.slot) = (None, None);
            self.bound(array, first)?;
        }
        Ok(())
    }

    /// Whether a cell, which follows the previous one, is taken.
    fn counts(&mut self, tile: &HeldTile, cell: usize) -> bool {
        let is_alive = !tile.rows.is_deleted(cell);
        match self.taken {
            Taken::All => return true,
            Taken::Alive => return is_alive,
            Taken::OfEachTime | Taken::Newest | Taken::NewestAlive => {}
        }
        let (key, time) = (tile.keys.get(cell), tile.rows.time(cell));
        if self.known.is_empty() || self.key != key {
            self.known.clear();
            self.key.clear();
            self.key.extend_from_slice(key);
        }
        let negative_zeros = tile.keys.negative_zeros_of(cell);
        let is_known = match self.known.iter_mut().find(|known| known.negative_zeros == negative_zeros) {
            Some(known) => {
                let before = std::mem::replace(&mut known.time, time);
                self.taken != Taken::OfEachTime || before == time
            }
            None => {
                self.known.push(Known { negative_zeros: negative_zeros.to_vec(), time });
                false
            }
        };
        !is_known && (is_alive || self.taken != Taken::NewestAlive)
    }

    fn put(&mut self, (first, tile): (usize, &Arc<HeldTile>), cell: usize, batch: &mut Batch) {
        let Some(source) = self.sources.get_mut(first) else { return };
        let slot = *source.slot.get_or_insert_with(|| {
            batch.tiles.push(Arc::clone(tile));
            batch.tiles.len().saturating_sub(1)
        });
        batch.cells = batch.cells.saturating_add(1);
        match batch.runs.last_mut() {
            Some(run) if run.tile == slot && run.first.saturating_add(run.count) == cell => {
                run.count = run.count.saturating_add(1);
            }
            _ => batch.runs.push(Run { tile: slot, first: cell, count: 1 }),
        }
    }

    /// Reads the next tile of a source.
    fn load(&mut self, array: &Array, first: usize, read: &ReadRows<'_>) -> Result<()> {
        let Some(source) = self.sources.get_mut(first) else { return Ok(()) };
        let Some(number) = source.left.next() else { return Ok(()) };
        let tile = HeldTile::of(read(source.fragment, number)?, &self.order);
        let mut before = source.bound.as_slice();
        for cell in 0..tile.keys.len() {
            let key = tile.keys.get(cell);
            if before > key {
                let folder =
                    array.fragments()?.get(source.fragment).map(|of| of.folder.clone()).unwrap_or_default();
                return Err(out_of_order(number, cell).in_object(folder));
            }
            before = key;
        }
        if tile.keys.len() == 0 {
            return self.bound(array, first);
        }
        (source.tile, source.next) = (Some(Arc::new(tile)), 0);
        Ok(())
    }

    /// Raises the bound of a source according to the rectangle of its next tile.
    fn bound(&mut self, array: &Array, source: usize) -> Result<()> {
        let Some(source) = self.sources.get_mut(source).filter(|_| self.order.has_bounds()) else {
            return Ok(());
        };
        let Some(fragment) = array.fragments()?.get(source.fragment) else { return Ok(()) };
        if source.left.is_empty() {
            return Ok(());
        }
        let sizes = fragment.schema.domain.coordinate_sizes();
        let tree = fragment.r_tree(&array.generic_tiles())?;
        self.order.raise(&mut source.bound, tree, source.left.start, &sizes)
    }

    /// The key of the next cell of the other sources. `None` if there is no other.
    fn limit(&self) -> Option<&[u8]> {
        self.heap.limit(|source| Some(self.sources.get(source)?.key()))
    }
}

/// Whether a source comes before another.
fn is_before(sources: &[Source], a: usize, b: usize) -> bool {
    matches!((sources.get(a), sources.get(b)), (Some(a), Some(b)) if a.is_before(b))
}

impl Source {
    /// The key of the next cell, or a lower bound of it.
    fn key(&self) -> &[u8] {
        match &self.tile {
            Some(tile) => tile.keys.get(tile.cell(self.next)),
            None => &self.bound,
        }
    }

    /// Whether a source comes before another. Tiles are read before cells with the same coordinates are processed. Of
    /// these, the newest comes first, and of those with the same time, the one in the newest fragment.
    fn is_before(&self, other: &Source) -> bool {
        let by_key = self.key().cmp(other.key());
        let by_tile = || self.tile.is_some().cmp(&other.tile.is_some());
        let by_time = || (other.time(), other.fragment).cmp(&(self.time(), self.fragment));
        by_key.then_with(by_tile).then_with(by_time) == Ordering::Less
    }

    fn time(&self) -> u64 {
        self.tile.as_ref().map_or(0, |tile| tile.rows.time(tile.cell(self.next)))
    }
}
