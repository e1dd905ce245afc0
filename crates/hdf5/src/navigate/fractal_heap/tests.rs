//! Heaps made for these tests, and heaps that the reference library wrote.

use super::*;
use crate::format::Sizes;
use crate::format::infrastructure::btree_v2::Record;
use crate::format::infrastructure::fractal_heap::DoublingTable;
use crate::format::message::link::{Link, LinkTarget};
use hyperslab_core::{Encoder, ErrorKind, Limits};

const HEADER: usize = 0x20;
const ROOT: usize = 0x200;
const NESTED: usize = 0x400;
const PREFIX: usize = 19;

/// A heap of 6 direct blocks in the root table and 4 in a nested one, each filled with its number.
struct Image {
    header: FractalHeapHeader,
    bytes: Vec<u8>,
}

impl Image {
    fn new() -> Image {
        let table = DoublingTable {
            width: 2,
            starting_block_size: 64,
            max_direct_block_size: 128,
            max_heap_size: 16,
            starting_root_rows: 1,
            root_block: Address(ROOT as u64),
            current_root_rows: 4,
        };
        let header = FractalHeapHeader {
            heap_id_len: 20,
            flags: 2,
            max_managed_object_size: 100,
            next_huge_object_id: 0,
            huge_objects_btree: Address::UNDEFINED,
            managed_free_space: 0,
            free_space_manager: Address::UNDEFINED,
            managed_space: 1024,
            allocated_managed_space: 768,
            direct_block_iterator: 768,
            managed_object_count: 10,
            huge_object_size: 0,
            huge_object_count: 0,
            tiny_object_size: 0,
            tiny_object_count: 0,
            table,
            filters: None,
        };
        let mut image = Image { header, bytes: vec![0; 0x1000] };
        image.put_header();
        let offsets = [0, 64, 128, 192, 256, 384, 512, 576, 640, 704];
        for (number, offset) in (0..).zip(offsets) {
            let len = if (256..512).contains(&offset) { 128 } else { 64 };
            image.put_direct(0x800 + offset, offset, vec![number; len - PREFIX]);
        }
        let direct = |offset: u64| DirectBlockEntry { address: Address(0x800 + offset), filtered: None };
        image.put_indirect(
            ROOT,
            FractalHeapIndirectBlock {
                heap_header: Address(HEADER as u64),
                block_offset: 0,
                direct_blocks: offsets[..6].iter().map(|offset| direct(*offset)).collect(),
                indirect_blocks: vec![Address(NESTED as u64), Address::UNDEFINED],
            },
            4,
        );
        image.put_indirect(
            NESTED,
            FractalHeapIndirectBlock {
                heap_header: Address(HEADER as u64),
                block_offset: 512,
                direct_blocks: offsets[6..].iter().map(|offset| direct(*offset)).collect(),
                indirect_blocks: vec![],
            },
            2,
        );
        image
    }

    fn put<S: Structure>(&mut self, at: usize, value: &S, context: &S::Context) {
        let mut e = Encoder::new();
        value.encode(&mut e, context).unwrap();
        self.bytes[at..at + e.len()].copy_from_slice(e.as_slice());
    }

    fn put_header(&mut self) {
        let header = self.header.clone();
        self.put(HEADER, &header, &Sizes::DEFAULT);
    }

    fn put_direct(&mut self, at: u64, block_offset: u64, data: Vec<u8>) {
        let block = FractalHeapDirectBlock { heap_header: Address(HEADER as u64), block_offset, data };
        let context = self.header.direct_block_context(&Sizes::DEFAULT);
        self.put(usize::try_from(at).unwrap(), &block, &context);
    }

    fn put_indirect(&mut self, at: usize, block: FractalHeapIndirectBlock, rows: u32) {
        let context = self.header.indirect_block_context(&Sizes::DEFAULT, rows).unwrap();
        self.put(at, &block, &context);
    }

    fn id(&self, id: &HeapId) -> Vec<u8> {
        let mut e = Encoder::new();
        id.encode(&mut e, &self.header.heap_id_context(&Sizes::DEFAULT)).unwrap();
        e.into_bytes()
    }

    fn object(&self, id: &HeapId) -> Result<Bytes> {
        let (reader, heap) = self.open();
        heap.object(&reader, &self.id(id))
    }

    fn managed(&self, offset: u64, len: u64) -> Result<Bytes> {
        self.object(&HeapId::Managed { offset, len })
    }

    fn open(&self) -> (Reader, FractalHeap) {
        let storage = Box::new(Bytes::from(self.bytes.clone()));
        let reader = Reader::new(storage, 0, Sizes::DEFAULT, Limits::default());
        let heap = FractalHeap::open(&reader, Address(HEADER as u64)).unwrap();
        (reader, heap)
    }
}

#[test]
fn objects_come_from_every_row_and_from_nested_tables() {
    let image = Image::new();
    let (reader, heap) = image.open();
    for _ in 0..2 {
        for (number, offset) in
            [(0, 30), (1, 64 + 19), (4, 256 + 118), (5, 384 + 20), (6, 540), (9, 704 + 54)]
        {
            let id = image.id(&HeapId::Managed { offset, len: 10 });
            assert_eq!(heap.object(&reader, &id).unwrap(), [number; 10][..], "{offset}");
        }
    }
}

#[test]
fn objects_of_blocks_that_are_not_kept_come_from_the_file() {
    let image = Image::new();
    let (reader, heap) = image.open();
    heap.blocks().direct = Recent::new(0);
    for _ in 0..2 {
        let id = image.id(&HeapId::Managed { offset: 704 + 54, len: 10 });
        assert_eq!(heap.object(&reader, &id).unwrap(), [9; 10][..]);
    }
}

#[test]
fn a_root_block_may_hold_objects_itself() {
    let mut image = Image::new();
    image.header.table.current_root_rows = 0;
    image.header.table.root_block = Address(0x800);
    image.put_header();
    assert_eq!(image.managed(19, 45).unwrap(), [0; 45][..]);
    assert!(image.managed(64 + 19, 1).is_err());
}

#[test]
fn tiny_and_huge_objects_need_no_block() {
    let mut image = Image::new();
    image.header.table.root_block = Address::UNDEFINED;
    image.put_header();
    assert_eq!(image.object(&HeapId::Tiny(vec![7; 18])).unwrap(), [7; 18][..]);
    image.bytes[0x700..0x704].copy_from_slice(b"huge");
    let id = HeapId::HugeDirect { address: Address(0x700), len: 4 };
    assert_eq!(image.object(&id).unwrap(), b"huge"[..]);
    let id = HeapId::HugeDirect { address: Address(0x700), len: 1 << 40 };
    assert_eq!(image.object(&id).unwrap_err().kind(), ErrorKind::Malformed);
    assert!(image.managed(19, 1).is_err(), "the heap is empty");
}

#[test]
fn refuses_ids_that_point_outside_blocks() {
    let image = Image::new();
    let refused = |offset, len| {
        let e = image.managed(offset, len).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Malformed, "{e}");
    };
    refused(5, 1); // The prefix of a block.
    refused(30, 35); // Past the end of a block.
    refused(800, 1); // A table that does not exist.
    refused(1024, 1); // Past the last row.
    refused(0xffff, 0xff);
}

#[test]
fn refuses_blocks_of_another_heap_or_place() {
    let mut image = Image::new();
    image.put_direct(0x800, 64, vec![0; 64 - PREFIX]);
    let e = image.managed(19, 1).unwrap_err();
    assert_eq!((e.kind(), e.place().unwrap().offset), (ErrorKind::Malformed, 0x800));
}

#[test]
fn damage_anywhere_never_panics() {
    let image = Image::new();
    for at in HEADER..image.bytes.len() {
        for bit in [1, 0x80] {
            let mut damaged = Image { header: image.header.clone(), bytes: image.bytes.clone() };
            damaged.bytes[at] ^= bit;
            let storage = Box::new(Bytes::from(damaged.bytes));
            let reader = Reader::new(storage, 0, Sizes::DEFAULT, Limits::default());
            if let Ok(heap) = FractalHeap::open(&reader, Address(HEADER as u64)) {
                let _ = heap.object(&reader, &image.id(&HeapId::Managed { offset: 704 + 54, len: 10 }));
            }
        }
    }
}

/// The heap of a file with only one, and what its B-tree with records of this type lists.
fn library_heap(file: &'static [u8], record_type: u8) -> (Reader, FractalHeap, Vec<Vec<u8>>) {
    let find = |signature: &[u8], more: &dyn Fn(usize) -> bool| {
        let at = file.windows(4).enumerate().find(|(at, bytes)| *bytes == signature && more(*at));
        Address(u64::try_from(at.unwrap().0).unwrap())
    };
    let reader = Reader::new(Box::new(Bytes::from_static(file)), 0, Sizes::DEFAULT, Limits::default());
    let heap = FractalHeap::open(&reader, find(b"FRHP", &|_| true)).unwrap();
    let mut ids = Vec::new();
    let tree = find(b"BTHD", &|at| file[at + 5] == record_type);
    crate::navigate::btree_v2::records(&reader, tree, &mut |record| {
        ids.push(match record {
            Record::LinkName { heap_id, .. } => heap_id.to_vec(),
            Record::AttributeName { heap_id, .. } => heap_id.to_vec(),
            other => panic!("{other:?}"),
        });
        Ok(std::ops::ControlFlow::Continue(()))
    })
    .unwrap();
    (reader, heap, ids)
}

#[test]
fn filtered_blocks_and_huge_objects_are_decoded() {
    let file = include_bytes!("../../../tests/golden/fractal_heap_filtered.h5");
    let (reader, heap, ids) = library_heap(file, 5);
    let mut names = Vec::new();
    for _ in 0..2 {
        names = ids
            .iter()
            .map(|id| heap.object(&reader, id).unwrap())
            .map(|link| decode_prefix::<Link>(0, &link, &Sizes::DEFAULT).unwrap())
            .map(|link| (link.name, link.target))
            .collect();
    }
    names.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(names.len(), 62);
    assert_eq!(names[0].0, b"huge 0");
    assert_eq!(names[61], (b"link 059".to_vec(), LinkTarget::Soft(b"/somewhere/59".to_vec())));
    for (number, fill) in [(0, b'x'), (1, b'y')] {
        assert_eq!(names[number].1, LinkTarget::Soft(vec![fill; 5000]));
    }
}

#[test]
fn huge_objects_are_found_by_their_ids() {
    let file = include_bytes!("../../../tests/golden/fractal_heap_huge.h5");
    let (reader, heap, ids) = library_heap(file, 8);
    let mut lengths: Vec<_> = ids.iter().map(|id| heap.object(&reader, id).unwrap().len()).collect();
    lengths.sort_unstable();
    assert_eq!(lengths.len(), 12);
    assert!(lengths[9] < 100 && lengths[10] > 5000 && lengths[11] > 6000, "{lengths:?}");
    let unknown = [0x10, 9, 0, 0, 0, 0, 0, 0];
    let e = heap.object(&reader, &unknown).unwrap_err();
    assert_eq!(e.detail(), "no huge object has the ID 9");
}
