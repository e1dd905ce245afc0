//! Elements of chunked datasets.

use crate::filter::Pipeline;
use crate::format::message::data_layout::{ChunkIndex as Indexing, Chunked};
use crate::format::message::dataspace::Dataspace;
use crate::format::message::filter_pipeline::Filter;
use crate::navigate::Reader;
use crate::navigate::chunk_index::{self, ChunkEntry, ChunkIndex, ChunkIndexKind, ChunkTable};
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{ChunkGrid, Region, fill, scatter};
use hyperslab_core::{Error, Result};

/// The chunks of a dataset, located and ready to be read.
#[derive(Debug)]
pub(super) struct Chunks {
    grid: ChunkGrid,
    table: ChunkTable,
    pipeline: Pipeline,
    dims: Vec<u64>,
    chunk_bytes: usize,
    /// Whether chunks that reach past the edge are stored without filters.
    edges_unfiltered: bool,
}

/// Where the chunks of a dataset are.
///
/// # Errors
/// If the index is broken or contradicts the dimensions.
pub(super) fn table(
    reader: &Reader,
    chunked: &Chunked,
    dataspace: &Dataspace,
    filtered: bool,
) -> Result<ChunkTable> {
    let kind = match &chunked.index {
        Indexing::BtreeV1 => ChunkIndexKind::BtreeV1,
        Indexing::SingleChunk { filtered } => {
            ChunkIndexKind::SingleChunk { filtered: filtered.map(|chunk| (chunk.size, chunk.filter_mask)) }
        }
        Indexing::Implicit => ChunkIndexKind::Implicit,
        Indexing::FixedArray { .. } => ChunkIndexKind::FixedArray,
        Indexing::ExtensibleArray(_) => ChunkIndexKind::ExtensibleArray,
        Indexing::BtreeV2 { .. } => ChunkIndexKind::BtreeV2,
    };
    let index = ChunkIndex {
        kind,
        address: chunked.address,
        dims: dataspace.dimensions().to_vec(),
        max_dims: dataspace.maximum().to_vec(),
        chunk_dims: chunked.dimensions.clone(),
        chunk_bytes: chunk_bytes(chunked)?,
        filtered,
    };
    chunk_index::load(reader, &index)
}

fn chunk_bytes(chunked: &Chunked) -> Result<u64> {
    chunked.chunk_bytes().ok_or_else(|| Error::malformed("a chunk of more than 2^64 bytes"))
}

impl Chunks {
    pub(super) fn open(
        reader: &Reader,
        chunked: &Chunked,
        dataspace: &Dataspace,
        filters: &[Filter],
    ) -> Result<Chunks> {
        let element = usize::try_from(chunked.element_size).unwrap_or(usize::MAX);
        Ok(Chunks {
            grid: ChunkGrid::regular(&chunked.dimensions)?,
            table: table(reader, chunked, dataspace, !filters.is_empty())?,
            pipeline: Pipeline::new(filters, element),
            dims: dataspace.dimensions().to_vec(),
            chunk_bytes: usize::try_from(chunk_bytes(chunked)?)
                .map_err(|_| Error::malformed("a chunk larger than memory"))?,
            edges_unfiltered: chunked.partial_edge_chunks_unfiltered,
        })
    }

    /// Fills `out` with the elements of `region` as they are stored, `size` bytes each.
    pub(super) fn read(
        &self,
        reader: &Reader,
        region: &Region,
        size: usize,
        unwritten: &[u8],
        out: &mut [u8],
    ) -> Result<()> {
        let (mut scratch, mut decoded) = (Scratch::new(), Vec::new());
        let mut chunks = self.grid.chunks_in(region)?;
        let mut charge = None;
        while let Some(chunk) = chunks.next_chunk() {
            let Some(entry) = self.table.find(&chunk.index) else {
                fill(unwritten, &chunk.start, &chunk.shape, region, out)?;
                continue;
            };
            let partial = || {
                let ends = chunk.start.iter().zip(&chunk.shape).zip(&self.dims);
                ends.into_iter().any(|((start, shape), dim)| start.saturating_add(*shape) > *dim)
            };
            let raw = self.pipeline.is_empty() || self.edges_unfiltered && partial();
            let offset = reader.offset(CHUNK, entry.address)?;
            let placed = |e: Error| e.at(CHUNK, offset);
            let stored = self.stored(reader, &entry)?;
            let bytes = match raw {
                true => stored.get(..self.chunk_bytes).ok_or_else(|| {
                    let found = stored.len();
                    placed(Error::malformed(format!(
                        "{found} bytes are stored of the {} of a chunk",
                        self.chunk_bytes
                    )))
                })?,
                false => {
                    if charge.is_none() {
                        charge = Some(reader.budget().charge(self.chunk_bytes as u64).map_err(placed)?);
                    }
                    let mask = entry.filter_mask;
                    let len = self.chunk_bytes;
                    self.pipeline.decode(mask, &stored, &mut decoded, len, &mut scratch).map_err(placed)?;
                    decoded.as_slice()
                }
            };
            scatter(bytes, &chunk.start, &chunk.shape, region, out, size)?;
        }
        Ok(())
    }

    fn stored(&self, reader: &Reader, entry: &ChunkEntry) -> Result<bytes::Bytes> {
        let len = if self.pipeline.is_empty() { self.chunk_bytes as u64 } else { entry.size };
        reader.raw(CHUNK, entry.address, len)
    }
}

const CHUNK: &str = "chunk";
