//! How arrays are stored, as dictionaries.

use crate::attribute::of_shape;
use hyperslab::model::{Datatype, Directive, Fill, Storage};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The storage of an array, in NDL notation.
pub(crate) fn dict<'py>(
    py: Python<'py>,
    storage: &Storage,
    datatype: Option<&Datatype>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    if let Some(chunk) = &storage.chunk {
        dict.set_item("chunk", chunk)?;
    }
    if let Some(shard) = &storage.shard {
        dict.set_item("shard", shard)?;
    }
    let filters = PyList::empty(py);
    for filter in &storage.filters {
        let parameters = PyDict::new(py);
        for (key, value) in &filter.parameters {
            parameters.set_item(key, directive(py, value)?)?;
        }
        filters.append((&filter.name, parameters))?;
    }
    dict.set_item("filters", filters)?;
    match (&storage.fill, datatype) {
        (Fill::Value(value), Some(datatype)) => dict.set_item("fill", of_shape(py, datatype, value, &[])?)?,
        (Fill::Undefined, _) => dict.set_item("fill", "undefined")?,
        _ => {}
    }
    if let Some(layout) = &storage.layout {
        dict.set_item("layout", layout.name())?;
    }
    if let Some(order) = storage.element.endian {
        dict.set_item("endian", order.name())?;
    }
    if let Some(charset) = storage.element.charset {
        dict.set_item("charset", charset.name())?;
    }
    let native = PyDict::new(py);
    for (format, directives) in &storage.native {
        let own = PyDict::new(py);
        for (key, value) in directives {
            own.set_item(key, directive(py, value)?)?;
        }
        native.set_item(format, own)?;
    }
    if !native.is_empty() {
        dict.set_item("native", native)?;
    }
    Ok(dict)
}

fn directive<'py>(py: Python<'py>, value: &Directive) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Directive::Null => py.None().into_bound(py),
        Directive::Bool(is_true) => is_true.into_pyobject(py)?.to_owned().into_any(),
        Directive::Int(number) => number.into_pyobject(py)?.into_any(),
        Directive::Float(number) => number.into_pyobject(py)?.into_any(),
        Directive::Text(text) => text.into_pyobject(py)?.into_any(),
        Directive::List(items) => {
            let list = PyList::empty(py);
            items.iter().try_for_each(|item| list.append(directive(py, item)?))?;
            list.into_any()
        }
        Directive::Map(entries) => {
            let dict = PyDict::new(py);
            for (key, value) in entries {
                dict.set_item(key, directive(py, value)?)?;
            }
            dict.into_any()
        }
    })
}
