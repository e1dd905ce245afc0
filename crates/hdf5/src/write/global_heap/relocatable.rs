//! Collections without addresses, built by several threads at the same time.
//!
//! Spec: HDF5 III.E Disk Format: Level 1E - Global Heap

use super::MIN_SIZE;
use crate::element::HeapElements;
use crate::format::infrastructure::GlobalHeapId;
use crate::format::infrastructure::global_heap::CollectionEncoder;
use crate::format::{Address, Sizes};
use hyperslab_core::{Error, Result};
use std::ops::Range;

/// Collections for the elements of a chunk. Their sizes are known before their addresses. IDs contain the number of a
/// collection, counted from 1, until [`RelocatableHeap::place`] replaces it with an address.
///
/// Only the last collection may have free space, and only if it is smaller than libhdf5 can read.
#[derive(Debug)]
pub struct RelocatableHeap {
    sizes: Sizes,
    collections: Vec<Collection>,
    /// The collection that takes the next small object.
    open: Option<usize>,
}

#[derive(Debug)]
struct Collection {
    encoder: CollectionEncoder,
    /// Where the data of each object begins.
    starts: Vec<u32>,
}

impl RelocatableHeap {
    /// A heap without collections.
    pub fn new(sizes: Sizes) -> Self {
        RelocatableHeap { sizes, collections: Vec::new(), open: None }
    }

    /// Adds an object.
    ///
    /// # Errors
    /// Never for a heap that fits in memory.
    pub fn put(&mut self, object: &[u8]) -> Result<GlobalHeapId> {
        let len = CollectionEncoder::object_len(&self.sizes, object.len());
        let at = match self.open.filter(|open| self.has_room(*open, len)) {
            Some(open) => open,
            None => {
                self.collections.push(Collection::new(self.sizes));
                let new = self.collections.len() - 1;
                // A large object gets its own collection, so that the open one does not stay small.
                if len <= MAX_LEN / 2 || self.open.is_none() {
                    self.open = Some(new);
                }
                new
            }
        };
        let collection = self.collections.get_mut(at).ok_or_else(unknown)?;
        let (index, start) = collection.encoder.push(object)?;
        // Only the data of the first object may end far from the start.
        collection.starts.push(u32::try_from(start).map_err(|_| unknown())?);
        Ok(GlobalHeapId { collection: Address(at as u64 + 1), index: index.into() })
    }

    fn has_room(&self, at: usize, len: u64) -> bool {
        self.collections.get(at).is_some_and(|open| {
            !open.encoder.is_full() && open.encoder.encoded_len().saturating_add(len) <= MAX_LEN
        })
    }

    /// The size of each collection in bytes.
    pub fn collection_sizes(&self) -> impl Iterator<Item = u64> {
        self.collections.iter().map(Collection::size)
    }

    /// Replaces the IDs in `stored`, and in objects that themselves contain IDs, with those of collections at these
    /// addresses. Returns the bytes of the collections.
    ///
    /// `stored` are all elements that were stored with this heap, and no others.
    ///
    /// # Errors
    /// If the number of addresses is wrong, or an element contains an ID that this heap did not assign.
    pub fn place(
        self,
        addresses: &[Address],
        elements: &HeapElements<'_>,
        stored: &mut [u8],
    ) -> Result<Vec<Vec<u8>>> {
        if addresses.len() != self.collections.len() {
            return Err(Error::invalid(format!(
                "{} addresses of {} global heap collections",
                addresses.len(),
                self.collections.len()
            )));
        }
        let (mut bytes, mut starts) = (Vec::new(), Vec::new());
        for collection in self.collections {
            let size = collection.size();
            bytes.push(collection.encoder.finish(size)?);
            starts.push(collection.starts);
        }
        let mut placing = Placing { addresses, bytes, starts };
        placing.elements(elements, stored)?;
        Ok(placing.bytes)
    }
}

impl Collection {
    fn new(sizes: Sizes) -> Self {
        Collection { encoder: CollectionEncoder::new(sizes), starts: Vec::new() }
    }

    fn size(&self) -> u64 {
        self.encoder.encoded_len().max(MIN_SIZE)
    }
}

/// Collections that are being assigned their addresses.
struct Placing<'a> {
    addresses: &'a [Address],
    bytes: Vec<Vec<u8>>,
    starts: Vec<Vec<u32>>,
}

impl Placing<'_> {
    fn elements(&mut self, elements: &HeapElements<'_>, stored: &mut [u8]) -> Result<()> {
        elements.replace_ids(stored, &mut |id, nested| {
            let at = id.collection.0.checked_sub(1).and_then(|at| usize::try_from(at).ok());
            let at = at.ok_or_else(unknown)?;
            if let Some((elements, len)) = nested {
                let range = self.object(at, id.index, len)?;
                let place =
                    |bytes: &mut Vec<Vec<u8>>| Some(bytes.get_mut(at)?.get_mut(range.clone())?.to_vec());
                let mut object = place(&mut self.bytes).ok_or_else(unknown)?;
                self.elements(&elements, &mut object)?;
                let to = self.bytes.get_mut(at).and_then(|bytes| bytes.get_mut(range));
                to.ok_or_else(unknown)?.copy_from_slice(&object);
            }
            let collection = *self.addresses.get(at).ok_or_else(unknown)?;
            Ok(GlobalHeapId { collection, ..id })
        })
    }

    /// The place of the first bytes of an object.
    fn object(&self, at: usize, index: u32, len: usize) -> Result<Range<usize>> {
        let place = usize::try_from(index).ok().and_then(|index| index.checked_sub(1));
        let start = self.starts.get(at).zip(place).and_then(|(starts, place)| starts.get(place));
        let start = start.and_then(|start| usize::try_from(*start).ok()).ok_or_else(unknown)?;
        Ok(start..start.saturating_add(len))
    }
}

fn unknown() -> Error {
    Error::invalid("element with the ID of an object of another global heap")
}

/// The size up to which collections are filled, as in libhdf5. Reading one element requires reading a whole collection.
const MAX_LEN: u64 = 65_536;
