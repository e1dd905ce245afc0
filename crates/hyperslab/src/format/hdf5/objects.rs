//! Objects of a file in the model: groups, datasets, committed datatypes, attributes and references.

use super::super::netcdf::datatype::is_user_defined;
use super::super::netcdf::record::{self, Names, restore_keys};
use super::netcdf::is_coordinates;
use super::opened::{Opened, OpenedDataset};
use super::{Hdf5Source, datatype, names};
use crate::source::{Item, Stored};
use crate::strings::name_text as text;
use crate::target::only_content;
use hyperslab_core::{Error, Result};
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::format::message::datatype::Datatype as Hdf5Datatype;
use hyperslab_hdf5::{Dataset, Object, ObjectKind};
use hyperslab_model::{
    Attributes, Datatype, DimCoord, Dimension, ElementStorage, Extent, Group, NamedDatatype, Ndarray, Node,
    NodeKind, NodePath, Reference, ReferencedPart, Shape, Storage, Unreadable,
};
use hyperslab_netcdf4::{Owner, Scale, is_hidden, is_sound};
use std::sync::Arc;

impl Hdf5Source {
    /// As [`Hdf5Source::item`], read from the file.
    pub(super) fn find_item(&self, opened: &Opened) -> Result<Item> {
        let object = &opened.object;
        Ok(match object.kind() {
            ObjectKind::Group => Item::Group,
            ObjectKind::NamedDatatype => Item::Datatype(Arc::new(self.named_datatype(object)?.0)),
            ObjectKind::Unknown => {
                return Err(Error::unsupported("an object that is not a group, dataset or datatype"));
            }
            ObjectKind::Dataset => {
                let found = self.dataset(opened)?;
                let OpenedDataset { dataset, datatype, .. } = &*found;
                let scale = self.scale(object)?.filter(|_| is_coordinates(dataset));
                let pure = scale.as_ref().is_some_and(|scale| scale.pure);
                let stored = match dataset.chunk().is_some() {
                    _ if pure => Stored::Nothing,
                    true => Stored::Chunks(Arc::new(self.storage(dataset, ElementStorage::default())?)),
                    false => Stored::Bytes(dataset.stored_bytes(&self.file)?),
                };
                let shape = self.listed_shape(opened, dataset, scale.as_ref())?;
                let kind = if scale.is_some() { NodeKind::DimCoord } else { NodeKind::Ndarray };
                Item::Array { kind, datatype: (!pure).then(|| Arc::clone(datatype)), shape, stored }
            }
        })
    }

    pub(super) fn node(&self, opened: &Opened) -> Result<Node> {
        let object = &opened.object;
        Ok(match object.kind() {
            ObjectKind::Group => {
                let attributes = self.attributes(object, false)?;
                let mut storage = Storage::default();
                self.note_object(object, None, &mut storage)?;
                Node::Group(Group { attributes, storage: storage.into(), ..Group::default() })
            }
            ObjectKind::NamedDatatype => {
                let (datatype, element) = self.named_datatype(object)?;
                let attributes = self.attributes(object, false)?;
                let mut storage = Storage { element, ..Storage::default() };
                self.note_object(object, None, &mut storage)?;
                Node::Datatype(NamedDatatype {
                    datatype: Arc::new(datatype),
                    attributes,
                    storage: storage.into(),
                })
            }
            ObjectKind::Unknown => {
                return Err(Error::unsupported("an object that is not a group, dataset or datatype"));
            }
            ObjectKind::Dataset => {
                let found = self.dataset(opened)?;
                let OpenedDataset { dataset, datatype, element } = &*found;
                let scale = self.scale(object)?;
                let attributes = self.attributes(object, scale.is_some())?;
                let mut storage = self.storage(dataset, element.clone())?;
                self.reconcile_fill(dataset, datatype, &attributes, &mut storage);
                self.note_bookkeeping(object, scale.as_ref(), dataset, &mut storage)?;
                self.note_object(object, Some(dataset), &mut storage)?;
                let coordinates = scale.as_ref().filter(|_| is_coordinates(dataset));
                let shape = self.listed_shape(opened, dataset, coordinates)?;
                match (coordinates, shape.dims()) {
                    (Some(scale), [along]) => {
                        let size = along.extent;
                        let (datatype, storage) = match scale.pure {
                            true => (None, only_content(&storage)),
                            false => (Some(Arc::clone(datatype)), storage),
                        };
                        Node::DimCoord(DimCoord {
                            size,
                            datatype,
                            attributes,
                            storage: storage.into(),
                            value: None,
                        })
                    }
                    _ => {
                        let dimension = self.dimension_beside(object, dataset, scale.as_ref())?;
                        Node::Ndarray(Ndarray {
                            shape,
                            dimension,
                            datatype: Some(Arc::clone(datatype)),
                            attributes,
                            storage: storage.into(),
                            value: None,
                        })
                    }
                }
            }
        })
    }

    /// The dimensions of a dataset in a listing. If it is the coordinates of `scale`, it has a dimension of its own,
    /// with unknown name.
    fn listed_shape(&self, opened: &Opened, dataset: &Dataset, scale: Option<&Scale>) -> Result<Shape> {
        if let Some(Item::Array { shape, .. }) = opened.listed() {
            return Ok(shape.clone());
        }
        match scale {
            Some(scale) => {
                let extent = self.dimension_size(&opened.object, dataset, scale)?;
                Ok(Shape::Dims(vec![Dimension { extent, coordinate: None }]))
            }
            None => self.shape(&opened.object, dataset),
        }
    }

    pub(super) fn named_datatype(&self, object: &Object) -> Result<(Datatype, ElementStorage)> {
        let (mut datatype, mut element) = datatype::datatype(&object.named_datatype(&self.file)?)?;
        self.restore_fields(object.address(), &mut datatype, &mut element)?;
        Ok((datatype, element))
    }

    pub(super) fn datatype(
        &self,
        from: &Hdf5Datatype,
        committed: Option<Address>,
    ) -> Result<(Arc<Datatype>, ElementStorage)> {
        let (mut datatype, mut element) = datatype::datatype(from)?;
        let named = match committed {
            Some(address) => Some(address),
            None if self.netcdf && is_user_defined(&datatype) => {
                let known = self.user_types()?.iter().find(|known| known.is(&datatype, &element));
                known.map(|known| known.address)
            }
            None => None,
        };
        let path = match named {
            Some(address) => {
                self.restore_fields(address, &mut datatype, &mut element)?;
                self.paths()?.get(address)
            }
            None => None,
        };
        match path {
            // The storage of the elements belongs to the named type.
            Some(path) => {
                Ok((Arc::new(Datatype::Named(path.clone(), Arc::new(datatype))), ElementStorage::default()))
            }
            None => Ok((Arc::new(datatype), element)),
        }
    }

    pub(super) fn attributes(&self, object: &Object, scale: bool) -> Result<Attributes> {
        let owner = Owner {
            scale,
            dataset: object.kind() == ObjectKind::Dataset,
            root: object.address() == self.file.root_address(),
        };
        let stored = object.attributes(&self.file)?;
        let mut attributes = Attributes::with_capacity(stored.len());
        let mut originals = Names::new();
        for (name, found) in stored {
            let name = text(&name);
            if self.netcdf
                && name == record::ATTRIBUTE
                && let Some(record) = found.as_ref().ok().map(|found| names::record_in(&self.file, found))
                && let Some(record) = record?
            {
                originals = record.attributes;
                continue;
            }
            let is_bookkeeping = |found: &_| match !self.raw && is_hidden(&name, owner) {
                true => is_sound(&self.file, found),
                false => Ok(false),
            };
            let attribute = match found.and_then(|found| Ok((is_bookkeeping(&found)?, found))) {
                Ok((true, _)) => continue,
                Ok((false, found)) => self.attribute(&found),
                Err(error) => Err(error),
            };
            attributes.insert(name, attribute.map_err(|error| Unreadable::new(None, &error)));
        }
        restore_keys(&originals, &mut attributes);
        Ok(attributes)
    }

    /// Converts a reference of the file to a reference of the model.
    pub(super) fn reference(&self, reference: hyperslab_hdf5::Reference) -> Result<Reference> {
        use hyperslab_hdf5::Reference as Stored;
        let named = |address: Address, then: &dyn Fn(NodePath) -> Reference| {
            Ok(match self.paths()?.get(address) {
                Some(path) => then(path.clone()),
                None => Reference::Dangling(address.0),
            })
        };
        match reference {
            Stored::Null => Ok(Reference::Null),
            Stored::Object(address) => named(address, &Reference::Object),
            Stored::Region(address, selection) => {
                let selection = Arc::new(selection);
                named(address, &|path| Reference::Region(path, Arc::clone(&selection)))
            }
            Stored::Attribute(address, name) => {
                named(address, &|path| Reference::Attribute(path, text(&name)))
            }
            Stored::External { file, target } => Ok(Reference::External {
                file: text(&file),
                address: address_of(&target),
                part: part_of(*target),
            }),
        }
    }
}

pub(super) fn extents(dataset: &Dataset) -> Vec<Extent> {
    let current = dataset.extents().unwrap_or_default();
    let max = dataset.max_extents().unwrap_or(current);
    current
        .iter()
        .zip(max)
        .map(|(current, max)| match *max {
            u64::MAX => Extent::Unlimited { current: *current },
            max if max == *current => Extent::Fixed(max),
            max => Extent::Limited { current: *current, max },
        })
        .collect()
}

/// The part of an object to which a reference points.
fn part_of(reference: hyperslab_hdf5::Reference) -> ReferencedPart {
    use hyperslab_hdf5::Reference as Stored;
    match reference {
        Stored::Region(_, selection) => ReferencedPart::Region(Arc::new(selection)),
        Stored::Attribute(_, name) => ReferencedPart::Attribute(text(&name)),
        Stored::Object(_) | Stored::Null | Stored::External { .. } => ReferencedPart::Object,
    }
}

/// The address stored in a reference.
fn address_of(reference: &hyperslab_hdf5::Reference) -> u64 {
    use hyperslab_hdf5::Reference as Stored;
    match reference {
        Stored::Object(address) | Stored::Region(address, _) | Stored::Attribute(address, _) => address.0,
        Stored::Null | Stored::External { .. } => u64::MAX,
    }
}
