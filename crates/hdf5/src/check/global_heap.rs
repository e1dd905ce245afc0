//! Checks global heap collections, and which of their objects are in use.

use super::objects;
use super::reading::{Pointer, pointer};
use super::rule;
use super::{Checker, max};
use crate::format::infrastructure::global_heap::SIGNATURE;
use crate::format::infrastructure::{GlobalHeapCollection, GlobalHeapId};
use crate::format::{Address, Structure};
use bytes::Bytes;
use hyperslab_core::{Decoder, Result};
use rustc_hash::FxHashMap;

/// All collections that were reached.
pub(super) struct Collections {
    /// By address; `None` for what is not a collection.
    read: FxHashMap<u64, Option<Collection>>,
    objects: usize,
    /// Whether all elements that may refer to objects could be read.
    pub(super) is_whole: bool,
}

impl Default for Collections {
    fn default() -> Self {
        Collections { read: FxHashMap::default(), objects: 0, is_whole: true }
    }
}

struct Collection {
    byte: u64,
    /// In order of their indexes.
    objects: Vec<Object>,
}

struct Object {
    index: u16,
    is_used: bool,
    /// The offset in the collection.
    start: u64,
    len: u64,
}

/// An object that an element refers to.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeapElement {
    address: Address,
    /// The file offset of its bytes.
    pub(super) byte: u64,
    pub(super) len: u64,
    /// Whether nothing referred to it before.
    pub(super) is_new: bool,
}

impl Checker<'_> {
    /// The object whose ID is stored at `from`.
    pub(super) fn heap_element(&mut self, id: GlobalHeapId, from: Pointer) -> Result<Option<HeapElement>> {
        let Some(raw) = id.collection.get() else {
            let message = "the address of the collection is undefined";
            self.report(&rule::GLOBAL_HEAP_OBJECT, from.structure, from.byte, message);
            return Ok(None);
        };
        self.read_collection(raw, from)?;
        let Some(Some(collection)) = self.collections.read.get_mut(&raw) else {
            return Ok(None);
        };
        let index = u16::try_from(id.index).ok();
        let place = collection.objects.binary_search_by_key(&index, |object| Some(object.index));
        match place.ok().and_then(|place| collection.objects.get_mut(place)) {
            Some(object) => {
                let is_new = !std::mem::replace(&mut object.is_used, true);
                let byte = collection.byte + object.start;
                let address = Address(raw + object.start);
                Ok(Some(HeapElement { address, byte, len: object.len, is_new }))
            }
            None => {
                let message =
                    format!("object {} of the collection at {}, which has none", id.index, id.collection);
                self.report(&rule::GLOBAL_HEAP_OBJECT, from.structure, from.byte, message);
                Ok(None)
            }
        }
    }

    /// Marks the empty object of an element without content as used, if it has one. If the element had content before,
    /// it may still have the ID of that object; nothing refers to the object then.
    pub(super) fn empty_heap_element(&mut self, id: GlobalHeapId, from: Pointer) -> Result<()> {
        let Some(raw) = id.collection.get().filter(|raw| *raw != 0 && id.index != 0) else { return Ok(()) };
        if !self.collections.read.contains_key(&raw) {
            let size = SIGNATURE.len() as u64;
            let found = self.reader.raw(GlobalHeapCollection::NAME, id.collection, size);
            if !found.is_ok_and(|found| *found == *SIGNATURE) {
                return Ok(());
            }
            self.read_collection(raw, from)?;
        }
        if let Some(Some(collection)) = self.collections.read.get_mut(&raw)
            && let Ok(index) = u16::try_from(id.index)
            && let Ok(place) = collection.objects.binary_search_by_key(&index, |object| object.index)
            && let Some(object) = collection.objects.get_mut(place)
        {
            object.is_used |= object.len == 0;
        }
        Ok(())
    }

    fn read_collection(&mut self, raw: u64, from: Pointer) -> Result<()> {
        if !self.collections.read.contains_key(&raw) {
            let collection = self.collection(Address(raw), from)?;
            if self.collections.read.len() < max(self.stored, COLLECTION_SIZE) {
                self.collections.read.insert(raw, collection);
            }
        }
        Ok(())
    }

    /// The object with an ID. If it does not exist, that was already reported.
    pub(super) fn known_element(&self, id: GlobalHeapId) -> Option<HeapElement> {
        let collection = self.collections.read.get(&id.collection.0)?.as_ref()?;
        let index = u16::try_from(id.index).ok()?;
        let place = collection.objects.binary_search_by_key(&index, |object| object.index).ok()?;
        let object = collection.objects.get(place)?;
        let byte = collection.byte + object.start;
        let address = Address(id.collection.0 + object.start);
        Some(HeapElement { address, byte, len: object.len, is_new: false })
    }

    /// The bytes of an object.
    pub(super) fn heap_element_bytes(&mut self, object: &HeapElement) -> Result<Option<Bytes>> {
        if !self.spend_raw(object.len, OBJECT, object.byte) {
            return Ok(None);
        }
        match self.reader.raw(OBJECT, object.address, object.len) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) => self.error(error).map(|()| None),
        }
    }

    fn collection(&mut self, address: Address, from: Pointer) -> Result<Option<Collection>> {
        const NAME: &str = GlobalHeapCollection::NAME;
        let sizes = self.sizes();
        let header_len = GlobalHeapCollection::header_len(&sizes);
        let Some((byte, head)) = self.bytes(NAME, address, header_len, from)? else { return Ok(None) };
        let len = match GlobalHeapCollection::stored_len(&mut Decoder::new(NAME, byte, &head), &sizes) {
            Ok(len) => len,
            Err(error) => return self.error(error).map(|()| None),
        };
        let here = pointer(NAME, byte + 8);
        let Some((_, bytes)) = self.owned_bytes(NAME, address, len, here)? else { return Ok(None) };
        let mut objects: Vec<Object> = Vec::new();
        let mut end = header_len;
        let room = max(self.stored, OBJECT_SIZE).saturating_sub(self.collections.objects);
        let visited =
            GlobalHeapCollection::visit(&mut Decoder::new(NAME, byte, &bytes), &sizes, |index, _, range| {
                let (start, len) = (range.start as u64, range.len() as u64);
                end = start.saturating_add(len.next_multiple_of(8));
                if objects.len() < room {
                    objects.push(Object { index, is_used: false, start, len });
                }
                Ok(())
            });
        if let Err(error) = visited {
            self.error_as(error, &rule::GLOBAL_HEAP, None)?;
            self.collections.is_whole = false;
        } else {
            self.free_object(byte, end, len, &bytes);
        }
        self.collections.objects += objects.len();
        objects.sort_by_key(|object| object.index);
        for [one, other] in objects.array_windows() {
            if one.index == other.index {
                let at = byte + other.start.saturating_sub(header_len);
                let message = format!("two objects of index {}", one.index);
                self.report(&rule::GLOBAL_HEAP, NAME, at, message);
            }
        }
        Ok(Some(Collection { byte, objects }))
    }

    /// Object 0 stands for the free space, which is everything that the other objects leave.
    fn free_object(&mut self, byte: u64, start: u64, end: u64, bytes: &[u8]) {
        const NAME: &str = GlobalHeapCollection::NAME;
        let sizes = self.sizes();
        let rest = usize::try_from(start).ok().and_then(|start| bytes.get(start..)).unwrap_or_default();
        let mut d = Decoder::new(NAME, byte + start, rest);
        let size = (|| {
            d.reserved(8)?;
            sizes.length(&mut d)
        })();
        let left = end.saturating_sub(start);
        if let Ok(size) = size
            && left >= GlobalHeapCollection::header_len(&sizes)
            && size != left
        {
            let message = format!("{size} bytes are free by object 0, the other objects leave {left}");
            self.report(&rule::GLOBAL_HEAP, NAME, byte + start + 8, message);
        }
    }

    /// Reports objects that nothing refers to.
    pub(super) fn check_collections(&mut self) {
        if !self.collections.is_whole || !self.complete {
            return;
        }
        self.current = objects::FILE;
        let mut unused: Vec<(u64, u64, u64)> = Vec::new();
        for collection in self.collections.read.values().flatten() {
            let objects = collection.objects.iter().filter(|object| !object.is_used);
            let (count, bytes) =
                objects.fold((0, 0), |(count, bytes), object| (count + 1, bytes + object.len));
            if count > 0 {
                unused.push((collection.byte, count, bytes));
            }
        }
        unused.sort_unstable();
        for (byte, count, bytes) in unused {
            let message = format!("nothing refers to {count} objects of {bytes} bytes");
            self.report(&rule::UNREFERENCED, GlobalHeapCollection::NAME, byte, message);
        }
    }
}

pub(super) const OBJECT: &str = "Global Heap Object";
const COLLECTION_SIZE: u64 = 96;
const OBJECT_SIZE: u64 = 24;
