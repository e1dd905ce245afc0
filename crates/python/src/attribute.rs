//! Attributes as Python values.

use crate::dtype::plain;
use crate::object;
use hyperslab::model::{Attribute, Attributes, Datatype, Directive, Element, Elements, Values};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// Attributes by name. One that cannot be read is left out, and [`unreadable`] returns the reason.
pub(crate) fn dict<'py>(py: Python<'py>, attributes: &Attributes) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, attribute) in attributes {
        if let Ok(attribute) = attribute {
            dict.set_item(name, value(py, attribute)?)?;
        }
    }
    Ok(dict)
}

/// Attributes that cannot be read, with the reasons.
pub(crate) fn unreadable(attributes: &Attributes) -> Vec<(&str, &str)> {
    attributes
        .iter()
        .filter_map(|(name, of)| Some((name.as_str(), of.as_ref().err()?.reason.as_str())))
        .collect()
}

/// A string, a NumPy number, or an array; several strings are a list, and a null dataspace is `None`. A JSON document,
/// as in Zarr, is decoded: to a dictionary, a list, or `None` for `null`.
fn value<'py>(py: Python<'py>, attribute: &Attribute) -> PyResult<Bound<'py, PyAny>> {
    let Some(shape) = &attribute.shape else { return Ok(py.None().into_bound(py)) };
    let value = of_shape(py, &attribute.datatype, &attribute.value, shape)?;
    match is_document(attribute) {
        true => py.import(intern!(py, "json"))?.call_method1(intern!(py, "loads"), (value,)),
        false => Ok(value),
    }
}

/// Whether the string in an attribute is a JSON document.
fn is_document(attribute: &Attribute) -> bool {
    let says_so =
        |(format, said): &(&str, Directive)| *format == "zarr" && *said == Directive::Text("json".to_owned());
    matches!(attribute.datatype.resolved(), Datatype::String(_))
        && attribute.shape.as_ref().is_some_and(Vec::is_empty)
        && attribute.native.iter().any(says_so)
}

/// Elements in the given shape; without dimensions, a single value.
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
        // Elements of zero bytes cannot be counted by the number of bytes.
        let zeros = (PyTuple::new(py, shape)?, plain(py, datatype)?);
        let zeros = py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "zeros"), zeros)?;
        return if shape.is_empty() { zeros.get_item(PyTuple::empty(py)) } else { Ok(zeros) };
    }
    let flat = object::array(py, datatype, values)?;
    match shape {
        [] => flat.get_item(0),
        [_] => Ok(flat),
        shape => {
            // Elements can themselves be arrays.
            let inner: Vec<u64> = flat.getattr(intern!(py, "shape"))?.extract()?;
            let all: Vec<u64> = shape.iter().chain(inner.iter().skip(1)).copied().collect();
            flat.call_method1(intern!(py, "reshape"), (PyTuple::new(py, all)?,))
        }
    }
}
