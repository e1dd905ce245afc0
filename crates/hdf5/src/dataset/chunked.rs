//! Reads elements of chunked datasets.

mod ahead;

use super::array::Elements;
use crate::file::File;
use crate::filter::Pipeline;
use crate::format::Address;
use crate::format::message::data_layout::{ChunkIndex as Indexing, Chunked};
use crate::format::message::dataspace::Dataspace;
use crate::format::message::filter_pipeline::Filter;
use crate::navigate::Reader;
use crate::navigate::chunk_index::{ChunkEntry, ChunkIndex, ChunkIndexKind, ChunkTable};
use crate::reference::Reference;
use ahead::Ahead;
use bytes::Bytes;
use hyperslab_codec::{Buffers, Scratch, decode};
use hyperslab_core::memory::room;
use hyperslab_core::nd::{Chunk, ChunkGrid, Planes, Region, bands, scatter};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use std::sync::Arc;

/// The chunks of a dataset, with their index.
#[derive(Debug)]
pub(super) struct Chunks {
    grid: ChunkGrid,
    table: Arc<ChunkTable>,
    pipeline: Pipeline,
    dims: Vec<u64>,
    chunk_bytes: usize,
    /// Whether chunks that extend past the end of the dataset are stored without filters.
    edges_unfiltered: bool,
}

/// Reads the chunk index of a dataset.
///
/// # Errors
/// If the index is invalid or contradicts the dimensions.
pub(super) fn table(
    file: &File,
    chunked: &Chunked,
    dataspace: &Dataspace,
    filtered: bool,
) -> Result<Arc<ChunkTable>> {
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
    file.chunk_tables().get(file.reader(), index)
}

fn chunk_bytes(chunked: &Chunked) -> Result<u64> {
    chunked.chunk_bytes().ok_or_else(|| Error::malformed("chunk size overflows 2^64 bytes"))
}

impl Chunks {
    pub(super) fn open(
        file: &File,
        chunked: &Chunked,
        dataspace: &Dataspace,
        filters: &[Filter],
    ) -> Result<Chunks> {
        let element = usize::try_from(chunked.element_size).unwrap_or(usize::MAX);
        Ok(Chunks {
            grid: ChunkGrid::regular(&chunked.dimensions)?,
            table: table(file, chunked, dataspace, !filters.is_empty())?,
            pipeline: Pipeline::new(filters, element),
            dims: dataspace.dimensions().to_vec(),
            chunk_bytes: usize::try_from(chunk_bytes(chunked)?)
                .map_err(|_| Error::malformed("chunk size exceeds the address space"))?,
            edges_unfiltered: chunked.partial_edge_chunks_unfiltered,
        })
    }

    /// Reads the elements of `region` into `out`.
    pub(super) fn read(
        &self,
        reader: &Reader,
        elements: &Elements,
        region: &Region,
        out: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let mut buffers = std::mem::take(&mut scratch.buffers);
        let read = self.read_chunks(reader, elements, region, out, heap, (&mut buffers, scratch));
        scratch.buffers = buffers;
        read
    }

    fn read_chunks(
        &self,
        reader: &Reader,
        elements: &Elements,
        region: &Region,
        out: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        (buffers, scratch): (&mut Buffers, &mut Scratch),
    ) -> Result<()> {
        let Elements { converter, .. } = elements;
        let (size, row) = (converter.stored_size(), converter.row_size());
        let steps = Region::all(&region.count);
        let mut unwritten = None;
        let mut charge = None;
        let mut ahead = Ahead::new(self, reader, region)?;
        let mut chunks = self.grid.chunks_in(region)?;
        while let Some(chunk) = chunks.next_chunk() {
            scratch.cancel.check()?;
            let entry = self.table.find(&chunk.index);
            let fetched = match &entry {
                Some(entry) => {
                    let piece = (entry.address, self.stored_size(chunk, entry));
                    ahead.take(self, reader, piece, (region, out, row))?
                }
                None => None,
            };
            let Some(mut overlap) = out.overlap(&chunk.start, &chunk.shape, region, row)? else { continue };
            let Some(entry) = entry else {
                if unwritten.is_none() {
                    unwritten = Some(elements.fill_row(reader, heap)?);
                }
                overlap.fill(unwritten.as_deref().unwrap_or_default())?;
                continue;
            };
            if !self.is_raw(chunk) {
                let checked = reader.limits().check_chunk(entry.size, self.chunk_bytes as u64);
                checked.map_err(|e| e.at(CHUNK, reader.offset(CHUNK, entry.address).unwrap_or(0)))?;
            }
            if converter.is_identity()
                && let Some(place) = overlap.in_place()
            {
                self.load(reader, (chunk, &entry, fetched), place, &mut buffers.stored, scratch)?;
                continue;
            }
            if converter.is_identity() && self.is_raw(chunk) {
                if let Some(whole) = fetched {
                    self.check_raw(reader, &entry)?;
                    overlap.scatter(&whole)?;
                    continue;
                }
                let at = (region, row);
                self.load_in_pieces(reader, chunk, &entry, at, out, &mut buffers.stored)?;
                continue;
            }
            if charge.is_none() {
                let bytes = self.chunk_bytes as u64;
                let offset = reader.offset(CHUNK, entry.address)?;
                charge = Some(reader.budget().charge(bytes).map_err(|e| e.at(CHUNK, offset))?);
            }
            let Buffers { stored, decoded, wanted, rows } = &mut *buffers;
            let decoded = room(decoded, self.chunk_bytes);
            self.load(reader, (chunk, &entry, fetched), decoded, stored, scratch)?;
            if converter.is_identity() {
                overlap.scatter(decoded)?;
                continue;
            }
            // Only requested elements are converted. The others may contain invalid pointers.
            let Some(part) = region.intersect(&chunk.start, &chunk.shape)? else { continue };
            let (len, len_rows) = (part.bytes(size)?, part.bytes(row)?);
            let _charge = reader.budget().charge((len as u64).saturating_add(len_rows as u64))?;
            let wanted = match len == decoded.len() {
                true => decoded,
                false => {
                    let wanted = room(wanted, len);
                    scatter(decoded, &chunk.start, &chunk.shape, &part, wanted, size)?;
                    wanted
                }
            };
            if let Some(place) = overlap.in_place() {
                converter.convert(reader, wanted, place, heap)?;
                continue;
            }
            let rows = room(rows, len_rows);
            converter.convert(reader, wanted, rows, heap)?;
            let starts = part.start.iter().zip(region.start.iter().zip(&region.step));
            let start: Vec<_> = starts.map(|(own, (first, step))| (own - first) / step).collect();
            if let Some(mut overlap) = out.overlap(&start, &part.count, &steps, row)? {
                overlap.scatter(rows)?;
            }
        }
        Ok(())
    }

    /// The number of chunks that were written.
    pub(super) fn len(&self) -> u64 {
        self.table.len()
    }

    /// The size of all chunks in the file, in bytes.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.table.stored_bytes()
    }

    /// Reads the stored bytes of the chunk that begins at `start` into the beginning of `out`. Returns their number,
    /// and the mask of the filters that were not applied.
    pub(super) fn stored(
        &self,
        reader: &Reader,
        start: &[u64],
        out: &mut Vec<u8>,
    ) -> Result<Option<(usize, u32)>> {
        let region = Region::new(start.to_vec(), vec![1; start.len()]);
        let mut chunks = self.grid.chunks_in(&region)?;
        let Some(chunk) = chunks.next_chunk().filter(|chunk| chunk.start == start) else {
            return Err(Error::invalid(format!("no chunk begins at {start:?}")));
        };
        let Some(entry) = self.table.find(&chunk.index) else { return Ok(None) };
        if self.is_raw(chunk) {
            self.check_raw(reader, &entry)?;
        }
        let ChunkEntry { size, filter_mask, .. } = self.as_read(chunk, entry);
        let offset = reader.offset(CHUNK, entry.address)?;
        let _charge = reader.budget().charge(size).map_err(|e| e.at(CHUNK, offset))?;
        let len = reader.raw_buffered(CHUNK, entry.address, size, out)?.len();
        Ok(Some((len, filter_mask)))
    }

    /// Whether no chunk with elements of `region` was written.
    pub(super) fn is_unwritten(&self, region: &Region) -> Result<bool> {
        let mut chunks = self.grid.chunks_in(region)?;
        while let Some(chunk) = chunks.next_chunk() {
            if self.table.find(&chunk.index).is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Calls `visit` with the start of each chunk that was written.
    pub(super) fn written(&self, visit: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()> {
        self.table.iter().try_for_each(|record| visit(&self.grid.chunk(&record.scaled)?.start))
    }

    /// Calls `visit` with the start of each chunk that was written, and with its place.
    pub(super) fn entries(&self, visit: &mut dyn FnMut(&[u64], ChunkEntry) -> Result<()>) -> Result<()> {
        self.table.iter().try_for_each(|record| {
            let chunk = self.grid.chunk(&record.scaled)?;
            visit(&chunk.start, self.as_read(&chunk, record.entry))
        })
    }

    /// The place of a chunk with the size and the mask that readers go by.
    fn as_read(&self, chunk: &Chunk, entry: ChunkEntry) -> ChunkEntry {
        match self.is_raw(chunk) {
            true => ChunkEntry {
                size: self.chunk_bytes as u64,
                filter_mask: self.pipeline.mask_of_all(),
                ..entry
            },
            false => entry,
        }
    }

    /// Reads a chunk into `out` and removes its filters.
    fn load(
        &self,
        reader: &Reader,
        (chunk, entry, fetched): (&Chunk, &ChunkEntry, Option<Bytes>),
        out: &mut [u8],
        stored: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        if self.is_raw(chunk) {
            self.check_raw(reader, entry)?;
            return match fetched.filter(|fetched| fetched.len() == out.len()) {
                Some(fetched) => {
                    out.copy_from_slice(&fetched);
                    Ok(())
                }
                None => reader.raw_into(CHUNK, entry.address, out),
            };
        }
        let placed = |e: Error| e.at(CHUNK, reader.offset(CHUNK, entry.address).unwrap_or(0));
        let _charge = reader.budget().charge(entry.size).map_err(placed)?;
        let stored = match &fetched {
            Some(fetched) => fetched,
            None => reader.raw_buffered(CHUNK, entry.address, entry.size, stored)?,
        };
        let codecs = self.pipeline.codecs(entry.filter_mask).map_err(placed)?;
        decode(&codecs, stored, out, scratch).map_err(placed)
    }

    /// Reads a chunk without filters in pieces that fit in a fast CPU cache. Pieces without elements of the region are
    /// skipped.
    fn load_in_pieces(
        &self,
        reader: &Reader,
        chunk: &Chunk,
        entry: &ChunkEntry,
        (region, row): (&Region, usize),
        out: &mut Planes<'_>,
        stored: &mut Vec<u8>,
    ) -> Result<()> {
        self.check_raw(reader, entry)?;
        let mut address = entry.address;
        for piece in bands(&Region::all(&chunk.shape), &vec![1; region.rank()], row, PIECE)? {
            let len = piece.bytes(row)?;
            let start: Vec<_> =
                chunk.start.iter().zip(&piece.start).map(|(start, at)| start.saturating_add(*at)).collect();
            if let Some(mut overlap) = out.overlap(&start, &piece.count, region, row)? {
                let bytes = reader.raw_buffered(CHUNK, address, len as u64, stored)?;
                overlap.scatter(bytes)?;
            }
            address = Address(address.0.saturating_add(len as u64));
        }
        Ok(())
    }

    /// The number of stored bytes of a chunk.
    fn stored_size(&self, chunk: &Chunk, entry: &ChunkEntry) -> u64 {
        self.as_read(chunk, *entry).size
    }

    /// Whether a chunk is stored without filters.
    fn is_raw(&self, chunk: &Chunk) -> bool {
        let mut ends = chunk.start.iter().zip(&chunk.shape).zip(&self.dims);
        self.pipeline.is_empty()
            || self.edges_unfiltered && ends.any(|((start, shape), dim)| start.saturating_add(*shape) > *dim)
    }

    /// Refuses a chunk without filters that is stored in too few bytes.
    fn check_raw(&self, reader: &Reader, entry: &ChunkEntry) -> Result<()> {
        if self.pipeline.is_empty() || entry.size >= self.chunk_bytes as u64 {
            return Ok(());
        }
        let (found, expected) = (entry.size, self.chunk_bytes);
        let error = Error::malformed(format!("chunk of {found} stored bytes, expected {expected}"));
        Err(error.at(CHUNK, reader.offset(CHUNK, entry.address)?))
    }
}

const CHUNK: &str = "chunk";
/// The number of bytes of a chunk that are read at once if its elements are not contiguous.
const PIECE: u64 = 128 << 10;
