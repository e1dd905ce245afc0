//! Tokens: strings, numbers, words and white space.

use super::Parser;
use crate::json::{Json, Number};
use hyperslab_core::{Error, Limit, Result};

impl<'a> Parser<'a> {
    pub(super) fn string(&mut self) -> Result<String> {
        if let Some(plain) = self.plain()? {
            return Ok(plain.to_owned());
        }
        let mut string = String::new();
        self.characters(|part| string.push_str(part))?;
        Ok(string)
    }

    /// The characters between quotes, if there are no escapes. Otherwise reads nothing.
    pub(super) fn plain(&mut self) -> Result<Option<&'a str>> {
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
    pub(super) fn characters(&mut self, mut take: impl FnMut(&str)) -> Result<()> {
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
                None => return Err(self.error("an unterminated string")),
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

    pub(super) fn number(&mut self) -> Result<Json> {
        let text = self.numeral()?;
        self.spend(text.len() as u64)?;
        Ok(Json::Number(Number(text.into())))
    }

    pub(super) fn numeral(&mut self) -> Result<&'a str> {
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

    pub(super) fn word(&mut self) -> Result<Json> {
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

    pub(super) fn spend(&mut self, bytes: u64) -> Result<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                let detail = "more values than there is room for";
                Err(Error::limit_exceeded(Limit::Allocation, detail).at(self.document, self.at as u64))
            }
        }
    }

    pub(super) fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
            // Most bytes of an indented document are spaces.
            while let Some(eight) = self.text.as_bytes().get(self.at..).and_then(<[u8]>::first_chunk) {
                let others = u64::from_le_bytes(*eight) ^ u64::from_le_bytes([b' '; 8]);
                self.at += others.trailing_zeros() as usize / 8;
                if others != 0 {
                    break;
                }
            }
        }
    }

    pub(super) fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    #[cold]
    pub(super) fn expected(&self, what: &str) -> Error {
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
    pub(super) fn error(&self, detail: impl Into<String>) -> Error {
        Error::malformed(detail.into()).at(self.document, self.at as u64)
    }
}

/// Whether a byte is special in a string: a quote, a backslash or a control character.
fn is_special(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..b' ')
}
