//! Values separated by commas or tabs (RFC 4180).

use super::rows::each_row;
use crate::terminal::{Out, harmless};
use hyperslab::Result;
use hyperslab::model::{Datatype, Element, ElementRef};
use hyperslab::show::Shown;
use hyperslab::tabular::{Tabular, plain};
use std::io::Write;

/// A line with the names of the columns, then one line for each row. Nulls are empty.
pub(super) fn write(tabular: &Tabular<'_>, separator: char, out: &mut Out<'_>) -> Result<()> {
    let is_terminal = out.is_terminal();
    let names = tabular.columns().iter().map(|column| field(&column.name, separator, is_terminal));
    writeln!(out, "{}", names.collect::<Vec<_>>().join(&separator.to_string()))?;
    let text = |element: ElementRef<'_>| cell(element, &|of| tabular.text(of), separator, is_terminal);
    let mut line = String::new();
    each_row(tabular, &text, &mut |cells| {
        line.clear();
        for (index, cell) in cells.enumerate() {
            if index > 0 {
                line.push(separator);
            }
            line.push_str(&cell);
        }
        end(&mut line);
        Ok(out.write_all(line.as_bytes())?)
    })
}

/// One line for each row of the last dimension, without a header. Members of compounds are columns. Nulls are empty.
pub(super) fn matrix(shown: &Shown, out: &mut Out<'_>) -> Result<()> {
    let is_terminal = out.is_terminal();
    let columns = shown.axes.last().map_or(1, |axis| axis.len());
    let mut line = String::new();
    if let Datatype::Compound(members) = shown.datatype.resolved() {
        let names: Vec<_> = members.iter().map(|member| field(&member.name, ',', is_terminal)).collect();
        writeln!(out, "{}", names.join(","))?;
        for element in shown.elements() {
            line.clear();
            if let Element::Compound(fields) = element.get() {
                push(&mut line, fields.map(|(_, field)| field), is_terminal);
            }
            out.write_all(line.as_bytes())?;
        }
        return Ok(());
    }
    let mut elements = shown.elements();
    while elements.len() > 0 {
        line.clear();
        push(&mut line, elements.split(columns.max(1)), is_terminal);
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

fn push<'a>(line: &mut String, elements: impl Iterator<Item = ElementRef<'a>>, is_terminal: bool) {
    for (index, element) in elements.enumerate() {
        if index > 0 {
            line.push(',');
        }
        line.push_str(&cell(element, &plain, ',', is_terminal));
    }
    end(line);
}

/// Ends a line. An empty line becomes a quoted empty string, since readers skip empty lines.
fn end(line: &mut String) {
    if line.is_empty() {
        line.push_str("\"\"");
    }
    line.push('\n');
}

/// An element as a field; empty for a null.
fn cell(
    element: ElementRef<'_>,
    text: &dyn Fn(ElementRef<'_>) -> String,
    separator: char,
    is_terminal: bool,
) -> String {
    match element.get() {
        Element::Null => String::new(),
        _ => field(&text(element), separator, is_terminal),
    }
}

/// A field unchanged, or on one line if it is written to a terminal.
fn field(text: &str, separator: char, is_terminal: bool) -> String {
    match is_terminal {
        true => quoted(&harmless(text), separator),
        false => quoted(text, separator),
    }
}

/// A field as in RFC 4180.
fn quoted(text: &str, separator: char) -> String {
    if text.contains([separator, '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
