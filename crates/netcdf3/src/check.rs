//! Checks whether a file is valid: its header, and where its variables lie.
//!
//! ```
//! use bytes::Bytes;
//! use hyperslab_core::{Limits, Severity};
//! use hyperslab_netcdf3::check::{Options, check};
//!
//! let bytes = Bytes::from_static(b"CDF\x01\0\0\0\0\0\0\0\x0d\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
//! let mut findings = Vec::new();
//! let summary = check(Box::new(bytes), &Limits::default(), &Options::default(), &mut |found| findings.push(found))?;
//! assert_eq!(summary.count(Severity::Error), 1);
//! assert_eq!(findings[0].rule, "netcdf3/header");
//! # Ok::<(), hyperslab_core::Error>(())
//! ```

mod names;
mod places;
mod rule;

pub use hyperslab_core::check::{Options, Rule};
pub use rule::RULES;

use crate::file::File;
use crate::header::Variable;
use hyperslab_core::check::{self, count};
use hyperslab_core::storage::ReadAt;
use hyperslab_core::{ErrorKind, Limits, Result, Severity};
use std::sync::Arc;

/// A fault in a file, or a note about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The name of the rule, one of [`RULES`].
    pub rule: &'static str,
    /// The name of the variable or dimension, preceded by a slash. `None` for the file as a whole.
    pub object: Option<String>,
    /// The name of the structure in the specification.
    pub structure: &'static str,
    /// The file offset of the first byte.
    pub byte: Option<u64>,
    /// What was found and what was expected.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The totals of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of findings of each rule, including those that were not reported, in the order of [`RULES`].
    pub by_rule: Vec<(&'static Rule, u64)>,
}

impl Summary {
    /// The number of findings of one severity.
    pub fn count(&self, severity: Severity) -> u64 {
        count(&self.by_rule, severity)
    }
}

/// Checks a file, and calls `found` with each finding. Elements are not read, since any bits are a valid number.
///
/// # Errors
/// If reading fails. Faults in the bytes are findings, not errors.
pub fn check(
    storage: Box<dyn ReadAt>,
    limits: &Limits,
    options: &Options,
    found: &mut dyn FnMut(Finding),
) -> Result<Summary> {
    let mut findings = Findings(check::Findings::new(options, found));
    let storage: Arc<dyn ReadAt> = Arc::from(storage);
    match File::open(Box::new(Arc::clone(&storage)), limits) {
        Ok(file) => Checker { file: &file, findings: &mut findings }.file(&*storage)?,
        Err(e) if matches!(e.kind(), ErrorKind::Io | ErrorKind::Cancelled) => return Err(e),
        Err(e) => {
            let rule = if e.kind() == ErrorKind::LimitExceeded { &rule::LIMIT } else { &rule::HEADER };
            let message = format!("{}{}", e.detail(), e.advice());
            findings.add(rule, None, "header", e.place().map(|place| place.offset), message);
        }
    }
    Ok(Summary { by_rule: findings.0.by_rule(RULES) })
}

struct Findings<'a>(check::Findings<'a, Finding>);

impl Findings<'_> {
    fn add(
        &mut self,
        rule: &'static Rule,
        object: Option<&[u8]>,
        structure: &'static str,
        byte: Option<u64>,
        message: String,
    ) {
        if self.0.wants(rule) {
            let object = object.map(|name| format!("/{}", String::from_utf8_lossy(name)));
            let hint = rule.hint.map(str::to_owned);
            let (severity, rule) = (rule.severity, rule.name);
            self.0.give(Finding { severity, rule, object, structure, byte, message, hint });
        }
    }
}

/// The state of a check.
struct Checker<'a, 'f> {
    file: &'a File,
    findings: &'a mut Findings<'f>,
}

impl Checker<'_, '_> {
    fn file(&mut self, storage: &dyn ReadAt) -> Result<()> {
        let header = self.file.header();
        let [dimensions, attributes, variables] = header.offsets()?;
        let lists = [
            (header.dimensions.iter().map(|item| &item.name[..]).collect::<Vec<_>>(), dimensions, "dim"),
            (header.variables.iter().map(|item| &item.name[..]).collect(), variables.clone(), "var"),
            (header.attributes.iter().map(|item| &item.name[..]).collect(), attributes, "attr"),
        ];
        for (names, places, structure) in lists {
            self.names(None, &names, &places, structure);
        }
        for (variable, at) in header.variables.iter().zip(&variables) {
            self.variable(variable, *at);
        }
        self.records();
        self.places(&variables);
        self.padding(storage)
    }

    fn variable(&mut self, variable: &Variable, at: u64) {
        let name = Some(&variable.name[..]);
        let names: Vec<_> = variable.attributes.iter().map(|item| &item.name[..]).collect();
        self.names(name, &names, &vec![at; names.len()], "attr");
        let version = self.file.header().version;
        let of_attributes = variable.attributes.iter().map(|attribute| attribute.data_type);
        if let Some(found) =
            of_attributes.chain([variable.data_type]).find(|data_type| !data_type.is_in(version))
        {
            let message = format!("{found:?} in a file of version {}", version as u8);
            self.findings.add(&rule::DATA_TYPE, name, "nc_type", Some(at), message);
        }
        let size = variable.data_type.size();
        let fills = variable.attributes.iter().filter(|attribute| attribute.name == b"_FillValue");
        for fill in fills.filter(|fill| fill.data_type != variable.data_type || fill.values.len() != size) {
            let (count, of) = (fill.values.len() / fill.data_type.size(), fill.data_type);
            let message = format!("{count} values of type {of:?}, expected 1 of {:?}", variable.data_type);
            self.findings.add(&rule::FILL_VALUE, name, "attr", Some(at), message);
        }
    }

    fn records(&mut self) {
        let header = self.file.header();
        let of_records = header.dimensions.iter().filter(|dimension| dimension.length == 0);
        for dimension in of_records.skip(1) {
            let message = "a second dimension of length 0, expected one at most".to_owned();
            self.findings.add(&rule::RECORD_DIMENSION, Some(&dimension.name), "dim", None, message);
        }
        if header.records.is_none() {
            let message = format!("{} records by the size of the file", self.file.records().count);
            self.findings.add(&rule::STREAMING, None, "numrecs", Some(4), message);
        }
    }

    /// Compares the stored header with its only valid encoding.
    fn padding(&mut self, storage: &dyn ReadAt) -> Result<()> {
        let stored = storage.read_at(0..self.file.header_len())?;
        let encoded = self.file.header().encode()?;
        if let Some(at) = stored.iter().zip(&encoded).position(|(stored, encoded)| stored != encoded) {
            let byte = stored.get(at).copied().unwrap_or(0);
            let message = format!("byte {byte:#04x} where nothing is stored, expected 0");
            self.findings.add(&rule::PADDING, None, "padding", Some(at as u64), message);
        }
        Ok(())
    }
}
