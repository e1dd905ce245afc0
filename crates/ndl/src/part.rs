//! Parts of documents as JSON values, for formats that use JSON to record content that they do not support.
//!
//! A datatype, attributes or a member of a group becomes the [`Value`] that corresponds to the same part of a JSON
//! document, and can be read back from it. No text is written or parsed.

use crate::element::EXACT;
use crate::extensions::Extensions;
use crate::lower::{self, Lower};
use crate::number;
pub use crate::parse::{elements, read_group, read_link, read_storage};
use crate::tree::{Entries, Key, Rows, Scalar, Tree};
use crate::{Options, StorageDetail};
use hyperslab_core::Result;
use hyperslab_model::{Attributes, Datatype, DimCoord, ElementRef, Link, NamedDatatype, NodePath, Storage};
use std::collections::HashMap;

/// A value of JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as written.
    Number(String),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Value>),
    /// An object. Names are unique.
    Map(Vec<(String, Value)>),
}

/// A datatype as in `datatypes` of a group, with this much of its storage; `None` where NDL has no place for it.
///
/// # Errors
/// If NDL cannot express it.
pub fn datatype(datatype: &NamedDatatype, detail: StorageDetail) -> Result<Option<Value>> {
    let dimcoords = HashMap::new();
    let mut lower = Lower { detail, ..lowering(&dimcoords) };
    Ok(lower.named(datatype)?.as_ref().map(value))
}

/// A dimension coordinate as in `dimcoords` of a group, with all of its storage; `None` where NDL has no place for it.
///
/// # Errors
/// If NDL cannot express it.
pub fn dimcoord(dimcoord: &DimCoord) -> Result<Option<Value>> {
    let dimcoords = HashMap::new();
    let mut lower = Lower { detail: StorageDetail::Full, ..lowering(&dimcoords) };
    Ok(lower.dimcoord(dimcoord)?.as_ref().map(value))
}

/// A link as in `links` of a group.
pub fn link(link: &Link) -> Option<Value> {
    let dimcoords = HashMap::new();
    lowering(&dimcoords).link(link).as_ref().map(value)
}

/// Attributes as in a group or an array: each an object of shape, type, value and all of its storage.
///
/// # Errors
/// If NDL cannot express one of them; the error names it.
pub fn attributes(attributes: &Attributes) -> Result<Vec<(String, Value)>> {
    let dimcoords = HashMap::new();
    let mut lower = Lower { detail: StorageDetail::Full, ..lowering(&dimcoords) };
    Ok(entries(&lower.attributes(attributes)?))
}

/// All directives of a storage, as in an array of this type or a group.
///
/// # Errors
/// If NDL cannot express the fill value.
pub fn storage(storage: &Storage, datatype: Option<&Datatype>) -> Result<Vec<(String, Value)>> {
    let dimcoords = HashMap::new();
    let mut lower = Lower { detail: StorageDetail::Full, ..lowering(&dimcoords) };
    Ok(entries(&lower.storage(None, storage, datatype)?))
}

/// An element as in documents, with every bit of NaNs.
///
/// ```
/// use hyperslab_model::{Datatype, Elements, Values};
/// use hyperslab_ndl::part::{Value, element};
///
/// let datatype = Datatype::int(8, true);
/// let values = Values { rows: vec![255].into(), ..Values::default() };
/// let found: Vec<Value> = Elements::new(&datatype, &values).map(element).collect();
/// assert_eq!(found, [Value::Number("-1".into())]);
/// ```
pub fn element(of: ElementRef<'_>) -> Value {
    value(&lower::element(of, EXACT))
}

fn lowering(dimcoords: &HashMap<NodePath, bool>) -> Lower<'_> {
    let Options { pure, texts_are_characters, .. } = Options::default();
    Lower {
        dimcoords,
        detail: StorageDetail::default(),
        pure,
        texts_are_characters,
        long: true,
        extensions: Extensions::default(),
        changes: Vec::new(),
    }
}

fn entries(of: &Entries<'_>) -> Vec<(String, Value)> {
    let entry = |(key, tree): &(Key<'_>, Tree<'_>)| {
        let (Key::Word(name) | Key::Name(name)) = *key;
        (name.to_owned(), value(tree))
    };
    of.iter().map(entry).collect()
}

/// The value that the same tree has in a JSON document.
fn value(tree: &Tree<'_>) -> Value {
    match tree {
        Tree::Scalar(one) => scalar(one),
        Tree::List(_, items) => Value::List(items.iter().map(value).collect()),
        Tree::Map(_, of) => Value::Map(entries(of)),
        Tree::Rows(of) => rows(of),
        Tree::Table(table) => Value::List(table.rows().map(|row| value(&row)).collect()),
    }
}

fn rows(of: &Rows<'_>) -> Value {
    Value::List(of.items().map(|item| value(&item)).collect())
}

fn scalar(of: &Scalar<'_>) -> Value {
    let digits = |bytes: &mut dyn Iterator<Item = &u8>| {
        let mut text = String::from("0x");
        number::hex(&mut text, bytes);
        Value::Text(text)
    };
    match of {
        Scalar::Null => Value::Null,
        Scalar::Bool(value) => Value::Bool(*value),
        Scalar::Int(value) => Value::Number(value.to_string()),
        Scalar::Number(of) => {
            let mut text = String::new();
            number::float(&mut text, *of, ["NaN", "Infinity", "-Infinity"]);
            // JSON has no such numbers.
            if text.ends_with(|last: char| last.is_ascii_digit()) {
                Value::Number(text)
            } else {
                Value::Text(text)
            }
        }
        Scalar::Text(text) => Value::Text(text.to_string()),
        Scalar::Bits(bytes) => digits(&mut bytes.iter().rev()),
        Scalar::Hex(bytes) => digits(&mut bytes.iter()),
        Scalar::Bytes(bytes) => Value::Map(vec![("x-bytes".to_owned(), digits(&mut bytes.iter()))]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_core::rows::Packed;
    use hyperslab_model::{Attribute, Datatype, Elements, Float, Node, Text, Values};
    use std::sync::Arc;

    fn attribute(datatype: Datatype, value: Values, count: u64) -> Attribute {
        let (storage, native) = Default::default();
        Attribute { shape: Some(vec![count]), datatype: Arc::new(datatype), value, storage, native }
    }

    fn doubles(numbers: &[f64]) -> Values {
        let rows: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        Values { rows: rows.into(), ..Values::default() }
    }

    #[test]
    fn attributes_round_trip_through_values() {
        let mut texts = Packed::default();
        for text in ["", "a \"b\" \u{1}\n", "0x10", "null", "\u{1f600}"] {
            texts.push(text.as_bytes()).unwrap();
        }
        let numbers = [1.0, -0.0, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        let attributes: Attributes = [
            ("texts".to_owned(), Ok(attribute(Datatype::String(Text::Variable), texts.finish(), 5))),
            ("numbers".to_owned(), Ok(attribute(Datatype::Float(Float::Double), doubles(&numbers), 6))),
        ]
        .into_iter()
        .collect();
        let values = super::attributes(&attributes).unwrap();
        let group = Value::Map(vec![("attributes".to_owned(), Value::Map(values))]);
        let read = read_group(group).unwrap();
        let [(path, Node::Group(group))] = read.as_slice() else { panic!("{read:?}") };
        assert!(path.is_root());
        assert_eq!(group.attributes.len(), attributes.len());
        for (name, attribute) in &attributes {
            let (one, other) = (attribute.as_ref().unwrap(), group.attributes[name].as_ref().unwrap());
            assert_eq!((&one.shape, &one.datatype), (&other.shape, &other.datatype), "{name}");
            let elements = |of| Elements::new(&one.datatype, of).collect::<Vec<_>>();
            let pairs = elements(&one.value).into_iter().zip(elements(&other.value));
            assert_eq!(
                pairs.filter(|(one, other)| one.same(*other)).count(),
                Elements::new(&one.datatype, &one.value).len(),
                "{name}"
            );
        }
    }

    #[test]
    fn values_equal_the_json_document() {
        let of = |numbers: &[f64]| {
            let values = doubles(numbers);
            Elements::new(&Datatype::Float(Float::Double), &values).map(element).collect::<Vec<_>>()
        };
        let number = |text: &str| Value::Number(text.to_owned());
        assert_eq!(of(&[1.0, 1e20]), [number("1.0"), number("1.0e+20")]);
        assert_eq!(
            of(&[f64::NAN, f64::NEG_INFINITY]),
            [Value::Text("NaN".into()), Value::Text("-Infinity".into())]
        );
    }

    #[test]
    fn rejects_elements_of_another_type_and_groups_with_errors() {
        let items = [Value::Number("1".into()), Value::Text("x".into())];
        assert!(elements(&items, &Datatype::int(8, true)).is_err());
        assert_eq!(*elements(&items[..1], &Datatype::int(8, true)).unwrap().rows, [1]);
        let wrong = Value::Map(vec![("dimcoords".to_owned(), Value::Text("x".into()))]);
        assert!(read_group(wrong).is_err());
    }

    #[test]
    fn rejects_values_of_too_many_levels() {
        let deep = (0..200).fold(Value::Null, |inner, _| Value::List(vec![inner]));
        assert!(elements(&[deep], &Datatype::int(8, true)).unwrap_err().to_string().contains("levels"));
    }
}
