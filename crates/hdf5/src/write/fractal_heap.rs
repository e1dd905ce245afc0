//! Fractal heaps, built from objects that are all known in advance.
//!
//! As in libhdf5, an object goes to the block with the smallest remaining space that can hold it, or else to a new
//! block. The remaining space of blocks, and the blocks that were skipped because they are too small, become sections
//! of the heap's free-space manager: otherwise libhdf5 would never use them.
//!
//! Spec: HDF5 III.G Fractal Heap

mod blocks;
mod free_space;
mod huge;

use super::Sink;
use crate::filter::Pipeline;
use crate::format::infrastructure::FractalHeapHeader;
use crate::format::infrastructure::fractal_heap::doubling_table::Geometry;
use crate::format::infrastructure::fractal_heap::{DoublingTable, FractalHeapFilters, HeapId};
use crate::format::infrastructure::free_space_manager::section_list::IndirectSection;
use crate::format::message::filter_pipeline::FilterPipeline;
use crate::format::{Address, Sizes, Structure};
use crate::space::SpaceKind;
use hyperslab_codec::{Scratch, encode};
use hyperslab_core::{Encoder, Error, Result};
use std::collections::BTreeSet;

/// The parameters that differ between heaps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FractalHeapParameters {
    /// The size of a block in the first row in bytes.
    starting_block_size: u64,
    /// The number of bits of an offset in the heap.
    max_heap_size: u16,
}

impl FractalHeapParameters {
    /// For the links of a group. Their IDs have 7 bytes.
    pub(crate) const LINKS: Self = FractalHeapParameters { starting_block_size: 512, max_heap_size: 32 };
    /// For the attributes of an object. Their IDs have 8 bytes.
    pub(crate) const ATTRIBUTES: Self =
        FractalHeapParameters { starting_block_size: 1024, max_heap_size: 40 };
    /// For shared messages. Their IDs have 8 bytes.
    pub(crate) const SHARED_MESSAGES: Self =
        FractalHeapParameters { starting_block_size: 1024, max_heap_size: 32 };
}

/// A heap that is being filled. Its IDs have `N` bytes.
pub(crate) struct FractalHeapBuilder<const N: usize> {
    sizes: Sizes,
    header: FractalHeapHeader,
    geometry: Geometry,
    pipeline: Option<Pipeline>,
    /// The number of bytes before the objects of a direct block.
    prefix_len: u64,
    /// In order of their offsets.
    blocks: Vec<Block>,
    /// The free bytes at the end of each block that has some, and its index.
    rests: BTreeSet<(u64, usize)>,
    /// Blocks that do not exist, because objects did not fit in them.
    skipped: Vec<Skipped>,
    ids: Vec<[u8; N]>,
    /// The huge objects, each with its index among the IDs.
    huge: Vec<(usize, Vec<u8>)>,
}

/// A direct block.
struct Block {
    offset: u64,
    size: u64,
    objects: Vec<u8>,
}

/// Consecutive blocks that do not exist, beginning at an offset in the heap.
struct Skipped {
    offset: u64,
    blocks: IndirectSection,
}

/// The place of a block in the table of an indirect block.
struct Place {
    /// The offset of the indirect block, and its rows.
    table: u64,
    rows: u32,
    row: u32,
    column: u64,
}

impl<const N: usize> FractalHeapBuilder<N> {
    /// An empty heap. If there are filters, objects must have the same bytes in both passes over a file, since the
    /// sizes of blocks depend on them.
    ///
    /// # Errors
    /// If there is no encoder for a filter.
    pub(crate) fn new(
        sizes: Sizes,
        parameters: FractalHeapParameters,
        filters: Option<&FilterPipeline>,
    ) -> Result<Self> {
        let mut encoded = Encoder::new();
        let pipeline = match filters.filter(|message| !message.filters.is_empty()) {
            Some(message) => {
                message.encode(&mut encoded, &sizes)?;
                Some(Pipeline::new(&message.filters, 1))
            }
            None => None,
        };
        let filters = pipeline.as_ref().map(|_| FractalHeapFilters {
            root_direct_block_size: 0,
            root_direct_block_mask: 0,
            pipeline: encoded.into_bytes(),
        });
        let table = DoublingTable {
            width: WIDTH,
            starting_block_size: parameters.starting_block_size,
            max_direct_block_size: max_direct_block_size(&sizes),
            max_heap_size: parameters.max_heap_size,
            starting_root_rows: 1,
            root_block: Address::UNDEFINED,
            current_root_rows: 0,
        };
        let header = FractalHeapHeader {
            heap_id_len: u16::try_from(N).map_err(|_| Error::invalid("heap IDs of 64 KiB"))?,
            flags: CHECKSUMMED_DIRECT_BLOCKS,
            max_managed_object_size: MAX_MANAGED_OBJECT_SIZE,
            next_huge_object_id: 0,
            huge_objects_btree: Address::UNDEFINED,
            managed_free_space: 0,
            free_space_manager: Address::UNDEFINED,
            managed_space: 0,
            allocated_managed_space: 0,
            direct_block_iterator: 0,
            managed_object_count: 0,
            huge_object_size: 0,
            huge_object_count: 0,
            tiny_object_size: 0,
            tiny_object_count: 0,
            table,
            filters,
        };
        Ok(FractalHeapBuilder {
            sizes,
            geometry: header.table.geometry()?,
            prefix_len: header.direct_block_context(&sizes).prefix_len(),
            header,
            pipeline,
            blocks: Vec::new(),
            rests: BTreeSet::new(),
            skipped: Vec::new(),
            ids: Vec::new(),
            huge: Vec::new(),
        })
    }

    /// Adds an object. Returns its ID, unless that depends on an address.
    ///
    /// # Errors
    /// If it is empty, or the heap is full.
    pub(crate) fn insert(&mut self, object: &[u8]) -> Result<Option<[u8; N]>> {
        let len = object.len() as u64;
        let id = if object.is_empty() {
            return Err(Error::invalid("a heap object of 0 bytes, expected 1 or more"));
        } else if len > MAX_MANAGED_OBJECT_SIZE.into() {
            self.huge.push((self.ids.len(), object.to_vec()));
            self.header.huge_object_count += 1;
            self.header.huge_object_size = self.header.huge_object_size.saturating_add(len);
            match self.header.heap_id_context(&self.sizes).huge_is_direct() {
                true => None,
                false => {
                    self.header.next_huge_object_id += 1;
                    Some(HeapId::HugeIndirect { key: self.header.next_huge_object_id })
                }
            }
        } else if object.len() < N {
            self.header.tiny_object_count += 1;
            self.header.tiny_object_size += len;
            Some(HeapId::Tiny(object.to_vec()))
        } else {
            self.header.managed_object_count += 1;
            Some(self.managed(object, len)?)
        };
        let id = id.map(|id| self.encoded(&id)).transpose()?;
        self.ids.push(id.unwrap_or([0; N]));
        Ok(id)
    }

    fn encoded(&self, id: &HeapId) -> Result<[u8; N]> {
        let mut e = Encoder::new();
        id.encode(&mut e, &self.header.heap_id_context(&self.sizes))?;
        e.as_slice().try_into().map_err(|_| Error::invalid(format!("a heap ID of {} bytes", e.len())))
    }

    fn managed(&mut self, object: &[u8], len: u64) -> Result<HeapId> {
        let rest = self.rests.range((len, 0)..).next().copied();
        let (free, index) = match rest {
            Some(rest) => {
                self.rests.remove(&rest);
                rest
            }
            None => (self.add_block(len)?, self.blocks.len() - 1),
        };
        let block = self.blocks.get_mut(index).ok_or_else(|| Error::invalid("a heap without blocks"))?;
        let offset = block.offset + block.size - free;
        block.objects.extend_from_slice(object);
        if free > len {
            self.rests.insert((free - len, index));
        }
        Ok(HeapId::Managed { offset, len })
    }

    /// Adds the next block in which `len` bytes fit. Returns the number of its free bytes.
    fn add_block(&mut self, len: u64) -> Result<u64> {
        let needed = (len + self.prefix_len).next_power_of_two();
        let mut offset = self.header.direct_block_iterator;
        let place = self.place(offset)?;
        let full =
            || Error::invalid(format!("an object of {len} bytes does not fit in the rest of its heap"));
        let mut size = self.geometry.block_size(place.row).ok_or_else(full)?;
        if size < needed {
            let row = (place.row..place.rows)
                .find(|row| self.geometry.block_size(*row).is_some_and(|size| size >= needed))
                .filter(|row| *row < self.geometry.max_direct_rows())
                .ok_or_else(full)?;
            let entry = |row: u32, column: u64| u64::from(row) * u64::from(WIDTH) + column;
            let blocks = IndirectSection {
                block_offset: place.table,
                start_row: narrow(place.row.into())?,
                start_column: narrow(place.column)?,
                block_count: narrow(entry(row, 0) - entry(place.row, place.column))?,
            };
            self.skipped.push(Skipped { offset, blocks });
            size = needed;
            // A row begins where all rows before it end; together they have its size.
            offset = place.table + size * u64::from(WIDTH);
        }
        if self.geometry.position(offset).row >= self.geometry.max_root_rows() {
            return Err(full());
        }
        self.header.direct_block_iterator = offset + size;
        self.header.allocated_managed_space += size;
        self.blocks.push(Block { offset, size, objects: Vec::new() });
        Ok(size - self.prefix_len)
    }

    /// The place of the block that begins at an offset.
    fn place(&self, offset: u64) -> Result<Place> {
        let (mut table, mut rows) = (0, self.geometry.max_root_rows());
        loop {
            let position = self.geometry.position(offset - table);
            if position.row < self.geometry.max_direct_rows() {
                let column = position.entry as u64 % u64::from(WIDTH);
                return Ok(Place { table, rows, row: position.row, column });
            }
            table = offset - position.offset;
            rows = self.rows_of(position.block_size)?;
        }
    }

    fn rows_of(&self, size: u64) -> Result<u32> {
        self.geometry
            .rows_of(size)
            .ok_or_else(|| Error::invalid(format!("an indirect block of {size} bytes")))
    }

    /// Allocates and writes the heap. Returns its address and the IDs of the objects, in order.
    ///
    /// # Errors
    /// If addresses of the file are too narrow, or a filter fails.
    pub(crate) fn write(mut self, sink: &mut dyn Sink) -> Result<(Address, Vec<[u8; N]>)> {
        let len = self.header.len(&self.sizes);
        let address = sink.allocate(SpaceKind::Metadata, len)?;
        self.write_blocks(sink, address)?;
        self.write_free_space(sink)?;
        self.write_huge_objects(sink)?;
        let mut e = Encoder::new();
        self.header.encode(&mut e, &self.sizes)?;
        sink.write(address, e.as_slice())?;
        Ok((address, self.ids))
    }

    /// The stored bytes, and their filter mask if the heap has filters.
    fn filter(&self, bytes: Vec<u8>) -> Result<(Vec<u8>, Option<u32>)> {
        match &self.pipeline {
            None => Ok((bytes, None)),
            Some(pipeline) => {
                let codecs = pipeline.codecs(0)?;
                Ok((encode(&codecs, &bytes, &mut Scratch::new())?, Some(0)))
            }
        }
    }
}

/// As in libhdf5, whose size does not fit in lengths of 2 bytes.
fn max_direct_block_size(sizes: &Sizes) -> u64 {
    if sizes.lengths > 2 { 64 << 10 } else { 32 << 10 }
}

fn narrow(value: u64) -> Result<u16> {
    u16::try_from(value).map_err(|_| Error::invalid(format!("{value} does not fit in 2 bytes")))
}

// The parameters of all heaps that libhdf5 writes.
const WIDTH: u16 = 4;
const MAX_MANAGED_OBJECT_SIZE: u32 = 4096;
const CHECKSUMMED_DIRECT_BLOCKS: u8 = 2;

#[cfg(test)]
mod tests;
