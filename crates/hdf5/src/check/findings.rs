//! What a check says: findings, and their number by rule.

use super::rule::{RULES, Rule};
use hyperslab_core::Severity;
use std::collections::BTreeMap;

/// What is checked, and how much is said.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether each chunk is decoded, with the checksums that its filters keep.
    pub values: bool,
    /// How many findings of one rule are given; the others are only counted.
    pub most_per_rule: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { values: false, most_per_rule: 100 }
    }
}

/// A fault, or something worth knowing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The name of the rule: one of [`RULES`].
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
    /// How many findings there were by rule, those included that were not given; in order of [`RULES`].
    pub by_rule: Vec<(&'static Rule, u64)>,
    /// The number of objects that were reached.
    pub objects: u64,
    /// Bytes that belong to no structure; `None` if they were not counted.
    pub unaccounted: Option<u64>,
}

impl Summary {
    /// How many findings there were of one severity.
    pub fn count(&self, severity: Severity) -> u64 {
        self.by_rule.iter().filter(|(rule, _)| rule.severity == severity).map(|(_, count)| count).sum()
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

/// Takes findings and counts them.
pub(super) struct Findings<'a> {
    sink: &'a mut dyn FnMut(Finding),
    most_per_rule: u64,
    counts: BTreeMap<&'static str, u64>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(most_per_rule: u64, sink: &'a mut dyn FnMut(Finding)) -> Self {
        Findings { sink, most_per_rule, counts: BTreeMap::new() }
    }

    /// Counts a finding; whether it is wanted, or would only be dropped.
    pub(super) fn wants(&mut self, rule: &'static Rule) -> bool {
        let count = self.counts.entry(rule.name).or_default();
        *count += 1;
        *count <= self.most_per_rule
    }

    /// Counts further findings that are not given.
    pub(super) fn count_more(&mut self, rule: &'static Rule, more: u64) {
        if more > 0 {
            *self.counts.entry(rule.name).or_default() += more;
        }
    }

    /// Gives a finding that is wanted.
    pub(super) fn give(&mut self, rule: &'static Rule, finding: Finding) {
        debug_assert_eq!(rule.name, finding.rule);
        (self.sink)(finding);
    }

    pub(super) fn summary(&self, objects: u64, unaccounted: Option<u64>) -> Summary {
        let counted = RULES.iter().filter_map(|rule| Some((*rule, *self.counts.get(rule.name)?)));
        Summary { by_rule: counted.collect(), objects, unaccounted }
    }
}
