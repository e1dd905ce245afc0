//! Values of Python as elements: NumPy arrays, texts, numbers.

use hyperslab::Heap;
use hyperslab::Slot;
use hyperslab::model::{
    Attribute, Datatype, Directive, ElementStorage, Float, Member, Pad, Text, TimeUnit, Values,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use std::sync::Arc;

/// The datatype of a dtype.
pub(crate) fn datatype(dtype: &Bound<'_, PyAny>) -> PyResult<Datatype> {
    let py = dtype.py();
    let text = |name| -> PyResult<Bound<'_, PyAny>> { dtype.getattr(name) };
    let kind: String = text(intern!(py, "kind"))?.extract()?;
    let size: u32 = text(intern!(py, "itemsize"))?.extract()?;
    let bits = u16::try_from(size.saturating_mul(8)).unwrap_or(u16::MAX);
    let unknown = || PyTypeError::new_err(format!("elements of dtype {dtype} cannot be written"));
    let number = match kind.as_str() {
        "i" => Datatype::Int { bits, signed: true },
        "u" => Datatype::Int { bits, signed: false },
        "b" => Datatype::Bool,
        "f" => Datatype::Float(float(size).ok_or_else(unknown)?),
        "c" => Datatype::Complex(float(size / 2).ok_or_else(unknown)?),
        "M" | "m" => Datatype::Datetime(unit(dtype, kind == "m")?),
        "S" if size > 0 => Datatype::String(Text::Fixed { len: size, pad: Pad::Nul }),
        "U" | "T" | "O" | "S" => Datatype::String(Text::Variable),
        "V" => return structured(dtype, size),
        _ => return Err(unknown()),
    };
    match enumeration(dtype)? {
        Some(members) if matches!(number, Datatype::Int { .. }) => {
            Ok(Datatype::Enum { base: Box::new(number), members })
        }
        _ => Ok(number),
    }
}

fn float(size: u32) -> Option<Float> {
    match size {
        2 => Some(Float::Half),
        4 => Some(Float::Single),
        8 => Some(Float::Double),
        _ => None,
    }
}

fn unit(dtype: &Bound<'_, PyAny>, duration: bool) -> PyResult<TimeUnit> {
    let py = dtype.py();
    let (unit, count): (String, u64) =
        py.import("numpy")?.call_method1("datetime_data", (dtype,))?.extract()?;
    Ok(TimeUnit { unit: if count == 1 { unit } else { format!("{count}{unit}") }, duration })
}

/// The names and values of an enumeration, as h5py marks them.
fn enumeration(dtype: &Bound<'_, PyAny>) -> PyResult<Option<Vec<(String, i128)>>> {
    let metadata = dtype.getattr(intern!(dtype.py(), "metadata"))?;
    if metadata.is_none() {
        return Ok(None);
    }
    let Ok(members) = metadata.get_item("enum") else { return Ok(None) };
    let members = PyDict::from_sequence(&members.call_method0("items")?)?;
    let mut all = Vec::with_capacity(members.len());
    for (name, value) in members {
        all.push((name.extract()?, value.call_method0("__index__")?.extract()?));
    }
    Ok(Some(all))
}

fn structured(dtype: &Bound<'_, PyAny>, size: u32) -> PyResult<Datatype> {
    let py = dtype.py();
    let sub = dtype.getattr(intern!(py, "subdtype"))?;
    if !sub.is_none() {
        let (base, shape): (Bound<'_, PyAny>, Vec<u64>) = sub.extract()?;
        return Ok(Datatype::Array { base: Box::new(datatype(&base)?), shape });
    }
    let names = dtype.getattr(intern!(py, "names"))?;
    if names.is_none() {
        return Ok(Datatype::Opaque { size, tag: String::new() });
    }
    let fields = dtype.getattr(intern!(py, "fields"))?;
    let mut members = Vec::new();
    for name in names.cast::<PyTuple>()? {
        let field = fields.get_item(&name)?.get_item(0)?;
        let datatype = datatype(&field)?;
        if datatype.has_slots() {
            return Err(PyTypeError::new_err(format!("member {name} of dtype {field} cannot be written")));
        }
        members.push(Member { name: name.extract()?, datatype });
    }
    Ok(Datatype::Compound(members))
}

/// The elements of a NumPy array in row-major order. It has the native byte order, and members without gaps.
pub(crate) fn values(array: &Bound<'_, PyAny>, datatype: &Datatype) -> PyResult<Values> {
    let py = array.py();
    if *datatype == Datatype::String(Text::Variable) {
        let list = array.call_method0(intern!(py, "ravel"))?.call_method0(intern!(py, "tolist"))?;
        return texts(&list);
    }
    // As bytes: a copy of the elements in row-major order.
    let bytes: PyBackedBytes = array.call_method0(intern!(py, "tobytes"))?.extract()?;
    Ok(Values { rows: bytes::Bytes::from_owner(bytes), heap: Heap::default() })
}

/// Texts, one behind the other in one buffer.
fn texts(list: &Bound<'_, PyAny>) -> PyResult<Values> {
    let (mut rows, mut characters) = (Vec::new(), Vec::new());
    for item in list.try_iter()? {
        let item = item?;
        let at = characters.len() as u64;
        if let Ok(text) = item.cast::<PyString>() {
            characters.extend_from_slice(text.to_str()?.as_bytes());
        } else if let Ok(bytes) = item.cast::<PyBytes>() {
            characters.extend_from_slice(bytes.as_bytes());
        } else if !item.is_none() {
            let kind = item.get_type();
            return Err(PyTypeError::new_err(format!("an element of {kind}, expected a text")));
        }
        let count = u32::try_from(characters.len() as u64 - at)
            .map_err(|_| PyValueError::new_err("a text of 4 GiB or more"))?;
        rows.extend_from_slice(&Slot::at(0, count, at).to_bytes());
    }
    let mut heap = Heap::default();
    heap.buffers.push(characters.into());
    Ok(Values { rows: rows.into(), heap })
}

/// An attribute: a text, a number, or a list of them; or a mapping, a list of others, or `None`, which are documents of JSON
/// as Zarr has them.
pub(crate) fn attribute(value: &Bound<'_, PyAny>) -> PyResult<Attribute> {
    let py = value.py();
    let array =
        py.import(intern!(py, "hyperslab._values"))?.call_method1(intern!(py, "attribute"), (value,))?;
    let datatype = datatype(&array.getattr(intern!(py, "dtype"))?)?;
    let values = values(&array, &datatype)?;
    let shape: Vec<u64> = array.getattr(intern!(py, "shape"))?.extract()?;
    let is_list = value.is_instance_of::<PyList>() && shape.is_empty();
    let is_document = is_list || value.is_none() || value.is_instance_of::<PyDict>();
    Ok(Attribute {
        shape: Some(shape),
        datatype: Arc::new(datatype),
        value: values,
        storage: ElementStorage::default(),
        native: is_document.then(|| ("zarr", Directive::Text("json".to_owned()))).into_iter().collect(),
    })
}
