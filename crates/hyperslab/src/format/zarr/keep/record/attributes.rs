//! Attributes in records: content that their JSON cannot represent.
//!
//! Other programs change attributes without updating records. The record of an attribute applies as long as the JSON
//! equals the JSON of the recorded attribute. Otherwise the JSON applies.

use super::{elements, malformed, read};
use crate::format::zarr::read::fill_attribute::decoded;
use crate::format::zarr::write::{fill_value, is_reserved, is_shown_as, json_of_text, text_of_bytes};
use hyperslab_core::Result;
use hyperslab_model::{
    Attribute, Attributes, CharacterSet, Datatype, Element, ElementStorage, Elements, Length, Node, Text,
};
use hyperslab_netcdf4::name::FILL_VALUE;
use hyperslab_zarr::data_type::DataType;
use hyperslab_zarr::json::{Json, Number, Object};

/// The attributes of a record.
#[derive(Debug, Default)]
pub(super) struct Restored {
    /// The attributes to which the record applies.
    pub(super) attributes: Attributes,
    /// The names of attributes that have been changed since.
    pub(super) changed: Vec<String>,
}

/// Whether an attribute is a scalar of ASCII characters, with the length of its string, as NetCDF stores strings.
pub(in crate::format) fn are_characters(attribute: &Attribute) -> bool {
    let Attribute { shape, datatype, value, storage, .. } = attribute;
    let Some(Length::Fixed(length)) = storage.length else { return false };
    let plain = ElementStorage {
        charset: Some(CharacterSet::Ascii),
        length: Some(Length::Fixed(length)),
        ..ElementStorage::default()
    };
    shape.as_ref().is_some_and(Vec::is_empty)
        && *storage == plain
        && Elements::new(datatype, value).next().is_some_and(|text| match text.get() {
            Element::Text(text) => {
                !text.is_empty() && text.is_ascii() && text.len() as u64 == u64::from(length)
            }
            _ => false,
        })
}

/// The records of attributes that [`are_characters`].
pub(super) fn of_characters(names: &[String], visible: &Object) -> Object {
    let mut recorded = Object::new();
    for name in names {
        // A string that another program changed has a different length.
        let Some(Json::String(text)) = visible.get(name) else { continue };
        if !text.is_empty() && text.is_ascii() {
            let length = Json::Number(Number::integer(text.len() as u64));
            let storage = [("charset".to_owned(), "ascii".into()), ("length".to_owned(), length)];
            let members = [
                ("shape".to_owned(), Json::Array(Vec::new())),
                ("type".to_owned(), "string".into()),
                ("storage".to_owned(), Json::Object(Object::from_iter(storage))),
            ];
            recorded.insert(name.as_str(), Json::Object(Object::from_iter(members)));
        }
    }
    recorded
}

/// Reads the attributes of a record. `visible` is the JSON of the attributes of the node. `of` is the datatype of an
/// array in version 3.
///
/// # Errors
/// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if the record contradicts itself.
pub(super) fn restored(record: &Object, visible: &Object, of: Option<&DataType>) -> Result<Restored> {
    let mut restored = Restored::default();
    let mut whole = Object::new();
    for (name, json) in record.iter() {
        let Json::Object(recorded) = json else {
            return Err(malformed(format!("attribute {name:?}: {}, expected an object", json.kind())));
        };
        match complete(name, recorded, visible, of) {
            Some(recorded) => whole.insert(name, Json::Object(recorded)),
            None => restored.changed.push(name.to_owned()),
        }
    }
    // All at once, unless one of them is invalid.
    let mut read = attributes(&whole).or_else(|_| {
        let mut read = Attributes::new();
        for (name, recorded) in whole.iter() {
            match attributes(&Object::from_iter([(name.to_owned(), recorded.clone())])) {
                Ok(one) => read.extend(one),
                // Only the visible JSON can have changed since the record was written.
                Err(_) if !has_value(record.get(name)) || record.get(name) != Some(recorded) => {}
                Err(e) => return Err(malformed(format!("attribute {name:?}: {}", e.reason()))),
            }
        }
        Ok(read)
    })?;
    for name in whole.iter().map(|(name, _)| name) {
        let holds = match (read.get(name), of.filter(|_| name == FILL_VALUE && has_value(record.get(name)))) {
            (Some(Ok(attribute)), Some(of)) => shows(of, attribute, whole.get(name), visible.get(name)),
            (found, _) => found.is_some(),
        };
        if !holds {
            read.shift_remove(name);
            restored.changed.push(name.to_owned());
        }
    }
    restored.attributes = read;
    Ok(restored)
}

/// The recorded attribute, with the value from the visible JSON if the record has none. `None` if the JSON shows that
/// the attribute was changed.
fn complete(name: &str, recorded: &Object, visible: &Object, of: Option<&DataType>) -> Option<Object> {
    let mut recorded = recorded.clone();
    let shown = visible.get(name);
    let kept = recorded.get(VALUE).cloned();
    match (kept, shown) {
        // JSON under this name has a different meaning.
        _ if is_reserved(name) => {}
        // If another program changed the value, the datatype still applies.
        (Some(kept), Some(shown)) if name == FILL_VALUE && of.is_some() => {
            // NaN is a single word that does not express the recorded bits.
            if let Some(value) = of.and_then(|of| decoded(of, shown))
                && !(is_nan(&value) && is_recorded_nan(&recorded))
            {
                recorded.insert(VALUE, like(&kept, value));
            }
        }
        (Some(_), None) if name == FILL_VALUE && of.is_some() => {}
        // An attribute without elements has no JSON.
        (None, None) if name == FILL_VALUE && of.is_some() && recorded.get("shape") == Some(&Json::Null) => {}
        (None, Some(Json::Null)) if recorded.get("shape") == Some(&Json::Null) => {}
        (None, _) if recorded.get("shape") == Some(&Json::Null) => return None,
        (None, Some(Json::Null)) if are_no_bytes(&recorded) => {}
        (None, Some(shown)) => recorded.insert(VALUE, shown.with_words_as_strings()),
        (Some(kept), Some(shown)) => {
            // A string that contains JSON appears as that JSON.
            let is_text_of = |text: &str| json_of_text(text.as_bytes()).as_ref() == Some(shown);
            let is_other_form = match &kept {
                Json::String(text) => is_text_of(text),
                Json::Object(_) => text_of(&kept).as_ref() == Some(shown),
                _ => false,
            };
            if !is_shown_as(&kept, shown) && !is_other_form {
                return None;
            }
        }
        (_, None) => return None,
    }
    Some(recorded)
}

/// Whether an attribute is bytes of length 0, which have no value in NDL.
fn are_no_bytes(recorded: &Object) -> bool {
    let opaque = recorded.get("type").and_then(Json::as_object).and_then(|datatype| datatype.get("opaque"));
    let size = opaque.and_then(Json::as_object).and_then(|opaque| opaque.get("size"));
    size == Some(&Json::Number(Number::integer(0)))
}

/// The form in which readers see a recorded string that is not UTF-8.
fn text_of(kept: &Json) -> Option<Json> {
    let datatype = Datatype::String(Text::Variable);
    let values = elements(&datatype, std::slice::from_ref(kept)).ok()?;
    text_of_bytes(&datatype, &values)
}

/// The recorded number if it is equal; otherwise the value in the same notation, without a fraction if the recorded
/// number has none.
fn like(kept: &Json, value: Json) -> Json {
    if let Json::Array(kept) = kept {
        let one = kept.first().map_or(value.clone(), |kept| like(kept, value.clone()));
        return Json::Array(vec![one]);
    }
    let (Json::Number(one), Json::Number(other)) = (kept, &value) else { return value };
    let (one, other) = (one.as_integer().is_some(), (one.as_f64(), other.as_f64()));
    match other {
        (was, is) if was.to_bits() == is.to_bits() => kept.clone(),
        (_, is) if one => {
            format!("{is}").parse::<i64>().map_or(value, |whole| Json::Number(Number::integer(whole)))
        }
        _ => value,
    }
}

/// Whether a value is the word for NaN, as NDL writes it.
fn is_nan(value: &Json) -> bool {
    value.as_str() == Some("NaN")
}

/// Whether an attribute in a record is a single NaN, with any bits.
fn is_recorded_nan(recorded: &Object) -> bool {
    let one = Object::from_iter([(FILL_VALUE.to_owned(), Json::Object(recorded.clone()))]);
    let read = attributes(&one).ok().and_then(|mut read| read.shift_remove(FILL_VALUE)?.ok());
    read.is_some_and(|attribute| {
        let mut elements = Elements::new(&attribute.datatype, &attribute.value);
        let first = elements.next().map(|element| match element.get() {
            Element::Float(value) => value.is_nan(),
            _ => false,
        });
        first == Some(true) && elements.next().is_none()
    })
}

/// Whether a fill value appears as this JSON. The bits of NaN may differ, since other programs do not keep them.
fn shows(of: &DataType, attribute: &Attribute, recorded: Option<&Json>, shown: Option<&Json>) -> bool {
    let value = recorded.and_then(Json::as_object).and_then(|recorded| recorded.get(VALUE));
    match fill_value(of, attribute, value.unwrap_or(&Json::Null)) {
        Some(Some(coded)) => shown.is_some_and(|shown| {
            let both_nan =
                || [shown, &coded].iter().all(|json| decoded(of, json).as_ref().is_some_and(is_nan));
            *shown == coded || both_nan()
        }),
        Some(None) => shown == value,
        None => shown.is_none(),
    }
}

fn has_value(recorded: Option<&Json>) -> bool {
    recorded.and_then(Json::as_object).is_some_and(|recorded| recorded.get(VALUE).is_some())
}

/// Attributes from the JSON of [`attributes_json`](super::attributes_json).
///
/// # Errors
/// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if one of them is invalid.
pub(in crate::format) fn attributes(recorded: &Object) -> Result<Attributes> {
    let root = Object::from_iter([("attributes".to_owned(), Json::Object(recorded.clone()))]);
    let nodes = read(root)?.into_iter();
    let found = nodes.into_iter().find_map(|(path, node)| match node {
        Node::Group(group) if path.is_root() => Some(group.attributes),
        _ => None,
    });
    Ok(found.unwrap_or_default())
}

const VALUE: &str = "value";
