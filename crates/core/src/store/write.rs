//! Stores that can be written.
//!
//! Spec: Zarr v3 "Abstract store interface"

use super::{Key, Store};
use crate::Result;

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

    /// Completes the store. A store in a single file can be read only after this call, and accepts no more values.
    ///
    /// # Errors
    /// Errors of the system. The written values may be lost then.
    fn finish(&self) -> Result<()>;
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
