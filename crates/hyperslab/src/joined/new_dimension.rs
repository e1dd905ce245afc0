//! A dimension that the stores do not have: each becomes one step of it, such as a member of an ensemble.

use super::axis::{self, Listed};
use super::opening::Opening;
use crate::formats::{clear_layout_directives, forget_elsewhere};
use crate::select::is_named;
use crate::source::{ArraySource, Entry, Handle, Item, Source, SourceView, Stored};
use array::OneStep;
use hyperslab_cf::dataset::{Dataset, Role, Variable};
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{DimCoord, Dimension, Extent, Node, NodeKind, NodePath, Shape, Storage};
use rustc_hash::FxHashSet;
use std::path::PathBuf;
use std::sync::Arc;

mod array;

/// A new dimension, and the arrays that get it.
pub(super) struct NewDimension {
    path: NodePath,
    arrays: FxHashSet<NodePath>,
}

impl NewDimension {
    /// The dimension called `name`. A scalar variable of that name has its coordinates. Data variables lie along it, and
    /// of the scalar variables that describe them those that differ from store to store, with their bounds. All others
    /// must be the same in all stores.
    ///
    /// # Errors
    /// If the stores have the dimension, or another object of that name; if a store cannot be opened.
    pub(super) fn find(
        name: &str,
        first: Listed<'_>,
        others: &[PathBuf],
        opening: &Opening,
    ) -> Result<NewDimension> {
        let path = path(name, first.1)?;
        let nodes = axis::nodes(first)?;
        let typed = first.0.dialect().has_typed_attributes;
        let dataset = Dataset::new(nodes.iter().map(|(path, node)| (path, node)), typed);
        // Dimensions keep the coordinates that they have.
        let coordinates: FxHashSet<&NodePath> =
            nodes.iter().filter(|(_, node)| is_dimension(node)).map(|(path, _)| path).collect();
        let others_of = |is_wanted: &dyn Fn(&Variable) -> bool| -> Vec<NodePath> {
            let variables = dataset.variables.iter();
            let wanted = variables.filter(|one| !coordinates.contains(&one.path) && is_wanted(one));
            wanted.map(|variable| variable.path.clone()).collect()
        };
        let mut arrays: FxHashSet<NodePath> =
            others_of(&|variable| variable.is(Role::Data) || variable.path == path).into_iter().collect();
        let mut same = others_of(&|variable| {
            let is_scalar = variable.dimensions.is_empty() && !variable.is(Role::GridMapping);
            is_scalar && !arrays.contains(&variable.path)
        });
        for store in others {
            if same.is_empty() {
                break;
            }
            let in_store = |error: Error| error.in_file(store.display());
            let other = opening.listed(store)?;
            let mut still = Vec::new();
            for path in same {
                let differ = axis::elements_differ(first, (&*other.0, &other.1), &path).map_err(in_store)?;
                match differ {
                    true => drop(arrays.insert(path)),
                    false => still.push(path),
                }
            }
            same = still;
        }
        let bounded = dataset.variables.iter().filter(|variable| arrays.contains(&variable.path));
        let bounds: Vec<NodePath> = bounded
            .filter(|variable| variable.dimensions.is_empty())
            .flat_map(|variable| {
                let of = |attribute| dataset.named(variable, attribute);
                of("bounds").chain(of("climatology")).map(|bounds| bounds.path.clone())
            })
            .collect();
        arrays.extend(bounds);
        Ok(NewDimension { path, arrays })
    }

    pub(super) fn path(&self) -> &NodePath {
        &self.path
    }

    /// One step of the dimension.
    fn step(&self) -> Dimension {
        Dimension { extent: Extent::Fixed(1), coordinate: Some(self.path.clone()) }
    }

    fn extend(&self, shape: &mut Shape) {
        if let Shape::Dims(dims) = shape {
            dims.insert(0, self.step());
        }
    }
}

/// Whether an object is a dimension with or without coordinates.
fn is_dimension(node: &Node) -> bool {
    match node {
        Node::DimCoord(_) => true,
        Node::Ndarray(array) => array.dimension.is_some(),
        _ => false,
    }
}

/// The path of the dimension: that of the scalar variable of this name, if there is one.
fn path(name: &str, entries: &[Entry]) -> Result<NodePath> {
    let dimensions = entries.iter().filter_map(Entry::dimensions).flatten();
    if let Some(known) = dimensions.filter_map(|of| of.coordinate).find(|path| is_named(path, name)) {
        let text = format!("the stores have the dimension {name}, so it is not a new one");
        return Err(Error::invalid(text).with_remedy(Remedy::JoinAlong(vec![known.name().to_owned()])));
    }
    let found: Vec<&Entry> = entries.iter().filter(|entry| is_named(&entry.handle.path, name)).collect();
    match found.as_slice() {
        [] => NodePath::new(&format!("/{}", name.trim_start_matches('/'))),
        [only] if is_scalar(only) => Ok(only.handle.path.clone()),
        [only] => {
            let text =
                format!("has the name of the new dimension {name}, expected a variable without dimensions");
            Err(Error::invalid(text).in_object(&only.handle.path))
        }
        [first, second, ..] => {
            let text = format!("{name} is {} as well as {}", first.handle.path, second.handle.path);
            Err(Error::invalid(text).with_hint("name the dimension by its path"))
        }
    }
}

/// Whether an object is a variable without dimensions, which can have the coordinates of a new one.
pub(super) fn is_scalar(entry: &Entry) -> bool {
    matches!(&entry.item, Item::Array { datatype: Some(_), shape: Shape::Dims(dims), .. } if dims.is_empty())
}

/// A store as one step of a new dimension.
pub(super) struct Step {
    source: Arc<dyn Source>,
    dimension: Arc<NewDimension>,
}

impl Step {
    pub(super) fn shared(source: Arc<dyn Source>, dimension: Arc<NewDimension>) -> Arc<dyn Source> {
        Arc::new(Step { source, dimension })
    }

    fn lies_along(&self, path: &NodePath) -> bool {
        self.dimension.arrays.contains(path)
    }
}

impl SourceView for Step {
    fn viewed(&self) -> &dyn Source {
        &*self.source
    }

    fn entry(&self, mut entry: Entry) -> Result<Entry> {
        let path = &entry.handle.path;
        if self.lies_along(path)
            && let Item::Array { kind, shape, stored, .. } = &mut entry.item
            && let Shape::Dims(dims) = shape
        {
            if *path == self.dimension.path && dims.is_empty() {
                *kind = NodeKind::DimCoord;
            }
            self.dimension.extend(shape);
            if let Stored::Chunks(storage) = stored {
                let mut changed = Storage::clone(storage);
                extend(&mut changed);
                *stored = Stored::Chunks(Arc::new(changed));
            }
        }
        Ok(entry)
    }

    fn node(&self, object: &Handle, node: Node) -> Result<Node> {
        let Node::Ndarray(mut array) = node else { return Ok(node) };
        if !self.lies_along(&object.path) || matches!(array.shape, Shape::Null | Shape::Unsaid) {
            return Ok(Node::Ndarray(array));
        }
        extend(&mut array.storage);
        if object.path == self.dimension.path && array.shape.dims().is_empty() {
            let size = self.dimension.step().extent;
            let (datatype, attributes) = (array.datatype, array.attributes);
            let (storage, value) = (array.storage, array.value);
            return Ok(Node::DimCoord(DimCoord { size, datatype, attributes, storage, value }));
        }
        self.dimension.extend(&mut array.shape);
        Ok(Node::Ndarray(array))
    }

    fn elements(&self, object: &Handle, array: Arc<dyn ArraySource>) -> Result<Arc<dyn ArraySource>> {
        let Some(extents) = array.extents().filter(|_| self.lies_along(&object.path)) else {
            return Ok(array);
        };
        let extents = std::iter::once(1).chain(extents.iter().copied()).collect();
        Ok(Arc::new(OneStep::new(array, extents)))
    }
}

/// The storage of an array with one more dimension at the front, along which each chunk has one step.
fn extend(storage: &mut Storage) {
    for shape in [&mut storage.chunk, &mut storage.shard].into_iter().flatten() {
        shape.insert(0, 1);
    }
    clear_layout_directives(storage, true, false);
    forget_elsewhere(storage);
    if let Some(origin) = &mut storage.origin {
        extend(origin);
    }
}
