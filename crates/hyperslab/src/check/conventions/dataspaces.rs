//! The conventions of TileDB-CF.

use super::{ConventionOptions, Conventions, finding};
use crate::format::OpenOptions;
use crate::formats::{format_of, locate, naming_failures};
use crate::report::Finding;
use hyperslab_cf::dataspace::{Verdict, verdict};
use hyperslab_core::{Result, Severity};
use rustc_hash::FxHashSet;
use std::path::Path;

/// The violations of the conventions in the groups of a store.
pub(super) fn check(
    path: &Path,
    options: &OpenOptions,
    conventions: &Conventions,
    how: &ConventionOptions,
) -> Result<Vec<Finding>> {
    let spaces = locate(path, options).and_then(|location| {
        naming_failures(options, || {
            let location = options.noting(location);
            let format = format_of(&location, Some(path), options)?;
            format.dataspaces(options.watched(location), options)
        })
    });
    let spaces = spaces.map_err(|error| error.in_file(path.display()))?;
    let (mut findings, mut known) = (Vec::new(), FxHashSet::default());
    for space in &spaces {
        for convention in &conventions.dataspaces {
            for found in convention.check(space).into_iter().filter(|found| how.rules.has(found.rule.name)) {
                // Conventions have rules in common.
                if known.insert((found.rule.name, found.object.clone(), found.message.clone())) {
                    findings.push(finding(found));
                }
            }
        }
    }
    if conventions.all_dataspaces {
        let Verdict { finding: said, broken } = verdict(&spaces);
        findings.push(finding(said));
        for (mut found, names) in broken {
            found.message = format!("not {}: {}", names.join(", "), found.message);
            // Violations are errors only if all conventions must hold.
            found.severity = Severity::Note;
            findings.push(finding(found));
        }
    }
    Ok(findings)
}
