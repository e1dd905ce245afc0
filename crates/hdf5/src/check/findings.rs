//! What a check says: findings, and their number by rule.

use hyperslab_core::Severity;
use hyperslab_core::check::{Rule, count};

/// A fault, or something worth knowing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The name of the rule: one of [`RULES`](super::RULES).
    pub rule: &'static str,
    /// The path of the object that it is about; `None` if it is about the file.
    pub object: Option<String>,
    /// The structure, as the specification names it.
    pub structure: &'static str,
    /// The first byte that it is about, counted from the beginning of the file.
    pub byte: Option<u64>,
    /// How many bytes it is about, where that is known.
    pub len: Option<u64>,
    /// What was found and what was expected.
    pub message: String,
    /// What may be done about it.
    pub hint: Option<String>,
}

/// What a check found, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many findings there were by rule, those included that were not given; in order of [`RULES`](super::RULES).
    pub by_rule: Vec<(&'static Rule, u64)>,
    /// The number of objects that were reached.
    pub objects: u64,
    /// Bytes that belong to no structure; `None` if they were not counted.
    pub unaccounted: Option<u64>,
}

impl Summary {
    /// How many findings there were of one severity.
    pub fn count(&self, severity: Severity) -> u64 {
        count(&self.by_rule, severity)
    }
}

/// A piece of the file and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The structure, as the specification names it.
    pub structure: &'static str,
    /// Where it begins, counted from the beginning of the file.
    pub byte: u64,
    /// How many bytes it takes.
    pub len: u64,
    /// The object it belongs to, by number; 0 for the file. Objects are numbered in the order they are reached.
    pub object: u32,
    /// Whether it is a part of what was reached before, as messages are of an object header.
    pub is_part: bool,
    /// Whether it is allocated with the structure, which does not use it.
    pub is_spare: bool,
}
