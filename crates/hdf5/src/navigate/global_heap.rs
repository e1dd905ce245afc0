//! Objects in global heap collections.
//!
//! Spec: HDF5 III.E Disk Format: Level 1E - Global Heap

use crate::format::infrastructure::GlobalHeapCollection;
use crate::format::{Address, Structure};
use crate::navigate::Reader;
use bytes::Bytes;
use hyperslab_core::{Charge, Decoder, Error, Result};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The global heap of a file. Returns the bytes of an object for its ID.
///
/// Each element of variable length has its own ID, with thousands in one collection. The most recently used collections
/// are kept with a table of their objects: at most 16 MiB, or a single larger one.
pub struct GlobalHeap {
    /// Distinguishes it from the heaps of other files.
    number: u64,
    /// The most recently used collection is last.
    collections: Mutex<Vec<Arc<Collection>>>,
}

/// A collection and its objects.
pub(crate) struct Collection {
    address: Address,
    offset: u64,
    bytes: Bytes,
    /// Indexes and places of the objects, sorted by index.
    objects: Vec<(u16, Range<usize>)>,
    _charges: [Charge; 2],
}

impl GlobalHeap {
    /// An empty cache.
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        GlobalHeap { number: NEXT.fetch_add(1, Ordering::Relaxed), collections: Mutex::default() }
    }

    /// A number that is unique in the process.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The bytes of the object `index` in the collection at `address`. They share the memory of the whole collection.
    ///
    /// # Errors
    /// If there is no such collection, or it has no such object.
    pub fn object(&self, reader: &Reader, address: Address, index: u32) -> Result<Bytes> {
        let collection = self.collection(reader, address)?;
        Ok(collection.bytes.slice(collection.find(index)?))
    }

    /// The collection at `address`.
    pub(crate) fn collection(&self, reader: &Reader, address: Address) -> Result<Arc<Collection>> {
        match self.kept(address) {
            Some(collection) => Ok(collection),
            None => Ok(self.keep(Collection::read(reader, address)?)),
        }
    }

    fn kept(&self, address: Address) -> Option<Arc<Collection>> {
        let mut collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        let place = collections.iter().rposition(|collection| collection.address == address)?;
        if let Some(used) = collections.get_mut(place..) {
            used.rotate_left(1);
        }
        collections.last().cloned()
    }

    fn keep(&self, collection: Collection) -> Arc<Collection> {
        let collection = Arc::new(collection);
        let mut collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have read it in the meantime.
        collections.retain(|other| other.address != collection.address);
        collections.push(Arc::clone(&collection));
        let mut left = MAX_BYTES;
        let fitting = collections.iter().rev().take(MAX_COLLECTIONS).take_while(|kept| {
            let fits = kept.bytes.len() <= left;
            left = left.saturating_sub(kept.bytes.len());
            fits
        });
        let excess = collections.len() - fitting.count().max(1);
        collections.drain(..excess);
        collection
    }
}

impl Default for GlobalHeap {
    fn default() -> Self {
        GlobalHeap::new()
    }
}

impl Collection {
    fn read(reader: &Reader, address: Address) -> Result<Self> {
        const NAME: &str = GlobalHeapCollection::NAME;
        let sizes = reader.sizes();
        let offset = reader.offset(NAME, address)?;
        let left = reader.len()?.saturating_sub(address.0);
        // Most collections have the minimum size, so one read is enough.
        let mut bytes = reader.raw(NAME, address, left.min(USUAL_SIZE))?;
        let size = GlobalHeapCollection::stored_len(&mut Decoder::new(NAME, offset, &bytes), sizes)?;
        if size > left {
            return Err(Error::malformed(format!(
                "collection size {size}, but {left} bytes remain in the file"
            ))
            .at(NAME, offset));
        }
        let whole = reader.budget().charge(size)?;
        if size > bytes.len() as u64 {
            bytes = reader.raw(NAME, address, size)?;
        }
        let mut objects = Vec::new();
        GlobalHeapCollection::visit(&mut Decoder::new(NAME, offset, &bytes), sizes, |index, _, range| {
            objects.push((index, range));
            Ok(())
        })?;
        objects.shrink_to_fit();
        let table = reader.budget().charge((objects.len() * size_of::<(u16, Range<usize>)>()) as u64)?;
        if !objects.is_sorted_by_key(|(index, _)| *index) {
            objects.sort_by_key(|(index, _)| *index);
        }
        Ok(Collection { address, offset, bytes, objects, _charges: [whole, table] })
    }

    pub(crate) fn address(&self) -> Address {
        self.address
    }

    /// All bytes of the collection.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The place of the object `index` in the collection.
    pub(crate) fn find(&self, index: u32) -> Result<Range<usize>> {
        let missing =
            || Error::malformed(format!("has no object {index}")).at(GlobalHeapCollection::NAME, self.offset);
        let index = u16::try_from(index).map_err(|_| missing())?;
        // Unless objects were removed, they are numbered from 1.
        let numbered = self.objects.get(usize::from(index).wrapping_sub(1)).filter(|(own, _)| *own == index);
        let found = numbered.or_else(|| {
            let place = self.objects.binary_search_by_key(&index, |(index, _)| *index).ok()?;
            self.objects.get(place)
        });
        let (_, range) = found.filter(|(_, range)| range.end <= self.bytes.len()).ok_or_else(missing)?;
        Ok(range.clone())
    }
}

/// The size that libhdf5 gives a collection, unless an object needs more.
const USUAL_SIZE: u64 = 4096;
const MAX_BYTES: usize = 16 << 20;
const MAX_COLLECTIONS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Sizes;
    use crate::format::infrastructure::global_heap::GlobalHeapObject;
    use hyperslab_core::{Encoder, ErrorKind, Limits};

    fn collection(size: u64, texts: &[(u16, &str)]) -> Vec<u8> {
        let objects = texts
            .iter()
            .map(|(index, text)| GlobalHeapObject {
                index: *index,
                reference_count: 0,
                data: text.as_bytes().to_vec(),
            })
            .collect();
        let mut e = Encoder::new();
        GlobalHeapCollection { size, objects }.encode(&mut e, &Sizes::DEFAULT).unwrap();
        e.into_bytes()
    }

    fn reader(bytes: Vec<u8>) -> Reader {
        Reader::new(Box::new(Bytes::from(bytes)), 0, Sizes::DEFAULT, Limits::default())
    }

    #[test]
    fn objects_are_found_by_collection_and_index() {
        let mut bytes = collection(4096, &[(2, "two"), (1, "one")]);
        bytes.extend(collection(8192, &[(1, "other"), (9, &"x".repeat(5000))]));
        let reader = reader(bytes);
        let heap = GlobalHeap::new();
        for _ in 0..2 {
            assert_eq!(heap.object(&reader, Address(0), 1).unwrap(), "one");
            assert_eq!(heap.object(&reader, Address(4096), 1).unwrap(), "other");
            assert_eq!(heap.object(&reader, Address(4096), 9).unwrap().len(), 5000);
            assert_eq!(heap.object(&reader, Address(0), 2).unwrap(), "two");
        }
        for index in [0, 3, 65_537, u32::MAX] {
            let e = heap.object(&reader, Address(4096), index).unwrap_err();
            assert_eq!(
                e.to_string(),
                format!("malformed Global Heap Collection at byte 0x1000: has no object {index}")
            );
        }
    }

    #[test]
    fn what_is_kept_is_bounded_and_given_back() {
        let one = collection(4096, &[(1, "text")]);
        let bytes: Vec<u8> = std::iter::repeat_n(one, 300).flatten().collect();
        let limits = Limits { allocation: 300 * 4096, ..Limits::default() };
        let reader = Reader::new(Box::new(Bytes::from(bytes)), 0, Sizes::DEFAULT, limits);
        let heap = GlobalHeap::new();
        for round in 0..600 {
            let address = Address(round % 300 * 4096);
            assert_eq!(heap.object(&reader, address, 1).unwrap(), "text");
        }
        assert_eq!(heap.collections.lock().unwrap().len(), MAX_COLLECTIONS);
        assert!(reader.budget().charge(limits.allocation / 2).is_err());
        drop(heap);
        assert!(reader.budget().charge(limits.allocation).is_ok());
    }

    #[test]
    fn a_collection_larger_than_the_bound_is_kept_alone() {
        let large = 17 << 20;
        let mut bytes = collection(4096, &[(1, "small")]);
        bytes.extend(collection(large, &[(1, "large")]));
        let reader = reader(bytes);
        let heap = GlobalHeap::new();
        heap.object(&reader, Address(0), 1).unwrap();
        assert_eq!(heap.object(&reader, Address(4096), 1).unwrap(), "large");
        let kept: Vec<_> = heap.collections.lock().unwrap().iter().map(|c| c.address).collect();
        assert_eq!(kept, [Address(4096)]);
        assert_eq!(heap.object(&reader, Address(0), 1).unwrap(), "small");
    }

    #[test]
    fn sizes_beyond_the_file_are_refused_before_they_are_allocated() {
        for size in [4097_u64, 1 << 40, u64::MAX - 7, u64::MAX] {
            let mut bytes = collection(4096, &[(1, "text")]);
            bytes[8..16].copy_from_slice(&size.to_le_bytes());
            let e = GlobalHeap::new().object(&reader(bytes), Address(0), 1).unwrap_err();
            assert_eq!((e.kind(), e.place().unwrap().offset), (ErrorKind::Malformed, 0), "{size}");
        }
        let e = GlobalHeap::new().object(&reader(vec![0; 64]), Address(64), 1).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Malformed);
        let e = GlobalHeap::new().object(&reader(vec![0; 64]), Address::UNDEFINED, 1).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Malformed);
    }

    #[test]
    fn many_threads_share_the_kept_collections() {
        let bytes: Vec<u8> = (0..20).flat_map(|n| collection(4096, &[(1, &n.to_string())])).collect();
        let reader = reader(bytes);
        let heap = GlobalHeap::new();
        std::thread::scope(|scope| {
            for thread in 0..4_u64 {
                let (heap, reader) = (&heap, &reader);
                scope.spawn(move || {
                    for round in 0..1000 {
                        let n = (round * 7 + thread) % 20;
                        let text = heap.object(reader, Address(n * 4096), 1).unwrap();
                        assert_eq!(text, n.to_string());
                    }
                });
            }
        });
    }
}
