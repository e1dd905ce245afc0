//! Places in the text of a document.
//!
//! Spec: RFC 8259, RFC 6901

use super::findings::ValuePlace;
use crate::json::Json;
use hyperslab_core::Limits;
use std::ops::Range;

/// The byte range of the value at a JSON Pointer, in a text that is valid JSON. If there is no such value, the first
/// byte of the object or array that should contain it.
pub(super) fn locate(text: &[u8], pointer: &str) -> (Range<usize>, bool) {
    let mut at = Scanner { text, at: 0 };
    at.space();
    for token in pointer.split('/').skip(1) {
        let start = at.at;
        let token = token.replace("~1", "/").replace("~0", "~");
        if !at.enter(&token) {
            return (start..start.saturating_add(1), false);
        }
    }
    let start = at.at;
    at.value();
    (start..at.at, true)
}

/// Converts a byte range to lines and characters.
pub(super) fn place(text: &[u8], range: &Range<usize>) -> ValuePlace {
    let before = text.get(..range.start.min(text.len())).unwrap_or_default();
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let characters = |bytes: &[u8]| bytes.iter().filter(|byte| (**byte & 0xc0) != 0x80).count();
    let column = characters(before.get(line_start..).unwrap_or_default()) + 1;
    let meant = text.get(range.start..range.end.min(text.len())).unwrap_or_default();
    let meant = meant.split(|byte| *byte == b'\n').next().unwrap_or_default();
    ValuePlace::Text {
        line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
        column,
        end_column: column + characters(meant).max(1),
        byte: range.start as u64,
    }
}

/// Replaces bare `NaN` and `Infinity` with numbers of the same length. Returns their places.
pub(super) fn make_finite(text: &mut [u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut in_string = false;
    while let Some(byte) = text.get(at).copied() {
        let rest = text.get(at..).unwrap_or_default();
        let word = WORDS.iter().find(|word| !in_string && rest.starts_with(word.as_bytes()));
        match (byte, word) {
            (_, Some(word)) => {
                let end = at + word.len();
                let is_negative = at.checked_sub(1).and_then(|before| text.get(before)) == Some(&b'-');
                let range = at - usize::from(is_negative)..end;
                if let Some([first, others @ ..]) = text.get_mut(range.clone()) {
                    *first = b'0';
                    others.fill(b' ');
                }
                at = end;
                found.push(range);
                continue;
            }
            (b'"', _) => in_string = !in_string,
            (b'\\', _) if in_string => at += 1,
            _ => {}
        }
        at += 1;
    }
    found
}

/// Splits a message of the reader into JSON Pointer and text. Names in the pointer may contain the separator.
pub(super) fn split(text: &[u8], detail: &str) -> (String, String) {
    let Some((_, rest)) = detail.split_once('#') else {
        return (String::new(), detail.split_once(": ").map_or(detail, |(_, what)| what).to_owned());
    };
    let parted = |at: usize| Some((rest.get(..at)?, rest.get(at + 2..)?));
    let mut candidates = rest.match_indices(": ").filter_map(|(at, _)| parted(at)).take(MAX_PARTED);
    let first = candidates.clone().next();
    let (pointer, what) =
        candidates.find(|(pointer, _)| locate(text, pointer).1).or(first).unwrap_or(("", rest));
    (pointer.to_owned(), what.to_owned())
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    /// Moves to the member or item with this name in the object or array that begins here.
    fn enter(&mut self, token: &str) -> bool {
        let is_object = match self.peek() {
            Some(b'{') => true,
            Some(b'[') => false,
            _ => return false,
        };
        self.at += 1;
        let mut index = 0_u64;
        loop {
            self.space();
            let found = match is_object {
                true => {
                    let start = self.at;
                    if !self.string() {
                        return false;
                    }
                    let name = self.text.get(start..self.at).unwrap_or_default();
                    self.space();
                    self.at += 1;
                    self.space();
                    is_named(name, token)
                }
                false => index.to_string() == token,
            };
            if found {
                return !matches!(self.peek(), None | Some(b']' | b'}'));
            }
            self.value();
            self.space();
            if self.peek() != Some(b',') {
                return false;
            }
            self.at += 1;
            index += 1;
        }
    }

    /// Moves past the value that begins here.
    fn value(&mut self) {
        let mut depth = 0_u32;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.string();
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                Some(_) if depth > 0 => self.at += 1,
                Some(b',' | b' ' | b'\t' | b'\n' | b'\r') | None => return,
                Some(_) => {
                    self.at += 1;
                    if matches!(self.peek(), Some(b'}' | b']')) {
                        return;
                    }
                    continue;
                }
            }
            if depth == 0 || self.peek().is_none() {
                return;
            }
        }
    }

    fn string(&mut self) -> bool {
        if self.peek() != Some(b'"') {
            return false;
        }
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += match byte {
                b'\\' => 2,
                _ => 1,
            };
            if byte == b'"' {
                return true;
            }
        }
        false
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }
}

fn is_named(quoted: &[u8], name: &str) -> bool {
    match quoted.contains(&b'\\') {
        true => {
            Json::parse("name", quoted, &Limits::default()).is_ok_and(|found| found.as_str() == Some(name))
        }
        false => {
            quoted.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) == Some(name.as_bytes())
        }
    }
}

/// The maximum number of separators that are tried. Each takes one pass over the whole text.
const MAX_PARTED: usize = 8;

const WORDS: [&str; 2] = ["NaN", "Infinity"];

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{
  "shape": [3, 44],
  "é\"": {"a/b": null, "": {"x": "}"}},
  "last": -1.5e3}"#;

    fn found(pointer: &str) -> (&'static str, bool) {
        let (range, exact) = locate(TEXT.as_bytes(), pointer);
        (&TEXT[range], exact)
    }

    #[test]
    fn resolves_json_pointers() {
        assert_eq!(found("/shape"), ("[3, 44]", true));
        assert_eq!(found("/shape/1"), ("44", true));
        assert_eq!(found("/é\"/a~1b"), ("null", true));
        assert_eq!(found("/é\"/"), (r#"{"x": "}"}"#, true));
        assert_eq!(found("/é\"//x"), (r#""}""#, true));
        assert_eq!(found("/last"), ("-1.5e3", true));
        assert_eq!(found("").0.len(), TEXT.len());
    }

    #[test]
    fn a_missing_member_has_the_place_of_its_object() {
        assert_eq!(found("/shape/2"), ("[", false));
        assert_eq!(found("/shape/x"), ("[", false));
        assert_eq!(found("/none"), ("{", false));
        assert_eq!(found("/last/more"), ("-", false));
        assert_eq!(locate(b"[]", "/0"), (0..1, false));
        assert_eq!(locate(b"{}", "/0"), (0..1, false));
        assert_eq!(locate(b"", "/0"), (0..1, false));
    }

    #[test]
    fn places_count_characters_from_one() {
        let at = |pointer: &str| place(TEXT.as_bytes(), &locate(TEXT.as_bytes(), pointer).0);
        assert_eq!(at("/shape/1"), ValuePlace::Text { line: 2, column: 16, end_column: 18, byte: 17 });
        assert_eq!(at("/é\"/a~1b"), ValuePlace::Text { line: 3, column: 18, end_column: 22, byte: 40 });
        assert_eq!(at(""), ValuePlace::Text { line: 1, column: 1, end_column: 2, byte: 0 });
    }

    #[test]
    fn replaces_only_bare_words() {
        let mut text = br#"{"NaN": [NaN, -Infinity, "\"NaN"]}"#.to_vec();
        assert_eq!(make_finite(&mut text), [9..12, 14..23]);
        assert_eq!(text, br#"{"NaN": [0  , 0        , "\"NaN"]}"#);
    }

    #[test]
    fn splits_messages_and_pointers() {
        let text = br#"{"a: b": {"c": 1}}"#;
        let parted = |detail: &str| split(text, detail);
        let pair = |pointer: &str, what: &str| (pointer.to_owned(), what.to_owned());
        assert_eq!(parted("zarr.json#/a: b/c: 1, expected x: y"), pair("/a: b/c", "1, expected x: y"));
        assert_eq!(parted("zarr.json: no \"shape\""), pair("", "no \"shape\""));
        assert_eq!(parted("zarr.json#/none/x: no endian"), pair("/none/x", "no endian"));
    }
}
