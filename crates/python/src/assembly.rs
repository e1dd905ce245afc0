//! Stores that many processes write.

use crate::attribute::of_shape;
use crate::builder::Builder;
use crate::dtype::{self, Dtype};
use crate::error::Raised;
use crate::given;
use crate::verbs::{Outcome, format_of, is_loss, target_options};
use crate::work::{pool, run};
use hyperslab::assemble::{AssemblyOptions, Receipt};
use hyperslab::convert::{ConvertOptions, Plan, Prepared};
use hyperslab::target::{Loss, TargetOptions};
use hyperslab::{NodePath, Region};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A store that is being written.
#[pyclass(frozen, module = "hyperslab._hyperslab")]
pub(crate) struct Assembly {
    inner: Mutex<Option<hyperslab::assemble::Assembly>>,
}

impl Assembly {
    fn lock(&self) -> MutexGuard<'_, Option<hyperslab::assemble::Assembly>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shared(&self) -> PyResult<hyperslab::assemble::Assembly> {
        self.lock().clone().ok_or_else(over)
    }

    fn with<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&hyperslab::assemble::Assembly) -> hyperslab::Result<T>,
    ) -> PyResult<T> {
        work(&self.shared()?).raised(py)
    }

    /// Releases the store, which is finished or abandoned.
    fn close(&self) {
        *self.lock() = None;
    }
}

/// How the store is written.
#[derive(FromPyObject)]
struct Declaring {
    #[pyo3(item)]
    format: Option<String>,
    #[pyo3(item)]
    allow_loss: Vec<String>,
    #[pyo3(item)]
    overwrite: bool,
    /// The options that are specific to a format, as `FORMAT.KEY`.
    #[pyo3(item, default)]
    options: Vec<(String, Option<String>)>,
}

impl Declaring {
    fn options(self, py: Python<'_>, target: &Path) -> PyResult<AssemblyOptions> {
        let Declaring { format, allow_loss, overwrite, options } = self;
        let allow = Loss::of_names(&allow_loss).raised(py)?;
        let native = match format_of(Some(target), format.as_deref()) {
            Ok(of) => target_options(ConvertOptions::new(of).native, &options).raised(py)?,
            // The error is raised when the store is declared.
            Err(_) => TargetOptions::default(),
        };
        Ok(AssemblyOptions { format, native, allow, overwrite, pool: pool() })
    }
}

fn over() -> PyErr {
    PyRuntimeError::new_err("the store is already finished or abandoned")
}

#[pymethods]
impl Assembly {
    /// Reports what a store would change and lose. Writes nothing.
    #[staticmethod]
    fn plan<'py>(
        py: Python<'py>,
        target: PathBuf,
        builder: &Builder,
        declaring: Declaring,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (schema, options) = (builder.built(), declaring.options(py, &target)?);
        let work = |_: &hyperslab::Pool| {
            let Prepared { plan, refused } =
                hyperslab::assemble::Assembly::prepare(&target, &*schema, &options)?;
            let format = format_of(Some(&target), options.format.as_deref())?;
            Ok(Outcome::planned(&plan, format, Some(&target)).refused(refused.err()))
        };
        run(py, usize::MAX, work)?.dict(py)
    }

    /// Declares a store.
    #[staticmethod]
    fn create(
        py: Python<'_>,
        target: PathBuf,
        builder: &Builder,
        declaring: Declaring,
    ) -> PyResult<Assembly> {
        let (schema, options) = (builder.built(), declaring.options(py, &target)?);
        let inner =
            run(py, usize::MAX, |_| hyperslab::assemble::Assembly::create(&target, &*schema, &options))?;
        Ok(Assembly { inner: Mutex::new(Some(inner)) })
    }

    /// Opens a store that is being written, given its folder.
    #[staticmethod]
    fn open(py: Python<'_>, folder: PathBuf) -> PyResult<Assembly> {
        let inner = run(py, 0, |_| hyperslab::assemble::Assembly::open(&folder))?;
        Ok(Assembly { inner: Mutex::new(Some(inner)) })
    }

    /// The hidden folder next to the target.
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

    /// Shape of the unit in which an array is written.
    fn unit<'py>(&self, py: Python<'py>, array: &str) -> PyResult<Bound<'py, PyTuple>> {
        let unit = self.with(py, |inner| inner.unit(&NodePath::new(array)?))?;
        PyTuple::new(py, unit)
    }

    /// The declaration of an array: dtype, inner dimensions of elements, shape, and fill value.
    fn declared<'py>(&self, py: Python<'py>, array: &str) -> PyResult<Bound<'py, PyTuple>> {
        let path = NodePath::new(array).raised(py)?;
        let (datatype, extents, fill) =
            self.with(py, |inner| Ok((inner.datatype(&path)?, inner.extents(&path)?, inner.fill(&path)?)))?;
        let Dtype { dtype, inner, .. } = dtype::dtype(py, &datatype)?;
        let fill = fill.map(|fill| of_shape(py, &datatype, &fill, &[])).transpose()?;
        (dtype, PyTuple::new(py, inner)?, PyTuple::new(py, extents)?, fill).into_pyobject(py)
    }

    /// Writes elements starting at `start`, and returns the receipt as text.
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
        let receipt =
            run(py, values.rows.len(), move |pool| inner.with_pool(pool).write(&path, &region, &values))?;
        Ok(receipt.to_json())
    }

    /// Assembles the store from what the receipts name. Returns what it changes and loses.
    fn finish<'py>(&self, py: Python<'py>, receipts: Vec<String>) -> PyResult<Bound<'py, PyAny>> {
        let receipts = receipts.iter().map(|text| Receipt::of_json(text));
        let receipts = receipts.collect::<hyperslab::Result<Vec<_>>>().raised(py)?;
        let inner = self.shared()?;
        let outcome = run(py, usize::MAX, move |pool| finished(&inner.with_pool(pool), &receipts))?;
        if !outcome.is_refused() {
            self.close();
        }
        outcome.dict(py)
    }

    /// Removes what was written.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        let inner = self.shared()?;
        run(py, 0, move |_| inner.abandon())?;
        self.close();
        Ok(())
    }
}

/// Makes the store. If it would lose content that may not be lost, the outcome says what.
fn finished(inner: &hyperslab::assemble::Assembly, receipts: &[Receipt]) -> hyperslab::Result<Outcome> {
    let of = |plan: &Plan| -> hyperslab::Result<Outcome> {
        Ok(Outcome::planned(plan, inner.format()?, Some(inner.target())))
    };
    match inner.finish(receipts) {
        Ok((plan, summary)) => {
            let mut outcome = of(&plan)?;
            outcome.written(summary, inner.target(), &inner.opening()?)?;
            Ok(outcome)
        }
        Err(error) if is_loss(&error) => Ok(of(&inner.planned(receipts)?)?.refused(Some(error))),
        Err(error) => Err(error),
    }
}
