//! Checks fractal heaps: blocks, objects of each kind, and the totals in the header.

mod accounting;
mod huge;

use super::Checker;
use super::reading::{AtOffset, Pointer, pointer};
use super::rule;
use crate::filter::Pipeline;
use crate::format::infrastructure::fractal_heap::doubling_table::Geometry;
use crate::format::infrastructure::fractal_heap::indirect_block::{DirectBlockEntry, FilteredBlock};
use crate::format::infrastructure::fractal_heap::{
    FractalHeapDirectBlock, FractalHeapHeader, FractalHeapIndirectBlock, HeapId,
};
use crate::format::message::filter_pipeline::FilterPipeline;
use crate::format::{Address, Structure, checksum, decode_prefix};
use bytes::Bytes;
use huge::Huge;
use hyperslab_codec::Scratch;
use hyperslab_core::{Decoder, Result};
use std::collections::VecDeque;
use std::rc::Rc;

/// A heap whose blocks were visited.
pub(super) struct Heap {
    address: Address,
    byte: u64,
    header: FractalHeapHeader,
    geometry: Geometry,
    pipeline: Option<Pipeline>,
    /// Direct blocks by their offset in the heap.
    blocks: Vec<Block>,
    huge: Vec<Huge>,
    /// Offset and length of the managed objects that were read.
    managed: Vec<(u64, u64)>,
    huge_used: (u64, u64),
    tiny: (u64, u64),
    /// Whether all blocks and objects could be read.
    is_whole: bool,
    /// The filtered blocks decoded most recently, by address. The order of names is not the order of blocks.
    decoded: VecDeque<(u64, Rc<Vec<u8>>)>,
}

/// A direct block.
#[derive(Clone, Copy, Debug)]
struct Block {
    offset: u64,
    size: u64,
    entry: DirectBlockEntry,
}

/// An object in a heap.
pub(super) struct HeapObject {
    pub(super) bytes: Bytes,
    /// Its file offset. If its block is filtered, that of the block.
    pub(super) byte: u64,
    /// Whether it is stored without filters.
    pub(super) is_plain: bool,
}

impl HeapObject {
    /// A decoder of the object.
    pub(super) fn decoder(&self, structure: &'static str) -> Decoder<'_> {
        match self.is_plain {
            true => Decoder::new(structure, self.byte, &self.bytes),
            false => Decoder::decoded(structure, "fractal heap object", self.byte, &self.bytes),
        }
    }
}

impl<'a> Checker<'a> {
    /// Reads the heap at `address` and checks its blocks.
    pub(super) fn open_heap(&mut self, address: Address, from: Pointer) -> Result<Option<Heap>> {
        const NAME: &str = FractalHeapHeader::NAME;
        let sizes = self.sizes();
        let Some((byte, prefix)) = self.bytes(NAME, address, FractalHeapHeader::PREFIX_LEN, from)? else {
            return Ok(None);
        };
        let len = match FractalHeapHeader::len_of(Decoder::new(NAME, byte, &prefix), &sizes) {
            Ok(len) => len,
            Err(error) => return self.error(error).map(|()| None),
        };
        let Some(AtOffset { value: header, .. }) =
            self.structure::<FractalHeapHeader>(address, len, &sizes, from)?
        else {
            return Ok(None);
        };
        if header.flags & !KNOWN_FLAGS != 0 {
            self.report(&rule::RESERVED, NAME, byte + 9, format!("flags {:#04x}", header.flags));
        }
        let geometry = match header.table.geometry() {
            Ok(geometry) => geometry,
            Err(error) => {
                return self.error_as(error, &rule::MALFORMED, Some(pointer(NAME, byte))).map(|()| None);
            }
        };
        let prefix_len = header.direct_block_context(&sizes).prefix_len();
        if header.table.starting_block_size <= prefix_len {
            let size = header.table.starting_block_size;
            let message = format!("blocks of {size} bytes, of which {prefix_len} are their prefix");
            self.report(&rule::MALFORMED, NAME, byte, message);
            return Ok(None);
        }
        let mut pipeline = None;
        if let Some(filters) = &header.filters {
            let at = byte + len - 4 - filters.pipeline.len() as u64;
            match decode_prefix::<FilterPipeline>(at, &filters.pipeline, &sizes) {
                Ok(message) => pipeline = Some(Pipeline::new(&message.filters, 1)),
                Err(error) => self.error(error)?,
            }
        }
        let mut heap = Heap {
            address,
            byte,
            geometry,
            pipeline,
            blocks: Vec::new(),
            huge: Vec::new(),
            managed: Vec::new(),
            huge_used: (0, 0),
            tiny: (0, 0),
            is_whole: true,
            decoded: VecDeque::new(),
            header,
        };
        self.heap_blocks(&mut heap)?;
        self.huge_objects(&mut heap)?;
        Ok(Some(heap))
    }

    fn heap_blocks(&mut self, heap: &mut Heap) -> Result<()> {
        let table = &heap.header.table;
        if table.root_block.is_undefined() {
            return Ok(());
        }
        let root_at = heap.field(Field::RootBlock, self.sizes());
        let from = pointer(FractalHeapHeader::NAME, root_at);
        if table.current_root_rows == 0 {
            let filtered = heap.header.filters.as_ref().map(|filters| FilteredBlock {
                size: filters.root_direct_block_size,
                filter_mask: filters.root_direct_block_mask,
            });
            let entry = DirectBlockEntry { address: table.root_block, filtered };
            let block = Block { offset: 0, size: table.starting_block_size, entry };
            return self.direct_block(heap, block, from);
        }
        let rows = u32::from(table.current_root_rows);
        let mut stack = vec![(table.root_block, rows, 0_u64, from)];
        while let Some((address, rows, offset, from)) = stack.pop() {
            self.indirect_block(heap, address, rows, offset, from, &mut stack)?;
        }
        heap.blocks.sort_unstable_by_key(|block| block.offset);
        Ok(())
    }

    fn indirect_block(
        &mut self,
        heap: &mut Heap,
        address: Address,
        rows: u32,
        offset: u64,
        from: Pointer,
        stack: &mut Vec<(Address, u32, u64, Pointer)>,
    ) -> Result<()> {
        const NAME: &str = FractalHeapIndirectBlock::NAME;
        let context = match heap.header.indirect_block_context(&self.sizes(), rows) {
            Ok(context) => context,
            Err(error) => return self.error_as(error, &rule::MALFORMED, Some(from)),
        };
        let len = context.block_len();
        let Some(AtOffset { value: block, byte }) =
            self.structure::<FractalHeapIndirectBlock>(address, len, &context, from)?
        else {
            heap.is_whole = false;
            return Ok(());
        };
        self.heap_owner(heap, NAME, byte, (block.heap_header, block.block_offset), offset);
        let offsets = u64::from(context.sizes.offsets);
        let first = byte + 5 + offsets + u64::from(context.heap_offset_width);
        let filtered = if context.filtered { u64::from(context.sizes.lengths) + 4 } else { 0 };
        let width = u64::from(heap.header.table.width);
        let place = |entry: u64, geometry: &Geometry| {
            let (row, column) = (u32::try_from(entry / width).unwrap_or(u32::MAX), entry % width);
            let size = geometry.block_size(row)?;
            let row_start = if row == 0 { 0 } else { size.checked_mul(width)? };
            Some((size, offset.checked_add(row_start)?.checked_add(column.checked_mul(size)?)?))
        };
        for (entry, block) in (0_u64..).zip(&block.direct_blocks) {
            if block.address.is_undefined() {
                continue;
            }
            let from = pointer(NAME, first + entry * (offsets + filtered));
            let Some((size, offset)) = place(entry, &heap.geometry) else {
                self.report(&rule::MALFORMED, NAME, from.byte, "a block past the heap's address space");
                continue;
            };
            self.direct_block(heap, Block { offset, size, entry: *block }, from)?;
        }
        let direct = block.direct_blocks.len() as u64;
        for (entry, address) in (0_u64..).zip(&block.indirect_blocks) {
            if address.is_undefined() {
                continue;
            }
            let from = pointer(NAME, first + direct * (offsets + filtered) + entry * offsets);
            let place = place(direct + entry, &heap.geometry);
            match place.and_then(|(size, offset)| Some((heap.geometry.rows_of(size)?, offset))) {
                Some((rows, offset)) => stack.push((*address, rows, offset, from)),
                None => {
                    self.report(&rule::MALFORMED, NAME, from.byte, "a block past the heap's address space")
                }
            }
        }
        Ok(())
    }

    fn direct_block(&mut self, heap: &mut Heap, block: Block, from: Pointer) -> Result<()> {
        const NAME: &str = FractalHeapDirectBlock::NAME;
        let stored = block.entry.filtered.map_or(block.size, |filtered| filtered.size);
        let Some((byte, bytes)) = self.owned_bytes(NAME, block.entry.address, stored, from)? else {
            heap.is_whole = false;
            return Ok(());
        };
        heap.blocks.push(block);
        if heap.header.filters.is_none() {
            return self.direct_block_prefix(heap, &block, byte, &bytes, false);
        }
        match self.unfiltered(heap, &block, byte, &bytes)? {
            Some(decoded) => self.direct_block_prefix(heap, &block, byte, &decoded, true),
            None => Ok(()),
        }
    }

    /// Checks the prefix of a block.
    fn direct_block_prefix(
        &mut self,
        heap: &mut Heap,
        block: &Block,
        byte: u64,
        bytes: &[u8],
        decoded: bool,
    ) -> Result<()> {
        const NAME: &str = FractalHeapDirectBlock::NAME;
        let context = heap.header.direct_block_context(&self.sizes());
        let place = |at: usize| if decoded { byte } else { byte + at as u64 };
        let mut d = Decoder::new(NAME, byte, bytes);
        let prefix = (|| {
            d.signature(b"FHDB")?;
            let version = d.u8()?;
            let header = context.sizes.address(&mut d)?;
            let offset = d.uint(context.heap_offset_width)?;
            let at = bytes.len() - d.remaining();
            let sum = if context.checksummed { Some((at, d.u32()?)) } else { None };
            Ok((version, header, offset, sum))
        })();
        let (version, header, offset, sum) = match prefix {
            Ok(prefix) => prefix,
            Err(error) => return self.error_as(error, &rule::MALFORMED, Some(pointer(NAME, byte))),
        };
        if version != 0 {
            let message = format!("version {version}, expected 0");
            self.report(&rule::UNKNOWN_VERSION, NAME, place(4), message);
        }
        if let Some((at, stored)) = sum {
            let mut cleared = bytes.to_vec();
            if let Some(field) = cleared.get_mut(at..at + 4) {
                field.fill(0);
            }
            let computed = checksum::lookup3(&cleared);
            if stored != computed {
                let message = format!("checksum mismatch: stored {stored:#010x}, computed {computed:#010x}");
                self.report_bytes(&rule::CHECKSUM, NAME, place(at), Some(4), message);
            }
        }
        self.heap_owner(heap, NAME, byte, (header, offset), block.offset);
        Ok(())
    }

    /// Compares the prefix of a block with the pointer to it.
    fn heap_owner(
        &mut self,
        heap: &Heap,
        structure: &'static str,
        byte: u64,
        (header, offset): (Address, u64),
        expected: u64,
    ) {
        if header != heap.address {
            let message = format!("belongs to a heap at {header}, expected {}", heap.address);
            self.report(&rule::OWNER, structure, byte + 5, message);
        }
        if offset != expected {
            let at = byte + 5 + u64::from(self.sizes().offsets);
            let message = format!("says it is at {offset:#x} in the heap, expected {expected:#x}");
            self.report(&rule::OWNER, structure, at, message);
        }
    }

    /// A filtered block, decoded.
    fn unfiltered(
        &mut self,
        heap: &mut Heap,
        block: &Block,
        byte: u64,
        stored: &[u8],
    ) -> Result<Option<Rc<Vec<u8>>>> {
        const NAME: &str = FractalHeapDirectBlock::NAME;
        let mask = block.entry.filtered.map_or(0, |filtered| filtered.filter_mask);
        let decoded = self.unfilter(heap, NAME, byte, stored, mask, block.size)?.map(Rc::new);
        if let Some(decoded) = &decoded {
            heap.decoded.push_back((block.entry.address.0, Rc::clone(decoded)));
            while heap.decoded.iter().map(|(_, block)| block.len()).sum::<usize>() > DECODED_BYTES
                && heap.decoded.len() > 1
            {
                heap.decoded.pop_front();
            }
        }
        Ok(decoded)
    }

    fn unfilter(
        &mut self,
        heap: &mut Heap,
        structure: &'static str,
        byte: u64,
        stored: &[u8],
        mask: u32,
        len: u64,
    ) -> Result<Option<Vec<u8>>> {
        let Some(pipeline) = &heap.pipeline else {
            heap.is_whole = false;
            return Ok(None);
        };
        let cost = (stored.len() as u64).saturating_add(len / FREE_EXPANSION);
        if !self.spend_raw(cost, structure, byte) {
            heap.is_whole = false;
            return Ok(None);
        }
        let mut out = Vec::new();
        let limit = usize::try_from(len).unwrap_or(usize::MAX);
        let result = self
            .reader
            .budget()
            .charge(len)
            .and_then(|_charge| pipeline.decode(mask, stored, &mut out, limit, &mut Scratch::new()));
        match result {
            Ok(()) => Ok(Some(out)),
            Err(error) => {
                heap.is_whole = false;
                self.error_as(error, &rule::CHUNK_DATA, Some(pointer(structure, byte))).map(|()| None)
            }
        }
    }

    /// The object whose heap ID is stored at `from`. `count` records that it is in use.
    pub(super) fn heap_object(
        &mut self,
        heap: &mut Heap,
        id: &[u8],
        from: Pointer,
        count: bool,
    ) -> Result<Option<HeapObject>> {
        let id = match decode_prefix(from.byte, id, &heap.header.heap_id_context(&self.sizes())) {
            Ok(id) => id,
            Err(error) => {
                heap.is_whole = false;
                return self.error_as(error, &rule::HEAP_OBJECT, Some(from)).map(|()| None);
            }
        };
        let object = match id {
            HeapId::Managed { offset, len } => self.managed_object(heap, offset, len, from, count),
            HeapId::Tiny(bytes) => {
                if count {
                    heap.tiny.0 += 1;
                    heap.tiny.1 += bytes.len() as u64;
                }
                Ok(Some(HeapObject { bytes: bytes.into(), byte: from.byte + 1, is_plain: true }))
            }
            id => self.huge_object(heap, &id, from, count),
        }?;
        heap.is_whole &= object.is_some();
        Ok(object)
    }

    fn managed_object(
        &mut self,
        heap: &mut Heap,
        offset: u64,
        len: u64,
        from: Pointer,
        count: bool,
    ) -> Result<Option<HeapObject>> {
        const NAME: &str = FractalHeapDirectBlock::NAME;
        let prefix = heap.header.direct_block_context(&self.sizes()).prefix_len();
        let Some(block) = heap.block(offset) else {
            let message = format!("a heap ID with offset {offset:#x}, where the heap has no block");
            self.report(&rule::HEAP_OBJECT, from.structure, from.byte, message);
            return Ok(None);
        };
        let within = offset - block.offset;
        if len == 0 || within < prefix || len > block.size - within {
            let message = format!(
                "a heap ID of {len} bytes at {offset:#x}, which do not fit in the block of {} bytes at {:#x}",
                block.size, block.offset
            );
            self.report(&rule::HEAP_OBJECT, from.structure, from.byte, message);
            return Ok(None);
        }
        if count {
            heap.managed.push((offset, len));
        }
        let address = block.entry.address;
        if heap.header.filters.is_none() {
            let at = Address(address.0.saturating_add(within));
            let found = self.bytes(NAME, at, len, from)?;
            return Ok(found.map(|(byte, bytes)| HeapObject { bytes, byte, is_plain: true }));
        }
        let stored = block.entry.filtered.map_or(block.size, |filtered| filtered.size);
        let Some(byte) = self.locate(NAME, address, stored, from) else { return Ok(None) };
        let kept =
            heap.decoded.iter().find(|(kept, _)| *kept == address.0).map(|(_, decoded)| Rc::clone(decoded));
        let decoded = match kept {
            Some(decoded) => decoded,
            None => {
                let Some((_, stored)) = self.bytes(NAME, address, stored, from)? else { return Ok(None) };
                let Some(decoded) = self.unfiltered(heap, &block, byte, &stored)? else { return Ok(None) };
                decoded
            }
        };
        let start = usize::try_from(within).unwrap_or(usize::MAX);
        let end = start.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
        let bytes = decoded.get(start..end).map(Bytes::copy_from_slice);
        Ok(bytes.map(|bytes| HeapObject { bytes, byte, is_plain: false }))
    }
}

impl Heap {
    /// The direct block that contains an offset.
    fn block(&self, offset: u64) -> Option<Block> {
        let at = self.blocks.partition_point(|block| block.offset <= offset);
        let block = self.blocks.get(at.checked_sub(1)?)?;
        (offset - block.offset < block.size).then_some(*block)
    }

    /// The file offset of a field of the header.
    fn field(&self, field: Field, sizes: crate::format::Sizes) -> u64 {
        let (offsets, lengths) = (u64::from(sizes.offsets), u64::from(sizes.lengths));
        // There are 14 bytes before the first length.
        let (before_lengths, before_offsets, before) = match field {
            Field::NextHugeId => (0, 0, 0),
            Field::HugeBtree => (1, 0, 0),
            Field::ManagedFree => (1, 1, 0),
            Field::FreeSpaceManager => (2, 1, 0),
            Field::ManagedSpace => (2, 2, 0),
            Field::AllocatedSpace => (3, 2, 0),
            Field::Iterator => (4, 2, 0),
            Field::ManagedCount => (5, 2, 0),
            Field::HugeSize => (6, 2, 0),
            Field::HugeCount => (7, 2, 0),
            Field::TinySize => (8, 2, 0),
            Field::TinyCount => (9, 2, 0),
            Field::RootBlock => (12, 2, 6),
        };
        self.byte + 14 + before_lengths * lengths + before_offsets * offsets + before
    }
}

/// Fields of the header that findings refer to.
#[derive(Clone, Copy, Debug)]
enum Field {
    NextHugeId,
    HugeBtree,
    ManagedFree,
    FreeSpaceManager,
    ManagedSpace,
    AllocatedSpace,
    Iterator,
    ManagedCount,
    HugeSize,
    HugeCount,
    TinySize,
    TinyCount,
    RootBlock,
}

const KNOWN_FLAGS: u8 = 0b11;

/// Blocks can be decoded repeatedly. One that is more than this many times as large as its stored size is charged more.
const FREE_EXPANSION: u64 = 256;

/// Bytes of decoded blocks that are kept.
const DECODED_BYTES: usize = 8 << 20;
