//! A JSON parser. YAML parsers read only a part of JSON: tabs, escaped surrogate pairs and keys of any length are not
//! allowed in YAML.
//!
//! Spec: RFC 8259

use super::reader::{Reader, Stop};
use super::{Data, Document, Span, Tag, shown};

/// Parses a text as a JSON object. `None` if the text is not JSON.
pub(super) fn read<'a>(text: &'a str, reader: Reader<'_, '_, 'a>) -> Option<Document<'a>> {
    if !text.trim_start_matches(WHITE).starts_with('{') {
        return None;
    }
    let mut json = Json { text, at: 0, line: 1, column: 1, reader };
    match json.document() {
        Ok(()) => Some(json.reader.finish()),
        Err(Broken::Reported(Stop)) => Some(Document::default()),
        Err(Broken::NotJson) => None,
    }
}

struct Json<'f, 's, 'a> {
    text: &'a str,
    /// The next byte and its place.
    at: usize,
    line: u32,
    column: u32,
    reader: Reader<'f, 's, 'a>,
}

/// The reason why there is no document.
enum Broken {
    NotJson,
    Reported(Stop),
}

impl From<Stop> for Broken {
    fn from(stop: Stop) -> Self {
        Broken::Reported(stop)
    }
}

/// The tokens that the grammar allows next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    CommaOrEnd,
}

impl<'a> Json<'_, '_, 'a> {
    fn document(&mut self) -> Result<(), Broken> {
        let mut next = Next::Value;
        loop {
            self.skip_white();
            let start = self.here();
            next = match (next, self.peek()) {
                (Next::Value | Next::ValueOrEnd, Some(open @ (b'{' | b'['))) => {
                    self.step(1);
                    self.reader.begin(open == b'{', 0, Tag::None, start)?;
                    if open == b'{' { Next::KeyOrEnd } else { Next::ValueOrEnd }
                }
                (Next::ValueOrEnd, Some(b']')) | (Next::KeyOrEnd, Some(b'}')) => self.end()?,
                (Next::CommaOrEnd, Some(close @ (b'}' | b']'))) => {
                    if self.reader.is_in_mapping() != Some(close == b'}') {
                        return Err(Broken::NotJson);
                    }
                    self.end()?
                }
                (Next::CommaOrEnd, Some(b',')) => {
                    self.step(1);
                    if self.reader.is_in_mapping() == Some(true) { Next::Key } else { Next::Value }
                }
                (Next::Key | Next::KeyOrEnd, Some(b'"')) => {
                    self.string()?;
                    self.skip_white();
                    if self.peek() != Some(b':') {
                        return Err(Broken::NotJson);
                    }
                    self.step(1);
                    Next::Value
                }
                (Next::Value | Next::ValueOrEnd, Some(b'"')) => {
                    self.string()?;
                    Next::CommaOrEnd
                }
                (Next::Value | Next::ValueOrEnd, Some(_)) => {
                    self.word()?;
                    Next::CommaOrEnd
                }
                _ => return Err(Broken::NotJson),
            };
            if self.reader.is_in_mapping().is_none() {
                self.skip_white();
                return if self.peek().is_none() { Ok(()) } else { Err(Broken::NotJson) };
            }
        }
    }

    fn end(&mut self) -> Result<Next, Broken> {
        self.step(1);
        self.reader.end(self.here())?;
        Ok(Next::CommaOrEnd)
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<(), Broken> {
        let start = self.here();
        let rest = self.rest();
        let len = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b)).count();
        let text = rest.get(..len).unwrap_or_default();
        if !matches!(text, "true" | "false" | "null") && !is_number(text) {
            return Err(Broken::NotJson);
        }
        self.step(len);
        let span = Span { end_column: self.column, ..start };
        self.reader.add(Data::Borrowed { span, plain: true, tag: Tag::None, text }, span, 0, 1, 0)?;
        Ok(())
    }

    fn string(&mut self) -> Result<(), Broken> {
        let start = self.here();
        let rest = self.rest().get(1..).unwrap_or_default();
        let (mut len, mut escaped) = (0, false);
        let mut bytes = rest.bytes();
        loop {
            match bytes.next() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    bytes.next();
                    len += 2;
                }
                Some(0..b' ') | None => return Err(Broken::NotJson),
                Some(_) => len += 1,
            }
        }
        let raw = rest.get(..len).ok_or(Broken::NotJson)?;
        self.at += len + 2;
        let characters = if raw.is_ascii() { len } else { raw.chars().count() };
        self.column = self.column.saturating_add(u32::try_from(characters + 2).unwrap_or(u32::MAX));
        let span = Span { end_column: self.column, ..start };
        let data = match escaped {
            false => Data::Borrowed { span, plain: false, tag: Tag::None, text: raw },
            true => {
                let (text, half) = unescape(raw).ok_or(Broken::NotJson)?;
                if let Some(half) = half {
                    let message = format!("{}, an unpaired surrogate", shown(half));
                    let hint = "write both surrogates of the character, or the character itself";
                    self.reader.findings.error("ndl/encoding", span, message).hint(hint);
                }
                Data::Owned { span, plain: false, tag: Tag::None, text: text.into() }
            }
        };
        self.reader.add(data, span, 0, 1, 0)?;
        Ok(())
    }

    fn skip_white(&mut self) {
        while let Some(byte @ (b' ' | b'\t' | b'\n' | b'\r')) = self.peek() {
            self.step(1);
            if byte == b'\n' {
                self.line = self.line.saturating_add(1);
                self.column = 1;
            }
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips ASCII characters on one line.
    fn step(&mut self, count: usize) {
        self.at += count;
        self.column = self.column.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
    }

    fn here(&self) -> Span {
        let Json { line, column, .. } = *self;
        Span { line, column, end_column: column.saturating_add(1) }
    }
}

fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

/// The text with escapes replaced, and the first unpaired surrogate among them. `None` if an escape is unknown.
fn unescape(raw: &str) -> Option<(String, Option<&str>)> {
    let mut text = String::with_capacity(raw.len());
    let mut half = None;
    let mut rest = raw;
    while let Some((before, behind)) = rest.split_once('\\') {
        text.push_str(before);
        let kind = behind.chars().next()?;
        rest = behind.get(kind.len_utf8()..)?;
        text.push(match kind {
            '"' | '\\' | '/' => kind,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let high = hex(rest)?;
                let low = rest.get(4..).and_then(|rest| rest.strip_prefix("\\u")).and_then(hex);
                let (len, code) = match (high, low) {
                    (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) => {
                        (10, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
                    }
                    _ => (4, high),
                };
                let character = char::from_u32(code).unwrap_or_else(|| {
                    half = half.or_else(|| behind.get(..5));
                    char::REPLACEMENT_CHARACTER
                });
                rest = rest.get(len..)?;
                character
            }
            _ => return None,
        });
    }
    text.push_str(rest);
    Some((text, half))
}

/// The value of four hexadecimal digits.
fn hex(text: &str) -> Option<u32> {
    let digits = text.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

const WHITE: [char; 4] = [' ', '\t', '\n', '\r'];
