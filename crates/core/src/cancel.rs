//! Stopping work before it is done.

use crate::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops work that carries it: once any holder of a clone cancels, the work fails with [`ErrorKind::Cancelled`] at its
/// next chunk, object or read. The default token is never cancelled.
///
/// ```
/// use hyperslab_core::{CancelToken, ErrorKind};
///
/// let token = CancelToken::new();
/// assert!(token.check().is_ok());
/// token.clone().cancel();
/// assert_eq!(token.check().unwrap_err().kind(), ErrorKind::Cancelled);
/// assert!(CancelToken::default().check().is_ok());
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Option<Arc<AtomicBool>>);

impl CancelToken {
    /// A token that can be cancelled.
    pub fn new() -> Self {
        CancelToken::from(Arc::default())
    }

    /// Stops all work that carries this token, now and later. Has no effect on the default token.
    pub fn cancel(&self) {
        if let Some(flag) = &self.0 {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the token can be cancelled at all.
    pub fn can_cancel(&self) -> bool {
        self.0.is_some()
    }

    /// Whether the token has been cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Fails if the token has been cancelled. The check reads memory that all threads share, so make it once per chunk,
    /// not once per element.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`].
    pub fn check(&self) -> Result<()> {
        match self.is_cancelled() {
            true => Err(Error::new(ErrorKind::Cancelled, "cancelled")),
            false => Ok(()),
        }
    }
}

impl From<Arc<AtomicBool>> for CancelToken {
    /// A token that is cancelled when the flag is set, for example by a signal handler.
    fn from(flag: Arc<AtomicBool>) -> Self {
        CancelToken(Some(flag))
    }
}
