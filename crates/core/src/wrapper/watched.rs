//! Reports the number of bytes of each read.

use super::Wrapper;
use std::sync::Arc;

/// Storage or a store that reports the size of each read, from any thread, for progress displays.
pub struct Watched<R> {
    inner: R,
    seen: Arc<dyn Fn(u64) + Send + Sync>,
}

impl<R> Watched<R> {
    /// Wraps `inner`. Calls `seen` with the number of bytes after each read.
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
    fn reports_exactly_the_bytes_that_are_read() {
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
