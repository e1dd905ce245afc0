//! Converts findings of the Zarr crate, and checks the records of this library.

mod records;
mod rule;

pub(super) use rule::RULES;

use super::super::OpenOptions;
use crate::report::{CheckOptions, Finding, FindingPlace, Report, Spot};
use hyperslab_core::storage::ReadAt;
use hyperslab_core::store::{Key, Store, ZipStore};
use hyperslab_core::{Limits, Result, valid};
use hyperslab_zarr::check::{Finding as Found, Options, Summary, ValuePlace, check, check_zip};
use hyperslab_zarr::hierarchy::Hierarchy;
use hyperslab_zarr::metadata::DOCUMENTS;
use std::sync::Arc;

pub(super) fn zip(storage: Box<dyn ReadAt>, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
    let storage: Arc<dyn ReadAt> = storage.into();
    let options = options_of(options);
    let mut report = report(&options, |options, found| {
        check_zip(Box::new(Arc::clone(&storage)), open.limits, options, found)
    })?;
    // The reason why it is not a store has already been reported.
    if let Some(store) = valid(ZipStore::open(Box::new(storage), &open.limits))? {
        records::check(Arc::new(store), open.limits, &options, &mut report)?;
    }
    Ok(report)
}

pub(super) fn store(store: Arc<dyn Store>, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
    let options = options_of(options);
    let mut report = report(&options, |options, found| Ok(check(&*store, open.limits, options, found)))?;
    records::check(store, open.limits, &options, &mut report)?;
    Ok(report)
}

fn options_of(options: &CheckOptions) -> Options {
    Options { values: !options.quick, ..Options::default() }
}

/// The keys that are neither documents nor chunks, and the directories that contain only such keys, sorted.
pub(super) fn foreign(store: &Arc<dyn Store>) -> Result<Vec<String>> {
    let options = Options { values: false, ..Options::default() };
    let mut foreign = Vec::new();
    let limits = Limits::of_any_size();
    check(&**store, limits, &options, &mut |found: Found| {
        if found.rule == STRAY {
            let object = found.object.map(|object| object.trim_start_matches('/').to_owned());
            foreign.extend(found.key.or(object));
        }
    });
    // If the root is invalid, nothing below it belongs to a store.
    if Hierarchy::unconsolidated(Arc::clone(store), limits).node(&Key::root()).is_err() {
        let names = store.list(&Key::root())?.into_iter().map(|entry| entry.name);
        foreign.extend(names.filter(|name| !DOCUMENTS.contains(&name.as_str())));
    }
    foreign.sort_unstable();
    foreign.dedup();
    Ok(foreign)
}

/// The rule that these keys violate.
const STRAY: &str = "zarr/stray";

fn report(
    options: &Options,
    check: impl FnOnce(&Options, &mut dyn FnMut(Found)) -> Result<Summary>,
) -> Result<Report> {
    let mut report = Report::default();
    let summary = check(options, &mut |found| report.findings.push(finding(found)))?;
    report.count_more(&summary.by_rule);
    Ok(report)
}

fn finding(found: Found) -> Finding {
    let Found { severity, rule, object, key, place, message, hint } = found;
    let spot = place.map(|place| match place {
        ValuePlace::Text { line, column, end_column, .. } => Spot::Text { line, column, end_column },
        ValuePlace::Bytes { byte, len } => Spot::Bytes { byte, len },
    });
    Finding { severity, rule, message, hint, place: FindingPlace::Value { object, key, spot } }
}
