//! The chunks of a dataset, by position.

use super::grid::{Grid, Order};
use crate::format::Address;
use hyperslab_core::{Budget, Charge, Error, Result};
use std::borrow::Cow;

/// The place of each chunk of a dataset, in row-major order of positions.
#[derive(Debug)]
pub struct ChunkTable {
    rank: usize,
    /// `rank` coordinates for each entry.
    positions: Vec<u64>,
    entries: Vec<ChunkEntry>,
    /// For consecutive chunks: used in place of entries.
    rule: Option<Rule>,
    _charges: Vec<Charge>,
}

/// The place of one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkEntry {
    /// Its address.
    pub address: Address,
    /// Its stored size in bytes.
    pub size: u64,
    /// The filter mask. Bit 0 is set if the first filter of the pipeline was skipped.
    pub filter_mask: u32,
}

/// A chunk and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkRecord<'a> {
    /// Its position: its offsets divided by the chunk dimensions.
    pub scaled: Cow<'a, [u64]>,
    /// Its place in the file.
    pub entry: ChunkEntry,
}

/// Consecutive chunks.
#[derive(Debug)]
struct Rule {
    address: Address,
    chunk_bytes: u64,
    current: Vec<u64>,
    order: Order,
}

impl ChunkTable {
    pub(super) fn empty(rank: usize) -> Self {
        ChunkTable { rank, positions: Vec::new(), entries: Vec::new(), rule: None, _charges: Vec::new() }
    }

    /// The caller has checked that all chunks of `order` have addresses.
    pub(super) fn by_rule(address: Address, chunk_bytes: u64, grid: &Grid, order: Order) -> Self {
        let rule = Rule { address, chunk_bytes, current: grid.current().to_vec(), order };
        ChunkTable { rule: Some(rule), ..ChunkTable::empty(grid.rank()) }
    }

    /// Its size in memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.positions.capacity() * size_of::<u64>() + self.entries.capacity() * size_of::<ChunkEntry>()
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of chunks that exist.
    pub fn len(&self) -> u64 {
        self.entries.len() as u64 + self.rule.as_ref().map_or(0, Rule::len)
    }

    /// Whether no chunk exists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The stored size of all chunks in bytes.
    pub fn stored_bytes(&self) -> u64 {
        self.iter().fold(0, |sum, chunk| sum.saturating_add(chunk.entry.size))
    }

    /// The chunk at a position.
    pub fn find(&self, scaled: &[u64]) -> Option<ChunkEntry> {
        if let Some(rule) = &self.rule {
            return rule.find(scaled);
        }
        let (mut from, mut to) = (0, self.entries.len());
        while from < to {
            let middle = from + (to - from) / 2;
            match row(&self.positions, self.rank, middle).cmp(scaled) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Equal => return self.entries.get(middle).copied(),
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        None
    }

    /// All chunks in row-major order of positions.
    pub fn iter(&self) -> impl Iterator<Item = ChunkRecord<'_>> {
        let listed = self.positions.chunks_exact(self.rank.max(1)).zip(&self.entries);
        let listed = listed.map(|(scaled, entry)| ChunkRecord { scaled: scaled.into(), entry: *entry });
        listed.chain(self.rule.iter().flat_map(Rule::iter))
    }
}

impl Rule {
    fn len(&self) -> u64 {
        self.current.iter().product()
    }

    fn find(&self, scaled: &[u64]) -> Option<ChunkEntry> {
        if scaled.len() != self.current.len() || !is_inside(scaled, &self.current) {
            return None;
        }
        let distance = self.order.number(scaled)?.checked_mul(self.chunk_bytes)?;
        let address = Address(self.address.0.checked_add(distance)?);
        Some(ChunkEntry { address, size: self.chunk_bytes, filter_mask: 0 })
    }

    fn iter(&self) -> impl Iterator<Item = ChunkRecord<'_>> {
        (0..self.len()).filter_map(|number| {
            let mut rest = number;
            let mut scaled = vec![0; self.current.len()];
            for (scaled, count) in scaled.iter_mut().zip(&self.current).rev() {
                *scaled = rest.checked_rem(*count)?;
                rest /= count;
            }
            let entry = self.find(&scaled)?;
            Some(ChunkRecord { scaled: scaled.into(), entry })
        })
    }
}

/// Collects chunks for a table.
pub(super) struct Collector<'a> {
    budget: &'a Budget,
    current: &'a [u64],
    positions: Vec<u64>,
    entries: Vec<ChunkEntry>,
    charges: Vec<Charge>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(budget: &'a Budget, grid: &'a Grid) -> Self {
        let (positions, entries, charges) = (Vec::new(), Vec::new(), Vec::new());
        Collector { budget, current: grid.current(), positions, entries, charges }
    }

    /// Adds a chunk, unless it has no address or is outside the current dimensions.
    pub(super) fn push(&mut self, scaled: &[u64], entry: ChunkEntry) -> Result<()> {
        if entry.address.is_undefined() || !is_inside(scaled, self.current) {
            return Ok(());
        }
        if self.entries.len() == self.entries.capacity() {
            let more = self.entries.len().max(MIN_CAPACITY);
            self.charges.push(self.budget.charge(self.bytes(more))?);
            self.entries.reserve_exact(more);
            self.positions.reserve_exact(more * self.current.len());
        }
        self.positions.extend_from_slice(scaled);
        self.entries.push(entry);
        Ok(())
    }

    /// The table.
    ///
    /// # Errors
    /// If two chunks have the same position.
    pub(super) fn finish(mut self) -> Result<ChunkTable> {
        let rank = self.current.len();
        let row = |at: usize| row(&self.positions, rank, at);
        if !is_ascending(&self.positions, rank, self.entries.len()) {
            // For a sorted copy, and for the order itself.
            let bytes = self.bytes(self.entries.len()) + (self.entries.len() * size_of::<usize>()) as u64;
            let _while_sorting = self.budget.charge(bytes)?;
            let mut order: Vec<usize> = (0..self.entries.len()).collect();
            order.sort_unstable_by(|a, b| row(*a).cmp(row(*b)));
            if let Some(pair) = order.array_windows().find(|[a, b]| row(*a) == row(*b)) {
                return Err(Error::malformed(format!("two chunks have the position {:?}", row(pair[0]))));
            }
            let positions = order.iter().flat_map(|at| row(*at).iter().copied()).collect();
            self.entries = order.iter().filter_map(|at| self.entries.get(*at).copied()).collect();
            self.positions = positions;
        }
        Ok(ChunkTable {
            rank,
            positions: self.positions,
            entries: self.entries,
            rule: None,
            _charges: self.charges,
        })
    }

    fn bytes(&self, entries: usize) -> u64 {
        (entries * (size_of::<ChunkEntry>() + size_of_val(self.current))) as u64
    }
}

fn row(positions: &[u64], rank: usize, at: usize) -> &[u64] {
    positions.get(at * rank..(at + 1) * rank).unwrap_or_default()
}

/// Whether the positions are sorted and distinct. Nearly all indexes list chunks in this order, so this check runs over
/// every chunk; it therefore has no bounds checks.
fn is_ascending(positions: &[u64], rank: usize, entries: usize) -> bool {
    if rank == 0 {
        return entries <= 1;
    }
    let rows = positions.chunks_exact(rank);
    rows.clone().zip(rows.skip(1)).all(|(one, next)| one < next)
}

fn is_inside(scaled: &[u64], current: &[u64]) -> bool {
    scaled.iter().zip(current).all(|(scaled, count)| scaled < count)
}

const MIN_CAPACITY: usize = 64;

#[cfg(test)]
mod tests {
    use super::super::{ChunkIndex, ChunkIndexKind};
    use super::*;
    use hyperslab_core::{ErrorKind, Limits};

    fn grid(dims: &[u64]) -> Grid {
        Grid::new(&ChunkIndex {
            kind: ChunkIndexKind::BtreeV1,
            address: Address(0),
            dims: dims.to_vec(),
            max_dims: vec![100; dims.len()],
            chunk_dims: vec![1; dims.len()],
            chunk_bytes: 8,
            filtered: false,
        })
        .unwrap()
    }

    fn entry(address: u64) -> ChunkEntry {
        ChunkEntry { address: Address(address), size: 8, filter_mask: 0 }
    }

    fn table(positions: &[[u64; 2]]) -> Result<ChunkTable> {
        let (grid, budget) = (grid(&[10, 10]), Budget::new(&Limits::default()));
        let mut collector = Collector::new(&budget, &grid);
        for scaled in positions {
            collector.push(scaled, entry(scaled[0] * 10 + scaled[1]))?;
        }
        collector.finish()
    }

    #[test]
    fn positions_are_found_whatever_order_they_came_in() {
        for positions in [
            vec![[0, 1], [0, 3], [1, 0], [9, 9]],
            vec![[9, 9], [1, 0], [0, 3], [0, 1]],
            (0..100).map(|n| [n % 10, n / 10]).collect(),
        ] {
            let table = table(&positions).unwrap();
            assert_eq!(table.len(), positions.len() as u64);
            for row in 0..11 {
                for column in 0..11 {
                    let found = table.find(&[row, column]);
                    let expected = positions.contains(&[row, column]).then(|| entry(row * 10 + column));
                    assert_eq!(found, expected, "{row} {column}");
                }
            }
            let listed: Vec<_> = table.iter().map(|record| record.scaled.into_owned()).collect();
            assert!(listed.is_sorted());
            assert_eq!(listed.len(), positions.len());
            assert_eq!(table.find(&[0]), None);
        }
    }

    #[test]
    fn chunks_outside_and_without_address_are_left_out() {
        let (grid, budget) = (grid(&[2]), Budget::new(&Limits::default()));
        let mut collector = Collector::new(&budget, &grid);
        collector.push(&[2], entry(1)).unwrap();
        collector.push(&[0], entry(u64::MAX)).unwrap();
        assert!(collector.finish().unwrap().is_empty());
    }

    #[test]
    fn two_chunks_at_one_position_are_malformed() {
        let e = table(&[[0, 1], [3, 3], [0, 1]]).unwrap_err();
        assert_eq!((e.kind(), e.detail()), (ErrorKind::Malformed, "two chunks have the position [0, 1]"));
        assert!(table(&[[0, 1], [0, 1]]).is_err());
    }

    #[test]
    fn tables_are_charged_while_they_live() {
        let limits = Limits { allocation: 10_000, ..Limits::default() };
        let (grid, budget) = (grid(&[100]), Budget::new(&limits));
        let mut collector = Collector::new(&budget, &grid);
        (0..100).try_for_each(|n| collector.push(&[n], entry(n))).unwrap();
        let table = collector.finish().unwrap();
        assert!(budget.charge(limits.allocation - 3_000).is_err());
        drop(table);
        assert!(budget.charge(limits.allocation).is_ok());
        let mut collector = Collector::new(&budget, &grid);
        let e = (0..1_000).try_for_each(|n| collector.push(&[n % 100], entry(n))).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::LimitExceeded);
    }
}
