//! Several stores as one.

use crate::file::File;
use crate::options::Options;
use crate::work::run;
use hyperslab::files::matching;
use hyperslab::model::Tolerance;
use hyperslab::{Along, JoinOptions, Joined};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Which stores are joined, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Joining {
    /// The name for all stores together.
    pub(crate) name: String,
    stores: Vec<PathBuf>,
    path: Option<String>,
    along: Option<String>,
    new_dimension: Option<String>,
    sort: bool,
    rtol: f64,
    atol: f64,
    open: Options,
}

impl Joining {
    /// The stores, and how they are joined.
    pub(crate) fn resolved(self, py: Python<'_>) -> PyResult<(Vec<PathBuf>, JoinOptions)> {
        let tolerance = Tolerance { relative: self.rtol, absolute: self.atol, ..Tolerance::default() };
        let along = Along::of(self.along, self.new_dimension);
        let (path, sort, open) = (self.path, self.sort, self.open.resolved(py)?);
        Ok((self.stores, JoinOptions { along, sort, path, tolerance, open }))
    }
}

/// Opens several stores as one.
#[pyfunction]
pub(crate) fn open_joined(py: Python<'_>, joining: Joining) -> PyResult<File> {
    let name = joining.name.clone();
    let (stores, options) = joining.resolved(py)?;
    let joined = run(py, usize::MAX, |pool| {
        let mut options = options;
        options.open.pool = pool.clone();
        Joined::open(&stores, &options)
    })?;
    Ok(File::of_joined(joined, name))
}

/// The stores that a pattern names, in the order of their names.
#[pyfunction]
pub(crate) fn stores_like(py: Python<'_>, pattern: &str) -> PyResult<Vec<String>> {
    run(py, 0, |_| matching(pattern))
}

/// Whether a path has wildcards or alternatives.
#[pyfunction]
pub(crate) fn is_pattern(path: &str) -> bool {
    hyperslab::location::is_pattern(path)
}
