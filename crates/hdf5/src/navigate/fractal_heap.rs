//! Objects in fractal heaps.
//!
//! Spec: HDF5 III.G Fractal Heap

mod huge;
mod recent;

use crate::filter::Pipeline;
use crate::format::infrastructure::fractal_heap::doubling_table::Geometry;
use crate::format::infrastructure::fractal_heap::indirect_block::{DirectBlockEntry, FilteredBlock};
use crate::format::infrastructure::fractal_heap::{
    FractalHeapDirectBlock, FractalHeapHeader, FractalHeapIndirectBlock, HeapId,
};
use crate::format::message::filter_pipeline::FilterPipeline;
use crate::format::{Address, Structure, decode_prefix};
use crate::navigate::Reader;
use bytes::Bytes;
use huge::Huge;
use hyperslab_codec::Scratch;
use hyperslab_core::{Decoder, Error, Result};
use recent::Recent;
use rustc_hash::FxHashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A fractal heap. Returns the bytes of an object for its heap ID.
///
/// Links and attributes are read in the order of the hashes of their names, which is random within the heap. A limited
/// number of blocks is kept, and the checksum of a block that was dropped is not verified again.
pub struct FractalHeap {
    address: Address,
    header: FractalHeapHeader,
    geometry: Geometry,
    pipeline: Option<Pipeline>,
    blocks: Mutex<Blocks>,
}

struct Blocks {
    indirect: Recent<Arc<FractalHeapIndirectBlock>>,
    direct: Recent<Bytes>,
    verified: FxHashSet<u64>,
}

/// The place of a managed object.
struct Found {
    block: DirectBlockEntry,
    block_size: u64,
    block_offset: u64,
    /// The offset in the block, including its prefix.
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
        let pipeline = match &header.filters {
            Some(filters) => {
                let message: FilterPipeline = decode_prefix(offset, &filters.pipeline, sizes)?;
                Some(Pipeline::new(&message.filters, 1))
            }
            None => None,
        };
        let blocks = Blocks {
            indirect: Recent::new(INDIRECT_BLOCK_BYTES),
            direct: Recent::new(DIRECT_BLOCK_BYTES),
            verified: FxHashSet::default(),
        };
        Ok(FractalHeap { address, header, geometry, pipeline, blocks: Mutex::new(blocks) })
    }

    /// The address of the heap.
    pub fn address(&self) -> Address {
        self.address
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
            HeapId::HugeDirect { address, len } => self.huge(reader, Huge { address, len, filtered: None }),
            HeapId::HugeFiltered { address, len, filter_mask, memory_size } => {
                self.huge(reader, Huge { address, len, filtered: Some((filter_mask, memory_size)) })
            }
            HeapId::HugeIndirect { key } => {
                let huge = self.find_huge(reader, key)?;
                self.huge(reader, huge)
            }
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
                    "object of {len} bytes at offset {offset:#x} exceeds its block of {} bytes",
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

    /// The direct block that contains `offset` of the address space of the heap.
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
        // The blocks of a table are smaller than the range of the table, so this ends after at most 64 iterations.
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
        // Memory for the stored block, a copy with a cleared checksum field, and the data.
        let _scratch = reader.budget().charge(found.block_size.saturating_mul(3))?;
        let context = self.header.direct_block_context(reader.sizes());
        let block: FractalHeapDirectBlock = match found.block.filtered {
            None => reader.structure(address, found.block_size, &context)?,
            Some(FilteredBlock { size, filter_mask }) => {
                const NAME: &str = FractalHeapDirectBlock::NAME;
                let stored = reader.bytes(NAME, address, size)?;
                let decoded = self.unfilter(reader, NAME, address, &stored, filter_mask, found.block_size)?;
                let offset = reader.offset(NAME, address)?;
                let mut d = Decoder::decoded(NAME, "filtered direct block", offset, &decoded);
                FractalHeapDirectBlock::decode(&mut d, &context)?
            }
        };
        let owner = (block.heap_header, block.block_offset);
        self.check_owner(reader, FractalHeapDirectBlock::NAME, address, owner, found.block_offset)?;
        let data = Bytes::from(block.data);
        let mut blocks = self.blocks();
        blocks.verified.insert(address.0);
        blocks.direct.insert(address.0, data.clone(), data.len());
        Ok(data)
    }

    /// Removes the filters from `stored`, which is at `address`. Filters in `mask` were skipped.
    fn unfilter(
        &self,
        reader: &Reader,
        name: &'static str,
        address: Address,
        stored: &[u8],
        mask: u32,
        len: u64,
    ) -> Result<Vec<u8>> {
        let pipeline = self
            .pipeline
            .as_ref()
            .ok_or_else(|| Error::malformed("is filtered, but its heap has no filters"));
        let mut out = Vec::new();
        pipeline
            .and_then(|pipeline| {
                let len = usize::try_from(len).unwrap_or(usize::MAX);
                pipeline.decode(mask, stored, &mut out, len, &mut Scratch::new())
            })
            .map_err(|e| match reader.offset(name, address) {
                Ok(offset) => e.at(name, offset),
                Err(_) => e,
            })?;
        Ok(out)
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
            "block offset {offset:#x} and heap header {header}, expected {expected_offset:#x} and {}",
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

/// A group of 100,000 links has about 4 MiB of direct blocks.
const DIRECT_BLOCK_BYTES: usize = 4 << 20;
const INDIRECT_BLOCK_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests;
