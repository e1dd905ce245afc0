//! The pool of the process, and work without the GIL that Ctrl-C can stop.

use crate::error::Raised;
use hyperslab::{CancelToken, Pool, Result};
use pyo3::prelude::*;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

static POOL: Mutex<Option<Pool>> = Mutex::new(None);

/// The pool of all work in this process.
pub(crate) fn pool() -> Pool {
    let mut known = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    known.get_or_insert_with(|| Pool::shared().clone()).clone()
}

/// Number of threads that read and decode [default: number of CPUs].
#[pyfunction]
pub(crate) fn threads() -> usize {
    pool().threads()
}

/// Set the number of threads for all work that starts from now on; 0 for the number of CPUs.
#[pyfunction]
pub(crate) fn set_threads(count: usize) {
    *POOL.lock().unwrap_or_else(PoisonError::into_inner) = Some(Pool::new(count, Pool::MEMORY));
}

/// Runs work without the GIL. Work of more than [`SHORT`] bytes runs in a thread of its own, so that this thread sees
/// signals.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    bytes: usize,
    work: impl FnOnce(&Pool) -> Result<T> + Send,
) -> PyResult<T> {
    if bytes <= SHORT {
        return py.detach(|| work(&pool())).raised(py);
    }
    let pool = pool().with_cancel(CancelToken::new());
    let mut interrupted = None;
    let done = py.detach(|| {
        let mut look = || match Python::attach(|py| py.check_signals()) {
            Ok(()) => false,
            Err(raised) => {
                interrupted.get_or_insert(raised);
                true
            }
        };
        pool.watched(INTERVAL, &mut look, work)
    });
    match interrupted {
        Some(raised) => Err(raised),
        None => done.raised(py),
    }
}

/// An array, with the name of its file for errors.
pub(crate) struct Opened {
    pub(crate) array: hyperslab::Array,
    pub(crate) file: Option<Arc<str>>,
}

impl Deref for Opened {
    type Target = hyperslab::Array;

    fn deref(&self) -> &hyperslab::Array {
        &self.array
    }
}

impl Opened {
    /// Runs work on the array, as [`run`] does. Short work keeps decoded chunks.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        bytes: usize,
        work: impl FnOnce(&hyperslab::Array) -> Result<T> + Send,
    ) -> PyResult<T> {
        run(py, bytes, |pool| {
            let done = match bytes <= SHORT {
                true => work(&self.array),
                false => work(&self.array.with_pool(pool)),
            };
            in_file(done, self.file.as_deref())
        })
    }
}

/// The same result, with the name of the file in the error.
pub(crate) fn in_file<T>(done: Result<T>, file: Option<&str>) -> Result<T> {
    done.map_err(|error| match file {
        Some(file) => error.in_file(file),
        None => error,
    })
}

/// Elements of at most this many bytes are read before anyone could press a key.
const SHORT: usize = 4 << 20;

/// How often signals are checked.
const INTERVAL: Duration = Duration::from_millis(20);
