//! Converts findings of the TileDB crate.

use super::{array_options, into_store};
use crate::format::{Location, OpenOptions};
use crate::report::{CheckOptions, Finding, FindingPlace, Report, Spot};
use hyperslab_core::Result;
use hyperslab_core::store::Key;
use hyperslab_tiledb::check::{Finding as Found, Options};

pub(super) fn check(location: Location, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
    let options = Options { values: !options.quick, ..Options::default() };
    let (store, open) = (into_store(location)?, array_options(open)?);
    let mut report = Report::default();
    let summary = hyperslab_tiledb::check::check(&store, &Key::root(), &open, &options, &mut |found| {
        report.findings.push(finding(found));
    })?;
    report.count_more(&summary.by_rule);
    Ok(report)
}

fn finding(found: Found) -> Finding {
    let Found { severity, rule, object, key, byte, message, hint } = found;
    let place = FindingPlace::Value {
        object: Some(object),
        key,
        spot: byte.map(|byte| Spot::Bytes { byte, len: 1 }),
    };
    Finding { severity, rule, message, hint, place }
}
