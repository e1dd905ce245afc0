//! Ndarrays, dimensions and named datatypes.

use super::{Lower, push_map, refused};
use crate::extensions::Extension;
use crate::tree::{Entries, Key, Scalar, Style, Tree};
use hyperslab_core::Result;
use hyperslab_model::{Datatype, DimCoord, Extent, NamedDatatype, Ndarray, NodePath, Shape, Values};

impl Lower<'_> {
    /// An ndarray of the group `group`.
    pub(crate) fn ndarray<'a>(&mut self, group: &NodePath, ndarray: &'a Ndarray) -> Result<Tree<'a>> {
        let Ndarray { shape, dimension: _, datatype, attributes, storage, value } = ndarray;
        let mut entries = Entries::with_capacity(5);
        if let Some(shape) = self.shape(group, shape)? {
            entries.push((Key::Word("shape"), shape));
        }
        self.push_type(&mut entries, datatype.as_deref(), value.as_ref())?;
        push_map(&mut entries, "attributes", Style::Open, self.attributes(attributes)?);
        let dims = || shape.dims().iter().map(|d| d.extent);
        // A dimension without a length has no current extent. The other dimensions state their sizes themselves.
        let extent = match dims().all(|e| e.is_fixed()) || dims().any(|e| e == Extent::Uncounted) {
            true => None,
            false => shape
                .current()
                .map(|current| (Key::Word("shape"), Tree::list(current.into_iter().map(Tree::int)))),
        };
        let directives = self.storage(extent, storage, datatype.as_deref())?;
        push_map(&mut entries, "storage", Style::Block, directives);
        self.push_extra(&mut entries, storage);
        if let (Some(datatype), Some(value), Some(shape)) = (datatype, value, shape.current()) {
            self.push_value(&mut entries, datatype, value, &shape)?;
        }
        Ok(Tree::Map(Style::Open, entries))
    }

    /// A dimension. `None` for one without coordinates in pure NDL, which has no name for it.
    pub(crate) fn dimcoord<'a>(&mut self, dimcoord: &'a DimCoord) -> Result<Option<Tree<'a>>> {
        let DimCoord { size, datatype, attributes, storage, value } = dimcoord;
        if datatype.is_none() {
            if self.pure {
                self.changed("dimensions without coordinates become plain sizes");
                return Ok(None);
            }
            self.use_extension(Extension::Dimension);
        }
        let mut entries = Entries::with_capacity(5);
        entries.push((Key::Word("size"), super::shape::size(size)));
        self.push_type(&mut entries, datatype.as_deref(), value.as_ref())?;
        push_map(&mut entries, "attributes", Style::Open, self.attributes(attributes)?);
        let directives = self.dimcoord_storage(size, storage, datatype.as_deref())?;
        push_map(&mut entries, "storage", Style::Block, directives);
        self.push_extra(&mut entries, storage);
        if let (Some(datatype), Some(value)) = (datatype, value) {
            self.push_value(&mut entries, datatype, value, &[size.current()])?;
        }
        Ok(Some(Tree::Map(Style::Open, entries)))
    }

    /// A named datatype. `None` in pure NDL, which has no place for it.
    pub(crate) fn named<'a>(&mut self, named: &'a NamedDatatype) -> Result<Option<Tree<'a>>> {
        if self.pure {
            self.changed("named datatypes are written out where they are used");
            return Ok(None);
        }
        self.use_extension(Extension::Datatypes);
        let attributes = self.attributes(&named.attributes)?;
        let storage = self.storage(None, &named.storage, Some(&named.datatype))?;
        let mut extra = Entries::new();
        self.push_extra(&mut extra, &named.storage);
        let mut entries = match self.datatype(&named.datatype, None)? {
            Tree::Map(_, entries) => entries,
            keyword if attributes.is_empty() && storage.is_empty() && extra.is_empty() => {
                return Ok(Some(keyword));
            }
            keyword => vec![(Key::Word("type"), keyword)],
        };
        push_map(&mut entries, "attributes", Style::Open, attributes);
        push_map(&mut entries, "storage", Style::Block, storage);
        entries.extend(extra);
        Ok(Some(Tree::Map(Style::Open, entries)))
    }

    fn shape<'a>(&mut self, group: &NodePath, shape: &'a Shape) -> Result<Option<Tree<'a>>> {
        match shape {
            Shape::Unsaid => Ok(None),
            Shape::Null => self.null_shape().map(Some),
            Shape::Dims(dims) => Ok(Some(self.dimensions(group, dims))),
        }
    }

    pub(super) fn null_shape<'a>(&mut self) -> Result<Tree<'a>> {
        if self.pure {
            return Err(refused("a null dataspace"));
        }
        self.use_extension(Extension::Null);
        Ok(Tree::Scalar(Scalar::Null))
    }

    pub(super) fn push_type<'a>(
        &mut self,
        entries: &mut Entries<'a>,
        datatype: Option<&'a Datatype>,
        value: Option<&Values>,
    ) -> Result<()> {
        if let Some(datatype) = datatype {
            entries.push((Key::Word("type"), self.datatype(datatype, value)?));
        }
        Ok(())
    }

    pub(super) fn push_value<'a>(
        &mut self,
        entries: &mut Entries<'a>,
        datatype: &'a Datatype,
        value: &'a Values,
        shape: &[u64],
    ) -> Result<()> {
        if let Some(value) = self.value(datatype, value, shape)? {
            entries.push((Key::Word("value"), value));
        }
        Ok(())
    }
}
