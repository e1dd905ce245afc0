//! Checks conventions on top of a format: CF, those of the NetCDF User's Guide, and TileDB-CF.

mod dataset;
mod dataspaces;

use crate::format::OpenOptions;
use crate::formats::open;
use crate::location::did_you_mean;
use crate::report::{Finding, Report};
use hyperslab_cf::dataspace::rules::RULES as OF_DATASPACES;
use hyperslab_cf::dataspace::{ALL, CONVENTIONS, Convention, VERDICTS};
use hyperslab_cf::rules::{AUTO, CfRule, USERS_GUIDE, VERDICTS as OF_AUTO, VERSIONS, rules as of_cf};
use hyperslab_cf::tables::{StandardNames, Version};
use hyperslab_core::check::Rule;
use hyperslab_core::{Error, Remedy, Result};
use std::path::Path;
use std::sync::Arc;

/// Conventions that a store is checked against.
///
/// ```
/// use hyperslab::check::Conventions;
///
/// assert!(Conventions::parse("CF-1.8,netcdf").is_ok());
/// let error = Conventions::parse("simple-0.3").unwrap_err();
/// assert!(error.to_string().contains("did you mean simple-0.3.0?"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Conventions {
    /// Versions of CF.
    versions: Vec<Version>,
    /// Whether each group is checked by the version that its attribute `Conventions` names.
    auto: bool,
    /// Whether the rules that CF shares with the NetCDF User's Guide are checked.
    users_guide: bool,
    dataspaces: Vec<&'static Convention>,
    /// Whether the report states which of all TileDB-CF conventions hold.
    all_dataspaces: bool,
}

/// How conventions are checked.
#[derive(Clone, Debug, Default)]
pub struct ConventionOptions {
    /// Whether rules that need the values of variables are left out.
    pub quick: bool,
    /// The rules that are checked.
    pub rules: RuleChoice,
    /// The standard names; `None` for the built-in table.
    pub standard_names: Option<Arc<StandardNames>>,
}

/// Rules chosen by name.
#[derive(Clone, Debug, Default)]
pub struct RuleChoice {
    only: Vec<String>,
    without: Vec<String>,
}

impl Conventions {
    /// Parses names of conventions, separated by commas: `auto` for the conventions that the attribute `Conventions` of
    /// each group names, `CF-1.6` to `CF-1.13`, `netcdf`; for TileDB-CF, `cf-0.1.0`, `indexable-0.1.0`, `cf-0.2.0`,
    /// `simple-0.2.0`, `cf-0.3.0`, `simple-0.3.0`, and `tiledb-cf` for all of these.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for another name.
    pub fn parse(text: &str) -> Result<Conventions> {
        let mut asked = Conventions::default();
        for word in text.split(',').map(str::trim) {
            let version = word.strip_prefix("CF-").and_then(Version::parse);
            match (version.filter(|version| VERSIONS.contains(version)), Convention::of(word)) {
                (Some(version), _) => asked.versions.push(version),
                (None, Some(convention)) => asked.dataspaces.push(convention),
                (None, None) => match word {
                    AUTO => asked.auto = true,
                    USERS_GUIDE => asked.users_guide = true,
                    ALL => asked.all_dataspaces = true,
                    _ => return Err(unknown(word)),
                },
            }
        }
        Ok(asked)
    }

    /// Whether CF or the NetCDF User's Guide is checked, on the variables of any format.
    fn is_of_variables(&self) -> bool {
        self.auto || self.users_guide || !self.versions.is_empty()
    }

    fn is_of_dataspaces(&self) -> bool {
        self.all_dataspaces || !self.dataspaces.is_empty()
    }
}

fn unknown(word: &str) -> Error {
    let versions = VERSIONS.iter().map(|version| format!("CF-{version}"));
    let others = CONVENTIONS.iter().map(|convention| convention.name.to_owned()).chain([ALL.to_owned()]);
    let known: Vec<String> = std::iter::once(AUTO.to_owned())
        .chain(versions)
        .chain([USERS_GUIDE.to_owned()])
        .chain(others)
        .collect();
    // CF is checked by its version.
    let is_cf = word.get(..2).is_some_and(|begin| begin.eq_ignore_ascii_case("cf"));
    let near = did_you_mean(word, known.iter().map(String::as_str)).or_else(|| {
        let hint =
            format!("{AUTO} checks the version of CF that the store names in its attribute Conventions");
        is_cf.then_some(Remedy::Hint(hint))
    });
    Error::invalid(format!("convention {word:?}, expected one of {}", known.join(", "))).with_remedies(near)
}

impl RuleChoice {
    /// Parses names of rules, separated by commas. A name stands for all rules that begin with it: `cf/units` for
    /// `cf/units-known` and others, `cf` for all of CF. Rules whose name is preceded by a hyphen are left out.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a name that no rule begins with.
    pub fn parse(text: &str) -> Result<RuleChoice> {
        let mut choice = RuleChoice::default();
        for word in text.split(',').map(str::trim) {
            let name = word.strip_prefix('-').unwrap_or(word);
            if !rules().any(|rule| is_among(rule.name, name)) {
                let lists = || Remedy::Hint("the documentation of `check` lists all rules".to_owned());
                let hint = did_you_mean(name, rules().map(|rule| rule.name)).unwrap_or_else(lists);
                let error = Error::invalid(format!("rule {name:?}, expected one such as cf/units-known"));
                return Err(error.with_remedy(hint));
            }
            let list = if name == word { &mut choice.only } else { &mut choice.without };
            list.push(name.to_owned());
        }
        Ok(choice)
    }

    /// Whether a rule was chosen.
    fn has(&self, rule: &str) -> bool {
        let is_in = |names: &[String]| names.iter().any(|name| is_among(rule, name));
        (self.only.is_empty() || is_in(&self.only)) && !is_in(&self.without)
    }
}

/// Whether a rule has this name, or begins with it up to `/` or `-`.
fn is_among(rule: &str, name: &str) -> bool {
    rule.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '-']))
}

/// Checks the store at `path` against conventions, group by group.
///
/// CF is checked on the variables that the store shows, in any format. Violated requirements are errors, violated
/// recommendations are warnings. With `auto`, notes state which conventions each group is checked against. With
/// `tiledb-cf`, the findings are notes that state which conventions hold and what violates the others; only if none
/// holds is one of them an error.
///
/// ```
/// use hyperslab::check::{ConventionOptions, Conventions, check_conventions};
///
/// let (path, asked) = ("../../examples/ocean.nc", Conventions::parse("CF-1.8")?);
/// let report = check_conventions(path.as_ref(), &Default::default(), &asked, &ConventionOptions::default())?;
/// assert!(report.findings.iter().all(|finding| finding.rule.starts_with("cf/")));
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) if the conventions are those of another format; if the store
/// cannot be read.
pub fn check_conventions(
    path: &Path,
    options: &OpenOptions,
    conventions: &Conventions,
    how: &ConventionOptions,
) -> Result<Report> {
    let mut report = Report::default();
    if conventions.is_of_variables() {
        let source = open(path, options)?;
        let found =
            dataset::check(&*source, conventions, how).map_err(|error| error.in_file(path.display()))?;
        report.findings.extend(found);
    }
    if conventions.is_of_dataspaces() {
        report.findings.extend(dataspaces::check(path, options, conventions, how)?);
    }
    Ok(report)
}

/// The rules of conventions.
pub(super) fn rules() -> impl Iterator<Item = &'static Rule> {
    of_cf().chain(OF_AUTO.iter().chain(OF_DATASPACES).chain(VERDICTS).copied())
}

/// The finding of a rule of conventions, at an object or an attribute.
fn finding(found: hyperslab_cf::Finding) -> Finding {
    let hyperslab_cf::Finding { rule, severity, object, message, hint } = found;
    let place = crate::report::FindingPlace::Value { object: Some(object), key: None, spot: None };
    Finding { severity, rule: rule.name, message, hint: Some(hint).filter(|hint| !hint.is_empty()), place }
}

/// Whether a rule of CF is checked.
fn wants(how: &ConventionOptions, rule: &CfRule) -> bool {
    how.rules.has(rule.rule.name) && !(how.quick && rule.needs_values())
}
