//! Names and dimensions.
//!
//! Spec: CF 1.13, 2.3 Naming Conventions, 2.4 Dimensions, 2.5 Variables

use super::{Found, Scope};
use crate::dataset::Variable;
use std::collections::{BTreeMap, BTreeSet};

pub(in crate::rules) fn names(scope: &Scope<'_>, found: &mut Found) {
    let mut check = |place: &dyn ToString, kind: &str, name: &str| {
        if let Some(why) = wrong(name) {
            let message = format!("{kind} {name:?} {why}");
            found.add(place.to_string(), message, "use letters, digits and underscores, a letter first");
        }
    };
    for group in scope.groups() {
        // Version 1.8 introduced names of groups.
        if group.parent.is_some() && scope.is_since(8) {
            check(&group.path, "group", group.path.name());
        }
        for name in group.attributes.keys() {
            check(&format!("{}@{name}", group.path), "attribute", name);
        }
    }
    for dimension in scope.dimensions().filter(|dimension| scope.dataset.at(&dimension.path).is_none()) {
        check(&dimension.path, "dimension", dimension.path.name());
    }
    for variable in scope.variables() {
        check(&variable.path, "variable", variable.name());
        for name in variable.attributes.keys() {
            check(&variable.place(name), "attribute", name);
        }
    }
}

/// The error in a name. Names that begin with an underscore are reserved for the system, which writes them; in another
/// spelling they belong to nobody.
fn wrong(name: &str) -> Option<String> {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if let Some(own) = OF_THE_SYSTEM.iter().find(|own| own.eq_ignore_ascii_case(name) && **own != name) {
        return Some(format!("begins with an underscore, expected a letter, or {own} of the system"));
    }
    if let Some(letter) = name.chars().find(|letter| !is_allowed(*letter)) {
        return Some(format!("has {letter:?}, expected letters, digits and underscores"));
    }
    match name.chars().next() {
        Some(first) if first.is_ascii_digit() => Some("begins with a digit, expected a letter".to_owned()),
        _ => None,
    }
}

/// Names that the NetCDF libraries and their conventions reserve.
const OF_THE_SYSTEM: [&str; 9] = [
    "_FillValue",
    "_Unsigned",
    "_Encoding",
    "_NCProperties",
    "_ChunkSizes",
    "_Format",
    "_CoordinateAxisType",
    "_CoordinateAxes",
    "_CoordinateSystems",
];

pub(in crate::rules) fn names_differ_in_case(scope: &Scope<'_>, found: &mut Found) {
    let mut first: BTreeMap<(usize, String), &Variable> = BTreeMap::new();
    for variable in scope.variables() {
        let key = (variable.group, variable.name().to_lowercase());
        let Some(other) = first.insert(key, variable) else { continue };
        // Formats list members in different orders.
        let (one, two) = if other.name() < variable.name() { (other, variable) } else { (variable, other) };
        let message = format!(
            "variables {:?} and {:?} have the same name but for case, expected them to differ more",
            one.name(),
            two.name()
        );
        found.add(&two.path, message, "give one of them another name");
    }
}

pub(in crate::rules) fn dimensions_distinct(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.variables() {
        let mut met = BTreeSet::new();
        for along in &variable.dimensions {
            if let Some(path) = &along.path
                && !met.insert(path)
            {
                let message = format!("dimension {:?} twice, expected different dimensions", along.name());
                found.add(&variable.path, message, "define a second dimension of the same length");
            }
        }
    }
}

pub(in crate::rules) fn string_coordinate_name(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.variables().filter(|variable| variable.is_text()) {
        if let [along] = variable.dimensions_of_values()
            && along.name() == variable.name()
        {
            let message = format!(
                "a variable of strings has the name of its dimension {:?}, expected another name",
                along.name()
            );
            found.add(&variable.path, message, "rename it, and name it in the attribute coordinates");
        }
    }
}
