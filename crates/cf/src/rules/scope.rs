//! The part of a dataset that is checked against one version of CF, and the collection of findings.

use crate::brief::shortened;
use crate::dataset::{Dataset, Dimension, Group, Variable};
use crate::finding::Finding;
use crate::tables::{StandardNames, Version};
use hyperslab_core::Severity;
use hyperslab_core::check::Rule;

/// The groups and variables that are checked against one version.
pub struct Scope<'a> {
    /// The whole dataset. Names may refer to objects outside of the scope.
    pub dataset: &'a Dataset,
    /// The version.
    pub version: Version,
    /// The standard names.
    pub names: &'a StandardNames,
    groups: Vec<&'a Group>,
    variables: Vec<&'a Variable>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(
        dataset: &'a Dataset,
        version: Version,
        names: &'a StandardNames,
        has: &dyn Fn(usize) -> bool,
    ) -> Scope<'a> {
        let groups = dataset.groups.iter().enumerate().filter(|(at, _)| has(*at)).map(|(_, group)| group);
        let variables = dataset.variables.iter().filter(|variable| has(variable.group));
        Scope { dataset, version, names, groups: groups.collect(), variables: variables.collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The groups.
    pub fn groups(&self) -> impl Iterator<Item = &'a Group> + '_ {
        self.groups.iter().copied()
    }

    /// The root group, if it is checked against this version.
    pub fn root(&self) -> Option<&'a Group> {
        self.groups().find(|group| group.parent.is_none())
    }

    /// The variables.
    pub fn variables(&self) -> impl Iterator<Item = &'a Variable> + '_ {
        self.variables.iter().copied()
    }

    /// The dimensions of the groups.
    pub fn dimensions(&self) -> impl Iterator<Item = &'a Dimension> + '_ {
        let groups: std::collections::BTreeSet<&str> =
            self.groups.iter().map(|group| group.path.as_str()).collect();
        let is_in =
            move |of: &&Dimension| of.path.parent().is_some_and(|parent| groups.contains(parent.as_str()));
        self.dataset.dimensions().iter().filter(is_in)
    }

    /// The variables that have an attribute.
    pub fn with<'s>(&'s self, attribute: &'s str) -> impl Iterator<Item = &'a Variable> + 's {
        self.variables().filter(move |variable| variable.has(attribute))
    }

    /// Whether the version is 1.`minor` or later.
    pub fn is_since(&self, minor: u16) -> bool {
        self.version >= Version { major: 1, minor }
    }
}

/// Collects the findings of one rule.
pub struct Found {
    rule: &'static Rule,
    pub(super) findings: Vec<Finding>,
}

impl Found {
    pub(super) fn new(rule: &'static Rule) -> Found {
        Found { rule, findings: Vec::new() }
    }

    /// Adds a finding: the object or attribute, what was found and what was expected, and how to fix it.
    pub fn add(&mut self, object: impl ToString, message: impl Into<String>, hint: impl Into<String>) {
        self.push(self.rule.severity, object.to_string(), message.into(), hint.into());
    }

    /// As [`Found::add`], for something that is only recommended although the rule has requirements.
    pub fn advise(&mut self, object: impl ToString, message: impl Into<String>, hint: impl Into<String>) {
        self.push(Severity::Warning, object.to_string(), message.into(), hint.into());
    }

    /// Texts of the file may have any length. All findings pass through here.
    fn push(&mut self, severity: Severity, object: String, message: String, hint: String) {
        let (message, hint) = (shortened(message), shortened(hint));
        self.findings.push(Finding { rule: self.rule, severity, object, message, hint });
    }
}

/// `did you mean NAME?`, or the other hint if there is no similar name.
pub(super) fn meant(near: Option<&str>, otherwise: &str) -> String {
    near.map_or_else(|| otherwise.to_owned(), |near| format!("did you mean {near}?"))
}
