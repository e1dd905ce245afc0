//! Attributes with decoded values.

use crate::number::Number;
use hyperslab_model::{self as model, Attributes, Datatype, Element, Elements};
use indexmap::IndexMap;

/// An attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The datatype of its values; `None` if they cannot be read.
    pub datatype: Option<Datatype>,
    /// Its values.
    pub value: Value,
}

/// The values of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// One string. Bytes that are not UTF-8 are replaced; strings that contain such bytes are [`Value::NotUtf8`].
    Text(String),
    /// No string, or several.
    Texts(Vec<String>),
    /// A string that is not UTF-8, as far as it can be shown.
    NotUtf8(String),
    /// Numbers. For enumerations, their integers.
    Numbers(Vec<Number>),
    /// Values that no CF attribute has: compounds, references, nothing at all.
    Other,
}

impl Attribute {
    /// The attributes of an object.
    pub(super) fn all(attributes: &Attributes) -> IndexMap<String, Attribute> {
        let decoded = attributes.iter().map(|(name, attribute)| {
            let attribute = match attribute {
                Ok(attribute) => Attribute::of(attribute),
                Err(_) => Attribute { datatype: None, value: Value::Other },
            };
            (name.clone(), attribute)
        });
        decoded.collect()
    }

    fn of(attribute: &model::Attribute) -> Attribute {
        let datatype = attribute.datatype.non_null().resolved();
        let elements = Elements::new(&attribute.datatype, &attribute.value);
        Attribute { value: value_of(datatype, elements), datatype: Some(datatype.clone()) }
    }

    /// The string without surrounding white space; `None` if it is not a single string.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text.trim()),
            _ => None,
        }
    }

    /// The numbers; `None` if the values are not numbers.
    pub fn numbers(&self) -> Option<&[Number]> {
        match &self.value {
            Value::Numbers(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// Whether it has strings.
    pub fn is_text(&self) -> bool {
        matches!(self.value, Value::Text(_) | Value::Texts(_) | Value::NotUtf8(_))
    }

    /// The name of the datatype, for messages.
    pub fn type_name(&self) -> String {
        match (&self.value, &self.datatype) {
            (Value::Text(_) | Value::NotUtf8(_), _) => "a text".to_owned(),
            (Value::Texts(texts), _) => format!("{} strings", texts.len()),
            (_, Some(datatype)) => datatype.to_string(),
            (_, None) => "unreadable".to_owned(),
        }
    }
}

fn value_of(datatype: &Datatype, elements: Elements<'_>) -> Value {
    match datatype {
        // In the classic formats, the strings of attributes are arrays of characters.
        Datatype::String(text) if is_char(text) => {
            let bytes: Vec<u8> = elements.flat_map(|element| bytes_of(&element.get())).collect();
            single(&bytes)
        }
        Datatype::String(_) => {
            let texts: Vec<Vec<u8>> = elements.map(|element| bytes_of(&element.get())).collect();
            match texts.as_slice() {
                [one] => single(one),
                many => {
                    Value::Texts(many.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect())
                }
            }
        }
        _ => {
            let numbers: Option<Vec<Number>> = elements.map(|element| Number::of(&element.get())).collect();
            match numbers {
                Some(numbers) => Value::Numbers(numbers),
                None => Value::Other,
            }
        }
    }
}

fn is_char(text: &model::Text) -> bool {
    matches!(text, model::Text::Fixed { len: 1, .. })
}

fn bytes_of(element: &Element<'_>) -> Vec<u8> {
    match element {
        Element::Text(bytes) => bytes.to_vec(),
        _ => Vec::new(),
    }
}

fn single(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::Text(text.trim_end_matches('\0').to_owned()),
        Err(_) => Value::NotUtf8(String::from_utf8_lossy(bytes).into_owned()),
    }
}
