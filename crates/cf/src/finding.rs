//! What a check of conventions finds.

use hyperslab_core::check::Rule;

/// Something that a convention does not allow, or advises against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The path of the object, or `PATH@NAME` for an attribute.
    pub object: String,
    /// What was found, and what was expected.
    pub message: String,
    /// What to do about it; empty if nothing.
    pub hint: String,
}
