//! Where documents and chunks lie: values under keys, in a directory, a zip file or memory.
//!
//! Spec: Zarr v3 "Stores", "Abstract store interface" (what Zarr asks of a store, and nothing of Zarr itself)

mod directory;
mod key;
mod listing;
mod memory;
mod value;
mod write;
mod zip;

pub use directory::{DirectoryStore, DirectoryWriter};
pub use key::Key;
pub use listing::{Entry, EntryKind};
pub use memory::MemoryStore;
pub use value::Value;
pub use write::{Durability, WritableStore};
pub use zip::{ZipStore, ZipWriter};

pub use listing::below;

use crate::{Error, Limit, Result};
use bytes::Bytes;
use std::ops::Range;

/// Values under keys, which can be read from many threads at once.
///
/// Whatever lies in the store, no implementation reads outside it.
pub trait Store: Send + Sync {
    /// The bytes of the value of `key`; none if there is no value.
    fn size(&self, key: &Key) -> Result<Option<u64>>;

    /// The value of `key`; none if there is none.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded) for values of more than `most` bytes, which nobody should allocate.
    fn read(&self, key: &Key, most: u64) -> Result<Option<Bytes>>;

    /// A part of the value of `key`; none if there is no value.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) if the value ends before the range: whoever pointed there was wrong.
    fn read_range(&self, key: &Key, range: Range<u64>) -> Result<Option<Bytes>>;

    /// The value of `key`, found once to be read in parts; none if there is none.
    fn find<'a>(&'a self, key: &'a Key) -> Result<Option<Box<dyn Value + 'a>>> {
        Ok(self.size(key)?.map(|size| Box::new(value::ByKey { store: self, key, size }) as Box<dyn Value>))
    }

    /// Where what is under `key` really lies, if the store has values that are found under several keys; none if
    /// there is nothing.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) for what leads out of the store.
    fn resolve(&self, key: &Key) -> Result<Option<Key>> {
        Ok(Some(key.clone()))
    }

    /// What lies directly below `prefix`, sorted by name; nothing if there is no such prefix.
    fn list(&self, prefix: &Key) -> Result<Vec<Entry>>;
}

fn check_most(size: u64, most: u64, key: &Key) -> Result<()> {
    match size > most {
        true => {
            let detail = format!("{key} of {size} bytes, at most {most} are read");
            Err(Error::limit_exceeded(Limit::Allocation, detail))
        }
        false => Ok(()),
    }
}

fn past_end(range: &Range<u64>, size: u64, key: &Key) -> Error {
    let Range { start, end } = range;
    Error::malformed(format!("bytes {start:#x} to {end:#x} of {key}, which has {size}"))
}

#[cfg(test)]
mod tests;
