//! Memory for large outputs.

use crate::{Error, ErrorKind, Result};
use bytes::Bytes;
use memmap2::MmapMut;
use std::ops::{Deref, DerefMut};

/// Zeroed bytes that were not yet touched. The system provides a page when it is first written, so threads that fill
/// parts of the memory share that work.
///
/// From 4 MiB on, huge pages are requested: the 262,144 small pages of a GiB cost more time than decoding the data.
///
/// ```
/// use hyperslab_core::memory::Memory;
///
/// let mut rows = Memory::zeroed(10)?;
/// rows[3] = 7;
/// assert_eq!(bytes::Bytes::from(rows), [0, 0, 0, 7, 0, 0, 0, 0, 0, 0][..]);
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
pub struct Memory(Kind);

enum Kind {
    Heap(Vec<u8>),
    /// Anonymous memory. It is not backed by a file, which another process could truncate.
    Mapped(MmapMut),
}

impl Memory {
    /// Allocates `len` zero bytes.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] if the system does not have enough memory.
    pub fn zeroed(len: usize) -> Result<Memory> {
        if len < MIN_MAPPED {
            return Ok(Memory(Kind::Heap(vec![0; len])));
        }
        let no_room = |_| Error::new(ErrorKind::LimitExceeded, format!("no memory for {len} bytes"));
        let map = MmapMut::map_anon(len).map_err(no_room)?;
        #[cfg(target_os = "linux")]
        {
            // A kernel without huge pages refuses this, which only makes it slower.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Ok(Memory(Kind::Mapped(map)))
    }
}

impl Deref for Memory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Kind::Heap(bytes) => bytes,
            Kind::Mapped(map) => map,
        }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Kind::Heap(bytes) => bytes,
            Kind::Mapped(map) => map,
        }
    }
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<Memory> for Bytes {
    fn from(memory: Memory) -> Bytes {
        match memory.0 {
            Kind::Heap(bytes) => bytes.into(),
            Kind::Mapped(_) => Bytes::from_owner(memory),
        }
    }
}

/// The first `len` bytes of a reusable buffer, which grows if necessary. Their content is left over from earlier use.
///
/// ```
/// use hyperslab_core::memory::room;
///
/// let mut buffer = Vec::new();
/// room(&mut buffer, 3).fill(7);
/// assert_eq!(room(&mut buffer, 2), [7, 7]);
/// assert_eq!(room(&mut buffer, 4), [0; 4]);
/// ```
pub fn room(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        // Fresh zeros are provided page by page when they are written, so a length that a frame claims but does not
        // fill costs nothing.
        *buffer = vec![0; len];
    }
    buffer.get_mut(..len).unwrap_or_default()
}

/// Checks that the system has memory for a large buffer. Without it, allocating the buffer would end the process.
///
/// # Errors
/// [`ErrorKind::LimitExceeded`] if the system does not have enough memory.
pub fn check_memory(len: usize) -> Result<()> {
    if len < MIN_MAPPED {
        return Ok(());
    }
    let reserved = Vec::<u8>::new().try_reserve_exact(len);
    reserved.map_err(|_| Error::new(ErrorKind::LimitExceeded, format!("no memory for {len} bytes")))
}

const MIN_MAPPED: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_small_memory_is_zero_and_can_be_written() {
        for len in [0, 1, MIN_MAPPED - 1, MIN_MAPPED, MIN_MAPPED + 1] {
            let mut memory = Memory::zeroed(len).unwrap();
            assert!(memory.len() == len && memory.iter().all(|byte| *byte == 0));
            if let Some(last) = memory.last_mut() {
                *last = 9;
            }
            let bytes = Bytes::from(memory);
            assert_eq!((bytes.len(), bytes.last()), (len, (len > 0).then_some(&9)));
        }
    }

    #[test]
    fn rejects_sizes_that_no_system_has() {
        let e = Memory::zeroed(usize::MAX >> 1).err().unwrap();
        assert_eq!(e.kind(), ErrorKind::LimitExceeded);
    }
}
