//! Objects of fractal heaps.
//!
//! Spec: HDF5 III.G Fractal Heap

mod recent;

use crate::format::infrastructure::fractal_heap::doubling_table::Geometry;
use crate::format::infrastructure::fractal_heap::indirect_block::{DirectBlockEntry, FilteredBlock};
use crate::format::infrastructure::fractal_heap::{
    FractalHeapDirectBlock, FractalHeapHeader, FractalHeapIndirectBlock, HeapId,
};
use crate::format::{Address, Structure, decode_prefix};
use crate::navigate::Reader;
use bytes::Bytes;
use hyperslab_core::{Decoder, Error, Result};
use recent::Recent;
use rustc_hash::FxHashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A fractal heap: gives the bytes of an object for its heap ID.
///
/// Links and attributes are asked for in the order of their names' hashes, which is no order in the heap.
/// So blocks are kept, up to a bound, and the checksum of a block that was dropped is not computed again.
pub struct FractalHeap {
    address: Address,
    header: FractalHeapHeader,
    geometry: Geometry,
    blocks: Mutex<Blocks>,
}

struct Blocks {
    indirect: Recent<Arc<FractalHeapIndirectBlock>>,
    direct: Recent<Bytes>,
    verified: FxHashSet<u64>,
}

/// Where a managed object lies.
struct Found {
    block: DirectBlockEntry,
    block_size: u64,
    block_offset: u64,
    /// In the block, its prefix included.
    offset: u64,
}

impl FractalHeap {
    /// Reads the header of the heap at `address`.
    pub fn open(reader: &Reader, address: Address) -> Result<Self> {
        let sizes = reader.sizes();
        let prefix = reader.bytes(FractalHeapHeader::NAME, address, FractalHeapHeader::PREFIX_LEN)?;
        let offset = reader.offset(FractalHeapHeader::NAME, address)?;
        let len = FractalHeapHeader::len_of(Decoder::new(FractalHeapHeader::NAME, offset, &prefix), sizes)?;
        let header: FractalHeapHeader = reader.structure(address, len, sizes)?;
        let geometry = header.table.geometry()?;
        let blocks = Blocks {
            indirect: Recent::new(INDIRECT_BLOCK_BYTES),
            direct: Recent::new(DIRECT_BLOCK_BYTES),
            verified: FxHashSet::default(),
        };
        Ok(FractalHeap { address, header, geometry, blocks: Mutex::new(blocks) })
    }

    /// The header.
    pub fn header(&self) -> &FractalHeapHeader {
        &self.header
    }

    /// The object with this heap ID.
    ///
    /// # Errors
    /// If the ID points outside the heap, or to a block that does not exist or is damaged.
    pub fn object(&self, reader: &Reader, id: &[u8]) -> Result<Bytes> {
        match decode_prefix(0, id, &self.header.heap_id_context(reader.sizes()))? {
            HeapId::Managed { offset, len } => self.managed(reader, offset, len),
            HeapId::HugeDirect { address, len } => reader.raw(HUGE_OBJECT, address, len),
            HeapId::HugeIndirect { .. } => Err(self.error(reader, Error::unsupported("huge objects"))),
            HeapId::HugeFiltered { .. } => Err(self.error(reader, Error::unsupported("filtered objects"))),
            HeapId::Tiny(object) => Ok(object.into()),
        }
    }

    fn managed(&self, reader: &Reader, offset: u64, len: u64) -> Result<Bytes> {
        let found = self.locate(reader, offset)?;
        let prefix_len = self.header.direct_block_context(reader.sizes()).prefix_len();
        if found.offset < prefix_len || len > found.block_size - found.offset {
            return Err(self.error(
                reader,
                Error::malformed(format!(
                    "an object of {len} bytes at {offset:#x} does not fit in its block of {} bytes",
                    found.block_size
                )),
            ));
        }
        let address = found.block.address;
        let kept = {
            let blocks = self.blocks();
            match blocks.direct.get(address.0) {
                Some(block) => Some(block.clone()),
                // Decoded blocks have no place in the file.
                None if blocks.verified.contains(&address.0) && self.header.filters.is_none() => None,
                None => {
                    drop(blocks);
                    Some(self.direct_block(reader, &found)?)
                }
            }
        };
        match kept {
            Some(data) => {
                let from = usize::try_from(found.offset - prefix_len).unwrap_or(usize::MAX);
                let to = from.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
                if to > data.len() {
                    return Err(self.error(reader, Error::malformed("a block is shorter than its size")));
                }
                Ok(data.slice(from..to))
            }
            None => {
                let address = Address(address.0.saturating_add(found.offset));
                reader.bytes(FractalHeapDirectBlock::NAME, address, len)
            }
        }
    }

    /// The direct block that holds `offset` of the heap's address space.
    fn locate(&self, reader: &Reader, offset: u64) -> Result<Found> {
        let table = &self.header.table;
        let past = || {
            let detail = format!("offset {offset:#x} is in no block of the heap");
            self.error(reader, Error::malformed(detail))
        };
        if table.root_block.is_undefined() {
            return Err(past());
        }
        if table.current_root_rows == 0 {
            let filtered = self.header.filters.as_ref().map(|filters| FilteredBlock {
                size: filters.root_direct_block_size,
                filter_mask: filters.root_direct_block_mask,
            });
            if offset >= table.starting_block_size {
                return Err(past());
            }
            return Ok(Found {
                block: DirectBlockEntry { address: table.root_block, filtered },
                block_size: table.starting_block_size,
                block_offset: 0,
                offset,
            });
        }
        let mut address = table.root_block;
        let mut rows = u32::from(table.current_root_rows);
        let mut block_offset = 0;
        // Blocks in a table are smaller than what the table stands for, so this ends after 64 turns at most.
        loop {
            let block = self.indirect_block(reader, address, rows, block_offset)?;
            let position = self.geometry.position(offset - block_offset);
            block_offset = offset - position.offset;
            if position.row >= rows {
                return Err(past());
            }
            if let Some(entry) = block.direct_blocks.get(position.entry) {
                if entry.address.is_undefined() {
                    return Err(past());
                }
                return Ok(Found {
                    block: *entry,
                    block_size: position.block_size,
                    block_offset,
                    offset: position.offset,
                });
            }
            let entry = position.entry - block.direct_blocks.len();
            address = match block.indirect_blocks.get(entry) {
                Some(address) if !address.is_undefined() => *address,
                _ => return Err(past()),
            };
            rows = self.geometry.rows_of(position.block_size).ok_or_else(past)?;
        }
    }

    fn indirect_block(
        &self,
        reader: &Reader,
        address: Address,
        rows: u32,
        block_offset: u64,
    ) -> Result<Arc<FractalHeapIndirectBlock>> {
        let kept = self.blocks().indirect.get(address.0).cloned();
        let block = match kept {
            Some(block) => block,
            None => {
                let context = self.header.indirect_block_context(reader.sizes(), rows)?;
                let block = Arc::new(reader.structure::<FractalHeapIndirectBlock>(
                    address,
                    context.block_len(),
                    &context,
                )?);
                let len = usize::try_from(context.block_len()).unwrap_or(usize::MAX);
                self.blocks().indirect.insert(address.0, Arc::clone(&block), len);
                block
            }
        };
        let found = (block.heap_header, block.block_offset);
        self.check_owner(reader, FractalHeapIndirectBlock::NAME, address, found, block_offset)?;
        Ok(block)
    }

    /// The data of a direct block, decoded and verified.
    fn direct_block(&self, reader: &Reader, found: &Found) -> Result<Bytes> {
        let address = found.block.address;
        // The stored block, and the copy whose checksum field is cleared.
        let _scratch = reader.budget().charge(found.block_size.saturating_mul(2))?;
        if found.block.filtered.is_some() {
            return Err(self.error(reader, Error::unsupported("filtered blocks")));
        }
        let context = self.header.direct_block_context(reader.sizes());
        let block: FractalHeapDirectBlock = reader.structure(address, found.block_size, &context)?;
        let owner = (block.heap_header, block.block_offset);
        self.check_owner(reader, FractalHeapDirectBlock::NAME, address, owner, found.block_offset)?;
        let data = Bytes::from(block.data);
        let mut blocks = self.blocks();
        blocks.verified.insert(address.0);
        blocks.direct.insert(address.0, data.clone(), data.len());
        Ok(data)
    }

    fn check_owner(
        &self,
        reader: &Reader,
        name: &'static str,
        address: Address,
        (header, offset): (Address, u64),
        expected_offset: u64,
    ) -> Result<()> {
        if (header, offset) == (self.address, expected_offset) {
            return Ok(());
        }
        let e = Error::malformed(format!(
            "says it is block {offset:#x} of the heap at {header}, expected block {expected_offset:#x} of that at {}",
            self.address
        ));
        Err(e.at(name, reader.offset(name, address)?))
    }

    fn error(&self, reader: &Reader, e: Error) -> Error {
        match reader.offset(FractalHeapHeader::NAME, self.address) {
            Ok(offset) => e.at(FractalHeapHeader::NAME, offset),
            Err(_) => e,
        }
    }

    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const HUGE_OBJECT: &str = "huge object of a Fractal Heap";
/// A group of 100,000 links has about 4 MiB of direct blocks.
const DIRECT_BLOCK_BYTES: usize = 4 << 20;
const INDIRECT_BLOCK_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Sizes;
    use crate::format::infrastructure::fractal_heap::DoublingTable;
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
}
