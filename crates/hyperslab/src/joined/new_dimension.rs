//! A dimension that the stores do not have: each store becomes one step along it, such as a member of an ensemble.

use super::axis::{self, Listed};
use super::opening::Opening;
use crate::formats::{clear_layout_directives, forget_elsewhere};
use crate::select::is_named;
use crate::source::{ArraySource, Declared, Entry, Handle, Item, LeftBehind, Source, SourceView, Stored};
use array::OneStep;
use hyperslab_cf::dataset::{Dataset, Role, Variable};
use hyperslab_core::{Error, Remedy, Result, valid};
use hyperslab_model::{DimCoord, Dimension, Extent, Node, NodeKind, NodePath, Shape, Storage};
use rustc_hash::FxHashSet;
use std::path::PathBuf;
use std::sync::Arc;

mod array;

/// A new dimension, and the arrays that get it.
pub(super) struct NewDimension {
    path: NodePath,
    arrays: FxHashSet<NodePath>,
    /// Whether no variable provides its coordinates, so that it is an object of its own.
    is_bare: bool,
}

impl NewDimension {
    /// The dimension called `name`. A scalar variable of that name provides its coordinates. Data variables get the
    /// dimension, as do those scalar variables describing them that differ from store to store, with their bounds. All
    /// other variables must be the same in all stores.
    ///
    /// # Errors
    /// If the stores have the dimension, or another object of that name; if a store cannot be opened.
    pub(super) fn find(
        name: &str,
        first: Listed<'_>,
        others: &[PathBuf],
        opening: &Opening,
    ) -> Result<NewDimension> {
        let (path, is_bare) = path(name, first)?;
        let nodes = axis::nodes(first)?;
        let typed = first.0.dialect().has_typed_attributes;
        let dataset = Dataset::new(nodes.iter().map(|(path, node)| (path, node)), typed);
        // Existing dimensions keep their coordinates.
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
        if !is_bare {
            // The variable may be outside the joined part, but is included as coordinates are.
            arrays.insert(path.clone());
        }
        if let Some(outside) = is_bare.then(|| out_of_reach(&path, &arrays)).flatten() {
            let what = format!("{outside} is not below the group of the new dimension {path}");
            return Err(Error::invalid(what).with_hint(format_args!("name it /{}", path.name())));
        }
        Ok(NewDimension { path, arrays, is_bare })
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

/// An array that is not in the scope of a dimension at this path.
fn out_of_reach<'a>(path: &NodePath, arrays: &'a FxHashSet<NodePath>) -> Option<&'a NodePath> {
    let group = path.parent()?;
    let sees =
        |array: &&NodePath| std::iter::successors(array.parent(), NodePath::parent).any(|of| of == group);
    arrays.iter().filter(|array| !sees(array)).min()
}

/// The path of the dimension, which is that of the scalar variable of this name if there is one, and whether there is
/// none.
fn path(name: &str, (source, entries): Listed<'_>) -> Result<(NodePath, bool)> {
    let dimensions = entries.iter().filter_map(Entry::dimensions).flatten();
    if let Some(known) = dimensions.filter_map(|of| of.coordinate).find(|path| is_named(path, name)) {
        let text = format!("the stores have the dimension {name}, so it is not a new one");
        return Err(Error::invalid(text).with_remedy(Remedy::JoinAlong(vec![known.name().to_owned()])));
    }
    let found: Vec<&Entry> = entries.iter().filter(|entry| is_named(&entry.handle.path, name)).collect();
    match found.as_slice() {
        [] => {
            let path = NodePath::new(&format!("/{}", name.trim_start_matches('/')))?;
            match valid(source.find(&path))? {
                Some(found) if is_scalar(&found) => return Ok((path, false)),
                Some(_) => return Err(not_scalar(name, &path)),
                None => {}
            }
            let group = path.parent().map(|group| source.find(&group)).transpose();
            if !group.is_ok_and(|group| group.is_some_and(|group| matches!(group.item, Item::Group))) {
                let what = format!("no group for the new dimension {path}");
                return Err(Error::not_found(what).with_hint("name it without a path"));
            }
            Ok((path, true))
        }
        [only] if is_scalar(only) => Ok((only.handle.path.clone(), false)),
        [only] => Err(not_scalar(name, &only.handle.path)),
        [first, second, ..] => {
            let text = format!("{name} is {} as well as {}", first.handle.path, second.handle.path);
            Err(Error::invalid(text).with_hint("name the dimension by its path"))
        }
    }
}

/// The error that an object cannot provide the coordinates of a new dimension.
fn not_scalar(name: &str, path: &NodePath) -> Error {
    let text = format!("has the name of the new dimension {name}, expected a variable without dimensions");
    Error::invalid(text).in_object(path)
}

/// Whether an object is a variable without dimensions, which can provide the coordinates of a new one.
pub(super) fn is_scalar(entry: &Entry) -> bool {
    matches!(&entry.item, Item::Array { datatype: Some(_), shape: Shape::Dims(dims), .. } if dims.is_empty())
}

/// A store as one step along a new dimension.
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

    /// Whether an object is the dimension, which the store does not have.
    fn is_new(&self, path: &NodePath) -> bool {
        self.dimension.is_bare && self.dimension.path == *path
    }

    /// The dimension as an object without coordinates.
    fn bare(&self) -> Entry {
        Entry {
            handle: Handle { path: self.dimension.path.clone(), id: u64::MAX },
            item: Item::Array {
                kind: NodeKind::DimCoord,
                datatype: None,
                shape: Shape::Dims(vec![Dimension { coordinate: None, ..self.dimension.step() }]),
                stored: Stored::Nothing,
            },
        }
    }
}

impl SourceView for Step {
    fn viewed(&self) -> &dyn Source {
        &*self.source
    }

    fn entry_at(&self, path: &NodePath) -> Result<Entry> {
        if self.is_new(path) { Ok(self.bare()) } else { self.entry(self.source.find(path)?) }
    }

    fn entries_in(&self, group: &Handle) -> Result<Vec<Entry>> {
        let own = self.source.members(group)?;
        if let Some(taken) = own.iter().find(|entry| self.is_new(&entry.handle.path)) {
            let what = "has the name of the new dimension, and the first file has nothing of this name";
            return Err(Error::invalid(what).in_object(&taken.handle.path));
        }
        let path = &self.dimension.path;
        let is_here = self.is_new(path) && path.parent().is_some_and(|parent| parent == group.path);
        let new = is_here.then(|| Ok(self.bare()));
        new.into_iter().chain(own.into_iter().map(|entry| self.entry(entry))).collect()
    }

    fn node_of(&self, object: &Handle) -> Result<Node> {
        match self.is_new(&object.path) {
            true => Ok(Node::DimCoord(DimCoord::without_coordinates(self.dimension.step().extent))),
            false => self.node(object, self.source.load(object)?),
        }
    }

    fn elements_of(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        match self.is_new(&object.path) {
            true => {
                Err(Error::invalid("a dimension without coordinates, expected an array")
                    .in_object(&object.path))
            }
            false => self.elements(object, self.source.array(object)?),
        }
    }

    fn declared_in(&self, group: &Handle, members: &[Entry]) -> Result<Vec<Declared>> {
        let (new, own): (Vec<&Entry>, Vec<&Entry>) =
            members.iter().partition(|entry| self.is_new(&entry.handle.path));
        if new.is_empty() {
            return self.source.declared(group, members);
        }
        // The new dimension comes first, and the others keep their order.
        let own: Vec<Entry> = own.into_iter().cloned().collect();
        let mut declared = self.source.declared(group, &own)?.into_iter();
        let place = |entry: &Entry| match self.is_new(&entry.handle.path) {
            true => Some(Declared { place: 0, dimension: None }),
            false => declared.next().map(|own| Declared { place: own.place.saturating_add(1), ..own }),
        };
        Ok(members.iter().filter_map(place).collect())
    }

    fn attribute_order_of(&self, object: &Handle) -> Result<Option<Vec<String>>> {
        if self.is_new(&object.path) { Ok(None) } else { self.source.stored_order_of_attributes(object) }
    }

    fn unshown_elements_of(&self, object: &Handle) -> Result<bool> {
        if self.is_new(&object.path) { Ok(false) } else { self.source.has_unshown_elements(object) }
    }

    fn left_behind_of(&self, object: &Handle) -> Result<Vec<LeftBehind>> {
        if self.is_new(&object.path) { Ok(Vec::new()) } else { self.source.left_behind(object) }
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
