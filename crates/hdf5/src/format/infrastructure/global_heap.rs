//! Global heap collection.
//!
//! Spec: HDF5 III.E Disk Format: Level 1E - Global Heap

use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Error, Reserved, Result};
use std::ops::Range;

/// A collection with the bytes of all its objects.
///
/// The rest of `size` is free space; its bytes are not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalHeapCollection {
    /// The size of the collection in bytes, including its header.
    pub size: u64,
    /// The objects in the order in which they are stored.
    pub objects: Vec<GlobalHeapObject>,
}

/// An object of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalHeapObject {
    /// The index that identifies the object in its collection; not 0.
    pub index: u16,
    /// The number of references to the object; libhdf5 writes 0 and never counts.
    pub reference_count: u16,
    /// The bytes of the object.
    pub data: Vec<u8>,
}

/// The location of an object, as variable-length data and references store it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GlobalHeapId {
    /// The address of the collection.
    pub collection: Address,
    /// The index of the object in the collection.
    pub index: u32,
}

impl GlobalHeapCollection {
    /// The number of bytes from which [`GlobalHeapCollection::stored_len`] determines the size of a collection.
    pub fn header_len(sizes: &Sizes) -> u64 {
        (8 + u64::from(sizes.lengths)).next_multiple_of(ALIGNMENT as u64)
    }

    /// The size in bytes of the collection at the cursor. Leaves the cursor after its header.
    pub fn stored_len(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<u64> {
        let start = d.remaining();
        d.signature(SIGNATURE)?;
        let at = d.clone();
        let version = d.u8()?;
        if version != VERSION {
            return Err(at.unsupported(format!("version {version}, expected {VERSION}")));
        }
        d.reserved(3)?;
        let at = d.clone();
        let size = sizes.length(d)?;
        if size < Self::header_len(sizes) {
            return Err(at.malformed(format!(
                "collection size {size}, expected at least {}",
                Self::header_len(sizes)
            )));
        }
        align(d, start)?;
        Ok(size)
    }

    /// Calls `object` for each object of the collection at the cursor, with its index, its reference count, and the
    /// range of its bytes. The range counts from the start of the collection.
    pub fn visit(
        d: &mut Decoder<'_>,
        sizes: &Sizes,
        mut object: impl FnMut(u16, u16, Range<usize>) -> Result<()>,
    ) -> Result<u64> {
        let whole = d.clone();
        let size = Self::stored_len(d, sizes)?;
        let header = whole.remaining() - d.remaining();
        let len = whole.len_of(size)?;
        let mut objects = d.sub(Self::NAME, len.saturating_sub(header))?;
        // If fewer bytes than an object header remain, they are free space without a header.
        while objects.remaining() >= object_header_len(sizes) {
            let at = objects.clone();
            let index = objects.u16()?;
            if index == 0 {
                break;
            }
            let reference_count = objects.u16()?;
            objects.reserved(4)?;
            let size = sizes.length(&mut objects)?;
            align(&mut objects, at.remaining())?;
            let size = objects.len_of(size)?;
            let start = len - objects.remaining();
            object(index, reference_count, start..start + size).map_err(|e| e.at_place(at.place()))?;
            // The last object may end at the end of the collection without padding.
            let padded = size.next_multiple_of(ALIGNMENT).min(objects.remaining());
            objects.reserved(padded)?;
        }
        Ok(size)
    }
}

impl Structure for GlobalHeapCollection {
    type Context = Sizes;
    const NAME: &'static str = "Global Heap Collection";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let whole = d.clone();
        let mut objects = Vec::new();
        let size = Self::visit(d, sizes, |index, reference_count, range| {
            let mut data = whole.clone();
            data.reserved(range.start)?;
            let data = data.take(range.len())?.to_vec();
            objects.push(GlobalHeapObject { index, reference_count, data });
            Ok(())
        })?;
        Ok(GlobalHeapCollection { size, objects })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        let start = e.len();
        let size = encode_header(e, sizes);
        for object in &self.objects {
            if object.index == 0 {
                return Err(Error::invalid(
                    "object index 0, which is the free space of a global heap collection",
                ));
            }
            encode_object(e, sizes, object.index, object.reference_count, &object.data)?;
        }
        encode_rest(e, sizes, start, size, self.size)
    }
}

/// A collection that is encoded while its objects come in, numbered from 1.
#[derive(Debug)]
pub struct CollectionEncoder {
    sizes: Sizes,
    e: Encoder,
    size: Reserved,
    objects: u16,
}

impl CollectionEncoder {
    /// A collection without objects.
    pub fn new(sizes: Sizes) -> Self {
        let mut e = Encoder::new();
        let size = encode_header(&mut e, &sizes);
        CollectionEncoder { sizes, e, size, objects: 0 }
    }

    /// The number of bytes that an object takes: its header, its data of `len` bytes, and padding.
    pub fn object_len(sizes: &Sizes, len: usize) -> u64 {
        (object_header_len(sizes) as u64).saturating_add((len as u64).next_multiple_of(ALIGNMENT as u64))
    }

    /// The number of bytes so far.
    pub fn encoded_len(&self) -> u64 {
        self.e.len() as u64
    }

    /// Whether no index is left for another object.
    pub fn is_full(&self) -> bool {
        self.objects == u16::MAX
    }

    /// Adds an object. Returns its index, and where its data begins.
    ///
    /// # Errors
    /// If no index is left.
    pub fn push(&mut self, data: &[u8]) -> Result<(u16, usize)> {
        self.objects = self.objects.checked_add(1).ok_or_else(|| {
            Error::invalid(format!("another object of a global heap collection that has {}", u16::MAX))
        })?;
        let start = self.e.len() + object_header_len(&self.sizes);
        encode_object(&mut self.e, &self.sizes, self.objects, 0, data)?;
        Ok((self.objects, start))
    }

    /// The bytes of a collection of `size` bytes.
    ///
    /// # Errors
    /// If the objects do not fit.
    pub fn finish(mut self, size: u64) -> Result<Vec<u8>> {
        encode_rest(&mut self.e, &self.sizes, 0, self.size, size)?;
        Ok(self.e.into_bytes())
    }
}

impl Structure for GlobalHeapId {
    type Context = Sizes;
    const NAME: &'static str = "Global Heap ID";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let collection = sizes.address(d)?;
        let index = d.u32()?;
        Ok(GlobalHeapId { collection, index })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        sizes.put_address(e, self.collection)?;
        e.u32(self.index);
        Ok(())
    }
}

/// The size of an object header in bytes. If lengths are narrower than 8 bytes, headers of collections and objects
/// are padded. The specification does not mention this.
fn object_header_len(sizes: &Sizes) -> usize {
    (8 + usize::from(sizes.lengths)).next_multiple_of(ALIGNMENT)
}

/// Encodes the header of a collection. Returns the place of its size.
fn encode_header(e: &mut Encoder, sizes: &Sizes) -> Reserved {
    let start = e.len();
    e.bytes(SIGNATURE);
    e.u8(VERSION);
    e.reserved(3);
    let size = e.reserve(sizes.lengths.min(8));
    e.reserved(usize::from(sizes.lengths.saturating_sub(8)));
    e.pad_to(start, ALIGNMENT);
    size
}

fn encode_object(
    e: &mut Encoder,
    sizes: &Sizes,
    index: u16,
    reference_count: u16,
    data: &[u8],
) -> Result<()> {
    encode_object_header(e, sizes, index, reference_count, data.len() as u64)?;
    let start = e.len();
    e.bytes(data);
    e.pad_to(start, ALIGNMENT);
    Ok(())
}

/// Encodes the free space of a collection that began at `start`, and its size.
fn encode_rest(e: &mut Encoder, sizes: &Sizes, start: usize, place: Reserved, size: u64) -> Result<()> {
    let filled = e.len();
    let free = usize::try_from(size).ok().and_then(|size| size.checked_sub(filled - start));
    let free = free.ok_or_else(|| {
        Error::invalid(format!("global heap objects do not fit in the collection size {size}"))
    })?;
    if free >= object_header_len(sizes) {
        encode_object_header(e, sizes, 0, 0, free as u64)?;
    }
    e.reserved(free - (e.len() - filled));
    e.patch(place, size)
}

fn encode_object_header(
    e: &mut Encoder,
    sizes: &Sizes,
    index: u16,
    reference_count: u16,
    size: u64,
) -> Result<()> {
    let start = e.len();
    e.u16(index);
    e.u16(reference_count);
    e.reserved(4);
    sizes.put_length(e, size)?;
    e.pad_to(start, ALIGNMENT);
    Ok(())
}

/// Skips to a multiple of 8 bytes after the position at which `start` bytes remained.
fn align(d: &mut Decoder<'_>, start: usize) -> Result<()> {
    let read = start - d.remaining();
    d.reserved(read.next_multiple_of(ALIGNMENT) - read)
}

pub(crate) const SIGNATURE: &[u8] = b"GCOL";
const VERSION: u8 = 1;
const ALIGNMENT: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};
    use hyperslab_core::ErrorKind;

    fn object(index: u16, data: &[u8]) -> GlobalHeapObject {
        GlobalHeapObject { index, reference_count: 1, data: data.to_vec() }
    }

    structure_tests!(GlobalHeapCollection, context: Sizes::DEFAULT,
    golden: [include_str!("../../../tests/golden/global_heap_collection.hex")],
    values: [
        GlobalHeapCollection { size: 16, objects: vec![] },
        GlobalHeapCollection { size: 72, objects: vec![object(2, b"abc"), object(1, b"")] },
        GlobalHeapCollection { size: 48, objects: vec![object(7, b"exactly."), ] },
        GlobalHeapCollection { size: 96, objects: vec![object(1, b"0123456789"), ] },
    ]);

    mod narrow {
        use super::*;
        structure_tests!(GlobalHeapCollection, context: Sizes { offsets: 4, lengths: 4 },
            golden: [include_str!("../../../tests/golden/global_heap_collection_narrow.hex")],
            values: [GlobalHeapCollection { size: 96, objects: vec![object(1, b"a"), object(2, b"bc")] }]);
    }

    mod id {
        use super::*;
        structure_tests!(GlobalHeapId, context: Sizes::DEFAULT,
            golden: [include_str!("../../../tests/golden/global_heap_id.hex")],
            values: [GlobalHeapId { collection: Address::UNDEFINED, index: 0 }]);
    }

    #[test]
    fn finds_objects_with_every_width_of_lengths() {
        for (sizes, text) in [
            (Sizes::DEFAULT, include_str!("../../../tests/golden/global_heap_collection.hex")),
            (
                Sizes { offsets: 4, lengths: 4 },
                include_str!("../../../tests/golden/global_heap_collection_narrow.hex"),
            ),
        ] {
            let bytes = hex(text);
            let collection = GlobalHeapCollection::decode(&mut Decoder::new("t", 0, &bytes), &sizes).unwrap();
            let found: Vec<_> = collection.objects.iter().map(|o| (o.index, o.data.as_slice())).collect();
            assert_eq!(found, [(1, &b"variable"[..]), (2, &b"len"[..])]);
        }
    }

    #[test]
    fn rejects_objects_and_sizes_past_the_end() {
        let value = GlobalHeapCollection { size: 64, objects: vec![object(1, b"abc")] };
        let mut e = Encoder::new();
        value.encode(&mut e, &Sizes::DEFAULT).unwrap();
        for (at, byte) in [(24, 33), (31, 0xff), (8, 65), (15, 0xff), (8, 15)] {
            let mut bytes = e.as_slice().to_vec();
            bytes[at] = byte;
            let e = GlobalHeapCollection::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT);
            assert_eq!(e.unwrap_err().kind(), ErrorKind::Malformed, "{at}");
        }
    }
}
