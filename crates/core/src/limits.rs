//! Limits on the memory that a file can make a reader allocate.

use crate::{Error, Limit, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Limits for reading files that are not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes for structures and temporary buffers at any time. Output that the caller asks for is not counted.
    pub allocation: u64,
    /// Levels of nested datatypes.
    pub nesting: u32,
    /// Dimensions of an array.
    pub rank: u32,
    /// Filters in a pipeline.
    pub filters: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { allocation: 1 << 30, nesting: 32, rank: 64, filters: 32 }
    }
}

impl Limits {
    /// The same limits with an unlimited allocation, for input that comes from the user, not from a file.
    pub fn of_any_size() -> Limits {
        Limits { allocation: u64::MAX, ..Limits::default() }
    }

    /// The same limits with one of them changed.
    #[must_use]
    pub fn with(mut self, limit: Limit, value: u64) -> Limits {
        let narrow = u32::try_from(value).unwrap_or(u32::MAX);
        match limit {
            Limit::Allocation => self.allocation = value,
            Limit::Nesting => self.nesting = narrow,
            Limit::Rank => self.rank = narrow,
            Limit::Filters => self.filters = narrow,
        }
        self
    }

    /// Checks, before memory for a chunk is allocated, that its size is in proportion to the stored bytes. A few bytes
    /// can decode to any number of bytes, through several codecs or as elements of variable length.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded).
    pub fn check_chunk(&self, stored: u64, decoded: u64) -> Result<()> {
        if decoded <= self.allocation / CHUNK_SHARE || decoded <= stored.saturating_mul(MAX_RATIO) {
            return Ok(());
        }
        let detail = format!("{stored} stored bytes of a chunk take {decoded} in memory");
        Err(Error::limit_exceeded(Limit::Allocation, detail))
    }
}

/// The part of [`Limits::allocation`] that is left. Clones share it.
#[derive(Clone, Debug)]
pub struct Budget {
    left: Arc<AtomicU64>,
    limit: u64,
}

/// Bytes taken from a [`Budget`]. Dropping it gives them back.
#[derive(Debug)]
pub struct Charge {
    left: Arc<AtomicU64>,
    bytes: u64,
}

impl Budget {
    /// A budget of all bytes that `limits` allow.
    pub fn new(limits: &Limits) -> Self {
        Budget { left: Arc::new(AtomicU64::new(limits.allocation)), limit: limits.allocation }
    }

    /// Takes `bytes` from the budget. Called before they are allocated.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded).
    pub fn charge(&self, bytes: u64) -> Result<Charge> {
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes))
            .map(|_| Charge { left: Arc::clone(&self.left), bytes })
            .map_err(|left| {
                let detail = format!("needs {bytes} bytes, {left} of {} are left", self.limit);
                Error::limit_exceeded(Limit::Allocation, detail)
            })
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.left.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

/// Chunks that take at most this part of the allocation limit may have any ratio.
const CHUNK_SHARE: u64 = 8;
/// Above the maximum ratio of deflate.
const MAX_RATIO: u64 = 1100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn large_chunks_are_in_proportion_to_their_stored_bytes() {
        let limits = Limits::default();
        limits.check_chunk(1, 128 << 20).unwrap();
        limits.check_chunk(1 << 20, 1 << 30).unwrap();
        assert_eq!(limits.check_chunk(4096, 512 << 20).unwrap_err().kind(), ErrorKind::LimitExceeded);
        Limits { allocation: 4 << 30, ..limits }.check_chunk(4096, 512 << 20).unwrap();
    }

    #[test]
    fn charges_are_shared_and_released() {
        let budget = Budget::new(&Limits { allocation: 10, ..Limits::default() });
        let other = budget.clone();
        let held = budget.charge(7).unwrap();
        assert_eq!(other.charge(4).unwrap_err().kind(), ErrorKind::LimitExceeded);
        drop(held);
        drop(other.charge(10).unwrap());
        assert!(budget.charge(u64::MAX).is_err());
    }
}
