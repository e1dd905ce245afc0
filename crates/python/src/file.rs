//! Open files.

use crate::array::OpenedArray;
use crate::attribute;
use crate::error::Raised;
use crate::group;
use crate::keyed::Keyed;
use crate::options::Options;
use crate::ranges::Ranges;
use crate::work::{self, in_file, run};
use bytes::Bytes;
use hyperslab::model::Node;
use hyperslab::select::FullLength;
use hyperslab::{
    Axis, Entry, Followed, Item, Joined, Location, NodePath, Pool, Source, follow, open as open_path,
    open_location,
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

/// An open store. Any number of threads may use it at the same time.
#[pyclass(frozen, weakref, module = "hyperslab._hyperslab")]
pub(crate) struct File {
    /// The source that verbs read.
    pub(crate) stored: Arc<dyn Source>,
    /// The same source, with arrays extended to the length of their unlimited dimensions.
    pub(crate) source: Arc<dyn Source>,
    /// The path, if it was opened by one.
    pub(crate) name: Option<Arc<str>>,
    /// How it was joined from several stores, if it was.
    joined: Option<JoinedFrom>,
}

/// What is known about a store that was joined from several.
struct JoinedFrom {
    /// The dimension.
    along: Axis,
    /// The length of each store.
    lengths: Vec<u64>,
    /// Differences between the stores, and missing coordinates.
    notes: Vec<String>,
    gaps: Vec<String>,
}

/// The location to open.
pub(crate) enum Opened {
    Path(PathBuf),
    /// Bytes in memory.
    Memory(Location),
    /// A Python storage, which waits for the GIL.
    Storage(Location),
}

impl Opened {
    pub(crate) fn of(location: &Bound<'_, PyAny>) -> PyResult<Opened> {
        if let Ok(bytes) = location.cast::<PyBytes>() {
            let bytes = Bytes::from_owner(PyBackedBytes::from(bytes.clone()));
            return Ok(Opened::Memory(Location::Object(Box::new(bytes))));
        }
        if location.hasattr("ranges")? {
            return Ok(Opened::Storage(Location::Object(Box::new(Ranges::new(location)?))));
        }
        if location.hasattr("entries")? {
            return Ok(Opened::Storage(Location::Store(Arc::new(Keyed::new(location)?))));
        }
        Ok(Opened::Path(location.extract()?))
    }
}

/// Opens a path, bytes, or a storage of `hyperslab._storage` or `hyperslab._folders`.
#[pyfunction]
pub(crate) fn open(py: Python<'_>, location: &Bound<'_, PyAny>, options: Options) -> PyResult<File> {
    let follow_links = options.follow_links;
    let options = options.resolved(py)?;
    let is_raw = options.raw;
    let stored = match Opened::of(location)? {
        Opened::Path(path) => run(py, 0, |_| open_path(&path, &options))?,
        Opened::Memory(location) => run(py, 0, |_| open_location(location, &options))?,
        Opened::Storage(location) => run(py, usize::MAX, |_| open_location(location, &options))?,
    };
    let stored: Arc<dyn Source> = if follow_links { Arc::new(Followed::new(stored)) } else { stored };
    let source = if is_raw { Arc::clone(&stored) } else { FullLength::shared(Arc::clone(&stored)) };
    let name = location.extract::<PathBuf>().ok().map(|path| path.to_string_lossy().into());
    Ok(File { stored, source, name, joined: None })
}

impl File {
    /// Several stores as one, under a name for all of them.
    pub(crate) fn of_joined(joined: Joined, name: String) -> File {
        let of = JoinedFrom {
            along: joined.along().clone(),
            lengths: joined.lengths(),
            notes: joined.notes().to_vec(),
            gaps: joined.gaps().to_vec(),
        };
        let source = joined.shared();
        File { stored: Arc::clone(&source), source, name: Some(name.into()), joined: Some(of) }
    }

    /// Runs work, and adds the name of the file to errors.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Pool) -> hyperslab::Result<T> + Send,
    ) -> PyResult<T> {
        run(py, 0, |pool| in_file(work(pool), self.name.as_deref()))
    }
}

#[pymethods]
impl File {
    /// Name of the format: HDF5, NetCDF-4, Zarr v3.
    #[getter]
    fn format(&self) -> &'static str {
        self.stored.format()
    }

    /// Size in bytes.
    fn size(&self, py: Python<'_>) -> PyResult<u64> {
        self.run(py, |_| self.stored.size())
    }

    /// Warnings about the store as a whole.
    fn warnings(&self) -> Vec<String> {
        let joined = self.joined.iter().flat_map(|of| of.gaps.iter().chain(&of.notes));
        self.stored.warnings().into_iter().chain(joined.cloned()).collect()
    }

    /// The dimension along which several stores were joined, as a path or a position, and the length of each store.
    fn joined(&self) -> Option<(Option<&str>, Option<usize>, &[u64])> {
        self.joined.as_ref().map(|of| match &of.along {
            Axis::Named(path) => (Some(path.as_str()), None, of.lengths.as_slice()),
            Axis::Position(position) => (None, Some(*position), of.lengths.as_slice()),
        })
    }

    /// The coordinates that are missing between joined stores.
    fn gaps(&self) -> Vec<String> {
        self.joined.as_ref().map_or_else(Vec::new, |of| of.gaps.clone())
    }

    /// The object at a path, with links followed: its path, its kind, and what else a list of members contains.
    fn find(&self, py: Python<'_>, path: &str) -> PyResult<group::Found> {
        let entry = self.run(py, |_| {
            let path = NodePath::new(path)
                .map_err(|error| hyperslab::Error::not_found(error.detail().to_owned()))?;
            follow(&*self.source, self.source.find(&path)?)
        })?;
        group::found(py, entry)
    }

    /// The members of a group, in stored order: names, and what [`File::find`] returns for each.
    fn members<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyList>> {
        let entries = self.run(py, |_| {
            let group = self.source.find(&NodePath::new(path)?)?;
            self.source.members(&group.handle)
        })?;
        group::members(py, entries)
    }

    /// The members of a group as in [`File::members`], and for each array the open array, or why it cannot be opened.
    /// Arrays named in `without` are not opened.
    fn arrays(
        &self,
        py: Python<'_>,
        path: &str,
        without: HashSet<String>,
    ) -> PyResult<Vec<(String, group::Found, Py<PyAny>)>> {
        let (group, entries) = self.run(py, |_| {
            let group = hyperslab::File::from(Arc::clone(&self.source)).group(path)?;
            let entries = group.members()?;
            Ok((group, entries))
        })?;
        let bytes = if entries.len() > MANY { usize::MAX } else { 0 };
        let opened = run(py, bytes, |pool| {
            let open = |entry: &Entry| {
                pool.check()?;
                let has_elements = matches!(entry.item, Item::Array { datatype: Some(_), .. });
                if !has_elements || without.contains(entry.handle.path.name()) {
                    return Ok(None);
                }
                let array = group.array(entry.clone()).and_then(|array| {
                    let node = array.load()?;
                    Ok((array, node))
                });
                Ok(Some(in_file(array, self.name.as_deref())))
            };
            entries.iter().map(open).collect::<hyperslab::Result<Vec<_>>>()
        })?;
        let told = entries.into_iter().zip(opened).map(|(entry, opened)| {
            let opened = match opened.map(|array| array.raised(py)) {
                None => py.None(),
                Some(Err(raised)) => raised.into_value(py).into_any(),
                Some(Ok((array, node))) => {
                    let opened = work::Opened { array, file: self.name.clone() };
                    Py::new(py, OpenedArray::new(opened, node))?.into_any()
                }
            };
            Ok((entry.handle.path.name().to_owned(), group::found(py, entry)?, opened))
        });
        told.collect()
    }

    /// The attributes of a group or a datatype.
    fn attributes<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyDict>> {
        let node = self.run(py, |_| {
            let entry = self.source.find(&NodePath::new(path)?)?;
            self.source.load(&entry.handle)
        })?;
        match node {
            Node::Group(group) => attribute::dict(py, &group.attributes),
            Node::Datatype(datatype) => attribute::dict(py, &datatype.attributes),
            other => attribute::dict(py, other.attributes().unwrap_or(&Default::default())),
        }
    }

    /// Whether a path leads to an object.
    fn has(&self, py: Python<'_>, path: &str) -> PyResult<bool> {
        self.run(py, |_| {
            let Ok(path) = NodePath::new(path) else { return Ok(false) };
            let found = self.source.find(&path).and_then(|entry| follow(&*self.source, entry));
            Ok(found.is_ok_and(|entry| !matches!(entry.item, Item::Unreadable(_))))
        })
    }
}

/// The number of members from which opening takes long enough that somebody may press Ctrl-C.
const MANY: usize = 1000;
