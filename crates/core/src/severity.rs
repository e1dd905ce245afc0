//! How bad a finding is, whatever was looked at.

use std::fmt;

/// How bad it is; the worst is the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It breaks the specification, or does not say what its author meant.
    Error,
    /// It is allowed, but perhaps not what was meant.
    Warning,
    /// It is worth knowing.
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
