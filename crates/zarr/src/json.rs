//! Strict JSON without loss, for Zarr metadata.
//!
//! Numbers keep their digits, and objects keep the order of their members, so that a parsed document can be emitted
//! unchanged. Duplicate names in an object, a bare `NaN` and text that is not UTF-8 are errors. Only in attributes and
//! in fill values of version 2, a bare `NaN` or `Infinity` is accepted, because zarr-python and xarray write them.
//!
//! Spec: RFC 8259

mod emit;
mod members;
mod parse;
mod spot;

pub(crate) use parse::most_text;
pub(crate) use parse::text;
pub use spot::Deviation;
pub(crate) use spot::{Context, Spot};

use hyperslab_core::{Error, Limits, Result};
use members::Members;
use std::borrow::Cow;
use std::collections::HashSet;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number of any size and precision.
    Number(Number),
    /// A string, without its escapes.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object.
    Object(Object),
}

/// A number with its digits as written. In attributes it may be `NaN`, `Infinity` or `-Infinity`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(Box<str>);

/// Members in the order of the document. Names are unique.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(Members);

/// The name of a member. Names that are frequent in metadata take no memory of their own.
type Name = Cow<'static, str>;

impl Json {
    /// The name of this kind of value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Number(_) => "a number",
            Json::String(_) => "a string",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The object, if it is one.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Json::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The value with strings in place of NaN and infinities, as NDL writes them in JSON.
    #[must_use]
    pub fn with_words_as_strings(&self) -> Json {
        match self {
            Json::Number(number) if number.is_word() => number.as_str().into(),
            Json::Array(items) => Json::Array(items.iter().map(Json::with_words_as_strings).collect()),
            Json::Object(Object(members)) => {
                let member = |(name, value): &(Name, Json)| (name.clone(), value.with_words_as_strings());
                Json::Object(Object::of(members.list().iter().map(member).collect()))
            }
            other => other.clone(),
        }
    }

    pub(crate) fn object(&self, at: &Spot<'_>) -> Result<&Object> {
        self.as_object().ok_or_else(|| self.is_not("an object", at))
    }

    pub(crate) fn into_object(self, at: &Spot<'_>) -> Result<Object> {
        match self {
            Json::Object(object) => Ok(object),
            other => Err(other.is_not("an object", at)),
        }
    }

    pub(crate) fn array(&self, at: &Spot<'_>) -> Result<&[Json]> {
        match self {
            Json::Array(items) => Ok(items),
            _ => Err(self.is_not("an array", at)),
        }
    }

    pub(crate) fn text(&self, at: &Spot<'_>) -> Result<&str> {
        self.as_str().ok_or_else(|| self.is_not("a string", at))
    }

    pub(crate) fn boolean(&self, at: &Spot<'_>) -> Result<bool> {
        match self {
            Json::Bool(value) => Ok(*value),
            _ => Err(self.is_not("a boolean", at)),
        }
    }

    /// An integer from 0 to 2^64 - 1, written without fraction and exponent.
    pub(crate) fn unsigned(&self, at: &Spot<'_>) -> Result<u64> {
        let Json::Number(number) = self else { return Err(self.is_not("an unsigned integer", at)) };
        number
            .as_u64()
            .ok_or_else(|| at.malformed(format!("{number}, expected an integer from 0 to 2^64 - 1")))
    }

    /// An array of such integers.
    pub(crate) fn unsigned_array(&self, at: &Spot<'_>) -> Result<Vec<u64>> {
        self.array(at)?.iter().enumerate().map(|(i, item)| item.unsigned(&at.index(i))).collect()
    }

    pub(crate) fn is_not(&self, expected: &str, at: &Spot<'_>) -> Error {
        at.malformed(format!("{}, expected {expected}", self.kind()))
    }
}

impl Number {
    /// An integer.
    pub fn integer(value: impl Into<i128>) -> Number {
        Number(value.into().to_string().into())
    }

    /// Parses a number in JSON.
    ///
    /// # Errors
    /// If the text is not a number.
    pub fn of_digits(text: &str) -> Result<Number> {
        match Json::parse("a number", text.as_bytes(), &Limits::default())? {
            Json::Number(number) => Ok(number),
            other => Err(Error::invalid(format!("{}, expected a number", other.kind()))),
        }
    }

    /// A finite number. `None` for NaN and infinities.
    pub fn float(value: f64) -> Option<Number> {
        value.is_finite().then(|| Number(format!("{value:?}").into()))
    }

    /// NaN or an infinity by its word in Python: `NaN`, `Infinity`, `-Infinity`. `None` for any other text.
    pub fn of_word(word: &str) -> Option<Number> {
        WORDS.contains(&word).then(|| Number(word.into()))
    }

    /// The digits as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is `NaN`, `Infinity` or `-Infinity`.
    pub fn is_word(&self) -> bool {
        WORDS.contains(&self.as_str())
    }

    /// The value, if it is written without fraction and exponent and fits i128.
    pub fn as_integer(&self) -> Option<i128> {
        self.0.parse().ok()
    }

    /// The value, if it is written without fraction and exponent and is from 0 to 2^64 - 1.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_integer().and_then(|value| value.try_into().ok())
    }

    /// The nearest double, which may be infinite.
    pub fn as_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }
}

/// The words that Python's `json` writes for NaN and infinities.
pub(crate) const WORDS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Object {
    /// An object without members.
    pub fn new() -> Object {
        Object::default()
    }

    /// An object with these members.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if two have the same name.
    pub fn of_unique(members: Vec<(String, Json)>) -> Result<Object> {
        let mut names = HashSet::new();
        if let Some((name, _)) = members.iter().find(|(name, _)| !names.insert(name.as_str())) {
            return Err(Error::invalid(format!("duplicate name {name:?} in an object")));
        }
        Ok(Object::from_distinct(members.into_iter()))
    }

    /// An object with these members, whose names must be distinct. This is not checked.
    pub(crate) fn from_distinct(members: impl Iterator<Item = (String, Json)>) -> Object {
        Object::of(members.map(|(name, value)| (name.into(), value)).collect())
    }

    /// An object with these members, whose names are distinct.
    fn of(members: Vec<(Name, Json)>) -> Object {
        Object(Members::of(members))
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name)
    }

    /// Sets the value of `name`. A new member is added at the end.
    pub fn insert(&mut self, name: impl Into<String>, value: Json) {
        let name = name.into();
        match self.0.get_mut(&name) {
            Some(old) => *old = value,
            None => self.0.push(name.into(), value),
        }
    }

    /// The name and value of each member, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Json)> {
        self.0.list().iter().map(|(name, value)| (&**name, value))
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.list().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.list().is_empty()
    }

    /// Removes and returns the value of `name`.
    pub(crate) fn take(&mut self, name: &str) -> Option<Json> {
        self.0.remove(name)
    }

    pub(crate) fn take_required(&mut self, name: &str, at: &Spot<'_>) -> Result<Json> {
        self.take(name).ok_or_else(|| lacks(name, at))
    }

    pub(crate) fn required(&self, name: &str, at: &Spot<'_>) -> Result<&Json> {
        self.get(name).ok_or_else(|| lacks(name, at))
    }

    /// The members that `known` does not name.
    pub(crate) fn others(&self, known: &[&str]) -> Object {
        self.others_than(&[known])
    }

    /// The members whose names are not in any list of `known`.
    pub(crate) fn others_than(&self, known: &[&[&str]]) -> Object {
        let is_known = |name: &str| known.iter().any(|known| known.contains(&name));
        Object::of(self.0.list().iter().filter(|(name, _)| !is_known(name)).cloned().collect())
    }
}

#[cold]
fn lacks(name: &str, at: &Spot<'_>) -> Error {
    at.malformed(format!("no {name:?}"))
}

impl FromIterator<(String, Json)> for Object {
    /// If members have equal names, the last one counts.
    fn from_iter<T: IntoIterator<Item = (String, Json)>>(members: T) -> Object {
        let mut object = Object::new();
        for (name, value) in members {
            object.insert(name, value);
        }
        object
    }
}

impl IntoIterator for Object {
    type Item = (String, Json);
    type IntoIter = std::iter::Map<std::vec::IntoIter<(Name, Json)>, fn((Name, Json)) -> (String, Json)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_list().into_iter().map(|(name, value)| (name.into_owned(), value))
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::String(text.to_owned())
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Json {
        Json::Number(Number::integer(value))
    }
}

impl From<&[u64]> for Json {
    fn from(values: &[u64]) -> Json {
        Json::Array(values.iter().map(|value| Json::from(*value)).collect())
    }
}
