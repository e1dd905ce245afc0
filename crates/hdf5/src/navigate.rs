//! Walks structures over storage: the only place of this crate that reads.

pub mod btree_v1;
pub mod btree_v2;
pub mod cache_image;
pub mod chunk_index;
pub mod fractal_heap;
pub mod global_heap;
pub mod local_heap;
pub mod object_header;
pub mod shared_message;
pub mod superblock;
mod visited;

use crate::format::{Address, Sizes, Structure};
use bytes::Bytes;
use hyperslab_core::memory::room;
use hyperslab_core::storage::{Cached, ReadAt};
use hyperslab_core::{Budget, Decoder, Error, Limits, Result};
use shared_message::SharedMessages;

/// The bytes of an opened file, by address.
///
/// Metadata is read through a bounded cache of blocks, raw data past it.
pub struct Reader {
    storage: Cached<Box<dyn ReadAt>>,
    base: u64,
    sizes: Sizes,
    limits: Limits,
    budget: Budget,
    shared_messages: Option<SharedMessages>,
}

impl Reader {
    /// A reader of `storage` in which addresses count from `base`.
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

    /// The same reader, which takes what it allocates from the budget of another.
    #[must_use]
    pub fn with_budget(self, budget: Budget) -> Self {
        Reader { budget, ..self }
    }

    /// The same reader of the same file, whose bytes `storage` now has.
    #[must_use]
    pub fn with_storage(self, storage: Box<dyn ReadAt>) -> Self {
        Reader { storage: Cached::new(storage), ..self }
    }

    /// The same reader, which finds messages in the file's shared object header message heaps.
    #[must_use]
    pub fn with_shared_messages(self, messages: SharedMessages) -> Self {
        Reader { shared_messages: Some(messages), ..self }
    }

    /// The messages in the file's shared object header message heaps.
    ///
    /// # Errors
    /// If there are no such heaps: who asks for a message of theirs was pointed to them.
    pub fn shared_messages(&self) -> Result<&SharedMessages> {
        self.shared_messages
            .as_ref()
            .ok_or_else(|| Error::malformed("a message is shared in a heap, and the file has none for it"))
    }

    /// The widths of addresses and lengths.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// What the file may make us allocate.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What is left of it.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The number of bytes behind the base address.
    pub fn len(&self) -> Result<u64> {
        Ok(self.storage.len()?.saturating_sub(self.base))
    }

    /// Whether the file ends at the base address.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Where `address` lies in the file.
    ///
    /// # Errors
    /// If it is undefined or overflows.
    pub fn offset(&self, structure: &'static str, address: Address) -> Result<u64> {
        address
            .get()
            .and_then(|raw| raw.checked_add(self.base))
            .ok_or_else(|| Error::malformed(format!("its address is {address}")).at(structure, self.base))
    }

    /// Metadata of `structure`: `len` bytes at `address`.
    ///
    /// # Errors
    /// Named after the structure if the bytes are not all there.
    pub fn bytes(&self, structure: &'static str, address: Address, len: u64) -> Result<Bytes> {
        let offset = self.offset(structure, address)?;
        self.storage.read_at(offset..offset.saturating_add(len)).map_err(|e| e.at(structure, offset))
    }

    /// Up to `len` bytes of metadata: fewer where the file ends before, for structures whose length only
    /// their beginning tells.
    pub fn bytes_up_to(&self, structure: &'static str, address: Address, len: u64) -> Result<Bytes> {
        let offset = self.offset(structure, address)?;
        let end = offset.saturating_add(len).min(self.storage.len()?).max(offset);
        self.storage.read_at(offset..end).map_err(|e| e.at(structure, offset))
    }

    /// Decodes the structure in the `len` bytes at `address`; it may end before they do.
    pub fn structure<S: Structure>(&self, address: Address, len: u64, context: &S::Context) -> Result<S> {
        let bytes = self.bytes(S::NAME, address, len)?;
        S::decode(&mut Decoder::new(S::NAME, self.offset(S::NAME, address)?, &bytes), context)
    }

    /// Decodes a structure of unknown length, at most `most` bytes, from what the file has there.
    pub fn structure_up_to<S: Structure>(
        &self,
        address: Address,
        most: u64,
        context: &S::Context,
    ) -> Result<S> {
        let bytes = self.bytes_up_to(S::NAME, address, most)?;
        S::decode(&mut Decoder::new(S::NAME, self.offset(S::NAME, address)?, &bytes), context)
    }

    /// Raw data, past the cache.
    pub fn raw(&self, what: &'static str, address: Address, len: u64) -> Result<Bytes> {
        let offset = self.offset(what, address)?;
        self.storage.uncached().read_at(offset..offset.saturating_add(len)).map_err(|e| e.at(what, offset))
    }

    /// Raw data into memory that is used again; it grows if it must, once it is sure that there is so much.
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
            // The storage says what is missing.
            return Err(storage
                .read_at(offset..offset.saturating_add(len))
                .err()
                .unwrap_or_else(|| Error::malformed(format!("{len} bytes, {there} remain in the file")))
                .at(what, offset));
        };
        let out = room(buffer, len);
        storage.read_into(offset, out).map_err(|e| e.at(what, offset))?;
        Ok(out)
    }

    /// Raw data straight into the caller's memory.
    pub fn raw_into(&self, what: &'static str, address: Address, out: &mut [u8]) -> Result<()> {
        let offset = self.offset(what, address)?;
        self.storage.uncached().read_into(offset, out).map_err(|e| e.at(what, offset))
    }
}
