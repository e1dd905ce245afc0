//! Storage that tells how much of it is read.

use super::{ReadAt, Siblings};
use crate::Result;
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// Storage that says of every read how many bytes it was, from whichever thread: for progress.
pub struct Watched<R> {
    inner: R,
    seen: Arc<dyn Fn(u64) + Send + Sync>,
}

impl<R> Watched<R> {
    /// The same storage, each read of which `seen` is told once it is done.
    pub fn new(inner: R, seen: Arc<dyn Fn(u64) + Send + Sync>) -> Self {
        Watched { inner, seen }
    }
}

impl<R: ReadAt> ReadAt for Watched<R> {
    fn len(&self) -> Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        let bytes = self.inner.read_at(range)?;
        (self.seen)(bytes.len() as u64);
        Ok(bytes)
    }

    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        self.inner.read_into(offset, out)?;
        (self.seen)(out.len() as u64);
        Ok(())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let pieces = self.inner.read_ranges(ranges)?;
        (self.seen)(pieces.iter().fold(0, |sum: u64, piece| sum.saturating_add(piece.len() as u64)));
        Ok(pieces)
    }

    fn is_far(&self) -> bool {
        self.inner.is_far()
    }

    fn siblings(&self) -> Option<Arc<dyn Siblings>> {
        self.inner.siblings()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn every_byte_that_is_read_is_told_and_no_other() {
        let seen = Arc::new(AtomicU64::new(0));
        let told = Arc::clone(&seen);
        let add = move |bytes| {
            told.fetch_add(bytes, Ordering::Relaxed);
        };
        let storage = Watched::new(Bytes::from_static(b"0123456789"), Arc::new(add));
        assert_eq!(storage.read_at(2..5).unwrap(), "234");
        storage.read_into(4, &mut [0; 6]).unwrap();
        assert!(storage.read_at(5..11).is_err() && storage.read_into(9, &mut [0; 2]).is_err());
        assert_eq!(storage.read_ranges(&[0..1, 1..3]).unwrap().len(), 2);
        assert_eq!(seen.load(Ordering::Relaxed), 3 + 6 + 3);
    }
}
