//! Writes the bytes of a file to storage.

use crate::format::Address;
use hyperslab_core::Result;
use hyperslab_core::storage::WriteAt;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Writes to a storage, with short consecutive pieces combined. Elements and headers have a buffer each, since both are
/// written in the order of their addresses.
pub(super) struct Output {
    storage: Arc<dyn WriteAt>,
    /// The offset of address 0.
    base: u64,
    metadata: Mutex<Buffer>,
    raw: Mutex<Buffer>,
}

/// Bytes that are not written yet.
#[derive(Default)]
struct Buffer {
    start: u64,
    bytes: Vec<u8>,
}

impl Output {
    pub(super) fn new(storage: Arc<dyn WriteAt>, base: u64) -> Output {
        Output { storage, base, metadata: Mutex::default(), raw: Mutex::default() }
    }

    /// Writes headers and related structures, or keeps the bytes until others follow.
    pub(super) fn write_metadata(&self, address: Address, bytes: &[u8]) -> Result<()> {
        self.write(&self.metadata, address, bytes)
    }

    /// Writes elements, heaps of elements and indexes, or keeps the bytes until others follow.
    pub(super) fn write_raw(&self, address: Address, bytes: &[u8]) -> Result<()> {
        match bytes.len() >= LARGE {
            // Threads write large pieces at the same time.
            true => self.write_now(address, bytes),
            false => self.write(&self.raw, address, bytes),
        }
    }

    /// Writes bytes immediately.
    pub(super) fn write_now(&self, address: Address, bytes: &[u8]) -> Result<()> {
        self.storage.write_at(self.base.saturating_add(address.0), bytes)
    }

    /// Reserves the space of a large block, so that a full disk fails here.
    pub(super) fn reserve(&self, address: Address, len: u64) -> Result<()> {
        if len < LARGE as u64 {
            return Ok(());
        }
        let start = self.base.saturating_add(address.0);
        self.storage.allocate(start..start.saturating_add(len))
    }

    /// Writes the bytes that are kept.
    pub(super) fn flush(&self) -> Result<()> {
        self.write_out(&mut lock(&self.metadata))?;
        self.write_out(&mut lock(&self.raw))
    }

    /// Makes the storage end at an address.
    pub(super) fn set_end(&self, end: u64) -> Result<()> {
        self.storage.set_len(self.base.saturating_add(end))
    }

    fn write(&self, buffer: &Mutex<Buffer>, address: Address, bytes: &[u8]) -> Result<()> {
        let mut buffer = lock(buffer);
        let follows = buffer.start.saturating_add(buffer.bytes.len() as u64) == address.0;
        if !follows || buffer.bytes.len().saturating_add(bytes.len()) > BUFFER {
            self.write_out(&mut buffer)?;
            buffer.start = address.0;
        }
        if bytes.len() > BUFFER {
            return self.write_now(address, bytes);
        }
        buffer.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn write_out(&self, buffer: &mut Buffer) -> Result<()> {
        if !buffer.bytes.is_empty() {
            self.write_now(Address(buffer.start), &buffer.bytes)?;
            buffer.start = buffer.start.saturating_add(buffer.bytes.len() as u64);
            buffer.bytes.clear();
        }
        Ok(())
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("base", &self.base).finish_non_exhaustive()
    }
}

fn lock(buffer: &Mutex<Buffer>) -> MutexGuard<'_, Buffer> {
    buffer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The size of a buffer in bytes.
const BUFFER: usize = 1 << 20;

/// The minimum size in bytes of pieces that are written immediately.
const LARGE: usize = 64 << 10;
