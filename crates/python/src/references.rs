//! References to chunks in the kerchunk format.
//!
//! Spec: kerchunk, References specification, version 1

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use std::fmt::Write;

/// Adds the references to the chunks of an array: a key for each row of indices, with its address, offset and length.
///
/// prefix: the path of the array, with a slash at its end
/// which: for each chunk, the position of its address in `urls`
#[pyfunction]
pub(crate) fn add_references<'py>(
    refs: &Bound<'py, PyDict>,
    prefix: &str,
    index: PyReadonlyArray2<'py, u64>,
    offset: PyReadonlyArray1<'py, u64>,
    length: PyReadonlyArray1<'py, u64>,
    urls: Vec<Bound<'py, PyString>>,
    which: PyReadonlyArray1<'py, u32>,
) -> PyResult<()> {
    let py = refs.py();
    let index = index.as_array();
    let places = offset.as_array().into_iter().zip(length.as_array()).zip(which.as_array());
    let mut key = String::from(prefix);
    for (row, ((offset, length), which)) in index.rows().into_iter().zip(places) {
        key.truncate(prefix.len());
        for (dimension, at) in row.iter().enumerate() {
            let point = if dimension == 0 { "" } else { "." };
            write!(key, "{point}{at}").map_err(|error| PyValueError::new_err(error.to_string()))?;
        }
        if row.is_empty() {
            // The single chunk of a scalar array also needs a key.
            key.push('0');
        }
        let url = usize::try_from(*which).ok().and_then(|which| urls.get(which));
        let Some(url) = url else {
            return Err(PyValueError::new_err(format!(
                "a chunk refers to file {which}, expected a number below {}",
                urls.len()
            )));
        };
        let place = [
            url.as_any().clone(),
            offset.into_pyobject(py)?.into_any(),
            length.into_pyobject(py)?.into_any(),
        ];
        refs.set_item(&key, PyList::new(py, place)?)?;
    }
    Ok(())
}
