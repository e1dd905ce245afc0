//! Text to values.

use super::{Json, Number, Object};
use hyperslab_core::{Error, ErrorKind, Limits, Result};
use std::collections::HashSet;

impl Json {
    /// Parses a document of one value.
    ///
    /// Any bytes end in a value or an error, within a small multiple of their length in memory.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] with the byte that is wrong; [`ErrorKind::LimitExceeded`] for a document whose
    /// values take more than `limits` allow.
    pub fn parse(document: &'static str, bytes: &[u8], limits: &Limits) -> Result<Json> {
        let text = std::str::from_utf8(bytes)
            .map_err(|e| Error::malformed("text that is not UTF-8").at(document, e.valid_up_to() as u64))?;
        let mut parser = Parser { document, text, at: 0, left: limits.allocation };
        let value = parser.value(0)?;
        parser.space();
        match parser.rest().is_empty() {
            true => Ok(value),
            false => Err(parser.expected("the end")),
        }
    }
}

struct Parser<'a> {
    document: &'static str,
    text: &'a str,
    at: usize,
    /// Bytes that values may still take.
    left: u64,
}

impl<'a> Parser<'a> {
    fn value(&mut self, depth: u32) -> Result<Json> {
        if depth > MOST_DEPTH {
            return Err(self.error(format!("values within more than {MOST_DEPTH} others")));
        }
        self.space();
        self.spend(VALUE)?;
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: u32) -> Result<Json> {
        self.at += 1;
        let mut members: Vec<(String, Json)> = Vec::new();
        let mut names = Names::default();
        self.space();
        if self.skip(b'}') {
            return Ok(Json::Object(Object(members)));
        }
        loop {
            self.space();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.expected("a name in quotes"));
            }
            let name = self.string()?;
            if !names.add(&members, &name) {
                self.at = start;
                return Err(self.error(format!("the name {name:?} a second time")));
            }
            self.space();
            if !self.skip(b':') {
                return Err(self.expected("a colon"));
            }
            let value = self.value(depth + 1)?;
            members.push((name, value));
            self.space();
            if self.skip(b'}') {
                return Ok(Json::Object(Object(members)));
            }
            if !self.skip(b',') {
                return Err(self.expected("a comma or }"));
            }
        }
    }

    fn array(&mut self, depth: u32) -> Result<Json> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.skip(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.skip(b']') {
                return Ok(Json::Array(items));
            }
            if !self.skip(b',') {
                return Err(self.expected("a comma or ]"));
            }
        }
    }

    fn string(&mut self) -> Result<String> {
        self.at += 1;
        let mut string = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.find(|c: char| c == '"' || c == '\\' || c < ' ').unwrap_or(rest.len());
            let (head, _) = rest.split_at_checked(plain).unwrap_or_default();
            self.spend(plain as u64)?;
            string.push_str(head);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some(b'\\') => string.push(self.escape()?),
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
        let text = self.text.get(start..self.at).unwrap_or_default();
        self.spend(text.len() as u64)?;
        Ok(Json::Number(Number(text.into())))
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
        let space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += self.rest().bytes().take_while(space).count();
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

/// The names of one object; a set only where looking through the members would take long.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    fn add(&mut self, members: &[(String, Json)], name: &str) -> bool {
        if members.len() < MANY {
            return members.iter().all(|(found, _)| found != name);
        }
        if self.0.is_empty() {
            self.0.extend(members.iter().map(|(found, _)| found.clone()));
        }
        self.0.insert(name.to_owned())
    }
}

/// Bytes that a value takes, its name's own and what the system adds to what it allocates.
const VALUE: u64 = 80;

/// Values within values; the parser calls itself for each.
const MOST_DEPTH: u32 = 128;

const MANY: usize = 16;

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
        fn any_text_ends_in_a_value_or_an_error(text in "[\\[\\]{}\",:0-9eE+.\\\\u a-z-]{0,60}") {
            if let Ok(value) = parse(&text) {
                prop_assert_eq!(parse(&value.emit()).unwrap(), value);
            }
        }
    }
}
