//! Builds a store from values in memory, for conversion to any target.

#[cfg(feature = "ndarray")]
mod ndarray;

use crate::file::Number;
use crate::formats::source_of_content;
use crate::source::Source;
use bytes::Bytes;
use hyperslab_core::nd::element_count;
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{
    Attribute, Attributes, BoxedStorage, Content, Datatype, DimCoord, Dimension, Extent, Group, Ndarray,
    Node, NodePath, Shape, Text, Values,
};
use std::sync::Arc;

/// Builds a store from groups, dimensions, arrays and attributes, added one by one. The result is a [`Source`], which
/// every verb reads and [`convert`](crate::convert) writes in any format. Missing groups on the path of an object are
/// created.
///
/// ```
/// use hyperslab::convert::{ConvertOptions, convert, plan};
/// use hyperslab::publish::Fingerprint;
/// use hyperslab::{File, StoreBuilder, select::Select, target_format_of};
///
/// let mut store = StoreBuilder::new();
/// store.coordinate("/lat", &[-10.0_f64, 0.0, 10.0])?.attribute("units", "degrees_north");
/// store.dimension("/time", 2)?;
/// store
///     .array("/t", &["/time", "/lat"], &[1_i16, 2, 3, 4, 5, 6])?
///     .attribute("units", "K")
///     .numbers("valid_range", &[0_i16, 100])
///     .chunk(&[1, 3]);
/// let source = store.build();
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("t.zarr");
/// let options = ConvertOptions::new(target_format_of(&path)?);
/// let plan = plan(&*source, &options)?;
/// convert(&*source, &Fingerprint::of_sources(&[], String::new())?, &path, &plan, &options)?;
///
/// let read = File::open(&path)?.array("/t")?.read::<i16>(&Select::all().dim("lat", 1))?;
/// assert_eq!(read, [2, 5]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct StoreBuilder {
    content: Content,
    /// The paths of the objects, in the order in which they were added.
    order: Vec<NodePath>,
}

/// An added object, for adding attributes and storage options.
#[derive(Debug)]
pub struct ObjectBuilder<'a> {
    node: &'a mut Node,
}

impl StoreBuilder {
    /// An empty store.
    pub fn new() -> StoreBuilder {
        StoreBuilder::default()
    }

    /// Adds a group, or returns the existing one; the root is `/`.
    ///
    /// # Errors
    /// If `path` is not a path, or is the path of an object of another kind.
    pub fn group(&mut self, path: &str) -> Result<ObjectBuilder<'_>> {
        let path = NodePath::new(path)?;
        self.groups_above(&path.child("member"))?;
        self.object(&path)
    }

    /// Adds a dimension of a fixed length, without coordinates.
    ///
    /// # Errors
    /// If `path` is not a path, or is the path of an existing object.
    pub fn dimension(&mut self, path: &str, length: u64) -> Result<ObjectBuilder<'_>> {
        self.add(path, dimension(Extent::Fixed(length)))
    }

    /// Adds an unlimited dimension without coordinates. `length` is its current length.
    ///
    /// # Errors
    /// As [`StoreBuilder::dimension`].
    pub fn unlimited_dimension(&mut self, path: &str, length: u64) -> Result<ObjectBuilder<'_>> {
        self.add(path, dimension(Extent::Unlimited { current: length }))
    }

    /// Adds a dimension with one coordinate for each position.
    ///
    /// # Errors
    /// As [`StoreBuilder::dimension`].
    pub fn coordinate<T: Number>(&mut self, path: &str, coordinates: &[T]) -> Result<ObjectBuilder<'_>> {
        let Node::DimCoord(mut dimcoord) = dimension(Extent::Fixed(coordinates.len() as u64)) else {
            return Err(Error::invalid("not a dimension"));
        };
        dimcoord.datatype = Some(Arc::new(T::datatype()));
        dimcoord.value = Some(numbers(coordinates));
        self.add(path, Node::DimCoord(dimcoord))
    }

    /// Adds an array along existing dimensions, given by their paths. `elements` are in row-major order. A scalar has
    /// no dimensions.
    ///
    /// # Errors
    /// As [`StoreBuilder::dimension`]; if a dimension does not exist, or the number of elements does not fit the
    /// shape.
    pub fn array<T: Number>(
        &mut self,
        path: &str,
        dimensions: &[&str],
        elements: &[T],
    ) -> Result<ObjectBuilder<'_>> {
        let shape = self.along(dimensions).map_err(|e| e.in_object(path))?;
        self.elements(path, shape, T::datatype(), elements.len(), numbers(elements))
    }

    /// Adds an array along existing dimensions, whose elements are written [later](crate::assemble).
    ///
    /// # Errors
    /// As [`StoreBuilder::array`].
    pub fn declare<T: Number>(&mut self, path: &str, dimensions: &[&str]) -> Result<ObjectBuilder<'_>> {
        let shape = self.along(dimensions).map_err(|e| e.in_object(path))?;
        self.node(path, Node::Ndarray(ndarray(shape, T::datatype(), None)))
    }

    /// Adds any object, with its attributes and how it is stored. The dimensions that an array names may have been
    /// added before, or may be added later.
    ///
    /// # Errors
    /// As [`StoreBuilder::dimension`].
    pub fn node(&mut self, path: &str, node: Node) -> Result<ObjectBuilder<'_>> {
        self.add(path, node)
    }

    /// Adds an array of the given shape, whose dimensions have no names. `elements` are in row-major order.
    ///
    /// # Errors
    /// As [`StoreBuilder::array`].
    pub fn array_of_shape<T: Number>(
        &mut self,
        path: &str,
        shape: &[u64],
        elements: &[T],
    ) -> Result<ObjectBuilder<'_>> {
        self.elements(path, Shape::fixed(shape), T::datatype(), elements.len(), numbers(elements))
    }

    /// Adds an array of strings of any length, like [`StoreBuilder::array`].
    ///
    /// # Errors
    /// As [`StoreBuilder::array`].
    pub fn texts(&mut self, path: &str, dimensions: &[&str], texts: &[&str]) -> Result<ObjectBuilder<'_>> {
        let shape = self.along(dimensions).map_err(|e| e.in_object(path))?;
        let (mut rows, mut heap) = (Vec::new(), Heap::default());
        for text in texts {
            let slot = heap.push_bytes(Bytes::copy_from_slice(text.as_bytes()))?;
            rows.extend_from_slice(&slot.to_bytes());
        }
        let values = Values { rows: rows.into(), heap };
        self.elements(path, shape, Datatype::String(Text::Variable), texts.len(), values)
    }

    /// The store as a source that threads can share.
    pub fn build(self) -> Arc<dyn Source> {
        source_of_content(self.content, self.order)
    }

    fn elements(
        &mut self,
        path: &str,
        shape: Shape,
        datatype: Datatype,
        found: usize,
        values: Values,
    ) -> Result<ObjectBuilder<'_>> {
        let expected = shape.current().and_then(|shape| element_count(&shape));
        if expected != Some(found as u64) {
            let expected = expected.map_or("more than 2^64".into(), |count| count.to_string());
            return Err(Error::invalid(format!("{found} elements, expected {expected}")).in_object(path));
        }
        self.add(path, Node::Ndarray(ndarray(shape, datatype, Some(values))))
    }

    fn along(&self, dimensions: &[&str]) -> Result<Shape> {
        let dimension = |name: &&str| {
            let path = NodePath::new(name)?;
            match self.content.nodes.get(&path) {
                Some(Node::DimCoord(dimcoord)) => {
                    Ok(Dimension { extent: dimcoord.size, coordinate: Some(path) })
                }
                _ => Err(Error::not_found(format!("no dimension {name}"))),
            }
        };
        Ok(Shape::Dims(dimensions.iter().map(dimension).collect::<Result<_>>()?))
    }

    fn add(&mut self, path: &str, node: Node) -> Result<ObjectBuilder<'_>> {
        let path = NodePath::new(path)?;
        if path.is_root() || self.content.nodes.contains_key(&path) {
            return Err(Error::new(ErrorKind::AlreadyExists, "was added before").in_object(path));
        }
        self.groups_above(&path)?;
        self.order.push(path.clone());
        self.content.nodes.insert(path.clone(), node);
        self.object(&path)
    }

    fn groups_above(&mut self, path: &NodePath) -> Result<()> {
        let mut above: Vec<NodePath> = std::iter::successors(path.parent(), NodePath::parent).collect();
        while let Some(group) = above.pop() {
            match self.content.nodes.get(&group) {
                Some(Node::Group(_)) => {}
                Some(_) => return Err(Error::invalid("is not a group").in_object(group)),
                None => {
                    self.order.push(group.clone());
                    self.content.nodes.insert(group, Node::Group(Group::default()));
                }
            }
        }
        Ok(())
    }

    fn object(&mut self, path: &NodePath) -> Result<ObjectBuilder<'_>> {
        let node = self.content.nodes.get_mut(path);
        Ok(ObjectBuilder { node: node.ok_or_else(|| Error::not_found(format!("no object {path}")))? })
    }
}

impl ObjectBuilder<'_> {
    /// Adds a string attribute, or replaces the attribute of that name.
    #[allow(clippy::return_self_not_must_use, reason = "the method has changed the object")]
    pub fn attribute(self, name: &str, text: &str) -> Self {
        let mut heap = Heap::default();
        // No format stores a string of 4 GiB as an attribute.
        let slot = heap.push_bytes(Bytes::copy_from_slice(text.as_bytes())).unwrap_or_default();
        let value = Values { rows: slot.to_bytes().to_vec().into(), heap };
        self.put(name, Vec::new(), Datatype::String(Text::Variable), value)
    }

    /// Adds a numeric attribute, or replaces the attribute of that name. One number is stored as a scalar, several as a
    /// list.
    #[allow(clippy::return_self_not_must_use, reason = "the method has changed the object")]
    pub fn numbers<T: Number>(self, name: &str, list: &[T]) -> Self {
        let shape = if list.len() == 1 { Vec::new() } else { vec![list.len() as u64] };
        self.put(name, shape, T::datatype(), numbers(list))
    }

    /// Adds attributes of any type. Existing attributes with the same names are replaced.
    #[allow(clippy::return_self_not_must_use, reason = "the method has changed the object")]
    pub fn with_attributes(self, attributes: Attributes) -> Self {
        match &mut *self.node {
            Node::Group(group) => group.attributes.extend(attributes),
            Node::Ndarray(array) => array.attributes.extend(attributes),
            Node::DimCoord(dimcoord) => dimcoord.attributes.extend(attributes),
            _ => {}
        }
        self
    }

    /// Sets the chunk shape of an array. Has no effect on a group.
    #[allow(clippy::return_self_not_must_use, reason = "the method has changed the object")]
    pub fn chunk(self, shape: &[u64]) -> Self {
        if let Some(storage) = self.node.storage_mut().filter(|_| !shape.is_empty()) {
            storage.chunk = Some(shape.to_vec());
        }
        self
    }

    fn put(self, name: &str, shape: Vec<u64>, datatype: Datatype, value: Values) -> Self {
        let attributes = match &mut *self.node {
            Node::Group(group) => &mut group.attributes,
            Node::Ndarray(array) => &mut array.attributes,
            Node::DimCoord(dimcoord) => &mut dimcoord.attributes,
            _ => return self,
        };
        let attribute = Attribute::new(shape, Arc::new(datatype), value);
        attributes.insert(name.to_owned(), Ok(attribute));
        self
    }
}

fn dimension(size: Extent) -> Node {
    Node::DimCoord(DimCoord {
        size,
        datatype: None,
        attributes: Attributes::default(),
        storage: BoxedStorage::default(),
        value: None,
    })
}

fn ndarray(shape: Shape, datatype: Datatype, value: Option<Values>) -> Ndarray {
    Ndarray {
        shape,
        dimension: None,
        datatype: Some(Arc::new(datatype)),
        attributes: Attributes::default(),
        storage: BoxedStorage::default(),
        value,
    }
}

fn numbers<T: Number>(list: &[T]) -> Values {
    Values { rows: bytemuck::cast_slice::<T, u8>(list).to_vec().into(), heap: Heap::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_objects_that_do_not_fit() {
        let mut store = StoreBuilder::new();
        store.dimension("/g/x", 2).unwrap();
        let error = |e: Result<ObjectBuilder<'_>>| e.unwrap_err().to_string();
        assert_eq!(error(store.array("/t", &["/g/x"], &[1_u8])), "/t: 1 elements, expected 2");
        assert_eq!(error(store.array("/t", &["/x"], &[1_u8, 2])), "/t: no dimension /x");
        assert_eq!(error(store.dimension("/g/x", 3)), "/g/x: was added before");
        assert_eq!(error(store.array("/g/x/t", &[], &[1_u8])), "/g/x: is not a group");
        assert_eq!(error(store.group("x")), "path \"x\" does not begin with /");
        let source = store.build();
        let root = source.find(&NodePath::root()).unwrap();
        assert_eq!(source.members(&root.handle).unwrap().len(), 1);
    }
}
