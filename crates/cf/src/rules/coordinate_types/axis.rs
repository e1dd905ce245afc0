//! The attribute `axis`.
//!
//! Chapter 5 gives a meaning to `axis` for auxiliary coordinate variables, while the conformance document forbids it.
//! The text of the conventions takes precedence.
//!
//! Spec: CF 1.13, 4 Coordinate Types, 5 Coordinate Systems

use super::{Found, Scope, is_bounds};
use crate::dataset::{Attribute, Axis, Role, Variable, axis_of, by_units};
use std::collections::{BTreeMap, BTreeSet};

pub(in crate::rules) fn axis(scope: &Scope<'_>, found: &mut Found) {
    // Latitudes and longitudes are recognised by their units.
    let horizontal = scope.variables().filter(|variable| {
        let is_other = !variable.has("axis") && by_units(variable).is_none();
        is_other && variable.is(Role::Coordinate) && matches!(axis_of(variable), Some(Axis::X | Axis::Y))
    });
    for variable in horizontal {
        let letter = axis_of(variable).map_or("X", Axis::letter);
        let message = format!("a horizontal coordinate variable without axis, expected {letter}");
        found.advise(&variable.path, message, format!("set axis to \"{letter}\""));
    }
    for variable in scope.with("axis") {
        let place = variable.place("axis");
        let Some(letter) = axis_attribute(variable) else {
            let own = match variable.text("axis") {
                Some(text) => format!("{text:?}"),
                None => variable.attributes.get("axis").map(Attribute::type_name).unwrap_or_default(),
            };
            let message = format!("axis is {own}, expected X, Y, Z or T");
            found.add(place, message, "write one of these letters, or remove axis");
            continue;
        };
        if is_bounds(variable) {
            continue;
        }
        match by_units(variable) {
            Some(known) if known != letter => {
                let message = format!(
                    "axis is {}, expected {} as {}",
                    letter.letter(),
                    known.letter(),
                    reason(variable, known)
                );
                found.add(place, message, format!("set axis to \"{}\"", known.letter()));
            }
            // A data variable that is a coordinate by its units is one that no attribute names.
            None if variable.is(Role::Data) && has_names(variable) => {
                let message = "axis at a data variable, expected it at coordinate variables only";
                let hint = "remove axis, or name the variable in an attribute coordinates";
                found.add(place, message, hint);
            }
            _ => {}
        }
    }
}

/// Whether all dimensions have names. Without names, no variable can be identified as a coordinate variable.
fn has_names(variable: &Variable) -> bool {
    variable.dimensions.iter().all(|along| along.path.is_some())
}

/// The evidence that a variable is along an axis.
fn reason(variable: &Variable, axis: Axis) -> String {
    match variable.text("units") {
        Some(units) if axis != Axis::Z || !variable.has("positive") => format!("the units {units:?} say"),
        Some(_) | None if variable.has("positive") => "the attribute positive says".to_owned(),
        _ => "the datatype says".to_owned(),
    }
}

/// The axis that the attribute states.
pub(super) fn axis_attribute(variable: &Variable) -> Option<Axis> {
    variable.text("axis").and_then(Axis::of_letter)
}

pub(in crate::rules) fn axis_once(scope: &Scope<'_>, found: &mut Found) {
    let of_data = |variable: &&Variable| variable.is(Role::Data) || variable.is(Role::Domain);
    for variable in scope.variables().filter(of_data) {
        let mut known = BTreeSet::new();
        let mut axes: BTreeMap<Axis, Vec<&str>> = BTreeMap::new();
        for coordinate in scope.dataset.coordinates(variable) {
            if let Some(axis) = axis_attribute(coordinate)
                && known.insert(coordinate.id)
            {
                axes.entry(axis).or_default().push(coordinate.name());
            }
        }
        for (axis, names) in axes.iter().filter(|(_, names)| names.len() > 1) {
            let shown = names.iter().take(MAX_NAMES).copied().collect::<Vec<_>>().join(", ");
            let message = format!(
                "{} coordinates have axis {}: {shown}, expected one at most",
                names.len(),
                axis.letter()
            );
            found.add(&variable.path, message, "keep axis at the coordinate variable alone");
        }
    }
}

/// The maximum number of coordinates that are shown.
const MAX_NAMES: usize = 10;
