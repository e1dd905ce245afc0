//! Fields that conditions compare, and the meaning of values for them.

use super::super::super::datatype::data_type;
use crate::editor::Dates;
use crate::location::nearest;
use hyperslab_core::{Error, Result};
use hyperslab_model::Datatype;
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::delete_condition::{Comparison, Operator};
use hyperslab_tiledb::write::delete::Condition;
use hyperslab_tiledb::write::dense::integer;

/// An attribute or a dimension.
pub(super) struct Field {
    /// The name in the schema.
    pub(super) stored: Vec<u8>,
    /// The name under which it is shown.
    pub(super) shown: String,
    pub(super) data_type: DataType,
    pub(super) enumeration: Option<Values>,
}

/// The values of an enumeration.
pub(super) struct Values {
    pub(super) are_texts: bool,
    pub(super) values: Vec<Vec<u8>>,
}

/// A value as it is typed.
pub(super) enum Word<'t> {
    /// In quotes, which are removed.
    Quoted(String),
    Bare(&'t str),
}

/// The meaning of a value for its field.
pub(super) enum Meaning {
    /// One value.
    Value(Vec<u8>),
    /// All counts of a period of time: the first one within it, and the first one after it.
    Period(i128, i128),
}

impl Field {
    /// A value that stands alone, for which quotes are not needed.
    pub(super) fn word<'t>(&self, text: &'t str) -> Word<'t> {
        match self.data_type.is_text() {
            true => Word::Quoted(text.to_owned()),
            false => Word::Bare(text),
        }
    }

    pub(super) fn new(stored: &[u8], data_type: DataType, enumeration: Option<Values>) -> Field {
        let shown = crate::strings::member_name(stored);
        Field { stored: stored.to_vec(), shown, data_type, enumeration }
    }

    /// The meaning of a word for a field.
    pub(super) fn meaning(&self, word: &Word<'_>, dates: &Dates<'_>) -> Result<Meaning> {
        let (shown, data_type) = (&self.shown, self.data_type);
        let wrong = |expected: &str| {
            let found = match word {
                Word::Quoted(text) => format!("the string {text:?}"),
                Word::Bare(word) => (*word).to_owned(),
            };
            Error::invalid(format!("{found} for {shown}, expected {expected}"))
        };
        // An error that TileDB does not compare with null is raised where the condition is built.
        if let Word::Bare("null") = word {
            return Ok(Meaning::Value(Vec::new()));
        }
        if let Some(enumeration) = &self.enumeration {
            return position(self, enumeration, word).map(Meaning::Value);
        }
        let bytes = match (data_type, word) {
            (of, Word::Quoted(text)) if of.is_text() => text.clone().into_bytes(),
            (of, Word::Bare(word)) if of.is_text() => {
                return Err(wrong("a string in quotes").with_hint(format_args!("write \"{word}\"")));
            }
            (DataType::Float32, Word::Bare(word)) => {
                let number: f32 =
                    word.parse().ok().filter(|n: &f32| !n.is_nan()).ok_or_else(|| wrong("a number"))?;
                number.to_le_bytes().to_vec()
            }
            (DataType::Float64, Word::Bare(word)) => {
                let number: f64 =
                    word.parse().ok().filter(|n: &f64| !n.is_nan()).ok_or_else(|| wrong("a number"))?;
                number.to_le_bytes().to_vec()
            }
            (DataType::Bool, Word::Bare("true" | "1")) => vec![1],
            (DataType::Bool, Word::Bare("false" | "0")) => vec![0],
            (DataType::Bool, _) => return Err(wrong("true or false")),
            (DataType::Blob, Word::Bare(word)) => {
                hexadecimal(word).ok_or_else(|| wrong("bytes such as 0x00ff"))?
            }
            (of, Word::Bare(word)) if word.parse::<i128>().is_ok() => {
                let number = word.parse().map_err(|_| wrong("a whole number"))?;
                integer(of, number).map_err(|_| wrong(&format!("a number that {} holds", of.name())))?
            }
            (of, word) if of.is_datetime() => {
                let text = match word {
                    Word::Quoted(text) => text.as_str(),
                    Word::Bare(word) => word,
                };
                return period_of(of, text, dates)
                    .map_err(|_| wrong("a date such as 2026-03-01T06:00, or a number"));
            }
            _ => return Err(wrong(&format!("a whole number, of {}", data_type.name()))),
        };
        Ok(Meaning::Value(bytes))
    }

    pub(super) fn is(&self, operator: Operator, value: Vec<u8>) -> Condition {
        let field = self.stored.clone();
        Condition::Is(Comparison { operator, field, value, offsets: Vec::new() })
    }
}

/// The position of a value of an enumeration, which is stored in cells. A number is the position itself.
fn position(field: &Field, enumeration: &Values, word: &Word<'_>) -> Result<Vec<u8>> {
    let Values { are_texts, values } = enumeration;
    let shown = &field.shown;
    let found = match word {
        Word::Quoted(text) if *are_texts => {
            values.iter().position(|value| value == text.as_bytes()).ok_or_else(|| {
                let known: Vec<_> = values.iter().map(|value| String::from_utf8_lossy(value)).collect();
                let error =
                    Error::invalid(format!("{text:?}, which is not a value of the enumeration of {shown}"));
                match nearest(text, known.iter().map(AsRef::as_ref)) {
                    Some(near) => error.with_hint(format_args!("did you mean {near:?}?")),
                    None => error,
                }
            })?
        }
        Word::Quoted(text) => {
            let detail =
                format!("the string {text:?} for {shown}, expected the position of a value, counted from 0");
            return Err(Error::invalid(detail));
        }
        Word::Bare(word) => {
            let count = values.len();
            let position = word.parse().ok().filter(|position| *position < count);
            position.ok_or_else(|| {
                let what =
                    if *are_texts { "a value in quotes, or its position" } else { "the position of a value" };
                Error::invalid(format!("{word} for {shown}, expected {what} among {count}"))
            })?
        }
    };
    integer(field.data_type, i128::try_from(found).unwrap_or(i128::MAX))
}

/// The counts that a date represents.
fn period_of(of: DataType, text: &str, dates: &Dates<'_>) -> Result<Meaning> {
    let (Datatype::Datetime(unit), _) = data_type(of, CellValNum::ONE) else {
        return Err(Error::invalid("no date"));
    };
    let counts = dates(&unit, text)?;
    Ok(Meaning::Period(counts.start, counts.end))
}

/// The bytes of a text that begins with `0x`.
fn hexadecimal(word: &str) -> Option<Vec<u8>> {
    let digits =
        word.strip_prefix("0x").filter(|digits| !digits.is_empty() && digits.len().is_multiple_of(2))?;
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.as_bytes().chunks(2).map(byte).collect()
}
