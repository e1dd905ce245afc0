//! Reads structures from storage. All I/O of this crate is here.

pub mod btree_v1;
pub mod btree_v2;
pub mod cache_image;
pub mod chunk_index;
pub mod fractal_heap;
pub mod global_heap;
pub mod local_heap;
pub mod object_header;
pub(crate) mod prefetch;
pub mod shared_message;
pub mod superblock;
mod visited;

use crate::format::{Address, Sizes, Structure};
use bytes::Bytes;
use hyperslab_core::memory::room;
use hyperslab_core::storage::{Cached, ReadAt, read_merged};
use hyperslab_core::{Budget, Decoder, Error, Limits, Result};
use shared_message::SharedMessages;

/// The bytes of an open file, by address.
///
/// Metadata is read through a bounded cache of blocks; raw data bypasses it.
pub struct Reader {
    storage: Cached<Box<dyn ReadAt>>,
    base: u64,
    sizes: Sizes,
    limits: Limits,
    budget: Budget,
    shared_messages: Option<SharedMessages>,
}

impl Reader {
    /// A reader of `storage`. Address 0 is at offset `base`.
    pub fn new(storage: Box<dyn ReadAt>, base: u64, sizes: Sizes, limits: Limits) -> Self {
        Reader {
            storage: Cached::new(storage),
            base,
            sizes,
            limits,
            budget: Budget::new(&limits),
            shared_messages: None,
        }
    }

    /// The same reader, with the allocation budget of another one.
    #[must_use]
    pub fn with_budget(self, budget: Budget) -> Self {
        Reader { budget, ..self }
    }

    /// The same reader over `storage`, which holds the same file.
    #[must_use]
    pub fn with_storage(self, storage: Box<dyn ReadAt>) -> Self {
        Reader { storage: Cached::new(storage), ..self }
    }

    /// The same reader with the shared object header messages of the file.
    #[must_use]
    pub fn with_shared_messages(self, messages: SharedMessages) -> Self {
        Reader { shared_messages: Some(messages), ..self }
    }

    /// The shared object header messages of the file.
    ///
    /// # Errors
    /// If the file has none, although a message refers to them.
    pub fn shared_messages(&self) -> Result<&SharedMessages> {
        self.shared_messages.as_ref().ok_or_else(|| {
            Error::malformed("message is shared in a heap, but the file has no shared message table")
        })
    }

    /// The widths of addresses and lengths.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The limits on memory.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The memory that is left.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The number of bytes from the base address to the end of the file.
    pub fn len(&self) -> Result<u64> {
        Ok(self.storage.len()?.saturating_sub(self.base))
    }

    /// The first `len` bytes of the file, which are before the base address.
    ///
    /// # Errors
    /// If there are fewer, or they cannot be read.
    pub fn user_block(&self, len: u64) -> Result<Bytes> {
        match len <= self.base {
            true => self.storage.read_at(0..len),
            false => Err(Error::invalid(format!("a user block of {} bytes", self.base))),
        }
    }

    /// Whether the file ends at the base address.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The offset of `address` in the file.
    ///
    /// # Errors
    /// If it is undefined or overflows.
    pub fn offset(&self, structure: &'static str, address: Address) -> Result<u64> {
        address
            .get()
            .and_then(|raw| raw.checked_add(self.base))
            .ok_or_else(|| Error::malformed(format!("its address is {address}")).at(structure, self.base))
    }

    /// Reads metadata of `structure`: `len` bytes at `address`.
    ///
    /// # Errors
    /// If bytes are missing. The error names the structure.
    pub fn bytes(&self, structure: &'static str, address: Address, len: u64) -> Result<Bytes> {
        let offset = self.offset(structure, address)?;
        self.storage.read_at(offset..offset.saturating_add(len)).map_err(|e| e.at(structure, offset))
    }

    /// Reads up to `len` bytes of metadata, fewer at the end of the file. For structures whose first bytes contain
    /// their length.
    pub fn bytes_up_to(&self, structure: &'static str, address: Address, len: u64) -> Result<Bytes> {
        let offset = self.offset(structure, address)?;
        let end = offset.saturating_add(len).min(self.storage.len()?).max(offset);
        self.storage.read_at(offset..end).map_err(|e| e.at(structure, offset))
    }

    /// Decodes the structure in the `len` bytes at `address`. It can be shorter than `len`.
    pub fn structure<S: Structure>(&self, address: Address, len: u64, context: &S::Context) -> Result<S> {
        let bytes = self.bytes(S::NAME, address, len)?;
        S::decode(&mut Decoder::new(S::NAME, self.offset(S::NAME, address)?, &bytes), context)
    }

    /// Decodes a structure of unknown length, at most `max` bytes.
    pub fn structure_up_to<S: Structure>(
        &self,
        address: Address,
        max: u64,
        context: &S::Context,
    ) -> Result<S> {
        let bytes = self.bytes_up_to(S::NAME, address, max)?;
        S::decode(&mut Decoder::new(S::NAME, self.offset(S::NAME, address)?, &bytes), context)
    }

    /// Reads raw data without the cache.
    pub fn raw(&self, what: &'static str, address: Address, len: u64) -> Result<Bytes> {
        let offset = self.offset(what, address)?;
        let range = offset..offset.saturating_add(len);
        let read = match self.is_kept(len) {
            true => self.storage.read_at(range),
            false => self.storage.uncached().read_at(range),
        };
        read.map_err(|e| e.at(what, offset))
    }

    /// Whether raw data also goes through the cache: reading a little from remote storage takes as long as reading a
    /// block.
    fn is_kept(&self, len: u64) -> bool {
        len <= KEPT && self.is_far()
    }

    /// Reads raw data into a reusable buffer. It only grows if the file has enough bytes.
    pub(crate) fn raw_buffered<'b>(
        &self,
        what: &'static str,
        address: Address,
        len: u64,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8]> {
        let offset = self.offset(what, address)?;
        let storage = self.storage.uncached();
        let there = storage.len()?.saturating_sub(offset);
        let Some(len) = usize::try_from(len).ok().filter(|_| len <= there) else {
            // The error of the storage describes what is missing.
            return Err(storage
                .read_at(offset..offset.saturating_add(len))
                .err()
                .unwrap_or_else(|| Error::malformed(format!("needs {len} bytes, {there} remain in the file")))
                .at(what, offset));
        };
        let out = room(buffer, len);
        storage.read_into(offset, out).map_err(|e| e.at(what, offset))?;
        Ok(out)
    }

    /// Whether pieces of raw data should be requested together.
    pub(crate) fn is_far(&self) -> bool {
        self.storage.uncached().is_far()
    }

    /// Several pieces of raw data in one request, each by its address and length.
    pub(crate) fn raw_ranges(&self, what: &'static str, pieces: &[(Address, u64)]) -> Result<Vec<Bytes>> {
        let end = self.storage.len()?;
        let range =
            |(address, len): &(Address, u64)| {
                let offset = self.offset(what, *address)?;
                let range = offset..offset.saturating_add(*len);
                match range.end <= end {
                    true => Ok(range),
                    false => Err(Error::malformed(format!("{len} bytes end past the end of the file"))
                        .at(what, offset)),
                }
            };
        let ranges = pieces.iter().map(range).collect::<Result<Vec<_>>>()?;
        read_merged(&ranges, |merged| self.storage.uncached().read_ranges(merged))
    }

    /// Fetches metadata that will be read soon: the first `len` bytes at each of some addresses, in one request from
    /// remote storage, as long as they fit in half of the cache. The rest, and what cannot be fetched, is read when it
    /// is needed.
    pub(crate) fn fetch(&self, addresses: &[Address], len: u64) {
        let pieces: Vec<_> = addresses.iter().map(|address| (*address, len)).collect();
        self.fetch_pieces(&pieces);
    }

    /// As [`Reader::fetch`], with a length for each address.
    pub(crate) fn fetch_pieces(&self, pieces: &[(Address, u64)]) {
        if !self.is_far() {
            return;
        }
        let Ok(end) = self.storage.len() else { return };
        let mut room = MAX_FETCHED;
        let mut ranges = Vec::new();
        for (address, len) in pieces {
            let Some(start) = address.get().and_then(|at| at.checked_add(self.base)) else { continue };
            let Some(left) = room.checked_sub(len.saturating_add(AROUND)) else { break };
            room = left;
            if start < end {
                ranges.push(start..start.saturating_add((*len).min(LONGEST)).min(end));
            }
        }
        // The cache keeps the bytes.
        let _ = self.storage.read_ranges(&ranges);
    }

    /// Whether metadata is in the cache: `len` bytes at an address, or those before the end of the file.
    pub(crate) fn is_at_hand(&self, address: Address, len: u64) -> bool {
        let Some(start) = address.get().and_then(|at| at.checked_add(self.base)) else { return false };
        let end = self.storage.len().map_or(start, |end| start.saturating_add(len).min(end));
        self.storage.has(&(start..end))
    }

    /// Reads raw data directly into the caller's memory.
    pub fn raw_into(&self, what: &'static str, address: Address, out: &mut [u8]) -> Result<()> {
        let offset = self.offset(what, address)?;
        let read = match self.is_kept(out.len() as u64) {
            true => self.storage.read_into(offset, out),
            false => self.storage.uncached().read_into(offset, out),
        };
        read.map_err(|e| e.at(what, offset))
    }
}

/// The maximum number of bytes of metadata that are fetched at once.
const MAX_FETCHED: u64 = 4 << 20;
/// The maximum size in bytes of one of these pieces, which the cache can hold.
const LONGEST: u64 = 64 << 10;
/// The maximum size in bytes of raw data that is kept in the cache.
const KEPT: u64 = 8 << 10;
/// The number of bytes that are fetched around a piece of metadata, since it lies in blocks of the cache.
const AROUND: u64 = 2 * 4096;
