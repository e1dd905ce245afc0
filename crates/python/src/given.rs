//! Python values as elements: NumPy arrays, strings, numbers.

use bytes::Bytes;
use hyperslab::Heap;
use hyperslab::Slot;
use hyperslab::model::{
    Attribute, Datatype, Directive, ElementStorage, Float, Member, Pad, Text, TimeUnit, Values,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple, PyType};
use std::sync::Arc;

/// The datatype for a dtype.
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
        "O" => match sequence(dtype)? {
            Some(of) => Datatype::Vlen(Box::new(datatype(&of)?)),
            None => Datatype::String(Text::Variable),
        },
        "U" | "T" | "S" => Datatype::String(Text::Variable),
        "V" if text(intern!(py, "name"))?.eq("bfloat16")? => Datatype::Float(Float::BFloat),
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

/// The item dtype of sequences, as marked by h5py. Objects without one are strings.
fn sequence<'py>(dtype: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = dtype.py();
    let metadata = dtype.getattr(intern!(py, "metadata"))?;
    if metadata.is_none() {
        return Ok(None);
    }
    let of = metadata.call_method1(intern!(py, "get"), (intern!(py, "vlen"),))?;
    Ok(of.hasattr(intern!(py, "itemsize"))?.then_some(of).filter(|of| !of.is_instance_of::<PyType>()))
}

/// The names and values of an enumeration, as marked by h5py.
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
        members.push(Member { name: name.extract()?, datatype: datatype(&field)? });
    }
    Ok(Datatype::Compound(members))
}

/// The elements of a NumPy array in row-major order. The array must have native byte order and members without gaps,
/// and its sequences must be arrays of their item dtype.
pub(crate) fn values(array: &Bound<'_, PyAny>, datatype: &Datatype) -> PyResult<Values> {
    let mut content = Vec::new();
    let rows = rows(array, datatype, &mut content)?;
    let mut heap = Heap::default();
    if datatype.has_slots() {
        heap.buffers.push(content.into());
    }
    Ok(Values { rows, heap })
}

/// The rows of the elements. The data that their slots point to is appended to `content`.
fn rows(array: &Bound<'_, PyAny>, datatype: &Datatype, content: &mut Vec<u8>) -> PyResult<Bytes> {
    let py = array.py();
    if !datatype.has_slots() {
        // This copies the elements in row-major order.
        let bytes: PyBackedBytes = array.call_method0(intern!(py, "tobytes"))?.extract()?;
        return Ok(Bytes::from_owner(bytes));
    }
    let list = || array.call_method0(intern!(py, "ravel"))?.call_method0(intern!(py, "tolist"));
    match datatype {
        Datatype::Compound(members) => compounds(array, members, content),
        Datatype::Array { base, .. } => rows(array, base, content),
        Datatype::Vlen(of) => slots(&list()?, |item| {
            let rows = rows(&item, of, content)?;
            let at = content.len() as u64;
            content.extend_from_slice(&rows);
            Ok((item.len()?, at))
        }),
        _ => slots(&list()?, |item| {
            let at = content.len() as u64;
            if let Ok(text) = item.cast::<PyString>() {
                content.extend_from_slice(text.to_str()?.as_bytes());
            } else if let Ok(bytes) = item.cast::<PyBytes>() {
                content.extend_from_slice(bytes.as_bytes());
            } else if !item.is_none() {
                let kind = item.get_type();
                return Err(PyTypeError::new_err(format!("an element of type {kind}, expected a string")));
            }
            Ok((content.len() - usize::try_from(at)?, at))
        }),
    }
}

/// A slot for each item. For an item, `place` returns the number of bytes or items, and their position.
fn slots<'py>(
    items: &Bound<'py, PyAny>,
    mut place: impl FnMut(Bound<'py, PyAny>) -> PyResult<(usize, u64)>,
) -> PyResult<Bytes> {
    let mut slots = Vec::with_capacity(items.len()?.saturating_mul(Slot::SIZE));
    for item in items.try_iter()? {
        let (count, at) = place(item?)?;
        let count = u32::try_from(count).map_err(|_| PyValueError::new_err("a string of 4 GiB or more"))?;
        slots.extend_from_slice(&Slot::at(0, count, at).to_bytes());
    }
    Ok(slots.into())
}

/// The rows of compounds, assembled from the rows of each member.
fn compounds(array: &Bound<'_, PyAny>, members: &[Member], content: &mut Vec<u8>) -> PyResult<Bytes> {
    let count: usize = array.getattr(intern!(array.py(), "size"))?.extract()?;
    let row: usize = members.iter().filter_map(|member| member.datatype.row_size()).sum();
    let mut all = vec![0; count.saturating_mul(row)];
    let mut at = 0;
    for member in members {
        let size = member.datatype.row_size().unwrap_or(0);
        let own = rows(&array.get_item(&member.name)?, &member.datatype, content)?;
        for (element, value) in all.chunks_exact_mut(row.max(1)).zip(own.chunks_exact(size.max(1))) {
            if let Some(place) = element.get_mut(at..at + size) {
                place.copy_from_slice(value);
            }
        }
        at += size;
    }
    Ok(all.into())
}

/// An attribute from a string, a number, or a list of these. A mapping, any other list, and `None` become JSON
/// documents, as in Zarr.
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
