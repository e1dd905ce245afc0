//! Findings of the Zarr crate in the words of this one.

use super::super::OpenOptions;
use crate::check::{CheckOptions, Finding, Place, Report, Spot};
use hyperslab_core::Result;
use hyperslab_core::storage::ReadAt;
use hyperslab_zarr::check::{Finding as Found, Options, Place as Within, Summary, check, check_zip};
use hyperslab_zarr::store::DirectoryStore;
use std::path::Path;

pub(super) fn zip(storage: Box<dyn ReadAt>, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
    report(options, |options, found| check_zip(storage, open.limits, options, found))
}

pub(super) fn directory(path: &Path, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
    let store = DirectoryStore::open(path)?;
    report(options, |options, found| Ok(check(&store, open.limits, options, found)))
}

fn report(
    options: &CheckOptions,
    check: impl FnOnce(&Options, &mut dyn FnMut(Found)) -> Result<Summary>,
) -> Result<Report> {
    let options = Options { values: !options.quick, ..Options::default() };
    let mut report = Report::default();
    let summary = check(&options, &mut |found| report.findings.push(finding(found)))?;
    report.count_more(&summary.by_rule);
    Ok(report)
}

fn finding(found: Found) -> Finding {
    let Found { severity, rule, object, key, place, message, hint } = found;
    let spot = place.map(|place| match place {
        Within::Text { line, column, end_column, .. } => Spot::Text { line, column, end_column },
        Within::Bytes { byte, len } => Spot::Bytes { byte, len },
    });
    Finding { severity, rule, message, hint, place: Place::Value { object, key, spot } }
}
