//! Converts findings of the NetCDF-3 crate.

use super::super::OpenOptions;
use crate::report::{CheckOptions, Finding, FindingPlace, Report};
use hyperslab_core::Result;
use hyperslab_core::storage::ReadAt;
use hyperslab_netcdf3::check::{Finding as Found, Options};

pub(super) fn check(storage: Box<dyn ReadAt>, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
    let options = Options { values: !options.quick, ..Options::default() };
    let mut report = Report::default();
    let summary = hyperslab_netcdf3::check::check(storage, &open.limits, &options, &mut |found| {
        report.findings.push(finding(found));
    })?;
    report.count_more(&summary.by_rule);
    Ok(report)
}

fn finding(found: Found) -> Finding {
    let Found { severity, rule, object, structure, byte, message, hint } = found;
    let place = FindingPlace::Stored { object, structure: Some(structure), byte, len: None };
    Finding { severity, rule, message, hint, place }
}
