//! Groups, arrays, dimensions, named datatypes and links.

use crate::{
    Attribute, BoxedStorage, Datatype, Dimension, ElementRef, ElementStorage, Elements, Extent, NodePath,
    Nodes, Shape, Storage, Values,
};
use hyperslab_core::{Error, ErrorKind, Result};
use indexmap::IndexMap;
use std::sync::Arc;

/// Named items in stored order.
pub type Members<T> = IndexMap<String, T>;

/// The attributes of an object in stored order. An attribute that cannot be read keeps its place.
pub type Attributes = Members<Result<Attribute, Unreadable>>;

/// One object without the elements of arrays.
#[derive(Clone, Debug)]
pub enum Node {
    /// A group.
    Group(Group),
    /// A dimension, with or without coordinate values.
    DimCoord(DimCoord),
    /// An array.
    Ndarray(Ndarray),
    /// A named datatype.
    Datatype(NamedDatatype),
    /// A link to another object.
    Link(Link),
    /// An object that exists but cannot be read.
    Unreadable(Unreadable),
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// A group.
    Group,
    /// A dimension, with or without coordinate values.
    DimCoord,
    /// An array.
    Ndarray,
    /// A named datatype.
    Datatype,
    /// A link.
    Link,
    /// An object that cannot be read.
    Unreadable,
}

/// A group without its members.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Its attributes.
    pub attributes: Attributes,
    /// The cells of a sparse array. `None` unless they were requested.
    pub cells: Option<Cells>,
    /// Storage directives of the group, which only one format has.
    pub storage: BoxedStorage,
}

/// Cells of a sparse array: of all positions, only those that have values.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    /// Columns of equal length: first the coordinates in the order of the dimensions, then the attributes.
    pub columns: Vec<Column>,
}

/// One column of cells.
#[derive(Clone, Debug)]
pub struct Column {
    /// The name of the dimension or array of the group that the values belong to.
    pub name: String,
    /// The type of the values.
    pub datatype: Arc<Datatype>,
    /// The values, one for each cell.
    pub values: Values,
}

impl Cells {
    /// The number of cells.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Column {
    /// The number of values.
    pub fn len(&self) -> usize {
        self.elements().len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values in order.
    pub fn elements(&self) -> Elements<'_> {
        Elements::new(&self.datatype, &self.values)
    }

    /// The value of one cell, in constant time. `None` after the last cell.
    pub fn get(&self, cell: usize) -> Option<ElementRef<'_>> {
        let mut elements = self.elements();
        elements.split(cell);
        elements.next()
    }
}

/// An array.
#[derive(Clone, Debug)]
pub struct Ndarray {
    /// Its dimensions.
    pub shape: Shape,
    /// The length of the dimension with the same path as this array, if there is one. The array does not hold the
    /// coordinates of that dimension, or it would be a [`DimCoord`]: in NetCDF the variables `lon(lat, lon)` and
    /// `station(station, len)` have the names of dimensions.
    pub dimension: Option<Extent>,
    /// Its element type. `None` if a partial description does not give it.
    pub datatype: Option<Arc<Datatype>>,
    /// Its attributes.
    pub attributes: Attributes,
    /// How it is stored.
    pub storage: BoxedStorage,
    /// Its elements. `None` unless they were requested.
    pub value: Option<Values>,
}

/// A dimension that arrays can share.
#[derive(Clone, Debug)]
pub struct DimCoord {
    /// Its current and maximum length.
    pub size: Extent,
    /// The type of its coordinates. `None` for a dimension without coordinates.
    pub datatype: Option<Arc<Datatype>>,
    /// Its attributes.
    pub attributes: Attributes,
    /// How the coordinates are stored.
    pub storage: BoxedStorage,
    /// Its coordinates. `None` unless they were requested.
    pub value: Option<Values>,
}

/// A named datatype, which is a separate object.
#[derive(Clone, Debug)]
pub struct NamedDatatype {
    /// The type.
    pub datatype: Arc<Datatype>,
    /// Its attributes.
    pub attributes: Attributes,
    /// How elements of this type are stored.
    pub storage: BoxedStorage,
}

/// A link, which gives an object another path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// A hard link to an object that already has an earlier path.
    Hard(NodePath),
    /// A soft link: a path, absolute or relative to the group of the link.
    Soft(String),
    /// An external link to an object in another file.
    External {
        /// The name of the other file.
        file: String,
        /// The path in that file.
        path: String,
    },
    /// A user-defined link, whose meaning only the program that wrote it knows.
    User {
        /// The link class.
        class: u8,
        /// The data of the link.
        data: Vec<u8>,
    },
}

/// An object that exists but cannot be read.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// The kind of object, if it could be determined.
    pub found: Option<NodeKind>,
    /// The kind of the error that prevents reading.
    pub kind: ErrorKind,
    /// The reason, with structure and byte offset.
    pub reason: String,
    /// Its attributes. They can often be read although the object cannot.
    pub attributes: Attributes,
}

impl DimCoord {
    /// A dimension that only has a length.
    pub fn without_coordinates(size: Extent) -> Self {
        DimCoord {
            size,
            datatype: None,
            attributes: Attributes::new(),
            storage: BoxedStorage::default(),
            value: None,
        }
    }
}

impl Unreadable {
    /// An unreadable object of kind `found`, with the reason given by `error`.
    pub fn new(found: Option<NodeKind>, error: &Error) -> Self {
        let reason = error.reason().to_string();
        Unreadable { found, kind: error.kind(), reason, attributes: Attributes::new() }
    }
}

impl Node {
    /// The kind of the object.
    pub fn kind(&self) -> NodeKind {
        match self {
            Node::Group(_) => NodeKind::Group,
            Node::DimCoord(_) => NodeKind::DimCoord,
            Node::Ndarray(_) => NodeKind::Ndarray,
            Node::Datatype(_) => NodeKind::Datatype,
            Node::Link(_) => NodeKind::Link,
            Node::Unreadable(_) => NodeKind::Unreadable,
        }
    }

    /// The object as far as it can be told, if it cannot be read.
    pub fn unreadable(&self) -> Option<&Unreadable> {
        match self {
            Node::Unreadable(unreadable) => Some(unreadable),
            _ => None,
        }
    }

    /// The element type. `None` for objects without elements.
    pub fn datatype(&self) -> Option<&Arc<Datatype>> {
        match self {
            Node::DimCoord(dimcoord) => dimcoord.datatype.as_ref(),
            Node::Ndarray(ndarray) => ndarray.datatype.as_ref(),
            Node::Group(_) | Node::Datatype(_) | Node::Link(_) | Node::Unreadable(_) => None,
        }
    }

    /// Whether the object has elements: it is an array, or a dimension with coordinates.
    pub fn has_elements(&self) -> bool {
        match self {
            Node::Ndarray(_) => true,
            Node::DimCoord(dimcoord) => dimcoord.datatype.is_some(),
            Node::Group(_) | Node::Datatype(_) | Node::Link(_) | Node::Unreadable(_) => false,
        }
    }

    /// The shape of the object, whose path is `path`. A dimension has one dimension: itself. `None` for objects
    /// without a shape.
    pub fn shape(&self, path: &NodePath) -> Option<Shape> {
        match self {
            Node::DimCoord(dimcoord) => {
                let own = Dimension { extent: dimcoord.size, coordinate: Some(path.clone()) };
                Some(Shape::Dims(vec![own]))
            }
            Node::Ndarray(ndarray) => Some(ndarray.shape.clone()),
            Node::Group(_) | Node::Datatype(_) | Node::Link(_) | Node::Unreadable(_) => None,
        }
    }

    /// How the object is stored. `None` for links and unreadable objects.
    pub fn storage(&self) -> Option<&Storage> {
        match self {
            Node::Group(group) => Some(&group.storage),
            Node::DimCoord(dimcoord) => Some(&dimcoord.storage),
            Node::Ndarray(ndarray) => Some(&ndarray.storage),
            Node::Datatype(named) => Some(&named.storage),
            Node::Link(_) | Node::Unreadable(_) => None,
        }
    }

    /// As [`Node::storage`], mutable.
    pub fn storage_mut(&mut self) -> Option<&mut Storage> {
        match self {
            Node::Group(group) => Some(&mut group.storage),
            Node::DimCoord(dimcoord) => Some(&mut dimcoord.storage),
            Node::Ndarray(ndarray) => Some(&mut ndarray.storage),
            Node::Datatype(named) => Some(&mut named.storage),
            Node::Link(_) | Node::Unreadable(_) => None,
        }
    }

    /// Restores the storage that the object had before it was converted, as far as it was recorded. With
    /// `keeps_chunks`, an array that was not stored in chunks keeps its present chunks.
    ///
    /// # Errors
    /// None in practice.
    pub fn restore_origin(&mut self, keeps_chunks: bool) -> Result<()> {
        // A committed datatype determines how its elements are stored.
        let is_named = self.datatype().is_some_and(|datatype| matches!(**datatype, Datatype::Named(..)));
        let Some(storage) = self.storage_mut() else { return Ok(()) };
        storage.restore_origin(keeps_chunks)?;
        if is_named {
            storage.element = ElementStorage::default();
        }
        Ok(())
    }

    /// The attributes of the object. `None` for links.
    pub fn attributes(&self) -> Option<&Attributes> {
        match self {
            Node::Group(group) => Some(&group.attributes),
            Node::DimCoord(dimcoord) => Some(&dimcoord.attributes),
            Node::Ndarray(ndarray) => Some(&ndarray.attributes),
            Node::Datatype(named) => Some(&named.attributes),
            Node::Unreadable(unreadable) => Some(&unreadable.attributes),
            Node::Link(_) => None,
        }
    }

    /// As [`Node::attributes`], but mutable.
    pub fn attributes_mut(&mut self) -> Option<&mut Attributes> {
        match self {
            Node::Group(group) => Some(&mut group.attributes),
            Node::DimCoord(dimcoord) => Some(&mut dimcoord.attributes),
            Node::Ndarray(ndarray) => Some(&mut ndarray.attributes),
            Node::Datatype(named) => Some(&mut named.attributes),
            Node::Unreadable(unreadable) => Some(&mut unreadable.attributes),
            Node::Link(_) => None,
        }
    }
}

/// A whole file in memory. The NDL parser returns one, and tests compare them.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// Every object by its first path.
    pub nodes: Nodes,
}
