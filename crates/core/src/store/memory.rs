//! Values in memory.

use super::{Entry, Key, Store, WritableStore, below, check_size, past_end, read_each};
use crate::{Error, Result};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    values: RwLock<Values>,
}

type Values = BTreeMap<String, Bytes>;

impl MemoryStore {
    /// A store without values.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    /// Sets the value of `key`.
    pub fn insert(&mut self, key: &Key, value: impl Into<Bytes>) {
        self.exclusive().insert(key.as_str().to_owned(), value.into());
    }

    fn shared(&self) -> RwLockReadGuard<'_, Values> {
        self.values.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn exclusive(&self) -> RwLockWriteGuard<'_, Values> {
        self.values.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for MemoryStore {
    fn clone(&self) -> MemoryStore {
        MemoryStore { values: RwLock::new(self.shared().clone()) }
    }
}

impl WritableStore for MemoryStore {
    fn put(&self, key: &Key, value: &[u8]) -> Result<()> {
        if key.is_root() {
            return Err(Error::invalid("the root, which has no value"));
        }
        let value = Bytes::copy_from_slice(value);
        self.exclusive().insert(key.as_str().to_owned(), value);
        Ok(())
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        Ok(self.exclusive().remove(key.as_str()).is_some())
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }
}

impl Store for MemoryStore {
    fn size(&self, key: &Key) -> Result<Option<u64>> {
        Ok(self.shared().get(key.as_str()).map(|value| value.len() as u64))
    }

    fn read(&self, key: &Key, max_bytes: u64) -> Result<Option<Bytes>> {
        let Some(value) = self.shared().get(key.as_str()).cloned() else { return Ok(None) };
        check_size(value.len() as u64, max_bytes, key)?;
        Ok(Some(value))
    }

    fn read_ranges(&self, key: &Key, ranges: &[Range<u64>]) -> Result<Option<Vec<Bytes>>> {
        let Some(value) = self.shared().get(key.as_str()).cloned() else { return Ok(None) };
        slices(&value, ranges, key).map(Some)
    }

    fn read_many(&self, keys: &[Key], max_bytes: u64) -> Vec<Result<Option<Bytes>>> {
        read_each(self, keys, max_bytes)
    }

    fn is_far(&self) -> bool {
        false
    }

    fn list(&self, prefix: &Key) -> Result<Vec<Entry>> {
        Ok(below(&self.shared(), prefix))
    }
}

pub(super) fn slices(value: &Bytes, ranges: &[Range<u64>], key: &Key) -> Result<Vec<Bytes>> {
    let slice = |range: &Range<u64>| match (usize::try_from(range.start), usize::try_from(range.end)) {
        (Ok(start), Ok(end)) if start <= end && end <= value.len() => Ok(value.slice(start..end)),
        _ => Err(past_end(range, value.len() as u64, key)),
    };
    ranges.iter().map(slice).collect()
}
