//! Arrays and tables for Arrow readers, through the Arrow PyCapsule interface. No element becomes a Python object.

use crate::array::Array;
use crate::error::Raised;
use crate::file::File;
use crate::work::run;
use arrow_array::ffi::{FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array as _, ArrayRef, LargeStringArray, RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, SchemaRef};
use hyperslab::location::LocatedObject;
use hyperslab::model::Datatype;
use hyperslab::select::Select;
use hyperslab::show::{ShowOptions, View, show_cells};
use hyperslab::tabular::{Tabular, arrow_array, arrow_type, read_arrow};
use hyperslab::{Error, ErrorKind, NodePath, Operation, Pool, Result, Source, Utf8};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::CStr;
use std::sync::Arc;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

fn failed(error: ArrowError) -> Error {
    Error::new(ErrorKind::Unsupported, format!("Arrow: {error}"))
}

/// The type of the elements of an array.
#[pyfunction]
pub(crate) fn arrow_c_schema<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyCapsule>> {
    let field = arrow_type(array.opened.path().name(), array.opened.datatype());
    let field = field.with_dict_is_ordered(array.opened.elements().has_ordered_labels());
    let schema = FFI_ArrowSchema::try_from(&field).map_err(failed).raised(py)?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// The elements of an array of at most one dimension, with their type.
#[pyfunction]
pub(crate) fn arrow_c_array<'py>(
    py: Python<'py>,
    array: &Array,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let opened = &array.opened;
    let rank = opened.shape().len();
    if rank > 1 {
        let text = format!("{} has {rank} dimensions, but an Arrow array has one", opened.path());
        return Err(PyTypeError::new_err(text));
    }
    let count = hyperslab::nd::element_bytes(opened.shape(), opened.datatype().row_size().unwrap_or(0));
    let built = run(py, count.unwrap_or(usize::MAX), |pool| {
        let opened = opened.with_pool(pool);
        if opened.elements().extents().is_none() {
            return arrow_array(opened.datatype(), &Default::default());
        }
        match opened.datatype().resolved() {
            Datatype::String(_) => {
                let texts = opened.strings(&Select::all(), Utf8::Strict)?;
                Ok(Arc::new(LargeStringArray::from(texts)) as ArrayRef)
            }
            _ => arrow_array(opened.datatype(), &opened.values(&Select::all())?),
        }
    })?;
    let (elements, _) = to_ffi(&built.to_data()).map_err(failed).raised(py)?;
    Ok((arrow_c_schema(py, array)?, PyCapsule::new_with_value(py, elements, ARRAY)?))
}

/// Whether a group is a sparse array, whose cells are a table.
#[pyfunction]
pub(crate) fn has_cells(py: Python<'_>, file: &File, path: &str) -> PyResult<bool> {
    run(py, 0, |_| {
        let group = file.source.find(&NodePath::new(path)?)?;
        Ok(file.source.cells(&group.handle)?.is_some())
    })
}

/// Rows in memory.
#[pyclass(frozen, subclass, module = "hyperslab._hyperslab")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

/// Reads arrays with the same dimensions, or the cells of a sparse array, as a table.
#[pyfunction]
#[pyo3(signature = (file, paths, *, select, decode, texts))]
pub(crate) fn table(
    py: Python<'_>,
    file: &File,
    paths: Vec<String>,
    select: Vec<String>,
    decode: bool,
    texts: bool,
) -> PyResult<Table> {
    let work = |pool: &Pool| {
        let source = Operation::new(Arc::clone(&file.source), pool.clone());
        let select = select.iter().map(|text| text.parse()).collect::<Result<Vec<Select>>>()?;
        let options = ShowOptions { select, decode, texts, ..ShowOptions::default() };
        let target = |path: &String| -> Result<LocatedObject> {
            Ok(LocatedObject { entry: source.find(&NodePath::new(path)?)?, attribute: None })
        };
        let targets = paths.iter().map(target).collect::<Result<Vec<_>>>()?;
        if let Some(cells) = show_cells(&source, &targets, &options.select)? {
            let cells = if decode { cells.decoded(&source)? } else { cells };
            return read_arrow(&[Tabular::of_cells(&cells)]);
        }
        let views = targets.iter().map(|target| View::new(&source, target, &options));
        let views = views.collect::<Result<Vec<_>>>()?;
        read_arrow(&views.iter().map(Tabular::of_array).collect::<Vec<_>>())
    };
    let (schema, batches) = run(py, usize::MAX, work)?;
    Ok(Table { schema, batches })
}

#[pymethods]
impl Table {
    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Size of the columns in memory, in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.batches.iter().map(RecordBatch::get_array_memory_size).sum()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(failed).raised(py)?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A requested schema is only a wish, which need not be fulfilled.
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }
}
