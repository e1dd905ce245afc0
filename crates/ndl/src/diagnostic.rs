//! Diagnostics: the errors, warnings and notes of a text, with their places.

mod source;

pub use source::Source;

use hyperslab_core::Severity;
use std::fmt;

/// One finding in a text.
///
/// Displayed on one line: `12:5: error: "300" for int8: out of range [ndl/value-range]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The name of the broken rule: `ndl/value-shape`.
    pub rule: &'static str,
    /// The message: the found and the expected content.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The first character on that line, from 1.
    pub column: usize,
    /// The first character after the marked part, on the same line.
    pub end_column: usize,
    /// How to correct it.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// Formats the diagnostic in several lines: rule and message, the place in `file`, the line of `source` with the
    /// wrong part marked, and the hint. `color` adds colours for a terminal. To format several diagnostics of one
    /// text, use [`Source`], which finds its lines once.
    ///
    /// ```
    /// use hyperslab_ndl::{Diagnostic, Severity};
    ///
    /// let diagnostic = Diagnostic {
    ///     severity: Severity::Error,
    ///     rule: "ndl/type",
    ///     message: "unknown type \"float\"".into(),
    ///     line: 1,
    ///     column: 7,
    ///     end_column: 12,
    ///     hint: Some("did you mean float32?".into()),
    /// };
    /// let shown = diagnostic.render("a.yaml", b"type: float\n", false);
    /// assert_eq!(
    ///     shown,
    ///     "error[ndl/type]: unknown type \"float\"\n --> a.yaml:1:7\n  |\n1 | type: float\n  |       ^^^^^\n  |\n  = help: did you mean float32?\n"
    /// );
    /// ```
    pub fn render(&self, file: &str, source: &[u8], color: bool) -> String {
        Source::new(file, source).render(self, color)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnostic { severity, rule, message, line, column, hint, .. } = self;
        write!(f, "{line}:{column}: {severity}: {message} [{rule}]")?;
        match hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}
