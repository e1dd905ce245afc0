//! Findings of the HDF5 crate in the words of this one.

use super::super::OpenOptions;
use crate::check::{CheckOptions, Finding, Place, Report};
use hyperslab_core::Result;
use hyperslab_core::storage::ReadAt;
use hyperslab_hdf5::check::{Finding as Found, Options};

pub(super) fn check(storage: Box<dyn ReadAt>, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
    let options = Options { values: !options.quick, ..Options::default() };
    let mut report = Report::default();
    let summary = hyperslab_hdf5::check::check(storage, open.limits, &options, &mut |found| {
        report.findings.push(finding(found));
    })?;
    for (rule, count) in &summary.by_rule {
        let given = report.findings.iter().filter(|finding| finding.rule == rule.name).count() as u64;
        if let Some(more) = count.checked_sub(given).filter(|more| *more > 0) {
            report.more.push((rule.name, rule.severity, more));
        }
    }
    Ok(report)
}

fn finding(found: Found) -> Finding {
    let Found { severity, rule, object, structure, byte, len, message, hint } = found;
    let place = Place::Stored { object, structure: Some(structure), byte, len };
    Finding { severity, rule, message, hint, place }
}
