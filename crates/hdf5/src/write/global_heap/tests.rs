//! Collections, read back.

use super::*;
use crate::element::Converter;
use crate::format::infrastructure::GlobalHeapCollection;
use crate::format::message::Message;
use crate::format::message::data_layout::{DataLayout, LayoutClass, Version as LayoutVersion};
use crate::format::message::datatype::{
    ByteOrder, Datatype, DatatypeClass, FixedPoint, VariableLength, VariableLengthKind, Version,
};
use crate::format::{Sizes, Structure};
use crate::navigate::global_heap::GlobalHeap;
use crate::reference::Reference;
use crate::write::image::Image;
use crate::write::test_datasets::integers;
use crate::write::test_file::TestFile;
use hyperslab_core::Decoder;
use hyperslab_core::rows::{Heap, Slot};

/// An object whose bytes identify its number.
fn object(number: usize, len: usize) -> Vec<u8> {
    number.to_string().into_bytes().into_iter().cycle().take(len).collect()
}

fn collections(image: &Image, sizes: &Sizes) -> Vec<(u64, usize)> {
    let (bytes, mut at) = (image.bytes(), 48);
    let mut found = Vec::new();
    while at < bytes.len() {
        let d = &mut Decoder::new("t", 0, &bytes[at..]);
        let collection = GlobalHeapCollection::decode(d, sizes).unwrap();
        found.push((collection.size, collection.objects.len()));
        at += usize::try_from(collection.size).unwrap();
    }
    found
}

fn written(sizes: Sizes, lens: &[usize]) -> Vec<(u64, usize)> {
    let (image, ids) = Image::write(sizes, &mut |sink| {
        let mut heap = GlobalHeapWriter::new();
        let numbered = lens.iter().enumerate();
        let ids = numbered.map(|(number, len)| heap.put(sink, &object(number, *len)));
        let ids = ids.collect::<Result<Vec<_>>>()?;
        heap.finish(sink)?;
        Ok(ids)
    })
    .unwrap();
    let (heap, reader) = (GlobalHeap::new(), image.reader());
    for ((number, len), id) in lens.iter().enumerate().zip(ids) {
        assert_eq!(heap.object(&reader, id.collection, id.index).unwrap(), object(number, *len));
    }
    collections(&image, &sizes)
}

#[test]
fn objects_are_read_back_from_collections_of_the_sizes_of_libhdf5() {
    let sizes = Sizes::DEFAULT;
    assert_eq!(written(sizes, &[]), []);
    assert_eq!(written(sizes, &[0]), [(4096, 1)]);
    // 16 bytes each for the header of the collection and that of the object.
    assert_eq!(written(sizes, &[4064]), [(4096, 1)]);
    assert_eq!(written(sizes, &[4065]), [(4104, 1)]);
    assert_eq!(written(sizes, &[100_000, 5]), [(100_032, 1), (4096, 1)]);
    // A large object leaves the open collection open; one of two half full ones remains.
    assert_eq!(written(sizes, &[5, 5000, 6]), [(4096, 2), (5032, 1)]);
    assert_eq!(written(sizes, &[1000, 3500, 900, 1000]), [(4096, 3), (4096, 1)]);
    assert_eq!(written(sizes, &[3500, 1000, 500]), [(4096, 1), (4096, 2)]);
    // Exactly full, and with fewer bytes left than a free object has.
    assert_eq!(written(sizes, &[24; 102]), [(4096, 102)]);
    assert_eq!(written(sizes, &[4056]), [(4096, 1)]);
    for width in [2, 4, 8] {
        let sizes = Sizes { offsets: width, lengths: width };
        let lens: Vec<usize> = (0..200).map(|number| number * 37 % 400).collect();
        written(sizes, &lens);
    }
}

fn integer() -> Datatype {
    let class = DatatypeClass::FixedPoint(FixedPoint {
        byte_order: ByteOrder::BigEndian,
        low_padding: false,
        high_padding: false,
        signed: false,
        bit_offset: 0,
        bit_precision: 16,
    });
    Datatype { version: Version::V3, size: 2, class }
}

fn sequence(base: Datatype, sizes: &Sizes) -> Datatype {
    let class = DatatypeClass::VariableLength(VariableLength {
        kind: VariableLengthKind::Sequence,
        base: Box::new(base),
    });
    Datatype { version: Version::V3, size: 8 + u32::from(sizes.offsets), class }
}

/// Rows of sequences of these lengths of sequences of 0 to 4 numbers.
fn rows(lens: &[usize]) -> (Vec<u8>, Heap<Reference>) {
    let (mut rows, mut heap) = (Vec::new(), Heap::default());
    for len in lens {
        let mut inner = Vec::new();
        for number in 0..*len {
            let items: Vec<u8> = (0..number % 5)
                .flat_map(|item| [u8::try_from(item).unwrap(), u8::try_from(number % 251).unwrap()])
                .collect();
            inner.extend(
                heap.push_items(items.into(), u32::try_from(number % 5).unwrap()).unwrap().to_bytes(),
            );
        }
        rows.extend(heap.push_items(inner.into(), u32::try_from(*len).unwrap()).unwrap().to_bytes());
    }
    (rows, heap)
}

/// The numbers in rows.
fn meant(rows: &[u8], heap: &Heap<Reference>) -> Vec<Vec<Vec<u8>>> {
    let slots =
        |rows: &[u8]| rows.chunks_exact(Slot::SIZE).map(|row| Slot::get(row).unwrap()).collect::<Vec<_>>();
    let bytes = |slot: Slot, size| heap.bytes(slot, usize::try_from(slot.count).unwrap() * size).unwrap();
    let inner =
        |slot| slots(bytes(slot, Slot::SIZE)).into_iter().map(|slot| bytes(slot, 2).to_vec()).collect();
    slots(rows).into_iter().map(inner).collect()
}

/// Stores sequences like a thread that knows no addresses. Returns the elements.
fn relocated(sink: &mut dyn Sink, converter: &Converter, lens: &[usize]) -> Result<Vec<u8>> {
    let (rows, slots) = rows(lens);
    let mut heap = RelocatableHeap::new(sink.sizes());
    let mut stored = vec![0; lens.len() * converter.stored_size()];
    let mut objects = HeapObjects { put: &mut |object| heap.put(object), ranks: &Ranks::default() };
    converter.store(&rows, &slots, &mut stored, &mut objects)?;

    let lens: Vec<u64> = heap.collection_sizes().collect();
    let addresses = lens.iter().map(|len| sink.allocate(SpaceKind::Raw, *len));
    let addresses = addresses.collect::<Result<Vec<_>>>()?;
    let pieces = heap.place(&addresses, &converter.heap_elements().unwrap(), &mut stored)?;
    for ((address, piece), len) in addresses.iter().zip(&pieces).zip(lens) {
        assert_eq!(piece.len() as u64, len);
        sink.write(*address, piece)?;
    }
    Ok(stored)
}

fn read_back(sizes: Sizes, lens: &[usize]) -> Vec<(u64, usize)> {
    let converter = Converter::new(&sequence(sequence(integer(), &sizes), &sizes), &sizes).unwrap();
    let (image, stored) = Image::write(sizes, &mut |sink| relocated(sink, &converter, lens)).unwrap();
    let mut found = vec![0; lens.len() * Slot::SIZE];
    let mut slots = Heap::default();
    converter.convert(&image.reader(), &stored, &mut found, &mut slots).unwrap();
    let (rows, heap) = rows(lens);
    assert_eq!(meant(&found, &slots), meant(&rows, &heap));
    collections(&image, &sizes)
}

#[test]
fn nested_sequences_are_relocated() {
    for width in [2, 4, 8] {
        let sizes = Sizes { offsets: width, lengths: width };
        assert_eq!(read_back(sizes, &[0, 0]), []);
        assert_eq!(read_back(sizes, &[0, 2, 1]).len(), 1);
        read_back(sizes, &(0..60).collect::<Vec<_>>());
    }
}

#[test]
fn only_the_last_relocatable_collection_has_free_space() {
    let found = read_back(Sizes::DEFAULT, &[5, 9000, 4, 3000, 0, 2000, 7, 1]);
    let (last, full) = found.split_last().unwrap();
    assert!(full.iter().all(|(size, _)| *size > 32_768), "{found:?}");
    assert_eq!(last.0 % 8, 0);
    let plain = Converter::new(&integer(), &Sizes::DEFAULT).unwrap();
    assert!(plain.heap_elements().is_none());
}

#[test]
fn elements_of_another_heap_are_refused() {
    let converter = Converter::new(&sequence(integer(), &Sizes::DEFAULT), &Sizes::DEFAULT).unwrap();
    let elements = converter.heap_elements().unwrap();
    let mut heap = RelocatableHeap::new(Sizes::DEFAULT);
    heap.put(b"ab").unwrap();
    let mut stored = [1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
    let e = heap.place(&[Address(64)], &elements, &mut stored).unwrap_err();
    assert_eq!(e.to_string(), "element with the ID of an object of another global heap");
    let heap = RelocatableHeap::new(Sizes::DEFAULT);
    assert!(heap.place(&[Address(64)], &elements, &mut stored).is_err());
}

#[test]
fn a_file_with_relocated_elements_is_valid() {
    let sizes = Sizes::DEFAULT;
    let datatype = sequence(sequence(integer(), &sizes), &sizes);
    let converter = Converter::new(&datatype, &sizes).unwrap();
    let file = TestFile::write_datasets(&mut |sink| {
        let lens: Vec<usize> = (0..90).map(|number| number * number % 50).collect();
        let stored = relocated(sink, &converter, &lens)?;
        let address = sink.allocate(SpaceKind::Raw, stored.len() as u64)?;
        sink.write(address, &stored)?;
        let class =
            LayoutClass::Contiguous { address, size: Some(stored.len() as u64), dimensions: Vec::new() };
        let layout = Message::DataLayout(DataLayout { version: LayoutVersion::V3, class });
        let mut messages = integers(&[90], &[90], 2, layout);
        messages[1] = Message::Datatype(datatype.clone());
        Ok(vec![("d", messages)])
    });
    file.check();
}
