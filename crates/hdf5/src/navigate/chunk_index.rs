//! Chunk indexes: which chunks of a dataset exist, and where.
//!
//! Spec: HDF5 VII.A The Single Chunk Index, VII.B The Implicit Index, VII.E The Version 2 B-tree Index and, for
//! the version 1 B-tree, III.A.1

mod arrays;
mod btrees;
pub(crate) mod grid;
mod recent;
mod table;

pub(crate) use recent::RecentTables;
pub use table::{ChunkEntry, ChunkRecord, ChunkTable};

use crate::format::Address;
use crate::navigate::Reader;
use grid::Grid;
use hyperslab_core::{Error, Result};
use table::Collector;

/// How to find the chunks of a dataset, from its data layout, dataspace and filter pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkIndex {
    /// The type of index.
    pub kind: ChunkIndexKind,
    /// The address of the index, or of the chunks if the index needs no structures. Undefined if nothing was written.
    pub address: Address,
    /// The current dimensions.
    pub dims: Vec<u64>,
    /// The maximum dimensions. `u64::MAX` for unlimited ones.
    pub max_dims: Vec<u64>,
    /// The dimensions of a chunk, without the last one of the layout message, which is the element size.
    pub chunk_dims: Vec<u64>,
    /// The size of a chunk before filters, in bytes.
    pub chunk_bytes: u64,
    /// Whether there are filters.
    pub filtered: bool,
}

/// The types of chunk indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkIndexKind {
    /// Data layouts 1 to 3: a version 1 B-tree.
    BtreeV1,
    /// Type 1: a single chunk.
    SingleChunk {
        /// The stored size and the filter mask, if there are filters.
        filtered: Option<(u64, u32)>,
    },
    /// Type 2, implicit: all chunks follow each other.
    Implicit,
    /// Type 3, fixed array: an entry for each chunk that the maximum dimensions allow.
    FixedArray,
    /// Type 4, extensible array: it grows along the only unlimited dimension.
    ExtensibleArray,
    /// Type 5: a version 2 B-tree.
    BtreeV2,
}

/// Reads the whole index of a dataset.
///
/// Chunks outside the current dimensions, which remain when a dataset shrinks, are left out, as are chunks without an
/// address. The table is charged to the budget of the reader as long as it exists.
///
/// # Errors
/// If the index is invalid or contradicts the dimensions, or the table exceeds the budget.
pub fn load(reader: &Reader, index: &ChunkIndex) -> Result<ChunkTable> {
    if index.address.is_undefined() {
        return Ok(ChunkTable::empty(index.dims.len()));
    }
    let offset = reader.offset(INDEX, index.address)?;
    let grid = Grid::new(index).map_err(|e| e.at(INDEX, offset))?;
    if grid.is_empty() {
        return Ok(ChunkTable::empty(grid.rank()));
    }
    let mut chunks = Collector::new(reader.budget(), &grid);
    match index.kind {
        ChunkIndexKind::BtreeV1 => btrees::version_1(reader, index, &mut chunks)?,
        ChunkIndexKind::SingleChunk { filtered } => {
            let (size, filter_mask) = filtered.unwrap_or((index.chunk_bytes, 0));
            let entry = ChunkEntry { address: index.address, size, filter_mask };
            chunks.push(&vec![0; grid.rank()], entry)?;
        }
        ChunkIndexKind::Implicit => return implicit(reader, index, &grid),
        ChunkIndexKind::FixedArray => arrays::fixed(reader, index, &grid, &mut chunks)?,
        ChunkIndexKind::ExtensibleArray => arrays::extensible(reader, index, &grid, &mut chunks)?,
        ChunkIndexKind::BtreeV2 => btrees::version_2(reader, index, &mut chunks)?,
    }
    chunks.finish().map_err(|e| e.at(INDEX, offset))
}

/// All chunks that the maximum dimensions allow are allocated, one after the other.
fn implicit(reader: &Reader, index: &ChunkIndex, grid: &Grid) -> Result<ChunkTable> {
    let offset = reader.offset(INDEX, index.address)?;
    let order = grid.fixed().map_err(|e| e.at(INDEX, offset))?;
    let end = order
        .count()
        .and_then(|count| count.checked_mul(index.chunk_bytes))
        .and_then(|len| len.checked_add(index.address.0));
    let len = reader.len()?;
    if end.is_none_or(|end| end > len) {
        let detail = format!("the chunks that the dimensions allow end past the {len} bytes of the file");
        return Err(Error::malformed(detail).at(INDEX, offset));
    }
    Ok(ChunkTable::by_rule(index.address, index.chunk_bytes, grid, order))
}

const INDEX: &str = "Chunk Index";

#[cfg(test)]
mod tests;
