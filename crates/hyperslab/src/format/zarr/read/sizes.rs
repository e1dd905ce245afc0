//! Bytes of values in a store.

use crate::pool::Pool;
use hyperslab_core::Result;
use hyperslab_core::store::{Key, Store};
use std::sync::atomic::{AtomicU64, Ordering};

/// Sums up the sizes of values, thousands at a time, which all threads ask for: most of the time goes into waiting for
/// the store.
pub(in crate::format::zarr) struct Sizes<'a> {
    store: &'a dyn Store,
    pool: &'a Pool,
    /// Values that were not asked about yet.
    keys: Vec<Key>,
    sum: AtomicU64,
}

impl<'a> Sizes<'a> {
    pub(in crate::format::zarr) fn new(store: &'a dyn Store, pool: &'a Pool) -> Sizes<'a> {
        Sizes { store, pool, keys: Vec::new(), sum: AtomicU64::new(0) }
    }

    /// Adds a value.
    pub(in crate::format::zarr) fn add(&mut self, key: Key) -> Result<()> {
        self.keys.push(key);
        if self.keys.len() < MAX_KEYS { Ok(()) } else { self.ask() }
    }

    /// The bytes of all values that were added.
    pub(in crate::format::zarr) fn sum(mut self) -> Result<u64> {
        self.ask()?;
        Ok(self.sum.into_inner())
    }

    fn ask(&mut self) -> Result<()> {
        let keys = std::mem::take(&mut self.keys);
        self.pool.each(keys.chunks(AT_ONCE), 0, |keys, _| {
            let mut part = 0_u64;
            for key in keys {
                // The value may have been deleted since it was listed.
                part = part.saturating_add(self.store.size(key)?.unwrap_or(0));
            }
            let add = |sum: u64| Some(sum.saturating_add(part));
            let _ = self.sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
            Ok(())
        })
    }
}

/// Keys in memory.
const MAX_KEYS: usize = 4096;
/// Values that one thread asks about before it takes more.
const AT_ONCE: usize = 64;
