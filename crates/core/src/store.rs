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
/// A store over another one is best a [`Wrapper`](crate::wrapper::Wrapper), which passes on all that it leaves alone.
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

    /// Parts of the value of `key` in one request, where the backend gains from it; none if there is no value.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) if the value ends before one of the ranges: whoever pointed there was wrong.
    fn read_ranges(&self, key: &Key, ranges: &[Range<u64>]) -> Result<Option<Vec<Bytes>>>;

    /// The values of several keys in one request, where the backend gains from it; [`read_each`] where it does not.
    /// There is an answer for each key, as [`Store::read`] gives it.
    fn read_many(&self, keys: &[Key], most: u64) -> Vec<Result<Option<Bytes>>>;

    /// Whether a request costs more than the bytes that it brings, as over a network. Readers that need several values
    /// or parts then ask for them together; near ones are read one by one, each into its place.
    fn is_far(&self) -> bool;

    /// A part of the value of `key`; none if there is no value.
    ///
    /// # Errors
    /// As [`Store::read_ranges`].
    fn read_range(&self, key: &Key, range: Range<u64>) -> Result<Option<Bytes>> {
        Ok(self.read_ranges(key, std::slice::from_ref(&range))?.map(value::only))
    }

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

/// The values of several keys, one after the other: [`Store::read_many`] of a store that gains nothing from all at once.
pub fn read_each(store: &(impl Store + ?Sized), keys: &[Key], most: u64) -> Vec<Result<Option<Bytes>>> {
    keys.iter().map(|key| store.read(key, most)).collect()
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
