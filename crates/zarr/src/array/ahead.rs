//! Chunks of a remote store, several of which are fetched in one request before they are decoded.

use super::Array;
use bytes::Bytes;
use hyperslab_core::nd::{Chunk, Chunks, Planes, Region, element_count};
use hyperslab_core::storage::FAR_REQUEST;
use hyperslab_core::store::{Key, Store};
use hyperslab_core::{ErrorKind, Result};
use std::collections::HashMap;

/// The stored bytes of the next chunks of a region.
pub(super) struct Ahead<'a> {
    /// Chunks that are still to be fetched; none for a local store, where a read for each chunk costs no more.
    left: Option<Chunks<'a>>,
    fetched: HashMap<Key, Option<Bytes>>,
}

impl<'a> Ahead<'a> {
    pub(super) fn new(array: &'a Array, store: &dyn Store, region: &'a Region) -> Result<Ahead<'a>> {
        let left = if store.is_far() { Some(array.grid.chunks_in(region)?) } else { None };
        Ok(Ahead { left, fetched: HashMap::default() })
    }

    /// The stored bytes of a chunk, if it could be fetched with others; the inner option is `None` if it was never
    /// written. A chunk that could not is read by itself, so its error has its location.
    pub(super) fn take(
        &mut self,
        array: &Array,
        store: &dyn Store,
        key: &Key,
        (region, out): (&Region, &mut Planes<'_>),
    ) -> Result<Option<Option<Bytes>>> {
        let Some(left) = self.left.as_mut().filter(|_| self.fetched.is_empty()) else {
            return Ok(self.fetched.remove(key));
        };
        // The sizes are those after decoding, as the stored ones are not known.
        let (mut keys, mut bytes, mut largest) = (Vec::new(), 0_u64, 0);
        while keys.len() < MAX_CHUNKS && bytes < FAR_REQUEST {
            let Some(chunk) = left.next_chunk() else { break };
            let size = element_count(&chunk.shape).and_then(|count| count.checked_mul(array.row as u64));
            let Some(size) = size.filter(|size| *size <= FAR_REQUEST) else { continue };
            let is_wanted = out.overlap(&chunk.start, &chunk.shape, region, array.row)?.is_some();
            if is_wanted && (!array.chain.has_parts() || wants_most(array, chunk, region)?) {
                bytes = bytes.saturating_add(size);
                largest = size.max(largest);
                keys.push(array.chunk_key(&chunk.index)?);
            }
        }
        if keys.is_empty() {
            return Ok(None);
        }
        let most = largest.saturating_mul(2).saturating_add(SLACK).min(array.limits.allocation);
        let read = store.read_many(&keys, most);
        for (key, value) in keys.into_iter().zip(read) {
            match value {
                Ok(value) => drop(self.fetched.insert(key, value)),
                Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
                Err(_) => {}
            }
        }
        Ok(self.fetched.remove(key))
    }
}

/// Whether a region contains most of a chunk, up to the end of the array.
fn wants_most(array: &Array, chunk: &Chunk, region: &Region) -> Result<bool> {
    let count = |part: Option<Region>| part.and_then(|part| element_count(&part.count)).unwrap_or(0);
    let all = Region::all(&array.shape).intersect(&chunk.start, &chunk.shape)?;
    let wanted = region.intersect(&chunk.start, &chunk.shape)?;
    Ok(count(wanted).saturating_mul(2) >= count(all))
}

/// The maximum number of chunks in one request.
pub(crate) const MAX_CHUNKS: usize = 1024;
/// The number of bytes that a small chunk may take in addition to its elements. A chunk that takes more than this plus
/// twice its elements is read by itself.
const SLACK: u64 = 64 << 10;
