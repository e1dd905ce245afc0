//! The options and the report of a check, the same for all formats.

use hyperslab_core::Severity;
use hyperslab_core::check::Rule;

/// The options of a check.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckOptions {
    /// Whether warnings are errors.
    pub strict: bool,
    /// Whether NDL is parsed leniently.
    pub lenient: bool,
    /// Whether extensions of NDL 0.6.1 are errors.
    pub pure: bool,
    /// Whether only structures are checked: chunks are not decoded.
    pub quick: bool,
}

/// The result of a check.
#[derive(Debug, Default)]
pub struct Report {
    /// The findings: by position in a text, in the order in which structures are visited in a file.
    pub findings: Vec<Finding>,
    /// The rules with further findings that are not listed, and the number of these.
    pub more: Vec<(&'static str, Severity, u64)>,
    /// The checked text, so that lines of it can be shown; `None` for a binary format.
    pub text: Option<Vec<u8>>,
}

/// One violation of a rule, or one piece of information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The name of the rule: `ndl/value-shape`, `hdf5/chunk-checksum`.
    pub rule: &'static str,
    /// The message, which states the found and the expected content.
    pub message: String,
    /// A hint for the repair, if there is one.
    pub hint: Option<String>,
    /// The location of the finding.
    pub place: FindingPlace,
}

/// The location of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingPlace {
    /// In a text. Lines and columns count from 1; columns are characters.
    Text {
        /// The line.
        line: usize,
        /// The column of the first affected character.
        column: usize,
        /// The column after the last affected character.
        end_column: usize,
    },
    /// In stored structures.
    Stored {
        /// The object, if it belongs to one.
        object: Option<String>,
        /// The name of the structure in the specification.
        structure: Option<&'static str>,
        /// The offset of the first affected byte in the file.
        byte: Option<u64>,
        /// The number of affected bytes.
        len: Option<u64>,
    },
    /// In an object that a contract describes.
    Contract {
        /// The path of the object, or `PATH@NAME` for an attribute.
        object: String,
        /// The line and column of the object in the contract, from 1; `None` if the contract does not name it.
        said: Option<(u32, u32)>,
    },
    /// In a store of values under keys.
    Value {
        /// The object, if it belongs to one.
        object: Option<String>,
        /// The key of the value, such as a metadata document or a chunk; `None` if no single value is affected.
        key: Option<String>,
        /// The position in the value.
        spot: Option<Spot>,
    },
}

/// A position in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// In a document. Lines and columns count from 1; columns are characters.
    Text {
        /// The line.
        line: usize,
        /// The column of the first affected character.
        column: usize,
        /// The column after the last affected character.
        end_column: usize,
    },
    /// In binary data.
    Bytes {
        /// The offset of the first affected byte in the value.
        byte: u64,
        /// The number of affected bytes.
        len: u64,
    },
}

impl Report {
    /// Adds the findings that were counted but not listed. `by_rule` has the total number for each rule.
    pub(crate) fn count_more(&mut self, by_rule: &[(&'static Rule, u64)]) {
        for (rule, count) in by_rule {
            let given = self.findings.iter().filter(|finding| finding.rule == rule.name).count() as u64;
            if let Some(more) = count.checked_sub(given).filter(|more| *more > 0) {
                self.more.push((rule.name, rule.severity, more));
            }
        }
    }

    /// The number of findings of this severity, including those that are not listed.
    pub fn count(&self, severity: Severity) -> u64 {
        let given = self.findings.iter().filter(|finding| finding.severity == severity).count() as u64;
        let more = self.more.iter().filter(|(_, of, _)| *of == severity).map(|(_, _, more)| more);
        more.fold(given, |sum, more| sum.saturating_add(*more))
    }
}
