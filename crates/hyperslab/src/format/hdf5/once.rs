//! Information about a whole file that is determined once, when it is first requested.

use hyperslab_core::{Error, ErrorKind, Result};
use std::sync::OnceLock;

/// A value that is determined at most once. A failure is kept as well: every object asks for the value, and each
/// attempt would read the file again up to the failure.
#[derive(Debug)]
pub(super) struct Once<T>(OnceLock<std::result::Result<T, (ErrorKind, String)>>);

impl<T> Once<T> {
    pub(super) fn new() -> Once<T> {
        Once(OnceLock::new())
    }

    /// The value, or the reason why it could not be determined.
    pub(super) fn get_or_find(&self, find: impl FnOnce() -> Result<T>) -> Result<&T> {
        let found = self.0.get_or_init(|| find().map_err(|e| (e.kind(), e.to_string())));
        found.as_ref().map_err(|(kind, detail)| Error::new(*kind, detail.clone()))
    }
}
