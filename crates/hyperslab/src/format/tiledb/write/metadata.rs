//! Attributes as metadata, and records of content that metadata cannot represent.

use super::lowerings::{
    ATTRIBUTE_NAME, ATTRIBUTE_STORAGE, ATTRIBUTE_TYPE, INNER_NAMED_TYPE, NATIVE, ORDER, UNREADABLE_ATTRIBUTE,
};
use crate::format::tiledb::metadata::{self, FLAT, OF_ATTRIBUTE, OF_DIMENSION, SHAPE};
use crate::format::tiledb::record::RECORD;
use crate::format::zarr::keep::record::{
    are_characters, attributes_json, has_named, native_json, unnamed, unusual,
};
use crate::strings::name_bytes;
use crate::target::{Losses, content};
use hyperslab_core::Result;
use hyperslab_model::{
    Attribute, Attributes, ByteOrder, CharacterSet, Datatype, Element, Elements, NodePath, Storage, Text,
};
use hyperslab_ndl::part;
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::metadata::{Entry, Metadata, Value};
use hyperslab_zarr::json::{Json, Object};
use std::sync::Arc;

/// The object that metadata describe.
#[derive(Clone, Copy)]
pub(super) enum Owner<'n> {
    /// The group or the array itself.
    Object,
    /// An attribute of the array, by its stored name.
    Attribute(&'n [u8]),
    /// A dimension of the array, by its stored name.
    Dimension(&'n [u8]),
}

impl Owner<'_> {
    /// The key of an attribute.
    pub(super) fn key(self, name: &[u8]) -> Vec<u8> {
        match self {
            Owner::Object => name.to_vec(),
            Owner::Attribute(of) => [OF_ATTRIBUTE.as_bytes(), of, b".", name].concat(),
            Owner::Dimension(of) => [OF_DIMENSION.as_bytes(), of, b".", name].concat(),
        }
    }

    /// Whether readers would interpret a key as something else.
    fn is_reserved(self, name: &[u8]) -> bool {
        let is_prefixed =
            name.starts_with(OF_ATTRIBUTE.as_bytes()) || name.starts_with(OF_DIMENSION.as_bytes());
        name == RECORD.as_bytes()
            || name.starts_with(FLAT)
            || name.starts_with(SHAPE)
            || name.is_empty()
            || matches!(self, Owner::Object) && is_prefixed
    }
}

/// Adds the attributes of an object to its metadata, and the content that metadata cannot represent to its record.
///
/// # Errors
/// If NDL cannot express an attribute.
pub(super) fn put_attributes(
    (path, owner): (&NodePath, Owner<'_>),
    attributes: &Attributes,
    (metadata, record): (&mut Metadata, &mut Object),
    losses: &mut dyn Losses,
) -> Result<()> {
    let (mut recorded, mut characters) = (Attributes::new(), Vec::new());
    for (name, attribute) in attributes {
        let place = || format!("{path}@{name}");
        let attribute = match attribute {
            Ok(attribute) => attribute,
            Err(why) => {
                losses.note(&UNREADABLE_ATTRIBUTE, place(), Some(why.reason.clone()));
                continue;
            }
        };
        let stored_name = name_bytes(name);
        let is_reserved = owner.is_reserved(&stored_name);
        let value = visible(attribute);
        let spelled = value.map(|value| shown(&owner.key(&stored_name), value, attribute));
        let is_exact = spelled.as_ref().is_some_and(|entries| {
            read(entries, attribute.shape.as_deref()).is_some_and(|read| is_same(&read, attribute))
        });
        if is_reserved {
            losses.note(&ATTRIBUTE_NAME, place(), None);
        } else if !is_exact {
            losses.note(&ATTRIBUTE_TYPE, place(), Some(told(attribute)));
        } else if is_stored_otherwise(attribute) {
            losses.note(&ATTRIBUTE_STORAGE, place(), None);
        }
        let is_recorded = is_reserved || !is_exact || is_stored_otherwise(attribute);
        let are_characters = is_recorded && is_exact && !is_reserved && is_told_as_characters(attribute);
        if are_characters {
            characters.push(Json::from(name.as_str()));
        }
        if has_named(&attribute.datatype) && !matches!(&*attribute.datatype, Datatype::Named(..)) {
            losses.note(&INNER_NAMED_TYPE, place(), None);
        }
        if is_recorded && !are_characters {
            let datatype = Arc::new(unnamed(&attribute.datatype));
            recorded.insert(name.clone(), Ok(Attribute { datatype, ..attribute.clone() }));
        }
        if let Some(entries) = spelled.filter(|_| !is_reserved) {
            metadata.entries.extend(entries.into_iter().filter(|entry| entry.value.is_some()));
        }
    }
    if !recorded.is_empty() {
        record.insert("attributes", Json::Object(attributes_json(&recorded)?));
    }
    if !characters.is_empty() {
        record.insert("characters", Json::Array(characters));
    }
    if !attributes.keys().is_sorted_by(|one, other| name_bytes(one) <= name_bytes(other)) {
        let names = attributes.iter().filter(|(_, of)| of.is_ok()).map(|(name, _)| Json::from(name.as_str()));
        record.insert("attribute_order", Json::Array(names.collect()));
        losses.note(&ORDER, path.to_string(), Some("order of attributes".to_owned()));
    }
    Ok(())
}

/// Adds attributes to a record that may already contain some.
///
/// # Errors
/// If NDL cannot express an attribute.
pub(super) fn put_hidden(hidden: &Attributes, record: &mut Object) -> Result<()> {
    if hidden.is_empty() {
        return Ok(());
    }
    let mut all = match record.get("attributes") {
        Some(Json::Object(known)) => known.clone(),
        _ => Object::new(),
    };
    let unnamed = |of: &Attribute| Attribute { datatype: Arc::new(unnamed(&of.datatype)), ..of.clone() };
    let hidden = hidden.iter().filter_map(|(name, of)| Some((name.clone(), Ok(unnamed(of.as_ref().ok()?)))));
    for (name, json) in attributes_json(&hidden.collect())?.iter() {
        all.insert(name, json.clone());
    }
    record.insert("attributes", Json::Object(all));
    Ok(())
}

/// Adds content that only the source format can represent to a record.
pub(super) fn put_native(path: &NodePath, storage: &Storage, record: &mut Object, losses: &mut dyn Losses) {
    for (format, key, _) in content(storage) {
        losses.note(&NATIVE, path.to_string(), Some(format!("{format} directive {key}")));
    }
    if let Some(json) = native_json(storage) {
        record.insert("native", json);
    }
}

/// A record as a metadata entry. `None` if it is empty.
pub(super) fn entry(owner: Owner<'_>, record: &Object) -> Option<Entry> {
    let text = Json::Object(record.clone()).emit_compact();
    let value = Value { data_type: DataType::StringUtf8, bytes: text.into_bytes() };
    (!record.is_empty()).then(|| Entry { key: owner.key(RECORD.as_bytes()), value: Some(value) })
}

/// The keys of an attribute that is [`visible`] as a value, and their contents.
pub(in crate::format::tiledb) fn shown(key: &[u8], value: Value, of: &Attribute) -> [Entry; 3] {
    // Strings represent elements of any number.
    let shape =
        of.shape.as_deref().filter(|_| !value.data_type.is_text() && value.data_type != DataType::Blob);
    metadata::spelled(key, value, shape.unwrap_or_default())
}

/// The attribute that is read from its keys.
fn read([plain, flat, _]: &[Entry; 3], shape: Option<&[u64]>) -> Option<Attribute> {
    match (&plain.value, &flat.value) {
        (Some(value), _) => Some(metadata::attribute(value, false, None)),
        (None, Some(value)) => Some(metadata::attribute(value, true, shape.map(<[u64]>::to_vec))),
        (None, None) => None,
    }
}

/// An attribute as TileDB readers see it: strings and numbers unchanged, a boolean as a number, anything else as JSON.
pub(in crate::format::tiledb) fn visible(attribute: &Attribute) -> Option<Value> {
    let Attribute { shape, datatype, value, storage, .. } = attribute;
    let count = shape.as_ref().map_or(0, |shape| shape.iter().product::<u64>());
    let of = datatype.resolved();
    let text = |bytes: Vec<u8>| {
        let data_type = match (std::str::from_utf8(&bytes), storage.charset) {
            // TileDB-Py reads ASCII as bytes.
            (Ok(_), Some(CharacterSet::Ascii)) if bytes.is_ascii() && !is_told_as_characters(attribute) => {
                DataType::StringAscii
            }
            (Ok(_), _) => DataType::StringUtf8,
            (Err(_), _) => DataType::Char,
        };
        Value { data_type, bytes }
    };
    if let (Datatype::String(_), Some([])) = (of, shape.as_deref()) {
        let element = Elements::new(datatype, value).next()?;
        return match element.get() {
            Element::Text(bytes) => Some(text(bytes.to_vec())),
            _ => None,
        };
    }
    if let (Datatype::Opaque { .. }, Some([])) = (of, shape.as_deref()) {
        return Some(Value { data_type: DataType::Blob, bytes: value.rows.to_vec() });
    }
    let base = match of {
        Datatype::Enum { base, .. } => base.resolved(),
        other => other,
    };
    if let (Datatype::Bool, Some([])) = (base, shape.as_deref()) {
        // As TileDB-Py stores a boolean.
        let number = i64::from(value.rows.first().is_some_and(|row| *row != 0));
        return Some(Value { data_type: DataType::Int64, bytes: number.to_le_bytes().to_vec() });
    }
    let number = DataType::ALL.into_iter().find(|own| {
        let is_number = !own.is_string() && !matches!(own, DataType::Char | DataType::Blob | DataType::Any);
        is_number && super::super::datatype::data_type(*own, CellValNum::ONE).0 == *base
    });
    if let (Some(data_type), Some(_)) = (number, shape) {
        let len = usize::try_from(count).ok()?.checked_mul(data_type.size())?;
        return value.rows.get(..len).map(|rows| Value { data_type, bytes: rows.to_vec() });
    }
    // A null dataspace has no value.
    shape.as_ref()?;
    let elements = Elements::new(datatype, value).map(|one| part::element(one));
    let json = match shape.as_deref() {
        Some([]) => elements.into_iter().next()?,
        _ => part::Value::List(elements.collect()),
    };
    let json = crate::format::zarr::keep::value::json(json).ok()?;
    Some(text(json.emit_compact().into_bytes()))
}

/// Whether an attribute read from metadata equals that of the source.
fn is_same(shown: &Attribute, own: &Attribute) -> bool {
    let is_named = matches!(&*own.datatype, Datatype::Named(..));
    let elements = |of: &Attribute| Elements::new(&of.datatype, &of.value).len();
    !is_named
        && shown.shape == own.shape
        && shown.datatype.same_content(own.datatype.resolved())
        && !own.datatype.any(&|of| matches!(of, Datatype::Opaque { tag, .. } if !tag.is_empty()))
        && own.native.is_empty()
        && elements(shown) == elements(own)
        && Elements::new(&shown.datatype, &shown.value)
            .zip(Elements::new(&own.datatype, &own.value))
            .all(|(one, other)| one.same(other))
}

/// Whether an attribute is a string as NetCDF stores it, for which the record states nothing more.
fn is_told_as_characters(attribute: &Attribute) -> bool {
    let is_text = matches!(attribute.datatype.resolved(), Datatype::String(_));
    is_text && are_characters(&Attribute { storage: unusual(&attribute.storage), ..attribute.clone() })
}

/// Whether the storage of an attribute differs from that of metadata.
fn is_stored_otherwise(attribute: &Attribute) -> bool {
    let storage = &attribute.storage;
    let is_fixed = matches!(attribute.datatype.resolved(), Datatype::String(Text::Fixed { .. }));
    matches!(storage.endian, Some(ByteOrder::Big | ByteOrder::Vax)) || is_fixed
}

fn told(attribute: &Attribute) -> String {
    match &attribute.shape {
        Some(shape) if shape.is_empty() => format!("attribute of type {}", attribute.datatype),
        Some(shape) => format!("attribute of type {} and shape {shape:?}", attribute.datatype),
        None => format!("attribute of type {} without elements", attribute.datatype),
    }
}
