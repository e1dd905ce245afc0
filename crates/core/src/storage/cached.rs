//! A cache of small blocks for metadata, which is read in many small ranges close to each other.

use super::{ReadAt, Siblings, read_each, read_merged};
use crate::Result;
use bytes::Bytes;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Storage that serves small reads from cached blocks of 4 KiB.
///
/// A read inside one block shares the bytes of the block, which stay in memory as long as the result. Reads of more than
/// 64 KiB bypass the cache. Raw data should be read from [`Cached::uncached`], because it would evict metadata. If the
/// file changes, reads may return a mixture of old and new bytes.
///
/// ```
/// use bytes::Bytes;
/// use hyperslab_core::storage::{Cached, ReadAt};
///
/// let storage = Cached::new(Bytes::from(vec![7; 10_000]));
/// assert_eq!(storage.read_at(4_000..4_200)?, vec![7; 200]);
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
pub struct Cached<R> {
    inner: R,
    shards: Vec<Mutex<Shard>>,
    sequences: Mutex<Sequences>,
}

impl<R: ReadAt> Cached<R> {
    /// A cache of at most 8 MiB.
    pub fn new(inner: R) -> Self {
        Cached::with_capacity(inner, CAPACITY)
    }

    /// A cache of at most `bytes`. If this is less than one block, nothing is cached.
    pub fn with_capacity(inner: R, bytes: usize) -> Self {
        let blocks = bytes / BLOCK_LEN;
        // Each shard evicts independently. Shards with few blocks would evict although others have free space.
        let shards = (blocks / MIN_SHARD).clamp(1, MAX_SHARDS).min(blocks);
        let shard = |i| Mutex::new(Shard::new((blocks + i) / shards));
        Cached { inner, shards: (0..shards).map(shard).collect(), sequences: Mutex::default() }
    }

    /// The storage behind the cache.
    pub fn uncached(&self) -> &R {
        &self.inner
    }

    /// Whether all of a range is cached, so that reading it makes no request.
    pub fn has(&self, range: &Range<u64>) -> bool {
        let is_cached = |block| self.shard(block).is_some_and(|shard| shard.places.contains_key(&block));
        self.takes(range) && (range.start / BLOCK..=(range.end - 1) / BLOCK).all(is_cached)
    }

    /// The part of `range` in its first block.
    fn within_block(&self, range: &Range<u64>) -> Result<Bytes> {
        let (block, from) = position(range.start);
        let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let to = from.saturating_add(len).min(BLOCK_LEN);
        if let Some(found) = self.shard(block).and_then(|mut shard| shard.get(block, from..to)) {
            return Ok(found);
        }
        let bytes = self.fetch(block, range)?;
        if bytes.len() < to {
            return self.inner.read_at(range.start..range.start + (to - from) as u64);
        }
        Ok(bytes.slice(from..to))
    }

    /// Reads and caches the blocks from `block` to the end of `range`, or more if misses are sequential. Returns the
    /// first block.
    fn fetch(&self, block: u64, range: &Range<u64>) -> Result<Bytes> {
        let needed = range.end.div_ceil(BLOCK) - block;
        let blocks = unpoisoned(&self.sequences).blocks_at(block, needed);
        let start = block * BLOCK;
        let end = start.saturating_add(blocks * BLOCK).min(self.inner.len()?);
        let bytes = self.inner.read_at(start..end)?;
        let mut first = None;
        for (number, piece) in (block..).zip(bytes.chunks(BLOCK_LEN)) {
            // A slice would keep all blocks of the read-ahead in memory as long as one of them is used.
            let piece =
                if piece.len() == bytes.len() { bytes.clone() } else { Bytes::copy_from_slice(piece) };
            if first.is_none() {
                first = Some(piece.clone());
            }
            if let Some(mut shard) = self.shard(number) {
                shard.insert(number, piece);
            }
        }
        Ok(first.unwrap_or_default())
    }

    /// Reads several ranges, with one request for all blocks that are not cached.
    fn read_together(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let len = self.inner.len()?;
        let (passing, taken): (Vec<_>, Vec<_>) = ranges.iter().partition(|range| !self.takes(range));
        let mut missing: Vec<u64> =
            taken.iter().flat_map(|range| range.start / BLOCK..=(range.end - 1) / BLOCK).collect();
        missing.sort_unstable();
        missing.dedup();
        missing.retain(|block| !self.shard(*block).is_none_or(|shard| shard.places.contains_key(block)));
        let block = |number: &u64| number * BLOCK..(number * BLOCK).saturating_add(BLOCK).min(len);
        let mut wanted: Vec<Range<u64>> = missing.iter().map(block).collect();
        wanted.extend(passing.iter().copied().cloned());
        let mut read = match wanted.is_empty() {
            true => Vec::new(),
            false => read_merged(&wanted, |merged| self.inner.read_ranges(merged))?,
        };
        let passed = read.split_off(missing.len());
        for (number, piece) in missing.into_iter().zip(read) {
            if let Some(mut shard) = self.shard(number) {
                shard.insert(number, Bytes::copy_from_slice(&piece));
            }
        }
        let mut passed = passed.into_iter();
        let piece = |range: &Range<u64>| match self.takes(range) {
            false => passed.next().map_or_else(|| self.read_at(range.clone()), Ok),
            true => self.read_at(range.clone()),
        };
        ranges.iter().map(piece).collect()
    }

    fn shard(&self, block: u64) -> Option<MutexGuard<'_, Shard>> {
        // The high bits of a product with an odd constant spread neighbours over the shards.
        let mixed = block.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
        let shard = self.shards.get(usize::try_from(mixed).ok()?.checked_rem(self.shards.len())?)?;
        Some(unpoisoned(shard))
    }

    /// Whether the cache handles a range: it is small, not empty, and inside the storage. The inner storage reports
    /// errors for other ranges.
    fn takes(&self, range: &Range<u64>) -> bool {
        let len = range.end.saturating_sub(range.start);
        (1..=LONGEST).contains(&len) && !self.shards.is_empty()
    }

    fn copy(&self, range: Range<u64>, out: &mut [u8]) -> Result<()> {
        let (mut range, mut rest) = (range, out);
        while !range.is_empty() {
            let bytes = self.within_block(&range)?;
            let Some((head, tail)) = rest.split_at_mut_checked(bytes.len()) else { break };
            head.copy_from_slice(&bytes);
            rest = tail;
            range.start += bytes.len() as u64;
        }
        Ok(())
    }
}

impl<R: ReadAt> ReadAt for Cached<R> {
    fn len(&self) -> Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        if !self.takes(&range) {
            return self.inner.read_at(range);
        }
        let found = if range.start / BLOCK == (range.end - 1) / BLOCK {
            self.within_block(&range)
        } else {
            // `takes` limits this to 64 KiB, independent of the file.
            let mut out = vec![0; usize::try_from(range.end - range.start).unwrap_or(0)];
            self.copy(range.clone(), &mut out).map(|()| out.into())
        };
        // A block is larger than the range, so an error in the block is not always an error in the range.
        found.or_else(|_| self.inner.read_at(range))
    }

    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let range = offset..offset.saturating_add(out.len() as u64);
        if !self.takes(&range) || self.copy(range, out).is_err() {
            return self.inner.read_into(offset, out);
        }
        Ok(())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        match self.is_far() {
            // Return the error of the range, not of its blocks.
            true => self.read_together(ranges).or_else(|_| read_each(self, ranges)),
            false => read_each(self, ranges),
        }
    }

    fn is_far(&self) -> bool {
        self.inner.is_far()
    }

    fn siblings(&self) -> Option<Arc<dyn Siblings>> {
        self.inner.siblings()
    }
}

/// The ends of the last misses. Several are kept, so that interleaved sequential walks are detected.
#[derive(Default)]
struct Sequences {
    streams: [Sequence; STREAMS],
    oldest: usize,
}

#[derive(Clone, Copy, Default)]
struct Sequence {
    /// The block at which a miss would continue this one; 0 for none.
    next: u64,
    /// The number of blocks that the last miss read.
    blocks: u64,
}

impl Sequences {
    /// The number of blocks that a miss at `block` should read, at least `needed`.
    fn blocks_at(&mut self, block: u64, needed: u64) -> u64 {
        let known = self.streams.iter().position(|stream| stream.next == block && block > 0);
        let place = known.unwrap_or(self.oldest);
        if known.is_none() {
            self.oldest = (self.oldest + 1) % STREAMS;
        }
        let Some(stream) = self.streams.get_mut(place) else { return needed };
        let ahead = if known.is_some() { (stream.blocks * 2).min(MAX_AHEAD) } else { 1 };
        let blocks = needed.max(ahead);
        *stream = Sequence { next: block + blocks, blocks };
        blocks
    }
}

/// A part of the blocks with clock eviction: a block that was read since the clock hand passed it stays for one more
/// turn.
struct Shard {
    places: FxHashMap<u64, usize>,
    slots: Vec<Slot>,
    max_blocks: usize,
    hand: usize,
    /// The slot of the last hit, which is often also the next one.
    last: usize,
}

struct Slot {
    block: u64,
    bytes: Bytes,
    read: bool,
}

impl Shard {
    fn new(max_blocks: usize) -> Self {
        Shard { places: FxHashMap::default(), slots: Vec::new(), max_blocks, hand: 0, last: 0 }
    }

    /// A range of a block. `None` if the block is not cached or is too short.
    fn get(&mut self, block: u64, range: Range<usize>) -> Option<Bytes> {
        if self.slots.get(self.last).is_none_or(|slot| slot.block != block) {
            self.last = *self.places.get(&block)?;
        }
        let slot = self.slots.get_mut(self.last)?;
        slot.read = true;
        (range.end <= slot.bytes.len()).then(|| slot.bytes.slice(range))
    }

    fn insert(&mut self, block: u64, bytes: Bytes) {
        let known = self.places.get(&block).copied();
        if known.is_none() && self.slots.len() < self.max_blocks {
            self.places.insert(block, self.slots.len());
            self.slots.push(Slot { block, bytes, read: false });
            return;
        }
        let place = known.unwrap_or_else(|| self.evict());
        if let Some(slot) = self.slots.get_mut(place) {
            if known.is_none() {
                self.places.remove(&slot.block);
                self.places.insert(block, place);
            }
            *slot = Slot { block, bytes, read: false };
        }
    }

    /// The slot of a block that can be evicted.
    fn evict(&mut self) -> usize {
        loop {
            let place = self.hand;
            self.hand = if place + 1 < self.slots.len() { place + 1 } else { 0 };
            match self.slots.get_mut(place) {
                Some(slot) if slot.read => slot.read = false,
                _ => return place,
            }
        }
    }
}

fn position(offset: u64) -> (u64, usize) {
    let [low, high, ..] = offset.to_le_bytes();
    (offset / BLOCK, usize::from(u16::from_le_bytes([low, high])) % BLOCK_LEN)
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Measured on 200,000 interleaved object headers with 8 MiB: blocks of 4 KiB 0.08 s, of 16 KiB 0.63 s, of
/// 64 KiB 1.8 s.
const BLOCK_LEN: usize = 4096;
const BLOCK: u64 = BLOCK_LEN as u64;
const CAPACITY: usize = 8 << 20;
/// The maximum number of bytes of a read through the cache.
const LONGEST: u64 = 64 << 10;
/// The maximum number of blocks of a read-ahead.
const MAX_AHEAD: u64 = 16;
const MAX_SHARDS: usize = 8;
const MIN_SHARD: usize = 32;
const STREAMS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::storage::{Fault, Faulty};
    use crate::wrapper::Counted;
    use proptest::prelude::*;

    fn counted(len: usize) -> Counted<Bytes> {
        Counted::new(file(len))
    }

    fn reads(storage: &Cached<Counted<Bytes>>) -> u64 {
        storage.uncached().requests()
    }

    fn file(len: usize) -> Bytes {
        (0..len).map(|i| u8::try_from((i ^ i >> 8 ^ i >> 16) & 0xff).unwrap()).collect()
    }

    fn kept<R>(storage: &Cached<R>) -> usize {
        let slots = |shard: &Mutex<Shard>| {
            let shard = shard.lock().unwrap();
            assert_eq!(shard.slots.len(), shard.places.len());
            for (block, place) in &shard.places {
                assert_eq!(shard.slots[*place].block, *block);
            }
            shard.slots.iter().map(|slot| slot.bytes.len()).sum::<usize>()
        };
        storage.shards.iter().map(slots).sum()
    }

    fn range() -> impl Strategy<Value = Range<u64>> {
        let near = (0..30_u64, 0..300_u64, 0..9000_u64)
            .prop_map(|(block, before, len)| (block * 4096).saturating_sub(before % 150)..block * 4096 + len);
        let far = (0..120_000_u64, 0..120_000_u64).prop_map(|(from, to)| from..to);
        let beyond = (any::<u64>(), any::<u64>()).prop_map(|(from, to)| from..to);
        prop_oneof![8 => near, 4 => far, 1 => beyond]
    }

    proptest! {
        #[test]
        fn reads_the_same_bytes_as_without_cache(
            len in 0..110_000_usize,
            capacity in prop::sample::select(vec![0, 4096, 20_000, 64 << 10, 1 << 20]),
            ranges in prop::collection::vec((range(), any::<bool>()), 1..60),
        ) {
            let plain = file(len);
            let cached = Cached::with_capacity(plain.clone(), capacity);
            for (range, into) in ranges {
                if into && range.end.saturating_sub(range.start) < 200_000 {
                    let mut out = vec![0; usize::try_from(range.end.saturating_sub(range.start)).unwrap()];
                    let mut want = out.clone();
                    let (got, expected) =
                        (cached.read_into(range.start, &mut out), plain.read_into(range.start, &mut want));
                    let failed = expected.is_err();
                    prop_assert_eq!(got.map_err(|e| e.to_string()), expected.map_err(|e| e.to_string()));
                    prop_assert!(failed || out == want);
                } else {
                    let (got, want) = (cached.read_at(range.clone()), plain.read_at(range));
                    prop_assert_eq!(got.map_err(|e| e.to_string()), want.map_err(|e| e.to_string()));
                }
                prop_assert!(kept(&cached) <= capacity);
            }
        }
    }

    proptest! {
        #[test]
        fn several_ranges_give_the_same_bytes_as_single_reads(
            capacity in prop::sample::select(vec![0, 4096, 64 << 10, 1 << 20]),
            ranges in prop::collection::vec(range(), 1..20),
            is_far: bool,
        ) {
            let plain = file(110_000);
            let storage = if is_far { Counted::far(plain.clone()) } else { Counted::new(plain.clone()) };
            let cached = Cached::with_capacity(storage, capacity);
            let (got, want) = (cached.read_ranges(&ranges), plain.read_ranges(&ranges));
            prop_assert_eq!(got.map_err(|e| e.to_string()), want.map_err(|e| e.to_string()));
            prop_assert!(kept(&cached) <= capacity);
        }
    }

    #[test]
    fn several_ranges_of_far_storage_take_one_request_for_the_missing_blocks() {
        let storage = Cached::new(Counted::far(file(1 << 20)));
        storage.read_at(5_000..5_010).unwrap();
        let ranges = [100..200, 5_000..5_100, 40_000..45_000, 300_000..400_000, 500_000..500_001];
        storage.read_ranges(&ranges).unwrap();
        let counts = |storage: &Cached<Counted<_>>| {
            let counted = storage.uncached();
            (counted.requests(), counted.ranges(), counted.bytes())
        };
        // Block 0, blocks 9 and 10, a range that is too long to be cached, and block 122.
        assert_eq!(counts(&storage), (2, 1 + 4, 4096 + 4096 + 2 * 4096 + 100_000 + 4096));
        storage.read_ranges(&ranges[..3]).unwrap();
        storage.read_at(500_000..500_010).unwrap();
        assert_eq!(counts(&storage).0, 2);
    }

    #[test]
    fn a_block_is_read_once_and_shared() {
        let storage = Cached::new(counted(10_000));
        let a = storage.read_at(4100..4200).unwrap();
        let b = storage.read_at(4196..4300).unwrap();
        assert_eq!(reads(&storage), 1);
        assert_eq!(a[96..].as_ptr(), b.as_ptr());
        storage.read_at(9_990..10_000).unwrap();
        storage.read_at(8_192..8_193).unwrap();
        assert_eq!(reads(&storage), 2);
    }

    #[test]
    fn long_reads_bypass_the_cache() {
        let storage = Cached::new(counted(1 << 20));
        storage.read_at(0..(64 << 10) + 1).unwrap();
        storage.read_into(0, &mut vec![0; (64 << 10) + 1]).unwrap();
        assert_eq!((reads(&storage), kept(&storage)), (2, 0));
        storage.read_at(100..(64 << 10) + 100).unwrap();
        assert_eq!((reads(&storage), kept(&storage)), (3, 17 * 4096));
    }

    #[test]
    fn says_what_is_cached() {
        let storage = Cached::new(Bytes::from(vec![7; 20_000]));
        assert!(!storage.has(&(0..10)));
        storage.read_at(4_000..4_200).unwrap();
        assert!(storage.has(&(0..8_192)) && !storage.has(&(8_000..8_200)) && !storage.has(&(5..5)));
        assert!(!Cached::with_capacity(Bytes::from(vec![7; 10]), 0).has(&(0..5)));
    }

    #[test]
    fn reads_ahead_only_while_misses_are_sequential() {
        let storage = Cached::new(counted(4 << 20));
        for at in (0..4 << 20).step_by(512) {
            storage.read_at(at..at + 512).unwrap();
        }
        // 1, 2, 4, 8 blocks, then 16 at a time.
        assert_eq!(reads(&storage), 4 + (1024_u64 - 15).div_ceil(16));

        let storage = Cached::new(counted(4 << 20));
        for block in (0..1024).rev() {
            storage.read_at(block * 4096..block * 4096 + 512).unwrap();
        }
        assert_eq!((reads(&storage), storage.uncached().bytes()), (1024, 4 << 20));
    }

    #[test]
    fn blocks_in_use_survive_a_scan() {
        let storage = Cached::with_capacity(counted(8 << 20), 1 << 20);
        for at in (0..8 << 20).step_by(4096) {
            storage.read_at(at..at + 8).unwrap();
            storage.read_at(0..8).unwrap();
        }
        let before = reads(&storage);
        storage.read_at(8..16).unwrap();
        assert_eq!(reads(&storage), before);
        assert!(kept(&storage) <= 1 << 20);
    }

    #[test]
    fn two_threads_read_the_right_bytes() {
        let plain = file(1 << 20);
        let storage = Cached::with_capacity(plain.clone(), 64 << 10);
        let read = |seed: u64| {
            let mut state = seed;
            for _ in 0..5_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let start = (state >> 33) % ((1 << 20) - 5000);
                let range = start..start + (state >> 20) % 5000;
                assert_eq!(storage.read_at(range.clone()).unwrap(), plain.read_at(range).unwrap());
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| read(1));
            scope.spawn(|| read(2));
        });
        assert!(kept(&storage) <= 64 << 10);
    }

    #[test]
    fn errors_are_those_of_the_range_not_of_its_block() {
        let storage = Cached::new(Faulty::new(file(10_000), Fault::PastOffset(5_000)));
        assert_eq!(storage.read_at(4_990..5_000).unwrap(), file(10_000)[4_990..5_000]);
        let e = storage.read_at(4_990..5_001).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Io);
        assert_eq!(storage.read_at(4_095..4_990).unwrap(), file(10_000)[4_095..4_990]);
    }
}
