//! What the checks of all formats share: their options, the table of rules, and the counting of findings.

use crate::Severity;
use std::collections::BTreeMap;

/// What is checked, and how much is said.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether each chunk is decoded, with the checksums that its codecs keep.
    pub values: bool,
    /// How many findings of one rule are given; the others are only counted.
    pub most_per_rule: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { values: false, most_per_rule: 100 }
    }
}

/// What a finding may be about.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name: the format, `/`, and words joined by hyphens.
    pub name: &'static str,
    /// How bad it is to break it.
    pub severity: Severity,
    /// What breaks it, in a line.
    pub explanation: &'static str,
    /// The specification and its section that gives the rule, where a format has several specifications.
    pub specification: Option<&'static str>,
    /// What may be done about it, where that is the same each time.
    pub hint: Option<&'static str>,
}

/// Declares each rule as a static of its own, and `RULES`, the table of them all: errors first, then warnings, then
/// notes.
///
/// ```
/// # mod rule {
/// hyperslab_core::rules! {
///     CHECKSUM Error "zip/checksum" in "APPNOTE.TXT 4.4.7" "the bytes of a file have another CRC-32 than was stored";
///     TRAILING_BYTES Note "zip/trailing-bytes" "the file goes on behind its last record"
///         => "nothing reads these bytes";
/// }
/// # }
/// ```
#[macro_export]
macro_rules! rules {
    ($(
        $ident:ident $severity:ident $name:literal $(in $specification:literal)? $explanation:literal
            $(=> $hint:literal)?;
    )*) => {
        $(pub(super) static $ident: $crate::check::Rule = $crate::check::Rule {
            name: $name,
            severity: $crate::Severity::$severity,
            explanation: $explanation,
            specification: $crate::rules!(@optional $($specification)?),
            hint: $crate::rules!(@optional $($hint)?),
        };)*

        /// All rules, errors first, then warnings, then notes.
        pub static RULES: &[&$crate::check::Rule] = &[$(&$ident),*];
    };
    (@optional) => { None };
    (@optional $text:literal) => { Some($text) };
}

/// Takes findings of type `F` and counts them by rule.
pub struct Findings<'a, F> {
    sink: &'a mut dyn FnMut(F),
    most_per_rule: u64,
    counts: BTreeMap<&'static str, u64>,
}

impl<'a, F> Findings<'a, F> {
    /// Gives findings to `sink`, but no more than the options say.
    pub fn new(options: &Options, sink: &'a mut dyn FnMut(F)) -> Self {
        Findings { sink, most_per_rule: options.most_per_rule, counts: BTreeMap::new() }
    }

    /// Counts a finding; whether it is wanted, or would only be dropped.
    pub fn wants(&mut self, rule: &'static Rule) -> bool {
        let count = self.counts.entry(rule.name).or_default();
        *count = count.saturating_add(1);
        *count <= self.most_per_rule
    }

    /// Counts further findings that are not given.
    pub fn count_more(&mut self, rule: &'static Rule, more: u64) {
        if more > 0 {
            let count = self.counts.entry(rule.name).or_default();
            *count = count.saturating_add(more);
        }
    }

    /// Gives a finding that is wanted.
    pub fn give(&mut self, finding: F) {
        (self.sink)(finding);
    }

    /// How many findings there were of each of `rules`, those included that were not given.
    pub fn by_rule(&self, rules: &[&'static Rule]) -> Vec<(&'static Rule, u64)> {
        rules.iter().filter_map(|rule| Some((*rule, *self.counts.get(rule.name)?))).collect()
    }
}

/// How many of the findings are of one severity.
pub fn count(by_rule: &[(&'static Rule, u64)], severity: Severity) -> u64 {
    let of = by_rule.iter().filter(|(rule, _)| rule.severity == severity);
    of.fold(0, |sum, (_, count)| sum.saturating_add(*count))
}
