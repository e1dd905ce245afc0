//! What a check of a file looks for, and what it finds, in the words of every format.

use hyperslab_core::Severity;
use hyperslab_core::check::Rule;

/// How strictly a file is checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckOptions {
    /// Warnings are errors.
    pub strict: bool,
    /// The lenient readings of NDL.
    pub lenient: bool,
    /// NDL 0.6.1 alone: extensions are errors.
    pub pure: bool,
    /// Structures alone: chunks are not decoded.
    pub quick: bool,
}

/// What a check found.
#[derive(Debug, Default)]
pub struct Report {
    /// What is wrong: in a text by place, in a file as its structures are reached.
    pub findings: Vec<Finding>,
    /// Rules with more findings than are given, and how many more.
    pub more: Vec<(&'static str, Severity, u64)>,
    /// The text that was checked, for those who show parts of it; `None` for what is no text.
    pub text: Option<Vec<u8>>,
}

/// One thing that is wrong, or worth knowing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The name of the rule: `ndl/value-shape`, `hdf5/chunk-checksum`.
    pub rule: &'static str,
    /// What was found and what was expected.
    pub message: String,
    /// How to mend it.
    pub hint: Option<String>,
    /// Where.
    pub place: FindingPlace,
}

/// Where a finding is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingPlace {
    /// In a text, counted from 1 in lines and characters; the last is the character behind.
    Text {
        /// The line.
        line: usize,
        /// Its first character that is meant.
        column: usize,
        /// The character behind the last one.
        end_column: usize,
    },
    /// In stored structures.
    Stored {
        /// The object, if it belongs to one.
        object: Option<String>,
        /// The structure by the specification's name.
        structure: Option<&'static str>,
        /// Its first byte that is meant, from the beginning of the file.
        byte: Option<u64>,
        /// How many bytes are.
        len: Option<u64>,
    },
    /// In an object that a contract speaks of.
    Contract {
        /// The object, with `@NAME` one of its attributes.
        object: String,
        /// Where the contract names the object, as line and column from 1, if it does.
        said: Option<(u32, u32)>,
    },
    /// In a store of many values.
    Value {
        /// The object, if it belongs to one.
        object: Option<String>,
        /// The key of the value, a document or a chunk, if it is about one.
        key: Option<String>,
        /// Where in it.
        spot: Option<Spot>,
    },
}

/// A place in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// In a document, counted from 1 in lines and characters; the last is the character behind.
    Text {
        /// The line.
        line: usize,
        /// Its first character that is meant.
        column: usize,
        /// The character behind the last one.
        end_column: usize,
    },
    /// In bytes.
    Bytes {
        /// The first that is meant, from the beginning of the value.
        byte: u64,
        /// How many are.
        len: u64,
    },
}

impl Report {
    /// Tells of findings that are counted but not given.
    pub(crate) fn count_more(&mut self, by_rule: &[(&'static Rule, u64)]) {
        for (rule, count) in by_rule {
            let given = self.findings.iter().filter(|finding| finding.rule == rule.name).count() as u64;
            if let Some(more) = count.checked_sub(given).filter(|more| *more > 0) {
                self.more.push((rule.name, rule.severity, more));
            }
        }
    }

    /// How many findings are of this severity, those included that are not given.
    pub fn count(&self, severity: Severity) -> u64 {
        let given = self.findings.iter().filter(|finding| finding.severity == severity).count() as u64;
        let more = self.more.iter().filter(|(_, of, _)| *of == severity).map(|(_, _, more)| more);
        more.fold(given, |sum, more| sum.saturating_add(*more))
    }
}
