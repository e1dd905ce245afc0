//! The severity of a finding, for checks of any kind.

use std::fmt;

/// The severity of a finding; the most severe orders first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The content breaks the specification, or does not mean what its author intended.
    Error,
    /// The content is allowed, but possibly unintended.
    Warning,
    /// The finding is worth knowing.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        })
    }
}
