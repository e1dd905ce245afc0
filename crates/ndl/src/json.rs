//! Writes trees as JSON, always in long form.

use crate::number;
use crate::quote::is_hidden;
use crate::tree::{Key, Rows, Scalar, Style, Tree};
use crate::yaml::spaces;
use std::fmt::Write as _;

/// Writes one entry of an object at column `indent`, without the comma or bracket after it.
pub(crate) fn entry(out: &mut String, key: Key<'_>, tree: &Tree<'_>, indent: usize) {
    pad(out, indent);
    self::key(out, key);
    value(out, tree, Some(indent));
}

/// Writes a string in quotes.
pub(crate) fn text(out: &mut String, text: &str) {
    out.push('"');
    if text.bytes().fold(true, |all, b| all & !matches!(b, b'"' | b'\\' | 0..b' ' | 0x7f..)) {
        out.push_str(text);
        return out.push('"');
    }
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            // Writing to a string cannot fail.
            _ if is_hidden(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// Writes a list or object on one line.
pub(crate) fn inline(out: &mut String, tree: &Tree<'_>) {
    value(out, tree, None);
}

/// Begins a line.
pub(crate) fn pad(out: &mut String, indent: usize) {
    spaces(out, indent);
}

/// Writes a key and its colon.
pub(crate) fn key(out: &mut String, key: Key<'_>) {
    let (Key::Word(name) | Key::Name(name)) = key;
    text(out, name);
    out.push_str(": ");
}

/// Writes a value. `open` is the column of the object around it, if that object has one entry per line.
fn value(out: &mut String, tree: &Tree<'_>, open: Option<usize>) {
    match tree {
        Tree::Scalar(one) => scalar(out, one),
        Tree::List(style, items) => {
            let inner = open.filter(|_| *style == Style::Open && !items.is_empty());
            all(out, items.iter(), ['[', ']'], inner, |out, item| value(out, item, inner.map(|at| at + 2)));
        }
        Tree::Map(style, entries) => {
            let inner = open.filter(|_| *style == Style::Open && !entries.is_empty());
            all(out, entries.iter(), ['{', '}'], inner, |out, (name, tree)| {
                key(out, *name);
                value(out, tree, inner.map(|at| at + 2));
            });
        }
        Tree::Rows(one) => rows(out, one, open),
        Tree::Table(table) => {
            let inner = open.filter(|_| !table.is_empty());
            all(out, table.rows(), ['[', ']'], inner, |out, row| value(out, &row, None));
        }
    }
}

fn rows(out: &mut String, rows: &Rows<'_>, open: Option<usize>) {
    let inner = open.filter(|_| rows.is_block());
    all(out, rows.items(), ['[', ']'], inner, |out, item| match &item {
        Tree::Rows(row) => self::rows(out, row, inner.map(|at| at + 2)),
        item => value(out, item, None),
    });
}

/// Writes items in brackets, each on its own line one step right of `open`, or all on one line.
fn all<T>(
    out: &mut String,
    items: impl Iterator<Item = T>,
    brackets: [char; 2],
    open: Option<usize>,
    write: impl Fn(&mut String, T),
) {
    out.push(brackets[0]);
    for (index, item) in items.enumerate() {
        match open {
            Some(at) => {
                out.push_str(if index > 0 { ",\n" } else { "\n" });
                pad(out, at + 2);
            }
            None if index > 0 => out.push_str(", "),
            None => {}
        }
        write(out, item);
    }
    if let Some(at) = open {
        out.push('\n');
        pad(out, at);
    }
    out.push(brackets[1]);
}

fn scalar(out: &mut String, scalar: &Scalar<'_>) {
    match scalar {
        Scalar::Null => out.push_str("null"),
        Scalar::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Scalar::Int(value) => number::int(out, *value),
        Scalar::Number(value) => {
            number::float(out, *value, ["\"NaN\"", "\"Infinity\"", "\"-Infinity\""]);
        }
        Scalar::Text(value) => text(out, value),
        Scalar::Bits(bytes) => hex(out, bytes.iter().rev()),
        Scalar::Hex(bytes) => hex(out, bytes.iter()),
        // JSON has no tags. The key `x-bytes`, which NDL readers ignore, marks bytes.
        Scalar::Bytes(bytes) => {
            out.push_str("{\"x-bytes\": ");
            hex(out, bytes.iter());
            out.push('}');
        }
    }
}

fn hex<'a>(out: &mut String, bytes: impl Iterator<Item = &'a u8>) {
    out.push_str("\"0x");
    number::hex(out, bytes);
    out.push('"');
}
