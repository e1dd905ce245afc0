//! Consistency of boundary variables with their coordinates.
//!
//! Spec: CF 1.13, 7.1 Cell Boundaries, 7.1.4 Boundaries and Formula Terms, Appendix A

use super::{Found, Scope, brief};
use crate::dataset::{Attribute, Dataset, Value, Variable, keyed};
use crate::tables::attributes::{self, Use};
use crate::units::Unit;
use std::collections::{BTreeMap, HashMap};

/// The attributes that had to agree before version 1.11, each with the version that introduced this.
const AGREEING: [(&str, u16); 8] = [
    ("units", 6),
    ("standard_name", 6),
    ("axis", 7),
    ("positive", 7),
    ("calendar", 7),
    ("leap_month", 7),
    ("leap_year", 7),
    ("month_lengths", 7),
];

pub(in crate::rules) fn bounds_attributes(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("bounds") {
        for boundary in scope.dataset.named(variable, "bounds").take(1) {
            if scope.is_since(11) {
                check_inherited(scope, variable, boundary, found);
            } else {
                let names = AGREEING.iter().filter(|(_, since)| scope.is_since(*since));
                check_agreement(variable, boundary, names.map(|(name, _)| *name), found);
            }
            if scope.is_since(7) {
                advise_against(variable, boundary, found);
                check_formula_terms(scope.dataset, variable, boundary, found);
            }
        }
    }
}

/// Advises against attributes that a boundary variable inherits and need not repeat. A difference is an error.
fn advise_against(variable: &Variable, boundary: &Variable, found: &mut Found) {
    let is_repeated =
        |name: &&str| boundary.has(name) && boundary.attributes.get(*name) == variable.attributes.get(*name);
    for name in AGREEING.iter().map(|(name, _)| *name).filter(is_repeated) {
        let message = format!(
            "{name} of a boundary variable, which inherits it, expected it at {} only",
            variable.name()
        );
        found.advise(boundary.place(name), message, "remove it");
    }
}

/// Since version 1.11: the attributes that a boundary variable inherits equal those of its coordinate exactly.
fn check_inherited(scope: &Scope<'_>, variable: &Variable, boundary: &Variable, found: &mut Found) {
    for (name, own) in &boundary.attributes {
        let is_inherited = attributes::get(name).is_some_and(|attribute| {
            attribute.uses.contains(&Use::BoundaryInherited)
                && attribute.since.is_none_or(|since| since <= scope.version)
        });
        if !is_inherited {
            continue;
        }
        let place = boundary.place(name);
        match variable.attributes.get(name) {
            None => {
                let message =
                    format!("{name} of a boundary variable whose coordinate {} has none", variable.name());
                found.add(place, message, "remove it, or add it to the coordinate");
            }
            Some(of) if !is_equal(scope.dataset, own, of) => {
                let message =
                    format!("{name} is {}, expected {} as {} has", shown(own), shown(of), variable.name());
                found.add(place, message, "remove it: boundary variables inherit it");
            }
            Some(_) => {}
        }
    }
}

/// Whether two attributes are equal: strings by their letters, numbers also by their types.
fn is_equal(dataset: &Dataset, a: &Attribute, b: &Attribute) -> bool {
    match (&a.value, &b.value) {
        (Value::Numbers(_), Value::Numbers(_)) if dataset.has_typed_attributes => {
            a.value == b.value && a.datatype == b.datatype
        }
        _ => a.value == b.value,
    }
}

/// Reports attributes of a boundary variable whose meaning differs from those of its coordinate.
pub(super) fn check_agreement<'n>(
    variable: &Variable,
    boundary: &Variable,
    names: impl Iterator<Item = &'n str>,
    found: &mut Found,
) {
    for name in names {
        let (Some(own), Some(of)) = (boundary.attributes.get(name), variable.attributes.get(name)) else {
            continue;
        };
        if !agree(name, own, of) {
            let message =
                format!("{name} is {}, expected {} as {} has", shown(own), shown(of), variable.name());
            found.add(boundary.place(name), message, "remove it, or correct it");
        }
    }
}

fn agree(name: &str, own: &Attribute, of: &Attribute) -> bool {
    if own.value == of.value {
        return true;
    }
    let (Some(a), Some(b)) = (own.text(), of.text()) else {
        return match (own.numbers(), of.numbers()) {
            (Some(own), Some(of)) => {
                own.len() == of.len() && own.iter().zip(of).all(|(a, b)| a.as_f64() == b.as_f64())
            }
            _ => false,
        };
    };
    match name {
        "units" => {
            a == b
                || matches!((Unit::parse(a), Unit::parse(b)), (Ok(one), Ok(two)) if one.same(&two) && is_degrees(a) == is_degrees(b))
        }
        "calendar" => calendar(a) == calendar(b),
        _ => a.eq_ignore_ascii_case(b),
    }
}

/// For UDUNITS, the units of latitude and longitude are only spellings of degrees.
fn is_degrees(units: &str) -> Option<char> {
    let letter =
        units.strip_prefix("degree")?.trim_start_matches('s').trim_start_matches('_').chars().next()?;
    Some(letter.to_ascii_lowercase())
}

fn calendar(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "gregorian" => "standard",
        "365_day" => "noleap",
        "366_day" => "all_leap",
        other => other,
    }
    .to_owned()
}

/// The value of an attribute for messages.
fn shown(attribute: &Attribute) -> String {
    match &attribute.value {
        Value::Text(text) => format!("{:?}", brief(text)),
        Value::Numbers(numbers) if numbers.len() <= 12 => {
            let each: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            match &attribute.datatype {
                Some(datatype) => format!("{} ({datatype})", each.join(", ")),
                None => each.join(", "),
            }
        }
        _ => attribute.type_name(),
    }
}

/// The bounds of a parametric vertical coordinate have the same terms. Terms that depend on its dimension name other
/// variables.
fn check_formula_terms(dataset: &Dataset, variable: &Variable, boundary: &Variable, found: &mut Found) {
    let Some(Ok(terms)) = variable.text("formula_terms").map(keyed) else { return };
    let Some(attribute) = boundary.attributes.get("formula_terms") else {
        let message = format!("no formula_terms, expected some as the coordinate {} has", variable.name());
        found.add(&boundary.path, message, "add formula_terms with the bounds of the terms");
        return;
    };
    let Some(Ok(own)) = attribute.text().map(keyed) else { return };
    let place = boundary.place("formula_terms");
    let lower = |terms: Vec<(&str, Vec<&str>)>| -> BTreeMap<String, String> {
        terms.into_iter().map(|(term, names)| (term.to_ascii_lowercase(), names.join(" "))).collect()
    };
    let (own, terms) = (lower(own), lower(terms));
    for term in terms.keys().filter(|term| !own.contains_key(*term)).take(MAX_TERMS) {
        let message = format!("no term {}, expected it as {} has it", brief(term), variable.name());
        found.add(&place, message, "add the term");
    }
    let targets: HashMap<String, &Variable> = dataset
        .references(variable, "formula_terms")
        .filter_map(|of| Some((of.key.as_ref()?.to_ascii_lowercase(), dataset.target(of)?)))
        .collect();
    let faults = own.iter().filter_map(|(term, name)| {
        let Some(of) = terms.get(term) else {
            let message = format!("term {}, which {} does not have", brief(term), variable.name());
            return Some((message, "remove the term"));
        };
        let [vertical] = variable.dimensions.as_slice() else { return None };
        wrong_term((term, name), of, targets.get(term)?.spans(vertical), variable)
    });
    for (message, hint) in faults.take(MAX_TERMS) {
        found.add(&place, message, hint);
    }
}

/// The error in the variable of a term, which must be that of the coordinate unless it depends on the vertical
/// dimension.
fn wrong_term(
    (term, name): (&str, &str),
    of: &str,
    depends: bool,
    variable: &Variable,
) -> Option<(String, &'static str)> {
    let (term, coordinate) = (brief(term), variable.name());
    match (depends, name == of) {
        (true, true) => {
            let name = brief(name);
            let message =
                format!("term {term} names {name} as {coordinate} does, expected the bounds of {name}");
            Some((message, "name the variable with the bounds of the term"))
        }
        (false, false) => {
            let (name, of) = (brief(name), brief(of));
            let message =
                format!("term {term} names {name}, expected {of} as it does not depend on {coordinate}");
            Some((message, "name the same variable"))
        }
        _ => None,
    }
}

/// The maximum number of terms of an attribute that are reported.
const MAX_TERMS: usize = 20;
