//! Metadata as attributes.
//!
//! TileDB-Py stores a NumPy array under two keys, `__np_flat_KEY` with its values and `__np_shape_KEY` with its shape.
//! TileDB-CF uses prefixes of keys to state which attribute or dimension of an array metadata describe.

use super::datatype::data_type;
use super::objects::{ArrayObject, Field};
use super::record::{RECORD, Record};
use crate::strings::{member_name, name_bytes, name_text};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Attribute, Attributes, Datatype, ElementStorage, Length, Text, Values};
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::metadata::{Entry, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
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
            return known.as_ref().map(Arc::clone).map_err(Error::again);
        }
        let found = self.split_metadata(raw).map(Arc::new);
        match &found {
            Ok(found) => drop(self.metadata.set(Ok(Arc::clone(found)))),
            // Every member asks for the metadata, and another attempt would decode the files up to the same error. An
            // attempt that failed for another reason may succeed when repeated.
            Err(e) if is_of_file(e.kind()) => drop(self.metadata.set(Err(e.again()))),
            Err(_) => {}
        }
        found
    }

    fn split_metadata(&self, raw: bool) -> Result<ArrayMetadata> {
        let mut split = ArrayMetadata::default();
        let stored = self.array.metadata()?;
        // The values stored for the array and each member, by the names that attributes have there.
        let mut of_members: FxHashMap<Option<String>, BTreeMap<Vec<u8>, Value>> = FxHashMap::default();
        for (key, value) in stored.iter().filter(|_| !raw) {
            let prefix = [FLAT, SHAPE].into_iter().find(|prefix| key.starts_with(prefix)).unwrap_or_default();
            let (member, name) = match key.strip_prefix(prefix).and_then(|key| self.owner(key)) {
                Some((member, name)) => (Some(member), [prefix, &*name_bytes(&name)].concat()),
                None => (None, key.clone()),
            };
            of_members.entry(member).or_default().insert(name, value.clone());
        }
        for (key, value) in entries(stored, raw) {
            match self.owner(&key).filter(|_| !raw) {
                Some((member, name)) => {
                    split.of_fields.entry(member).or_default().insert(name, Ok(value));
                }
                None => {
                    split.own.insert(name_text(&key), Ok(value));
                }
            }
        }
        for (member, stored) in &of_members {
            let Some(value) = stored.get(RECORD.as_bytes()) else { continue };
            let Some(record) = Record::parse(value)? else { continue };
            let attributes = match member {
                Some(member) => split.of_fields.entry(member.clone()).or_default(),
                None => &mut split.own,
            };
            attributes.shift_remove(RECORD);
            record.restore(attributes, stored);
        }
        Ok(split)
    }

    /// The member to which a TileDB-CF key refers, and the name of the attribute there. Names of members may contain
    /// dots; the longest name that fits is chosen.
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

/// Whether an error is caused by the file and is therefore permanent.
fn is_of_file(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Malformed | ErrorKind::Unsupported | ErrorKind::LimitExceeded)
}

/// The attributes of a group, including what its record keeps of them.
pub(super) fn attributes(metadata: Vec<(Vec<u8>, Value)>, record: &Record, raw: bool) -> Attributes {
    if raw {
        return entries(metadata, raw).into_iter().map(|(key, value)| (name_text(&key), Ok(value))).collect();
    }
    let stored: BTreeMap<Vec<u8>, Value> = metadata.iter().cloned().collect();
    let shown = entries(metadata, raw).into_iter().filter(|(key, _)| !is_record(key, &stored));
    let mut attributes = shown.map(|(key, value)| (name_text(&key), Ok(value))).collect();
    record.restore(&mut attributes, &stored);
    attributes
}

/// Whether a key is that of a record, rather than something that another program has stored there.
fn is_record(key: &[u8], stored: &BTreeMap<Vec<u8>, Value>) -> bool {
    key == RECORD.as_bytes()
        && stored.get(key).is_some_and(|value| matches!(Record::parse(value), Ok(Some(_))))
}

/// Keys and values, with NumPy arrays reassembled. If the key of an array holds another value as well, that value has
/// the key, and the array and its shape are shown under the keys under which they are stored.
fn entries(metadata: Vec<(Vec<u8>, Value)>, raw: bool) -> Vec<(Vec<u8>, Attribute)> {
    let keys: FxHashSet<Vec<u8>> = metadata.iter().map(|(key, _)| key.clone()).collect();
    // The key of the array to which a stored key belongs.
    let of_array = |key: &[u8], prefix: &[u8]| {
        key.strip_prefix(prefix).filter(|own| !raw && !keys.contains(*own)).map(<[u8]>::to_vec)
    };
    let mut shapes: FxHashMap<Vec<u8>, Vec<u64>> = FxHashMap::default();
    for (key, value) in &metadata {
        if let Some(key) = of_array(key, SHAPE) {
            shapes.extend(shape(value).map(|shape| (key, shape)));
        }
    }
    let has_flat = |key: &[u8]| keys.contains(&[FLAT, key].concat());
    let mut found = Vec::with_capacity(metadata.len());
    for (key, value) in metadata {
        match (of_array(&key, FLAT), of_array(&key, SHAPE)) {
            (Some(key), _) => {
                let shape = shapes.get(&key).cloned();
                found.push((key, attribute(&value, true, shape)));
            }
            // The shape belongs to the values stored next to it.
            (None, Some(of)) if has_flat(&of) => {}
            (None, _) => found.push((key, attribute(&value, false, None))),
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

/// A value as an attribute. A single number is a scalar unless it comes from a NumPy array.
pub(super) fn attribute(value: &Value, is_array: bool, shape: Option<Vec<u64>>) -> Attribute {
    let bytes = &value.bytes;
    let is_text = value.data_type.is_text();
    let is_bytes = matches!(value.data_type, DataType::Blob | DataType::GeomWkb);
    let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let (datatype, storage, rows, heap, count) = if is_text {
        let mut heap = Heap::default();
        // A single string has fewer than 2^32 bytes, as its number of values states.
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

/// The keys under which a value may be stored: unchanged, or as a NumPy array with its shape.
pub(super) fn spellings(name: &[u8]) -> [Vec<u8>; 3] {
    [name.to_vec(), [FLAT, name].concat(), [SHAPE, name].concat()]
}

/// The content of each of the [`spellings`] of a key for a value with this shape, such that TileDB-Py can read it.
/// TileDB-Py reads plain numbers and lists of several numbers unchanged, but an array with a single number, arrays with
/// more dimensions, booleans and times only as NumPy arrays. If it cannot read one key, it shows none of the keys of an
/// object.
pub(super) fn spelled(name: &[u8], value: Value, shape: &[u64]) -> [Entry; 3] {
    let is_text = value.data_type.is_text();
    let is_read = is_text || value.data_type == DataType::Blob || is_number(value.data_type);
    let is_plain = is_read && matches!(shape, [] | [0 | 2..]);
    let lens = (!is_plain && shape.len() != 1).then(|| Value {
        data_type: DataType::UInt64,
        bytes: shape.iter().flat_map(|len| len.to_le_bytes()).collect(),
    });
    let (plain, flat) = if is_plain { (Some(value), None) } else { (None, Some(value)) };
    let [own, numpy, shape] = spellings(name);
    let entry = |key, value| Entry { key, value };
    [entry(own, plain), entry(numpy, flat), entry(shape, lens)]
}

/// Whether values are integers or floating-point numbers.
fn is_number(data_type: DataType) -> bool {
    let (datatype, _) = self::data_type(data_type, CellValNum::ONE);
    matches!(datatype, Datatype::Int { .. } | Datatype::Float(_))
}

/// The prefix that TileDB-Py adds to the keys of NumPy arrays.
pub(super) const FLAT: &[u8] = b"__np_flat_";
pub(super) const SHAPE: &[u8] = b"__np_shape_";

/// The prefix that TileDB-CF adds to the name of the attribute or dimension that metadata describe.
pub(super) const OF_ATTRIBUTE: &str = "__tiledb_attr.";
pub(super) const OF_DIMENSION: &str = "__tiledb_dim.";

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(stored: &[(&str, &[u8])]) -> Vec<(String, Option<Vec<u64>>, Vec<u8>)> {
        let value = |bytes: &[u8]| Value { data_type: DataType::UInt8, bytes: bytes.to_vec() };
        let stored = stored.iter().map(|(key, bytes)| (key.as_bytes().to_vec(), value(bytes))).collect();
        let found = entries(stored, false).into_iter();
        found.map(|(key, own)| (name_text(&key), own.shape, own.value.rows.to_vec())).collect()
    }

    #[test]
    fn an_array_of_numpy_has_the_key_that_it_is_about() {
        let found = shown(&[("__np_flat_k", &[1, 2, 3, 4]), ("__np_shape_k", &[2, 2])]);
        assert_eq!(found, [("k".to_owned(), Some(vec![2, 2]), vec![1, 2, 3, 4])]);
    }

    #[test]
    fn an_array_of_numpy_hides_no_value_under_its_key() {
        let found = shown(&[("__np_flat_k", &[1, 2]), ("__np_shape_k", &[2]), ("k", &[7])]);
        let expected = [
            ("__np_flat_k", Some(vec![2]), vec![1, 2]),
            ("__np_shape_k", Some(Vec::new()), vec![2]),
            ("k", Some(Vec::new()), vec![7]),
        ];
        assert_eq!(found, expected.map(|(key, shape, rows)| (key.to_owned(), shape, rows)));
    }
}
