//! Merges sorted records in memory, or from runs in a file.

use super::records::{Records, first, key};
use super::runs::{Reader, Runs, Writer};
use crate::pool::Pool;
use hyperslab_core::Result;
use std::cmp::Ordering;
use std::ops::Range;

/// A merge of sorted sources.
pub(super) struct Merge {
    fixed: Option<usize>,
    sources: Vec<Source>,
    /// The sources that have a next record, as a heap: none sorts before the one at half its position.
    heads: Vec<Head>,
}

/// Sorted records.
enum Source {
    /// Positions in memory.
    Memory(Range<usize>),
    Run(Reader),
}

/// The next record of a source.
#[derive(Clone, Copy)]
struct Head {
    /// The first sixteen bytes, as a number that sorts in the same order.
    prefix: u128,
    source: usize,
}

impl Merge {
    /// Merges slices of records in memory.
    pub(super) fn of_memory(records: &Records, slices: Vec<Range<usize>>) -> Merge {
        let sources = slices.into_iter().filter(|slice| !slice.is_empty()).map(Source::Memory).collect();
        let mut merge = Merge { fixed: records.fixed(), sources, heads: Vec::new() };
        merge.start(records);
        merge
    }

    /// Merges runs of a file, reading `block` bytes of each at a time.
    fn of_file(places: Vec<Range<u64>>, fixed: Option<usize>, block: usize, runs: &Runs) -> Result<Merge> {
        let mut sources = Vec::with_capacity(places.len());
        for run in places {
            let mut reader = Reader::new(run, fixed, block);
            if reader.advance(runs)? {
                sources.push(Source::Run(reader));
            }
        }
        let mut merge = Merge { fixed, sources, heads: Vec::new() };
        merge.start(&Records::new(fixed));
        Ok(merge)
    }

    fn start(&mut self, records: &Records) {
        self.heads = (0..self.sources.len()).map(|source| self.head(records, source)).collect();
        for position in (0..self.heads.len() / 2).rev() {
            self.sink(records, position);
        }
    }

    /// Appends the next record to `out`. Returns false after the last one.
    pub(super) fn next(&mut self, records: &Records, runs: &Runs, out: &mut Vec<u8>) -> Result<bool> {
        let Some(first) = self.heads.first().map(|head| head.source) else { return Ok(false) };
        out.extend_from_slice(self.record(records, first));
        let has_more = match self.sources.get_mut(first) {
            Some(Source::Memory(positions)) => {
                positions.start = positions.start.saturating_add(1);
                positions.start < positions.end
            }
            Some(Source::Run(reader)) => reader.advance(runs)?,
            None => false,
        };
        match has_more {
            true => {
                let head = self.head(records, first);
                if let Some(top) = self.heads.first_mut() {
                    *top = head;
                }
            }
            false => {
                self.heads.swap_remove(0);
            }
        }
        self.sink(records, 0);
        Ok(true)
    }

    /// Moves the head at `position` below those that sort before it.
    fn sink(&mut self, records: &Records, mut position: usize) {
        loop {
            let (left, right) = (2 * position + 1, 2 * position + 2);
            let Some(child) = self.heads.get(left) else { return };
            let child = match self.heads.get(right) {
                Some(other) if self.compare(records, other, child).is_lt() => right,
                _ => left,
            };
            let (Some(above), Some(below)) = (self.heads.get(position), self.heads.get(child)) else {
                return;
            };
            if self.compare(records, above, below).is_le() {
                return;
            }
            self.heads.swap(position, child);
            position = child;
        }
    }

    fn compare(&self, records: &Records, a: &Head, b: &Head) -> Ordering {
        a.prefix.cmp(&b.prefix).then_with(|| {
            let key = |head: &Head| key(self.record(records, head.source), self.fixed);
            key(a).cmp(key(b))
        })
    }

    fn head(&self, records: &Records, source: usize) -> Head {
        Head { prefix: prefix(key(self.record(records, source), self.fixed)), source }
    }

    fn record<'a>(&'a self, records: &'a Records, source: usize) -> &'a [u8] {
        match self.sources.get(source) {
            Some(Source::Memory(positions)) => records.get(positions.start).unwrap_or_default(),
            Some(Source::Run(reader)) => reader.record(),
            None => &[],
        }
    }
}

/// The merge of all runs of a file. If there are too many runs for the memory, they are first merged into fewer.
pub(super) fn of_runs(runs: &mut Runs, fixed: Option<usize>, pool: &Pool) -> Result<Merge> {
    let memory = usize::try_from(pool.memory() / 2).unwrap_or(usize::MAX);
    let most = (memory / MIN_BLOCK).max(2);
    let block = |runs: usize| (memory / runs.max(1)).clamp(MIN_BLOCK, MAX_BLOCK);
    loop {
        let places = runs.take();
        if places.len() <= most {
            let size = block(places.len());
            return Merge::of_file(places, fixed, size, runs);
        }
        for some in places.chunks(most) {
            let mut merge = Merge::of_file(some.to_vec(), fixed, block(some.len()), runs)?;
            let mut writer = Writer::new(runs)?;
            let (none, mut record) = (Records::new(fixed), Vec::new());
            let mut count = 0_u64;
            while merge.next(&none, writer.runs(), &mut record)? {
                writer.push(&record)?;
                record.clear();
                count += 1;
                if count.is_multiple_of(CHECK_EVERY) {
                    pool.check()?;
                }
            }
            let run = writer.finish()?;
            runs.add_run(run);
        }
    }
}

/// The first sixteen bytes as a number that sorts in the same order.
fn prefix(key: &[u8]) -> u128 {
    u128::from_be_bytes(first(key))
}

/// The minimum number of bytes that are read at once.
const MIN_BLOCK: usize = 16 << 10;
/// The maximum number of bytes that are read at once: more is not faster.
const MAX_BLOCK: usize = 4 << 20;
/// The number of records between two checks of the cancel token.
const CHECK_EVERY: u64 = 1 << 16;
