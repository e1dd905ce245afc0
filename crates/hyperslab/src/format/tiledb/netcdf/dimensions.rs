//! Dimensions shared by the arrays of a group.

use crate::format::tiledb::array::{Positions, UNLIMITED};
use crate::format::tiledb::datatype::data_type;
use crate::format::tiledb::dimensions::domain;
use crate::format::tiledb::objects::{ArrayObject, Field, Object};
use crate::source::Counted;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Attributes, Datatype, DimCoord, Extent, Node, NodePath};
use std::sync::Arc;

/// A dimension of a group.
pub(super) struct Own {
    /// Its name, without the suffix of TileDB-CF.
    pub(super) name: String,
    /// The path by which arrays refer to it, in this group or an enclosing one.
    pub(super) path: NodePath,
    pub(super) extent: Extent,
    /// The number of cells of the domain.
    all: u64,
    kind: Kind,
    /// Metadata of the dimension.
    pub(super) attributes: Attributes,
}

enum Kind {
    /// Positions starting at 0.
    Index,
    /// Coordinates given by the domain of an array.
    Counted { array: Arc<Object>, position: usize },
}

impl Own {
    /// A dimension of an array, as far as that array determines it. `is_fixed` is set if the array is as long as its
    /// domain, however little was written.
    pub(super) fn of(path: NodePath, object: &Arc<Object>, position: usize, is_fixed: bool) -> Result<Own> {
        let (array, label) = (dense(object)?, path.name().to_owned());
        let all = array.array.dense_domain()?.shape.get(position).copied().unwrap_or_default();
        let name = array.name(Field::Dimension(position));
        let attributes = array.metadata(false)?.of(name.unwrap_or_default());
        if !is_index(array, position)? {
            let kind = Kind::Counted { array: Arc::clone(object), position };
            return Ok(Own { name: label, path, extent: array.extent(position)?, all, kind, attributes });
        }
        let current = array.array.dense_current_domain()?;
        let length = match &current {
            Some(current) => end(current.last.get(position)),
            None if is_fixed => all,
            None => {
                let written = array.array.dense_non_empty_domain()?;
                // Fragments may extend beyond the domain, since tiles do.
                written.map_or(0, |written| end(written.last.get(position)).min(all))
            }
        };
        let extent = match (length, all) {
            (length, all) if length == all => Extent::Fixed(length),
            (current, max) if is_limited(max, current, array)? => Extent::Limited { current, max },
            (current, _) => Extent::Unlimited { current },
        };
        Ok(Own { name: label, path, extent, all, kind: Kind::Index, attributes })
    }

    /// Whether a dimension of another array with the same name is this dimension.
    pub(super) fn is_same(&self, other: &Own) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Index, Kind::Index) => self.all == other.all,
            (Kind::Counted { .. }, Kind::Counted { .. }) => {
                let domain = |of: &Own| {
                    let node = of.coordinates().ok().flatten()?;
                    Some(node.storage.domain.as_ref()?.rows.clone())
                };
                self.extent == other.extent && domain(self).is_some() && domain(self) == domain(other)
            }
            _ => false,
        }
    }

    /// Takes the length of the same dimension of another array if it is longer, and attributes that this dimension
    /// lacks.
    pub(super) fn join(&mut self, other: Own) {
        if other.extent.current() > self.extent.current() {
            self.extent = other.extent;
        }
        for (name, attribute) in other.attributes {
            self.attributes.entry(name).or_insert(attribute);
        }
    }

    /// Whether arrays of a group below that of this dimension may lie along it.
    pub(super) fn holds(&self, inner: &Own) -> bool {
        matches!(self.kind, Kind::Index)
            && self.is_same(inner)
            && inner.extent.current() <= self.extent.current()
    }

    /// The array whose domain gives the coordinates, and the position of the dimension in it.
    pub(super) fn counted(&self) -> Result<Option<(&ArrayObject, usize)>> {
        match &self.kind {
            Kind::Index => Ok(None),
            Kind::Counted { array, position } => Ok(Some((dense(array)?, *position))),
        }
    }

    /// The dimension with the coordinates given by a domain. `None` for a dimension that begins at 0.
    pub(super) fn coordinates(&self) -> Result<Option<DimCoord>> {
        let Some((array, position)) = self.counted()? else { return Ok(None) };
        array.dimcoord(position, self.attributes.clone()).map(Some)
    }

    /// The dimension.
    pub(super) fn node(&self) -> Result<Node> {
        let plain =
            || DimCoord { attributes: self.attributes.clone(), ..DimCoord::without_coordinates(self.extent) };
        Ok(Node::DimCoord(self.coordinates()?.unwrap_or_else(plain)))
    }
}

/// The part of the domain of an array that is shown if its dimensions have these lengths in the view.
pub(super) fn positions(array: &ArrayObject, along: &[&Own]) -> Result<Positions> {
    let tile = array.array.dense_domain()?.tile;
    let mut shown = Positions { first: Vec::new(), counts: Vec::new(), extents: Vec::new(), tile };
    for own in along {
        let (first, extent) = match own.counted()? {
            None => (0, own.extent),
            Some((of, position)) => {
                let first = of.positions()?.first.get(position).copied().unwrap_or_default();
                (first, own.extent)
            }
        };
        shown.first.push(first);
        shown.counts.push(extent.current());
        shown.extents.push(extent);
    }
    Ok(shown)
}

/// The object as an array.
pub(super) fn dense(object: &Object) -> Result<&ArrayObject> {
    match object {
        Object::Array(array) => Ok(array),
        Object::Group(_) => Err(Error::invalid("is a group, not an array")),
    }
}

/// Whether a dimension is an index dimension, whose coordinates are integers starting at 0.
fn is_index(array: &ArrayObject, position: usize) -> Result<bool> {
    let dimension = array.dimension(position)?;
    let (datatype, _) = data_type(dimension.data_type, dimension.cell_val_num);
    let low = Counted::ends(&datatype, &domain(dimension)).map(|(low, _)| low);
    Ok(matches!(datatype, Datatype::Int { .. }) && low == Some(0))
}

/// Whether a dimension has a maximum length. With a current domain, the maximum is that of the domain. Without one, the
/// domain is what the writer chose to represent no limit.
fn is_limited(max: u64, current: u64, array: &ArrayObject) -> Result<bool> {
    Ok(max <= UNLIMITED && current < max && array.array.dense_current_domain()?.is_some())
}

/// The length up to and including a last position.
fn end(last: Option<&u64>) -> u64 {
    last.map_or(0, |last| last.saturating_add(1))
}
