//! Options for opening.

use crate::error::Raised;
use crate::work::pool;
use hyperslab::select::times;
use hyperslab::{ChunkCache, DataspaceView, Limit, OpenOptions, SecretKey};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// What `hyperslab.open` takes in addition to a location.
#[derive(FromPyObject)]
pub(crate) struct Options {
    #[pyo3(item)]
    format: Option<String>,
    #[pyo3(item)]
    raw: bool,
    #[pyo3(item)]
    unpack: bool,
    #[pyo3(item)]
    limits: Option<Py<PyDict>>,
    #[pyo3(item)]
    chunk_cache: Option<u64>,
    #[pyo3(item)]
    dataspace: Option<String>,
    #[pyo3(item)]
    allow_external: Vec<PathBuf>,
    #[pyo3(item)]
    key: Option<Vec<u8>>,
    #[pyo3(item, default)]
    at: Option<String>,
    #[pyo3(item, default)]
    pub(crate) follow_links: bool,
}

impl Options {
    pub(crate) fn resolved(self, py: Python<'_>) -> PyResult<OpenOptions> {
        if self.raw && self.unpack {
            return Err(PyValueError::new_err(
                "raw shows numbers as they are stored, and unpack others; give one of them",
            ));
        }
        let mut options = OpenOptions {
            format: self.format,
            raw: self.raw,
            unpack: self.unpack,
            pool: pool(),
            allow_external: self.allow_external,
            ..OpenOptions::default()
        };
        if let Some(bytes) = self.chunk_cache {
            options.chunk_cache = if bytes == 0 { ChunkCache::none() } else { ChunkCache::new(bytes) };
        }
        if let Some(name) = self.dataspace {
            options.dataspace = Some(DataspaceView::parse(&name).raised(py)?);
        }
        if let Some(at) = self.at {
            options.at = Some(times(&at).raised(py)?);
        }
        if let Some(key) = self.key {
            options.key = Some(SecretKey::new(key));
        }
        if let Some(limits) = self.limits {
            for (name, bytes) in limits.bind(py) {
                let name: String = name.extract()?;
                let limit = Limit::of(&name).ok_or_else(|| {
                    let known = Limit::ALL.map(Limit::name).join(", ");
                    PyValueError::new_err(format!("unknown limit {name:?}, expected one of {known}"))
                })?;
                options.limits = options.limits.with(limit, bytes.extract()?);
            }
        }
        Ok(options)
    }
}
