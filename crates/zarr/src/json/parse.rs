//! Parses text to values.

mod names;
mod scope;
mod token;

use self::names::Names;
use self::scope::Scope;
use super::{Json, Name, Number, Object, WORDS};
use hyperslab_core::{Error, Limits, Result};
use std::ops::Range;
use std::str::Utf8Error;

impl Json {
    /// Parses a document of one value.
    ///
    /// For any bytes, the memory is limited to a small multiple of their length.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) with the offset of the invalid byte;
    /// [`ErrorKind::LimitExceeded`](hyperslab_core::ErrorKind::LimitExceeded) for a document whose values take more than
    /// `limits` allow.
    pub fn parse(document: &'static str, bytes: &[u8], limits: &Limits) -> Result<Json> {
        let text = std::str::from_utf8(bytes).map_err(|e| not_utf8(document, &e))?;
        Parser::new(document, text, limits).whole()
    }

    /// Parses a Zarr document by its name. In attributes, bare `NaN` and `Infinity` are numbers. In the fill value of
    /// version 2 they are strings.
    ///
    /// # Errors
    /// As [`Json::parse`].
    pub fn parse_document(document: &'static str, bytes: &[u8], limits: &Limits) -> Result<Json> {
        Json::parse_noting(document, bytes, limits).map(|(json, _)| json)
    }

    /// Parses a Zarr document by its name. Also returns the offsets of bare words in fill values.
    ///
    /// # Errors
    /// As [`Json::parse`].
    pub(crate) fn parse_noting(
        document: &'static str,
        bytes: &[u8],
        limits: &Limits,
    ) -> Result<(Json, Vec<usize>)> {
        let text = std::str::from_utf8(bytes).map_err(|e| not_utf8(document, &e))?;
        let mut parser = Parser { scope: Scope::of(document), ..Parser::new(document, text, limits) };
        let value = parser.whole()?;
        Ok((value, parser.fills))
    }

    /// Parses a document except for the members of one object, at the path of names `way`. This object is empty in the
    /// value. The ranges of its members in the text are returned separately, for [`Json::parse_part`].
    ///
    /// The whole text is checked, except for duplicate names and bare words inside these members.
    ///
    /// # Errors
    /// As [`Json::parse`].
    pub(crate) fn parse_apart(
        document: &'static str,
        text: &str,
        way: &'static [&'static str],
        limits: &Limits,
    ) -> Result<(Json, Apart)> {
        let scope = Scope::of(document);
        let mut parser = Parser { way: Some(way), scope, ..Parser::new(document, text, limits) };
        let value = parser.whole()?;
        Ok((value, parser.apart))
    }

    /// Parses one of the members that [`Json::parse_apart`] left out: a copy of the document with this name.
    ///
    /// # Errors
    /// As [`Json::parse`], with an offset in the whole text.
    pub(crate) fn parse_part(
        document: &'static str,
        text: &str,
        part: &Range<usize>,
        copied: &str,
        limits: &Limits,
    ) -> Result<Json> {
        let text = text.get(..part.end).unwrap_or_default();
        Parser { at: part.start, scope: Scope::of(copied), ..Parser::new(document, text, limits) }.whole()
    }
}

/// The text of a document.
pub(crate) fn text(document: &'static str, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|e| not_utf8(document, &e.utf8_error()))
}

#[cold]
fn not_utf8(document: &'static str, e: &Utf8Error) -> Error {
    Error::malformed("text that is not UTF-8").at(document, e.valid_up_to() as u64)
}

/// The names of members, and the ranges of their values in the text.
pub(crate) type Apart = Vec<(String, Range<usize>)>;

struct Parser<'a> {
    document: &'static str,
    text: &'a str,
    at: usize,
    /// The number of bytes that values may still take.
    left: u64,
    /// The path of names to the object whose members are left out.
    way: Option<&'static [&'static str]>,
    /// The number of leading names of the path that match the current place.
    gone: usize,
    apart: Apart,
    scope: Scope,
    /// The offsets of bare words in fill values.
    fills: Vec<usize>,
}

impl<'a> Parser<'a> {
    fn new(document: &'static str, text: &'a str, limits: &Limits) -> Parser<'a> {
        let left = limits.allocation / DOCUMENT_SHARE;
        let scope = Scope::Strict;
        let (apart, fills) = (Vec::new(), Vec::new());
        Parser { document, text, at: 0, left, way: None, gone: 0, apart, scope, fills }
    }

    fn whole(&mut self) -> Result<Json> {
        let value = self.value(0)?;
        self.space();
        match self.rest().is_empty() {
            true => Ok(value),
            false => Err(self.expected("the end")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json> {
        self.enter(depth)?;
        self.spend(VALUE)?;
        let start = self.at;
        match self.scope {
            Scope::Attributes => {
                if let Some(word) = self.bare_word() {
                    return Ok(Json::Number(Number(word.into())));
                }
            }
            Scope::Fill2 => {
                if let Some(word) = self.bare_word() {
                    self.fills.push(start);
                    return Ok(word.into());
                }
            }
            _ => {}
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    /// A bare `NaN`, `Infinity` or `-Infinity`.
    fn bare_word(&mut self) -> Option<&'static str> {
        let word = WORDS.into_iter().find(|word| self.rest().starts_with(word))?;
        self.at += word.len();
        Some(word)
    }

    /// Parses a value without keeping it.
    fn pass(&mut self, depth: usize) -> Result<()> {
        self.enter(depth)?;
        if self.bare_word().is_some() {
            return Ok(());
        }
        match self.peek() {
            Some(b'{') => self.items(b'}', |parser| {
                parser.before_name()?;
                parser.characters(|_| {})?;
                parser.colon()?;
                parser.pass(depth + 1)
            }),
            Some(b'[') => self.items(b']', |parser| parser.pass(depth + 1)),
            Some(b'"') => self.characters(|_| {}),
            Some(b'-' | b'0'..=b'9') => self.numeral().map(drop),
            _ => self.word().map(drop),
        }
    }

    fn enter(&mut self, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(self.error(format!("values nested more than {MAX_DEPTH} levels deep")));
        }
        self.space();
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Result<Json> {
        // The names to this place are the first names of the path.
        let way = self.way.filter(|_| self.gone == depth);
        let next = way.and_then(|way| way.get(depth));
        if way.is_some() && next.is_none() {
            self.members_apart(depth)?;
            return Ok(Json::Object(Object::new()));
        }
        let scope = self.scope;
        let mut members = Vec::new();
        let mut names = Names::default();
        self.items(b'}', |parser| {
            let name = parser.name(&members, &mut names)?;
            let is_next = next.is_some_and(|next| *next == name);
            parser.gone += usize::from(is_next);
            parser.scope = scope.member(&name);
            let value = parser.value(depth + 1)?;
            parser.scope = scope;
            parser.gone -= usize::from(is_next);
            members.push((name, value));
            Ok(())
        })?;
        Ok(Json::Object(Object::of(members)))
    }

    fn members_apart(&mut self, depth: usize) -> Result<()> {
        let mut members = Vec::new();
        let mut names = Names::default();
        self.items(b'}', |parser| {
            let name = parser.name(&members, &mut names)?.into_owned();
            parser.spend(VALUE)?;
            let start = parser.at;
            parser.pass(depth + 1)?;
            members.push((name, start..parser.at));
            Ok(())
        })?;
        self.apart = members;
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Result<Json> {
        let mut items = Vec::new();
        let scope = self.scope;
        self.scope = scope.item();
        self.items(b']', |parser| {
            items.push(parser.value(depth + 1)?);
            Ok(())
        })?;
        self.scope = scope;
        Ok(Json::Array(items))
    }

    /// Parses the items between brackets. `end` is the closing bracket.
    fn items(&mut self, end: u8, mut each: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.at += 1;
        self.space();
        if self.skip(end) {
            return Ok(());
        }
        loop {
            each(self)?;
            self.space();
            if self.skip(end) {
                return Ok(());
            }
            if !self.skip(b',') {
                return Err(self.expected(if end == b'}' { "a comma or }" } else { "a comma or ]" }));
            }
        }
    }

    /// The name of the member after `members`, and the colon after the name.
    fn name<N: AsRef<str>, T>(&mut self, members: &[(N, T)], names: &mut Names) -> Result<Name> {
        self.before_name()?;
        let start = self.at;
        let name = match self.plain()? {
            Some(name) => names::owned(name),
            None => Name::Owned(self.string()?),
        };
        if !names.add(members, &name) {
            self.at = start;
            return Err(self.error(format!("duplicate name {name:?}")));
        }
        self.colon()?;
        Ok(name)
    }

    fn before_name(&mut self) -> Result<()> {
        self.space();
        match self.peek() {
            Some(b'"') => Ok(()),
            _ => Err(self.expected("a name in quotes")),
        }
    }

    fn colon(&mut self) -> Result<()> {
        self.space();
        match self.skip(b':') {
            true => Ok(()),
            false => Err(self.expected("a colon")),
        }
    }
}

/// The number of bytes of a value, with its name and the overhead of the allocator.
const VALUE: u64 = 80;

/// The maximum nesting of values. The parser is recursive.
const MAX_DEPTH: usize = 128;

/// The maximum number of bytes of the text of a document. They are read at once, and more than once.
pub(crate) fn most_text(limits: &Limits) -> u64 {
    limits.allocation / TEXT_SHARE
}

/// The text of a document may take at most this fraction of the allocation limit.
const TEXT_SHARE: u64 = 16;

/// The parsed values of a document may take at most this fraction of the allocation limit: what is built from them,
/// such as attributes, takes as much memory several times.
const DOCUMENT_SHARE: u64 = 8;

#[cfg(test)]
mod tests;
