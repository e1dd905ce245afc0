//! Counts requests, and can simulate remote storage.

use super::Wrapper;
use crate::Result;
use std::sync::atomic::{AtomicU64, Ordering};

/// Storage or a store that counts requests, for tests of how many requests a task makes.
///
/// ```
/// use bytes::Bytes;
/// use hyperslab_core::storage::ReadAt;
/// use hyperslab_core::wrapper::Counted;
///
/// let storage = Counted::far(Bytes::from_static(b"abcdef"));
/// storage.read_ranges(&[0..1, 4..6])?;
/// storage.read_at(2..3)?;
/// assert!(storage.is_far());
/// assert_eq!((storage.requests(), storage.ranges(), storage.bytes()), (2, 3, 4));
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Counted<R> {
    inner: R,
    is_far: bool,
    requests: AtomicU64,
    ranges: AtomicU64,
    bytes: AtomicU64,
}

impl<R> Counted<R> {
    /// Counts the requests of `inner`. Whether it is remote does not change.
    pub fn new(inner: R) -> Self {
        let zero = || AtomicU64::new(0);
        Counted { inner, is_far: false, requests: zero(), ranges: zero(), bytes: zero() }
    }

    /// Counts the requests of `inner`, and reports it as remote.
    pub fn far(inner: R) -> Self {
        Counted { is_far: true, ..Counted::new(inner) }
    }

    /// The number of requests. Several ranges in one request count as one.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// The number of requested ranges.
    pub fn ranges(&self) -> u64 {
        self.ranges.load(Ordering::Relaxed)
    }

    /// The number of bytes read.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl<R: Send + Sync> Wrapper for Counted<R> {
    type Inner = R;

    fn wrapped(&self) -> &R {
        &self.inner
    }

    fn before(&self, pieces: usize) -> Result<()> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.ranges.fetch_add(pieces as u64, Ordering::Relaxed);
        Ok(())
    }

    fn after(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn is_as_far(&self, inner: bool) -> bool {
        self.is_far || inner
    }
}
