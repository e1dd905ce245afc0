//! The characters of a text, as input for the YAML scanner.

use saphyr_parser::Input;
use saphyr_parser::input::{is_blank_or_breakz, is_flow};

/// The rest of a text. Nearly all text is ASCII: one table lookup classifies a byte for the scanner. The standard
/// input of the parser decodes each character, and the next one, several times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Characters<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Characters<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Characters { text, at: 0 }
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn class(&self) -> Class {
        match self.byte() {
            Some(byte) => CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Other),
            None => Class::Break,
        }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }
}

impl Input for Characters<'_> {
    #[inline]
    fn lookahead(&mut self, _: usize) {}

    /// Lookahead is possible to the end.
    #[inline]
    fn buflen(&self) -> usize {
        usize::MAX
    }

    #[inline]
    fn bufmaxlen(&self) -> usize {
        LOOKAHEAD
    }

    #[inline]
    fn raw_read_ch(&mut self) -> char {
        let next = self.peek();
        self.skip();
        next
    }

    #[inline]
    fn raw_read_non_breakz_ch(&mut self) -> Option<char> {
        let next = self.peek_opt().filter(|c| !matches!(c, '\r' | '\n' | '\0' | '\u{feff}'))?;
        self.skip();
        Some(next)
    }

    #[inline]
    fn skip(&mut self) {
        self.at += match self.byte() {
            Some(..0x80) => 1,
            Some(_) => self.rest().chars().next().map_or(0, char::len_utf8),
            None => 0,
        };
    }

    #[inline]
    fn skip_n(&mut self, count: usize) {
        (0..count).for_each(|_| self.skip());
    }

    #[inline]
    fn peek(&self) -> char {
        self.peek_opt().unwrap_or('\0')
    }

    #[inline]
    fn peek_nth(&self, n: usize) -> char {
        let mut ahead = *self;
        ahead.skip_n(n);
        ahead.peek()
    }

    #[inline]
    fn peek_opt(&self) -> Option<char> {
        match self.byte()? {
            byte @ ..0x80 => Some(char::from(byte)),
            _ => self.rest().chars().next(),
        }
    }

    #[inline]
    fn next_can_be_plain_scalar(&self, in_flow: bool) -> bool {
        match self.class() {
            Class::Plain | Class::Blank | Class::Break => true,
            Class::Flow => !in_flow,
            Class::Other if self.byte() == Some(b':') => {
                let behind = self.peek_nth(1);
                !(is_blank_or_breakz(behind) || in_flow && is_flow(behind))
            }
            // A byte order mark ends a plain scalar.
            Class::Other => self.peek() != '\u{feff}',
        }
    }

    #[inline]
    fn next_is_blank_or_breakz(&self) -> bool {
        matches!(self.class(), Class::Blank | Class::Break)
    }

    #[inline]
    fn next_is_blank(&self) -> bool {
        self.class() == Class::Blank
    }

    #[inline]
    fn next_is_breakz(&self) -> bool {
        self.class() == Class::Break
    }

    #[inline]
    fn next_is_flow(&self) -> bool {
        self.class() == Class::Flow
    }
}

/// The lookahead of the scanner. With a larger one it would move most scalars.
const LOOKAHEAD: usize = 16;

/// The class of a byte within a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Part of the scalar.
    Plain,
    /// A space or a tab.
    Blank,
    /// The end of a line or of the text.
    Break,
    /// A bracket or a comma.
    Flow,
    /// A byte whose class depends on others: a colon, and the first byte of a character that is not ASCII.
    Other,
}

#[allow(clippy::indexing_slicing, reason = "the compiler runs it")]
const CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let mut byte = 0;
    while byte < classes.len() {
        classes[byte] = match byte {
            0x20 | 0x09 => Class::Blank,
            0x0a | 0x0d | 0x00 => Class::Break,
            0x2c | 0x5b | 0x5d | 0x7b | 0x7d => Class::Flow,
            0x3a | 0x80.. => Class::Other,
            _ => Class::Plain,
        };
        byte += 1;
    }
    classes
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use saphyr_parser::{BufferedInput, Parser};

    proptest! {
        /// Compares with the input of single characters that the parser provides.
        #[test]
        fn gives_the_same_events_as_input_of_single_characters(
            text in "[-a-z0-9:,\\[\\]{}#&*!|>'\"%@`?. \\t\\n\\r\u{feff}äあ𝄞]{0,60}"
        ) {
            let events = |result| format!("{result:?}");
            let ours: Vec<_> = Parser::new(Characters::of(&text)).take(200).map(events).collect();
            let theirs: Vec<_> = Parser::new(BufferedInput::new(text.chars())).take(200).map(events).collect();
            prop_assert_eq!(ours, theirs);
        }
    }
}
