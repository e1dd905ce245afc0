//! Explains YAML syntax errors to users who do not know how YAML is parsed.

use super::Span;

/// The place of a syntax error, and its message.
pub(super) struct Broken {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

/// Explains the error in `source` where the parser stopped with the message `info`. `open` are the starts of the open
/// collections.
pub(super) fn broken(source: &str, span: Span, info: &str, open: &[Span]) -> Broken {
    let lines = Lines(source);
    let at = |line, column, message: &str| Broken { line, column, message: message.into(), hint: None };
    let here = |message: &str| at(span.line, span.column, message);
    let line = lines.get(span.line);
    let before = line.get(..indent(line)).unwrap_or_default();
    if before.contains('\t') {
        let column = before.chars().position(|c| c == '\t').unwrap_or(0);
        let column = u32::try_from(column).unwrap_or(0).saturating_add(1);
        return at(span.line, column, "a tab in the indentation").hint("indent with spaces");
    }
    // The innermost open bracket or brace. It is not closed if the text at the error is not indented further.
    let bracket = open.iter().rev().find_map(|open| {
        let found = lines.get(open.line).chars().nth(index(open.column))?;
        matches!(found, '[' | '{').then_some((*open, found))
    });
    if let Some((open, found)) = bracket {
        let close = if found == '[' { ']' } else { '}' };
        if open.line < span.line && indent(line) <= indent(lines.get(open.line)) {
            let message = format!("a {found} without its {close}");
            let broken = at(open.line, open.column, &message);
            return match lines.ends_before(span.line) {
                true => broken.hint(format!("the text ends before a {close}")),
                false => broken.hint(format!("line {} is not part of it", span.line)),
            };
        }
        if info.contains("did not find expected ','") || info.contains("expected ',' or") {
            return here(&format!("expected a comma or {close} here")).hint(format!(
                "the {found} on line {} is open; put text that contains one of , [ ] {{ }} in quotes",
                open.line
            ));
        }
    }
    match info {
        "simple key expect ':'" | "simple key expected" => {
            // The unfinished key is on an earlier line or on this one.
            let (number, text) = lines.before(span.line.saturating_add(u32::from(!line.trim().is_empty())));
            let (number, text) = match has_colon(text) {
                true => lines.before(number),
                false => (number, text),
            };
            without_colon(number, text)
        }
        "mapping values are not allowed in this context"
            if lines.is_first_colon(span) && !has_colon(lines.before(span.line).1) =>
        {
            let (number, text) = lines.before(span.line);
            without_colon(number, text)
        }
        "mapping values are not allowed in this context" => here("a second colon on one line")
            .hint("put text that contains \": \" in quotes, or begin a new line"),
        "while parsing a block mapping, did not find expected key" if line.trim().starts_with("- ") => {
            here("a dash where a key of a map is expected").hint("remove it, or indent the line further")
        }
        "while parsing a block mapping, did not find expected key" => {
            match indent(line).saturating_add(1) == usize::try_from(span.column).unwrap_or(0) {
                true => here("a line that is not indented like the lines around it")
                    .hint("start all keys of a map in the same column"),
                false => here("text after the end of a value")
                    .hint("put text that begins with [ { or a quote in quotes"),
            }
        }
        "while parsing a block collection, did not find expected '-' indicator" => {
            here("a line without a dash among the items of a list").hint("begin each item with \"- \"")
        }
        "invalid indentation" | "invalid indentation in flow construct" => {
            here("a line that is indented too little")
        }
        "invalid indentation in quoted scalar"
        | "while scanning a quoted scalar, found unexpected end of stream"
        | "while scanning a quoted scalar, found unexpected document indicator" => {
            here("a quote without a closing quote on its line or on lines that are indented further")
                .hint("add the closing quote, or put the text in other quotes: \"it's\"")
        }
        "invalid trailing content after double-quoted scalar" => here("text after a closing quote")
            .hint("in '…' write '' for an apostrophe, in \"…\" write \\\" for a quote"),
        "while parsing a quoted scalar, found unknown escape character" => {
            here("an unknown escape sequence in double quotes")
                .hint("write \\\\ for a backslash, or use single quotes")
        }
        "while parsing node, found unknown anchor" => {
            here("an alias (*) without its anchor (&)").hint("put text that begins with * in quotes")
        }
        "while parsing a node, did not find expected node content" => {
            here("no value, expected one").hint("write null, or remove the comma")
        }
        "misplaced bracket" => here("a closing bracket without an opening one"),
        "missing explicit document end marker before directive" => {
            here("a line that begins with %, which is a directive of YAML")
                .hint("put text that begins with % in quotes")
        }
        _ => match info.strip_prefix("unexpected character: `").and_then(|rest| rest.strip_suffix('\'')) {
            Some(found) => here(&format!("unquoted text that begins with {found}")).hint("put it in quotes"),
            None => here(info.trim_end_matches('.')),
        },
    }
}

/// The error in a line without the colon that ends a key.
fn without_colon(line: u32, text: &str) -> Broken {
    let column = u32::try_from(indent(text)).unwrap_or(0).saturating_add(1);
    let message = "a line without a colon, expected a key and its value".into();
    let broken = Broken { line, column, message, hint: None };
    let words = text.trim();
    if line == 1 && words.starts_with("netcdf ") && words.ends_with('{') {
        return Broken { message: "CDL, the text form of NetCDF, expected YAML".into(), ..broken }
            .hint("`ncgen -4 -o FILE.nc FILE.cdl` converts it to a NetCDF file");
    }
    match words.split_once(':').or_else(|| words.split_once('=')) {
        _ if words.starts_with('-') => broken.hint("put a space after the dash of a list item"),
        _ if words.starts_with("//") => broken.hint("comments begin with #"),
        Some((key, _)) if words.contains(':') => {
            broken.hint(format!("put a space after the colon: {}: …", key.trim()))
        }
        Some((key, _)) => broken.hint(format!("write {}: …", key.trim())),
        None => broken.hint("write key: value; indent the text of a block further than its key"),
    }
}

fn has_colon(line: &str) -> bool {
    line.contains(": ") || line.trim_end().ends_with(':')
}

impl Broken {
    fn hint(self, hint: impl Into<String>) -> Self {
        Broken { hint: Some(hint.into()), ..self }
    }
}

struct Lines<'s>(&'s str);

impl<'s> Lines<'s> {
    /// A line by its number, counted from 1.
    fn get(&self, number: u32) -> &'s str {
        self.0.lines().nth(index(number)).unwrap_or_default()
    }

    /// Whether this line and all lines after it are empty.
    fn ends_before(&self, number: u32) -> bool {
        self.0.lines().skip(index(number)).all(|line| line.trim().is_empty())
    }

    /// Whether no colon before a place ends a key on its line.
    fn is_first_colon(&self, place: Span) -> bool {
        let before: String = self.get(place.line).chars().take(index(place.column)).collect();
        !before.contains(": ")
    }

    /// The last line before this one that is not empty or a comment.
    fn before(&self, number: u32) -> (u32, &'s str) {
        let before = self.0.lines().take(index(number)).zip(1..).filter(|(line, _)| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#')
        });
        before.last().map_or((1, ""), |(line, number)| (number, line))
    }
}

/// The width of the indentation in bytes.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

fn index(number: u32) -> usize {
    usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX)
}
