//! The objects of a file.

use crate::{Attribute, Datatype, Dimension, ElementRef, Elements, Extent, NodePath, Shape, Storage, Values};
use hyperslab_core::{Error, ErrorKind};
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Named things in stored order.
pub type Members<T> = IndexMap<String, T>;

/// The attributes of an object in stored order; one that cannot be read keeps its place.
pub type Attributes = Members<Result<Attribute, Unreadable>>;

/// One object with everything but its array values.
#[derive(Clone, Debug)]
pub enum Node {
    /// A group.
    Group(Group),
    /// A dimension, with or without coordinate values.
    DimCoord(DimCoord),
    /// An array.
    Ndarray(Ndarray),
    /// A datatype with a name of its own.
    Datatype(NamedDatatype),
    /// Another way to an object.
    Link(Link),
    /// An object that is there but cannot be read.
    Unreadable(Unreadable),
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// A group.
    Group,
    /// A dimension coordinate.
    DimCoord,
    /// An array.
    Ndarray,
    /// A named datatype.
    Datatype,
    /// A link.
    Link,
    /// Not readable.
    Unreadable,
}

/// A group, apart from its members.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Its attributes.
    pub attributes: Attributes,
    /// Values of a sparse array, where asked for.
    pub cells: Option<Cells>,
    /// What a format says of it.
    pub storage: Storage,
}

/// Cells of a sparse array: of all positions those that have values.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    /// Columns of equal length: the coordinates in the order of the dimensions, then the other values.
    pub columns: Vec<Column>,
}

/// One value of each cell.
#[derive(Clone, Debug)]
pub struct Column {
    /// The dimcoord or ndarray of the group whose values these are.
    pub name: String,
    /// The type.
    pub datatype: Arc<Datatype>,
    /// The values, one for each cell.
    pub values: Values,
}

impl Cells {
    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Column {
    /// How many values it has.
    pub fn len(&self) -> usize {
        self.elements().len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its values, first to last.
    pub fn elements(&self) -> Elements<'_> {
        Elements::new(&self.datatype, &self.values)
    }

    /// The value of one cell, found without looking at the others; `None` behind the last.
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
    /// Its type; `None` in a partial description.
    pub datatype: Option<Arc<Datatype>>,
    /// Its attributes.
    pub attributes: Attributes,
    /// How it is stored.
    pub storage: Storage,
    /// Its elements, where asked for.
    pub value: Option<Values>,
}

/// A dimension that arrays share.
#[derive(Clone, Debug)]
pub struct DimCoord {
    /// How long it is.
    pub size: Extent,
    /// The type of its coordinates; `None` for a dimension without.
    pub datatype: Option<Arc<Datatype>>,
    /// Its attributes.
    pub attributes: Attributes,
    /// How the coordinates are stored.
    pub storage: Storage,
    /// The coordinates, where asked for.
    pub value: Option<Values>,
}

/// A datatype that is an object of its own.
#[derive(Clone, Debug)]
pub struct NamedDatatype {
    /// The type.
    pub datatype: Arc<Datatype>,
    /// Its attributes.
    pub attributes: Attributes,
    /// How elements of it are stored.
    pub storage: Storage,
}

/// Another way to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// To an object that has an earlier path.
    Hard(NodePath),
    /// To whatever a path leads to.
    Soft(String),
    /// To an object of another file.
    External {
        /// The file.
        file: String,
        /// The path in it.
        path: String,
    },
    /// Of a class that a program defined.
    User {
        /// The class.
        class: u8,
        /// What it keeps.
        data: Vec<u8>,
    },
}

/// An object that is there but cannot be read.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// What it was found to be, if that much could be told.
    pub found: Option<NodeKind>,
    /// Whose fault it is.
    pub kind: ErrorKind,
    /// Why, with structure and byte.
    pub reason: String,
    /// Its attributes, which often can be read where the object cannot.
    pub attributes: Attributes,
}

impl Unreadable {
    /// What `error` leaves of an object.
    pub fn new(found: Option<NodeKind>, error: &Error) -> Self {
        let reason = error.reason().to_string();
        Unreadable { found, kind: error.kind(), reason, attributes: Attributes::new() }
    }
}

impl Node {
    /// What it is.
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

    /// The type of its elements; none for what has no elements.
    pub fn datatype(&self) -> Option<&Arc<Datatype>> {
        match self {
            Node::DimCoord(dimcoord) => dimcoord.datatype.as_ref(),
            Node::Ndarray(ndarray) => ndarray.datatype.as_ref(),
            Node::Group(_) | Node::Datatype(_) | Node::Link(_) | Node::Unreadable(_) => None,
        }
    }

    /// Whether it has elements: an array, or a dimension with coordinates.
    pub fn has_elements(&self) -> bool {
        match self {
            Node::Ndarray(_) => true,
            Node::DimCoord(dimcoord) => dimcoord.datatype.is_some(),
            Node::Group(_) | Node::Datatype(_) | Node::Link(_) | Node::Unreadable(_) => false,
        }
    }

    /// Its dimensions if it stands at `path`, those of a dimension itself too; none for what has no shape.
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

    /// How it is stored; none for links and what cannot be read.
    pub fn storage(&self) -> Option<&Storage> {
        match self {
            Node::Group(group) => Some(&group.storage),
            Node::DimCoord(dimcoord) => Some(&dimcoord.storage),
            Node::Ndarray(ndarray) => Some(&ndarray.storage),
            Node::Datatype(named) => Some(&named.storage),
            Node::Link(_) | Node::Unreadable(_) => None,
        }
    }

    /// The same, to be changed.
    pub fn storage_mut(&mut self) -> Option<&mut Storage> {
        match self {
            Node::Group(group) => Some(&mut group.storage),
            Node::DimCoord(dimcoord) => Some(&mut dimcoord.storage),
            Node::Ndarray(ndarray) => Some(&mut ndarray.storage),
            Node::Datatype(named) => Some(&mut named.storage),
            Node::Link(_) | Node::Unreadable(_) => None,
        }
    }

    /// Its attributes; none for links.
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
}

/// A whole file in memory: what a text describes, what tests compare.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// Every object by its first path.
    pub nodes: BTreeMap<NodePath, Node>,
}
