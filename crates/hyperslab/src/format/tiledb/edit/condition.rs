//! Conditions of deletes as a user types them: `x >= 20 and (s == "a" or y in [1, 2])`.
//!
//! ```text
//! condition  = all { "or" all }
//! all        = one { "and" one }
//! one        = "not" one | "(" condition ")" | comparison
//! comparison = FIELD ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) VALUE
//!            | FIELD [ "not" ] "in" "[" VALUE { "," VALUE } "]"
//! ```
//!
//! A field is the name of an attribute or a dimension, in backticks if it has characters other than letters, digits,
//! `_`, `.` and `-`. A value has the type of its field: a number, a string in quotes, a date, `true`. The history of a
//! store shows the conditions of its deletes in a form that can be typed again.

mod field;

use crate::editor::Dates;
use crate::location::nearest;
use field::{Field, Meaning, Values, Word};
use hyperslab_core::{Error, Result};
use hyperslab_tiledb::array::Array;
use hyperslab_tiledb::format::data_type::DataType;
use hyperslab_tiledb::format::delete_condition::{Comparison, Operator};
use hyperslab_tiledb::format::fragment_metadata::mbr::Range;
use hyperslab_tiledb::write::delete::Condition;
use hyperslab_tiledb::write::dense::integer;

/// The fields that a condition can name.
pub(super) struct Fields(Vec<Field>);

impl Fields {
    /// The fields of an array.
    ///
    /// # Errors
    /// If an enumeration cannot be read.
    pub(super) fn of(array: &Array) -> Result<Fields> {
        let mut fields = Vec::new();
        for dimension in array.dimensions() {
            fields.push(Field::new(&dimension.name, dimension.data_type, None));
        }
        for attribute in array.attributes() {
            let enumeration = match &attribute.enumeration {
                Some(name) => {
                    let found = array.enumeration(name)?;
                    let values = found.values().map(|values| values.map(<[u8]>::to_vec).collect());
                    Some(Values { are_texts: found.data_type.is_text(), values: values.unwrap_or_default() })
                }
                None => None,
            };
            fields.push(Field::new(&attribute.name, attribute.data_type, enumeration));
        }
        Ok(Fields(fields))
    }

    /// The range of coordinates of a dimension between two texts, including both ends.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if one of the texts is not a coordinate.
    pub(super) fn range(
        &self,
        dimension: usize,
        (low, high): (&str, &str),
        dates: &Dates<'_>,
    ) -> Result<Range> {
        let none = || Error::invalid(format!("dimension {dimension}, which the array does not have"));
        let field = self.0.get(dimension).ok_or_else(none)?;
        let end = |text: &str, is_last: bool| match field.meaning(&field.word(text), dates)? {
            Meaning::Value(value) => Ok(value),
            Meaning::Period(first, behind) => {
                integer(field.data_type, if is_last { behind.saturating_sub(1) } else { first })
            }
        };
        Ok(Range { min: end(low, false)?, max: end(high, true)? })
    }

    /// Values of a datatype in their stored form.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if one of the texts is not a value.
    pub(super) fn values(data_type: DataType, texts: &[String], dates: &Dates<'_>) -> Result<Vec<Vec<u8>>> {
        let field = Field::new(b"the enumeration", data_type, None);
        let value = |text: &String| match field.meaning(&field.word(text), dates)? {
            Meaning::Value(value) => Ok(value),
            Meaning::Period(first, _) => integer(data_type, first),
        };
        texts.iter().map(value).collect()
    }

    /// Parses a condition.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) with the position in the text, and with a
    /// similar name of a field.
    pub(super) fn condition(&self, text: &str, dates: &Dates<'_>) -> Result<Condition> {
        let mut parser = Parser { fields: self, dates, text, at: 0, depth: 0 };
        let condition = parser.any()?;
        parser.skip_spaces();
        match parser.rest().is_empty() {
            true => Ok(condition),
            false => Err(parser.expected("and, or, or the end")),
        }
    }
}

struct Parser<'t> {
    fields: &'t Fields,
    dates: &'t Dates<'t>,
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn any(&mut self) -> Result<Condition> {
        let first = self.all()?;
        let mut operands = vec![first];
        while self.takes_word("or") {
            operands.push(self.all()?);
        }
        Ok(combined(operands, Condition::Any))
    }

    fn all(&mut self) -> Result<Condition> {
        let first = self.one()?;
        let mut operands = vec![first];
        while self.takes_word("and") {
            operands.push(self.one()?);
        }
        Ok(combined(operands, Condition::All))
    }

    fn one(&mut self) -> Result<Condition> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(format!("conditions nested more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        let found = if self.takes_word("not") {
            Condition::Not(Box::new(self.one()?))
        } else if self.takes("(") {
            let within = self.any()?;
            match self.takes(")") {
                true => within,
                false => return Err(self.expected("and, or, or a closing bracket")),
            }
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(found)
    }

    fn comparison(&mut self) -> Result<Condition> {
        let field = self.field()?;
        let is_not = self.takes_word("not");
        if self.takes_word("in") {
            let operator = if is_not { Operator::NotIn } else { Operator::In };
            return self.set(field, operator);
        }
        if is_not {
            return Err(self.expected("in"));
        }
        let known = [
            ("<=", Operator::Le),
            (">=", Operator::Ge),
            ("==", Operator::Eq),
            ("!=", Operator::Ne),
            ("<", Operator::Lt),
            (">", Operator::Gt),
        ];
        let Some((_, operator)) = known.into_iter().find(|(word, _)| self.takes(word)) else {
            let error = self.expected("<, <=, >, >=, ==, !=, in or not in");
            return Err(match self.rest().starts_with('=') {
                true => error.with_hint("write == for equal"),
                false => error,
            });
        };
        Ok(match self.value(field)? {
            Meaning::Value(value) => field.is(operator, value),
            Meaning::Period(first, behind) => period(field, operator, first, behind)?,
        })
    }

    fn set(&mut self, field: &Field, operator: Operator) -> Result<Condition> {
        if !self.takes("[") {
            return Err(self.expected("[ and values"));
        }
        let (mut value, mut offsets, mut periods) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            match self.value(field)? {
                Meaning::Value(member) => {
                    offsets.push(value.len() as u64);
                    value.extend(member);
                }
                Meaning::Period(first, behind) => periods.push(period(field, Operator::Eq, first, behind)?),
            }
            if self.takes("]") {
                break;
            }
            if !self.takes(",") {
                return Err(self.expected("a comma or ]"));
            }
        }
        let stored = field.stored.clone();
        let members = Condition::Is(Comparison { operator: Operator::In, field: stored, value, offsets });
        let has_members = !matches!(&members, Condition::Is(members) if members.offsets.is_empty());
        let is_in = match (periods.is_empty(), has_members) {
            (true, _) => members,
            (false, true) => Condition::Any(std::iter::once(members).chain(periods).collect()),
            (false, false) => combined(periods, Condition::Any),
        };
        Ok(match operator {
            Operator::NotIn => Condition::Not(Box::new(is_in)),
            _ => is_in,
        })
    }

    /// The field at this position: the longest matching name, or a name in backticks.
    fn field(&mut self) -> Result<&'t Field> {
        self.skip_spaces();
        let (fields, rest, begin) = (self.fields, self.rest(), self.at);
        let quoted = rest.strip_prefix('`').and_then(|rest| rest.split_once('`'));
        let is_here = |name: &&str| {
            rest.strip_prefix(*name).is_some_and(|rest| !name.is_empty() && !rest.starts_with(is_of_name))
        };
        let names =
            fields.0.iter().flat_map(|field| [Some(&*field.shown), std::str::from_utf8(&field.stored).ok()]);
        let known = names.flatten().filter(is_here).max_by_key(|name| name.len());
        let name = match (quoted, known) {
            (Some((name, _)), _) => name,
            (None, Some(known)) => rest.get(..known.len()).unwrap_or_default(),
            (None, None) => {
                let end = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
                rest.get(..end).unwrap_or_default()
            }
        };
        self.at += name.len() + if quoted.is_some() { 2 } else { 0 };
        if name.is_empty() && quoted.is_none() {
            return Err(self.expected("the name of an attribute or a dimension"));
        }
        let found = fields.0.iter().find(|field| field.stored == name.as_bytes() || field.shown == name);
        found.ok_or_else(|| {
            self.at = begin;
            let error = self.error(format!("no attribute or dimension {name:?}"));
            match nearest(name, fields.0.iter().map(|field| field.shown.as_str())) {
                Some(near) => error.with_hint(format_args!("did you mean {near}?")),
                None => {
                    let all: Vec<&str> = fields.0.iter().map(|field| field.shown.as_str()).collect();
                    error.with_hint(format_args!("the array has {}", all.join(", ")))
                }
            }
        })
    }

    /// The value at this position.
    fn value(&mut self, field: &Field) -> Result<Meaning> {
        self.skip_spaces();
        let begin = self.at;
        let word = self.word()?;
        field.meaning(&word, self.dates).map_err(|error| {
            self.at = begin;
            let place = self.place();
            error.map_detail(|detail| format!("{detail}{place}"))
        })
    }

    fn word(&mut self) -> Result<Word<'t>> {
        let rest = self.rest();
        if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let (text, len) = unquoted(rest, quote).map_err(|detail| self.error(detail.to_owned()))?;
            self.at += len;
            return Ok(Word::Quoted(text));
        }
        let end = rest.find(|c: char| c.is_whitespace() || "()[],<>=!".contains(c)).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        if word.is_empty() {
            return Err(self.expected("a value"));
        }
        self.at += end;
        Ok(Word::Bare(word))
    }

    fn takes(&mut self, word: &str) -> bool {
        self.skip_spaces();
        let is_there = self.rest().starts_with(word);
        self.at += if is_there { word.len() } else { 0 };
        is_there
    }

    /// Consumes a word that ends here.
    fn takes_word(&mut self, word: &str) -> bool {
        self.skip_spaces();
        let rest = self.rest().strip_prefix(word);
        let is_there = rest.is_some_and(|rest| !rest.starts_with(is_of_name));
        self.at += if is_there { word.len() } else { 0 };
        is_there
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn expected(&self, what: &str) -> Error {
        let rest = self.rest();
        let found: String = rest.chars().take(MAX_SHOWN).collect();
        self.error(match found.is_empty() {
            true => format!("ends where {what} was expected"),
            false => format!("expected {what}, found {found:?}"),
        })
    }

    fn error(&self, detail: String) -> Error {
        Error::invalid(format!("{detail}{}", self.place()))
    }

    /// The position in the condition.
    fn place(&self) -> String {
        let before = self.text.get(..self.at).unwrap_or_default().chars().count();
        format!(", at character {} of the condition {:?}", before + 1, self.text)
    }
}

fn combined(mut operands: Vec<Condition>, several: fn(Vec<Condition>) -> Condition) -> Condition {
    match operands.len() {
        1 => operands.swap_remove(0),
        _ => several(operands),
    }
}

/// The comparison with all times of a period: `<=` means up to its end, `==` means within it.
fn period(field: &Field, operator: Operator, first: i128, behind: i128) -> Result<Condition> {
    let is = |operator, count| Ok::<_, Error>(field.is(operator, integer(field.data_type, count)?));
    let is_one = first.checked_add(1) == Some(behind);
    Ok(match operator {
        Operator::Lt | Operator::Ge => is(operator, first)?,
        Operator::Le => is(Operator::Lt, behind)?,
        Operator::Gt => is(Operator::Ge, behind)?,
        _ if is_one => is(operator, first)?,
        Operator::Ne => Condition::Any(vec![is(Operator::Lt, first)?, is(Operator::Ge, behind)?]),
        _ => Condition::All(vec![is(Operator::Ge, first)?, is(Operator::Lt, behind)?]),
    })
}

/// The text within quotes, and its length in bytes including the quotes.
fn unquoted(text: &str, quote: char) -> Result<(String, usize), &'static str> {
    let mut found = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return Ok((found, at + 1));
        }
        if c != '\\' {
            found.push(c);
            continue;
        }
        found.push(match chars.next() {
            Some((_, 'n')) => '\n',
            Some((_, 'r')) => '\r',
            Some((_, 't')) => '\t',
            Some((_, '0')) => '\0',
            Some((_, 'u')) => {
                let digits: String = chars
                    .by_ref()
                    .map(|(_, c)| c)
                    .skip_while(|c| *c == '{')
                    .take_while(|c| *c != '}')
                    .collect();
                let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                code.ok_or("\\u without the number of a character in braces")?
            }
            Some((_, other)) => other,
            None => break,
        });
    }
    Err("a string without a closing quote")
}

/// Whether a character is part of a name without backticks.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// The maximum nesting depth of conditions.
const MAX_DEPTH: usize = 100;

/// The maximum number of characters of a text shown in errors.
const MAX_SHOWN: usize = 20;

#[cfg(test)]
mod tests;
