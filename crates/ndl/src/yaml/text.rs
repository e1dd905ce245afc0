//! Strings that take several lines.

use super::{STEP, WIDTH, Writer};
use crate::quote;

impl Writer<'_> {
    /// Writes a string after a key or dash at column `indent`: literal if it has several lines, folded if it is too
    /// long for one, otherwise plain or quoted.
    pub(super) fn text(&mut self, text: &str, indent: usize) {
        let plain = quote::is_plain(text, false);
        if !plain && is_literal(text) {
            return self.literal(text, indent + STEP);
        }
        let (len, column) = (self.out.len(), self.column);
        self.push(" ");
        match plain {
            true => self.push(text),
            false => self.write(|out| quote::write(out, text, false)),
        }
        self.tight |= self.column + STEP > WIDTH;
        if self.column > WIDTH && is_foldable(text) {
            self.out.truncate(len);
            self.column = column;
            return self.folded(text, indent + STEP);
        }
        self.new_line();
    }

    fn literal(&mut self, text: &str, indent: usize) {
        let (body, header) = match text.strip_suffix('\n') {
            None => (text, " |-"),
            // The empty line that ends this text also separates it from what follows.
            Some(body) if body.ends_with('\n') => (body, " |+"),
            Some(body) => (body, " |"),
        };
        self.line(header);
        for line in body.split('\n') {
            if !line.is_empty() {
                self.pad(indent);
                self.out.push_str(line);
            }
            self.new_line();
        }
    }

    fn folded(&mut self, text: &str, indent: usize) {
        self.line(" >-");
        for word in text.split(' ') {
            if self.column > 0 && self.column + 1 + word.chars().count() > WIDTH {
                self.new_line();
            }
            match self.column {
                0 => self.pad(indent),
                _ => self.push(" "),
            }
            self.push(word);
        }
        self.new_line();
    }
}

/// Whether a string has several lines and a literal block preserves all of it: a first line that begins with white
/// space needs an indicator, and editors strip white space at line ends.
fn is_literal(text: &str) -> bool {
    if !text.contains('\n') {
        return false;
    }
    let shown = |c| c == '\n' || c == '\t' || quote::is_printable(c);
    let first = text.trim_start_matches('\n').chars().next();
    first.is_some_and(|c| !c.is_whitespace())
        && text.chars().all(shown)
        && text.split('\n').all(|line| !line.ends_with([' ', '\t']))
}

/// Whether a reader gets back the same string if it is folded at single spaces.
fn is_foldable(text: &str) -> bool {
    text.split(' ').all(|word| !word.is_empty())
        && text.contains(' ')
        && text.chars().all(quote::is_printable)
}
