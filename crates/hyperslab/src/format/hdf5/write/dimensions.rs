//! Dimension scales: how the dimensions of the model are stored in attributes.
//!
//! A scale is a dataset with the attribute `CLASS`. `DIMENSION_LIST` of an array refers to the scales of each of its
//! dimensions, and `REFERENCE_LIST` of a scale refers to all these arrays. They are attributes like any others: here,
//! references are paths, which are converted to addresses when they are written.
//!
//! Spec: HDF5 Dimension Scale Specification

use super::lowerings::directive;
use bytes::Bytes;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::{Error, Result};
use hyperslab_hdf5::format::Sizes;
use hyperslab_model::{
    Attribute, ByteOrder, CharacterSet, Datatype, DimCoord, Dimension, Directive, ElementStorage, Extent,
    Float, Layout, Length, Member, Ndarray, Node, NodePath, Pad, Reference, Shape, Storage, Text, Values,
};
use hyperslab_netcdf4::PURE_DIMENSION;
use hyperslab_netcdf4::name::{CLASS, DIMENSION_LABELS, DIMENSION_LIST, NAME, REFERENCE_LIST};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The scales of a file, and the arrays that lie along them.
#[derive(Debug, Default)]
pub(super) struct Scales {
    /// The arrays along each scale, with the number of the dimension. Scales without arrays are included.
    users: FxHashMap<NodePath, Vec<(NodePath, u32)>>,
    /// Arrays along dimensions that may not be in the file.
    arrays: Vec<(NodePath, Vec<Vec<NodePath>>)>,
}

impl Scales {
    /// Whether there are no scales, and no arrays that may lie along one.
    pub(super) fn is_empty(&self) -> bool {
        self.users.is_empty() && self.arrays.is_empty()
    }

    /// Declares an object. All objects are declared before attributes are requested.
    pub(super) fn declare(&mut self, path: &NodePath, node: &Node) {
        let is_scale = match node {
            Node::DimCoord(_) => true,
            Node::Ndarray(array) => is_scale(path, array),
            _ => false,
        };
        if is_scale {
            self.users.entry(path.clone()).or_default();
        } else if let Node::Ndarray(array) = node {
            let along = along(array);
            if along.iter().any(|scales| !scales.is_empty()) {
                self.attach(path.clone(), along);
            }
        }
    }

    /// Adds an array and the scales of each of its dimensions.
    pub(super) fn attach(&mut self, array: NodePath, along: Vec<Vec<NodePath>>) {
        self.arrays.push((array, along));
    }

    /// Connects scales and arrays once all objects are declared.
    pub(super) fn connect(&mut self) {
        for (array, along) in &mut self.arrays {
            // The NetCDF library opens no file in which only some dimensions of an array have scales.
            let is_cut = |scales: &Vec<NodePath>| {
                !scales.is_empty() && !scales.iter().any(|scale| self.users.contains_key(scale))
            };
            if along.iter().any(is_cut) {
                along.iter_mut().for_each(Vec::clear);
            }
            for (dimension, scales) in (0_u32..).zip(along) {
                scales.retain(|scale| match self.users.get_mut(scale) {
                    Some(users) => {
                        users.push((array.clone(), dimension));
                        true
                    }
                    None => false,
                });
            }
        }
        self.arrays.retain(|(_, along)| along.iter().any(|scales| !scales.is_empty()));
        self.arrays.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    }

    /// The attributes that an object has in addition to its own, in the order in which the library adds them.
    ///
    /// # Errors
    /// If there are too many arrays for the heap of an attribute.
    pub(super) fn attributes(
        &self,
        path: &NodePath,
        node: &Node,
        sizes: &Sizes,
    ) -> Result<Vec<(&'static str, Attribute)>> {
        let mut attributes = Vec::new();
        let storage = node.storage();
        if let Some(users) = self.users.get(path) {
            attributes.push((CLASS, text(b"DIMENSION_SCALE")));
            attributes.push((NAME, text(&scale_name(path, node))));
            if !users.is_empty() {
                attributes.push((REFERENCE_LIST, reference_list(users, sizes)?));
            }
        } else if let Ok(found) = self.arrays.binary_search_by(|(array, _)| array.cmp(path)) {
            let along = self.arrays.get(found).map_or(&[][..], |(_, along)| along);
            attributes.push((DIMENSION_LIST, dimension_list(along)?));
        }
        if let Some(Directive::List(labels)) = storage.and_then(|storage| directive(storage, "labels")) {
            attributes.push((DIMENSION_LABELS, dimension_labels(labels)?));
        }
        Ok(attributes)
    }
}

/// The dataset of a dimension without coordinates, as the NetCDF library makes it: no element is ever written.
pub(super) fn pure_dimension(dimension: &DimCoord) -> Ndarray {
    let element = ElementStorage { endian: Some(ByteOrder::Big), ..ElementStorage::default() };
    let is_fixed = dimension.size.is_fixed();
    let storage = Storage {
        chunk: (!is_fixed).then(|| vec![1]),
        layout: Some(if is_fixed { Layout::Contiguous } else { Layout::Chunked }),
        element,
        native: dimension.storage.native.clone(),
        ..Storage::default()
    };
    let extent = match dimension.size {
        Extent::Uncounted => Extent::Fixed(0),
        counted => counted,
    };
    let own = Dimension { extent, coordinate: None };
    Ndarray {
        shape: Shape::Dims(vec![own]),
        dimension: None,
        datatype: Some(Arc::new(Datatype::Float(Float::Single))),
        attributes: dimension.attributes.clone(),
        storage: storage.into(),
        value: None,
    }
}

/// Whether an array is a scale without being the coordinates of a dimension of the model: an array of several
/// dimensions, or a NetCDF coordinate variable with several dimensions.
fn is_scale(path: &NodePath, array: &Ndarray) -> bool {
    let first = array.shape.dims().first().and_then(|dimension| dimension.coordinate.as_ref());
    directive(&array.storage, "scale").is_some() || array.dimension.is_some() && first == Some(path)
}

/// The scales of each dimension of an array.
fn along(array: &Ndarray) -> Vec<Vec<NodePath>> {
    let dims = array.shape.dims();
    if let Some(Directive::List(scales)) = directive(&array.storage, "scales")
        && scales.len() == dims.len()
    {
        let path = |of: &Directive| match of {
            Directive::Text(path) => NodePath::new(path).ok(),
            _ => None,
        };
        let of_dimension = |of: &Directive| match of {
            Directive::List(paths) => paths.iter().filter_map(path).collect(),
            _ => Vec::new(),
        };
        return scales.iter().map(of_dimension).collect();
    }
    dims.iter().map(|dimension| dimension.coordinate.iter().cloned().collect()).collect()
}

/// The name of a scale: the name it was given, the name of its dataset, or the name of a dimension without coordinates.
fn scale_name(path: &NodePath, node: &Node) -> Vec<u8> {
    let given = node.storage().and_then(|storage| directive(storage, "scale"));
    match (node, given) {
        (Node::DimCoord(DimCoord { datatype: None, size, .. }), _) => {
            [PURE_DIMENSION, format!(".{:10}", size.current()).as_bytes()].concat()
        }
        (_, Some(Directive::Text(name))) => super::name::stored(name).0,
        _ => super::name::stored(path.name()).0,
    }
}

/// A scalar string as the High-Level Library writes it, with a terminating NUL.
fn text(of: &[u8]) -> Attribute {
    let mut rows = of.to_vec();
    rows.push(0);
    let len = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    let pad = Pad::NulTerminated;
    Attribute {
        shape: Some(Vec::new()),
        datatype: Arc::new(Datatype::String(Text::Fixed { len, pad })),
        value: Values { rows: rows.into(), heap: Heap::default() },
        storage: ElementStorage {
            charset: Some(CharacterSet::Ascii),
            length: Some(Length::Fixed(len)),
            pad: Some(pad),
            ..ElementStorage::default()
        },
        native: Vec::new(),
    }
}

/// The scales of each dimension of an array: sequences of object references.
fn dimension_list(along: &[Vec<NodePath>]) -> Result<Attribute> {
    let (mut rows, mut heap) = (Vec::new(), Heap::default());
    for scales in along {
        let mut items = Vec::with_capacity(scales.len().saturating_mul(Slot::SIZE));
        for scale in scales {
            items.extend(heap.push_reference(Reference::Object(scale.clone()))?.to_bytes());
        }
        let count = u32::try_from(scales.len()).map_err(|_| Error::invalid("2^32 scales of a dimension"))?;
        rows.extend(heap.push_items(items.into(), count)?.to_bytes());
    }
    let datatype = Arc::new(Datatype::Vlen(Box::new(Datatype::ObjRef)));
    Ok(attribute(along.len(), datatype, rows, heap, ElementStorage::default()))
}

/// The arrays along a scale: pairs of an object reference and the number of the dimension, with the padding at the end
/// of the library's structure.
fn reference_list(users: &[(NodePath, u32)], sizes: &Sizes) -> Result<Attribute> {
    let (mut rows, mut heap) = (Vec::new(), Heap::default());
    for (array, dimension) in users {
        rows.extend(heap.push_reference(Reference::Object(array.clone()))?.to_bytes());
        rows.extend(dimension.to_ne_bytes());
    }
    let member = |name: &str, datatype| Member { name: name.to_owned(), datatype };
    let members = vec![member("dataset", Datatype::ObjRef), member("dimension", Datatype::int(32, false))];
    let storage = ElementStorage {
        offsets: Some(vec![0, sizes.offsets.into()]),
        itemsize: Some(u64::from(sizes.offsets) + 8),
        ..ElementStorage::default()
    };
    Ok(attribute(users.len(), Arc::new(Datatype::Compound(members)), rows, heap, storage))
}

/// A label for each dimension of an array; empty for dimensions without a label.
fn dimension_labels(labels: &[Directive]) -> Result<Attribute> {
    let (mut rows, mut heap) = (Vec::new(), Heap::default());
    for label in labels {
        let name = match label {
            Directive::Text(text) => super::name::stored(text).0,
            _ => Vec::new(),
        };
        let slot = if name.is_empty() { Slot::default() } else { heap.push_bytes(Bytes::from(name))? };
        rows.extend(slot.to_bytes());
    }
    let storage = ElementStorage {
        charset: Some(CharacterSet::Ascii),
        length: Some(Length::Variable),
        pad: Some(Pad::NulTerminated),
        ..ElementStorage::default()
    };
    Ok(attribute(labels.len(), Arc::new(Datatype::String(Text::Variable)), rows, heap, storage))
}

fn attribute(
    count: usize,
    datatype: Arc<Datatype>,
    rows: Vec<u8>,
    heap: Heap<Reference>,
    storage: ElementStorage,
) -> Attribute {
    let shape = Some(vec![count as u64]);
    Attribute { shape, datatype, value: Values { rows: rows.into(), heap }, storage, native: Vec::new() }
}

#[cfg(test)]
mod tests;
