//! What a check says: findings, and their number by rule.

use super::rule::RULES;
use hyperslab_core::Severity;
use hyperslab_core::check::{self, Options, Rule, count};
use hyperslab_core::store::Key;

/// A fault, or something worth knowing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The name of the rule: one of [`RULES`].
    pub rule: &'static str,
    /// The path of the node or folder that it is about, as in `/a/b`; `None` if it is about the store.
    pub object: Option<String>,
    /// The key of the value that it is about.
    pub key: Option<String>,
    /// Where in that value.
    pub place: Option<Place>,
    /// What was found and what was expected.
    pub message: String,
    /// What may be done about it.
    pub hint: Option<String>,
}

/// A place in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a document, counted from 1 in lines and characters; the last is the character behind.
    Text {
        /// The line.
        line: usize,
        /// Its first character that is meant.
        column: usize,
        /// The character behind the last one.
        end_column: usize,
        /// The first byte, counted from the beginning of the document.
        byte: u64,
    },
    /// In a chunk.
    Bytes {
        /// The first byte, counted from the beginning of the value.
        byte: u64,
        /// How many bytes it is about.
        len: u64,
    },
}

/// What a check found, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many findings there were by rule, those included that were not given; in order of [`RULES`].
    pub by_rule: Vec<(&'static Rule, u64)>,
    /// The number of groups and arrays that were reached.
    pub nodes: u64,
    /// The number of chunks that were looked at, those in shards not counted.
    pub chunks: u64,
}

impl Summary {
    /// How many findings there were of one severity.
    pub fn count(&self, severity: Severity) -> u64 {
        count(&self.by_rule, severity)
    }
}

/// Takes what was found and makes findings of it.
pub(super) struct Findings<'a>(check::Findings<'a, Finding>);

impl<'a> Findings<'a> {
    pub(super) fn new(options: &Options, sink: &'a mut dyn FnMut(Finding)) -> Self {
        Findings(check::Findings::new(options, sink))
    }

    /// Counts a finding; whether it is wanted, or would only be dropped.
    pub(super) fn wants(&mut self, rule: &'static Rule) -> bool {
        self.0.wants(rule)
    }

    /// Counts further findings that are not given.
    pub(super) fn count_more(&mut self, rule: &'static Rule, more: u64) {
        self.0.count_more(rule, more);
    }

    /// Counts a finding, and gives it if it is wanted.
    pub(super) fn add(&mut self, rule: &'static Rule, found: Found<'_>) {
        if self.wants(rule) {
            self.give(rule, found);
        }
    }

    /// Gives a finding that is wanted. The hint is the rule's unless `found` has one.
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

/// A finding without what its rule says.
#[derive(Default)]
pub(super) struct Found<'a> {
    pub(super) object: Option<&'a Key>,
    pub(super) key: Option<&'a Key>,
    pub(super) place: Option<Place>,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}
