//! Values in memory.

use super::{Entry, Key, Store, below, check_most, past_end};
use bytes::Bytes;
use hyperslab_core::Result;
use std::collections::BTreeMap;
use std::ops::Range;

/// A store in memory, filled before it is read.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    values: BTreeMap<String, Bytes>,
}

impl MemoryStore {
    /// A store without values.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    /// Gives `key` a value.
    pub fn insert(&mut self, key: &Key, value: impl Into<Bytes>) {
        self.values.insert(key.as_str().to_owned(), value.into());
    }
}

impl Store for MemoryStore {
    fn size(&self, key: &Key) -> Result<Option<u64>> {
        Ok(self.values.get(key.as_str()).map(|value| value.len() as u64))
    }

    fn read(&self, key: &Key, most: u64) -> Result<Option<Bytes>> {
        let Some(value) = self.values.get(key.as_str()) else { return Ok(None) };
        check_most(value.len() as u64, most, key)?;
        Ok(Some(value.clone()))
    }

    fn read_range(&self, key: &Key, range: Range<u64>) -> Result<Option<Bytes>> {
        let Some(value) = self.values.get(key.as_str()) else { return Ok(None) };
        slice(value, &range, key).map(Some)
    }

    fn list(&self, prefix: &Key) -> Result<Vec<Entry>> {
        Ok(below(&self.values, prefix))
    }
}

pub(super) fn slice(value: &Bytes, range: &Range<u64>, key: &Key) -> Result<Bytes> {
    match (usize::try_from(range.start), usize::try_from(range.end)) {
        (Ok(start), Ok(end)) if start <= end && end <= value.len() => Ok(value.slice(start..end)),
        _ => Err(past_end(range, value.len() as u64, key)),
    }
}
