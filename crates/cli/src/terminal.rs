//! Output to a terminal: no text from a file, an argument or a message may control it or hide its own content.
//!
//! Text output shows [hidden](hyperslab::ndl::is_hidden) characters as escapes, `\\u{1b}`, even when it is not written
//! to a terminal, so that a name cannot break the lines of a table. NDL and JSON escape by their own rules. Data
//! formats, such as `csv`, are exact in files and pipes; on a terminal [`Out`] escapes the hidden characters in them.

use hyperslab::ndl::is_hidden;
use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, Write};

/// The text with hidden characters escaped; `None` if it has none.
pub(crate) fn without_controls(text: &str) -> Option<String> {
    if !text.contains(is_hidden) {
        return None;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_hidden(c) {
            true => escaped.extend(c.escape_default()),
            false => escaped.push(c),
        }
    }
    Some(escaped)
}

/// The text on one line, in a form that is safe for a terminal.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    without_controls(text).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// JSON with hidden characters escaped by the rules of JSON. Such characters can only be in strings.
pub(crate) fn json(text: impl Display) -> String {
    let text = text.to_string();
    if !text.contains(|c| is_hidden(c) && c != '\n') {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if !is_hidden(c) || c == '\n' {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped
}

/// The writer of the output.
pub(crate) struct Out<'a> {
    inner: Box<dyn Write + 'a>,
    /// Whether hidden characters are escaped.
    is_terminal: bool,
    /// The bytes of a character that is not complete yet.
    begun: Vec<u8>,
}

impl<'a> Out<'a> {
    /// Writes to `inner`; on a terminal hidden characters are escaped, except line breaks and tabs.
    pub(crate) fn new(inner: impl Write + 'a, is_terminal: bool) -> Self {
        Out { inner: Box::new(inner), is_terminal, begun: Vec::new() }
    }

    /// Whether this is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Writes our own text, which may have colours. Any text in it from elsewhere must be [`harmless`].
    pub(crate) fn own(&mut self, text: impl Display) -> io::Result<()> {
        write!(self.inner, "{text}")
    }

    /// Writes a line of JSON.
    pub(crate) fn json_line(&mut self, value: impl Display) -> io::Result<()> {
        writeln!(self.inner, "{}", json(value))
    }
}

impl Write for Out<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.inner.write(bytes);
        }
        self.begun.extend_from_slice(bytes);
        let pending = std::mem::take(&mut self.begun);
        let mut shown = String::with_capacity(pending.len());
        let mut rest = pending.as_slice();
        while !rest.is_empty() {
            let (valid, invalid, is_begun) = match std::str::from_utf8(rest) {
                Ok(_) => (rest.len(), 0, false),
                Err(error) => {
                    let valid = error.valid_up_to();
                    let invalid = error.error_len();
                    (valid, invalid.unwrap_or(rest.len() - valid), invalid.is_none())
                }
            };
            let (text, after) = rest.split_at_checked(valid).unwrap_or((rest, &[]));
            let (odd, after) = after.split_at_checked(invalid).unwrap_or((after, &[]));
            for c in std::str::from_utf8(text).unwrap_or_default().chars() {
                match is_hidden(c) && !matches!(c, '\n' | '\t') {
                    true => shown.extend(c.escape_default()),
                    false => shown.push(c),
                }
            }
            match is_begun {
                true => self.begun = odd.to_vec(),
                // Bytes that are not text: some of them control 8-bit terminals.
                false => shown.extend(odd.iter().map(|byte| format!("\\x{byte:02x}"))),
            }
            rest = after;
        }
        self.inner.write_all(shown.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_get_no_hidden_characters_and_pipes_get_all() {
        let raw = "a\u{1b}[31m\u{202e}b\tc\n\u{9b}1mé\u{200b}\r";
        for (is_terminal, expected) in
            [(true, "a\\u{1b}[31m\\u{202e}b\tc\n\\u{9b}1mé\\u{200b}\\r"), (false, raw)]
        {
            // A character may be split between writes.
            for size in [1, 2, 3, 100] {
                let mut written = Vec::new();
                let mut out = Out::new(&mut written, is_terminal);
                raw.as_bytes().chunks(size).for_each(|piece| out.write_all(piece).unwrap());
                drop(out);
                assert_eq!(String::from_utf8(written).unwrap(), expected);
            }
        }
        let mut written = Vec::new();
        Out::new(&mut written, true).write_all(b"a\x9b1m\xff\xc3").unwrap();
        assert_eq!(written, b"a\\x9b1m\\xff");
    }

    #[test]
    fn json_is_escaped_by_its_own_rules() {
        let value = serde_json::json!({"a\u{1b}": "\u{202e}\u{e0041}\u{7f}å\n"});
        let text = json(&value);
        assert_eq!(text, r#"{"a\u001b":"\u202e\udb40\udc41\u007få\n"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
