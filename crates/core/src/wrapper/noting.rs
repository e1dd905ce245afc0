//! Records failed requests, so that no result can conceal them.

use super::Wrapper;
use crate::storage::{ReadAt, Siblings};
use crate::{Error, ErrorKind, Result};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The failed requests to everything that was opened with it. Clones share them.
///
/// Readers continue after a failed read: one unreadable object must not hide the others. A caller that asked for
/// everything can check here whether a failure occurred that no error reported.
#[derive(Clone, Debug, Default)]
pub struct Failures(Arc<Mutex<Option<String>>>);

impl Failures {
    /// The first request that the system refused, such as a read of a damaged disk or of a file without read
    /// permission. `None` if there was none. A missing file is not a failure.
    pub fn first(&self) -> Option<Error> {
        self.noted().clone().map(|detail| Error::new(ErrorKind::Io, detail))
    }

    /// Whether a request failed.
    pub fn is_empty(&self) -> bool {
        self.noted().is_none()
    }

    /// Records `error` if it is a failure of the system. `asked` describes the request.
    pub fn note(&self, asked: impl fmt::Display, error: &Error) {
        if error.kind() == ErrorKind::Io {
            self.noted().get_or_insert_with(|| format!("reading {asked} failed: {error}"));
        }
    }

    fn noted(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Storage or a store that records failed requests, including those to files that an opened file names.
pub struct Noting<R> {
    inner: R,
    /// The name of this file, if an opened file names it.
    name: Option<String>,
    failures: Failures,
}

impl<R> Noting<R> {
    /// Wraps `inner`. Failed requests are recorded in `failures`.
    pub fn new(inner: R, failures: Failures) -> Self {
        Noting { inner, name: None, failures }
    }
}

impl<R: Send + Sync> Wrapper for Noting<R> {
    type Inner = R;

    fn wrapped(&self) -> &R {
        &self.inner
    }

    fn failed(&self, asked: &dyn fmt::Display, error: &Error) {
        match &self.name {
            Some(name) => self.failures.note(format_args!("{asked} of {name}"), error),
            None => self.failures.note(asked, error),
        }
    }

    fn with_siblings(&self, siblings: Option<Arc<dyn Siblings>>) -> Option<Arc<dyn Siblings>> {
        let failures = self.failures.clone();
        siblings.map(|inner| Arc::new(NotingSiblings { inner, failures }) as Arc<dyn Siblings>)
    }
}

struct NotingSiblings {
    inner: Arc<dyn Siblings>,
    failures: Failures,
}

impl Siblings for NotingSiblings {
    fn identity(&self) -> Option<&Path> {
        self.inner.identity()
    }

    fn own_name(&self) -> Option<&str> {
        self.inner.own_name()
    }

    fn open(&self, name: &str) -> Result<Option<Box<dyn ReadAt>>> {
        let opened = self.inner.open(name).inspect_err(|e| self.failures.note(name, e))?;
        let failures = self.failures.clone();
        Ok(opened.map(|inner| Box::new(Noting { inner, name: Some(name.to_owned()), failures }) as _))
    }

    fn beginning_with(&self, prefix: &str) -> Result<Vec<String>> {
        self.inner.beginning_with(prefix).inspect_err(|e| self.failures.note("the folder of the file", e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Fault, Faulty};
    use bytes::Bytes;

    #[test]
    fn the_first_failure_is_kept_and_a_malformed_file_is_none() {
        let failures = Failures::default();
        let faulty = Faulty::new(Bytes::from_static(b"abcdef"), Fault::PastOffset(3));
        let storage = Noting::new(faulty, failures.clone());
        assert!(storage.read_at(0..3).is_ok() && failures.is_empty());
        assert!(Noting::new(Bytes::new(), failures.clone()).read_at(0..3).is_err() && failures.is_empty());
        assert!(storage.read_at(2..4).is_err() && storage.read_into(5, &mut [0]).is_err());
        let first = failures.first().unwrap();
        assert_eq!(first.kind(), ErrorKind::Io);
        assert_eq!(first.detail(), "reading bytes 0x2 to 0x4 failed: injected failure");
    }
}
