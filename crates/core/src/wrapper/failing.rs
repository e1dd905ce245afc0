//! Storage or a store in which one request fails, for tests.

use super::Wrapper;
use crate::storage::{ReadAt, Siblings};
use crate::{Error, ErrorKind, Result};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Storage or a store in which one request fails with [`ErrorKind::Io`]. Requests to files that it names, and requests
/// to open these files, are counted too.
#[derive(Clone, Debug)]
pub struct Failing<R> {
    inner: R,
    failing: u64,
    requests: Arc<AtomicU64>,
}

impl<R> Failing<R> {
    /// Fails the request with this number, counted from 0.
    pub fn new(inner: R, failing: u64) -> Self {
        Failing { inner, failing, requests: Arc::default() }
    }

    /// The number of requests so far, shared by clones.
    pub fn requests(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.requests)
    }
}

fn count(requests: &AtomicU64, failing: u64) -> Result<()> {
    match requests.fetch_add(1, Ordering::Relaxed) == failing {
        true => Err(Error::new(ErrorKind::Io, "injected failure")),
        false => Ok(()),
    }
}

impl<R: Send + Sync> Wrapper for Failing<R> {
    type Inner = R;

    fn wrapped(&self) -> &R {
        &self.inner
    }

    fn before(&self, _pieces: usize) -> Result<()> {
        count(&self.requests, self.failing)
    }

    fn with_siblings(&self, siblings: Option<Arc<dyn Siblings>>) -> Option<Arc<dyn Siblings>> {
        let inner = siblings?;
        Some(Arc::new(Failing { inner, failing: self.failing, requests: Arc::clone(&self.requests) }))
    }
}

impl Siblings for Failing<Arc<dyn Siblings>> {
    fn identity(&self) -> Option<&Path> {
        self.inner.identity()
    }

    fn own_name(&self) -> Option<&str> {
        self.inner.own_name()
    }

    fn open(&self, name: &str) -> Result<Option<Box<dyn ReadAt>>> {
        count(&self.requests, self.failing)?;
        let requests = Arc::clone(&self.requests);
        let opened = self.inner.open(name)?;
        Ok(opened.map(|inner| Box::new(Failing { inner, failing: self.failing, requests }) as _))
    }

    fn beginning_with(&self, prefix: &str) -> Result<Vec<String>> {
        count(&self.requests, self.failing)?;
        self.inner.beginning_with(prefix)
    }
}
