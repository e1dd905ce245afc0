//! How the values of cells were derived.
//!
//! Spec: CF 1.13, 7.3 Cell Methods, 7.4 Climatological Statistics, Appendix E

mod periods;
mod syntax;

pub(super) use periods::periods;

use super::{Found, Scope, brief};
use crate::dataset::{Attribute, Target, Variable, words};
use crate::rules::scope::meant;
use crate::tables::{Vocabulary, cell_methods as table};
use crate::units::Unit;
use std::collections::{HashMap, HashSet};
use syntax::{Entry, interval, parse};

/// The maximum number of findings for an attribute.
const MAX_FINDINGS: usize = 20;

/// The methods that `cell_methods` applies, in order, as far as the attribute follows the syntax of CF.
pub(in crate::rules) fn methods(
    variable: &Variable,
) -> impl Iterator<Item = &'static table::CellMethod> + '_ {
    let (entries, _) = parse(variable.text("cell_methods").unwrap_or_default());
    entries.into_iter().filter_map(|entry| table::get(entry.method))
}

pub(in crate::rules) fn cell_methods(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("cell_methods") {
        let place = variable.place("cell_methods");
        let Some(text) = variable.text("cell_methods") else {
            let own = variable.attributes.get("cell_methods").map(Attribute::type_name);
            let message = format!("cell_methods is {}, expected a single string", own.unwrap_or_default());
            found.add(place, message, "write it as \"NAME: METHOD\"");
            continue;
        };
        let (entries, fault) = parse(text);
        let mut faults = Vec::new();
        let names = Names::of(scope, variable);
        check_twice(&entries, &mut faults);
        for entry in &entries {
            check_entry(scope, variable, &names, entry, &mut faults);
            if faults.len() >= MAX_FINDINGS {
                break;
            }
        }
        faults.extend(fault.map(|fault| (fault, "write each entry as \"NAME: METHOD\"".to_owned())));
        for (message, hint) in faults.into_iter().take(MAX_FINDINGS) {
            found.add(&place, message, hint);
        }
    }
}

/// Messages with hints.
type Faults = Vec<(String, String)>;

/// The names that a method may be applied to.
struct Names<'a> {
    known: HashSet<&'a str>,
    coordinates: HashMap<&'a str, &'a Variable>,
}

impl<'a> Names<'a> {
    fn of(scope: &Scope<'a>, variable: &'a Variable) -> Names<'a> {
        let dataset = scope.dataset;
        let mut known: HashSet<&str> = variable.dimensions.iter().map(|along| along.name()).collect();
        // Those of domains and aggregations are named in attributes.
        for attribute in ["dimensions", "aggregated_dimensions"] {
            known.extend(words(variable.text(attribute).unwrap_or_default()));
        }
        let coordinates: HashMap<&str, &Variable> =
            dataset.coordinates(variable).map(|coordinate| (coordinate.name(), coordinate)).collect();
        known.extend(coordinates.keys());
        for list in coordinates.values() {
            let gathered =
                dataset.references(list, "compress").filter_map(|reference| match reference.target {
                    Target::Dimension(id) => dataset.dimension_at(id),
                    _ => None,
                });
            known.extend(gathered.map(|dimension| dimension.path.name()));
        }
        Names { known, coordinates }
    }

    fn has(&self, scope: &Scope<'_>, name: &str) -> bool {
        let is_standard = || scope.names.get(name).is_some() || scope.names.alias(name).is_some();
        // Paths to coordinates in other groups are not followed.
        name == "area" || self.known.contains(name) || name.contains('/') || is_standard()
    }

    /// Whether a name refers to a coordinate: by its name, that of its only dimension, or its standard name if nothing
    /// else has this name.
    fn is_name_of(&self, name: &str, coordinate: &Variable) -> bool {
        let name = name.rsplit('/').next().unwrap_or(name);
        name == coordinate.name()
            || matches!(&*coordinate.dimensions, [along] if along.name() == name)
            || (coordinate.standard_name() == Some(name) && !self.known.contains(name))
    }
}

/// A dimension has one method, except for climatological times and anomalies, which are based on the result of another
/// method.
fn check_twice(entries: &[Entry<'_>], faults: &mut Faults) {
    let mut met: HashMap<&str, bool> = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.norm.is_none()) {
        for name in entry.names.iter().filter(|name| **name != "area") {
            let is_climatological = entry.period.is_some();
            match met.get_mut(name) {
                None => {
                    met.insert(name, is_climatological);
                }
                Some(before) if *before || is_climatological => *before = true,
                Some(_) => {
                    let message = format!("{:?} has two methods, expected one", brief(name));
                    faults.push((message, "keep one method of each dimension".to_owned()));
                }
            }
            if faults.len() >= MAX_FINDINGS {
                return;
            }
        }
    }
}

fn check_entry(
    scope: &Scope<'_>,
    variable: &Variable,
    names: &Names<'_>,
    entry: &Entry<'_>,
    faults: &mut Faults,
) {
    for name in entry.names.iter().filter(|name| !names.has(scope, name)).take(MAX_FINDINGS) {
        let message =
            format!("{:?}, expected a dimension, a scalar coordinate, a standard name or area", brief(name));
        let near = crate::tables::nearest::nearest(name, names.known.iter().copied());
        faults.push((message, meant(near, "name a dimension of the variable, or a standard name")));
    }
    check_method(scope, variable, entry, faults);
    for (area, is_divisor) in
        entry.portion.iter().map(|area| (area, false)).chain(entry.of.iter().map(|area| (area, true)))
    {
        check_area(scope, variable, names, area, is_divisor, faults);
    }
    if let Some((word, period)) = entry.period
        && !matches!(period, "days" | "years")
    {
        let message = format!("{word} {:?}, expected {word} days or {word} years", brief(period));
        faults.push((message, "write days or years".to_owned()));
    }
    for comment in &entry.comments {
        check_intervals(comment, entry.names.len(), faults);
    }
}

fn check_method(scope: &Scope<'_>, variable: &Variable, entry: &Entry<'_>, faults: &mut Faults) {
    match table::get(entry.method) {
        None => {
            let message = format!("method {:?}, expected one of Appendix E", brief(entry.method));
            faults.push((
                message,
                meant(table::nearest(entry.method), "use a method of Appendix E, such as mean"),
            ));
        }
        Some(table::CellMethod { since: Some(since), .. }) if *since > scope.version => {
            let message = format!("method {:?}, which came with CF-{since}", entry.method);
            faults.push((message, format!("follow CF-{since} or later")));
        }
        Some(_) => {}
    }
    if let Some(norm) = entry.norm
        && scope.is_since(13)
    {
        let mut ancillary = scope.dataset.references(variable, "ancillary_variables");
        if !ancillary.any(|reference| reference.name == norm) {
            let message = format!("anomaly_wrt {:?}, expected one of the ancillary_variables", brief(norm));
            faults.push((message, "name it in ancillary_variables".to_owned()));
        }
    }
}

/// The portion of cells must be an area type, or a coordinate that contains area types.
fn check_area(
    scope: &Scope<'_>,
    variable: &Variable,
    names: &Names<'_>,
    area: &str,
    is_divisor: bool,
    faults: &mut Faults,
) {
    let coordinate = names.coordinates.get(area).copied().or_else(|| {
        let group = scope.dataset.groups.get(variable.group)?;
        scope.dataset.at(&group.path.child(area))
    });
    if let Some(coordinate) = coordinate {
        if is_divisor && !coordinate.is_single() {
            let message = format!("over {:?}, which has several values, expected one", brief(area));
            faults.push((message, "name a single area type".to_owned()));
        }
        return;
    }
    let types = Vocabulary::area_types();
    if !types.contains(area) && !area.contains('/') {
        let message = format!(
            "area type {:?}, expected one of table {} or a coordinate of the variable",
            brief(area),
            types.version()
        );
        faults.push((message, meant(types.nearest(area), "use a name of the table of area types")));
    }
}

/// Checks the standardized part of a comment: `interval: VALUE UNIT`, as often as there are names, or once.
fn check_intervals(comment: &str, names: usize, faults: &mut Faults) {
    let mut rest = comment;
    let mut count = 0_usize;
    while let Some((own, after)) = interval(rest) {
        rest = after;
        count += 1;
        if faults.len() >= MAX_FINDINGS {
            return;
        }
        let (value, unit) = own.split_once(char::is_whitespace).unwrap_or((own, ""));
        let hint = || "write it as \"interval: 1 day\"".to_owned();
        if !value.parse::<f64>().is_ok_and(f64::is_finite) {
            faults.push((format!("interval {:?}, expected a number and a unit", brief(own)), hint()));
        } else if unit.trim().is_empty() {
            faults.push((format!("interval {:?} without a unit, expected one", brief(own)), hint()));
        } else if let Err(error) = Unit::parse(unit.trim()) {
            let message =
                format!("interval with the unit {:?}, expected one that UDUNITS reads", brief(unit.trim()));
            faults.push((message, meant(error.near.as_deref(), "write a unit of UDUNITS")));
        }
    }
    if count > 1 && count != names {
        let message = format!("{count} intervals of {names} names, expected one, or one of each name");
        faults.push((message, "give one interval".to_owned()));
    }
}
