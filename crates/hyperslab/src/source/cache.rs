//! A cache of decoded chunks for reads of less than a chunk. When elements are read one by one, their chunk is
//! decoded only once.

use crate::source::ArraySource;
use bytes::Bytes;
use hyperslab_core::nd::{ChunkGrid, Planes, Region, element_bytes, scatter};
use hyperslab_core::rows::Heap;
use hyperslab_core::{ErrorKind, Result};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

/// A cache of decoded chunks with a limited size; recently read chunks remain. Clones share the cache.
///
/// Used only for reads of less than half a chunk, within one chunk that must be decoded. Chunks are identified by the
/// open array and their position, so an array that is opened again is read again.
///
/// ```
/// use hyperslab::{ChunkCache, OpenOptions};
///
/// // By default, all files of the process share one cache of `ChunkCache::BYTES`.
/// let options = OpenOptions { chunk_cache: ChunkCache::new(8 << 20), ..OpenOptions::default() };
/// let uncached = OpenOptions { chunk_cache: ChunkCache::none(), ..OpenOptions::default() };
/// # drop((options, uncached));
/// ```
#[derive(Clone)]
pub struct ChunkCache(Option<Arc<Kept>>);

struct Kept {
    chunks: Cache<Key, Bytes, Weight>,
    bytes: u64,
}

/// The number of an open array, and the first element of the chunk.
type Key = (u64, Vec<u64>);

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Bytes> for Weight {
    fn weight(&self, _: &Key, chunk: &Bytes) -> u64 {
        (chunk.len() as u64).saturating_add(ENTRY)
    }
}

impl ChunkCache {
    /// The default size of the cache of a process in bytes.
    pub const BYTES: u64 = 64 << 20;

    /// A cache of at most `bytes` bytes, of which one chunk may take an eighth.
    pub fn new(bytes: u64) -> ChunkCache {
        let chunks = Cache::with_weighter(SHARDED_ITEMS, bytes, Weight);
        ChunkCache(Some(Arc::new(Kept { chunks, bytes })))
    }

    /// A cache that stores nothing.
    pub fn none() -> ChunkCache {
        ChunkCache(None)
    }
}

impl Default for ChunkCache {
    /// The cache of the process.
    fn default() -> Self {
        static SHARED: LazyLock<ChunkCache> = LazyLock::new(|| ChunkCache::new(ChunkCache::BYTES));
        SHARED.clone()
    }
}

impl std::fmt::Debug for ChunkCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ChunkCache({} bytes)", self.0.as_ref().map_or(0, |kept| kept.bytes))
    }
}

/// The cached chunks of one open array.
pub struct CachedChunks {
    kept: Arc<Kept>,
    array: u64,
    grid: ChunkGrid,
    /// Whether any chunk was cached.
    is_used: AtomicBool,
}

impl CachedChunks {
    /// The cached chunks, for an array that is decoded chunk by chunk; `None` for others.
    pub(crate) fn of(array: &dyn ArraySource, cache: &ChunkCache) -> Option<CachedChunks> {
        static OPENED: AtomicU64 = AtomicU64::new(0);
        let kept = Arc::clone(cache.0.as_ref()?);
        if array.datatype().has_slots() {
            return None;
        }
        let grid = ChunkGrid::regular(&array.decoded_chunk()?).ok()?;
        let number = OPENED.fetch_add(1, Ordering::Relaxed);
        Some(CachedChunks { kept, array: number, grid, is_used: AtomicBool::new(false) })
    }

    /// Reads the elements of `region` to `rows` if it is a small part of one chunk. Returns whether it is.
    ///
    /// # Errors
    /// If the region exceeds the extents, or the work is cancelled. Errors of the chunk are left to a read without
    /// cache, which may not need the whole chunk.
    pub(crate) fn read<A: ArraySource + ?Sized>(
        &self,
        array: &A,
        region: &Region,
        rows: &mut [u8],
        row: usize,
    ) -> Result<bool> {
        let Some(extents) = array.extents().filter(|_| !rows.is_empty()) else { return Ok(false) };
        region.check(extents)?;
        array.pool().check()?;
        let mut chunks = self.grid.chunks_in(region)?;
        let Some(chunk) = chunks.next_chunk().cloned() else { return Ok(false) };
        let ends = chunk.start.iter().zip(extents);
        let shape: Vec<u64> = ends
            .zip(&chunk.shape)
            .map(|((start, extent), size)| (*size).min(extent.saturating_sub(*start)))
            .collect();
        let Ok(bytes) = element_bytes(&shape, row) else { return Ok(false) };
        let is_small = rows.len() <= bytes / 2 && bytes as u64 <= self.kept.bytes / 8;
        if !is_small || region.bytes(row)? != rows.len() || chunks.next_chunk().is_some() {
            return Ok(false);
        }
        let key = (self.array, chunk.start);
        let decoded = match self.kept.chunks.get(&key) {
            Some(decoded) => decoded,
            None => {
                let whole = Region::new(key.1.clone(), shape.clone());
                let mut decoded = vec![0; bytes];
                let read = array.pool().alone(|scratch| {
                    array.read_part(&whole, &mut Planes::whole(&mut decoded), &mut Heap::default(), scratch)
                });
                match read {
                    Ok(()) => {}
                    Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
                    Err(_) => return Ok(false),
                }
                let decoded = Bytes::from(decoded);
                self.is_used.store(true, Ordering::Relaxed);
                self.kept.chunks.insert(key.clone(), decoded.clone());
                decoded
            }
        };
        scatter(&decoded, &key.1, &shape, region, rows, row)?;
        Ok(true)
    }
}

impl Drop for CachedChunks {
    fn drop(&mut self) {
        if self.is_used.load(Ordering::Relaxed) {
            self.kept.chunks.retain(|(array, _), _| *array != self.array);
        }
    }
}

/// The size of an entry without its chunk. It limits the number of tiny chunks as well.
const ENTRY: u64 = 128;
/// The number of parts of the cache for concurrent threads: each part has room for the largest chunk.
const SHARDED_ITEMS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;
    use crate::pool::Pool;
    use crate::source::testing::Numbers;

    fn opened(numbers: &Arc<Numbers>, cache: &ChunkCache) -> Arc<dyn ArraySource> {
        Operation::opened_array(
            Arc::clone(numbers) as Arc<dyn ArraySource>,
            Pool::default(),
            Some(cache),
            None,
        )
    }

    fn element(array: &dyn ArraySource, at: [u64; 2]) -> u64 {
        let values = array.values(&Region::new(at.to_vec(), vec![1, 1])).unwrap();
        u64::from_ne_bytes(values.rows[..].try_into().unwrap())
    }

    #[test]
    fn a_chunk_that_is_read_element_by_element_is_decoded_once() {
        let numbers = Arc::new(Numbers::new(&[50, 70], &[16, 32], Pool::default()));
        let array = opened(&numbers, &ChunkCache::new(1 << 20));
        for at in [[0, 0], [0, 1], [15, 31], [49, 69], [48, 64], [49, 65], [1, 33]] {
            assert_eq!(element(&*array, at), at[0] * 70 + at[1]);
        }
        let steps = Region { start: vec![1, 2], count: vec![3, 4], step: vec![5, 7] };
        let values = array.values(&steps).unwrap();
        let third = u64::from_ne_bytes(values.rows[16..24].try_into().unwrap());
        assert_eq!(third, 70 + 16);
        assert_eq!(numbers.most_often(), 1);
        assert_eq!(numbers.read.lock().unwrap().len(), 3);
    }

    #[test]
    fn an_array_that_is_opened_again_or_without_a_cache_is_decoded_again() {
        let numbers = Arc::new(Numbers::new(&[50, 70], &[16, 32], Pool::default()));
        let cache = ChunkCache::new(1 << 20);
        element(&*opened(&numbers, &cache), [0, 0]);
        element(&*opened(&numbers, &cache), [0, 0]);
        let uncached = opened(&numbers, &ChunkCache::none());
        element(&*uncached, [0, 0]);
        element(&*uncached, [0, 0]);
        assert_eq!(numbers.most_often(), 4);
    }

    #[test]
    fn a_cache_stays_within_its_bound_and_forgets_arrays_that_are_dropped() {
        let numbers = Arc::new(Numbers::new(&[1 << 20], &[1 << 10], Pool::default()));
        let cache = ChunkCache::new(256 << 10);
        let array = opened(&numbers, &cache);
        for chunk in 0..1 << 10 {
            array.values(&Region::new(vec![chunk << 10], vec![1])).unwrap();
        }
        let kept = &cache.0.as_ref().unwrap().chunks;
        assert!(kept.weight() <= 256 << 10 && !kept.is_empty(), "{}", kept.weight());
        drop(array);
        assert!(kept.is_empty());
    }

    #[test]
    fn whole_chunks_and_large_reads_leave_the_cache_alone() {
        let numbers = Arc::new(Numbers::new(&[64, 64], &[16, 16], Pool::default()));
        let cache = ChunkCache::new(1 << 20);
        let array = opened(&numbers, &cache);
        array.values(&Region::all(&[64, 64])).unwrap();
        array.values(&Region::all(&[16, 16])).unwrap();
        array.values(&Region::new(vec![15, 15], vec![2, 2])).unwrap();
        assert!(cache.0.as_ref().unwrap().chunks.is_empty());
    }
}
