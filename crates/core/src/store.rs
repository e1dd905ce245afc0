//! Stores of documents and chunks: values under keys, in a directory, a zip file or memory.
//!
//! Spec: Zarr v3 "Stores", "Abstract store interface" (the interface that Zarr requires; nothing here is specific to
//! Zarr)

mod directory;
mod key;
mod listing;
mod memory;
mod value;
mod write;
mod zip;

pub use directory::{DirectoryStore, DirectoryWriter, is_unfinished};
pub use key::Key;
pub use listing::{Entry, EntryKind};
pub use memory::MemoryStore;
pub use value::Value;
pub use write::{Durability, ValueWriter, WritableStore};
pub use zip::{ZipStore, ZipWriter};

pub use listing::below;

use crate::{Error, Limit, Result};
use bytes::Bytes;
use std::ops::Range;
use std::path::Path;

/// Values under keys, which can be read from many threads at once.
///
/// To wrap another store, implement [`Wrapper`](crate::wrapper::Wrapper), which forwards all other methods.
///
/// No implementation reads outside of the store, whatever the store contains.
pub trait Store: Send + Sync {
    /// The size in bytes of the value of `key`. `None` if there is no value.
    fn size(&self, key: &Key) -> Result<Option<u64>>;

    /// The value of `key`. `None` if there is no value.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded) for values longer than `max_bytes`, before memory
    /// is allocated.
    fn read(&self, key: &Key, max_bytes: u64) -> Result<Option<Bytes>>;

    /// Byte ranges of the value of `key`, in one request if the backend supports it. `None` if there is no value.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) if the value ends before the end of a range, because the
    /// structure with this offset is invalid.
    fn read_ranges(&self, key: &Key, ranges: &[Range<u64>]) -> Result<Option<Vec<Bytes>>>;

    /// The values of several keys, in one request if the backend supports it, otherwise with [`read_each`]. Returns one
    /// result per key, as [`Store::read`] does.
    fn read_many(&self, keys: &[Key], max_bytes: u64) -> Vec<Result<Option<Bytes>>>;

    /// Whether the latency of a request dominates its cost, as over a network. If so, readers request several values or
    /// ranges together. Local values are read one by one into their destination.
    fn is_far(&self) -> bool;

    /// A byte range of the value of `key`. `None` if there is no value.
    ///
    /// # Errors
    /// As [`Store::read_ranges`].
    fn read_range(&self, key: &Key, range: Range<u64>) -> Result<Option<Bytes>> {
        Ok(self.read_ranges(key, std::slice::from_ref(&range))?.map(value::only))
    }

    /// A handle of the value of `key`, for reading several parts without looking it up again. `None` if there is no
    /// value.
    fn find<'a>(&'a self, key: &'a Key) -> Result<Option<Box<dyn Value + 'a>>> {
        Ok(self.size(key)?.map(|size| Box::new(value::ByKey { store: self, key, size }) as Box<dyn Value>))
    }

    /// The canonical key of `key`, if the store can have one value under several keys. `None` if the key does not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) for a link that leads out of the store.
    fn resolve(&self, key: &Key) -> Result<Option<Key>> {
        Ok(Some(key.clone()))
    }

    /// The real path of the folder that the store is in the file system: absolute paths and URIs in its values that
    /// begin with it lead into the store. `None` if the store is anything else.
    fn real_path(&self) -> Option<&Path> {
        None
    }

    /// The entries directly below `prefix`, sorted by name. Empty if the prefix does not exist.
    fn list(&self, prefix: &Key) -> Result<Vec<Entry>>;
}

/// Reads the values of several keys one after the other: [`Store::read_many`] for stores without combined requests.
pub fn read_each(store: &(impl Store + ?Sized), keys: &[Key], max_bytes: u64) -> Vec<Result<Option<Bytes>>> {
    keys.iter().map(|key| store.read(key, max_bytes)).collect()
}

fn check_size(size: u64, max_bytes: u64, key: &Key) -> Result<()> {
    match size > max_bytes {
        true => {
            let detail = format!("{key} of {size} bytes, at most {max_bytes} are read");
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
