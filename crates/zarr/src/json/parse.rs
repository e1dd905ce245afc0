//! Text to values.

use super::{Json, Name, Number, Object, WORDS};
use crate::metadata::{v2, v3};
use hyperslab_core::{Error, ErrorKind, Limits, Result};
use std::collections::HashSet;
use std::ops::Range;
use std::str::Utf8Error;

impl Json {
    /// Parses a document of one value.
    ///
    /// Any bytes end in a value or an error, within a small multiple of their length in memory.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] with the byte that is wrong; [`ErrorKind::LimitExceeded`] for a document whose
    /// values take more than `limits` allow.
    pub fn parse(document: &'static str, bytes: &[u8], limits: &Limits) -> Result<Json> {
        let text = std::str::from_utf8(bytes).map_err(|e| not_utf8(document, &e))?;
        Parser::new(document, text, limits).whole()
    }

    /// Parses a document of Zarr by its name. In what is attributes bare `NaN` and `Infinity` are numbers.
    ///
    /// # Errors
    /// As [`Json::parse`].
    pub fn parse_document(document: &'static str, bytes: &[u8], limits: &Limits) -> Result<Json> {
        let text = std::str::from_utf8(bytes).map_err(|e| not_utf8(document, &e))?;
        Parser { scope: Scope::of(document), ..Parser::new(document, text, limits) }.whole()
    }

    /// Parses a document except for the members of the object that the names of `way` lead to: that object is
    /// empty in the value, and where its members stand in the text is told apart, for [`Json::parse_part`].
    ///
    /// The whole text is JSON then, but for names that repeat within those members and bare words.
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

    /// Parses one of the members that [`Json::parse_apart`] has told apart: a copy of the document of this name.
    ///
    /// # Errors
    /// As [`Json::parse`], at the byte of the whole text.
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

/// What a value is of, which decides whether bare words are numbers in it.
#[derive(Clone, Copy)]
enum Scope {
    /// Where the specifications have JSON and nothing else.
    Strict,
    Attributes,
    /// `zarr.json`
    Node,
    /// The consolidated metadata in it.
    Consolidated,
    /// Copies of `zarr.json` by path.
    Nodes,
}

impl Scope {
    fn of(document: &str) -> Scope {
        match document {
            v2::ATTRIBUTES => Scope::Attributes,
            v3::DOCUMENT => Scope::Node,
            _ => Scope::Strict,
        }
    }

    fn member(self, name: &str) -> Scope {
        match (self, name) {
            (Scope::Attributes, _) | (Scope::Node, "attributes") => Scope::Attributes,
            (Scope::Node, "consolidated_metadata") => Scope::Consolidated,
            (Scope::Consolidated, "metadata") => Scope::Nodes,
            (Scope::Nodes, _) => Scope::Node,
            _ => Scope::Strict,
        }
    }

    fn item(self) -> Scope {
        match self {
            Scope::Attributes => Scope::Attributes,
            _ => Scope::Strict,
        }
    }
}

/// Members by their names, and where in the text their values stand.
pub(crate) type Apart = Vec<(String, Range<usize>)>;

struct Parser<'a> {
    document: &'static str,
    text: &'a str,
    at: usize,
    /// Bytes that values may still take.
    left: u64,
    /// The names that lead to the object whose members are told apart.
    way: Option<&'static [&'static str]>,
    /// How many of them lead to where the parser is.
    gone: usize,
    apart: Apart,
    scope: Scope,
}

impl<'a> Parser<'a> {
    fn new(document: &'static str, text: &'a str, limits: &Limits) -> Parser<'a> {
        let left = limits.allocation;
        let scope = Scope::Strict;
        Parser { document, text, at: 0, left, way: None, gone: 0, apart: Vec::new(), scope }
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
        if matches!(self.scope, Scope::Attributes)
            && let Some(word) = self.bare_word()
        {
            return Ok(Json::Number(Number(word.into())));
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    /// A word for a number that JSON does not have.
    fn bare_word(&mut self) -> Option<&'static str> {
        let word = WORDS.into_iter().find(|word| self.rest().starts_with(word))?;
        self.at += word.len();
        Some(word)
    }

    /// Goes over a value of which nothing is kept.
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
        if depth > MOST_DEPTH {
            return Err(self.error(format!("values within more than {MOST_DEPTH} others")));
        }
        self.space();
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Result<Json> {
        // The names that lead here are the first of the way.
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
        Ok(Json::Object(Object(members)))
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

    /// What stands between brackets of which the second is `end`.
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

    /// The name of a member that follows `members`, and the colon behind it.
    fn name<N: AsRef<str>, T>(&mut self, members: &[(N, T)], names: &mut Names) -> Result<Name> {
        self.before_name()?;
        let start = self.at;
        let name = match self.plain()? {
            Some(name) => {
                let known = KNOWN.iter().find(|known| **known == name);
                known.map_or_else(|| Name::Owned(name.to_owned()), |known| Name::Borrowed(known))
            }
            None => Name::Owned(self.string()?),
        };
        if !names.add(members, &name) {
            self.at = start;
            return Err(self.error(format!("the name {name:?} a second time")));
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

    fn string(&mut self) -> Result<String> {
        if let Some(plain) = self.plain()? {
            return Ok(plain.to_owned());
        }
        let mut string = String::new();
        self.characters(|part| string.push_str(part))?;
        Ok(string)
    }

    /// The characters between quotes if they stand for themselves; nothing is read otherwise.
    fn plain(&mut self) -> Result<Option<&'a str>> {
        let rest = self.text.get(self.at + 1..).unwrap_or_default();
        let end = rest.bytes().position(is_special);
        let Some((plain, behind)) = end.and_then(|end| rest.split_at_checked(end)) else { return Ok(None) };
        if !behind.starts_with('"') {
            return Ok(None);
        }
        self.spend(plain.len() as u64)?;
        self.at += plain.len() + 2;
        Ok(Some(plain))
    }

    /// The characters between quotes, in parts.
    fn characters(&mut self, mut take: impl FnMut(&str)) -> Result<()> {
        self.at += 1;
        loop {
            let rest = self.rest();
            let plain = rest.bytes().position(is_special);
            let (head, _) = rest.split_at_checked(plain.unwrap_or(rest.len())).unwrap_or_default();
            self.spend(head.len() as u64)?;
            take(head);
            self.at += head.len();
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => take(self.escape()?.encode_utf8(&mut [0; 4])),
                Some(byte) => {
                    return Err(self.error(format!("the control character {byte:#04x} in a string")));
                }
                None => return Err(self.error("a string without its end")),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let start = self.at;
        self.at += 1;
        let byte = self.peek();
        self.at += 1;
        Ok(match byte {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let unit = self.hexadecimal()?;
                let second = match unit {
                    0xd800..=0xdbff if self.rest().starts_with("\\u") => {
                        self.at += 2;
                        Some(self.hexadecimal()?)
                    }
                    _ => None,
                };
                let units = [unit, second.unwrap_or_default()];
                let units = units.get(..1 + usize::from(second.is_some())).unwrap_or_default();
                let mut decoded = char::decode_utf16(units.iter().copied());
                match (decoded.next(), decoded.next()) {
                    (Some(Ok(c)), None) => c,
                    _ => {
                        self.at = start;
                        return Err(self.error("half of a surrogate pair"));
                    }
                }
            }
            _ => {
                self.at = start;
                return Err(self.error("an escape that JSON does not have"));
            }
        })
    }

    fn hexadecimal(&mut self) -> Result<u16> {
        let digits = self.rest().get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(unit) = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) else {
            return Err(self.expected("four hexadecimal digits"));
        };
        self.at += 4;
        Ok(unit)
    }

    fn number(&mut self) -> Result<Json> {
        let text = self.numeral()?;
        self.spend(text.len() as u64)?;
        Ok(Json::Number(Number(text.into())))
    }

    fn numeral(&mut self) -> Result<&'a str> {
        let start = self.at;
        self.skip(b'-');
        if !self.skip(b'0') {
            self.digits()?;
        }
        if self.skip(b'.') {
            self.digits()?;
        }
        if self.skip(b'e') || self.skip(b'E') {
            let _ = self.skip(b'+') || self.skip(b'-');
            self.digits()?;
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    fn digits(&mut self) -> Result<()> {
        let count = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return Err(self.expected("a digit"));
        }
        self.at += count;
        Ok(())
    }

    fn word(&mut self) -> Result<Json> {
        let rest = self.rest();
        let len = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let value = match rest.get(..len) {
            Some("null") => Json::Null,
            Some("true") => Json::Bool(true),
            Some("false") => Json::Bool(false),
            _ => return Err(self.expected("a value")),
        };
        self.at += len;
        Ok(value)
    }

    fn spend(&mut self, bytes: u64) -> Result<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                let detail = "more values than there is room for (raise with --limit allocation=N)";
                Err(Error::new(ErrorKind::LimitExceeded, detail).at(self.document, self.at as u64))
            }
        }
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
            // Most of an indented document.
            while let Some(eight) = self.text.as_bytes().get(self.at..).and_then(<[u8]>::first_chunk) {
                let others = u64::from_le_bytes(*eight) ^ u64::from_le_bytes([b' '; 8]);
                self.at += others.trailing_zeros() as usize / 8;
                if others != 0 {
                    break;
                }
            }
        }
    }

    fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    #[cold]
    fn expected(&self, what: &str) -> Error {
        let rest = self.rest();
        let word: String = rest.chars().take_while(|c| c.is_alphanumeric()).take(20).collect();
        let found = match (word.is_empty(), rest.chars().next()) {
            (false, _) => word,
            (true, Some(c)) => format!("{c:?}"),
            (true, None) => "the end".to_owned(),
        };
        self.error(format!("{found}, expected {what}"))
    }

    #[cold]
    fn error(&self, detail: impl Into<String>) -> Error {
        Error::malformed(detail.into()).at(self.document, self.at as u64)
    }
}

/// Whether a byte does not stand for itself in a string.
fn is_special(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..b' ')
}

/// The names of one object; a set only where looking through the members would take long.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    fn add<N: AsRef<str>, T>(&mut self, members: &[(N, T)], name: &str) -> bool {
        if members.len() < MANY {
            return members.iter().all(|(found, _)| found.as_ref() != name);
        }
        if self.0.is_empty() {
            self.0.extend(members.iter().map(|(found, _)| found.as_ref().to_owned()));
        }
        self.0.insert(name.to_owned())
    }
}

/// Bytes that a value takes, its name's own and what the system adds to what it allocates.
const VALUE: u64 = 80;

/// Values within values; the parser calls itself for each.
const MOST_DEPTH: usize = 128;

const MANY: usize = 16;

/// Names that most documents are made of, those of every array first.
const KNOWN: [&str; 31] = [
    "name",
    "configuration",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_shape",
    "chunk_key_encoding",
    "separator",
    "fill_value",
    "codecs",
    "endian",
    "level",
    "checksum",
    "attributes",
    "zarr_format",
    "node_type",
    "dimension_names",
    "storage_transformers",
    "index_codecs",
    "index_location",
    "cname",
    "clevel",
    "shuffle",
    "typesize",
    "blocksize",
    "id",
    "chunks",
    "compressor",
    "dtype",
    "filters",
    "order",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Json> {
        Json::parse("zarr.json", text.as_bytes(), &Limits::default())
    }

    fn refused(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn keeps_digits_order_and_characters() {
        let text =
            r#" {"b" : [1e+300, -0.0, 18446744073709551616, 0.10] , "a":"\u00e9\ud83d\ude00\/\n","":{}} "#;
        let value = parse(text).unwrap();
        assert_eq!(
            value.emit(),
            "{\n  \"b\": [1e+300, -0.0, 18446744073709551616, 0.10],\n  \"a\": \"é😀/\\n\",\n  \"\": {}\n}"
        );
        assert_eq!(parse(&value.emit()).unwrap(), value);
    }

    #[test]
    fn refuses_what_json_does_not_have() {
        let at = |place: u64, what: &str| format!("malformed zarr.json at byte {place:#x}: {what}");
        assert_eq!(refused("[NaN]"), at(1, "NaN, expected a value"));
        assert_eq!(refused("[-Infinity]"), at(2, "Infinity, expected a digit"));
        assert_eq!(refused(r#"{"a":1,"a":2}"#), at(7, r#"the name "a" a second time"#));
        assert_eq!(refused(r#"{"a":1,"\u0061":2}"#), at(7, r#"the name "a" a second time"#));
        assert_eq!(refused("[1,]"), at(3, "']', expected a value"));
        assert_eq!(refused("01"), at(1, "01, expected the end").replace("01,", "1,"));
        assert_eq!(refused("1."), at(2, "the end, expected a digit"));
        assert_eq!(refused(r#""\ud800""#), at(1, "half of a surrogate pair"));
        assert_eq!(refused(r#""\x""#), at(1, "an escape that JSON does not have"));
        assert_eq!(refused("\"a\tb\""), at(2, "the control character 0x09 in a string"));
        assert_eq!(refused("\u{feff}{}"), at(0, "'\\u{feff}', expected a value"));
        assert_eq!(refused(""), at(0, "the end, expected a value"));
        assert_eq!(refused("{1:2}"), at(1, "1, expected a name in quotes"));
        let e = Json::parse("zarr.json", b"\"\xff\"", &Limits::default()).unwrap_err();
        assert_eq!(e.to_string(), at(1, "text that is not UTF-8"));
    }

    const WAY: &[&str] = &["a", "b"];

    fn parse_apart(text: &str) -> Result<(Json, Apart)> {
        Json::parse_apart("zarr.json", text, WAY, &Limits::default())
    }

    #[test]
    fn members_at_the_end_of_the_way_alone_are_told_apart() {
        let text =
            r#"{"b": {"x": 1}, "a": {"a": {"b": {"y": 2}}, "b": {"p": {"q": [1, "\u0041"]}, "r": -0.5 }}}"#;
        let (value, apart) = parse_apart(text).unwrap();
        let expected = text.replace(r#"{"p": {"q": [1, "\u0041"]}, "r": -0.5 }"#, "{}");
        assert_eq!(value, parse(&expected).unwrap());
        let parts: Vec<_> = apart.iter().map(|(name, part)| (name.as_str(), &text[part.clone()])).collect();
        assert_eq!(parts, [("p", r#" {"q": [1, "\u0041"]}"#), ("r", " -0.5")]);
        for (_, part) in &apart {
            let parsed = Json::parse_part("zarr.json", text, part, "", &Limits::default()).unwrap();
            assert_eq!(parsed, parse(&text[part.clone()]).unwrap());
        }
        assert_eq!(parse_apart(r#"{"a": [{"b": {"x": 1}}]}"#).unwrap().1, []);
        assert_eq!(parse_apart(r#"[{"a": {"b": {"x": 1}}}]"#).unwrap().1, []);
    }

    #[test]
    fn names_that_repeat_within_a_part_are_found_when_it_is_parsed() {
        let text = r#"{"a":{"b":{"p":{"x":1,"x":2}}}}"#;
        let (_, apart) = parse_apart(text).unwrap();
        let e = Json::parse_part("zarr.json", text, &apart[0].1, "", &Limits::default()).unwrap_err();
        assert_eq!(e.to_string(), r#"malformed zarr.json at byte 0x16: the name "x" a second time"#);
        let e = parse_apart(r#"{"a":{"b":{"p":1,"p":2}}}"#).unwrap_err();
        assert_eq!(e.to_string(), r#"malformed zarr.json at byte 0x11: the name "p" a second time"#);
    }

    #[test]
    fn bare_words_are_numbers_in_attributes_alone() {
        let parse =
            |document, text: &str| Json::parse_document(document, text.as_bytes(), &Limits::default());
        let node = r#"{"attributes":{"a":[NaN,{"b":-Infinity}]},"x":0}"#;
        let copies = format!(r#"{{"consolidated_metadata":{{"metadata":{{"attributes":{node}}}}}}}"#);
        for (document, text) in [
            (".zattrs", r#"{"a":[NaN,Infinity,-Infinity],"b":NaN}"#),
            ("zarr.json", node),
            ("zarr.json", &copies),
        ] {
            let value = parse(document, text).unwrap();
            assert_eq!(value.emit_compact(), text, "what was there");
            let legal = super::tests::parse(&value.emit()).unwrap();
            assert_eq!(legal, value.with_words_as_strings(), "what is written is JSON");
        }
        for (document, text) in [
            (".zattrs", r#"{"a":NaNs}"#),
            ("zarr.json", r#"{"fill_value":NaN}"#),
            ("zarr.json", r#"{"attributes":{"a":1},"fill_value":NaN}"#),
            ("zarr.json", r#"{"x":{"attributes":{"a":NaN}}}"#),
            ("zarr.json", r#"[{"attributes":{"a":NaN}}]"#),
            ("zarr.json", r#"{"consolidated_metadata":{"metadata":{"a":{"fill_value":NaN}}}}"#),
            (".zarray", r#"{"attributes":{"a":NaN}}"#),
        ] {
            assert!(parse(document, text).is_err(), "{text}");
        }
    }

    #[test]
    fn finds_names_that_repeat_among_many() {
        let many: Vec<String> = (0..100).map(|i| format!("\"n{i}\":{i}")).collect();
        assert!(parse(&format!("{{{}}}", many.join(","))).is_ok());
        assert!(refused(&format!("{{{},\"n3\":0}}", many.join(","))).contains("\"n3\" a second time"));
    }

    #[test]
    fn depth_and_size_have_limits() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nested(129)).is_ok());
        assert!(refused(&nested(130)).contains("values within more than 128 others"));
        assert!(refused(&"[".repeat(1_000_000)).contains("values within more than 128 others"));
        let limits = Limits { allocation: 1000, ..Limits::default() };
        let refused = |text: String| Json::parse("zarr.json", text.as_bytes(), &limits).unwrap_err().kind();
        assert_eq!(refused(format!("[{}0]", "0,".repeat(20))), ErrorKind::LimitExceeded);
        assert_eq!(refused(format!("\"{}\"", "x".repeat(1000))), ErrorKind::LimitExceeded);
        assert_eq!(refused(format!("{{\"{}\":0}}", "x".repeat(1000))), ErrorKind::LimitExceeded);
    }

    fn json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            any::<i64>().prop_map(|value| Json::Number(Number::integer(value))),
            any::<f64>().prop_filter_map("finite", |value| Number::float(value).map(Json::Number)),
            any::<String>().prop_map(Json::String),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| Json::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_emitted_parses_to_the_same(value in json()) {
            prop_assert_eq!(parse(&value.emit()).unwrap(), value);
        }

        #[test]
        fn what_is_told_apart_is_as_strict(text in "[\\[\\]{}\",:0-9eE+.\\\\u a-z-]{0,30}") {
            let whole = format!(r#"{{"a":{{"b":{{"p":{text}}}}}}}"#);
            let apart = parse_apart(&whole).and_then(|(_, apart)| {
                let parse = |part| Json::parse_part("zarr.json", &whole, part, "", &Limits::default());
                apart.iter().map(|(_, part)| parse(part)).collect::<Result<Vec<_>>>()
            });
            prop_assert_eq!(apart.is_ok(), parse(&whole).is_ok());
        }

        #[test]
        fn any_text_ends_in_a_value_or_an_error(text in "[\\[\\]{}\",:0-9eE+.\\\\u a-z-]{0,60}") {
            if let Ok(value) = parse(&text) {
                prop_assert_eq!(parse(&value.emit()).unwrap(), value);
            }
        }
    }
}
