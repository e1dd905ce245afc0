//! What a check of conventions finds.

use hyperslab_core::Severity;
use hyperslab_core::check::Rule;

/// Something that a convention does not allow, or advises against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// An error for a requirement, a warning for a recommendation. Rules of requirements have recommendations beside them.
    pub severity: Severity,
    /// The path of the object, or `PATH@NAME` for an attribute.
    pub object: String,
    /// What was found, and what was expected.
    pub message: String,
    /// What to do about it; empty if nothing.
    pub hint: String,
}
