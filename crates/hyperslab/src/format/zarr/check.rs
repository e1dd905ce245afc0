//! Findings of the Zarr crate in the words of this one, and what is wrong with records.

mod records;
mod rule;

pub use rule::RULES;

use super::super::OpenOptions;
use crate::check::{CheckOptions, Finding, Place, Report, Spot};
use hyperslab_core::storage::ReadAt;
use hyperslab_core::store::{DirectoryStore, Key, ZipStore};
use hyperslab_core::{Limits, Result};
use hyperslab_zarr::check::{Finding as Found, Options, Place as Within, Summary, check, check_zip};
use hyperslab_zarr::hierarchy::Hierarchy;
use hyperslab_zarr::metadata::DOCUMENTS;
use std::path::Path;
use std::sync::Arc;

pub(super) fn zip(storage: Box<dyn ReadAt>, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
    let storage: Arc<dyn ReadAt> = storage.into();
    let options = options_of(options);
    let mut report = report(&options, |options, found| {
        check_zip(Box::new(Arc::clone(&storage)), open.limits, options, found)
    })?;
    // Why it is no store is told already.
    if let Ok(store) = ZipStore::open(Box::new(storage), &open.limits) {
        records::check(Arc::new(store), open.limits, &options, &mut report);
    }
    Ok(report)
}

pub(super) fn directory(path: &Path, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
    let store = DirectoryStore::open(path)?;
    let options = options_of(options);
    let mut report = report(&options, |options, found| Ok(check(&store, open.limits, options, found)))?;
    records::check(Arc::new(store), open.limits, &options, &mut report);
    Ok(report)
}

fn options_of(options: &CheckOptions) -> Options {
    Options { values: !options.quick, ..Options::default() }
}

/// Values in a directory that are neither documents nor chunks, and folders of nothing else.
pub(super) fn foreign(path: &Path) -> Result<Vec<String>> {
    let store = DirectoryStore::open(path)?;
    let options = Options { values: false, ..Options::default() };
    let mut foreign = Vec::new();
    let limits = Limits::of_any_size();
    check(&store, limits, &options, &mut |found: Found| {
        if found.rule == STRAY {
            let object = found.object.map(|object| object.trim_start_matches('/').to_owned());
            foreign.extend(found.key.or(object));
        }
    });
    // Below a document that says nothing, nothing belongs to it.
    if Hierarchy::unconsolidated(Arc::new(DirectoryStore::open(path)?), limits).node(&Key::root()).is_err() {
        for entry in std::fs::read_dir(path)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            foreign.extend((!DOCUMENTS.contains(&name.as_str())).then_some(name));
        }
    }
    foreign.sort_unstable();
    foreign.dedup();
    Ok(foreign)
}

/// The rule that they break.
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
        Within::Text { line, column, end_column, .. } => Spot::Text { line, column, end_column },
        Within::Bytes { byte, len } => Spot::Bytes { byte, len },
    });
    Finding { severity, rule, message, hint, place: Place::Value { object, key, spot } }
}
