//! Attributes as values of Python.

use crate::dtype::plain;
use crate::object;
use hyperslab::model::{Attribute, Attributes, Datatype, Directive, Element, Elements, Values};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// Attributes by name. One that cannot be read is left out, and [`unreadable`] tells why.
pub(crate) fn dict<'py>(py: Python<'py>, attributes: &Attributes) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, attribute) in attributes {
        if let Ok(attribute) = attribute {
            dict.set_item(name, value(py, attribute)?)?;
        }
    }
    Ok(dict)
}

/// Why attributes cannot be read.
pub(crate) fn unreadable(attributes: &Attributes) -> Vec<(&str, &str)> {
    attributes
        .iter()
        .filter_map(|(name, of)| Some((name.as_str(), of.as_ref().err()?.reason.as_str())))
        .collect()
}

/// A text, a number of NumPy, or an array; several texts are a list, and a null dataspace is `None`. A document of JSON, as Zarr
/// has them, is what it says: a dictionary, a list, or `None` for `null`.
fn value<'py>(py: Python<'py>, attribute: &Attribute) -> PyResult<Bound<'py, PyAny>> {
    let Some(shape) = &attribute.shape else { return Ok(py.None().into_bound(py)) };
    let value = of_shape(py, &attribute.datatype, &attribute.value, shape)?;
    match is_document(attribute) {
        true => py.import(intern!(py, "json"))?.call_method1(intern!(py, "loads"), (value,)),
        false => Ok(value),
    }
}

/// Whether the text of an attribute is a document of JSON.
fn is_document(attribute: &Attribute) -> bool {
    let says_so =
        |(format, said): &(&str, Directive)| *format == "zarr" && *said == Directive::Text("json".to_owned());
    matches!(attribute.datatype.resolved(), Datatype::String(_))
        && attribute.shape.as_ref().is_some_and(Vec::is_empty)
        && attribute.native.iter().any(says_so)
}

/// Elements with a shape; no dimensions make one value.
pub(crate) fn of_shape<'py>(
    py: Python<'py>,
    datatype: &Datatype,
    values: &Values,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    if matches!(datatype.resolved(), Datatype::String(_)) && shape.len() < 2 {
        let texts = PyList::empty(py);
        for element in Elements::new(datatype, values) {
            if let Element::Text(bytes) = element.get() {
                texts.append(object::text(py, bytes))?;
            }
        }
        return match shape {
            [] => texts.get_item(0),
            _ => Ok(texts.into_any()),
        };
    }
    if datatype.row_size() == Some(0) {
        // Elements without bytes cannot be counted by them.
        let zeros = (PyTuple::new(py, shape)?, plain(py, datatype)?);
        let zeros = py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "zeros"), zeros)?;
        return if shape.is_empty() { zeros.get_item(PyTuple::empty(py)) } else { Ok(zeros) };
    }
    let flat = object::array(py, datatype, values)?;
    match shape {
        [] => flat.get_item(0),
        [_] => Ok(flat),
        shape => {
            // Elements can be arrays themselves.
            let inner: Vec<u64> = flat.getattr(intern!(py, "shape"))?.extract()?;
            let all: Vec<u64> = shape.iter().chain(inner.iter().skip(1)).copied().collect();
            flat.call_method1(intern!(py, "reshape"), (PyTuple::new(py, all)?,))
        }
    }
}
