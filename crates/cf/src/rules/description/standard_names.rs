//! Standard names, their modifiers, and long names.
//!
//! Spec: CF 1.13, 3.2 Long Name, 3.3 Standard Name, Appendix C

use super::{Found, Scope};
use crate::dataset::{Role, words};
use crate::rules::scope::meant;
use crate::tables::modifiers;
use crate::tables::nearest::nearest;
use std::collections::HashMap;

pub(in crate::rules) fn name_present(scope: &Scope<'_>, found: &mut Found) {
    // Other variables serve the data and are named by attributes, which explain them. A list of points without a
    // separate coordinate is none of these.
    const DESCRIBED: [Role; 5] =
        [Role::Data, Role::Coordinate, Role::Auxiliary, Role::NodeCoordinate, Role::Compression];
    const NOT_DESCRIBED: [Role; 4] = [Role::Boundary, Role::Climatology, Role::Geometry, Role::Mesh];
    for variable in scope.variables() {
        let is_described = DESCRIBED.iter().any(|role| variable.is(*role))
            && !NOT_DESCRIBED.iter().any(|role| variable.is(*role))
            && !variable.is(Role::GridMapping);
        if is_described && !variable.has("long_name") && !variable.has("standard_name") {
            let message = "neither long_name nor standard_name, expected one of them";
            found.add(&variable.path, message, "add a long_name");
        }
    }
}

pub(in crate::rules) fn standard_name(scope: &Scope<'_>, found: &mut Found) {
    // The same wrong name is often used by many variables.
    let mut hints: HashMap<&str, Option<&str>> = HashMap::new();
    for variable in scope.with("standard_name") {
        let place = variable.place("standard_name");
        let Some(name) = variable.standard_name() else {
            let own = variable.attributes.get("standard_name").map(|attribute| match attribute.text() {
                Some(_) => "empty".to_owned(),
                None => attribute.type_name(),
            });
            let message =
                format!("standard_name is {}, expected a name of the table", own.unwrap_or_default());
            found.add(place, message, "remove it, or use a long_name");
            continue;
        };
        if scope.names.get(name).is_some() || scope.names.alias(name).is_some() {
            continue;
        }
        let may_search = hints.len() < MAX_HINTS;
        let near =
            hints.entry(name).or_insert_with(|| may_search.then(|| scope.names.nearest(name)).flatten());
        let message = format!("standard_name {name:?}, expected a name of table {}", scope.names.version());
        found.add(place, message, meant(*near, "use a long_name for what the table does not have"));
    }
}

/// The number of names for which a similar one is looked for: each is compared with the whole table.
const MAX_HINTS: usize = 100;

/// The standard name that replaces a deprecated modifier.
fn instead(modifier: &str) -> &'static str {
    if modifier == "status_flag" { "quality_flag" } else { "number_of_observations" }
}

pub(in crate::rules) fn standard_name_modifier(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("standard_name") {
        let mut rest = words(variable.text("standard_name").unwrap_or_default()).skip(1);
        let place = variable.place("standard_name");
        let Some(modifier) = rest.next() else { continue };
        let Some(known) = modifiers::get(modifier) else {
            let names = modifiers::all().iter().map(|modifier| modifier.name);
            let known = names.clone().collect::<Vec<_>>().join(", ");
            let message = format!("modifier {modifier:?} after the standard name, expected one of {known}");
            found.add(
                &place,
                message,
                meant(nearest(modifier, names), "write a standard name without blanks"),
            );
            continue;
        };
        if known.deprecated.is_some_and(|version| version <= scope.version) {
            let message = format!("modifier {modifier:?} is deprecated, expected a standard name of its own");
            let hint = format!("use a standard name such as {}", instead(known.name));
            found.advise(&place, message, hint);
        }
        if let Some(word) = rest.next() {
            let message = format!("{word:?} behind the modifier, expected nothing");
            found.add(&place, message, "write a standard name and at most one modifier");
        }
    }
}
