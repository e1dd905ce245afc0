//! Checks of stores, conventions and contracts.

use super::told::object;
use crate::file::Opened;
use crate::options::Options;
use crate::work::run;
use hyperslab::check::{
    AgainstOptions, CheckOptions, ConventionOptions, Conventions, Finding, FindingPlace, Report, RuleChoice,
    Spot, StandardNames, against, check as check_path, check_conventions, check_location, specification,
    without_spare,
};
use hyperslab::create::{Document, document};
use hyperslab::ndl::{self, Diagnostic};
use hyperslab::{Error, FileStorage, OpenOptions, Result, Severity, open};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is checked, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Checking {
    conventions: Option<String>,
    rules: Option<String>,
    standard_names: Option<PathBuf>,
    against: Option<PathBuf>,
    strict: bool,
    lenient: bool,
    pure: bool,
    quick: bool,
    verbose: bool,
}

/// The findings in a store, and how many there are with each severity.
#[pyfunction]
pub(crate) fn check<'py>(
    py: Python<'py>,
    location: &Bound<'py, PyAny>,
    name: &str,
    options: Options,
    checking: Checking,
) -> PyResult<Bound<'py, PyAny>> {
    let (location, options) = (Opened::of(location)?, options.resolved(py)?);
    let report = run(py, usize::MAX, |pool| {
        let options = OpenOptions { pool: pool.clone(), ..options };
        let report = checking.report(location, &options).map_err(|error| match error.file() {
            Some(_) => error,
            None => error.in_file(name),
        })?;
        pool.check()?;
        Ok(answer(name, if checking.verbose { report } else { without_spare(report) }))
    })?;
    object(py, &report)
}

impl Checking {
    fn report(&self, location: Opened, open_options: &OpenOptions) -> Result<Report> {
        let Checking { strict, lenient, pure, quick, .. } = *self;
        let options = CheckOptions { strict, lenient, pure, quick };
        let only_path = |location| match location {
            Opened::Path(path) => Ok(path),
            _ => Err(Error::invalid("conventions and contracts can only be checked for files and folders")),
        };
        if let Some(contract) = &self.against {
            let found = document(&FileStorage::open(contract)?, open_options, &options);
            let found = found.and_then(Document::into_contract);
            let contract = found.map_err(|error| error.in_file(contract.display()))?;
            let data = open(&only_path(location)?, open_options)?;
            return against(&*data, &*contract, &AgainstOptions { unnamed: self.verbose });
        }
        if let Some(words) = &self.conventions {
            let names = |file: &PathBuf| {
                let table = std::fs::read(file).map_err(Error::from);
                let table = table.and_then(|xml| StandardNames::from_xml(&xml));
                table.map(Arc::new).map_err(|error| error.in_file(file.display()))
            };
            let how = ConventionOptions {
                quick,
                rules: self.rules.as_deref().map(RuleChoice::parse).transpose()?.unwrap_or_default(),
                standard_names: self.standard_names.as_ref().map(names).transpose()?,
            };
            let path: PathBuf = only_path(location)?;
            return check_conventions(&path, open_options, &Conventions::parse(words)?, &how);
        }
        match location {
            Opened::Path(path) => check_path(Path::new(&path), open_options, &options),
            Opened::Memory(location) | Opened::Storage(location) => {
                check_location(location, open_options, &options)
            }
        }
    }
}

/// A report as a dictionary.
pub(super) fn answer(name: &str, report: Report) -> Value {
    let counts = [Severity::Error, Severity::Warning, Severity::Note].map(|of| report.count(of));
    // The lines of a document are needed only if there are findings.
    let text = report.text.as_deref().filter(|_| !report.findings.is_empty());
    let text = text.map(|text| ndl::Source::new(name, text));
    let findings = report.findings.iter().map(|of| finding(of, text.as_ref()));
    let more = report.more.iter().map(|(rule, severity, more)| json!([rule, severity.to_string(), more]));
    json!({
        "findings": findings.collect::<Vec<_>>(),
        "more": more.collect::<Vec<_>>(),
        "counts": counts,
    })
}

fn finding(of: &Finding, text: Option<&ndl::Source<'_>>) -> Value {
    let Finding { severity, rule, message, hint, place } = of;
    let mut row = json!({
        "severity": severity.to_string(),
        "rule": rule,
        "specification": specification(rule),
        "message": message,
        "hint": hint,
    });
    let (mut line, mut column, mut end_column, mut byte, mut length) = (None, None, None, None, None);
    let (mut named, mut found_key, mut found_structure, mut rendered) = (None, None, None, None);
    match place {
        FindingPlace::Text { line: at, column: from, end_column: to } => {
            (line, column, end_column) = (Some(*at), Some(*from), Some(*to));
            rendered = text.map(|text| {
                let (message, hint) = (message.clone(), hint.clone());
                let of = Diagnostic {
                    severity: *severity,
                    rule,
                    message,
                    line: *at,
                    column: *from,
                    end_column: *to,
                    hint,
                };
                text.render(&of, false)
            });
        }
        FindingPlace::Stored { object, structure, byte: at, len } => {
            (named, found_structure, byte, length) = (object.clone(), *structure, *at, *len);
        }
        FindingPlace::Contract { object, said } => {
            named = Some(object.clone());
            let place = said.map(|(line, column)| (usize::try_from(line).ok(), usize::try_from(column).ok()));
            (line, column) = place.unwrap_or_default();
        }
        FindingPlace::Value { object, key, spot } => {
            (named, found_key) = (object.clone(), key.clone());
            match spot {
                Some(Spot::Text { line: at, column: from, end_column: to }) => {
                    (line, column, end_column) = (Some(*at), Some(*from), Some(*to));
                }
                Some(Spot::Bytes { byte: at, len }) => (byte, length) = (Some(*at), Some(*len)),
                None => {}
            }
        }
    }
    let places = json!({
        "object": named,
        "structure": found_structure,
        "key": found_key,
        "byte": byte,
        "length": length,
        "line": line,
        "column": column,
        "end_column": end_column,
        "rendered": rendered,
    });
    if let (Value::Object(row), Value::Object(places)) = (&mut row, places) {
        row.extend(places);
    }
    row
}
