//! What is wrong with a text, and where.

mod source;

pub use source::Source;

use hyperslab_core::Severity;
use std::fmt;

/// One finding in a text.
///
/// Displayed on one line: `12:5: error: int8 has no 300 [ndl/value-range]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The name of the rule that is broken: `ndl/value-shape`.
    pub rule: &'static str,
    /// What was found and what was expected.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The first character on that line, from 1.
    pub column: usize,
    /// The character behind the last one on that line.
    pub end_column: usize,
    /// How to mend it.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// Several lines: rule and message, the place in `file`, the line of `source` with what is meant marked
    /// under it, and the hint; with colours for a terminal where `color` is set. Where several findings of one
    /// text are shown, a [`Source`] looks through the text once.
    ///
    /// ```
    /// use hyperslab_ndl::{Diagnostic, Severity};
    ///
    /// let diagnostic = Diagnostic {
    ///     severity: Severity::Error,
    ///     rule: "ndl/type",
    ///     message: "no type \"float\"".into(),
    ///     line: 1,
    ///     column: 7,
    ///     end_column: 12,
    ///     hint: Some("did you mean float32?".into()),
    /// };
    /// let shown = diagnostic.render("a.yaml", b"type: float\n", false);
    /// assert_eq!(
    ///     shown,
    ///     "error[ndl/type]: no type \"float\"\n --> a.yaml:1:7\n  |\n1 | type: float\n  |       ^^^^^\n  |\n  = help: did you mean float32?\n"
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
