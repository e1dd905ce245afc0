//! The results of a check: findings, and their number per rule.

use super::rule::RULES;
use hyperslab_core::Severity;
use hyperslab_core::check::{self, Options, Rule, count};
use hyperslab_core::store::Key;

/// An error, a warning or a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The name of the rule: one of [`RULES`].
    pub rule: &'static str,
    /// The path of the node or folder, such as `/a/b`. `None` for the store as a whole.
    pub object: Option<String>,
    /// The key of the value.
    pub key: Option<String>,
    /// The place in the value.
    pub place: Option<ValuePlace>,
    /// The message: the found and the expected content.
    pub message: String,
    /// How to correct it.
    pub hint: Option<String>,
}

/// A place in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValuePlace {
    /// A range in a document. Lines and characters count from 1.
    Text {
        /// The line.
        line: usize,
        /// The first character on the line.
        column: usize,
        /// The first character after the range.
        end_column: usize,
        /// The offset of the first byte in the document.
        byte: u64,
    },
    /// In a chunk.
    Bytes {
        /// The offset of the first byte in the value.
        byte: u64,
        /// The number of bytes.
        len: u64,
    },
}

/// The totals of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of findings per rule, in the order of [`RULES`], including findings that were only counted.
    pub by_rule: Vec<(&'static Rule, u64)>,
    /// The number of visited groups and arrays.
    pub nodes: u64,
    /// The number of checked chunks and shards, without inner chunks.
    pub chunks: u64,
}

impl Summary {
    /// The number of findings of one severity.
    pub fn count(&self, severity: Severity) -> u64 {
        count(&self.by_rule, severity)
    }
}

/// Makes findings and counts them.
pub(super) struct Findings<'a>(check::Findings<'a, Finding>);

impl<'a> Findings<'a> {
    pub(super) fn new(options: &Options, sink: &'a mut dyn FnMut(Finding)) -> Self {
        Findings(check::Findings::new(options, sink))
    }

    /// Counts a finding. Returns false if it exceeds the maximum per rule and is not reported.
    pub(super) fn wants(&mut self, rule: &'static Rule) -> bool {
        self.0.wants(rule)
    }

    /// Counts findings that are not reported.
    pub(super) fn count_more(&mut self, rule: &'static Rule, more: u64) {
        self.0.count_more(rule, more);
    }

    /// Counts a finding, and reports it unless it exceeds the maximum per rule.
    pub(super) fn add(&mut self, rule: &'static Rule, found: Found<'_>) {
        if self.wants(rule) {
            self.give(rule, found);
        }
    }

    /// Reports a finding that [`Self::wants`] has counted. The hint is that of the rule, unless `found` has one.
    pub(super) fn give(&mut self, rule: &'static Rule, found: Found<'_>) {
        let Found { object, key, place, message, hint } = found;
        self.0.give(Finding {
            severity: rule.severity,
            rule: rule.name,
            object: object.map(|path| format!("/{path}")),
            key: key.map(|key| key.as_str().to_owned()),
            place,
            message,
            hint: hint.or_else(|| rule.hint.map(str::to_owned)),
        });
    }

    pub(super) fn summary(&self, nodes: u64, chunks: u64) -> Summary {
        Summary { by_rule: self.0.by_rule(RULES), nodes, chunks }
    }
}

/// A finding without the properties of its rule.
#[derive(Default)]
pub(super) struct Found<'a> {
    pub(super) object: Option<&'a Key>,
    pub(super) key: Option<&'a Key>,
    pub(super) place: Option<ValuePlace>,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}
