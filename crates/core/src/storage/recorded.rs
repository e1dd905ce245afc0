//! A log of writes and syncs, and the states that a crash may leave.

use super::WriteAt;
use super::write_at::put;
use crate::Result;
use crate::wrapper::Wrapper;
use bytes::Bytes;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Storage that records every change. [`Recorded::log`] yields the states that a crash may leave.
///
/// ```
/// use hyperslab_core::storage::{Recorded, WritableMemory, WriteAt};
///
/// let storage = Recorded::new(WritableMemory::new(*b"old"))?;
/// storage.write_at(0, b"n")?;
/// storage.sync()?;
/// storage.write_at(1, b"ew")?;
/// let mut states: Vec<_> = storage.log().after_power_loss(0).collect();
/// states.sort();
/// states.dedup();
/// assert_eq!(states, [&b"new"[..], b"nld", b"old"]);
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Recorded<W> {
    inner: W,
    log: Mutex<Log>,
}

/// The first state of a storage, and its changes.
#[derive(Clone, Debug)]
pub struct Log {
    first: Vec<u8>,
    operations: Vec<Operation>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Bytes written at an offset.
    Write(u64, Bytes),
    /// The storage was truncated or extended to this length.
    SetLen(u64),
    /// Space was reserved, which extends the storage to the end of the range if it was shorter.
    Allocate(Range<u64>),
    /// A sync: all earlier changes are on the medium.
    Sync,
}

impl<W: WriteAt> Recorded<W> {
    /// Records all changes of `inner` from now on.
    ///
    /// # Errors
    /// If reading its content fails.
    pub fn new(inner: W) -> Result<Self> {
        let first = inner.read_at(0..inner.len()?)?.to_vec();
        Ok(Recorded { inner, log: Mutex::new(Log { first, operations: Vec::new() }) })
    }

    /// The inner storage.
    pub fn inner(&self) -> &W {
        &self.inner
    }

    /// A copy of the current log.
    pub fn log(&self) -> Log {
        self.held().clone()
    }

    fn held(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a change and records it if it succeeds. The log is locked meanwhile, so that its order is that of the
    /// changes.
    fn record<T>(
        &self,
        change: impl FnOnce(&W) -> Result<T>,
        operation: impl FnOnce(&T) -> Operation,
    ) -> Result<T> {
        let mut log = self.held();
        let done = change(&self.inner)?;
        log.operations.push(operation(&done));
        Ok(done)
    }
}

impl<W: WriteAt> Wrapper for Recorded<W> {
    type Inner = W;

    fn wrapped(&self) -> &W {
        &self.inner
    }
}

impl<W: WriteAt> WriteAt for Recorded<W> {
    fn write_some(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        self.record(
            |inner| inner.write_some(offset, bytes),
            |written| {
                Operation::Write(offset, Bytes::copy_from_slice(bytes.get(..*written).unwrap_or(bytes)))
            },
        )
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.record(|inner| inner.set_len(len), |()| Operation::SetLen(len))
    }

    fn allocate(&self, range: Range<u64>) -> Result<()> {
        self.record(|inner| inner.allocate(range.clone()), |()| Operation::Allocate(range.clone()))
    }

    fn sync(&self) -> Result<()> {
        self.record(WriteAt::sync, |()| Operation::Sync)
    }
}

impl Log {
    /// The changes in their order.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The same log with other operations. A test uses it to drop a sync or swap two steps, after which its checks must
    /// fail.
    #[must_use]
    pub fn with_operations(&self, operations: Vec<Operation>) -> Log {
        Log { first: self.first.clone(), operations }
    }

    /// Every state that may be left if the process ends, in the order of the log: all operations up to a point are done,
    /// and, if the next one is a write, any number of its pages of 4 KiB.
    pub fn after_kill(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        let torn = self.operations.iter().enumerate().flat_map(move |(number, operation)| {
            let before = self.operations.get(..number).unwrap_or_default();
            cuts(operation).map(move |part| self.state(before.iter().chain(&part)))
        });
        torn.chain(std::iter::once_with(|| self.state(&self.operations)))
    }

    /// States that may be left after a power failure. Each sector of 512 bytes and each change of length since the last
    /// sync is on the medium or not, in any order.
    ///
    /// If there are at most [`EXHAUSTIVE`] changes between two syncs, all subsets are tried. If there are more: none,
    /// all, every prefix, all except one, each one alone, and 200 random subsets from `seed`.
    pub fn after_power_loss(&self, seed: u64) -> impl Iterator<Item = Vec<u8>> + '_ {
        let mut ends: Vec<usize> = self
            .operations
            .iter()
            .enumerate()
            .filter(|(_, o)| **o == Operation::Sync)
            .map(|(at, _)| at)
            .collect();
        ends.push(self.operations.len());
        let starts = std::iter::once(0).chain(ends.clone());
        starts.zip(ends).flat_map(move |(start, end)| {
            let durable = self.operations.get(..start).unwrap_or_default();
            let unsynced = self.operations.get(start..end).unwrap_or_default();
            let units: Vec<Operation> = unsynced.iter().flat_map(units).collect();
            let durable_len = self.state(durable).len() as u64;
            subsets(units.len(), seed).flat_map(move |kept| {
                let kept = units.iter().zip(kept).filter(|(_, is_kept)| *is_kept).map(|(unit, _)| unit);
                let state = self.state(durable.iter().chain(kept));
                // The length is separate metadata: bytes can be on the medium beyond the length of the file.
                let cut = (state.len() as u64 > durable_len).then(|| cut_to(&state, durable_len));
                std::iter::once(state).chain(cut)
            })
        })
    }

    fn state<'a>(&self, operations: impl IntoIterator<Item = &'a Operation>) -> Vec<u8> {
        let mut file = self.first.clone();
        for operation in operations {
            match operation {
                // The recorded state was in memory, so it fits again.
                Operation::Write(offset, bytes) => drop(put(&mut file, *offset, bytes)),
                Operation::SetLen(len) => file.resize(usize::try_from(*len).unwrap_or(usize::MAX), 0),
                Operation::Allocate(range) => {
                    let end = usize::try_from(range.end).unwrap_or(usize::MAX);
                    file.resize(file.len().max(end), 0);
                }
                Operation::Sync => {}
            }
        }
        file
    }
}

fn cut_to(state: &[u8], len: u64) -> Vec<u8> {
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    state.get(..len).unwrap_or(state).to_vec()
}

/// The partial forms of an operation if the process ends during it: nothing, or its bytes up to a page boundary.
fn cuts(operation: &Operation) -> impl Iterator<Item = Option<Operation>> + use<> {
    let mut cuts = vec![None];
    if let Operation::Write(offset, bytes) = operation {
        cuts.extend(
            borders(*offset, bytes.len(), PAGE)
                .map(|end| Some(Operation::Write(*offset, bytes.slice(..end)))),
        );
    }
    cuts.into_iter()
}

/// The parts of an operation that reach the medium independently.
fn units(operation: &Operation) -> Vec<Operation> {
    match operation {
        Operation::Write(offset, bytes) => {
            let ends = borders(*offset, bytes.len(), SECTOR).chain([bytes.len()]);
            let starts = std::iter::once(0).chain(borders(*offset, bytes.len(), SECTOR));
            let sector = |(start, end): (usize, usize)| {
                Operation::Write(offset.saturating_add(start as u64), bytes.slice(start..end))
            };
            starts.zip(ends).filter(|(start, end)| start < end).map(sector).collect()
        }
        Operation::Sync => Vec::new(),
        other => vec![other.clone()],
    }
}

/// The starts of blocks inside `len` bytes at `offset`, except the first byte.
fn borders(offset: u64, len: usize, block: usize) -> impl Iterator<Item = usize> + Clone {
    let within = usize::try_from(offset % block as u64).unwrap_or(0);
    (block - within..len).step_by(block)
}

/// For each state, which of the `count` changes are kept.
fn subsets(count: usize, seed: u64) -> Box<dyn Iterator<Item = Vec<bool>>> {
    if count <= EXHAUSTIVE {
        return Box::new(
            (0..1_u32 << count).map(move |bits| (0..count).map(|at| bits >> at & 1 == 1).collect()),
        );
    }
    let keep = move |kept: &dyn Fn(usize) -> bool| (0..count).map(kept).collect::<Vec<_>>();
    let none_to_all = (0..=count).map(move |end| keep(&|at| at < end));
    let all_but = (0..count).map(move |one| keep(&|at| at != one));
    let alone = (0..count).map(move |one| keep(&|at| at == one));
    let mut random = seed;
    let chosen = (0..CHOSEN).map(move |_| (0..count).map(|_| next(&mut random) & 1 == 1).collect());
    Box::new(none_to_all.chain(all_but).chain(alone).chain(chosen))
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The maximum number of changes between two syncs for which every subset is tried.
pub const EXHAUSTIVE: usize = 10;
/// The number of random subsets for more changes.
const CHOSEN: usize = 200;
/// The page size. Linux can end a process between two pages of a write.
const PAGE: usize = 4096;
/// The sector size. Media write a sector completely or not at all.
const SECTOR: usize = 512;

#[cfg(test)]
mod tests {
    use super::super::WritableMemory;
    use super::*;
    use std::collections::BTreeSet;

    fn recorded(first: &[u8]) -> Recorded<WritableMemory> {
        Recorded::new(WritableMemory::new(first)).unwrap()
    }

    fn lost(log: &Log) -> BTreeSet<Vec<u8>> {
        log.after_power_loss(7).collect()
    }

    #[test]
    fn a_killed_process_leaves_its_writes_up_to_a_page_border() {
        let storage = recorded(b"");
        storage.write_at(0, b"a").unwrap();
        storage.write_at(4095, &[1; 4098]).unwrap();
        storage.set_len(1).unwrap();
        let lens: Vec<usize> = storage.log().after_kill().map(|state| state.len()).collect();
        assert_eq!(lens, [0, 1, 4096, 8192, 8193, 1]);
    }

    #[test]
    fn synced_changes_are_never_lost_and_others_are_lost_in_any_order() {
        let storage = recorded(b"....");
        storage.write_at(0, b"a").unwrap();
        storage.sync().unwrap();
        storage.write_at(1, b"b").unwrap();
        storage.write_at(2, b"c").unwrap();
        let log = storage.log();
        let expected = ["....", "a...", "ab..", "a.c.", "abc."].map(|state| state.as_bytes().to_vec());
        assert_eq!(lost(&log), BTreeSet::from(expected));
        let without = log.operations().iter().filter(|o| **o != Operation::Sync).cloned().collect();
        assert!(lost(&log.with_operations(without)).contains(&b".bc."[..]));
    }

    #[test]
    fn sectors_and_lengths_are_lost_independently() {
        let storage = recorded(b"x");
        storage.write_at(510, &[1; 4]).unwrap();
        let states = lost(&storage.log());
        let state = |len: usize, ones: &[usize]| -> Vec<u8> {
            (0..len).map(|at| if at == 0 { b'x' } else { u8::from(ones.contains(&at)) }).collect()
        };
        let expected = [
            state(1, &[]),
            state(512, &[510, 511]),
            state(514, &[512, 513]),
            state(514, &[510, 511, 512, 513]),
        ];
        assert_eq!(states, BTreeSet::from(expected));
    }

    #[test]
    fn each_of_many_changes_is_dropped_alone_and_kept_alone() {
        let storage = recorded(&[0; 20]);
        for at in 0..20 {
            storage.write_at(at, &[1]).unwrap();
        }
        let states = lost(&storage.log());
        for at in 0..20 {
            assert!(states.contains(&(0..20).map(|n| u8::from(n == at)).collect::<Vec<_>>()), "{at} alone");
            assert!(states.contains(&(0..20).map(|n| u8::from(n != at)).collect::<Vec<_>>()), "all but {at}");
            assert!(states.contains(&(0..20).map(|n| u8::from(n < at)).collect::<Vec<_>>()), "up to {at}");
        }
        assert!(states.len() > 200);
        assert_eq!(states, lost(&storage.log()), "the same seed gives the same states");
    }

    /// Two records. The second one marks the first one as complete, so a sync is required between them.
    fn commit(storage: &dyn WriteAt, synced: bool) {
        storage.write_at(0, b"data").unwrap();
        if synced {
            storage.sync().unwrap();
        }
        storage.write_at(600, b"!").unwrap();
    }

    #[test]
    fn finds_a_protocol_without_its_required_sync() {
        let broken = |synced| {
            let storage = recorded(&[b'.'; 601]);
            commit(&storage, synced);
            lost(&storage.log()).iter().any(|state| state[600] == b'!' && &state[..4] != b"data")
        };
        assert!(!broken(true));
        assert!(broken(false));
    }
}
