//! Datatypes as NumPy dtypes.

use hyperslab::model::{Datatype, Float, Member, Text, TimeUnit};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};

/// How elements are represented in a NumPy array.
pub(crate) struct Dtype<'py> {
    /// The dtype of an element.
    pub(crate) dtype: Bound<'py, PyAny>,
    /// The inner dimensions of an element, which follow those of the array.
    pub(crate) inner: Vec<u64>,
    /// How rows are converted to elements.
    pub(crate) form: Form,
}

/// How rows are converted to elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Rows are the bytes of elements.
    Rows,
    /// Variable-length strings.
    Texts,
    /// Strings with a fixed number of characters.
    Characters,
    /// A byte before each element states whether it is valid.
    Masked,
    /// Elements are objects, or contain objects.
    Objects,
}

/// The dtype of a datatype, and how its rows are converted to elements.
pub(crate) fn dtype<'py>(py: Python<'py>, datatype: &Datatype) -> PyResult<Dtype<'py>> {
    let of = |dtype, form| Ok(Dtype { dtype, inner: Vec::new(), form });
    match datatype.resolved() {
        Datatype::String(Text::Variable) => of(text(py)?, Form::Texts),
        Datatype::Nullable(inner) if !inner.has_slots() => of(plain(py, inner)?, Form::Masked),
        Datatype::Array { base, shape } => {
            let inner = dtype(py, base)?;
            let shape = shape.iter().copied().chain(inner.inner).collect();
            // Inner elements of any other form are read as objects.
            let form = if inner.form == Form::Rows { Form::Rows } else { Form::Objects };
            Ok(Dtype { dtype: inner.dtype, inner: shape, form })
        }
        other if other.has_slots() => of(plain(py, other)?, Form::Objects),
        other => of(plain(py, other)?, Form::Rows),
    }
}

/// The dtype of elements, including those within others.
pub(crate) fn plain<'py>(py: Python<'py>, datatype: &Datatype) -> PyResult<Bound<'py, PyAny>> {
    let word = |word: &str| made(py, word);
    match datatype {
        Datatype::Int { signed, .. } => {
            let size = datatype.row_size().unwrap_or(0);
            match (size, signed) {
                (16, _) => word("V16"),
                (size, true) => word(&format!("i{size}")),
                (size, false) => word(&format!("u{size}")),
            }
        }
        Datatype::Time { .. } => word(&format!("u{}", datatype.row_size().unwrap_or(0))),
        Datatype::Float(Float::BFloat) => bfloat16(py),
        Datatype::Float(float) => match float {
            Float::Half => word("f2"),
            Float::Single => word("f4"),
            Float::Double => word("f8"),
            _ => word(&format!("V{}", float.row_size())),
        },
        Datatype::Complex(Float::Single) => word("c8"),
        Datatype::Complex(Float::Double) => word("c16"),
        Datatype::Complex(float) => {
            let part = plain(py, &Datatype::Float(float.clone()))?;
            made(py, [("r", part.clone()), ("i", part)])
        }
        Datatype::Bool => word("?"),
        Datatype::Datetime(unit) => word(&time(unit)),
        Datatype::Bitfield { size: size @ (1 | 2 | 4 | 8) } => word(&format!("<u{size}")),
        Datatype::Opaque { size, tag } => match time_of_tag(tag).and_then(|named| word(named).ok()) {
            Some(times) if times.getattr("itemsize")?.eq(size)? => Ok(times),
            _ => word(&format!("V{size}")),
        },
        Datatype::Bitfield { size } => word(&format!("V{size}")),
        Datatype::String(Text::Fixed { len, .. }) => word(&format!("S{len}")),
        Datatype::String(Text::Variable) => text(py),
        Datatype::ObjRef | Datatype::RegRef | Datatype::Reference | Datatype::Nullable(_) => word("O"),
        Datatype::Vlen(of) => with_metadata(word("O")?, "vlen", plain(py, of)?),
        Datatype::Enum { .. } if is_boolean(datatype) => word("?"),
        Datatype::Enum { base, members } => {
            let names = PyDict::new(py);
            for (name, value) in members {
                names.set_item(name, *value)?;
            }
            with_metadata(plain(py, base)?, "enum", names.into_any())
        }
        Datatype::Compound(members) => {
            if let Some(complex) = complex(members) {
                return word(complex);
            }
            let fields = PyList::empty(py);
            for member in members {
                fields.append((&member.name, plain(py, &member.datatype)?))?;
            }
            made(py, fields)
        }
        Datatype::Array { base, shape } => {
            let shape = PyTuple::new(py, shape)?;
            made(py, (plain(py, base)?, shape))
        }
        Datatype::Named(_, of) => plain(py, of),
    }
}

/// Whether NumPy has a scalar type, a number or a time, for what is stored as a compound or as opaque bytes.
pub(crate) fn is_scalar(py: Python<'_>, datatype: &Datatype) -> PyResult<bool> {
    match datatype.resolved() {
        Datatype::Compound(members) => Ok(complex(members).is_some()),
        // For most opaque bytes, the tag alone decides, without creating a dtype for each element.
        opaque @ Datatype::Opaque { tag, .. } if time_of_tag(tag).is_some() => {
            Ok(plain(py, opaque)?.getattr("kind")?.extract::<char>()? != 'V')
        }
        _ => Ok(false),
    }
}

/// Whether an enumeration is the one in which h5py stores booleans.
fn is_boolean(datatype: &Datatype) -> bool {
    let Datatype::Enum { base, members } = datatype else { return false };
    let names = members.iter().map(|(name, value)| (name.as_str(), *value));
    **base == Datatype::int(8, true) && names.eq([("FALSE", 0), ("TRUE", 1)])
}

/// The complex type that h5py stores as a compound with these members.
fn complex(members: &[Member]) -> Option<&'static str> {
    let [real, imaginary] = members else { return None };
    if (real.name.as_str(), imaginary.name.as_str()) != ("r", "i") || real.datatype != imaginary.datatype {
        return None;
    }
    match real.datatype {
        Datatype::Float(Float::Single) => Some("c8"),
        Datatype::Float(Float::Double) => Some("c16"),
        _ => None,
    }
}

fn made<'py>(py: Python<'py>, description: impl IntoPyObject<'py>) -> PyResult<Bound<'py, PyAny>> {
    static DTYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let description = description.into_bound_py_any(py)?;
    DTYPE.import(py, "numpy", "dtype")?.call1((description,))
}

/// The dtype of times in the tag of opaque elements, with which h5py stores NumPy times.
fn time_of_tag(tag: &str) -> Option<&str> {
    let named = tag.strip_prefix("NUMPY:")?;
    let kind = named.trim_start_matches(['<', '>', '=', '|']);
    (kind.starts_with("M8") || kind.starts_with("m8")).then_some(named)
}

/// A dtype with metadata, as in h5py.
fn with_metadata<'py>(
    dtype: Bound<'py, PyAny>,
    key: &str,
    value: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = dtype.py();
    let (metadata, keywords) = (PyDict::new(py), PyDict::new(py));
    metadata.set_item(key, value)?;
    keywords.set_item("metadata", metadata)?;
    py.import("numpy")?.getattr("dtype")?.call((dtype,), Some(&keywords))
}

/// The dtype of objects that are strings, as marked by h5py and xarray.
pub(crate) fn text(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static TEXT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let of = TEXT.get_or_try_init(py, || -> PyResult<_> {
        let text = py.get_type::<pyo3::types::PyString>().into_any();
        Ok(with_metadata(made(py, "O")?, "vlen", text)?.unbind())
    })?;
    Ok(of.bind(py).clone())
}

/// The dtype from `ml_dtypes` if it is installed, otherwise bytes.
fn bfloat16(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    match py.import("ml_dtypes") {
        Ok(types) => made(py, types.getattr("bfloat16")?),
        Err(_) => made(py, "V2"),
    }
}

fn time(unit: &TimeUnit) -> String {
    let kind = if unit.duration { 'm' } else { 'M' };
    match unit.unit.as_str() {
        // NumPy has no unit name for it.
        "generic" | "" => format!("{kind}8"),
        unit => format!("{kind}8[{unit}]"),
    }
}
