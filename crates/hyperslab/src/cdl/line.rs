//! The output of CDL: its indentation, and where lines are broken.

use hyperslab_core::Result;
use std::io::Write;

/// Text that is indented according to the depth of its group, parts of which are broken into lines.
pub(super) struct Lines<'o> {
    out: &'o mut dyn Write,
    indent: usize,
    /// The column as the line breaker counts it. Only its own output counts, even across several declarations.
    column: usize,
}

impl<'o> Lines<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> Self {
        Lines { out, indent: 0, column: 0 }
    }

    /// Writes bytes unchanged.
    pub(super) fn put(&mut self, bytes: impl AsRef<[u8]>) -> Result<()> {
        Ok(self.out.write_all(bytes.as_ref())?)
    }

    /// Begins a line with the indentation of the group.
    pub(super) fn begin(&mut self) -> Result<()> {
        for _ in 0..self.indent {
            self.out.write_all(b" ")?;
        }
        Ok(())
    }

    /// Writes a whole line.
    pub(super) fn line(&mut self, bytes: impl AsRef<[u8]>) -> Result<()> {
        self.begin()?;
        self.put(bytes)?;
        self.put("\n")
    }

    /// Writes a comment on content that CDL cannot express. A line break would end it.
    pub(super) fn comment(&mut self, text: &str) -> Result<()> {
        self.line(format!("// not in CDL: {}", text.replace(char::is_control, "\u{fffd}")))
    }

    /// Writes a comment on content that was not requested.
    pub(super) fn left_out(&mut self, text: &str) -> Result<()> {
        self.line(format!("// left out: {}", text.replace(char::is_control, "\u{fffd}")))
    }

    /// Writes a text that is never broken, after a line break if it would exceed the line.
    pub(super) fn unbroken(&mut self, text: impl AsRef<[u8]>) -> Result<()> {
        let text = text.as_ref();
        if text.len() > 2 && self.column.saturating_add(text.len()) > WIDTH {
            self.put("\n")?;
            self.begin()?;
            self.put(CONTINUED)?;
            self.column = CONTINUED.len() + self.indent;
        }
        self.put(text)?;
        match text.last() {
            Some(b'\n') => self.column = self.indent,
            _ => self.column = self.column.saturating_add(text.len()),
        }
        Ok(())
    }

    /// Sets the column, for text that was written without the line breaker.
    pub(super) fn set_column(&mut self, column: usize) {
        self.column = column.saturating_add(self.indent);
    }

    pub(super) fn deeper(&mut self) {
        self.indent = self.indent.saturating_add(STEP);
    }

    pub(super) fn back(&mut self) {
        self.indent = self.indent.saturating_sub(STEP);
    }
}

/// The indentation of a group inside a group.
const STEP: usize = 2;

/// The start of a line that continues another one.
const CONTINUED: &str = "    ";

/// The last column for a value in a line of 80 columns with a delimiter after it.
const WIDTH: usize = 78;
