//! The rules of the CF conventions: a table of all rules, and a file of checks for each chapter.
//!
//! A [`CfRule`] contains its section, the versions that have it, whether it is a requirement, and how it is checked: by
//! attributes alone, by the values of one variable as they are streamed, or by values of several variables.
//!
//! Spec: CF 1.13 and its conformance document; earlier versions where they differ

mod attributes;
mod auto;
mod cells;
mod coordinate_systems;
mod coordinate_types;
mod description;
mod files_and_components;
mod labels;
mod reduction;
mod sampling_geometries;
mod scope;
mod table;
mod values;

pub use auto::{AUTO, VERDICTS, auto};
pub use files_and_components::{names_of, versions_of};
pub use scope::{Found, Scope};
pub use table::{CfRule, RULES, USERS_GUIDE, is_of_identification, is_of_users_guide, rules};
pub use values::{Fold, ValueReader, Values};

use crate::dataset::{Dataset, Variable};
use crate::finding::Finding;
use crate::tables::{StandardNames, Version};
use hyperslab_core::Result;

/// The versions that can be checked.
pub const VERSIONS: [Version; 8] =
    [version(6), version(7), version(8), version(9), version(10), version(11), version(12), version(13)];

const fn version(minor: u16) -> Version {
    Version { major: 1, minor }
}

/// What is checked, and against what.
#[derive(Clone, Copy)]
pub struct Checked<'a> {
    /// The dataset.
    pub dataset: &'a Dataset,
    /// The standard names.
    pub names: &'a StandardNames,
    /// The values of variables; `None` to skip the rules that need them.
    pub values: Option<&'a dyn ValueReader>,
    /// Whether a rule was requested.
    pub wants: &'a dyn Fn(&CfRule) -> bool,
}

/// Checks a dataset. `versions` has the version against which each of its groups is checked; `None` for groups that are
/// not checked.
///
/// # Errors
/// If values cannot be read.
pub fn check(checked: &Checked<'_>, versions: &[Option<Version>]) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    for version in VERSIONS {
        let of_version = |group: usize| versions.get(group).copied().flatten() == Some(version);
        let scope = Scope::new(checked.dataset, version, checked.names, &of_version);
        if !scope.is_empty() {
            let chosen: Vec<&'static CfRule> =
                RULES.iter().filter(|rule| rule.is_of(version) && (checked.wants)(rule)).collect();
            run(&scope, &chosen, checked.values, &mut found)?;
        }
    }
    Ok(found)
}

fn run(
    scope: &Scope<'_>,
    rules: &[&'static CfRule],
    values: Option<&dyn ValueReader>,
    findings: &mut Vec<Finding>,
) -> Result<()> {
    for rule in rules {
        let mut found = Found::new(&rule.rule);
        if let Some(check) = rule.check.attributes {
            check(scope, &mut found);
        }
        if let (Some(check), Some(values)) = (rule.check.related, values) {
            check(scope, values, &mut found)?;
        }
        findings.append(&mut found.findings);
    }
    match values {
        Some(values) => values::stream(scope, rules, values, findings),
        None => Ok(()),
    }
}

/// How a rule is checked: in one or several ways.
#[derive(Clone, Copy)]
struct Check {
    /// By attributes, datatypes and dimensions.
    attributes: Option<Attributes>,
    /// By the values of each variable alone. All such rules share one pass over the values.
    values: Option<OfValues>,
    /// By values of several variables together.
    related: Option<Related>,
}

type Attributes = fn(&Scope<'_>, &mut Found);
type OfValues = for<'a> fn(&'a Scope<'_>, &'a Variable) -> Option<Box<dyn Fold + 'a>>;
type Related = fn(&Scope<'_>, &dyn ValueReader, &mut Found) -> Result<()>;

impl Check {
    const NONE: Check = Check { attributes: None, values: None, related: None };

    const fn and_related(self, check: Related) -> Check {
        Check { related: Some(check), ..self }
    }

    const fn and_values(self, check: OfValues) -> Check {
        Check { values: Some(check), ..self }
    }
}
