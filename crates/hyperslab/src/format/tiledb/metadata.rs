//! Metadata as attributes.
//!
//! TileDB-Py stores an array of NumPy under two keys, `__np_flat_KEY` with its values and `__np_shape_KEY` with its shape,
//! and TileDB-CF says by prefixes of keys which attribute or dimension of an array metadata are about.

use super::datatype::data_type;
use super::objects::{ArrayObject, Field};
use crate::strings::{member_name, name_text};
use hyperslab_core::Result;
use hyperslab_core::rows::Heap;
use hyperslab_model::{Attribute, Attributes, Datatype, ElementStorage, Length, Text, Values};
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::metadata::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The attributes of an array and of its members.
#[derive(Default)]
pub(super) struct ArrayMetadata {
    pub(super) own: Attributes,
    of_fields: FxHashMap<String, Attributes>,
}

impl ArrayMetadata {
    /// The attributes of a member.
    pub(super) fn of(&self, member: &str) -> Attributes {
        self.of_fields.get(member).cloned().unwrap_or_default()
    }
}

impl ArrayObject {
    /// The attributes of the array and of its members.
    ///
    /// # Errors
    /// If the metadata cannot be read.
    pub(super) fn metadata(&self, raw: bool) -> Result<Arc<ArrayMetadata>> {
        if let Some(known) = self.metadata.get() {
            return Ok(Arc::clone(known));
        }
        let mut split = ArrayMetadata::default();
        for (key, value) in entries(self.array.metadata()?, raw) {
            match self.owner(&key).filter(|_| !raw) {
                Some((member, name)) => {
                    split.of_fields.entry(member).or_default().insert(name, Ok(value));
                }
                None => {
                    split.own.insert(name_text(&key), Ok(value));
                }
            }
        }
        Ok(Arc::clone(self.metadata.get_or_init(|| Arc::new(split))))
    }

    /// The member that a key of TileDB-CF is about, and its name there. Names of members may have dots: the longest that
    /// fits is meant.
    fn owner(&self, key: &[u8]) -> Option<(String, String)> {
        let key = std::str::from_utf8(key).ok()?;
        let (rest, is_attribute) = match (key.strip_prefix(OF_ATTRIBUTE), key.strip_prefix(OF_DIMENSION)) {
            (Some(rest), _) => (rest, true),
            (None, Some(rest)) => (rest, false),
            (None, None) => return None,
        };
        let is_kind = |field: &Field| match field {
            Field::Attribute(_) => is_attribute,
            Field::Dimension(_) => !is_attribute,
            Field::Label(_) => false,
        };
        let fits = self.fields.iter().filter(|(_, field)| is_kind(field)).filter_map(|(name, field)| {
            let stored = match *field {
                Field::Attribute(position) => &self.array.attributes().get(position)?.name,
                Field::Dimension(position) => &self.array.dimensions().get(position)?.name,
                Field::Label(_) => return None,
            };
            let stored = std::str::from_utf8(stored).ok()?;
            let name_of_key = rest.strip_prefix(stored)?.strip_prefix('.')?;
            (!name_of_key.is_empty()).then_some((name, stored.len(), name_of_key))
        });
        let (member, _, name) = fits.max_by_key(|(_, len, _)| *len)?;
        Some((member.clone(), member_name(name.as_bytes())))
    }
}

/// The attributes of a group.
pub(super) fn attributes(metadata: Vec<(Vec<u8>, Value)>, raw: bool) -> Attributes {
    entries(metadata, raw).into_iter().map(|(key, value)| (name_text(&key), Ok(value))).collect()
}

/// Keys and values, those of arrays of NumPy put together.
fn entries(metadata: Vec<(Vec<u8>, Value)>, raw: bool) -> Vec<(Vec<u8>, Attribute)> {
    let mut shapes: FxHashMap<Vec<u8>, Vec<u64>> = FxHashMap::default();
    if !raw {
        for (key, value) in &metadata {
            if let Some(key) = key.strip_prefix(SHAPE) {
                shapes.extend(shape(value).map(|shape| (key.to_vec(), shape)));
            }
        }
    }
    let has_flat: FxHashSet<Vec<u8>> =
        metadata.iter().filter_map(|(key, _)| key.strip_prefix(FLAT)).map(<[u8]>::to_vec).collect();
    let mut found = Vec::with_capacity(metadata.len());
    for (key, value) in metadata {
        let flat = key.strip_prefix(FLAT).filter(|_| !raw).map(<[u8]>::to_vec);
        match flat {
            Some(key) => {
                let shape = shapes.get(&key).cloned();
                found.push((key, attribute(&value, true, shape)));
            }
            // The shape is that of the values beside it.
            None if !raw && key.strip_prefix(SHAPE).is_some_and(|of| has_flat.contains(of)) => {}
            None => found.push((key, attribute(&value, false, None))),
        }
    }
    found
}

/// The extents that the value of a shape states.
fn shape(value: &Value) -> Option<Vec<u64>> {
    let size = value.data_type.size();
    value
        .bytes
        .chunks_exact(size)
        .map(|extent| {
            let mut wide = [0; 8];
            wide.get_mut(..size)?.copy_from_slice(extent);
            Some(u64::from_le_bytes(wide))
        })
        .collect()
}

/// A value as an attribute. One number is a scalar, unless it is of an array of NumPy.
fn attribute(value: &Value, is_array: bool, shape: Option<Vec<u64>>) -> Attribute {
    let bytes = &value.bytes;
    let is_text = matches!(value.data_type, DataType::Char | DataType::StringAscii | DataType::StringUtf8);
    let is_bytes = matches!(value.data_type, DataType::Blob | DataType::GeomWkb);
    let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let (datatype, storage, rows, heap, count) = if is_text {
        let mut heap = Heap::default();
        // One text has fewer than 2^32 bytes, as its number of values says.
        let slot = heap.push_bytes(bytes.clone().into()).unwrap_or_default();
        let storage = ElementStorage {
            length: Some(Length::Variable),
            ..data_type(value.data_type, CellValNum::Var).1
        };
        (Datatype::String(Text::Variable), storage, slot.to_bytes().to_vec(), heap, 1)
    } else if is_bytes {
        let datatype = Datatype::Opaque { size: len, tag: String::new() };
        (datatype, ElementStorage::default(), bytes.clone(), Heap::default(), 1)
    } else {
        let (datatype, storage) = data_type(value.data_type, CellValNum::ONE);
        let count = bytes.len() / value.data_type.size();
        (datatype, storage, bytes.clone(), Heap::default(), count as u64)
    };
    let fits = |shape: &Vec<u64>| hyperslab_core::nd::element_count(shape) == Some(count);
    let shape = shape.filter(fits).unwrap_or_else(|| match (count, is_array) {
        (1, false) => Vec::new(),
        (count, _) => vec![count],
    });
    let value = Values { rows: rows.into(), heap };
    Attribute { shape: Some(shape), datatype: Arc::new(datatype), value, storage, native: Vec::new() }
}

/// What TileDB-Py puts before the keys of arrays of NumPy.
pub(super) const FLAT: &[u8] = b"__np_flat_";
pub(super) const SHAPE: &[u8] = b"__np_shape_";

/// What TileDB-CF puts before the name of what metadata are about.
pub(super) const OF_ATTRIBUTE: &str = "__tiledb_attr.";
pub(super) const OF_DIMENSION: &str = "__tiledb_dim.";
