//! Global heap collections, filled with one object after another.
//!
//! Spec: HDF5 III.E Disk Format: Level 1E - Global Heap

mod relocatable;

pub use relocatable::RelocatableHeap;

use super::{Ranks, Sink};
use crate::element::GlobalHeapObjects;
use crate::format::Address;
use crate::format::infrastructure::GlobalHeapId;
use crate::format::infrastructure::global_heap::CollectionEncoder;
use crate::space::SpaceKind;
use hyperslab_core::Result;

/// Objects whose IDs are known immediately: those of attributes, fill values and virtual datasets.
///
/// Collections have the same sizes as in libhdf5: 4096 bytes, or as much as an object needs. One collection is open at
/// a time; it is written when another takes its place.
#[derive(Debug, Default)]
pub struct GlobalHeapWriter {
    open: Option<Collection>,
}

/// A collection that is allocated but not yet written.
#[derive(Debug)]
struct Collection {
    address: Address,
    size: u64,
    encoder: CollectionEncoder,
}

impl GlobalHeapWriter {
    /// A heap without collections.
    pub fn new() -> Self {
        GlobalHeapWriter::default()
    }

    /// Adds an object.
    ///
    /// # Errors
    /// If its collection cannot be allocated, or the one before it cannot be written.
    pub fn put(&mut self, sink: &mut dyn Sink, object: &[u8]) -> Result<GlobalHeapId> {
        let len = CollectionEncoder::object_len(&sink.sizes(), object.len());
        if let Some(open) = self.open.as_mut().filter(|open| open.room() >= len) {
            return open.push(object);
        }
        let mut new = Collection::allocate(sink, len)?;
        let id = new.push(object)?;
        // The one with more room remains open.
        let closed = match self.open.take() {
            Some(open) if open.room() > new.room() => {
                self.open = Some(open);
                Some(new)
            }
            open => {
                self.open = Some(new);
                open
            }
        };
        closed.map_or(Ok(()), |closed| closed.write(sink))?;
        Ok(id)
    }

    /// Writes the open collection. The next object begins another one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(&mut self, sink: &mut dyn Sink) -> Result<()> {
        self.open.take().map_or(Ok(()), |open| open.write(sink))
    }
}

impl Collection {
    fn allocate(sink: &mut dyn Sink, object: u64) -> Result<Self> {
        let encoder = CollectionEncoder::new(sink.sizes());
        let size = encoder.encoded_len().saturating_add(object).max(MIN_SIZE);
        Ok(Collection { address: sink.allocate(SpaceKind::Raw, size)?, size, encoder })
    }

    /// The number of bytes that remain for more objects.
    fn room(&self) -> u64 {
        match self.encoder.is_full() {
            true => 0,
            false => self.size.saturating_sub(self.encoder.encoded_len()),
        }
    }

    fn push(&mut self, object: &[u8]) -> Result<GlobalHeapId> {
        let (index, _) = self.encoder.push(object)?;
        Ok(GlobalHeapId { collection: self.address, index: index.into() })
    }

    fn write(self, sink: &mut dyn Sink) -> Result<()> {
        let bytes = self.encoder.finish(self.size)?;
        sink.write(self.address, &bytes)
    }
}

/// What [`Converter::store`](crate::element::Converter::store) needs: a heap, and the ranks of datasets.
pub struct HeapObjects<'a> {
    /// Adds an object to the heap.
    pub put: &'a mut dyn FnMut(&[u8]) -> Result<GlobalHeapId>,
    /// Datasets whose addresses are not known yet are missing; for them, 0 is stored in the same number of bytes.
    pub ranks: &'a Ranks,
}

impl GlobalHeapObjects for HeapObjects<'_> {
    fn put(&mut self, object: &[u8]) -> Result<GlobalHeapId> {
        (self.put)(object)
    }

    fn rank(&mut self, dataset: Address) -> Result<u32> {
        Ok(self.ranks.get(&dataset).copied().unwrap_or(0))
    }
}

impl std::fmt::Debug for HeapObjects<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HeapObjects")
    }
}

/// libhdf5 reads no smaller collections. Larger ones can have any multiple of 8 bytes.
const MIN_SIZE: u64 = 4096;

#[cfg(test)]
mod tests;
