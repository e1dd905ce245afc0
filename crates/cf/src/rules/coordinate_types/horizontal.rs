//! Latitude and longitude.
//!
//! Spec: CF 1.13, 4.1 Latitude Coordinate, 4.2 Longitude Coordinate

use super::{Found, Scope, is_bounds};
use crate::dataset::{LATITUDE_UNITS, LONGITUDE_UNITS, Variable};

pub(in crate::rules) fn latitude_units(scope: &Scope<'_>, found: &mut Found) {
    check(scope, "latitude", LATITUDE_UNITS, found);
}

pub(in crate::rules) fn longitude_units(scope: &Scope<'_>, found: &mut Found) {
    check(scope, "longitude", LONGITUDE_UNITS, found);
}

/// Checks the units of variables that are latitudes or longitudes according to their standard name. Those of a rotated
/// pole have another standard name, and units of degrees.
fn check(scope: &Scope<'_>, what: &str, allowed: &[&str], found: &mut Found) {
    let best = allowed.first().copied().unwrap_or_default();
    for variable in scope.with("standard_name").filter(|variable| is_of(variable, what)) {
        let hint = format!("set units to \"{best}\"");
        match (variable.attributes.get("units"), variable.text("units")) {
            (None, _) => {
                let message = format!("a {what} without units, expected {best}");
                found.add(&variable.path, message, hint);
            }
            (Some(_), Some(units)) if !allowed.contains(&units) => {
                let message = format!("units {units:?} of a {what}, expected {}", allowed.join(", "));
                found.add(variable.place("units"), message, hint);
            }
            // Units that are not strings are covered by units-known.
            _ => {}
        }
    }
}

/// Whether the values are latitudes or longitudes, and not their errors, variances or bounds.
fn is_of(variable: &Variable, what: &str) -> bool {
    variable.standard_name() == Some(what)
        && variable.modifier().is_none()
        && !variable.has("cell_methods")
        && variable.is_numeric()
        && !is_bounds(variable)
}
