//! Emits values as text.

use super::{Json, Object};
use std::fmt::Write;

impl Json {
    /// The value as text, indented by two spaces per level as in zarr-python. Arrays of scalars take one line. NaN and
    /// infinities, which only attributes have, are written as bare words, as zarr-python writes and reads them.
    pub fn emit(&self) -> String {
        let mut text = String::new();
        emit(self, 0, &mut text);
        text
    }

    /// The value as text without white space. NaN and infinities are written as bare words.
    pub fn emit_compact(&self) -> String {
        let mut text = String::new();
        emit_compact(self, &mut text);
        text
    }
}

fn emit(json: &Json, depth: usize, text: &mut String) {
    match json {
        Json::Null => text.push_str("null"),
        Json::Bool(true) => text.push_str("true"),
        Json::Bool(false) => text.push_str("false"),
        Json::Number(number) => text.push_str(number.as_str()),
        Json::String(string) => quote(string, text),
        Json::Array(items) => array(items, depth, text),
        Json::Object(members) => object(members, depth, text),
    }
}

fn emit_compact(json: &Json, text: &mut String) {
    match json {
        Json::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                emit_compact(item, text);
            }
            text.push(']');
        }
        Json::Object(members) => {
            text.push('{');
            for (index, (name, value)) in members.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                quote(name, text);
                text.push(':');
                emit_compact(value, text);
            }
            text.push('}');
        }
        Json::Number(number) => text.push_str(number.as_str()),
        plain => emit(plain, 0, text),
    }
}

fn array(items: &[Json], depth: usize, text: &mut String) {
    let flat = items.iter().all(|item| !matches!(item, Json::Array(_) | Json::Object(_)));
    text.push('[');
    for (index, item) in items.iter().enumerate() {
        match (flat, index) {
            (true, 0) => {}
            (true, _) => text.push_str(", "),
            (false, 0) => line(depth + 1, text),
            (false, _) => {
                text.push(',');
                line(depth + 1, text);
            }
        }
        emit(item, depth + 1, text);
    }
    if !flat {
        line(depth, text);
    }
    text.push(']');
}

fn object(members: &Object, depth: usize, text: &mut String) {
    if members.is_empty() {
        return text.push_str("{}");
    }
    text.push('{');
    for (index, (name, value)) in members.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        line(depth + 1, text);
        quote(name, text);
        text.push_str(": ");
        emit(value, depth + 1, text);
    }
    line(depth, text);
    text.push('}');
}

fn line(depth: usize, text: &mut String) {
    text.push('\n');
    for _ in 0..depth {
        text.push_str("  ");
    }
}

fn quote(string: &str, text: &mut String) {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c if c < ' ' || c == '\u{7f}' => {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('"');
}
