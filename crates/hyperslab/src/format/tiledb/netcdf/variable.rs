//! Variables: attributes of arrays.

use super::dimensions::{Own, dense, positions};
use super::space::Space;
use crate::format::tiledb::TILEDB;
use crate::format::tiledb::array::{DenseArray, Positions};
use crate::format::tiledb::objects::{ArrayObject, Field, Object};
use crate::format::tiledb::storage::fill;
use crate::pool::Pool;
use crate::source::{ArraySource, ArrayView, LeftBehind};
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::{
    Attribute, Attributes, DimCoord, Dimension, Extent, Fill, Ndarray, Node, NodePath, Reference, Shape,
};
use hyperslab_netcdf4::name::FILL_VALUE;
use std::sync::Arc;

/// A variable: an attribute of an array.
pub(super) struct Variable {
    pub(super) array: Arc<Object>,
    /// The position of the attribute.
    pub(super) position: usize,
    /// The number of the attribute in the store.
    pub(super) id: u64,
    /// The positions of its dimensions among those of the group. `None` for a scalar, which has one cell.
    pub(super) along: Option<Vec<usize>>,
    /// The role of the variable for the dimension of the same name.
    pub(super) dimension: Option<Role>,
}

/// The relation of a variable to the dimension of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It is the coordinates of the dimension.
    Coordinates,
    /// It is another array, and the dimension has this extent.
    Beside(Extent),
}

impl Variable {
    pub(super) fn is_coordinates(&self) -> bool {
        self.dimension == Some(Role::Coordinates)
    }

    fn array(&self) -> Result<&ArrayObject> {
        dense(&self.array)
    }

    /// What a conversion would leave behind.
    pub(super) fn left_behind(&self) -> Result<Vec<LeftBehind>> {
        let array = self.array()?;
        let mut all = array.left_behind();
        all.extend(array.left_behind_of(self.position)?);
        Ok(all)
    }

    fn along<'s>(&self, space: &'s Space) -> Result<Vec<&'s Own>> {
        self.along.iter().flatten().map(|place| space.dimension(*place)).collect()
    }

    /// The variable without its values.
    pub(super) fn ndarray(&self, space: &Space, attributes: Attributes) -> Result<Ndarray> {
        let array = self.array()?;
        let mut node = array.ndarray(&NodePath::root(), self.position, attributes)?;
        let dims = self.along(space)?.into_iter();
        let dims = dims.map(|own| Dimension { extent: own.extent, coordinate: Some(own.path.clone()) });
        node.shape = Shape::Dims(dims.collect());
        if let Some(Role::Beside(extent)) = self.dimension {
            node.dimension = Some(extent);
        }
        if self.along.is_none() {
            node.storage.chunk = None;
        }
        // A default of libraries is not a fill value that anyone has chosen.
        if self.is_default_fill()? {
            node.storage.fill = Fill::Default;
        }
        // The directives describe a TileDB array, which is not shown.
        node.storage.native.retain(|(format, _)| *format != TILEDB);
        Ok(node)
    }

    fn is_default_fill(&self) -> Result<bool> {
        let of = self.array()?.attribute(self.position)?;
        let default = of.data_type.default_fill_value();
        Ok(of
            .fill_value
            .as_ref()
            .is_none_or(|own| own.chunks(default.len().max(1)).all(|part| part == default)))
    }

    /// The variable, or the coordinates of a dimension.
    pub(super) fn node(&self, space: &Space) -> Result<Node> {
        let array = self.array()?;
        let metadata = array.metadata(false)?;
        let mut attributes = metadata.of(array.name(Field::Attribute(self.position)).unwrap_or_default());
        if space.has_one_attribute(array) {
            for (name, attribute) in &metadata.own {
                attributes.entry(name.clone()).or_insert_with(|| attribute.clone());
            }
        }
        let of_dimension = match (self.is_coordinates(), self.along(space)?.as_slice()) {
            (true, [own]) => own.attributes.clone(),
            _ => Attributes::new(),
        };
        for (name, attribute) in of_dimension {
            attributes.entry(name).or_insert(attribute);
        }
        let node = self.ndarray(space, Attributes::new())?;
        if let (Fill::Value(value), Some(datatype)) = (&node.storage.fill, &node.datatype)
            && !datatype.has_slots()
            && !attributes.contains_key(FILL_VALUE)
        {
            let shown = Attribute {
                shape: Some(vec![1]),
                datatype: Arc::new(datatype.non_null().clone()),
                value: value.clone(),
                storage: node.storage.element.clone(),
                native: Vec::new(),
            };
            if **datatype == *datatype.non_null() {
                attributes.insert(FILL_VALUE.to_owned(), Ok(shown));
            }
        }
        if !self.is_coordinates() {
            return Ok(Node::Ndarray(Ndarray { attributes, ..node }));
        }
        let Some(size) = node.shape.dims().first().map(|dimension| dimension.extent) else {
            return Err(Error::malformed("coordinates without a dimension"));
        };
        let Ndarray { datatype, storage, .. } = node;
        Ok(Node::DimCoord(DimCoord { size, datatype, attributes, storage, value: None }))
    }

    /// The elements.
    pub(super) fn elements(&self, space: &Space, pool: Pool) -> Result<Arc<dyn ArraySource>> {
        let array = self.array()?;
        let opened = DenseArray::open(array, self.position, pool)?;
        if self.along.is_none() {
            return Ok(Arc::new(Scalar(opened)));
        }
        let shown: Positions = positions(array, &self.along(space)?)?;
        // A fill value that does not fit is detected before elements are read.
        let of = array.attribute(self.position)?;
        fill(of, &array.datatype(of)?.0)?;
        Ok(Arc::new(opened.at(Arc::new(shown))))
    }
}

/// The only cell of an array, as a scalar.
struct Scalar(DenseArray);

impl ArrayView for Scalar {
    fn viewed(&self) -> &dyn ArraySource {
        &self.0
    }

    fn shown_extents(&self) -> Option<&[u64]> {
        Some(&[])
    }

    fn shown_chunk(&self) -> &[u64] {
        &[]
    }

    fn read_shown(
        &self,
        _: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.0.read_part(&Region::all(&[1]), rows, heap, scratch)
    }
}
