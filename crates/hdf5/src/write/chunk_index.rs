//! Chunk indexes, built when all chunks of a dataset are stored.
//!
//! Spec: HDF5 VII Appendix C and, for the version 1 B-tree, III.A.1

mod btree_v1;
mod btree_v2;
mod choose;
mod extensible_array;
mod fixed_array;
mod records;

pub use choose::{ChunkedStorage, IndexChoice};

use crate::format::chunk_index::Element;
use crate::format::message::data_layout::{ChunkIndex, DataLayout, FilteredChunk};
use crate::format::{Address, Sizes};
use crate::navigate::chunk_index::grid::{Grid, Order};
use crate::navigate::chunk_index::{self as navigate, ChunkEntry, ChunkIndexKind};
use crate::space::SpaceKind;
use crate::write::Sink;
use hyperslab_core::{Error, Result};
use records::Records;

/// The index of a dataset whose chunks are being stored, in any order.
///
/// Memory grows with the stored chunks: 24 bytes for each.
#[derive(Debug)]
pub struct ChunkIndexBuilder {
    choice: IndexChoice,
    /// The number of chunks along each dimension.
    counts: Vec<u64>,
    /// The numbers of chunks in the index.
    order: Order,
    records: Records,
    size_width: Option<u8>,
    /// The address of all chunks, if they are one block.
    block: Option<Address>,
}

impl ChunkIndexBuilder {
    /// The index of a dataset without chunks, in a file with these sizes.
    ///
    /// # Errors
    /// If the dimensions are not those of `choice`.
    pub fn new(storage: &ChunkedStorage, choice: IndexChoice, sizes: &Sizes) -> Result<Self> {
        let grid = Grid::new(&navigate::ChunkIndex {
            // The grid depends on the dimensions only.
            kind: ChunkIndexKind::BtreeV1,
            address: Address::UNDEFINED,
            dims: storage.dims.clone(),
            max_dims: storage.max_dims.clone(),
            chunk_dims: storage.chunk_dims.clone(),
            chunk_bytes: choice.chunk_bytes(),
            filtered: storage.filtered,
        })?;
        let order = match choice.index() {
            ChunkIndex::BtreeV1 | ChunkIndex::BtreeV2 { .. } => grid.row_major(),
            ChunkIndex::SingleChunk { .. } | ChunkIndex::Implicit | ChunkIndex::FixedArray { .. } => {
                grid.fixed()?
            }
            ChunkIndex::ExtensibleArray(_) => grid.extensible()?,
        };
        let size_width = choice.size_width(sizes);
        let counts = grid.current().to_vec();
        Ok(ChunkIndexBuilder { choice, counts, order, records: Records::default(), size_width, block: None })
    }

    /// Allocates all chunks that the maximum dimensions allow as one block, if the index is implicit. Such an index
    /// does not record which chunks were written, so all of them must be.
    ///
    /// # Errors
    /// If they do not fit in the file.
    pub fn allocate_block(&mut self, sink: &mut dyn Sink) -> Result<()> {
        if let ChunkIndex::Implicit = self.choice.index() {
            let len = self.order.count().and_then(|count| count.checked_mul(self.choice.chunk_bytes()));
            let len = len.ok_or_else(|| Error::invalid("a block of all chunks has 2^64 bytes or more"))?;
            self.block = Some(sink.allocate(SpaceKind::Raw, len)?);
        }
        Ok(())
    }

    /// The place of a chunk in the block; `None` if chunks are allocated one by one.
    pub fn place_in_block(&self, scaled: &[u64]) -> Option<Address> {
        let distance = self.order.number(scaled)?.checked_mul(self.choice.chunk_bytes())?;
        self.block?.0.checked_add(distance).map(Address)
    }

    /// Whether all chunks are one block.
    pub fn is_block(&self) -> bool {
        self.block.is_some()
    }

    /// Adds the chunk at a position: its offset divided by the chunk dimensions.
    ///
    /// # Errors
    /// If there is no such chunk, or the index cannot store its size.
    pub fn push(&mut self, scaled: &[u64], entry: ChunkEntry) -> Result<()> {
        let is_inside = scaled.len() == self.counts.len()
            && scaled.iter().zip(&self.counts).all(|(scaled, count)| scaled < count);
        let number = self.order.number(scaled).filter(|_| is_inside).ok_or_else(|| {
            Error::invalid(format!("chunk {scaled:?} in an index of {:?} chunks", self.counts))
        })?;
        if let ChunkIndex::ExtensibleArray(parameters) = self.choice.index()
            && number.checked_shr(parameters.maximum_bits.into()).unwrap_or(0) != 0
        {
            return Err(Error::invalid(format!(
                "chunk {scaled:?} has number {number}, an extensible array ends at 2^{}: use larger chunks",
                parameters.maximum_bits
            )));
        }
        let ChunkEntry { address, size, filter_mask } = entry;
        match self.size_width {
            None if size != self.choice.chunk_bytes() || filter_mask != 0 => {
                return Err(Error::invalid(format!(
                    "chunk {scaled:?} of {size} bytes without filters, expected {}",
                    self.choice.chunk_bytes()
                )));
            }
            Some(width @ ..8) if size >> (8 * u32::from(width)) != 0 => {
                return Err(Error::invalid(format!(
                    "chunk {scaled:?} has {size} bytes after filters, its index stores sizes of {width} bytes"
                )));
            }
            _ => {}
        }
        match self.block {
            Some(_) if self.place_in_block(scaled) == Some(address) => {}
            Some(_) => {
                return Err(Error::invalid(format!("chunk {scaled:?} at {address}, outside its block")));
            }
            None => self.records.push(number, Element { address, size, filter_mask }),
        }
        Ok(())
    }

    /// The number of chunks so far, without those of a block.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether no chunk was added, apart from those of a block.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Allocates and writes the index. Returns the Data Layout message. `btree_k` is half the maximum number of
    /// children of the nodes of a version 1 B-tree: the Indexed Storage Internal Node K of the superblock.
    ///
    /// # Errors
    /// If a chunk was added twice; if the index cannot be written.
    pub fn finish(mut self, sink: &mut dyn Sink, btree_k: u16) -> Result<DataLayout> {
        self.records.sort()?;
        let Some((_, first)) = self.records.get(0) else {
            let layout = self.choice.empty_layout();
            return Ok(match self.block {
                Some(block) => self.choice.layout(block, None),
                None => layout,
            });
        };
        let sizes = sink.sizes();
        let client = self.choice.client(&sizes);
        let mut elements = self.records.iter();
        let mut single = None;
        let address = match self.choice.index() {
            ChunkIndex::BtreeV1 => {
                let chunked = self.choice.chunked();
                let (records, order) = (&self.records, &self.order);
                let (chunk_dims, element_size) = (chunked.dimensions.as_slice(), chunked.element_size);
                btree_v1::Tree { sink, records, order, chunk_dims, element_size, k: btree_k }.write()?
            }
            ChunkIndex::SingleChunk { filtered } => {
                let Element { size, filter_mask, .. } = first;
                single = filtered.map(|_| FilteredChunk { size, filter_mask });
                first.address
            }
            ChunkIndex::Implicit => {
                return Err(Error::invalid("chunks of an implicit index, expected a block of them"));
            }
            ChunkIndex::FixedArray { page_bits } => {
                let count = self.order.count();
                let count = count.ok_or_else(|| Error::invalid("a fixed array of 2^64 chunks or more"))?;
                fixed_array::write(sink, client, *page_bits, count, &mut elements)?
            }
            ChunkIndex::ExtensibleArray(parameters) => {
                extensible_array::write(sink, client, parameters, &mut elements)?
            }
            ChunkIndex::BtreeV2 { node_size, split_percent, merge_percent } => {
                let tree = btree_v2::Tree { client, order: &self.order, records: &self.records };
                tree.write(sink, *node_size, *split_percent, *merge_percent)?
            }
        };
        Ok(self.choice.layout(address, single))
    }
}

#[cfg(test)]
mod tests;
