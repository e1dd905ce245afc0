//! Stores that values are put into.
//!
//! Spec: Zarr v3 "Abstract store interface"

use super::{Key, Store};
use crate::Result;

/// A store that many threads can put values into at once, and read back what they have put.
pub trait WritableStore: Store {
    /// Gives `key` a value, whole or not at all: whoever reads meanwhile, and whoever comes after this process was
    /// killed, finds the old value or the new one.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for the root and for keys below
    /// those of values, as far as the store minds; what the system says. The old value is still there then.
    fn put(&self, key: &Key, value: &[u8]) -> Result<()>;

    /// Takes the value of `key` away, and tells whether there was one.
    ///
    /// # Errors
    /// What the system says.
    fn delete(&self, key: &Key) -> Result<bool>;

    /// Says that all is put. A file that holds a whole store can only be read from then on, and takes no more.
    ///
    /// # Errors
    /// What the system says; what was put may be lost then.
    fn finish(&self) -> Result<()>;
}

/// What values outlive once they are put.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process, however it ends. The system writes to the disk when it likes, and if power fails
    /// before, values may be missing, empty or cut short.
    #[default]
    Process,
    /// The end of power: each value is on the disk before it gets its name, and the name before
    /// [`WritableStore::put`] returns. That costs a multiple of the time for small values.
    Power,
}

#[cfg(test)]
mod tests;
