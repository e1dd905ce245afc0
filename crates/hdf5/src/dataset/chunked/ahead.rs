//! Chunks of remote storage, several of which are fetched in one request before they are decoded.

use super::{CHUNK, Chunks};
use crate::format::Address;
use crate::navigate::Reader;
use bytes::Bytes;
use hyperslab_core::nd::{Chunks as ChunksIn, Planes, Region};
use hyperslab_core::storage::FAR_REQUEST;
use hyperslab_core::{Charge, Result};
use rustc_hash::FxHashMap;

/// The stored bytes of the next chunks of a region.
pub(super) struct Ahead<'a> {
    /// Chunks that are still to be fetched; none for local storage, where a read for each chunk costs no more.
    left: Option<ChunksIn<'a>>,
    fetched: FxHashMap<u64, Bytes>,
    _charge: Option<Charge>,
}

impl<'a> Ahead<'a> {
    pub(super) fn new(chunks: &'a Chunks, reader: &Reader, region: &'a Region) -> Result<Ahead<'a>> {
        let left = if reader.is_far() { Some(chunks.grid.chunks_in(region)?) } else { None };
        Ok(Ahead { left, fetched: FxHashMap::default(), _charge: None })
    }

    /// The stored bytes of the chunk at `address`, if it could be fetched with others. A chunk that could not is read
    /// by itself, so its error has its location.
    pub(super) fn take(
        &mut self,
        chunks: &Chunks,
        reader: &Reader,
        (address, size): (Address, u64),
        (region, out, row): (&Region, &mut Planes<'_>, usize),
    ) -> Result<Option<Bytes>> {
        if size > FAR_REQUEST || !self.fetched.is_empty() {
            return Ok(self.fetched.remove(&address.0));
        }
        let Some(left) = &mut self.left else { return Ok(None) };
        let (mut addresses, mut bytes) = (Vec::new(), 0_u64);
        while addresses.len() < MAX_CHUNKS && bytes < FAR_REQUEST {
            let Some(chunk) = left.next_chunk() else { break };
            if out.overlap(&chunk.start, &chunk.shape, region, row)?.is_none() {
                continue;
            }
            let Some(entry) = chunks.table.find(&chunk.index) else { continue };
            let size = chunks.stored_size(chunk, &entry);
            if size > FAR_REQUEST {
                // It is worth a request of its own, directly to its destination.
                continue;
            }
            bytes = bytes.saturating_add(size);
            addresses.push((entry.address, size));
        }
        self._charge = None;
        let charge = reader.budget().charge(bytes);
        match charge.and_then(|charge| Ok((charge, reader.raw_ranges(CHUNK, &addresses)?))) {
            Ok((charge, found)) => {
                self._charge = Some(charge);
                self.fetched.extend(addresses.iter().map(|(address, _)| address.0).zip(found));
            }
            // The rest is read chunk by chunk.
            Err(_) => self.left = None,
        }
        Ok(self.fetched.remove(&address.0))
    }
}

/// The maximum number of chunks in one request.
const MAX_CHUNKS: usize = 1024;
