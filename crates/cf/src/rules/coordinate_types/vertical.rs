//! Heights, depths and pressures: their direction, and the formulas of parametric coordinates.
//!
//! Spec: CF 1.13, 4.3 Vertical (Height or Depth) Coordinate, Appendix D

use super::axis::axis_attribute;
use super::{Found, Scope, is_bounds, is_coordinate};
use crate::brief::brief;
use crate::dataset::{Attribute, Axis, Role, Variable, by_units, keyed};
use crate::rules::scope::meant;
use crate::tables::nearest::nearest;
use crate::tables::vertical::{self, Term, VerticalCoordinate};
use crate::units::Unit;
use std::collections::{BTreeMap, BTreeSet};

pub(in crate::rules) fn positive(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.variables() {
        let Some(attribute) = variable.attributes.get("positive") else {
            if needs_positive(variable) {
                let units = variable.text("units").unwrap_or_default();
                let message = format!("a vertical coordinate in {units:?} without positive, expected it");
                found.add(&variable.path, message, "add positive: up or down");
            }
            continue;
        };
        let text = attribute.text();
        let is_known = |text: &str| ["up", "down"].iter().any(|known| text.eq_ignore_ascii_case(known));
        if !text.is_some_and(is_known) {
            let own = text.map_or_else(|| attribute.type_name(), |text| format!("{text:?}"));
            let message = format!("positive is {own}, expected up or down");
            let near = text.and_then(|text| nearest(text, ["up", "down"].into_iter()));
            found.add(variable.place("positive"), message, meant(near, "use up or down"));
        } else if let (Some(text), Some(expected)) = (text, direction(variable).filter(|_| scope.is_since(7)))
            && !text.eq_ignore_ascii_case(expected)
        {
            let name = variable.standard_name().unwrap_or_default();
            let message = format!("positive is {text:?}, expected {expected} as {name} is counted");
            found.advise(variable.place("positive"), message, "correct positive or the standard name");
        }
    }
}

/// The direction that the standard name implies.
fn direction(variable: &Variable) -> Option<&'static str> {
    let name = variable.standard_name()?;
    let is = |word: &str| name == word || name.strip_prefix(word).is_some_and(|rest| rest.starts_with('_'));
    match () {
        () if is("height") || is("altitude") => Some("up"),
        () if is("depth") => Some("down"),
        () => None,
    }
}

/// Whether a variable is a vertical coordinate whose units do not determine its direction: neither pressure nor
/// dimensionless, such as level numbers.
fn needs_positive(variable: &Variable) -> bool {
    let is_axis = variable.is(Role::Coordinate) || variable.is_single();
    let is_named = matches!(variable.standard_name(), Some("height" | "depth" | "altitude"));
    let is_vertical = axis_attribute(variable) == Some(Axis::Z) || (is_axis && is_named);
    is_vertical
        && is_coordinate(variable)
        && variable.is_numeric()
        && variable.unit().is_some_and(|unit| !unit.is_dimensionless())
        && by_units(variable).is_none()
}

pub(in crate::rules) fn formula_terms(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("formula_terms") {
        let place = variable.place("formula_terms");
        // The bounds of a coordinate also have a formula, and share its standard name.
        let owner = match is_bounds(variable) {
            true => scope.dataset.naming(variable, "bounds").next().unwrap_or(variable),
            false => variable,
        };
        let Some(coordinate) = coordinate_of(scope, owner) else {
            let (message, hint) = match owner.standard_name() {
                Some(name) => {
                    let near = nearest(name, vertical::all().iter().map(|of| of.standard_name));
                    let hint = meant(near, "remove formula_terms, or correct the standard name");
                    (format!("formula_terms beside standard_name {name:?}, expected one of Appendix D"), hint)
                }
                None => (
                    "formula_terms without standard_name, expected one of Appendix D".to_owned(),
                    "add the standard_name of the vertical coordinate".to_owned(),
                ),
            };
            found.add(place, message, hint);
            continue;
        };
        check_terms(variable, coordinate, found);
        if scope.is_since(9) {
            check_units(scope, variable, coordinate, found);
        }
    }
}

/// The parametric coordinate that a variable is, if the version has it.
fn coordinate_of(scope: &Scope<'_>, variable: &Variable) -> Option<&'static VerticalCoordinate> {
    let coordinate = vertical::get(variable.standard_name()?)?;
    coordinate.since.is_none_or(|since| since <= scope.version).then_some(coordinate)
}

/// Checks the string of the attribute. An omitted term is zero, so no term is missing.
fn check_terms(variable: &Variable, coordinate: &VerticalCoordinate, found: &mut Found) {
    let place = variable.place("formula_terms");
    // An attribute that is not a string is covered by reference-resolves.
    let Some(text) = variable.text("formula_terms") else { return };
    let pairs = match keyed(text) {
        Ok(pairs) => pairs,
        Err(word) => {
            let message = format!("formula_terms has {:?}, expected a term with a colon", brief(word));
            return found.add(place, message, "write pairs: term: variable");
        }
    };
    let mut met = BTreeSet::new();
    for (term, names) in pairs {
        let shown = brief(term);
        if names.len() != 1 {
            let message = format!("{} names behind the term {shown:?}, expected one", names.len());
            found.add(&place, message, "name one variable for each term");
        }
        if coordinate.term(term).is_none() {
            let terms = coordinate.terms.iter().map(|term| term.name);
            let known = terms.clone().collect::<Vec<_>>().join(", ");
            let message = format!("term {shown:?}, expected one of {known} as {}", coordinate.standard_name);
            found.add(&place, message, meant(nearest(term, terms), "use the terms of Appendix D"));
        }
        if !met.insert(term.to_ascii_lowercase()) {
            let message = format!("term {shown:?} twice, expected it once");
            found.add(&place, message, "remove one of them");
        }
    }
}

/// The terms that name a variable, each with this variable.
fn terms<'a>(
    scope: &'a Scope<'_>,
    variable: &'a Variable,
    coordinate: &'static VerticalCoordinate,
) -> impl Iterator<Item = (&'static Term, &'a Variable)> {
    let references = scope.dataset.references(variable, "formula_terms");
    references.filter_map(move |reference| {
        Some((coordinate.term(reference.key.as_deref()?)?, scope.dataset.target(reference)?))
    })
}

/// Checks the units of the variables for which Appendix D has a standard name. Variables that have a standard name
/// themselves are covered by units-canonical.
fn check_units(
    scope: &Scope<'_>,
    variable: &Variable,
    coordinate: &'static VerticalCoordinate,
    found: &mut Found,
) {
    for (term, of_term) in terms(scope, variable, coordinate) {
        let name = term.standard_names.first().and_then(|name| scope.names.get(name));
        if let Some(canonical) = name.and_then(|name| name.units)
            && !of_term.has("standard_name")
            && let (Some(unit), Ok(wanted)) = (of_term.unit(), Unit::parse(canonical))
            && !unit.can_convert_to(&wanted)
        {
            let units = of_term.text("units").unwrap_or_default();
            let message = format!(
                "units {units:?} of the term {}, expected units convertible to {canonical}",
                term.name
            );
            found.add(of_term.place("units"), message, "correct the units, or name another variable");
        }
    }
}

pub(in crate::rules) fn formula_standard_names(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("computed_standard_name") {
        let place = variable.place("computed_standard_name");
        if !variable.has("formula_terms") && !is_bounds(variable) {
            let message = "computed_standard_name without formula_terms, expected both";
            found.add(place, message, "add formula_terms, or remove computed_standard_name");
        } else if variable.text("computed_standard_name").is_none() {
            let own = variable.attributes.get("computed_standard_name").map(Attribute::type_name);
            let message = format!("computed_standard_name is {}, expected a text", own.unwrap_or_default());
            found.add(place, message, "write a standard name");
        }
    }
    for variable in scope.with("formula_terms").filter(|variable| !is_bounds(variable)) {
        if let Some(coordinate) = coordinate_of(scope, variable) {
            check_names(scope, variable, coordinate, found);
        }
    }
}

fn check_names(
    scope: &Scope<'_>,
    variable: &Variable,
    coordinate: &'static VerticalCoordinate,
    found: &mut Found,
) {
    let computed = variable.text("computed_standard_name").filter(|name| !name.is_empty());
    if let Some(name) = computed
        && place_of(scope, &coordinate.computed, name).is_none()
    {
        let allowed = coordinate.computed.join(", ");
        let message = format!("computed_standard_name {name:?}, expected one of {allowed}");
        let near = nearest(name, coordinate.computed.iter().copied());
        found.add(variable.place("computed_standard_name"), message, meant(near, "use one of these names"));
    }
    // Heights and depths all refer to one surface, which is identified by the index of a name among those of its term.
    let mut surfaces: BTreeMap<usize, String> = BTreeMap::new();
    if let Some(at) = computed.and_then(|name| place_of(scope, &coordinate.computed, name)) {
        surfaces.insert(at, format!("computed_standard_name {}", computed.unwrap_or_default()));
    }
    for (term, of_term) in terms(scope, variable, coordinate) {
        let Some(name) = of_term.standard_name() else { continue };
        if term.standard_names.is_empty() {
            continue;
        }
        let Some(at) = place_of(scope, &term.standard_names, name) else {
            let allowed = term.standard_names.join(", ");
            let message = format!("standard_name {name:?} of the term {}, expected {allowed}", term.name);
            let near = nearest(name, term.standard_names.iter().copied());
            found.add(of_term.place("standard_name"), message, meant(near, "use the name of Appendix D"));
            continue;
        };
        if term.standard_names.len() > 1 {
            surfaces.entry(at).or_insert_with(|| format!("{} {name}", term.name));
        }
    }
    if surfaces.len() > 1 {
        let told = surfaces.into_values().collect::<Vec<_>>().join(", ");
        let message = format!("heights above different surfaces: {told}, expected one for all");
        found.add(&variable.path, message, "use the standard names of one row of Table D.1");
    }
}

/// The index of a name among others, even if it is a former name.
fn place_of(scope: &Scope<'_>, names: &[&str], name: &str) -> Option<usize> {
    let at = |name: &str| names.iter().position(|known| *known == name);
    at(name).or_else(|| scope.names.alias(name)?.names().find_map(at))
}
