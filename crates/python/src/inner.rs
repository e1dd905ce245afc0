//! Keys of `[...]` that extend into the inner axes of elements.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PySlice, PyString, PyTuple};

/// The part of a key for the dimensions of an array, and a key for each inner axis of its elements.
type Parts<'py> = (Bound<'py, PyTuple>, Vec<Bound<'py, PyAny>>);

/// The parts of a key; `None` if it does not extend to the inner axes of elements.
pub(crate) fn split<'py>(key: &Bound<'py, PyAny>, rank: usize, axes: usize) -> PyResult<Option<Parts<'py>>> {
    let py = key.py();
    let items: Vec<Bound<'py, PyAny>> = match key.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().collect(),
        Err(_) => vec![key.clone()],
    };
    let is_between = |item: &Bound<'py, PyAny>| item.is_instance_of::<PyEllipsis>();
    let is_along =
        |item: &Bound<'py, PyAny>| !item.is_none() && !is_between(item) && !item.is_instance_of::<PyString>();
    let along = items.iter().filter(|item| is_along(item)).count();
    let betweens = items.iter().filter(|item| is_between(item)).count();
    let Some(between) = rank.saturating_add(axes).checked_sub(along) else { return Ok(None) };
    if along == 0 || betweens > 1 || (betweens == 0 && along <= rank) {
        return Ok(None);
    }
    let (mut outer, mut inner, mut at) = (Vec::new(), Vec::new(), 0_usize);
    let mut put = |item: Bound<'py, PyAny>| {
        let of = if at < rank { &mut outer } else { &mut inner };
        of.push(item);
        at = at.saturating_add(1);
    };
    for item in items {
        if is_between(&item) {
            (0..between).for_each(|_| put(PySlice::full(py).into_any()));
        } else if is_along(&item) {
            put(item);
        } else {
            // New axes and members of compounds belong to the array.
            return Ok(None);
        }
    }
    Ok(Some((PyTuple::new(py, outer)?, inner)))
}

/// Applies the keys of the last axes, axis by axis.
pub(crate) fn picked<'py>(
    read: Bound<'py, PyAny>,
    keys: Vec<Bound<'py, PyAny>>,
    axes: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let py = read.py();
    let rank: usize = read.getattr(intern!(py, "ndim"))?.extract()?;
    let first = rank.saturating_sub(axes);
    let mut picked = read;
    // The last axis comes first, so that a removed axis does not shift the others.
    for (at, key) in keys.into_iter().enumerate().rev() {
        let mut whole = vec![PySlice::full(py).into_any(); first.saturating_add(at)];
        whole.push(key);
        picked = picked.get_item(PyTuple::new(py, whole)?)?;
    }
    Ok(picked)
}
