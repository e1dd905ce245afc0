//! Elements as Python objects: strings, sequences, references, and types that contain them.

use crate::dtype::{is_scalar, plain};
use crate::padding;
use hyperslab::model::{Datatype, Element, ElementRef, Elements, Reference, Text, Values};
use hyperslab::{Heap, ndl};
use numpy::PyArray1;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyComplex, PyList, PyString, PyTuple};

/// The elements as a one-dimensional array.
pub(crate) fn array<'py>(
    py: Python<'py>,
    datatype: &Datatype,
    values: &Values,
) -> PyResult<Bound<'py, PyAny>> {
    of_elements(py, datatype.resolved(), Elements::new(datatype, values))
}

fn of_elements<'py>(
    py: Python<'py>,
    datatype: &Datatype,
    elements: Elements<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Datatype::Array { base, shape } = datatype
        && !base.has_slots()
    {
        // NumPy replaces array dtypes by further dimensions.
        let nothing = Heap::default();
        let each = Elements::of(base.resolved(), elements.rows(), &nothing);
        let flat = of_elements(py, base.resolved(), each)?;
        let shape = [&[elements.len() as u64], shape.as_slice()].concat();
        return flat.call_method1(intern!(py, "reshape"), (PyTuple::new(py, shape)?,));
    }
    let dtype = plain(py, datatype)?;
    if !datatype.has_slots() && !matches!(datatype, Datatype::Nullable(_)) {
        let mut rows = elements.rows().to_vec();
        padding::to_zeros(datatype, &mut rows);
        let bytes = PyArray1::from_vec(py, rows);
        return match elements.row_size() {
            0 => py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "zeros"), (elements.len(), dtype)),
            _ => bytes.call_method1(intern!(py, "view"), (dtype,)),
        };
    }
    let list = PyList::empty(py);
    for element in elements {
        list.append(object(py, element)?)?;
    }
    filled(py, list, dtype)
}

/// A one-dimensional array with the items of a list, whatever they are.
pub(crate) fn filled<'py>(
    py: Python<'py>,
    list: Bound<'py, PyList>,
    dtype: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = py.import(intern!(py, "numpy"))?;
    let array = numpy.call_method1(intern!(py, "empty"), (list.len(), &dtype))?;
    // NumPy would take items that are themselves arrays for a further dimension.
    if dtype.getattr(intern!(py, "hasobject"))?.extract()? && dtype.getattr(intern!(py, "names"))?.is_none() {
        let is_nested = list.iter().any(|item| !item.is_instance_of::<PyString>() && !item.is_none());
        if is_nested {
            for (index, item) in list.iter().enumerate() {
                array.set_item(index, item)?;
            }
            return Ok(array);
        }
    }
    if !list.is_empty() {
        array.set_item(pyo3::types::PySlice::full(py), list)?;
    }
    Ok(array)
}

/// An element as an object.
pub(crate) fn object<'py>(py: Python<'py>, element: ElementRef<'_>) -> PyResult<Bound<'py, PyAny>> {
    let datatype = element.datatype();
    Ok(match element.get() {
        Element::Int(number) | Element::Enum(number, _) => number.into_pyobject(py)?.into_any(),
        Element::Float(number) => number.into_pyobject(py)?.into_any(),
        // h5py stores times as opaque bytes and complex numbers as compounds; NumPy has types for both.
        Element::Opaque(_) | Element::Compound(_) if is_scalar(py, datatype)? => {
            of_rows(py, datatype, element.row())?
        }
        Element::RawFloat(bytes) | Element::Opaque(bytes) => PyBytes::new(py, bytes).into_any(),
        Element::Bits(_) => of_rows(py, datatype, element.row())?,
        Element::Complex(parts) => match *parts {
            [Element::Float(real), Element::Float(imaginary)] => {
                PyComplex::from_doubles(py, real, imaginary).into_any()
            }
            _ => PyBytes::new(py, element.row()).into_any(),
        },
        Element::Bool(is_true) => is_true.into_pyobject(py)?.to_owned().into_any(),
        // Fixed-length strings are bytes in NumPy.
        Element::Text(bytes) if matches!(datatype.resolved(), Datatype::String(Text::Fixed { .. })) => {
            PyBytes::new(py, bytes).into_any()
        }
        Element::Text(bytes) => text(py, bytes),
        Element::Reference(Reference::Null) => py.None().into_bound(py),
        Element::Reference(_) => PyString::new(py, &ndl::plain(element).to_string()).into_any(),
        Element::Compound(fields) => {
            let items = fields.map(|(_, field)| object(py, field)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, items)?.into_any()
        }
        Element::Vlen(elements) => {
            let of = elements.datatype();
            of_elements(py, of.resolved(), elements)?
        }
        Element::Array(elements, shape) => {
            let of = elements.datatype();
            let array = of_elements(py, of.resolved(), elements)?;
            array.call_method1(intern!(py, "reshape"), (PyTuple::new(py, shape)?,))?
        }
        Element::Null => py.None().into_bound(py),
        Element::Broken => {
            return Err(pyo3::exceptions::PyValueError::new_err("an element does not match its type"));
        }
    })
}

/// A string, or its bytes if they are not UTF-8: nothing is replaced.
pub(crate) fn text<'py>(py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyAny> {
    match str::from_utf8(bytes) {
        Ok(text) => PyString::new(py, text).into_any(),
        Err(_) => PyBytes::new(py, bytes).into_any(),
    }
}

/// The only element of a row.
fn of_rows<'py>(py: Python<'py>, datatype: &Datatype, row: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let array = PyArray1::from_slice(py, row).call_method1(intern!(py, "view"), (plain(py, datatype)?,))?;
    array.get_item(0)
}
