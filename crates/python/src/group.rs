//! Members of groups.

use hyperslab::model::{Link, NodeKind, Shape};
use hyperslab::{Entry, Item};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// The path of an object, its kind, and what else a list contains: the lengths and names of the dimensions of an array,
/// the target of a link, or why the object cannot be read.
pub(crate) type Found = (String, &'static str, Py<PyAny>);

pub(crate) fn found(py: Python<'_>, entry: Entry) -> PyResult<Found> {
    let path = entry.handle.path.to_string();
    let nothing = || py.None();
    Ok(match entry.item {
        Item::Group => (path, "group", nothing()),
        Item::Array { kind, datatype, shape, .. } => {
            let word = match (kind, &datatype) {
                (_, None) => "dimension",
                (NodeKind::DimCoord, _) => "coordinate",
                _ => "array",
            };
            (path, word, dimensions(py, &shape)?)
        }
        Item::Datatype(_) => (path, "datatype", nothing()),
        Item::Link(link) => {
            let leads = match link {
                Link::Hard(path) => path.to_string(),
                Link::Soft(path) => path,
                Link::External { file, path } => format!("{file}:{path}"),
                Link::User { class, .. } => format!("class {class}"),
            };
            (path, "link", leads.into_pyobject(py)?.into_any().unbind())
        }
        Item::Unreadable(why) => (path, "unreadable", why.reason.into_pyobject(py)?.into_any().unbind()),
    })
}

/// The path and length of each dimension, and whether it is unlimited; `None` for a null dataspace.
fn dimensions(py: Python<'_>, shape: &Shape) -> PyResult<Py<PyAny>> {
    let Shape::Dims(dims) = shape else { return Ok(py.None()) };
    let all = dims.iter().map(|dimension| {
        let path = dimension.coordinate.as_ref().map(|path| path.as_str());
        (path, dimension.extent.current(), !dimension.extent.is_fixed())
    });
    Ok(PyTuple::new(py, all.collect::<Vec<_>>())?.into_any().unbind())
}

pub(crate) fn members<'py>(py: Python<'py>, entries: Vec<Entry>) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for entry in entries {
        let name = entry.handle.path.name().to_owned();
        list.append((name, found(py, entry)?))?;
    }
    Ok(list)
}
