//! The chunk tables that were used most recently.

use super::{ChunkIndex, ChunkTable, load};
use crate::navigate::Reader;
use hyperslab_core::{Limits, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The chunk tables of the datasets that were opened most recently. If a dataset is opened again to read another part,
/// its index is not read again. Open datasets keep their own tables.
pub(crate) struct RecentTables {
    /// Each with its location. The most recently used one is last.
    kept: Mutex<Vec<(ChunkIndex, Arc<ChunkTable>)>>,
    max: usize,
}

impl RecentTables {
    /// An empty cache. It holds at most a small part of the memory limit.
    pub(crate) fn new(limits: &Limits) -> Self {
        let max = usize::try_from(limits.allocation / 16).unwrap_or(usize::MAX).min(MAX_BYTES);
        RecentTables { kept: Mutex::default(), max }
    }

    /// The table of an index, which is read unless it is in the cache.
    ///
    /// # Errors
    /// The errors of reading the index.
    pub(crate) fn get(&self, reader: &Reader, index: ChunkIndex) -> Result<Arc<ChunkTable>> {
        if let Some(known) = self.known(&index) {
            return Ok(known);
        }
        // Without the lock, so that other threads can read other tables.
        let table = Arc::new(load(reader, &index)?);
        if table.bytes() <= self.max {
            self.keep(index, &table);
        }
        Ok(table)
    }

    fn known(&self, index: &ChunkIndex) -> Option<Arc<ChunkTable>> {
        let mut kept = self.lock();
        let place = kept.iter().rposition(|(known, _)| known == index)?;
        if let Some(used) = kept.get_mut(place..) {
            used.rotate_left(1);
        }
        kept.last().map(|(_, table)| Arc::clone(table))
    }

    fn keep(&self, index: ChunkIndex, table: &Arc<ChunkTable>) {
        let mut kept = self.lock();
        // Another thread may have read it in the meantime.
        kept.retain(|(known, _)| *known != index);
        kept.push((index, Arc::clone(table)));
        let mut left = self.max;
        let fitting = kept.iter().rev().take(MAX_TABLES).take_while(|(_, table)| {
            let fits = table.bytes() <= left;
            left = left.saturating_sub(table.bytes());
            fits
        });
        let excess = kept.len() - fitting.count();
        kept.drain(..excess);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(ChunkIndex, Arc<ChunkTable>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const MAX_BYTES: usize = 16 << 20;
const MAX_TABLES: usize = 64;

#[cfg(test)]
mod tests {
    use super::super::ChunkIndexKind;
    use super::*;
    use crate::format::{Address, Sizes};
    use bytes::Bytes;

    #[test]
    fn tables_used_last_are_kept_and_no_others() {
        let reader = Reader::new(Box::new(Bytes::from(vec![0; 4096])), 0, Sizes::DEFAULT, Limits::default());
        let index = |address: u64, chunk: u64| ChunkIndex {
            kind: ChunkIndexKind::SingleChunk { filtered: None },
            address: Address(address),
            dims: vec![chunk],
            max_dims: vec![chunk],
            chunk_dims: vec![chunk],
            chunk_bytes: chunk,
            filtered: false,
        };
        let recent = RecentTables::new(&Limits::default());
        let get = |address| recent.get(&reader, index(address, 8)).unwrap();
        let first: Vec<_> = (0..64).map(get).collect();
        assert!((0..64).zip(&first).all(|(address, table)| Arc::ptr_eq(&get(address), table)));
        get(64);
        assert!(Arc::ptr_eq(&get(1), &first[1]) && !Arc::ptr_eq(&get(0), &first[0]));
        // The same address in another dataset is another index.
        let other = recent.get(&reader, index(1, 9)).unwrap();
        assert_eq!(other.find(&[0]).unwrap().size, 9);
        assert!(Arc::ptr_eq(&get(1), &first[1]));
        let mut broken = index(0, 8);
        broken.chunk_dims = vec![0];
        assert!(recent.get(&reader, broken).is_err());
    }
}
