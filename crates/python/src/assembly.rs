//! Stores that many processes write.

use crate::builder::Builder;
use crate::error::Raised;
use crate::given;
use crate::verbs::Outcome;
use crate::work::{pool, run};
use hyperslab::assemble::{AssemblyOptions, Receipt};
use hyperslab::target::Loss;
use hyperslab::{NodePath, Region};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A store that is being written.
#[pyclass(frozen, module = "hyperslab._hyperslab")]
pub(crate) struct Assembly {
    inner: Mutex<Option<Arc<hyperslab::assemble::Assembly>>>,
}

impl Assembly {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<hyperslab::assemble::Assembly>>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shared(&self) -> PyResult<Arc<hyperslab::assemble::Assembly>> {
        self.lock().clone().ok_or_else(over)
    }

    fn with<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&hyperslab::assemble::Assembly) -> hyperslab::Result<T>,
    ) -> PyResult<T> {
        work(&*self.shared()?).raised(py)
    }

    fn taken(&self) -> PyResult<hyperslab::assemble::Assembly> {
        let inner = self.lock().take().ok_or_else(over)?;
        Arc::into_inner(inner).ok_or_else(|| PyRuntimeError::new_err("another thread is writing the store"))
    }
}

fn over() -> PyErr {
    PyRuntimeError::new_err("the store was finished or abandoned")
}

#[pymethods]
impl Assembly {
    /// Declares a store.
    #[staticmethod]
    fn create(
        py: Python<'_>,
        target: PathBuf,
        builder: &Builder,
        format: Option<String>,
        allow_loss: Vec<String>,
        overwrite: bool,
    ) -> PyResult<Assembly> {
        let options = AssemblyOptions {
            format,
            allow: Loss::of_names(&allow_loss).raised(py)?,
            overwrite,
            pool: pool(),
            ..Default::default()
        };
        let schema = builder.built()?;
        let inner =
            run(py, usize::MAX, |_| hyperslab::assemble::Assembly::create(&target, &*schema, &options))?;
        Ok(Assembly { inner: Mutex::new(Some(Arc::new(inner))) })
    }

    /// Opens a store that is being written, by its folder.
    #[staticmethod]
    fn open(py: Python<'_>, folder: PathBuf) -> PyResult<Assembly> {
        let inner = run(py, 0, |_| hyperslab::assemble::Assembly::open(&folder))?;
        Ok(Assembly { inner: Mutex::new(Some(Arc::new(inner))) })
    }

    /// The hidden folder beside the target.
    #[getter]
    fn folder(&self, py: Python<'_>) -> PyResult<PathBuf> {
        self.with(py, |inner| Ok(inner.folder().to_owned()))
    }

    /// The target.
    #[getter]
    fn target(&self, py: Python<'_>) -> PyResult<PathBuf> {
        self.with(py, |inner| Ok(inner.target().to_owned()))
    }

    /// Paths of the arrays that wait for regions.
    #[getter]
    fn waiting(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |inner| Ok(inner.waiting().iter().map(ToString::to_string).collect()))
    }

    /// Shape of what is written at once of an array.
    fn unit<'py>(&self, py: Python<'py>, array: &str) -> PyResult<Bound<'py, PyTuple>> {
        let unit = self.with(py, |inner| inner.unit(&NodePath::new(array)?))?;
        PyTuple::new(py, unit)
    }

    /// Writes elements from `start` on, and gives the receipt as text.
    fn write(
        &self,
        py: Python<'_>,
        array: &str,
        start: Vec<u64>,
        values: &Bound<'_, PyAny>,
    ) -> PyResult<String> {
        let path = NodePath::new(array).raised(py)?;
        let datatype = self.with(py, |inner| inner.datatype(&path))?;
        let count: Vec<u64> = values.getattr("shape")?.extract()?;
        let count = count.get(..start.len()).map(<[u64]>::to_vec).unwrap_or(count);
        let values = given::values(values, datatype.resolved())?;
        let region = Region::new(start, count);
        let inner = self.shared()?;
        let receipt = run(py, values.rows.len(), move |_| inner.write(&path, &region, &values))?;
        Ok(receipt.to_json())
    }

    /// Makes the store of what the receipts name. Gives what it changes and loses.
    fn finish<'py>(&self, py: Python<'py>, receipts: Vec<String>) -> PyResult<Bound<'py, PyAny>> {
        let receipts = receipts.iter().map(|text| Receipt::of_json(text));
        let receipts = receipts.collect::<hyperslab::Result<Vec<_>>>().raised(py)?;
        let inner = self.taken()?;
        let work = |_: &hyperslab::Pool| {
            let (format, target) = (inner.format()?, inner.target().to_owned());
            let (plan, summary) = inner.finish(&receipts)?;
            let mut outcome = Outcome::planned(&plan, format, Some(&target));
            outcome.written(summary, &target)?;
            Ok(outcome)
        };
        run(py, usize::MAX, work)?.dict(py)
    }

    /// Removes what was written.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        let inner = self.taken()?;
        run(py, 0, |_| inner.abandon())
    }
}
