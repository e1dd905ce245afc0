//! Findings, and their number by rule.

use hyperslab_core::Severity;
use hyperslab_core::check::{Rule, count};

/// A fault in a file, or a note about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The name of the rule, which is in [`RULES`](super::RULES).
    pub rule: &'static str,
    /// The path of the object. `None` for the file as a whole.
    pub object: Option<String>,
    /// The name of the structure in the specification.
    pub structure: &'static str,
    /// The file offset of the first byte.
    pub byte: Option<u64>,
    /// The number of bytes, if known.
    pub len: Option<u64>,
    /// What was found and what was expected.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The totals of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of findings of each rule, including those that were not reported, in the order of
    /// [`RULES`](super::RULES).
    pub by_rule: Vec<(&'static Rule, u64)>,
    /// The number of objects that were reached.
    pub objects: u64,
    /// The number of bytes that belong to no structure. `None` if they were not counted.
    pub unaccounted: Option<u64>,
}

impl Summary {
    /// The number of findings of one severity.
    pub fn count(&self, severity: Severity) -> u64 {
        count(&self.by_rule, severity)
    }
}

/// A range of the file and its structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The name of the structure in the specification.
    pub structure: &'static str,
    /// The file offset of its first byte.
    pub byte: u64,
    /// Its length in bytes.
    pub len: u64,
    /// The number of its object, in the order in which objects are reached. 0 for the file.
    pub object: u32,
    /// Whether it is part of a range that was reported before, such as a message in an object header.
    pub is_part: bool,
    /// Whether it is allocated with the structure, which does not use it.
    pub is_spare: bool,
}
