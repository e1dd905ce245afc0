//! Checks a store: finds everything that violates the rules of its format, and where.

mod against;
mod conventions;

pub use against::{AgainstOptions, RULES as AGAINST_RULES, against};
pub use conventions::{ConventionOptions, Conventions, RuleChoice, check_conventions};
pub use hyperslab_cf::tables::StandardNames;

pub use crate::report::{CheckOptions, Finding, FindingPlace, Report, Spot};

use crate::format::{Location, OpenOptions};
use crate::formats::{FORMATS, format_of, locate, naming_failures};
use hyperslab_core::Result;
use hyperslab_core::check::Rule;
use std::path::Path;

/// All rules: those of each format, of `check --against`, and of conventions.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let of_formats = FORMATS.iter().flat_map(|format| format.rules()).copied().flatten();
    of_formats.chain(against::RULES).copied().chain(conventions::rules())
}

/// The explanation of a rule in one line, if its name does not explain enough.
pub fn explanation(rule: &str) -> Option<&'static str> {
    rules().find(|known| known.name == rule).map(|known| known.explanation)
}

/// The specification and section that states a rule, if the format has several specifications.
pub fn specification(rule: &str) -> Option<&'static str> {
    rules().find(|known| known.name == rule).and_then(|known| known.specification)
}

/// Whether findings of a rule are unused space, which common writers leave in valid files.
pub fn is_spare(rule: &str) -> bool {
    rules().any(|known| known.name == rule && known.is_spare)
}

/// The report without small pieces of unused space, which valid files may have.
pub fn without_spare(mut report: Report) -> Report {
    let is_small = |finding: &Finding| match &finding.place {
        FindingPlace::Stored { len, .. } => len.is_none_or(|len| len < MAX_SPARE),
        _ => true,
    };
    report.findings.retain(|finding| !(is_spare(finding.rule) && is_small(finding)));
    report.more.retain(|(rule, ..)| !is_spare(rule));
    report
}

/// Unused space that is worth a note.
const MAX_SPARE: u64 = 64 << 10;

/// Checks the file or directory at `path`, in the format detected from its content.
///
/// ```
/// use hyperslab::check::{CheckOptions, check};
/// use hyperslab::{OpenOptions, Severity};
///
/// let report = check("../../examples/buoys.yaml".as_ref(), &OpenOptions::default(), &CheckOptions::default())?;
/// assert_eq!(report.count(Severity::Error), 0);
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// If it cannot be read at all. Violations are findings in the report, not errors.
pub fn check(path: &Path, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
    let checked = locate(path, open).and_then(|location| {
        naming_failures(open, || check_as_recognized(open.noting(location), Some(path), open, options))
    });
    checked.map_err(|error| error.in_file(path.display()))
}

/// Checks a store at any location, such as memory or object storage, like [`check`].
///
/// # Errors
/// As [`check`].
pub fn check_location(location: Location, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
    naming_failures(open, || check_as_recognized(open.noting(location), None, open, options))
}

/// Checks a store in the format detected from its first bytes. If these could not be read, the store may have another
/// format, and no finding would be valid.
fn check_as_recognized(
    location: Location,
    path: Option<&Path>,
    open: &OpenOptions,
    options: &CheckOptions,
) -> Result<Report> {
    let had_failed = !open.failures.is_empty();
    let format = format_of(&location, path, open)?;
    match open.failures.first().filter(|_| !had_failed) {
        Some(failure) => Err(failure),
        None => format.check(open.watched(location), open, options),
    }
}
