//! Stores attributes as metadata, the inverse of how they are shown.

use super::super::datatype::stored;
use super::super::metadata::{FLAT, OF_ATTRIBUTE, OF_DIMENSION, SHAPE, spelled, spellings};
use super::super::objects::{ArrayObject, Field, Found, Object};
use super::schema::SchemaEdit;
use super::{Step, TileDbEditor, What};
use crate::editor::{Change, ChangeKind};
use crate::location::missing_attribute;
use crate::strings::{name_bytes, name_text};
use hyperslab_cf::dataspace::GROUP_ARRAY;
use hyperslab_core::rows::Slot;
use hyperslab_core::store::Key;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Attribute, Datatype, NodePath, Text};
use hyperslab_tiledb::format::data_type::CellValNum;
use hyperslab_tiledb::format::metadata::{Entry, Value};
use hyperslab_tiledb::history::value_text;
use std::collections::BTreeMap;

/// The location where the attribute of an object is stored.
struct Place {
    /// The array or the group.
    key: Key,
    /// The key of the metadata.
    name: Vec<u8>,
}

impl TileDbEditor {
    pub(super) fn set(&mut self, path: &NodePath, name: &str, value: &Attribute) -> Result<Change> {
        let Place { key, name: stored } = self.place(path, name)?;
        let known = self.metadata(&key)?;
        let is_known = spellings(&stored).iter().any(|spelling| known.contains_key(spelling));
        let entries = entries(&stored, value)?;
        let is_list = entries.iter().any(|entry| entry.key != stored && entry.value.is_some());
        let has_both = has_both(&known, &stored);
        if has_both && is_list {
            let [_, flat, _] = spellings(&stored).map(|key| name_text(&key));
            return Err(Error::unsupported(format!("a list, which would also replace {flat:?}"))
                .with_hint("remove one of the two first"));
        }
        let set = entries.iter().find_map(|entry| entry.value.as_ref());
        let what = set.map_or_else(String::new, |value| value_text(value.data_type, &value.bytes));
        // Other spellings are removed where they exist, as in TileDB-Py.
        let set: Vec<Entry> = entries
            .into_iter()
            .filter(|entry| entry.value.is_some() || (known.contains_key(&entry.key) && !has_both))
            .collect();
        self.push_metadata(&key, set);
        let kind = if is_known { ChangeKind::Changed } else { ChangeKind::Added };
        Ok(Change::new(kind, format_args!("{path}@{name}"), what))
    }

    pub(super) fn remove(&mut self, path: &NodePath, name: &str) -> Result<Change> {
        let Place { key, name: stored } = self.place(path, name)?;
        let known = self.metadata(&key)?;
        let has_both = has_both(&known, &stored);
        let gone: Vec<Entry> = spellings(&stored)
            .into_iter()
            .filter(|spelling| known.contains_key(spelling))
            .filter(|spelling| *spelling == stored || !has_both)
            .map(|key| Entry { key, value: None })
            .collect();
        if gone.is_empty() {
            let prefix = stored.strip_suffix(&*name_bytes(name)).unwrap_or_default().to_vec();
            let names: Vec<String> = known
                .keys()
                .map(|key| key.strip_prefix(FLAT).unwrap_or(key))
                .filter_map(|key| key.strip_prefix(&*prefix))
                .map(name_text)
                .collect();
            return Err(missing_attribute(path, name, names.iter().map(String::as_str)));
        }
        self.push_metadata(&key, gone);
        Ok(Change::new(ChangeKind::Removed, format_args!("{path}@{name}"), ""))
    }

    /// The location of an attribute of an object: it is stored with the object, or with its array under a key that
    /// names the object.
    fn place(&self, path: &NodePath, name: &str) -> Result<Place> {
        if name.is_empty() {
            return Err(Error::invalid("an attribute without a name"));
        }
        let of_field = |array: &ArrayObject, key: Key, field: Field| {
            let (prefix, own) = match field {
                Field::Attribute(position) => (OF_ATTRIBUTE, &array.attribute(position)?.name),
                Field::Dimension(position) => (OF_DIMENSION, &array.dimension(position)?.name),
                Field::Label(_) => {
                    return Err(Error::unsupported(
                        "attributes of a dimension label, which TileDB cannot store",
                    ));
                }
            };
            Ok(Place { key, name: [prefix.as_bytes(), own, b".", &*name_bytes(name)].concat() })
        };
        match self.objects.find(path) {
            Ok(Found::Field(key, object, field)) => match &*object {
                Object::Array(array) => of_field(array, key, field),
                Object::Group(_) => Err(Error::invalid("a part of a group")),
            },
            Ok(Found::Collected(key, position)) => match &*self.objects.open(&key)? {
                Object::Array(array) => of_field(array, key.clone(), Field::Attribute(position)),
                Object::Group(_) => Err(Error::invalid("a part of a group")),
            },
            Ok(found) => {
                let (key, object) = self.opened(found)?;
                match &*object {
                    Object::Array(array) if array.record.is_some() => {
                        of_field(array, key, Field::Attribute(0))
                    }
                    Object::Group(group) if group.in_array.is_some() => {
                        Ok(Place { key: key.join(GROUP_ARRAY)?, name: name_bytes(name) })
                    }
                    _ => Ok(Place { key, name: name_bytes(name) }),
                }
            }
            // This may be an attribute that was planned earlier.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let (group, member) = self.array_of(path)?;
                let Ok((key, _)) = self.object(&group) else { return Err(error) };
                let own = name_bytes(&member);
                let is_new = self.planned(&key).any(|what| match what {
                    What::Schema(edits) => {
                        edits.iter().any(|edit| matches!(edit, SchemaEdit::Add(of, _) if of.name == own))
                    }
                    _ => false,
                });
                match is_new {
                    true => Ok(Place {
                        key,
                        name: [OF_ATTRIBUTE.as_bytes(), &*own, b".", &*name_bytes(name)].concat(),
                    }),
                    false => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Moves the metadata of an attribute when the attribute is renamed.
    pub(super) fn move_metadata(&mut self, key: &Key, from: &[u8], to: &[u8]) -> Result<()> {
        let about = |name: &[u8]| [OF_ATTRIBUTE.as_bytes(), name, b"."].concat();
        let mut moved = Vec::new();
        for (known, value) in self.metadata(key)? {
            let spelling = [FLAT, SHAPE].into_iter().find(|spelling| known.starts_with(spelling));
            let spelling = spelling.unwrap_or_default();
            let rest = known.strip_prefix(spelling).and_then(|rest| rest.strip_prefix(&*about(from)));
            let Some(rest) = rest else { continue };
            moved.push(Entry { key: [spelling, &*about(to), rest].concat(), value: Some(value) });
            moved.push(Entry { key: known, value: None });
        }
        if !moved.is_empty() {
            self.push_metadata(key, moved);
        }
        Ok(())
    }

    /// The metadata of an array or a group, including planned changes.
    fn metadata(&self, key: &Key) -> Result<BTreeMap<Vec<u8>, Value>> {
        let mut known: BTreeMap<Vec<u8>, Value> = match &*self.objects.open(key)? {
            Object::Array(array) => array.array.metadata()?.into_iter().collect(),
            Object::Group(group) => group.group.metadata()?.into_iter().collect(),
        };
        for what in self.planned(key) {
            let What::Metadata(entries) = what else { continue };
            for Entry { key, value } in entries {
                match value {
                    Some(value) => known.insert(key.clone(), value.clone()),
                    None => known.remove(key),
                };
            }
        }
        Ok(known)
    }

    fn push_metadata(&mut self, key: &Key, set: Vec<Entry>) {
        if let Some(Step { key: last, what: What::Metadata(entries) }) = self.steps.last_mut()
            && last == key
        {
            // A file contains each key only once.
            entries.retain(|own| set.iter().all(|other| other.key != own.key));
            entries.extend(set);
            return;
        }
        self.push(key, What::Metadata(set));
    }
}

/// Whether both a value and a NumPy array are stored under a key: they are then shown separately, and only one of them
/// is meant.
fn has_both(known: &BTreeMap<Vec<u8>, Value>, name: &[u8]) -> bool {
    let [plain, flat, _] = spellings(name);
    known.contains_key(&plain) && known.contains_key(&flat)
}

/// The entries that set an attribute: its value, its shape if the value does not determine it, and the spellings to
/// remove.
fn entries(name: &[u8], attribute: &Attribute) -> Result<[Entry; 3]> {
    Ok(spelled(name, value(attribute)?, attribute.shape.as_deref().unwrap_or_default()))
}

fn value(attribute: &Attribute) -> Result<Value> {
    let Attribute { shape, datatype, value, storage, .. } = attribute;
    let Some(shape) = shape else {
        return Err(Error::unsupported("a null dataspace, which TileDB metadata do not have"));
    };
    let (data_type, values) = stored(datatype, storage, None)?;
    let is_text = matches!(datatype.resolved(), Datatype::String(_));
    let is_one = shape.iter().all(|len| *len == 1);
    if (is_text || values != CellValNum::ONE) && !is_one {
        let kind = if is_text { "texts" } else { "such values" };
        return Err(Error::unsupported(format!("a list of {kind}, TileDB metadata hold one")));
    }
    let bytes = match datatype.resolved() {
        Datatype::String(Text::Variable) => {
            let slot = Slot::get(&value.rows).and_then(|slot| value.heap.content(slot));
            slot.unwrap_or_default().to_vec()
        }
        other if other.has_slots() => {
            return Err(Error::unsupported(format!("type {other}, which TileDB metadata do not have")));
        }
        _ => value.rows.to_vec(),
    };
    Ok(Value { data_type, bytes })
}
