//! Storage that counts what is asked of it, and that can pass for one far away.

use super::{ReadAt, Siblings};
use crate::Result;
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Storage that counts requests: tests hold on to how many a task takes.
///
/// ```
/// use bytes::Bytes;
/// use hyperslab_core::storage::{Counted, ReadAt};
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

impl<R: ReadAt> Counted<R> {
    /// Storage as near or as far as the inner one.
    pub fn new(inner: R) -> Self {
        let is_far = inner.is_far();
        let zero = || AtomicU64::new(0);
        Counted { inner, is_far, requests: zero(), ranges: zero(), bytes: zero() }
    }

    /// Storage that says that it is far away.
    pub fn far(inner: R) -> Self {
        Counted { is_far: true, ..Counted::new(inner) }
    }

    /// Requests so far; one for several ranges that are asked for at once.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Ranges that were asked for.
    pub fn ranges(&self) -> u64 {
        self.ranges.load(Ordering::Relaxed)
    }

    /// Bytes that were asked for.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn count(&self, ranges: usize, bytes: u64) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.ranges.fetch_add(ranges as u64, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl<R: ReadAt> ReadAt for Counted<R> {
    fn len(&self) -> Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        self.count(1, range.end.saturating_sub(range.start));
        self.inner.read_at(range)
    }

    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        self.count(1, out.len() as u64);
        self.inner.read_into(offset, out)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let bytes =
            ranges.iter().fold(0_u64, |sum, range| sum.saturating_add(range.end.saturating_sub(range.start)));
        self.count(ranges.len(), bytes);
        self.inner.read_ranges(ranges)
    }

    fn is_far(&self) -> bool {
        self.is_far
    }

    fn siblings(&self) -> Option<Arc<dyn Siblings>> {
        self.inner.siblings()
    }
}
