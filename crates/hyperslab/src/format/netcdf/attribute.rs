//! Attributes of the model as NetCDF represents them: one-dimensional lists and text.

use super::array::changed;
use super::characters;
use super::datatype::{Change, LoweredType, Types, variable};
use super::lowerings::{
    ATTRIBUTE_BOOLEAN, ATTRIBUTE_EMPTY, ATTRIBUTE_NUL, ATTRIBUTE_OPAQUE, ATTRIBUTE_SHAPE, ATTRIBUTE_TYPE,
    BOOLEAN, DOCUMENT, RESERVED,
};
use super::name;
use super::record::{self, Names};
use crate::target::Losses;
use hyperslab_core::Result;
use hyperslab_core::rows::Heap;
use hyperslab_model::{
    Attribute, Attributes, CharacterSet, Datatype, Element, Elements, Length, NodePath, Text, Values,
};
use hyperslab_netcdf4::name::FILL_VALUE;
use hyperslab_netcdf4::rules::is_reserved;
use std::sync::Arc;

/// The attributes of an object. Unreadable attributes are noted with the object. The original names of renamed
/// attributes are added to `originals`.
pub(in crate::format) fn attributes(
    path: &NodePath,
    of: &Attributes,
    types: &mut Types<'_>,
    originals: &mut Names,
    losses: &mut dyn Losses,
) -> Result<Attributes> {
    let mut lowered = Attributes::new();
    for (own, attribute) in of {
        let place = || format!("{path}@{own}");
        if types.flavour.is_hdf5() && is_reserved(own) || own == record::ATTRIBUTE {
            losses.note(&RESERVED, place(), None);
            continue;
        }
        let (name, forbidden) = name::stored(own, types.flavour);
        if let Some(forbidden) = forbidden {
            losses.note(forbidden, place(), None);
        }
        if lowered.contains_key(&*name) {
            let detail = format!("attribute whose name becomes {name:?}, which another one already has");
            losses.note(&ATTRIBUTE_TYPE, place(), Some(detail));
            continue;
        }
        let mut insert = |attribute| {
            if name != *own {
                originals.insert(name.clone().into_owned(), own.clone());
            }
            lowered.insert(name.clone().into_owned(), attribute);
        };
        let Ok(attribute) = attribute else {
            insert(attribute.clone());
            continue;
        };
        if !attribute.native.is_empty() {
            losses.note(&DOCUMENT, place(), None);
        }
        // The value that marks missing elements has the type of the elements.
        let is_fill = *own == FILL_VALUE;
        let mut types = Types {
            user: &mut *types.user,
            is_small: if is_fill { types.is_small } else { are_small(attribute) },
            is_explained: is_fill,
            ..*types
        };
        match self::attribute(attribute, &mut types, &mut |note| losses.note(note, place(), None)) {
            Ok(attribute) => insert(Ok(attribute)),
            Err(error) => {
                losses.note(&ATTRIBUTE_TYPE, place(), Some(format!("attribute of {}", error.detail())));
            }
        }
    }
    Ok(lowered)
}

/// Whether all values are integers that fit into 32 bits.
pub(in crate::format) fn are_small(of: &Attribute) -> bool {
    Elements::new(&of.datatype, &of.value).all(|element| is_small(&element.get()))
}

fn is_small(element: &Element<'_>) -> bool {
    match element {
        Element::Int(number) | Element::Enum(number, _) => i32::try_from(*number).is_ok(),
        Element::Array(elements, _) => elements.clone().all(|element| is_small(&element.get())),
        _ => false,
    }
}

/// One attribute.
fn attribute(
    of: &Attribute,
    types: &mut Types<'_>,
    note: &mut dyn FnMut(&'static crate::target::Lowered),
) -> Result<Attribute> {
    if of.shape.as_ref().is_some_and(|shape| shape.len() > 1) {
        note(&ATTRIBUTE_SHAPE);
    }
    let elements = Elements::new(&of.datatype, &of.value);
    let count = elements.len();
    let is_text = matches!(of.datatype.resolved(), Datatype::String(Text::Fixed { .. }));
    if of.shape.is_none() || is_text && count == 0 {
        note(&ATTRIBUTE_EMPTY);
    }
    if let Datatype::String(text) = of.datatype.resolved() {
        if elements.clone().any(|text| has_nul(&text.get())) {
            note(&ATTRIBUTE_NUL);
        }
        return self::text(of, *text, count, types);
    }
    if let (Datatype::Opaque { size, .. }, true) = (&*of.datatype, types.flavour.is_hdf5()) {
        note(&ATTRIBUTE_OPAQUE);
        let shape = Some(vec![(count as u64).saturating_mul((*size).into())]);
        let bytes = Attribute { shape, datatype: Arc::new(Datatype::int(8, false)), ..of.clone() };
        return attribute(&bytes, types, note);
    }
    let lowered = types.of_elements(&of.datatype, &of.storage)?;
    for own in &lowered.notes {
        // NetCDF readers recognise such types of arrays by conventions in attributes, but not such types of attributes.
        note(if std::ptr::eq(*own, &raw const BOOLEAN) { &ATTRIBUTE_BOOLEAN } else { own });
    }
    let LoweredType { datatype, storage, inner, change, .. } = lowered;
    let value = changed(change, &of.datatype, &of.value)?;
    let count = inner.iter().fold(count as u64, |count, extent| count.saturating_mul(*extent));
    let shape = (count > 0).then(|| vec![count]);
    Ok(Attribute { shape, datatype, value, storage, native: Vec::new() })
}

/// Whether a string contains a NUL before its end; most programs end it there.
fn has_nul(text: &Element<'_>) -> bool {
    let Element::Text(bytes) = text else { return false };
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    bytes.get(..end).is_some_and(|bytes| bytes.contains(&0))
}

/// A single string becomes characters, unless it was stored with variable length; otherwise all become variable-length
/// strings.
fn text(of: &Attribute, text: Text, count: usize, types: &Types<'_>) -> Result<Attribute> {
    let mut texts = Elements::new(&of.datatype, &of.value).filter_map(|text| match text.get() {
        Element::Text(text) => Some(text),
        _ => None,
    });
    let only = if count == 1 { texts.next() } else { None };
    let is_classic = !types.flavour.is_enhanced();
    let is_variable = text == Text::Variable;
    let is_stored_so = is_variable && of.storage.length == Some(Length::Variable);
    match only {
        Some(text) if !is_stored_so || is_classic => {
            // For fixed-length strings, NetCDF stores the padding as well.
            let rows = match (is_variable, of.storage.charset) {
                (false, Some(CharacterSet::Ascii | CharacterSet::Utf8) | None) => of.value.rows.to_vec(),
                _ => text.to_vec(),
            };
            Ok(characters_of(rows))
        }
        None if count == 0 && !is_variable => Ok(characters_of(Vec::new())),
        _ if is_classic => Err(types.flavour.without("lists of strings")),
        _ => texts_of(of, text, count),
    }
}

/// The attribute as variable-length strings.
fn texts_of(of: &Attribute, text: Text, count: usize) -> Result<Attribute> {
    let value = match text {
        Text::Variable => of.value.clone(),
        Text::Fixed { .. } => changed(Change::ToTexts, &of.datatype, &of.value)?,
    };
    Ok(Attribute {
        shape: (count > 0).then(|| vec![count as u64]),
        datatype: Arc::new(Datatype::String(Text::Variable)),
        value,
        storage: variable(of.storage.charset),
        native: Vec::new(),
    })
}

/// The value that marks missing variable-length strings: a string of the same type rather than characters. `None` if it
/// is not a string.
pub(in crate::format) fn missing_text(of: &Attribute) -> Result<Option<Attribute>> {
    let Datatype::String(text) = of.datatype.resolved() else { return Ok(None) };
    let count = Elements::new(&of.datatype, &of.value).len();
    texts_of(of, *text, count).map(Some)
}

/// A string of characters. The library stores an empty one without any element.
pub(in crate::format) fn characters_of(rows: Vec<u8>) -> Attribute {
    let is_empty = rows.is_empty() || rows == [0];
    let rows = if is_empty { vec![0] } else { rows };
    let (datatype, storage) = characters(u32::try_from(rows.len()).unwrap_or(u32::MAX));
    let value = match is_empty {
        true => Values::default(),
        false => Values { rows: rows.into(), heap: Heap::default() },
    };
    let shape = (!is_empty).then(Vec::new);
    Attribute { shape, datatype: Arc::new(datatype), value, storage, native: Vec::new() }
}

/// A list of 32-bit integers, or a single one.
pub(in crate::format) fn integers(of: &[i32], is_scalar: bool) -> Attribute {
    let rows: Vec<u8> = of.iter().flat_map(|number| number.to_ne_bytes()).collect();
    Attribute::new(
        if is_scalar { Vec::new() } else { vec![of.len() as u64] },
        Arc::new(Datatype::int(32, true)),
        Values { rows: rows.into(), heap: Heap::default() },
    )
}
