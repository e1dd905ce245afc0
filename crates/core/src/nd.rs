//! Geometry of arrays of any rank: regions, selections, chunk grids, scatter and gather.
//!
//! An element is a row of fixed size (see [`rows`](crate::rows)); no function here knows its type. Elements are in
//! row-major order: the last dimension varies fastest.
//!
//! Reading a region from chunks:
//!
//! ```
//! use hyperslab_core::nd::{ChunkGrid, Region, scatter};
//!
//! let region = Region { start: vec![1, 0], count: vec![2, 3], step: vec![1, 2] };
//! let mut out = [0; 6];
//! let grid = ChunkGrid::regular(&[2, 3])?;
//! let mut chunks = grid.chunks_in(&region)?;
//! while let Some(chunk) = chunks.next_chunk() {
//!     // Each element is a row of one byte: ten times its first index plus its second.
//!     let rows: Vec<u8> = (0..6).map(|i| ((chunk.start[0] + i / 3) * 10 + chunk.start[1] + i % 3) as u8).collect();
//!     scatter(&rows, &chunk.start, &chunk.shape, &region, &mut out, 1)?;
//! }
//! assert_eq!(out, [10, 12, 14, 20, 22, 24]);
//! # Ok::<(), hyperslab_core::Error>(())
//! ```

mod bands;
mod contiguous;
mod copy;
mod grid;
mod planes;
mod region;
mod selection;
#[cfg(test)]
mod strategies;

pub use bands::{Bands, bands};
pub use contiguous::read_contiguous;
pub use copy::{fill_rows, gather, scatter};
pub use grid::{Axis, Chunk, ChunkGrid, Chunks};
pub use planes::{Overlap, Planes};
pub use region::{Region, advance, element_bytes, element_count};
pub use selection::{Elements, Selection};
