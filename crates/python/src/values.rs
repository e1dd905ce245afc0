//! Elements as NumPy arrays, which are filled in place if rows are elements.

use crate::dtype::{self, Dtype, Form};
use crate::work::Opened;
use crate::{object, padding};
use hyperslab::model::{Datatype, Element, Elements};
use hyperslab::select::Select;
use hyperslab::{Heap, Utf8};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

/// How strings are returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texts {
    /// Objects if their length varies; otherwise a fixed number of bytes or characters.
    Stored,
    /// Objects that are strings.
    Objects,
    /// Elements of NumPy's `StringDType`.
    Strings,
    /// Objects that are bytes.
    Bytes,
}

/// The selected elements, in the shape of the selection followed by that of elements.
pub(crate) fn read<'py>(
    py: Python<'py>,
    array: &Opened,
    select: &Select,
    shape: &[u64],
    dtype: &Dtype<'py>,
    (texts, utf8): (Texts, Utf8),
) -> PyResult<Bound<'py, PyAny>> {
    let shape = extents(py, shape, &dtype.inner)?;
    let datatype = array.datatype();
    let shaped = |flat: Bound<'py, PyAny>| flat.call_method1(intern!(py, "reshape"), (shape.clone(),));
    let are_texts = matches!(datatype.resolved(), Datatype::String(_));
    match dtype.form {
        Form::Rows if are_texts && matches!(texts, Texts::Objects | Texts::Strings) => {
            shaped(strings(py, array, select, dtype, (texts, utf8))?)
        }
        Form::Rows => {
            let row = datatype.row_size().unwrap_or(0);
            let count = count(array, select, py)?;
            if row == 0 || count == 0 {
                return py
                    .import(intern!(py, "numpy"))?
                    .call_method1(intern!(py, "zeros"), (shape, &dtype.dtype));
            }
            let flat = rows(py, array, select, count.saturating_mul(row))?;
            shaped(flat.call_method1(intern!(py, "view"), (&dtype.dtype,))?)
        }
        Form::Masked => {
            let row = datatype.row_size().unwrap_or(0);
            let flat = rows(py, array, select, count(array, select, py)?.saturating_mul(row))?;
            let fields = [("valid", "?".into_pyobject(py)?.into_any()), ("value", dtype.dtype.clone())];
            let both = flat.call_method1(intern!(py, "view"), (PyList::new(py, fields)?,))?;
            let (valid, value) = (both.get_item("valid")?, both.get_item("value")?);
            let numpy = py.import(intern!(py, "numpy"))?;
            let value = numpy.call_method1("ascontiguousarray", (value,))?;
            let mask = numpy.call_method1("logical_not", (valid,))?;
            shaped(numpy.getattr("ma")?.call_method1("MaskedArray", (value, mask))?)
        }
        Form::Texts | Form::Characters if texts != Texts::Bytes => {
            shaped(strings(py, array, select, dtype, (texts, utf8))?)
        }
        Form::Texts | Form::Characters => {
            let values = array.run(py, usize::MAX, |array| array.values(select))?;
            let list = PyList::empty(py);
            for element in Elements::new(datatype, &values) {
                if let Element::Text(bytes) = element.get() {
                    list.append(pyo3::types::PyBytes::new(py, bytes))?;
                }
            }
            let dtype = py.import(intern!(py, "numpy"))?.call_method1("dtype", ("O",))?;
            shaped(object::filled(py, list, dtype)?)
        }
        Form::Objects => {
            let values = array.run(py, usize::MAX, |array| array.values(select))?;
            // The row of an array is the concatenation of the rows of its elements.
            shaped(object::array(py, base(datatype), &values)?)
        }
    }
}

/// The selected elements as strings: Python objects, `StringDType`, or the dtype of the array.
fn strings<'py>(
    py: Python<'py>,
    array: &Opened,
    select: &Select,
    dtype: &Dtype<'py>,
    (texts, utf8): (Texts, Utf8),
) -> PyResult<Bound<'py, PyAny>> {
    let bytes = count(array, select, py)?.saturating_mul(16);
    let strings = array.run(py, bytes, |array| array.strings(select, utf8))?;
    let objects: Vec<Py<PyAny>> =
        strings.iter().map(|text| PyString::new(py, text).into_any().unbind()).collect();
    let objects = PyArray1::from_vec(py, objects);
    let dtype = match texts {
        Texts::Strings => py.import("numpy.dtypes")?.getattr("StringDType")?.call0()?,
        Texts::Stored => dtype.dtype.clone(),
        Texts::Objects | Texts::Bytes => dtype::text(py)?,
    };
    if dtype.getattr(intern!(py, "hasobject"))?.is_truthy()? && texts != Texts::Strings {
        // Only the metadata of the dtype differ.
        return objects.call_method1(intern!(py, "view"), (dtype,));
    }
    let numpy = py.import(intern!(py, "numpy"))?;
    let flat = numpy.call_method1(intern!(py, "empty"), (objects.len()?, dtype))?;
    flat.set_item(pyo3::types::PySlice::full(py), objects)?;
    Ok(flat)
}

/// The extents of an array, followed by the inner dimensions of its elements.
pub(crate) fn extents<'py>(py: Python<'py>, shape: &[u64], inner: &[u64]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, [shape, inner].concat())
}

/// The innermost element type of arrays within elements.
fn base(datatype: &Datatype) -> &Datatype {
    match datatype.resolved() {
        Datatype::Array { base: of, .. } => base(of),
        other => other,
    }
}

/// The number of selected elements.
fn count(array: &Opened, select: &Select, py: Python<'_>) -> PyResult<usize> {
    use crate::error::Raised;
    let shape = array.selected_shape(select).raised(py)?;
    hyperslab::nd::element_bytes(&shape, 1).raised(py)
}

/// The rows of selected elements in a new array of bytes.
fn rows<'py>(
    py: Python<'py>,
    array: &Opened,
    select: &Select,
    bytes: usize,
) -> PyResult<Bound<'py, PyArray1<u8>>> {
    // Zeroed memory from the system costs nothing until it is written.
    let flat = PyArray1::<u8>::zeros(py, bytes, false);
    fill(py, array, select, &flat)?;
    Ok(flat)
}

/// Fills bytes with the rows of selected elements.
pub(crate) fn fill<'py>(
    py: Python<'py>,
    array: &Opened,
    select: &Select,
    flat: &Bound<'py, PyArray1<u8>>,
) -> PyResult<()> {
    let mut borrowed = flat.try_readwrite()?;
    let out = borrowed.as_slice_mut()?;
    array.run(py, out.len(), |array| {
        array.select_into(select, out, &mut Heap::default())?;
        padding::to_zeros(array.elements().datatype(), out);
        Ok(())
    })
}
