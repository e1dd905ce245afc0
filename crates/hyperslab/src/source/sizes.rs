//! The total size of values in a store.

use crate::pool::Pool;
use hyperslab_core::Result;
use hyperslab_core::store::{Key, Store};
use std::sync::atomic::{AtomicU64, Ordering};

/// Adds up the sizes of values. All threads request sizes, thousands at a time, since most of the time is spent waiting
/// for the store.
pub(crate) struct Sizes<'a> {
    store: &'a dyn Store,
    pool: &'a Pool,
    /// The keys whose sizes are not yet requested.
    keys: Vec<Key>,
    sum: AtomicU64,
}

impl<'a> Sizes<'a> {
    pub(crate) fn new(store: &'a dyn Store, pool: &'a Pool) -> Sizes<'a> {
        Sizes { store, pool, keys: Vec::new(), sum: AtomicU64::new(0) }
    }

    /// Adds a value.
    pub(crate) fn add(&mut self, key: Key) -> Result<()> {
        self.keys.push(key);
        if self.keys.len() < MAX_KEYS { Ok(()) } else { self.request() }
    }

    /// The total size of all added values in bytes.
    pub(crate) fn sum(mut self) -> Result<u64> {
        self.request()?;
        Ok(self.sum.into_inner())
    }

    fn request(&mut self) -> Result<()> {
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

/// The maximum number of keys in memory.
const MAX_KEYS: usize = 4096;
/// The number of sizes that one thread requests at a time.
const AT_ONCE: usize = 64;
