//! Attributes as JSON that readers see. A record keeps the content that JSON cannot represent.

use super::NCZARR;
use super::lowerings::{
    ATTRIBUTE_NAME, ATTRIBUTE_STORAGE, ATTRIBUTE_TYPE, INNER_NAMED_TYPE, NATIVE, NOT_FINITE,
    UNREADABLE_ATTRIBUTE,
};
use crate::format::zarr::keep::{lowering, record as records};
use crate::format::zarr::nczarr;
use crate::format::zarr::read::fill_attribute::decoded;
use crate::format::zarr::read::{attribute, dimensions};
use crate::target::conventions::is_boolean;
use crate::target::{Losses, TargetOptions, content};
use hyperslab_core::{Limits, Result};
use hyperslab_model::{
    Attribute, Attributes, Datatype, Element, Elements, Float, Group, NodePath, Storage, Values,
};
use hyperslab_netcdf4::name::{FILL_VALUE, PROPERTIES};
use hyperslab_zarr::data_type::{DataType, base64};
use hyperslab_zarr::json::{Json, Number, Object};
use hyperslab_zarr::metadata::v2;
use hyperslab_zarr::record;
use hyperslab_zarr::write::GroupDefinition;
use std::sync::Arc;

/// The attributes and the record of a group.
///
/// # Errors
/// If NDL cannot express an attribute.
pub(super) fn of_group(
    path: &NodePath,
    group: &Group,
    options: &TargetOptions,
    losses: &mut dyn Losses,
) -> Result<GroupDefinition> {
    let mut record = Object::new();
    let attributes = visible(path, &group.attributes, None, options, &mut record, losses)?;
    record_native(path, &group.storage, &mut record, losses);
    if let Some(json) = records::of_group(&group.storage)? {
        record.insert("storage", json);
    }
    Ok(GroupDefinition { attributes, record })
}

/// The attributes that all readers see. The rest is added to the record. `of` is the data type of a version 3 array.
///
/// # Errors
/// If NDL cannot express an attribute.
pub(super) fn visible(
    path: &NodePath,
    attributes: &Attributes,
    of: Option<&DataType>,
    options: &TargetOptions,
    record: &mut Object,
    losses: &mut dyn Losses,
) -> Result<Object> {
    let mut out = Object::new();
    let (mut types, mut kept, mut characters) = (Object::new(), Object::new(), Vec::new());
    let mut readable = Attributes::new();
    for (name, attribute) in attributes {
        if let Ok(attribute) = attribute {
            let datatype = Arc::new(records::unnamed(&attribute.datatype));
            let storage = records::unusual(&attribute.storage);
            readable.insert(name.clone(), Ok(Attribute { datatype, storage, ..attribute.clone() }));
        }
    }
    note_changed(path, attributes, losses);
    let recorded = records::attributes_json(&readable)?;
    for (name, attribute) in &readable {
        let (Ok(attribute), Some(Json::Object(recorded))) = (attribute, recorded.get(name)) else { continue };
        let place = || format!("{path}@{name}");
        if is_reserved(name) {
            losses.note(&ATTRIBUTE_NAME, place(), None);
            kept.insert(name, Json::Object(recorded.clone()));
            continue;
        }
        let value = recorded.get("value");
        let json =
            of_json(attribute).or_else(|| Some(shown(attribute, value?.clone()))).unwrap_or(Json::Null);
        let coded = match of {
            Some(of) if name == FILL_VALUE => match fill_value(of, attribute, &json) {
                Some(coded) => coded,
                None => {
                    losses.note(&ATTRIBUTE_NAME, place(), None);
                    kept.insert(name, Json::Object(recorded.clone()));
                    continue;
                }
            },
            _ => None,
        };
        if coded.is_none() && has_word(&json) {
            losses.note(&NOT_FINITE, place(), None);
        }
        if coded.is_none() && reads_as(&json, attribute) {
            if !attribute.storage.is_empty() {
                losses.note(&ATTRIBUTE_STORAGE, place(), None);
                match matches!(json, Json::String(_)) && records::are_characters(attribute) {
                    true => characters.push(Json::from(name.as_str())),
                    false => kept.insert(name, Json::Object(without_value(recorded))),
                }
            }
            out.insert(name, json);
            continue;
        }
        let has_types = options.flag(NCZARR) && coded.is_none();
        let kind = has_types.then(|| numpy(&attribute.datatype)).flatten();
        let by_type = kind
            .filter(|kind| attribute::plain_numbers(&json, kind).is_some_and(|read| same(&read, attribute)));
        losses.note(&ATTRIBUTE_TYPE, place(), Some(format!("attributes of type {}", attribute.datatype)));
        match by_type {
            Some(kind) => {
                types.insert(name, format!("<{kind}").as_str().into());
            }
            None => {
                // If the visible JSON is the value, the record does not repeat it.
                let is_repeated = coded.is_none() && (value == Some(&json) || is_single(attribute));
                let recorded = if is_repeated { without_value(recorded) } else { recorded.clone() };
                kept.insert(name, Json::Object(recorded));
            }
        }
        out.insert(name, coded.unwrap_or(json));
    }
    if !types.is_empty() {
        let types = Object::from_iter([("types".to_owned(), Json::Object(types))]);
        out.insert(nczarr::ATTRIBUTES, Json::Object(types));
    }
    // Readers list attributes that exist only in the record after all others.
    let (seen, unseen): (Vec<_>, Vec<_>) = readable.keys().partition(|name| out.get(name).is_some());
    if !seen.iter().chain(&unseen).eq(&readable.keys().collect::<Vec<_>>()) {
        let order = readable.keys().map(|name| Json::from(name.as_str())).collect();
        record.insert("attribute_order", Json::Array(order));
    }
    if !characters.is_empty() {
        record.insert("characters", Json::Array(characters));
    }
    if !kept.is_empty() {
        record.insert("attributes", Json::Object(kept));
    }
    Ok(out)
}

/// Records content that only the source format can represent.
pub(super) fn record_native(
    path: &NodePath,
    storage: &Storage,
    record: &mut Object,
    losses: &mut dyn Losses,
) {
    note_native(path, storage, losses);
    if let Some(json) = records::native_json(storage) {
        record.insert("native", json);
    }
}

/// Notes content that only the source format can represent.
pub(super) fn note_native(path: &NodePath, storage: &Storage, losses: &mut dyn Losses) {
    for (format, key, _) in content(storage) {
        losses.note(&NATIVE, path.to_string(), Some(format!("{format} directive {key}")));
    }
}

/// The string that readers see in place of one that is not UTF-8.
pub(in crate::format::zarr) fn text_of_bytes(datatype: &Datatype, value: &Values) -> Option<Json> {
    match Elements::new(datatype, value).next()?.get() {
        Element::Text(bytes) => Some(Json::from(&*String::from_utf8_lossy(bytes))),
        _ => None,
    }
}

fn is_single(attribute: &Attribute) -> bool {
    matches!(attribute.datatype.resolved(), Datatype::Float(Float::Single))
}

/// A single-precision number with all digits of the double to which readers convert it.
fn widened(json: Json) -> Json {
    let Json::Number(number) = json else { return json };
    let single: Option<f32> = number.as_str().parse().ok();
    let double = single.and_then(|single| Number::float(f64::from(single)));
    Json::Number(double.unwrap_or(number))
}

/// Notes the content of attributes that even a record does not keep.
pub(super) fn note_changed(path: &NodePath, attributes: &Attributes, losses: &mut dyn Losses) {
    for (name, attribute) in attributes {
        let place = || format!("{path}@{name}");
        match attribute {
            Ok(attribute) if records::has_named(&attribute.datatype) => {
                losses.note(&INNER_NAMED_TYPE, place(), None);
            }
            Ok(_) => {}
            Err(error) => losses.note(&UNREADABLE_ATTRIBUTE, place(), Some(error.reason.clone())),
        }
    }
}

/// The JSON of `_FillValue` for readers that would not otherwise treat the fill value as missing; `None` if they could
/// not read it.
///
/// # Errors
/// If NDL cannot express the value.
pub(super) fn missing(of: &DataType, datatype: &Arc<Datatype>, value: Values) -> Result<Option<Json>> {
    let attribute = Attribute::new(Vec::new(), Arc::clone(datatype), value);
    let recorded =
        records::attributes_json(&Attributes::from_iter([(FILL_VALUE.to_owned(), Ok(attribute.clone()))]))?;
    let json = match recorded.get(FILL_VALUE) {
        Some(Json::Object(recorded)) => recorded.get("value").cloned(),
        recorded => recorded.cloned(),
    };
    Ok(json.and_then(|json| fill_value(of, &attribute, &json).map(|coded| coded.unwrap_or(json))))
}

fn without_value(recorded: &Object) -> Object {
    recorded.iter().filter(|(key, _)| *key != "value").map(owned).collect()
}

fn owned((name, json): (&str, &Json)) -> (String, Json) {
    (name.to_owned(), json.clone())
}

/// Whether an attribute of this name has a special meaning to readers.
pub(in crate::format::zarr) fn is_reserved(name: &str) -> bool {
    name == record::MEMBER
        || name == record::ATTRIBUTE
        || name == dimensions::ATTRIBUTE
        || name == PROPERTIES
        || name.to_ascii_lowercase().starts_with("_nczarr_")
}

/// The JSON of an attribute that was read from Zarr JSON and is kept as text; `None` for other attributes.
fn of_json(attribute: &Attribute) -> Option<Json> {
    let is_one = attribute.shape.as_ref().is_some_and(Vec::is_empty);
    if !is_one || !lowering::is_json(&attribute.native) {
        return None;
    }
    let element = Elements::new(&attribute.datatype, &attribute.value).next()?;
    let Element::Text(text) = element.get() else { return None };
    json_of_text(text)
}

/// The value of an attribute in the JSON form from which zarr-python and xarray read the same numbers and strings: bare
/// NaN and infinities, all digits of doubles, booleans, complex numbers as pairs. Strings that are not UTF-8 contain
/// replacement characters, as in netCDF4.
fn shown(attribute: &Attribute, value: Json) -> Json {
    let datatype = attribute.datatype.resolved();
    let rank = attribute.shape.as_ref().map_or(0, Vec::len);
    match datatype {
        Datatype::Float(Float::Single) => each(value, rank, &|number| widened(word(number))),
        Datatype::Float(_) => each(value, rank, &word),
        Datatype::String(_) if value.as_object().is_some() => {
            text_of_bytes(&attribute.datatype, &attribute.value).unwrap_or(value)
        }
        of if is_boolean(of) => each(value, rank, &|name| match name.as_str() {
            Some("TRUE") => Json::Bool(true),
            Some("FALSE") => Json::Bool(false),
            _ => name,
        }),
        of if lowering::complex_part(of).is_some() => each(value, rank, &|number| match number {
            Json::Object(parts) => Json::Array(parts.iter().map(|(_, part)| word(part.clone())).collect()),
            Json::Array(parts) => Json::Array(parts.into_iter().map(word).collect()),
            other => other,
        }),
        _ => value,
    }
}

/// Changes the items of lists that are nested `rank` levels deep.
fn each(json: Json, rank: usize, change: &dyn Fn(Json) -> Json) -> Json {
    match json {
        Json::Array(items) if rank > 0 => {
            Json::Array(items.into_iter().map(|item| each(item, rank - 1, change)).collect())
        }
        item => change(item),
    }
}

/// A bare NaN or infinity for the string that NDL writes for it.
fn word(json: Json) -> Json {
    json.as_str().and_then(Number::of_word).map_or(json, Json::Number)
}

/// Whether JSON contains a bare NaN or infinity.
fn has_word(json: &Json) -> bool {
    match json {
        Json::Number(number) => number.is_word(),
        Json::Array(items) => items.iter().any(has_word),
        Json::Object(members) => members.iter().any(|(_, member)| has_word(member)),
        _ => false,
    }
}

/// Whether a recorded value appears as this JSON.
pub(in crate::format::zarr) fn is_shown_as(recorded: &Json, json: &Json) -> bool {
    match (recorded, json) {
        (Json::String(word), Json::Number(number)) => number.is_word() && number.as_str() == word.as_str(),
        (Json::String(name), Json::Bool(value)) => name.as_str() == if *value { "TRUE" } else { "FALSE" },
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_shown_as(one, other))
        }
        (Json::Object(parts), Json::Array(pair)) => {
            parts.len() == pair.len()
                && parts.iter().zip(pair).all(|((_, one), other)| is_shown_as(one, other))
        }
        (one, other) => one == other,
    }
}

/// Parses a string that contains JSON, as readers see it.
pub(in crate::format::zarr) fn json_of_text(text: &[u8]) -> Option<Json> {
    Json::parse_document(v2::ATTRIBUTES, text, &Limits::default()).ok()
}

/// Whether reading the JSON restores the attribute without a record.
fn reads_as(json: &Json, attribute: &Attribute) -> bool {
    attribute::attribute(json).is_ok_and(|read| {
        same(&read, attribute) && read.native.is_empty() != lowering::is_json(&attribute.native)
    })
}

fn same(read: &Attribute, attribute: &Attribute) -> bool {
    let elements = |of: &Attribute| Elements::new(&of.datatype, &of.value).len();
    read.shape == attribute.shape
        && read.datatype.same_content(&attribute.datatype)
        && elements(read) == elements(attribute)
        && Elements::new(&read.datatype, &read.value)
            .zip(Elements::new(&attribute.datatype, &attribute.value))
            .all(|(one, other)| one.same(other))
}

/// The NumPy name of a number type, without the byte order.
fn numpy(datatype: &Datatype) -> Option<&'static str> {
    Some(match datatype {
        Datatype::Int { bits: 8, signed: true } => "i1",
        Datatype::Int { bits: 8, signed: false } => "u1",
        Datatype::Int { bits: 16, signed: true } => "i2",
        Datatype::Int { bits: 16, signed: false } => "u2",
        Datatype::Int { bits: 32, signed: true } => "i4",
        Datatype::Int { bits: 32, signed: false } => "u4",
        Datatype::Int { bits: 64, signed: true } => "i8",
        Datatype::Int { bits: 64, signed: false } => "u8",
        Datatype::Float(Float::Single) => "f4",
        Datatype::Float(Float::Double) => "f8",
        _ => return None,
    })
}

fn integer(value: i128) -> Option<Json> {
    let signed = i64::try_from(value).ok().map(Number::integer);
    signed.or_else(|| u64::try_from(value).ok().map(Number::integer)).map(Json::Number)
}

/// The JSON of the attribute `_FillValue` as xarray reads it in version 3, depending on the data type of the array.
/// Floating-point numbers are the little-endian bytes of a double in base64. `Some(None)` if the JSON is the same as
/// for other attributes; `None` if it would prevent xarray from opening the store.
pub(in crate::format::zarr) fn fill_value(
    of: &DataType,
    attribute: &Attribute,
    json: &Json,
) -> Option<Option<Json>> {
    let coded = |value: f64| Json::from(base64::encode(&value.to_le_bytes()).as_str());
    let number = |element: Element<'_>| match element {
        Element::Float(value) => Some(value),
        Element::Int(value) => value.to_string().parse().ok(),
        _ => None,
    };
    let mut elements = Elements::new(&attribute.datatype, &attribute.value);
    let (first, is_one) = (elements.next()?.get(), elements.next().is_none());
    match of {
        // It already has the required form.
        DataType::Float(_) | DataType::Complex(_) if decoded(of, json).is_some() => Some(None),
        _ if !is_one => None,
        DataType::Float(_) => number(first).map(|value| Some(coded(value))),
        DataType::Complex(_) => {
            let Element::Complex(parts) = first else { return None };
            let [re, im] = *parts;
            Some(Some(Json::Array(vec![coded(number(re)?), coded(number(im)?)])))
        }
        // xarray truncates fractions, so different elements would be missing, and rejects NaN.
        DataType::Integer { .. } if matches!(first, Element::Float(value) if value.fract() != 0.0) => None,
        DataType::Integer { .. } if matches!(json, Json::Number(_)) => Some(None),
        // To xarray, a list of one number, as in HDF5, and a member of an enumeration are numbers.
        DataType::Integer { .. } => match first {
            Element::Int(value) | Element::Enum(value, _) => Some(Some(integer(value)?)),
            _ => None,
        },
        DataType::Bool => matches!(json, Json::Bool(_)).then_some(None),
        _ => None,
    }
}
