//! Reads that fail when their token is cancelled.

use super::Wrapper;
use crate::{CancelToken, Result};

/// Storage or a store that checks a token before each read, and splits long reads so that checks are frequent. Walks of
/// indexes and headers therefore also end soon after a cancellation.
pub struct Cancellable<R> {
    inner: R,
    token: CancelToken,
}

impl<R> Cancellable<R> {
    /// Wraps `inner`. Reads fail with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) after `token` is cancelled.
    pub fn new(inner: R, token: CancelToken) -> Self {
        Cancellable { inner, token }
    }
}

impl<R: Send + Sync> Wrapper for Cancellable<R> {
    type Inner = R;

    fn wrapped(&self) -> &R {
        &self.inner
    }

    fn before(&self, _pieces: usize) -> Result<()> {
        self.token.check()
    }

    fn longest_read(&self) -> usize {
        MAX_READ
    }
}

/// The maximum number of bytes between two checks: a few milliseconds of a local disk.
const MAX_READ: usize = 8 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::storage::ReadAt;
    use bytes::Bytes;

    #[test]
    fn reads_end_once_the_token_is_cancelled() {
        let token = CancelToken::new();
        let storage = Cancellable::new(Bytes::from_static(b"0123456789"), token.clone());
        assert_eq!(storage.read_at(2..5).unwrap(), "234");
        let mut out = [0; 3];
        storage.read_into(7, &mut out).unwrap();
        assert_eq!(&out, b"789");
        token.cancel();
        assert_eq!(storage.read_at(2..5).unwrap_err().kind(), ErrorKind::Cancelled);
        assert_eq!(storage.read_into(7, &mut out).unwrap_err().kind(), ErrorKind::Cancelled);
        assert_eq!(storage.read_ranges(&[0..1, 2..4]).unwrap_err().kind(), ErrorKind::Cancelled);
        assert_eq!(storage.len().unwrap(), 10);
    }

    #[test]
    fn a_long_read_is_split_and_complete() {
        let bytes: Vec<u8> = (0..MAX_READ + 5).map(|i| u8::try_from(i % 251).unwrap()).collect();
        let storage = Cancellable::new(Bytes::from(bytes.clone()), CancelToken::new());
        let mut out = vec![0; bytes.len() - 1];
        storage.read_into(1, &mut out).unwrap();
        assert!(out == bytes[1..]);
    }
}
