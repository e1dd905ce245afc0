//! Reads untrusted NDL documents, and creates stores from them.

use crate::{Outcome, digest_of_few};
use bytes::Bytes;
use hyperslab::check::{CheckOptions, Finding};
use hyperslab::convert::{ConvertOptions, convert, plan};
use hyperslab::create::{Document, document};
use hyperslab::describe::{DescribeOptions, describe};
use hyperslab::location::LocatedObject;
use hyperslab::ndl::StorageDetail;
use hyperslab::publish::Fingerprint;
use hyperslab::target::TargetFormat;
use hyperslab::{NodePath, OpenOptions, Result, Severity, Source};
use std::path::Path;

/// Checks a document in each of the ways it can be read, describes its content as YAML and JSON, creates a store at
/// `target` from it, and reads that store.
///
/// # Panics
/// If a finding or an error has no text, or if a description of the content cannot be read.
pub fn everything(text: Vec<u8>, target: &Path, format: &dyn TargetFormat) -> Outcome {
    let text = Bytes::from(text);
    let (strict, lenient, pure, quick) = (false, false, false, false);
    for options in [
        CheckOptions { strict, lenient: true, pure, quick },
        CheckOptions { strict: true, lenient, pure: true, quick },
    ] {
        read(&text, &options);
    }
    let Document { refusals, source, .. } = read(&text, &CheckOptions::default());
    let Some(source) = source else { return Outcome::Refused };
    for json in [false, true] {
        let description = Bytes::from(told(described(&*source, json)).unwrap_or_default());
        let Document { report, .. } = read(&description, &CheckOptions::default());
        let error = report.findings.iter().find(|finding| finding.severity == Severity::Error);
        assert!(error.is_none(), "a description with {error:?}");
    }
    told(digest_of_few(&*source));
    if refusals.is_empty() {
        told(created(&*source, target, format));
    }
    Outcome::Described
}

/// Reads a document.
fn read(text: &Bytes, options: &CheckOptions) -> Document {
    let read = document(text, &OpenOptions::default(), options).expect("memory can be read");
    for Finding { message, rule, .. } in read.report.findings.iter().chain(&read.refusals) {
        assert!(!message.trim().is_empty(), "a finding of {rule} without a message");
    }
    read
}

fn described(source: &dyn Source, json: bool) -> Result<Vec<u8>> {
    let target = LocatedObject { entry: source.find(&NodePath::root())?, attribute: None };
    let options = DescribeOptions {
        values: Some(u64::MAX),
        storage: StorageDetail::Full,
        json,
        ..DescribeOptions::default()
    };
    let mut text = Vec::new();
    describe(source, "case.yaml", &[target], &options, &mut text)?;
    Ok(text)
}

/// Creates a store, allowing all losses, and reads it.
fn created(source: &dyn Source, target: &Path, format: &dyn TargetFormat) -> Result<()> {
    let mut options = ConvertOptions::new(format);
    let planned = plan(source, &options)?;
    options.allow = planned.report.losses().into_iter().collect();
    convert(source, &Fingerprint::default(), target, &planned, &options)?;
    let store = hyperslab::open(target, &OpenOptions::default())?;
    digest_of_few(&*store)
}

/// The result, if there is one; an error must have a reason.
fn told<T>(answer: Result<T>) -> Option<T> {
    answer
        .inspect_err(|e| assert!(!e.reason().to_string().trim().is_empty(), "an error without a reason"))
        .ok()
}
