//! Checks conventions on top of a format: those of TileDB-CF.

use crate::format::{Location, OpenOptions};
use crate::formats::{format_of, locate, naming_failures};
use crate::location::nearest;
use crate::report::{Finding, FindingPlace, Report};
use hyperslab_cf::Finding as Found;
use hyperslab_cf::dataspace::rules::RULES;
use hyperslab_cf::dataspace::{ALL, CONVENTIONS, Convention, VERDICTS, Verdict, verdict};
use hyperslab_core::check::Rule;
use hyperslab_core::{Error, Result, Severity};
use rustc_hash::FxHashSet;
use std::path::Path;

/// Conventions that a store is checked against.
///
/// ```
/// use hyperslab::check::Conventions;
///
/// assert!(Conventions::parse("simple-0.3.0,cf-0.2.0").is_ok());
/// let error = Conventions::parse("simple-0.3").unwrap_err();
/// assert!(error.to_string().contains("did you mean simple-0.3.0?"));
/// ```
#[derive(Clone, Debug)]
pub struct Conventions {
    named: Vec<&'static Convention>,
    /// Whether the report says which of all conventions of TileDB-CF hold.
    all: bool,
}

impl Conventions {
    /// Conventions by their names, separated by commas: `cf-0.1.0`, `indexable-0.1.0`, `cf-0.2.0`, `simple-0.2.0`, `cf-0.3.0`,
    /// `simple-0.3.0`; `tiledb-cf` for all of these.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for another name.
    pub fn parse(text: &str) -> Result<Conventions> {
        let mut asked = Conventions { named: Vec::new(), all: false };
        for word in text.split(',').map(str::trim) {
            match Convention::of(word) {
                Some(convention) => asked.named.push(convention),
                None if word == ALL => asked.all = true,
                None => {
                    let known = || CONVENTIONS.iter().map(|convention| convention.name).chain([ALL]);
                    let names = known().collect::<Vec<_>>().join(", ");
                    let error = Error::invalid(format!("convention {word:?}, expected one of {names}"));
                    return Err(match nearest(word, known()) {
                        Some(near) => error.with_hint(format_args!("did you mean {near}?")),
                        None => error,
                    });
                }
            }
        }
        Ok(asked)
    }
}

/// Checks the store at `path` against conventions. A store is checked group by group.
///
/// With `tiledb-cf` the findings are notes that say which conventions hold and what breaks the others; only if none holds, one
/// of them is an error.
///
/// # Errors
/// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if the conventions are those of another format; if the store cannot
/// be read.
pub fn check_conventions(path: &Path, open: &OpenOptions, conventions: &Conventions) -> Result<Report> {
    let checked = locate(path, open).and_then(|location| {
        naming_failures(open, || check_at(open.noting(location), Some(path), open, conventions))
    });
    checked.map_err(|error| error.in_file(path.display()))
}

fn check_at(
    location: Location,
    path: Option<&Path>,
    open: &OpenOptions,
    conventions: &Conventions,
) -> Result<Report> {
    let format = format_of(&location, path, open)?;
    let spaces = format.dataspaces(open.watched(location), open)?;
    let (mut report, mut known) = (Report::default(), FxHashSet::default());
    for space in &spaces {
        for convention in &conventions.named {
            for found in convention.check(space) {
                // Conventions have rules in common.
                if known.insert((found.rule.name, found.object.clone(), found.message.clone())) {
                    report.findings.push(finding(found, Severity::Error, &[]));
                }
            }
        }
    }
    if conventions.all {
        let Verdict { finding: said, broken } = verdict(&spaces);
        let severity = said.rule.severity;
        report.findings.push(finding(said, severity, &[]));
        report
            .findings
            .extend(broken.into_iter().map(|(found, names)| finding(found, Severity::Note, &names)));
    }
    Ok(report)
}

/// A finding of TileDB-CF, with the conventions that it breaks if they need not all hold.
fn finding(found: Found, severity: Severity, conventions: &[&str]) -> Finding {
    let Found { rule, object, message, hint } = found;
    let message = match conventions {
        [] => message,
        names => format!("not {}: {message}", names.join(", ")),
    };
    let place = FindingPlace::Value { object: Some(object), key: None, spot: None };
    let hint = Some(hint).filter(|hint| !hint.is_empty());
    Finding { severity, rule: rule.name, message, hint, place }
}

/// The rules of conventions.
pub(super) fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().chain(VERDICTS).copied()
}
