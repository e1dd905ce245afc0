//! Storage that takes memory only where something is set.

use super::{ElementStorage, Fill, Storage};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A [`Storage`] on the heap, or nothing as long as nothing is set: a file can have hundreds of thousands of objects
/// whose storage is the default of its format.
#[derive(Clone, Default)]
pub struct BoxedStorage(Option<Box<Storage>>);

impl BoxedStorage {
    /// The storage itself.
    pub fn into_inner(self) -> Storage {
        self.0.map_or_else(Storage::default, |storage| *storage)
    }
}

impl From<Storage> for BoxedStorage {
    fn from(storage: Storage) -> Self {
        BoxedStorage((!storage.is_empty()).then(|| Box::new(storage)))
    }
}

impl Deref for BoxedStorage {
    type Target = Storage;

    fn deref(&self) -> &Storage {
        self.0.as_deref().unwrap_or(&EMPTY)
    }
}

impl DerefMut for BoxedStorage {
    fn deref_mut(&mut self) -> &mut Storage {
        self.0.get_or_insert_default()
    }
}

impl fmt::Debug for BoxedStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

static EMPTY: Storage = Storage {
    chunk: None,
    shard: None,
    filters: Vec::new(),
    element: ElementStorage {
        endian: None,
        precision: None,
        offset: None,
        offsets: None,
        itemsize: None,
        members: Vec::new(),
        charset: None,
        length: None,
        pad: None,
    },
    fill: Fill::Default,
    fill_time: None,
    layout: None,
    order: None,
    domain: None,
    tile: None,
    native: Vec::new(),
    origin: None,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;

    #[test]
    fn only_what_is_set_takes_memory() {
        let mut storage = BoxedStorage::from(Storage::default());
        assert!(storage.0.is_none() && storage.is_empty());
        storage.layout = Some(Layout::Compact);
        assert_eq!(storage.clone().into_inner().layout, Some(Layout::Compact));
        let set = BoxedStorage::from(Storage { fill: Fill::Undefined, ..Storage::default() });
        assert!(set.0.is_some() && !set.is_empty());
    }
}
