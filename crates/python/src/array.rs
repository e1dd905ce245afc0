//! Arrays.

use crate::dtype::{Dtype, Form, dtype};
use crate::error::Raised;
use crate::file::File;
use crate::selection::{Key, position};
use crate::values::{self, Texts};
use crate::work::{Opened, in_file, run};
use crate::{attribute, inner, padding, storage};
use hyperslab::model::{
    CharacterSet, Datatype, Element, Elements, Extent, Fill, Node, NodePath, Shape, Storage, Text, Values,
};
use hyperslab::select::Select;
use hyperslab::{ChunkLevel, Container, Error, Heap, Region, Remedy, Utf8};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyEllipsis, PyTuple};
use std::sync::{Arc, Mutex, PoisonError};

/// An array that was opened together with others, from which one [`Array`] is made.
#[pyclass(frozen, module = "hyperslab._hyperslab")]
pub(crate) struct OpenedArray(Mutex<Option<(Opened, Node)>>);

impl OpenedArray {
    pub(crate) fn new(opened: Opened, node: Node) -> OpenedArray {
        OpenedArray(Mutex::new(Some((opened, node))))
    }

    fn take(&self) -> PyResult<(Opened, Node)> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.ok_or_else(|| PyValueError::new_err("an array was made of it before"))
    }
}

/// An array of an open store, the base of `hyperslab.Array`.
#[pyclass(frozen, subclass, weakref, module = "hyperslab._hyperslab")]
pub(crate) struct Array {
    pub(crate) opened: Opened,
    node: Node,
    dtype: Py<PyAny>,
    inner: Vec<u64>,
    form: Form,
}

impl Array {
    fn new(py: Python<'_>, opened: Opened, node: Node) -> PyResult<Array> {
        let mut of = dtype(py, opened.datatype())?;
        // UTF-32 strings are NumPy characters; in rows they are UTF-8.
        if let Some(storage) = node.storage()
            && storage.element.charset == Some(CharacterSet::Utf32)
            && let Datatype::String(Text::Fixed { len, .. }) = opened.datatype().resolved()
        {
            let characters = format!("U{}", CharacterSet::Utf32.characters(*len).unwrap_or(*len));
            let made = py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "dtype"), (characters,))?;
            of = Dtype { dtype: made, inner: Vec::new(), form: Form::Characters };
        }
        let Dtype { dtype, inner, form } = of;
        Ok(Array { opened, node, dtype: dtype.unbind(), inner, form })
    }

    fn dtype_in<'py>(&self, py: Python<'py>) -> Dtype<'py> {
        Dtype { dtype: self.dtype.bind(py).clone(), inner: self.inner.clone(), form: self.form }
    }

    fn storage(&self) -> Option<&Storage> {
        self.node.storage()
    }

    fn is_null(&self) -> bool {
        self.opened.elements().extents().is_none()
    }

    /// Refuses a cell column of a sparse array, which has no positions.
    fn check_counted(&self, py: Python<'_>) -> PyResult<()> {
        match self.node.shape(self.opened.path()) {
            Some(Shape::Dims(dims)) if dims.iter().any(|of| of.extent == Extent::Uncounted) => {
                let what = "a column of a sparse array, whose cells have no positions";
                let error = Error::unsupported(what).with_remedy(Remedy::ReadCells);
                in_file(Err(error.in_object(self.opened.path())), self.opened.file.as_deref()).raised(py)
            }
            _ => Ok(()),
        }
    }

    /// Reads one element, for datatypes whose rows are elements.
    fn element<'py>(&self, py: Python<'py>, at: Vec<u64>) -> PyResult<Bound<'py, PyAny>> {
        let size = self.opened.datatype().row_size().unwrap_or(0);
        let mut row = vec![0; size];
        let region = Region { count: vec![1; at.len()], step: vec![1; at.len()], start: at };
        self.opened.run(py, size, |array| {
            let read = array.elements().read(&region, &mut row, &mut Heap::default());
            read.map_err(|error| error.in_object(array.path()))
        })?;
        padding::to_zeros(self.opened.datatype(), &mut row);
        PyArray1::from_slice(py, &row).call_method1(intern!(py, "view"), (&self.dtype,))?.get_item(0)
    }

    fn selected<'py>(
        &self,
        py: Python<'py>,
        select: &Select,
        shape: &[u64],
        how: (Texts, Utf8),
    ) -> PyResult<Bound<'py, PyAny>> {
        values::read(py, &self.opened, select, shape, &self.dtype_in(py), how)
    }

    fn read_key<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        how: (Texts, Utf8),
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.is_null() {
            return Err(PyValueError::new_err(format!("{} has no elements (a null dataspace)", self.path())));
        }
        self.check_counted(py)?;
        if !self.inner.is_empty()
            && let Some((outer, keys)) = inner::split(key, self.opened.shape().len(), self.inner.len())?
        {
            return inner::picked(self.read_key(py, outer.as_any(), how)?, keys, self.inner.len());
        }
        let key = Key::parse(key, self.opened.shape())?;
        let shape = key.shape(self.opened.selected_shape(&key.select).raised(py)?);
        let mut read = self.selected(py, &key.select, &shape, how)?;
        match key.fields.as_slice() {
            [] => {}
            [name] => read = read.get_item(name)?,
            names => read = read.get_item(names.to_vec())?,
        }
        match shape.is_empty()
            && self.inner.is_empty()
            && !(key.has_ellipsis && self.opened.shape().is_empty())
        {
            true => read.get_item(PyTuple::empty(py)),
            false => Ok(read),
        }
    }
}

#[pymethods]
impl Array {
    /// The array at a path of an open store, or one opened by [`File::arrays`].
    #[new]
    fn open(py: Python<'_>, file: &File, array: &Bound<'_, PyAny>) -> PyResult<Array> {
        if let Ok(opened) = array.cast::<OpenedArray>() {
            let (opened, node) = opened.get().take()?;
            return Array::new(py, opened, node);
        }
        let path: PyBackedStr = array.extract()?;
        let name = file.name.as_deref();
        let (array, node) = run(py, 0, |_| {
            let open = || {
                let array = hyperslab::File::from(Arc::clone(&file.source)).array(&path)?;
                let node = array.load()?;
                Ok((array, node))
            };
            in_file(open(), name)
        })?;
        Array::new(py, Opened { array, file: file.name.clone() }, node)
    }

    /// Path in the store.
    #[getter]
    pub(crate) fn path(&self) -> &str {
        self.opened.path().as_str()
    }

    /// Length of each dimension.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        values::extents(py, self.opened.shape(), &self.inner)
    }

    /// Dtype of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.dtype.bind(py).clone()
    }

    /// Datatype in NDL notation.
    #[getter]
    fn datatype(&self) -> String {
        self.opened.datatype().to_string()
    }

    /// Path of the committed datatype of the elements; `None` if the datatype is not committed.
    #[getter]
    fn datatype_path(&self) -> Option<&str> {
        match &**self.opened.datatype() {
            Datatype::Named(path, _) => Some(path.as_str()),
            _ => None,
        }
    }

    /// Whether it has a null dataspace, rather than an empty one.
    #[getter]
    fn is_empty_space(&self) -> bool {
        self.is_null()
    }

    /// Paths of the dimensions; `None` for an unnamed one.
    #[getter]
    fn dimension_paths(&self) -> Vec<Option<String>> {
        let path = |path: &NodePath| path.as_str().to_owned();
        match (&self.node, self.node.shape(self.opened.path())) {
            (Node::DimCoord(_), _) => vec![Some(path(self.opened.path()))],
            (_, Some(Shape::Dims(dims))) => dims.iter().map(|of| of.coordinate.as_ref().map(path)).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether each dimension is unlimited.
    #[getter]
    fn unlimited(&self) -> Vec<bool> {
        match self.node.shape(self.opened.path()) {
            Some(Shape::Dims(dims)) => dims.iter().map(|of| of.extent.max().is_none()).collect(),
            _ => Vec::new(),
        }
    }

    /// Shape of the chunks that are decoded one by one; `None` if there are none.
    #[getter]
    fn chunks<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let chunk = self.storage().and_then(|storage| storage.chunk.as_ref());
        chunk.map(|chunk| PyTuple::new(py, chunk)).transpose()
    }

    /// Shape of the shards that contain the chunks; `None` if there are none.
    #[getter]
    fn shards<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let shard = self.storage().and_then(|storage| storage.shard.as_ref());
        shard.map(|shard| PyTuple::new(py, shard)).transpose()
    }

    /// Attributes.
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match self.node.attributes() {
            Some(attributes) => attribute::dict(py, attributes),
            None => Ok(PyDict::new(py)),
        }
    }

    /// Attributes that cannot be read, with the reasons.
    fn unreadable_attributes(&self) -> Vec<(&str, &str)> {
        self.node.attributes().map(attribute::unreadable).unwrap_or_default()
    }

    /// How the elements are stored, in NDL notation.
    fn storage_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match self.storage() {
            Some(storage) => storage::dict(py, storage, Some(self.opened.datatype())),
            None => Ok(PyDict::new(py)),
        }
    }

    /// The value of elements that were never written, stated or not; `None` if it is undefined.
    fn fill_element<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let datatype = self.opened.datatype();
        let stated = match self.storage().map(|storage| &storage.fill) {
            Some(Fill::Undefined) => return Ok(py.None().into_bound(py)),
            Some(Fill::Value(stated)) => Some(stated.clone()),
            _ => self.opened.run(py, 0, |array| array.elements().fill())?,
        };
        let zero = || Values { rows: vec![0; datatype.row_size().unwrap_or(0)].into(), ..Values::default() };
        attribute::of_shape(py, datatype, &stated.unwrap_or_else(zero), &[])
    }

    /// An integer that no valid element equals, for nullable integers; `None` if there is none. Reads the array.
    fn absent_integer(&self, py: Python<'_>) -> PyResult<Option<i128>> {
        let Some(value) = self.opened.run(py, usize::MAX, hyperslab::Array::absent_integer)? else {
            return Ok(None);
        };
        let element = Elements::new(self.opened.datatype().non_null(), &value).next();
        Ok(element.and_then(|element| match element.get() {
            Element::Int(number) => Some(number),
            _ => None,
        }))
    }

    /// Stored size of the elements in bytes.
    fn stored(&self, py: Python<'_>) -> PyResult<u64> {
        self.opened.run(py, 0, |array| array.elements().stored())
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if self.form == Form::Rows
            && self.inner.is_empty()
            && let Some(at) = position(key, self.opened.shape())?
        {
            return self.element(py, at);
        }
        self.read_key(py, key, (Texts::Stored, Utf8::Strict))
    }

    /// Reads a selection. `text` says how strings are returned: object, string or bytes [default: as they are stored];
    /// `errors` is strict or replace.
    #[pyo3(signature = (key=None, *, text=None, errors="strict"))]
    fn read_selection<'py>(
        &self,
        py: Python<'py>,
        key: Option<&Bound<'py, PyAny>>,
        text: Option<&str>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let texts = match text {
            None => Texts::Stored,
            Some("object") => Texts::Objects,
            Some("string") => Texts::Strings,
            Some("bytes") => Texts::Bytes,
            Some(text) => {
                return Err(PyValueError::new_err(format!(
                    "text={text:?}, expected object, string or bytes"
                )));
            }
        };
        let utf8 = match errors {
            "strict" => Utf8::Strict,
            "replace" => Utf8::Lossy,
            _ => return Err(PyValueError::new_err(format!("errors={errors:?}, expected strict or replace"))),
        };
        let all = PyEllipsis::get(py).to_owned().into_any();
        self.read_key(py, key.unwrap_or(&all), (texts, utf8))
    }

    /// The shape that a key selects, if the elements can be read into memory of the caller: their rows must be
    /// elements, and the key may not select members or inner axes.
    fn direct_shape<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let rank = self.opened.shape().len();
        let is_within = !self.inner.is_empty() && inner::split(key, rank, self.inner.len())?.is_some();
        if self.form != Form::Rows || self.is_null() || is_within {
            return Ok(None);
        }
        let key = Key::parse(key, self.opened.shape())?;
        if !key.fields.is_empty() {
            return Ok(None);
        }
        let shape = key.shape(self.opened.selected_shape(&key.select).raised(py)?);
        values::extents(py, &shape, &self.inner).map(Some)
    }

    /// Reads a selection that has a direct shape into the bytes of an array of the right dtype and shape.
    fn fill<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        flat: &Bound<'py, PyArray1<u8>>,
    ) -> PyResult<()> {
        let key = Key::parse(key, self.opened.shape())?;
        values::fill(py, &self.opened, &key.select, flat)
    }

    /// Reads single elements, given the concatenated positions of each.
    fn points<'py>(
        &self,
        py: Python<'py>,
        positions: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rank = self.opened.shape().len();
        let select = Select::points(rank, positions.as_slice()?.to_vec());
        let shape = self.opened.selected_shape(&select).raised(py)?;
        self.selected(py, &select, &shape, (Texts::Stored, Utf8::Strict))
    }

    /// The elements of a selection in text form: `time=2026-03,lat=-30..30`.
    fn labelled<'py>(&self, py: Python<'py>, selection: &str) -> PyResult<Bound<'py, PyAny>> {
        let select: Select = selection.parse().raised(py)?;
        let shape = self.opened.selected_shape(&select).raised(py)?;
        let read = self.selected(py, &select, &shape, (Texts::Stored, Utf8::Strict))?;
        if shape.is_empty() { read.get_item(PyTuple::empty(py)) } else { Ok(read) }
    }

    /// The places of chunks: first elements, offsets, lengths, filter masks and files; and the kind of placement.
    #[expect(clippy::type_complexity)]
    fn places<'py>(
        &self,
        py: Python<'py>,
        inner: bool,
    ) -> PyResult<(
        Bound<'py, PyArray1<u64>>,
        Bound<'py, PyArray1<u64>>,
        Bound<'py, PyArray1<u64>>,
        Bound<'py, PyArray1<u32>>,
        Vec<Option<String>>,
        Bound<'py, PyArray1<u32>>,
        &'static str,
    )> {
        let level = if inner { ChunkLevel::Inner } else { ChunkLevel::Outer };
        let mut table = Table::default();
        let placement = self.opened.run(py, usize::MAX, |array| {
            array.chunk_places(level, |place| {
                table.starts.extend_from_slice(place.start);
                table.offsets.push(place.offset);
                table.lengths.push(place.len);
                table.masks.push(place.filter_mask);
                let file = match place.container {
                    Container::Opened => None,
                    Container::Named(name) => Some(name.to_owned()),
                    Container::Value(key) => Some(key.to_string()),
                };
                table.add_file(file);
                Ok(())
            })
        })?;
        use hyperslab::ChunkPlacement::{All, InMetadata, InOtherArrays, Nowhere};
        let word = match placement {
            All => "all",
            InMetadata => "in-metadata",
            InOtherArrays => "in-other-arrays",
            Nowhere => "nowhere",
        };
        Ok((
            PyArray1::from_vec(py, table.starts),
            PyArray1::from_vec(py, table.offsets),
            PyArray1::from_vec(py, table.lengths),
            PyArray1::from_vec(py, table.masks),
            table.files,
            PyArray1::from_vec(py, table.file),
            word,
        ))
    }
}

/// The places of chunks as columns.
#[derive(Default)]
struct Table {
    starts: Vec<u64>,
    offsets: Vec<u64>,
    lengths: Vec<u64>,
    masks: Vec<u32>,
    /// The files. `file` has the index of the file of each chunk.
    files: Vec<Option<String>>,
    file: Vec<u32>,
}

impl Table {
    fn add_file(&mut self, file: Option<String>) {
        let last = self.files.len().saturating_sub(1);
        let index = match self.files.last() == Some(&file) {
            true => last,
            false => {
                self.files.push(file);
                self.files.len().saturating_sub(1)
            }
        };
        self.file.push(u32::try_from(index).unwrap_or(u32::MAX));
    }
}
