//! Findings of checks of conventions.

use hyperslab_core::Severity;
use hyperslab_core::check::Rule;

/// A violation of a convention, or something that it advises against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// An error for a requirement, a warning for a recommendation. Rules for requirements can also contain
    /// recommendations.
    pub severity: Severity,
    /// The path of the object, or `PATH@NAME` for an attribute.
    pub object: String,
    /// What was found, and what was expected.
    pub message: String,
    /// How to fix it; empty if there is no advice.
    pub hint: String,
}
