//! Stores that can be written.
//!
//! Spec: Zarr v3 "Abstract store interface"

use super::{EntryKind, Key, Store};
use crate::{Error, Result};
use std::sync::{Arc, Mutex, PoisonError};

/// A store that several threads can write and read at the same time.
pub trait WritableStore: Store {
    /// Sets the value of `key` atomically: concurrent readers, and readers after a crash of this process, see the old
    /// value or the new one.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for the root, and for keys below
    /// the key of a value, if the store checks this; errors of the system. After an error, the old value remains.
    fn put(&self, key: &Key, value: &[u8]) -> Result<()>;

    /// Deletes the value of `key`. Returns whether it existed.
    ///
    /// # Errors
    /// Errors of the system.
    fn delete(&self, key: &Key) -> Result<bool>;

    /// Deletes all values below `prefix`, and its folders, if the store has folders. Does nothing if there are none. An
    /// interrupted deletion can be repeated.
    ///
    /// # Errors
    /// Errors of the system. Some of the values may then have been deleted.
    fn delete_below(&self, prefix: &Key) -> Result<()> {
        let mut left = vec![prefix.clone()];
        while let Some(prefix) = left.pop() {
            for entry in self.list(&prefix)? {
                let key = prefix.join(&entry.name)?;
                match entry.kind {
                    EntryKind::Prefix => left.push(key),
                    _ => drop(self.delete(&key)?),
                }
            }
        }
        Ok(())
    }

    /// Writes the value of `key` in parts, for values that do not fit into memory. Bytes of an existing value remain
    /// until they are overwritten, so that an interrupted writer can continue.
    ///
    /// With the default implementation, the store receives the value as a whole when it is finished.
    ///
    /// # Errors
    /// As [`WritableStore::put`].
    fn writer(self: Arc<Self>, key: &Key) -> Result<Box<dyn ValueWriter>>
    where
        Self: 'static,
    {
        Ok(Box::new(WholeValue { store: self, key: key.clone(), value: Mutex::default() }))
    }

    /// Whether keys that differ only in case are distinct, unlike in folders on Windows and macOS.
    fn distinguishes_case(&self) -> bool {
        true
    }

    /// Completes the store. A store in a single file can be read only after this call, and accepts no more values.
    ///
    /// # Errors
    /// Errors of the system. The written values may then be lost.
    fn finish(&self) -> Result<()>;
}

/// A value that is written in parts, from one thread or several. Readers may see any part of it before it is finished.
pub trait ValueWriter: Send + Sync {
    /// Writes bytes at an offset. The value grows as needed; bytes between its end and the offset are zeros.
    ///
    /// # Errors
    /// Errors of the system. Part of the bytes may then have been written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()>;

    /// Ends the value after `len` bytes. From now on it is as durable as a value that was [put](WritableStore::put).
    ///
    /// # Errors
    /// Errors of the system.
    fn finish(&self, len: u64) -> Result<()>;
}

/// A value that is stored only when it is finished.
struct WholeValue<S: ?Sized> {
    store: Arc<S>,
    key: Key,
    value: Mutex<Vec<u8>>,
}

impl<S: WritableStore + ?Sized> ValueWriter for WholeValue<S> {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        let start = usize::try_from(offset).map_err(|_| too_long(offset))?;
        let end = start.checked_add(bytes.len()).ok_or_else(|| too_long(offset))?;
        if end > value.len() {
            value.resize(end, 0);
        }
        if let Some(place) = value.get_mut(start..end) {
            place.copy_from_slice(bytes);
        }
        Ok(())
    }

    fn finish(&self, len: u64) -> Result<()> {
        let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        value.resize(usize::try_from(len).map_err(|_| too_long(len))?, 0);
        self.store.put(&self.key, &value)
    }
}

fn too_long(len: u64) -> Error {
    Error::unsupported(format!("a value of {len} bytes in memory"))
}

/// The failures that written values survive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Any end of the process. The system writes to the disk later. After a power failure, values may be missing, empty or
    /// truncated.
    #[default]
    Process,
    /// A power failure: each value is on the disk before it gets its name, and the name is on the disk before
    /// [`WritableStore::put`] returns. For small values this takes several times as long.
    Power,
}

#[cfg(test)]
mod tests;
