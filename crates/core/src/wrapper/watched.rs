//! Reads that tell how much they bring.

use super::Wrapper;
use std::sync::Arc;

/// Storage or a store that says of every read how many bytes it was, from whichever thread: for progress.
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

impl<R: Send + Sync> Wrapper for Watched<R> {
    type Inner = R;

    fn wrapped(&self) -> &R {
        &self.inner
    }

    fn after(&self, bytes: u64) {
        (self.seen)(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::ReadAt;
    use bytes::Bytes;
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
