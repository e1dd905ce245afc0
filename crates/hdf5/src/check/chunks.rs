//! Checks chunked datasets: the layout, each chunk, and B-trees of chunks.

use super::btree_v1::Leaf;
use super::dataset::Described;
use super::elements::{Pointers, Source};
use super::reading::{Pointer, pointer};
use super::rule;
use super::{Checker, max};
use crate::filter::{FLETCHER32, Pipeline};
use crate::format::infrastructure::BtreeV1Node;
use crate::format::infrastructure::btree_v1::{Keys, NodeType};
use crate::format::infrastructure::btree_v2::{Record, RecordType};
use crate::format::message::data_layout::{ChunkIndex, Chunked, DataLayout, Version};
use crate::format::{Address, Structure};
use hyperslab_codec::Scratch;
use hyperslab_core::{Encoder, Error, ErrorKind, Result};

/// Properties that all chunks of a dataset share.
pub(super) struct Chunks<'d> {
    pub(super) dims: Vec<u64>,
    pub(super) max_dims: Vec<u64>,
    pub(super) chunk_dims: Vec<u64>,
    pub(super) chunk_bytes: u64,
    pub(super) element_size: u64,
    pub(super) filtered: bool,
    edges_unfiltered: bool,
    filters: Vec<u16>,
    pipeline: Pipeline,
    pointers: Option<&'d Pointers>,
    /// Whether an unsupported filter was reported.
    unknown_filter: bool,
    scratch: Scratch,
    decoded: Vec<u8>,
}

/// A chunk as its index describes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'s> {
    pub(super) scaled: &'s [u64],
    pub(super) address: Address,
    /// The stored size in bytes.
    pub(super) size: u64,
    pub(super) filter_mask: u32,
    /// The stored entry of the index.
    pub(super) from: Pointer,
    /// The offsets in the entry of the address, the stored size and the filter mask.
    pub(super) fields: [u64; 3],
}

impl<'a> Checker<'a> {
    pub(super) fn chunked(&mut self, described: &Described, chunked: &Chunked) -> Result<()> {
        const NAME: &str = DataLayout::NAME;
        let at = described.layout_at;
        let is_new = described.layout.version >= Version::V4;
        let mut sound = true;
        if let Some(datatype) = &described.datatype
            && chunked.element_size != u64::from(datatype.size)
        {
            let message = format!(
                "element size {} of the chunks, expected the datatype size {}",
                chunked.element_size, datatype.size
            );
            self.report(&rule::ELEMENT_SIZE, NAME, self.element_size_at(described, chunked), message);
            sound = false;
        }
        let Some(dataspace) = &described.dataspace else {
            self.collections.is_whole = false;
            return Ok(());
        };
        let (rank, own) = (dataspace.dimensions().len(), chunked.dimensions.len());
        if rank != own {
            let rank_at = match described.layout.version {
                Version::V1 | Version::V2 => at + 1,
                Version::V3 => at + 2,
                Version::V4 | Version::V5 => at + 3,
            };
            let message = format!("{own} chunk dimensions, expected {rank} as in the dataspace");
            self.report_bytes(&rule::LAYOUT_RANK, NAME, rank_at, Some(1), message);
            sound = false;
        }
        let Some(chunk_bytes) = chunked.chunk_bytes() else {
            self.report(&rule::MALFORMED, NAME, at, "chunks of more than 2^64 bytes");
            return Ok(());
        };
        if !sound || chunked.address.is_undefined() {
            self.collections.is_whole &= sound;
            return Ok(());
        }
        let filters =
            described.pipeline.as_ref().map(|pipeline| pipeline.filters.as_slice()).unwrap_or_default();
        let element = usize::try_from(chunked.element_size).unwrap_or(usize::MAX);
        let mut chunks = Chunks {
            dims: dataspace.dimensions().to_vec(),
            max_dims: dataspace.maximum().to_vec(),
            chunk_dims: chunked.dimensions.clone(),
            chunk_bytes,
            element_size: chunked.element_size,
            filtered: !filters.is_empty(),
            edges_unfiltered: chunked.partial_edge_chunks_unfiltered,
            filters: filters.iter().map(|filter| filter.id).collect(),
            pipeline: Pipeline::new(filters, element),
            pointers: described.pointers.as_ref(),
            unknown_filter: false,
            scratch: Scratch::new(),
            decoded: Vec::new(),
        };
        let from =
            pointer(NAME, if is_new { self.index_address_at(described) } else { old_address_at(described) });
        match &chunked.index {
            ChunkIndex::BtreeV1 => self.chunk_btree_v1(&mut chunks, chunked.address, from),
            ChunkIndex::BtreeV2 { .. } => self.chunk_btree_v2(&mut chunks, chunked.address, from),
            ChunkIndex::SingleChunk { filtered } => {
                let (size, filter_mask) =
                    filtered.map_or((chunk_bytes, 0), |chunk| (chunk.size, chunk.filter_mask));
                let scaled = vec![0; rank];
                let fields = [from.byte, from.byte.saturating_sub(12), from.byte.saturating_sub(4)];
                let chunk =
                    Chunk { scaled: &scaled, address: chunked.address, size, filter_mask, from, fields };
                self.chunk(&mut chunks, &chunk)
            }
            ChunkIndex::Implicit => self.implicit_chunks(&mut chunks, chunked.address, from),
            ChunkIndex::FixedArray { page_bits } => {
                self.fixed_array(&mut chunks, chunked.address, *page_bits, from)
            }
            ChunkIndex::ExtensibleArray(parameters) => {
                self.extensible_array(&mut chunks, chunked.address, parameters, from)
            }
        }
    }

    /// The offset of the element size in the layout message, after the dimensions.
    fn element_size_at(&self, described: &Described, chunked: &Chunked) -> u64 {
        let (at, offsets) = (described.layout_at, u64::from(self.sizes().offsets));
        let dims = chunked.dimensions.len() as u64;
        match described.layout.version {
            Version::V1 | Version::V2 => at + 8 + offsets + 4 * dims,
            Version::V3 => at + 3 + offsets + 4 * dims,
            Version::V4 | Version::V5 => at + 5 + u64::from(chunked.dimension_width) * dims,
        }
    }

    /// In versions 4 and 5 the address of the index is the last field.
    fn index_address_at(&self, described: &Described) -> u64 {
        let mut e = Encoder::new();
        let sizes = self.sizes();
        match described.layout.encode(&mut e, &sizes) {
            Ok(()) => described.layout_at + (e.len() as u64).saturating_sub(sizes.offsets.into()),
            Err(_) => described.layout_at,
        }
    }

    fn chunk_btree_v1(&mut self, chunks: &mut Chunks<'_>, address: Address, from: Pointer) -> Result<()> {
        let Some(rank) = u8::try_from(chunks.chunk_dims.len()).ok() else { return Ok(()) };
        let order = |one: &Keys, a: usize, other: &Keys, b: usize| {
            let (Keys::Chunks(one), Keys::Chunks(other)) = (one, other) else { return None };
            Some(one.offset(a)?.cmp(other.offset(b)?))
        };
        let mut scaled = vec![0; usize::from(rank)];
        let node_type = NodeType::Chunks { rank };
        let is_whole = self.btree_v1(address, from, node_type, &order, &mut |checker, leaf| {
            checker.chunk_key(chunks, leaf, &mut scaled)
        })?;
        self.collections.is_whole &= is_whole || chunks.pointers.is_none();
        Ok(())
    }

    fn chunk_key(&mut self, chunks: &mut Chunks<'_>, leaf: &Leaf<'_>, scaled: &mut [u64]) -> Result<()> {
        const NAME: &str = BtreeV1Node::NAME;
        let Keys::Chunks(keys) = &leaf.node.keys else { return Ok(()) };
        let (Some(offsets), Some((size, filter_mask))) = (keys.offset(leaf.at), keys.stored.get(leaf.at))
        else {
            return Ok(());
        };
        let key_at = leaf.from.byte.saturating_sub(8 + 8 * offsets.len() as u64);
        for (number, (scaled, (offset, chunk))) in
            (0_u64..).zip(scaled.iter_mut().zip(offsets.iter().zip(&chunks.chunk_dims)))
        {
            *scaled = offset / (*chunk).max(1);
            if offset % (*chunk).max(1) != 0 {
                let message =
                    format!("chunk offset {offsets:?}, expected multiples of {:?}", chunks.chunk_dims);
                self.report_bytes(&rule::CHUNK_OFFSET, NAME, key_at + 8 + 8 * number, Some(8), message);
            }
        }
        if offsets.last().is_some_and(|last| *last != 0) {
            let message = "the offset within elements is not 0";
            self.report_bytes(&rule::CHUNK_OFFSET, NAME, leaf.from.byte - 8, Some(8), message);
        }
        let from = pointer(NAME, key_at);
        let (size, filter_mask) = (u64::from(*size), *filter_mask);
        let fields = [leaf.from.byte, key_at, key_at + 4];
        let chunk = Chunk { scaled, address: leaf.child, size, filter_mask, from, fields };
        self.chunk(chunks, &chunk)
    }

    fn chunk_btree_v2(&mut self, chunks: &mut Chunks<'_>, address: Address, from: Pointer) -> Result<()> {
        let types = [if chunks.filtered { RecordType::FilteredChunk } else { RecordType::Chunk }];
        let rank = chunks.dims.len();
        let mut other_rank = false;
        let walked = self.btree_v2(address, from, &types, &mut |checker, record, byte| {
            let from = pointer(super::links::RECORD, byte);
            let chunk_bytes = chunks.chunk_bytes;
            let size_at = byte + u64::from(checker.sizes().offsets);
            let chunk = match record {
                Record::Chunk { address, scaled } => {
                    let fields = [byte; 3];
                    Chunk { scaled, address: *address, size: chunk_bytes, filter_mask: 0, from, fields }
                }
                Record::FilteredChunk { address, size, filter_mask, scaled } => {
                    let (size, filter_mask) = (*size, *filter_mask);
                    // The mask is between the size, whose width is in the header, and the position.
                    let fields = [byte, size_at, byte];
                    Chunk { scaled, address: *address, size, filter_mask, from, fields }
                }
                _ => return Ok(()),
            };
            if chunk.scaled.len() != rank {
                other_rank = true;
                return Ok(());
            }
            checker.chunk(chunks, &chunk)
        })?;
        if let Some(walked) = walked.filter(|_| other_rank) {
            let message = format!("records of chunks of other dimensions, expected {rank}");
            let name = crate::format::infrastructure::BtreeV2Header::NAME;
            self.report(&rule::RECORD_TYPE, name, walked.byte + 10, message);
        }
        let is_whole = walked.is_some_and(|walked| walked.is_whole) && !other_rank;
        self.collections.is_whole &= is_whole || chunks.pointers.is_none();
        Ok(())
    }

    /// Checks one chunk: its place, its bytes, and its elements.
    pub(super) fn chunk(&mut self, chunks: &mut Chunks<'_>, chunk: &Chunk<'_>) -> Result<()> {
        let Pointer { structure, byte: at } = chunk.from;
        let [address_at, size_at, mask_at] = chunk.fields;
        let ends = chunks.dims.iter().zip(&chunks.chunk_dims);
        let inside = chunk
            .scaled
            .iter()
            .zip(ends)
            .all(|(scaled, (dim, chunk))| *chunk > 0 && *scaled < dim.div_ceil(*chunk));
        if !inside {
            let message = format!("a chunk at {:?} of a dataset of {:?}", chunks.start(chunk), chunks.dims);
            self.report(&rule::CHUNK_OUTSIDE, structure, at, message);
        }
        let raw = !chunks.filtered || chunks.edges_unfiltered && chunks.is_partial(chunk);
        let masked = chunks.filters.len() < 32 && chunk.filter_mask >> chunks.filters.len() != 0;
        if masked {
            let message = format!(
                "filter mask {:#x}, the dataset has {} filters",
                chunk.filter_mask,
                chunks.filters.len()
            );
            self.report(&rule::FILTER_MASK, structure, mask_at, message);
        }
        let all_skipped = !chunks.filtered || chunks.skips_all(chunk.filter_mask);
        if chunk.size == 0 || (raw || all_skipped) && chunk.size != chunks.chunk_bytes {
            let message = format!("{} bytes are stored of a chunk of {}", chunk.size, chunks.chunk_bytes);
            self.report(&rule::CHUNK_SIZE, structure, size_at, message);
            self.collections.is_whole &= chunks.pointers.is_none();
            return Ok(());
        }
        let Some(byte) = self.locate(CHUNK, chunk.address, chunk.size, pointer(structure, address_at)) else {
            self.collections.is_whole &= chunks.pointers.is_none();
            return Ok(());
        };
        self.claim(CHUNK, byte, chunk.size);
        if inside && (self.options.values || chunks.pointers.is_some()) {
            self.chunk_values(chunks, chunk, byte, raw)?;
        }
        Ok(())
    }

    fn chunk_values(
        &mut self,
        chunks: &mut Chunks<'_>,
        chunk: &Chunk<'_>,
        byte: u64,
        raw: bool,
    ) -> Result<()> {
        if raw && chunks.pointers.is_none() {
            return Ok(());
        }
        // Chunks at the same address overlap, which is reported. Decoding them again would only take time.
        if self.decoded.len() < max(self.stored, DECODED_SIZE) && !self.decoded.insert(byte) {
            return Ok(());
        }
        if !self.spend_raw(chunk.size, CHUNK, byte) {
            self.collections.is_whole &= chunks.pointers.is_none();
            return Ok(());
        }
        let result =
            self.reader.budget().charge(chunk.size.saturating_add(chunks.chunk_bytes)).and_then(|charge| {
                let stored = self.reader.raw(CHUNK, chunk.address, chunk.size)?;
                if raw {
                    chunks.decoded.clear();
                    chunks.decoded.extend_from_slice(&stored);
                    return Ok(charge);
                }
                let len = usize::try_from(chunks.chunk_bytes).map_err(|_| {
                    Error::new(ErrorKind::LimitExceeded, "chunk size exceeds the address space")
                })?;
                self.reader.limits().check_chunk(chunk.size, chunks.chunk_bytes)?;
                let Chunks { pipeline, decoded, scratch, .. } = chunks;
                pipeline.decode(chunk.filter_mask, &stored, decoded, len, scratch)?;
                Ok(charge)
            });
        let _charge = match result {
            Ok(charge) => charge,
            Err(error) => {
                self.collections.is_whole &= chunks.pointers.is_none();
                return self.chunk_error(chunks, chunk, byte, error);
            }
        };
        match chunks.pointers {
            Some(pointers) => self.chunk_elements(chunks, pointers, chunk, byte, raw),
            None => Ok(()),
        }
    }

    fn chunk_error(
        &mut self,
        chunks: &mut Chunks<'_>,
        chunk: &Chunk<'_>,
        byte: u64,
        error: Error,
    ) -> Result<()> {
        let size = chunk.size;
        let (rule, at, len) = match error.kind() {
            ErrorKind::Io | ErrorKind::Cancelled => return Err(error),
            // The checksum of the filter follows the bytes, if it was the last filter.
            ErrorKind::Checksum if chunks.filters.last() == Some(&FLETCHER32) => {
                (&rule::CHUNK_CHECKSUM, byte + size.saturating_sub(4), size.min(4))
            }
            ErrorKind::Checksum => (&rule::CHUNK_CHECKSUM, byte, size),
            ErrorKind::LimitExceeded => (&rule::LIMIT, byte, size),
            ErrorKind::Unsupported => {
                if std::mem::replace(&mut chunks.unknown_filter, true) {
                    return Ok(());
                }
                (&rule::UNKNOWN_FILTER, byte, size)
            }
            _ => (&rule::CHUNK_DATA, byte, size),
        };
        let message = format!("chunk at {:?}: {}{}", chunks.start(chunk), error.detail(), error.advice());
        self.report_bytes(rule, CHUNK, at, Some(len), message);
        Ok(())
    }

    /// Checks the elements of a chunk within the dataset. Those past its end can have any value.
    fn chunk_elements(
        &mut self,
        chunks: &Chunks<'_>,
        pointers: &Pointers,
        chunk: &Chunk<'_>,
        byte: u64,
        raw: bool,
    ) -> Result<()> {
        let start = chunks.start(chunk);
        let shape = &chunks.chunk_dims;
        let within: Vec<u64> = start
            .iter()
            .zip(shape)
            .zip(&chunks.dims)
            .map(|((at, len), dim)| dim.saturating_sub(*at).min(*len))
            .collect();
        let (Some((run, outer)), Some(row)) = (within.split_last(), shape.last()) else { return Ok(()) };
        let size = chunks.element_size;
        let mut position = vec![0_u64; outer.len()];
        loop {
            let number = position
                .iter()
                .zip(shape)
                .fold(0_u64, |sum, (at, len)| sum.saturating_mul(*len).saturating_add(*at));
            let from = number.saturating_mul(*row).saturating_mul(size);
            let to = from.saturating_add(run.saturating_mul(size));
            let range =
                usize::try_from(from).unwrap_or(usize::MAX)..usize::try_from(to).unwrap_or(usize::MAX);
            let source =
                Source { structure: CHUNK, byte: if raw { byte + from } else { byte }, is_plain: raw };
            self.elements(pointers, chunks.decoded.get(range).unwrap_or_default(), source)?;
            // The next row; the last dimension varies fastest.
            let Some(next) = (0..outer.len())
                .rev()
                .find(|dim| position.get(*dim).zip(outer.get(*dim)).is_some_and(|(at, len)| at + 1 < *len))
            else {
                return Ok(());
            };
            for (dim, at) in position.iter_mut().enumerate().skip(next) {
                *at = if dim == next { *at + 1 } else { 0 };
            }
        }
    }
}

impl Chunks<'_> {
    /// The index of the first element of a chunk.
    fn start(&self, chunk: &Chunk<'_>) -> Vec<u64> {
        chunk.scaled.iter().zip(&self.chunk_dims).map(|(scaled, len)| scaled.saturating_mul(*len)).collect()
    }

    /// Whether a chunk extends past the end of the dataset.
    fn is_partial(&self, chunk: &Chunk<'_>) -> bool {
        self.start(chunk)
            .iter()
            .zip(&self.chunk_dims)
            .zip(&self.dims)
            .any(|((start, len), dim)| start.saturating_add(*len) > *dim)
    }

    /// Whether a chunk is stored without any filter.
    fn skips_all(&self, mask: u32) -> bool {
        let all = 1_u32
            .checked_shl(u32::try_from(self.filters.len()).unwrap_or(32))
            .map_or(u32::MAX, |bit| bit - 1);
        mask & all == all
    }

    /// Whether the elements of chunks must be checked.
    pub(super) fn has_plan(&self) -> bool {
        self.pointers.is_some()
    }
}

fn old_address_at(described: &Described) -> u64 {
    match described.layout.version {
        Version::V1 | Version::V2 => described.layout_at + 8,
        _ => described.layout_at + 3,
    }
}

pub(super) const CHUNK: &str = "chunk";

/// Bytes per entry of a set of addresses.
const DECODED_SIZE: u64 = 24;
