//! Writes trees as YAML that versions 1.1 and 1.2 read in the same way: block style for maps of names, flow style
//! elsewhere.

mod flow;
mod text;

use crate::lower::element;
use crate::tree::{Arrangement, Entries, Key, Rows, Scalar, Style, Tree};
use crate::{number, quote};

/// The last column of a line that can be broken.
const WIDTH: usize = 100;

/// The indentation of the members of the root group if there are other groups.
pub(crate) const STEP: usize = 2;

/// Longer keys get a separate line. Parsers search at most 1024 characters for the colon.
const LONG_KEY: usize = 1000;

/// Writes one entry of a block map at `indent`. Returns whether its lines would break differently one [`STEP`] to the
/// right.
pub(crate) fn entry(out: &mut String, key: Key<'_>, tree: &Tree<'_>, indent: usize) -> bool {
    let mut writer = Writer { out, column: 0, tight: false };
    writer.entry(key, tree, indent, true);
    writer.tight
}

/// Writes a key of a block map and its colon.
pub(crate) fn header(out: &mut String, key: Key<'_>, indent: usize) {
    let mut writer = Writer { out, column: 0, tight: false };
    writer.key(key, indent, true);
    writer.new_line();
}

/// Writes a tree on one line, as within brackets.
pub(crate) fn inline(out: &mut String, tree: &Tree<'_>) {
    Writer { out, column: 0, tight: false }.flat(tree, usize::MAX);
}

struct Writer<'o> {
    out: &'o mut String,
    /// Characters on the line so far.
    column: usize,
    tight: bool,
}

/// What a value follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Key,
    Dash,
}

impl Writer<'_> {
    fn entry(&mut self, key: Key<'_>, tree: &Tree<'_>, indent: usize, pad: bool) {
        self.key(key, indent, pad);
        self.value(tree, indent, After::Key);
    }

    fn key(&mut self, key: Key<'_>, indent: usize, pad: bool) {
        if pad {
            self.pad(indent);
        }
        let start = self.out.len();
        match key {
            Key::Word(word) => self.push(word),
            Key::Name(name) => self.write(|out| quote::write(out, name, false)),
        }
        if self.out.len() - start > LONG_KEY {
            self.out.insert_str(start, "? ");
            self.new_line();
            self.pad(indent);
        }
        self.push(":");
    }

    /// Writes the value after a key or dash at column `indent`, and the end of the line.
    fn value(&mut self, tree: &Tree<'_>, indent: usize, after: After) {
        match tree {
            Tree::Scalar(Scalar::Text(text)) => self.text(text, indent),
            Tree::Scalar(scalar) => {
                self.push(" ");
                self.scalar(scalar, false);
                self.new_line();
            }
            Tree::List(_, items) if items.is_empty() => self.line(" []"),
            Tree::Map(_, entries) if entries.is_empty() => self.line(" {}"),
            Tree::List(Style::Flow, _) => {
                self.push(" ");
                self.filled(tree, indent + STEP, 0);
                self.new_line();
            }
            Tree::List(_, items) => {
                self.block(items.iter(), indent, after, |writer, item, indent| {
                    writer.item(item, indent);
                });
            }
            Tree::Map(style, entries) => {
                if *style == Style::Flow && self.on_this_line(tree) {
                    return self.new_line();
                }
                self.entries(entries, indent, after);
            }
            Tree::Table(table) if table.is_empty() => self.line(" []"),
            Tree::Table(table) => {
                self.block(table.rows(), indent, after, |writer, row, indent| writer.item(&row, indent));
            }
            Tree::Rows(rows) => {
                let widths = self.widths(rows);
                self.rows(rows, &widths, indent, after);
            }
        }
    }

    fn entries(&mut self, entries: &Entries<'_>, indent: usize, after: After) {
        self.block(entries.iter(), indent, after, |writer, (key, tree), indent| {
            writer.entry(*key, tree, indent, false);
        });
    }

    fn item(&mut self, item: &Tree<'_>, indent: usize) {
        self.push("-");
        self.value(item, indent, After::Dash);
    }

    /// Writes items one below the other. The first one can follow a dash.
    fn block<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        indent: usize,
        after: After,
        write: impl Fn(&mut Self, T, usize),
    ) {
        let mut pad = after == After::Key;
        match after {
            After::Key => self.new_line(),
            After::Dash => self.push(" "),
        }
        for item in items {
            if pad {
                self.pad(indent + STEP);
            }
            write(self, item, indent + STEP);
            pad = true;
        }
    }

    fn rows(&mut self, rows: &Rows<'_>, widths: &[u8], indent: usize, after: After) {
        if rows.is_block() {
            return self.block(rows.items(), indent, after, |writer, item, indent| match &item {
                Tree::Rows(rows) => {
                    writer.push("-");
                    writer.rows(rows, widths, indent, After::Dash);
                }
                item => writer.item(item, indent),
            });
        }
        self.push(" ");
        self.filled_row(rows, widths, indent + STEP);
        self.new_line();
    }

    /// The width of each column of the innermost rows, if there are several rows of numbers.
    fn widths(&mut self, rows: &Rows<'_>) -> Vec<u8> {
        let (Arrangement::Columns, [_, .., columns]) = (rows.arrangement, rows.shape.as_slice()) else {
            return Vec::new();
        };
        let Ok(columns) = usize::try_from(*columns) else { return Vec::new() };
        let mut widths = vec![0_u8; columns.min(rows.elements.len())];
        let mut elements = rows.elements.clone();
        let start = self.out.len();
        while elements.len() > 0 {
            for (width, one) in widths.iter_mut().zip(&mut elements) {
                if let Tree::Scalar(scalar) = element(one, rows.form) {
                    scalar_text(self.out, &scalar, true);
                }
                *width = u8::try_from(self.out.len() - start).unwrap_or(u8::MAX).max(*width);
                self.out.truncate(start);
            }
        }
        widths
    }

    fn scalar(&mut self, scalar: &Scalar<'_>, flow: bool) {
        self.write(|out| scalar_text(out, scalar, flow));
    }

    fn line(&mut self, text: &str) {
        self.push(text);
        self.new_line();
    }

    fn new_line(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    fn pad(&mut self, indent: usize) {
        spaces(self.out, indent);
        self.column += indent;
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += columns(text);
    }

    fn write(&mut self, write: impl FnOnce(&mut String)) {
        let start = self.out.len();
        write(self.out);
        self.column += self.out.get(start..).map_or(0, columns);
    }
}

/// Writes `count` spaces.
pub(crate) fn spaces(out: &mut String, count: usize) {
    const SPACES: &str = "                                ";
    match SPACES.get(..count) {
        Some(spaces) => out.push_str(spaces),
        None => out.extend(std::iter::repeat_n(' ', count)),
    }
}

fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

fn scalar_text(out: &mut String, scalar: &Scalar<'_>, flow: bool) {
    match scalar {
        Scalar::Null => out.push_str("null"),
        Scalar::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Scalar::Int(value) => number::int(out, *value),
        Scalar::Number(value) => number::float(out, *value, [".nan", ".inf", "-.inf"]),
        Scalar::Bits(bytes) => {
            out.push_str("0x");
            number::hex(out, bytes.iter().rev());
        }
        Scalar::Text(text) => quote::write(out, text, flow),
        Scalar::Bytes(bytes) => {
            out.push_str("!!binary \"");
            number::base64(out, bytes);
            out.push('"');
        }
        Scalar::Hex(bytes) => {
            out.push_str("\"0x");
            number::hex(out, bytes.iter());
            out.push('"');
        }
    }
}
