//! Findings, and how they are counted.

use hyperslab_core::check::{self, Options, Rule, count};
use hyperslab_core::store::Key;
use hyperslab_core::{Error, ErrorKind, Result, Severity};

use super::rule;

/// A fault in an array or a group, or a note about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The name of the rule, one of [`RULES`](super::RULES).
    pub rule: &'static str,
    /// The folder of the array or group, `/` for the root of the store.
    pub object: String,
    /// The file or folder.
    pub key: Option<String>,
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
    /// The number of arrays.
    pub arrays: u64,
    /// The number of groups.
    pub groups: u64,
    /// The number of fragments.
    pub fragments: u64,
    /// The number of findings of each rule, including those that were not reported, in the order of
    /// [`RULES`](super::RULES).
    pub by_rule: Vec<(&'static Rule, u64)>,
}

impl Summary {
    /// The number of findings of one severity.
    pub fn count(&self, severity: Severity) -> u64 {
        count(&self.by_rule, severity)
    }
}

/// Where a finding is.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    pub(super) object: &'p Key,
    pub(super) key: Option<&'p Key>,
    pub(super) byte: Option<u64>,
}

impl<'p> Place<'p> {
    pub(super) fn of(object: &'p Key) -> Place<'p> {
        Place { object, key: None, byte: None }
    }

    pub(super) fn file(self, key: &'p Key) -> Place<'p> {
        Place { key: Some(key), ..self }
    }
}

pub(super) struct Findings<'a> {
    inner: check::Findings<'a, Finding>,
    pub(super) summary: Summary,
}

impl<'a> Findings<'a> {
    pub(super) fn new(options: &Options, found: &'a mut dyn FnMut(Finding)) -> Self {
        Findings { inner: check::Findings::new(options, found), summary: Summary::default() }
    }

    pub(super) fn add(&mut self, rule: &'static Rule, place: Place<'_>, message: impl Into<String>) {
        if self.inner.wants(rule) {
            let Place { object, key, byte } = place;
            self.inner.give(Finding {
                severity: rule.severity,
                rule: rule.name,
                object: format!("/{object}"),
                key: key.map(ToString::to_string),
                byte,
                message: message.into(),
                hint: rule.hint.map(str::to_owned),
            });
        }
    }

    /// The value that was read. If the bytes are faulty, that is a finding of a rule, unless the reason is a limit or a
    /// missing key.
    ///
    /// # Errors
    /// If reading failed for a reason other than the bytes.
    pub(super) fn valid<T>(
        &mut self,
        read: Result<T>,
        rule: &'static Rule,
        place: Place<'_>,
    ) -> Result<Option<T>> {
        match read {
            Ok(value) => Ok(Some(value)),
            Err(e) => self.add_error(&e, rule, place).map_or(Err(e), |()| Ok(None)),
        }
    }

    /// Adds the content of an error; `None` if the error is not about the bytes.
    pub(super) fn add_error(&mut self, e: &Error, rule: &'static Rule, place: Place<'_>) -> Option<()> {
        let rule = match e.kind() {
            ErrorKind::Io | ErrorKind::Cancelled => return None,
            ErrorKind::LimitExceeded => &rule::LIMIT,
            ErrorKind::InvalidArgument => &rule::KEY,
            ErrorKind::Checksum => &rule::CHECKSUM,
            _ => rule,
        };
        let byte = e.place().map(|place| place.offset).or(place.byte);
        // The rule itself states what to do without a key.
        let advice = (e.kind() != ErrorKind::InvalidArgument).then(|| e.advice().to_string());
        self.add(rule, Place { byte, ..place }, format!("{}{}", e.detail(), advice.unwrap_or_default()));
        Some(())
    }

    pub(super) fn finish(self) -> Summary {
        Summary { by_rule: self.inner.by_rule(super::RULES), ..self.summary }
    }
}
