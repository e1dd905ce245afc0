//! Results and errors of verbs as Python objects, and progress as calls to a Python function.

use crate::error::exception;
use hyperslab::{Error, NodePath, Pool};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A JSON value as a Python object.
pub(crate) fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(is_true) => is_true.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (None, Some(number)) => number.into_pyobject(py)?.into_any(),
            (None, None) => number.as_f64().into_pyobject(py)?.into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            items.iter().try_for_each(|item| list.append(object(py, item)?))?;
            list.into_any()
        }
        Value::Object(entries) => {
            let dict = PyDict::new(py);
            entries.iter().try_for_each(|(key, value)| dict.set_item(key, object(py, value)?))?;
            dict.into_any()
        }
    })
}

/// Errors as exceptions that are not raised.
pub(crate) fn exceptions<'py>(py: Python<'py>, errors: &[Error]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, errors.iter().map(|error| exception(py, error).into_value(py)))
}

/// A Python function that is called with the progress of a verb: `(path, bytes, of)`.
pub(crate) struct Progress {
    call: Option<Py<PyAny>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    told: Option<Instant>,
    /// The latest progress, if it was not reported yet.
    latest: Option<(String, u64)>,
    /// The total number of bytes, if known.
    of: Option<u64>,
    raised: Option<PyErr>,
}

impl Progress {
    pub(crate) fn new(call: Option<Py<PyAny>>) -> Progress {
        Progress { call, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the total number of bytes of elements.
    pub(crate) fn of(&self, bytes: u64) {
        self.state().of = Some(bytes);
    }

    /// Reports the progress of the work. An exception in the function stops the work.
    pub(crate) fn tell(&self, pool: &Pool, path: &NodePath, bytes: u64) {
        // While one thread reports, the others continue.
        let Some(call) = &self.call else { return };
        let Ok(mut state) = self.state.try_lock() else { return };
        if state.told.is_some_and(|told| told.elapsed() < INTERVAL) {
            state.latest = Some((path.to_string(), bytes));
            return;
        }
        if state.raised.is_some() {
            return;
        }
        let called = Python::attach(|py| call.call1(py, (path.as_str(), bytes, state.of)));
        (state.told, state.latest) = (Some(Instant::now()), None);
        if let Err(raised) = called {
            state.raised = Some(raised);
            pool.cancel_token().cancel();
        }
    }

    /// The result of the work, or the exception that the function raised. Reports the last progress.
    pub(crate) fn end<T>(self, py: Python<'_>, done: PyResult<T>) -> PyResult<T> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(raised) = state.raised {
            return Err(raised);
        }
        if let (Ok(_), Some(call), Some((path, bytes))) = (&done, &self.call, state.latest) {
            call.call1(py, (path, bytes, state.of))?;
        }
        done
    }
}

/// How often progress is reported.
const INTERVAL: Duration = Duration::from_millis(50);
