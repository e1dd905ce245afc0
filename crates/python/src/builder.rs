//! Stores made from Python values.

use crate::error::Raised;
use crate::given;
use hyperslab::model::{
    Attributes, BoxedStorage, ByteOrder, DimCoord, Dimension, ElementStorage, Extent, Fill, Ndarray, Node,
    NodePath, Shape, Storage,
};
use hyperslab::{Source, StoreBuilder, filter, ndl};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The objects of a store to be written.
#[pyclass(frozen, module = "hyperslab._hyperslab")]
pub(crate) struct Builder {
    store: Mutex<Schema>,
}

/// The added objects, until they become a source, which can be written several times.
enum Schema {
    Open(StoreBuilder),
    Built(Arc<dyn Source>),
}

impl Builder {
    /// The added objects as a source. After that, nothing more can be added.
    pub(crate) fn built(&self) -> Arc<dyn Source> {
        let mut store = self.lock();
        let source = match mem::replace(&mut *store, Schema::Open(StoreBuilder::new())) {
            Schema::Open(builder) => builder.build(),
            Schema::Built(source) => source,
        };
        *store = Schema::Built(Arc::clone(&source));
        source
    }

    fn lock(&self) -> MutexGuard<'_, Schema> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(
        &self,
        py: Python<'_>,
        add: impl FnOnce(&mut StoreBuilder) -> hyperslab::Result<T>,
    ) -> PyResult<T> {
        match &mut *self.lock() {
            Schema::Open(builder) => add(builder).raised(py),
            Schema::Built(_) => Err(PyRuntimeError::new_err(
                "nothing can be added to a schema after a store was made from it",
            )),
        }
    }

    fn add(&self, py: Python<'_>, path: &str, node: Node) -> PyResult<()> {
        self.with(py, |builder| builder.node(path, node).map(drop))
    }
}

/// How an array is stored.
#[derive(FromPyObject)]
struct Stored {
    #[pyo3(item)]
    chunk: Option<Vec<u64>>,
    #[pyo3(item)]
    shard: Option<Vec<u64>>,
    /// Filters in NDL: `[shuffle, {deflate: 4}]`.
    #[pyo3(item)]
    filters: Option<String>,
    /// Whether the most significant byte of numbers is stored first.
    #[pyo3(item)]
    is_big_endian: bool,
}

#[pymethods]
impl Builder {
    #[new]
    fn new() -> Builder {
        Builder { store: Mutex::new(Schema::Open(StoreBuilder::new())) }
    }

    /// Adds a group, or attributes to the root.
    fn group(&self, py: Python<'_>, path: &str, attributes: &Bound<'_, PyDict>) -> PyResult<()> {
        let attributes = all(attributes)?;
        self.with(py, |builder| {
            builder.group(path)?.with_attributes(attributes);
            Ok(())
        })
    }

    /// Adds a dimension without coordinates.
    fn dimension(&self, py: Python<'_>, path: &str, size: u64, unlimited: bool) -> PyResult<()> {
        let dimension = DimCoord {
            size: extent(size, unlimited),
            datatype: None,
            attributes: Attributes::default(),
            storage: BoxedStorage::default(),
            value: None,
        };
        self.add(py, path, Node::DimCoord(dimension))
    }

    /// Adds an array along dimensions, each given by its path, its length, and whether it is unlimited. `values` is a
    /// NumPy array, or `None` for elements that are written later. An array with the path of its only dimension holds
    /// the coordinates.
    #[expect(clippy::too_many_arguments)]
    fn array(
        &self,
        py: Python<'_>,
        path: &str,
        dimensions: Vec<(Option<String>, u64, bool)>,
        dtype: &Bound<'_, PyAny>,
        attributes: &Bound<'_, PyDict>,
        stored: Stored,
        fill: Option<&Bound<'_, PyAny>>,
        values: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let datatype = given::datatype(dtype)?;
        let value = values.map(|values| given::values(values, &datatype)).transpose()?;
        let filters = stored.filters.map(|text| ndl::filters(&text, None)).transpose().raised(py)?;
        filters.iter().flatten().try_for_each(filter::check).raised(py)?;
        let fill = fill.map(|fill| given::values(fill, &datatype)).transpose()?;
        let storage = Storage {
            chunk: stored.chunk,
            shard: stored.shard,
            filters: filters.unwrap_or_default(),
            fill: fill.map_or(Fill::Default, Fill::Value),
            element: ElementStorage {
                endian: stored.is_big_endian.then_some(ByteOrder::Big),
                ..ElementStorage::default()
            },
            ..Storage::default()
        };
        let datatype = Some(Arc::new(datatype));
        let attributes = all(attributes)?;
        let node = match dimensions.as_slice() {
            [(Some(own), size, unlimited)] if own == path => Node::DimCoord(DimCoord {
                size: extent(*size, *unlimited),
                datatype,
                attributes,
                storage: storage.into(),
                value,
            }),
            dimensions => {
                let dims = dimensions.iter().map(|(path, size, unlimited)| {
                    let coordinate = path.as_deref().map(NodePath::new).transpose()?;
                    Ok(Dimension { extent: extent(*size, *unlimited), coordinate })
                });
                // A multidimensional variable may have the name of one of its dimensions.
                let own = dimensions.iter().find(|(of, ..)| of.as_deref() == Some(path));
                Node::Ndarray(Ndarray {
                    shape: Shape::Dims(dims.collect::<hyperslab::Result<_>>().raised(py)?),
                    dimension: own.map(|(_, size, unlimited)| extent(*size, *unlimited)),
                    datatype,
                    attributes,
                    storage: storage.into(),
                    value,
                })
            }
        };
        self.add(py, path, node)
    }
}

/// The attributes of an object.
fn all(attributes: &Bound<'_, PyDict>) -> PyResult<Attributes> {
    let mut all = Attributes::default();
    for (name, value) in attributes {
        all.insert(name.extract()?, Ok(given::attribute(&value)?));
    }
    Ok(all)
}

fn extent(size: u64, unlimited: bool) -> Extent {
    if unlimited { Extent::Unlimited { current: size } } else { Extent::Fixed(size) }
}
