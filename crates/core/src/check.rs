//! Options, rules and finding counters that the checks of all formats share.

use crate::Severity;
use std::collections::BTreeMap;

/// What is checked, and how many findings are reported.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether every chunk is decoded, including the checksums of its codecs.
    pub values: bool,
    /// The number of findings of one rule that are reported. Further findings are only counted.
    pub max_per_rule: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { values: false, max_per_rule: 100 }
    }
}

/// A rule that a file can break.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name of the rule: the format, `/`, then words joined by hyphens.
    pub name: &'static str,
    /// The severity of a finding.
    pub severity: Severity,
    /// A one-line description of what breaks the rule.
    pub explanation: &'static str,
    /// The specification and section that state the rule, for formats with several specifications.
    pub specification: Option<&'static str>,
    /// What to do about a finding, if the advice is always the same.
    pub hint: Option<&'static str>,
    /// Whether findings are unused space, which common writers leave even in sound files.
    pub is_spare: bool,
}

/// Declares each rule as a static, and the table `RULES` of all rules: errors first, then warnings, then notes. `spare`
/// after the severity means that findings are unused space.
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
        $ident:ident $severity:ident $($spare:ident)? $name:literal $(in $specification:literal)? $explanation:literal
            $(=> $hint:literal)?;
    )*) => {
        $(pub(super) static $ident: $crate::check::Rule = $crate::check::Rule {
            name: $name,
            severity: $crate::Severity::$severity,
            explanation: $explanation,
            specification: $crate::rules!(@optional $($specification)?),
            hint: $crate::rules!(@optional $($hint)?),
            is_spare: $crate::rules!(@is_spare $($spare)?),
        };)*

        /// All rules, errors first, then warnings, then notes.
        pub static RULES: &[&$crate::check::Rule] = &[$(&$ident),*];
    };
    (@is_spare) => { false };
    (@is_spare spare) => { true };
    (@optional) => { None };
    (@optional $text:literal) => { Some($text) };
}

/// Reports findings of type `F` and counts them by rule.
pub struct Findings<'a, F> {
    sink: &'a mut dyn FnMut(F),
    max_per_rule: u64,
    counts: BTreeMap<&'static str, u64>,
}

impl<'a, F> Findings<'a, F> {
    /// A reporter that passes findings to `sink`, up to the number in the options.
    pub fn new(options: &Options, sink: &'a mut dyn FnMut(F)) -> Self {
        Findings { sink, max_per_rule: options.max_per_rule, counts: BTreeMap::new() }
    }

    /// Counts a finding. Returns whether it should be reported.
    pub fn wants(&mut self, rule: &'static Rule) -> bool {
        let count = self.counts.entry(rule.name).or_default();
        *count = count.saturating_add(1);
        *count <= self.max_per_rule
    }

    /// Counts further findings that are not reported.
    pub fn count_more(&mut self, rule: &'static Rule, more: u64) {
        if more > 0 {
            let count = self.counts.entry(rule.name).or_default();
            *count = count.saturating_add(more);
        }
    }

    /// Reports a finding that has already been counted.
    pub fn give(&mut self, finding: F) {
        (self.sink)(finding);
    }

    /// The number of findings of each rule in `rules`, including those that were not reported.
    pub fn by_rule(&self, rules: &[&'static Rule]) -> Vec<(&'static Rule, u64)> {
        rules.iter().filter_map(|rule| Some((*rule, *self.counts.get(rule.name)?))).collect()
    }
}

/// The number of findings of one severity.
pub fn count(by_rule: &[(&'static Rule, u64)], severity: Severity) -> u64 {
    let of = by_rule.iter().filter(|(rule, _)| rule.severity == severity);
    of.fold(0, |sum, (_, count)| sum.saturating_add(*count))
}
