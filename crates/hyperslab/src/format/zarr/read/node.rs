//! Converts nodes to the model.

use super::dimensions::{self, resolved};
use super::elements::ElementType;
use super::{attribute, datatype, storage};
use crate::format::zarr::keep::record::{self, Record};
use crate::format::zarr::{ZarrSource, nczarr};
use crate::source::{Item, Stored};
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Result};
use hyperslab_model::{
    Attributes, DimCoord, Dimension, Directive, Extent, Group, Ndarray, Node, NodeKind, NodePath, Shape,
    Storage, Unreadable,
};
use hyperslab_netcdf4::name::FILL_VALUE;
use hyperslab_zarr::data_type::DataType;
use hyperslab_zarr::hierarchy::{Metadata, Node as ZarrNode};
use hyperslab_zarr::json::Json;
use hyperslab_zarr::metadata::v3;
use hyperslab_zarr::record as zarr_record;
use std::sync::Arc;

impl ZarrSource {
    /// The entry of a node in a listing, with the sizes and names of its dimensions.
    pub(in crate::format::zarr) fn item(&self, node: &ZarrNode) -> Result<Item> {
        let record = self.record(node)?;
        let Some(storage) = array_storage(node, record.as_ref(), self.raw)? else { return Ok(Item::Group) };
        let element = ElementType::new(node, record.as_ref())?;
        Ok(Item::Array {
            kind: NodeKind::Ndarray,
            shape: self.named_shape(node, record.as_ref(), element.trailing())?,
            datatype: Some(element.datatype),
            stored: Stored::Chunks(Arc::new(storage)),
        })
    }

    pub(in crate::format::zarr) fn node(&self, path: &NodePath, node: &ZarrNode) -> Result<Node> {
        let record = self.record(node)?;
        let mut attributes = self.attributes(node);
        if record.as_ref().is_some_and(|record| record.fill_is_missing) {
            attributes.shift_remove(FILL_VALUE);
        }
        for (name, attribute) in record.iter().flat_map(|record| &record.attributes) {
            attributes.insert(name.clone(), attribute.clone());
        }
        if let Some(record) = record.as_ref().filter(|record| !record.attribute_order.is_empty()) {
            let place = record::places(&record.attribute_order);
            attributes.sort_by_cached_key(|name, _| place(name));
        }
        let Some(mut storage) = array_storage(node, record.as_ref(), self.raw)? else {
            let is_consolidated = path.is_root() && self.hierarchy.is_consolidated();
            let unknown = match &node.metadata {
                Metadata::V3(v3::NodeMetadata::Group(group)) => Some(&group.unknown),
                Metadata::V2Group { group, .. } => Some(&group.unknown),
                _ => None,
            };
            let mut storage = storage::of_group(unknown, is_consolidated)?;
            if let Some(record) = &record {
                record.restore_native(&mut storage)?;
                storage.origin = record.origin(None, 0)?;
            }
            return Ok(Node::Group(Group { attributes, storage: storage.into(), ..Group::default() }));
        };
        let element = ElementType::new(node, record.as_ref())?;
        element.see(record.as_ref(), &mut storage)?;
        let rank = dimensions::shape(node).len().saturating_sub(element.trailing());
        if let Some(record) = &record {
            record.restore_native(&mut storage)?;
            storage.origin = record.origin(Some(&element.datatype), rank)?;
        }
        let dimensions = self.dimensions_for(path, node)?;
        let group = path.parent().unwrap_or_else(NodePath::root);
        let shape = self.named_shape(node, record.as_ref(), element.trailing())?;
        let shape = resolved(&shape, path.name(), &group, &dimensions);
        let datatype = Some(element.datatype);
        // If paths are recorded, other names are generated ones.
        if record.as_ref().is_none_or(|record| record.dimensions.is_none()) {
            self.note_names(node, &shape, &mut storage)?;
        }
        if path.is_root() {
            // In a document, only groups can have it.
            storage.native_mut("zarr")?.insert(0, ("root".to_owned(), Directive::Bool(true)));
        }
        Ok(match dimensions.has_coordinates(path.name()) {
            true => {
                let size = shape.dims().first().map_or(Extent::Fixed(0), |dimension| dimension.extent);
                Node::DimCoord(DimCoord { size, datatype, attributes, storage: storage.into(), value: None })
            }
            false => {
                let recorded = record.as_ref().and_then(|record| record.beside);
                let dimension = recorded.or_else(|| dimensions.beside(path.name()));
                Node::Ndarray(Ndarray {
                    shape,
                    dimension,
                    datatype,
                    attributes,
                    storage: storage.into(),
                    value: None,
                })
            }
        })
    }

    /// The shape, with its dimension names as paths outside of any group, or with the recorded paths.
    fn named_shape(&self, node: &ZarrNode, record: Option<&Record>, trailing: usize) -> Result<Shape> {
        if record.is_some_and(|record| record.is_null) {
            return Ok(Shape::Null);
        }
        let names = if self.raw { None } else { dimensions::names(node) };
        let mut names = names.unwrap_or_default().into_iter();
        let stored = dimensions::shape(node);
        let stored = stored.get(..stored.len().saturating_sub(trailing)).unwrap_or_default();
        // Errors of the record are reported by the datatype of the elements.
        let own = record.and_then(|record| record.current(stored).ok()).unwrap_or_else(|| stored.to_vec());
        let paths = self.paths(node, record)?;
        let dims = own.into_iter().enumerate().map(|(index, current)| {
            let name = names.next().flatten().map(|name| NodePath::root().child(&name));
            let path = paths.as_ref().and_then(|paths| paths.get(index)).cloned().flatten();
            let extent = match record.filter(|record| !record.maximum.is_empty()) {
                Some(record) => record.extent(index, current),
                None => {
                    let declared = path.as_ref().map_or(Ok(None), |path| self.declared(path))?;
                    match declared.is_some_and(|of| of.is_unlimited) {
                        true => Extent::Unlimited { current },
                        false => Extent::Fixed(current),
                    }
                }
            };
            Ok(Dimension { extent, coordinate: if paths.is_none() { name } else { path } })
        });
        Ok(Shape::Dims(dims.collect::<Result<_>>()?))
    }

    /// Records dimension names that are not dimension coordinates.
    fn note_names(&self, node: &ZarrNode, shape: &Shape, storage: &mut Storage) -> Result<()> {
        let names = match (&node.metadata, self.raw) {
            (Metadata::V3(v3::NodeMetadata::Array(array)), true) => array.dimension_names.clone(),
            // It is stored as the attribute.
            (_, true) => None,
            _ => dimensions::names(node),
        };
        let Some(names) = names else { return Ok(()) };
        let is_said = |(name, dimension): (&Option<String>, &Dimension)| {
            name.is_none() || dimension.coordinate.is_some()
        };
        if !names.iter().zip(shape.dims()).all(is_said) {
            let name = |name: &Option<String>| name.clone().map_or(Directive::Null, Directive::Text);
            let names = Directive::List(names.iter().map(name).collect());
            storage.native_mut("zarr")?.push(("dimension_names".to_owned(), names));
        }
        Ok(())
    }

    fn attributes(&self, node: &ZarrNode) -> Attributes {
        let hides_names = || match &node.metadata {
            Metadata::V3(v3::NodeMetadata::Array(array)) if array.dimension_names.is_some() => {
                dimensions::of_attribute(node) == array.dimension_names
            }
            _ => dimensions::of_attribute(node).is_some(),
        };
        let mut attributes = Attributes::new();
        for (name, json) in node.attributes().into_iter().flat_map(|members| members.iter()) {
            let hidden = match name {
                dimensions::ATTRIBUTE => hides_names(),
                zarr_record::ATTRIBUTE => true,
                zarr_record::MEMBER => json.as_object().is_some_and(record::is_record),
                name => nczarr::is_bookkeeping(name, json),
            };
            if self.raw {
                put(&mut attributes, name, json);
            } else if !hidden {
                match node.attributes().and_then(|all| nczarr::attribute(all, name, json)) {
                    Some(typed) => {
                        attributes.insert(name.to_owned(), Ok(typed));
                    }
                    None => put(&mut attributes, name, json),
                }
            }
        }
        attributes
    }

    pub(in crate::format::zarr) fn unreadable(&self, key: &Key, error: &Error) -> Unreadable {
        let remains = self.hierarchy.remains(key);
        let kind =
            remains.is_array.map(|is_array| if is_array { NodeKind::Ndarray } else { NodeKind::Group });
        let mut attributes = Attributes::new();
        for (name, json) in remains.attributes.iter().flat_map(|members| members.iter()) {
            put(&mut attributes, name, json);
        }
        Unreadable { attributes, ..Unreadable::new(kind, error) }
    }
}

/// The storage of an array; `None` for a group. A record counts as a member only if `is_raw`.
fn array_storage(node: &ZarrNode, record: Option<&Record>, is_raw: bool) -> Result<Option<Storage>> {
    let shape = dimensions::shape(node);
    let longest = record.map_or_else(|| shape.to_vec(), |record| record.longest(shape));
    match &node.metadata {
        Metadata::V3(v3::NodeMetadata::Array(array)) => storage::of_v3(array, &longest, is_raw).map(Some),
        Metadata::V2Array { array, .. } => storage::of_v2(array, &longest).map(Some),
        _ => Ok(None),
    }
}

/// The storage of an array as it is described, without its original storage from the record.
///
/// # Errors
/// If the node is a group or its record does not fit it.
pub(in crate::format::zarr) fn shown_storage(node: &ZarrNode) -> Result<Storage> {
    let record = Record::of(node)?;
    let group = || Error::invalid("a group has no elements");
    let mut storage = array_storage(node, record.as_ref(), false)?.ok_or_else(group)?;
    ElementType::new(node, record.as_ref())?.see(record.as_ref(), &mut storage)?;
    Ok(storage)
}

fn put(attributes: &mut Attributes, name: &str, json: &Json) {
    let attribute = attribute::attribute(json).map_err(|error| Unreadable::new(None, &error));
    attributes.insert(name.to_owned(), attribute);
}

pub(in crate::format::zarr) fn datatype_of(
    node: &ZarrNode,
) -> Result<(hyperslab_model::Datatype, hyperslab_model::ElementStorage)> {
    match &node.metadata {
        Metadata::V3(v3::NodeMetadata::Array(array)) => {
            datatype::datatype(&array.data_type, array.byte_order)
        }
        Metadata::V2Array { array, .. } => datatype::datatype(&array.dtype.data_type, array.dtype.byte_order),
        _ => Err(Error::invalid("a group has no type")),
    }
}

/// The datatype of the elements of a version 3 array.
pub(in crate::format::zarr) fn version_3(node: &ZarrNode) -> Option<&DataType> {
    match &node.metadata {
        Metadata::V3(v3::NodeMetadata::Array(array)) => Some(&array.data_type),
        _ => None,
    }
}
